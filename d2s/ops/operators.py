"""Python's operators and the methods that are ops, once for eager and symbolic tensors.

>>> (d2s.to_tensor([1.0, 2.0]) * 2 - 1).numpy().tolist()
[1.0, 3.0]
"""

from typing import Any

from d2s.ops import compare, linalg, math, reduce
from d2s.ops.dispatch import NUMBERS
from d2s.ops.op import Op


def _operator(op: Op, reflected: bool = False) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (Operators, *NUMBERS)):
            return NotImplemented
        return op(other, self) if reflected else op(self, other)

    return method


class Operators:
    """What `x + y` and `x.sum()` mean."""

    __slots__ = ()
    __hash__ = object.__hash__
    __array_priority__ = 100  # NumPy hands its operators over

    __add__, __radd__ = _operator(math.add), _operator(math.add, True)
    __sub__, __rsub__ = _operator(math.subtract), _operator(math.subtract, True)
    __mul__, __rmul__ = _operator(math.multiply), _operator(math.multiply, True)
    __matmul__, __rmatmul__ = _operator(linalg.matmul), _operator(linalg.matmul, True)
    __lt__, __le__ = _operator(compare.less_than), _operator(compare.less_equal)
    __gt__, __ge__ = _operator(compare.greater_than), _operator(compare.greater_equal)
    __eq__, __ne__ = _operator(compare.equal), _operator(compare.not_equal)

    def __neg__(self) -> Any:
        return math.neg(self)

    def astype(self, dtype: Any) -> Any:
        return compare.cast(self, dtype)

    cast = astype

    def relu(self) -> Any:
        return math.relu(self)

    def tanh(self) -> Any:
        return math.tanh(self)

    def sum(self, axis: Any = None, keepdim: bool = False) -> Any:
        return reduce.sum(self, axis, keepdim)

    def matmul(self, y: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
        return linalg.matmul(self, y, transpose_x, transpose_y)
