"""What Paddle's functions take besides an op's own arguments and dtypes, said in other ops: `add(x, y, alpha=2.0)`.

In: the arguments of such a call. Out: what it comes to. A call with an op's own arguments comes here for its dtypes only.

>>> d2s.add(d2s.to_tensor([1.0]), d2s.to_tensor([2.0]), alpha=3.0).tolist()
[7.0]
>>> d2s.round(d2s.to_tensor([1.234, 56.789]), 1).tolist() == d2s.to_tensor([1.2, 56.8]).tolist()
True
"""

from typing import Any

from d2s import types
from d2s.arguments import one_of
from d2s.errors import ArgumentError, DTypeError, brief, kind_of
from d2s.ops.compare import cast, equal, where
from d2s.ops.create import full_like
from d2s.ops.dispatch import current
from d2s.ops.logic import (
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
)
from d2s.ops.math import add, divide, floor_divide, multiply, neg, subtract
from d2s.ops.op import Op
from d2s.ops.reduce import mean, prod, sum
from d2s.ops.rounding import floor, isfinite, round, trunc
from d2s.ops.shapes import tensor_type, whole_number
from d2s.ops.sort import searchsorted
from d2s.ops.statistics import any
from d2s.types import Type, bool_, int32, int64


def _times(name: str, y: Any, alpha: Any) -> Any:
    if isinstance(alpha, bool) or not isinstance(alpha, int | float):
        raise DTypeError("D2S0001", f"{name}(): 'alpha' expects a number, got {kind_of(alpha)}")
    return multiply(y, alpha)


@add.rule("besides")
def _(x, y, *, alpha: float = 1):
    return add(x, _times("add", y, alpha))


@subtract.rule("besides")
def _(x, y, *, alpha: float = 1):
    return subtract(x, _times("subtract", y, alpha))


@divide.rule("besides")
def _(x, y, *, rounding_mode: str | None = None):
    if rounding_mode is not None:
        one_of("divide", "rounding_mode", rounding_mode, ("trunc", "floor"))
    quotient = divide(x, y)
    if rounding_mode is None or tensor_type(quotient, "divide", "x").dtype.kind == "i":
        return floor_divide(x, y) if rounding_mode == "floor" else quotient  # of integers it is cut off already
    return floor(quotient) if rounding_mode == "floor" else trunc(quotient)


@round.rule("besides")
def _(x, decimals: int = 0):
    digits = whole_number(decimals, "round", "decimals")
    if tensor_type(x, "round", "x").dtype.kind != "f":
        return cast(x, x.dtype)
    if not digits or abs(digits) > 308:
        return round(x) if not digits else multiply(x, 1.0 if digits > 0 else 0.0)
    unit = 10.0 ** abs(digits)
    scaled, back = (multiply, divide) if digits > 0 else (divide, multiply)
    steps = scaled(x, unit)
    known = logical_and(isfinite(steps), isfinite(full_like(x, unit)))  # what has no digits there is what it was
    return where(known, back(round(steps), unit), x)


@mean.rule("besides")
def _(x, axis: Any = None, keepdim: bool = False, *, dtype: Any = None):
    return mean(x if dtype is None else cast(x, dtype), axis, keepdim)


def _asked(x: Any) -> Type | None:
    """The type of a tensor; None of all else, Python's numbers of run time too."""
    found = current().type_of(x)
    return None if found is None or found.python else found


@neg.rule("instead")
def _(x):
    of = _asked(x)
    return cast(x, bool_) if of and of.dtype is bool_ else None


@divide.rule("instead")
def _(x, y):
    pair = _asked(x), _asked(y)
    return logical_and(x, y) if all(of and of.dtype is bool_ for of in pair) else None


@trunc.rule("instead")
def _(input):
    of = _asked(input)
    return cast(input, of.dtype) if of and of.dtype.kind == "i" else None


@mean.rule("instead")
def _(x, axis, keepdim):
    of, named = _asked(x), None if isinstance(axis, list | tuple) and not axis else axis
    if of and of.dtype is bool_:
        return any(x, named, keepdim)
    if not of or of.dtype not in (int32, int64):
        return None
    total, count = (sum(v, named, of.dtype, keepdim) for v in (x, equal(x, x)))
    return divide(total, count)


def _whole(x: Any, dtype: Any) -> bool:
    """Whether floats are to be added up, or multiplied, as integers: these saturate, as `cast` says."""
    of = _asked(x)
    return of is not None and of.dtype.kind == "f" and dtype is not None and types.dtype(dtype).kind == "i"


@sum.rule("instead")
def _(x, axis, dtype, keepdim):
    return sum(cast(x, dtype), axis, dtype, keepdim) if _whole(x, dtype) else None


@prod.rule("instead")
def _(x, axis, keepdim, dtype):
    return prod(cast(x, dtype), axis, keepdim, dtype) if _whole(x, dtype) else None


@searchsorted.rule("besides")
def _(sorted_sequence, values, out_int32: bool = False, right: bool = False, *, side: str | None = None):
    if side is not None:
        one_of("searchsorted", "side", side, ("left", "right"))
        if right and side == "left":
            raise ArgumentError("D2S0004", f"searchsorted(): 'side' is 'left' and 'right' is {brief(right)}")
    return searchsorted(sorted_sequence, values, out_int32, right or side == "right")


def _into(op: Op) -> None:
    """Has an op take `out`, a tensor that becomes the result."""
    x_only = len(op.arrays) == 1

    def unary(x, out: Any = None, name: str | None = None):
        return _become(op.name, op(x, name=name), out)

    def binary(x, y, out: Any = None, name: str | None = None):
        return _become(op.name, op(x, y, name=name), out)

    op.rule("besides")(unary if x_only else binary)


def _become(name: str, result: Any, out: Any) -> Any:
    if out is None:
        return result
    tensor_type(out, name, "out")
    return out._turn(result)


for _op in (bitwise_and, bitwise_or, bitwise_xor, bitwise_not, logical_and, logical_or, logical_xor, logical_not):
    _into(_op)
