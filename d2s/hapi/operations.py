"""How many multiplications a network does: counted by the layer, from what it was given and said.

>>> flops(d2s.vision.models.LeNet(), [1, 1, 28, 28])
Total Flops: 347560     Total Params: 61610
347560
"""

import math
from collections.abc import Callable
from typing import Any

from d2s import nn
from d2s.arguments import expect
from d2s.errors import DTypeError
from d2s.hapi.visit import Visit, example, size, visits
from d2s.nn.conv_layers import _Conv, _Transpose
from d2s.nn.layer import Layer


def _conv(layer: Any, x: Any, y: Any) -> int:
    """Of each result: one for each tap of each channel of its group, and the bias."""
    return size(y) * (math.prod(layer.weight.shape[1:]) + (layer.bias is not None))


def _transposed(layer: Any, x: Any, y: Any) -> int:
    return size(x) * math.prod(layer.weight.shape[1:]) + (size(y) if layer.bias is not None else 0)


def _linear(layer: Any, x: Any, y: Any) -> int:
    return size(y) * int(layer.weight.shape[0])


def _norm(layer: Any, x: Any, y: Any) -> int:
    return 2 * size(x)


def _each(layer: Any, x: Any, y: Any) -> int:
    return size(y)


def _adaptive(layer: Any, x: Any, y: Any) -> int:
    windows = [have // want for have, want in zip(x[0].shape[2:], y.shape[2:], strict=True)]
    return size(y) * (math.prod(windows) + 1)


Count = Callable[[Any, Any, Any], int]
COUNTS: list[tuple[Any, Count]] = [  # the first that fits; other layers do none of their own
    (_Conv, _conv),
    (_Transpose, _transposed),
    (nn.Linear, _linear),
    ((nn.BatchNorm1D, nn.BatchNorm2D, nn.BatchNorm3D, nn.BatchNorm), _norm),
    (nn.LeakyReLU, _each),
    ((nn.AvgPool1D, nn.AvgPool2D, nn.AvgPool3D), _each),
    ((nn.AdaptiveAvgPool1D, nn.AdaptiveAvgPool2D, nn.AdaptiveAvgPool3D), _adaptive),
]


def count(visit: Visit) -> int:
    """The multiplications of a layer itself, over all its calls."""
    rule = next((rule for kind, rule in COUNTS if isinstance(visit.layer, kind)), None)
    return 0 if rule is None or visit.again else sum(rule(visit.layer, x, y) for x, y in visit.calls)


def held(layer: Layer) -> int:
    """How many numbers a layer itself holds, buffers among them."""
    tensors = (*layer._parameters.values(), *layer._buffers.values())
    return sum(t.size for t in tensors if t is not None)


def flops(net: Any, input_size: Any, custom_ops: Any = None, print_detail: bool = False) -> int:
    """Prints and returns how many multiplications with an addition a network does on an input of so many extents.

    Counted are convolutions, affine layers, means over windows and norms of batches, as Paddle counts them. `custom_ops` maps
    classes of layers to functions of the layer, its inputs and its output that return how many it does.

    >>> scale = {d2s.nn.ReLU: lambda layer, x, y: y.size}
    >>> d2s.flops(d2s.nn.Sequential(d2s.nn.Linear(4, 3), d2s.nn.ReLU()), [2, 4], custom_ops=scale)
    Total Flops: 30     Total Params: 15
    30
    """
    expect("flops", "net", net, Layer, "a Layer")
    own = _own(custom_ops)
    found = visits(net, example(input_size))
    numbers = [_counted(visit, own) for visit in found]
    params = sum(held(visit.layer) for visit in found if not visit.again)
    if print_detail:
        print(_table(found, numbers))
    print(f"Total Flops: {sum(numbers)}     Total Params: {params}")
    return sum(numbers)


def _own(custom_ops: Any) -> dict[type, Count]:
    expect("flops", "custom_ops", custom_ops, dict | None, "a dict")
    for kind, rule in (custom_ops or {}).items():
        if not isinstance(kind, type) or not callable(rule):
            raise DTypeError("D2S0001", "flops(): 'custom_ops' expects functions by class of Layer")
    return custom_ops or {}


def _counted(visit: Visit, own: dict[type, Count]) -> int:
    rule = own.get(type(visit.layer))
    if rule is None or visit.again:
        return count(visit)
    return sum(int(rule(visit.layer, x, y)) for x, y in visit.calls)


def _table(found: list[Visit], numbers: list[int]) -> str:
    rows = [("layer", "input", "output", "params", "flops")]
    for visit, number in zip(found, numbers, strict=True):
        if not visit.layer._sub_layers:
            shapes = str(visit.inputs), str(visit.outputs)
            rows.append((visit.path, *shapes, f"{held(visit.layer):,}", f"{number:,}"))
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)
