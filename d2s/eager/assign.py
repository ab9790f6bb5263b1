"""A tensor of the same values. In: a tensor, an array, numbers. Out: a tensor with memory of its own.

>>> assign([[1, 2], [3, 4]]).tolist()
[[1, 2], [3, 4]]
"""

from typing import Any

from d2s.arguments import number
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import DTypeError
from d2s.ops.compare import cast
from d2s.ops.dispatch import current
from d2s.ops.recording import Symbolic


def assign(x: Any, output: Any = None) -> Any:
    """The same values in memory of their own, or in that of `output`; gradients pass.

    >>> d2s.assign(d2s.to_tensor([1.0, 2.0])).tolist()
    [1.0, 2.0]
    """
    if output is not None and not isinstance(output, Tensor | Symbolic):
        raise DTypeError("D2S0001", f"assign(): 'output' expects a Tensor, got {type(output).__name__}")
    made = cast(x, x.dtype) if isinstance(x, Tensor | Symbolic) else to_tensor(x)
    in_runs = getattr(current(), "assign", None)
    if isinstance(output, Symbolic):
        return output._become(made)  # type: ignore[attr-defined]
    if output is not None and in_runs is not None and isinstance(made, Symbolic):
        in_runs(output, made)  # each run of a declared program writes it
        return output
    return made if output is None else output.set_value(made) or output


def increment(x: Any, value: float = 1.0) -> Any:
    """x itself, grown by a number.

    >>> x = d2s.to_tensor([1.0])
    >>> d2s.increment(x) is x, x.tolist()
    (True, [2.0])
    """
    of_tensor = isinstance(x, Tensor | Symbolic)
    if not of_tensor or x.size != 1:
        got = f"{x.dtype.name}{x.shape}" if of_tensor else type(x).__name__
        raise DTypeError("D2S0001", f"increment(): 'x' expects a Tensor of one element, got {got}")
    by = number("increment", "value", value)
    return x._become(x + (int(by) if x.dtype.kind == "i" and by.is_integer() else by))


setattr(Tensor, increment.__name__, increment)
