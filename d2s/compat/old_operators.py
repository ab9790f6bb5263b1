"""Operators as 1.x had them: integers are divided as C divides them, and what is declared takes the dtype of the left side.

In: the methods of tensors. Out: others, for users; d2s's own code has its own.

>>> x = d2s.to_tensor([7, -7])
>>> quotient(x, 2).tolist(), rest(x, 4).tolist(), rquotient(d2s.to_tensor([2, -2]), 7).tolist()
([3, -3], [3, -3], [3, -3])
"""

import functools
import sys
from collections.abc import Callable
from typing import Any

from d2s.arguments import number
from d2s.compat.users import inside
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops import math
from d2s.ops.compare import cast
from d2s.ops.create import full_like
from d2s.static.variable import Variable


def _whole(x: Any, other: Any) -> Any:
    """The other side of an operator on integers."""
    if isinstance(other, Tensor | Variable):
        return other
    if not number("operator", "y", other).is_integer():
        raise ArgumentError("D2S0004", f"an operator on {x.dtype.name} and {other!r}, which is no integer", hint="cast() first")
    return full_like(x, int(other))


def quotient(x: Any, y: Any) -> Any:
    """Towards 0."""
    return math.divide(x, _whole(x, y))


def rquotient(x: Any, y: Any) -> Any:
    """The same with the sides exchanged."""
    return math.divide(_whole(x, y), x)


def rest(x: Any, y: Any) -> Any:
    """What the quotient leaves: of the sign of the first."""
    by = _whole(x, y)
    return x - math.divide(x, by) * by


_OF_INTEGERS: dict[str, Callable[[Any, Any], Any]] = {
    "__truediv__": quotient,
    "__rtruediv__": rquotient,
    "__floordiv__": quotient,
    "__rfloordiv__": rquotient,
    "__mod__": rest,
}
NAMES = (*_OF_INTEGERS, "__add__", "__sub__", "__mul__", "__pow__")


def of_1x(name: str, method: Any) -> Any:
    """An operator for users of 1.x."""

    @functools.wraps(method)
    def operator(self: Any, other: Any) -> Any:
        if inside(sys._getframe(1)):
            return method(self, other)
        if isinstance(self, Variable) and isinstance(other, Tensor | Variable) and other.dtype is not self.dtype:
            other = cast(other, self.dtype)
        own = _OF_INTEGERS.get(name) if self.dtype.kind == "i" and _of_one_dtype(self, other) else None
        return method(self, other) if own is None else own(self, other)

    return operator


def _of_one_dtype(x: Any, y: Any) -> bool:
    return y.dtype is x.dtype if isinstance(y, Tensor | Variable) else isinstance(y, int | float)
