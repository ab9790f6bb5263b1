"""What a network is made of, as a tree: each layer with the shape it gives, its parameters and its multiply-adds (MACs).

>>> _ = summary(d2s.nn.Sequential(d2s.nn.Linear(4, 3), d2s.nn.ReLU()), (1, 4))
layer        output  params  MACs
---------------------------------
Sequential   [1, 3]      15    12
  0: Linear  [1, 3]      15    12
  1: ReLU    [1, 3]       0     0
---------------------------------
15 parameters, 15 of them trained; 60 bytes, and 40 bytes of inputs and outputs
"""

from typing import Any

from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.hapi.operations import count
from d2s.hapi.visit import Visit, example, visits
from d2s.nn.layer import Layer

HEAD = ("layer", "output", "params", "MACs")


def summary(net: Any, input_size: Any = None, dtypes: Any = None, input: Any = None) -> dict[str, int]:
    """Prints the layers of a network as a tree, and returns how many parameters there are and are trained.

    The network is run once: on zeros of `input_size` - a shape, an InputSpec or a list of them - or on `input`, a tensor,
    a list or a dict of them.

    >>> d2s.summary(d2s.vision.models.LeNet(), (1, 1, 28, 28))  # doctest: +ELLIPSIS
    layer ...
      features: Sequential  [1, 16, 5, 5]     2,476  288,640
        0: Conv2D           [1, 6, 28, 28]       60   47,040
    ...
    {'total_params': 61610, 'trainable_params': 61610}
    """
    expect("summary", "net", net, Layer, "a Layer")
    if input_size is None and input is None:
        raise ArgumentError("D2S0004", "summary(): 'input_size' and 'input' are both missing, expected one of them")
    given = example(input_size, dtypes) if input is None else [input] if isinstance(input, Tensor) else input
    expect("summary", "input", given, list | tuple | dict, "a Tensor, a list or a dict of them")
    found = visits(net, given)
    parameters = net.parameters()
    whole, trained = sum(p.size for p in parameters), sum(p.size for p in parameters if p.trainable)
    print(_table(found))
    numbers = sum(p.size * p.dtype.size for p in parameters)
    shown = sum(_bytes(y) for visit in found if not visit.layer._sub_layers for _, y in visit.calls)
    moved = shown + _bytes(list(given.values()) if isinstance(given, dict) else given)
    print(f"{whole:,} parameters, {trained:,} of them trained; {_amount(numbers)}, and {_amount(moved)} of inputs and outputs")
    return {"total_params": whole, "trainable_params": trained}


def _table(found: list[Visit]) -> str:
    rows = [HEAD, *map(_row, found, [found] * len(found))]
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    lines = ["  ".join(_laid(row, widths)) for row in rows]
    rule = "-" * len(lines[0])
    return "\n".join([lines[0], rule, *(line.rstrip() for line in lines[1:]), rule])


def _laid(row: tuple[str, ...], widths: list[int]) -> list[str]:
    """The cells of a row: words to the left, numbers to the right."""
    return [(str.ljust if k < 2 else str.rjust)(cell, width) for k, (cell, width) in enumerate(zip(row, widths, strict=True))]


def _row(visit: Visit, found: list[Visit]) -> tuple[str, ...]:
    depth = visit.path.count(".") + 1 if visit.path else 0
    name = f"{visit.path.rpartition('.')[2]}: " if visit.path else ""
    text = f"{'  ' * depth}{name}{type(visit.layer).__name__}"
    if visit.again:
        return f"{text} (again)", _shape(visit), "", ""
    params = sum(p.size for p in visit.layer.parameters())
    inside = [v for v in found if v is visit or v.path.startswith(f"{visit.path}." if visit.path else "")]
    times = f" (called {len(visit.calls)} times)" if len(visit.calls) > 1 else ""
    return text + times, _shape(visit), f"{params:,}", f"{sum(map(count, inside)):,}"


def _shape(visit: Visit) -> str:
    return str(visit.outputs) if visit.calls else "not called"


def _bytes(value: Any) -> int:
    if isinstance(value, list | tuple):
        return sum(map(_bytes, value))
    return value.size * value.dtype.size if isinstance(value, Tensor) else 0


def _amount(count: float) -> str:
    for unit in ("bytes", "KB", "MB"):
        if count < 1024:
            return f"{count:.4g} {unit}"
        count /= 1024
    return f"{count:.4g} GB"
