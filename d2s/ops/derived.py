"""Functions that are a line or two of others. In: tensors. Out: tensors.

>>> diff(d2s.to_tensor([1, 4, 9])).tolist(), rad2deg(d2s.to_tensor([0.0])).tolist()
([3, 5], [0.0])
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.arguments import expect, number, one_of
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.ops.activation import log_sigmoid
from d2s.ops.arrange import flip
from d2s.ops.compare import cast, equal, greater_equal, greater_than, where
from d2s.ops.create import arange
from d2s.ops.dispatch import OPS
from d2s.ops.exponential import sqrt
from d2s.ops.extremes import clip
from d2s.ops.gather import take_at
from d2s.ops.join import concat, stack
from d2s.ops.logic import logical_and
from d2s.ops.math import add, multiply, neg, pow, remainder, square, subtract
from d2s.ops.reduce import sum
from d2s.ops.rounding import isinf, isnan
from d2s.ops.shape import flatten, reshape, unsqueeze
from d2s.ops.shapes import one_axis, tensor_type, unnamed, whole_number
from d2s.ops.slices import slice
from d2s.ops.slicing import split
from d2s.ops.statistics import norm
from d2s.types import float32, int64

sgn = OPS["sign"]


def _floats(x: Any, name: str) -> Any:
    """Integers become float32."""
    return x if tensor_type(x, name, "x").dtype.kind == "f" else cast(x, float32)


def deg2rad(x: Any) -> Any:
    """Degrees as radians.

    >>> d2s.deg2rad(d2s.to_tensor([180.0])).tolist()
    [3.1415927410125732]
    """
    return multiply(_floats(x, "deg2rad"), math.pi / 180.0)


def rad2deg(x: Any) -> Any:
    """Radians as degrees.

    >>> d2s.rad2deg(d2s.to_tensor([0.0])).tolist()
    [0.0]
    """
    return multiply(_floats(x, "rad2deg"), 180.0 / math.pi)


def hypot(x: Any, y: Any) -> Any:
    """The root of the sum of two squares.

    >>> d2s.hypot(d2s.to_tensor([3.0]), d2s.to_tensor([4.0])).tolist()
    [5.0]
    """
    return sqrt(add(square(x), square(y)))


def logaddexp(x: Any, y: Any) -> Any:
    """log(exp(x) + exp(y)), which no large number makes infinite.

    >>> d2s.logaddexp(d2s.to_tensor([1000.0]), d2s.to_tensor([1000.0])).tolist()
    [1000.6931762695312]
    """
    apart = where(logical_and(equal(x, y), isinf(x)), 0.0, subtract(x, y))
    above = subtract(x, log_sigmoid(apart))  # where x is the greater one; each is smooth where the other takes over
    return where(greater_equal(x, y), above, subtract(y, log_sigmoid(neg(apart))))


def heaviside(x: Any, y: Any) -> Any:
    """0 below 0, 1 above, y at 0; nan stays.

    >>> d2s.heaviside(d2s.to_tensor([-2.0, 0.0, 3.0]), d2s.to_tensor([0.5])).tolist()
    [0.0, 0.5, 1.0]
    """
    have = tensor_type(x, "heaviside", "x").dtype
    step = where(equal(x, 0), y, cast(greater_than(x, 0), have))
    return where(isnan(x), x, step) if have.kind == "f" else step


def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Each value without the one before it along an axis, n times over; more values may be put at the ends first.

    >>> d2s.diff(d2s.to_tensor([1, 4, 9]), append=d2s.to_tensor([9])).tolist()
    [3, 5, 0]
    """
    at = one_axis(axis, len(tensor_type(x, "diff", "x").shape), "diff")
    if whole_number(n, "diff", "n") < 0:
        raise ArgumentError("D2S0004", f"diff(): 'n' is {brief(n)}, below 0")
    ends = [values for values in (prepend, x, append) if values is not None]
    found = concat(ends, at) if len(ends) > 1 else x
    count = tensor_type(found, "diff", "x").shape[at]
    for _ in range(n if isinstance(count, str) else min(n, count)):  # then nothing is left
        found = _steps(found, at)
    return found


def _steps(x: Any, axis: int) -> Any:
    earlier, later = _neighbours(x, axis)
    return OPS["not_equal"](later, earlier) if tensor_type(x, "diff", "x").dtype.kind == "b" else subtract(later, earlier)


MOST = (1 << 63) - 1  # behind the end of any axis


def _neighbours(x: Any, axis: int) -> tuple[Any, Any]:
    """All values along an axis but the last one, and all but the first one."""
    return slice(x, [axis], [0], [-1]), slice(x, [axis], [1], [MOST])


def trapezoid(y: Any, x: Any = None, dx: float | None = None, axis: int = -1) -> Any:
    """The area under straight lines from value to value along an axis; these stand at x, or `dx` apart.

    >>> d2s.trapezoid(d2s.to_tensor([1.0, 3.0, 5.0]), dx=0.5).item()
    3.0
    """
    if x is not None and dx is not None:
        raise ArgumentError("D2S0004", "trapezoid(): 'x' and 'dx' say the same: give one of them")
    held = tensor_type(y, "trapezoid", "y").shape
    at = one_axis(axis, len(held), "trapezoid")
    wide = number("trapezoid", "dx", 1.0 if dx is None else dx) if x is None else None
    if wide is None:
        line = len(tensor_type(x, "trapezoid", "x").shape) == 1
        wide = reshape(diff(x), [-1, *[1] * (len(held) - 1 - at)]) if line else diff(x, axis=at)
    return sum(multiply(multiply(add(*reversed(_neighbours(y, at))), wide), 0.5), at)


def take(x: Any, index: Any, mode: str = "raise") -> Any:
    """The values at numbers in the row of all; below 0 they count from the end. `mode`: "raise", "wrap" or "clip" beyond it.

    >>> d2s.take(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[3, -4]])).tolist()
    [[4, 1]]
    """
    one_of("take", "mode", mode, ("raise", "wrap", "clip"))
    size = math.prod(_known(d, "take") for d in tensor_type(x, "take", "x").shape)
    if mode != "raise" and not size:
        raise ShapeError("D2S0002", "take(): 'x' holds no values")
    at = remainder(index, size) if mode == "wrap" else clip(index, 0, size - 1) if mode == "clip" else index
    return take_at(flatten(x), at, axes=(0,))


def _known(dim: Any, name: str) -> int:
    if isinstance(dim, str):
        raise unnamed(name, f"the extent {dim}")
    return int(dim)


def reverse(x: Any, axis: Any) -> Any:
    """`flip`, as Paddle 1.x calls it.

    >>> d2s.reverse(d2s.to_tensor([1, 2]), 0).tolist()
    [2, 1]
    """
    return flip(x, axis)


def multiplex(inputs: Sequence[Any], index: Any) -> Any:
    """Of each row that of one of several tensors, which `index` says.

    >>> d2s.multiplex([d2s.to_tensor([[1], [2]]), d2s.to_tensor([[3], [4]])], d2s.to_tensor([[1], [0]])).tolist()
    [[3], [2]]
    """
    expect("multiplex", "inputs", inputs, list | tuple, "a list of Tensors")
    rows = stack(inputs, 0)
    held = tensor_type(rows, "multiplex", "inputs").shape
    if len(held) < 2:
        raise ShapeError("D2S0002", "multiplex(): 'inputs' are 0-D, expected rows")
    tensor_type(index, "multiplex", "index")
    return take_at(rows, cast(reshape(index, [-1]), int64), arange(rows.shape[1]), axes=(0, 1))


def dist(x: Any, y: Any, p: float = 2) -> Any:
    """The p-norm of a difference.

    >>> d2s.dist(d2s.to_tensor([1.0, 1.0]), d2s.to_tensor([4.0, 5.0])).item()
    5.0
    """
    return norm(subtract(x, y), number("dist", "p", p))


def vsplit(x: Any, num_or_sections: Any) -> list[Any]:
    """`split` along the first of two or more axes.

    >>> [part.tolist() for part in d2s.vsplit(d2s.to_tensor([[1], [2]]), 2)]
    [[[1]], [[2]]]
    """
    if len(tensor_type(x, "vsplit", "x").shape) < 2:
        raise ShapeError("D2S0002", "vsplit(): 'x' expects two axes at least")
    return split(x, num_or_sections, 0)


def vander(x: Any, n: int | None = None, increasing: bool = False) -> Any:
    """Rows of the powers of each value, the highest first.

    >>> d2s.vander(d2s.to_tensor([2, 3]), 3).tolist()
    [[4, 2, 1], [9, 3, 1]]
    """
    held = tensor_type(x, "vander", "x")
    if len(held.shape) != 1:
        raise ShapeError("D2S0002", f"vander(): 'x' has shape {list(held.shape)}, expected a vector")
    count = _known(held.shape[0], "vander") if n is None else whole_number(n, "vander", "n")
    if count < 0:
        raise ArgumentError("D2S0004", f"vander(): 'n' is {brief(n)}, below 0")
    powers = cast(arange(count) if increasing else arange(count - 1, -1, -1), held.dtype)
    return pow(unsqueeze(x, 1), powers)


METHODS = (deg2rad, rad2deg, hypot, logaddexp, heaviside, diff, trapezoid, take, reverse, multiplex, dist, vsplit, vander)
