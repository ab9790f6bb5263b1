"""Reductions made of others: spreads, truth values, counts, sums without nans, and norms.

In: values and axes, all of them where none is named. Out: one value for each line.

>>> var(d2s.to_tensor([1.0, 3.0]), unbiased=False).item()
1.0
"""

import math
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError
from d2s.ops.compare import cast, equal, not_equal, where
from d2s.ops.exponential import sqrt
from d2s.ops.math import abs, pow, square
from d2s.ops.reduce import max, mean, min, per_element, sum
from d2s.ops.rounding import isnan
from d2s.ops.shapes import tensor_type, whole_number
from d2s.types import bool_


def var(x: Any, axis: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: int = 1) -> Any:
    """The mean square distance from the mean; `unbiased` divides by one less than the number of elements, or `correction` less.

    >>> d2s.var(d2s.to_tensor([1.0, 3.0])).item(), d2s.var(d2s.to_tensor([1.0, 3.0]), correction=0).item()
    (2.0, 1.0)
    """
    less = whole_number(correction, "var", "correction")
    if unbiased is not None and less != 1:
        raise ArgumentError("D2S0004", "var(): 'unbiased' and 'correction' say the same: give one of them")
    squares = sum(square(x - mean(x, axis, True)), axis, None, keepdim)
    return per_element(squares, x, _axes(axis), less if unbiased is None else int(bool(unbiased)))


def _axes(axis: Any) -> Any:
    """No axis, listed, is every axis."""
    return None if isinstance(axis, (list, tuple)) and not axis else axis


def std(x: Any, axis: Any = None, unbiased: bool | None = None, keepdim: bool = False, *, correction: int = 1) -> Any:
    """The square root of the variance.

    >>> d2s.std(d2s.to_tensor([1.0, 3.0]), unbiased=False).item()
    1.0
    """
    return sqrt(var(x, axis, unbiased, keepdim, correction=correction))


def any(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """Whether one of the elements is not 0.

    >>> d2s.any(d2s.to_tensor([[True, False], [False, False]]), axis=1).numpy().tolist()
    [True, False]
    """
    return not_equal(sum(_true(x), axis, None, keepdim), 0)


def all(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """Whether no element is 0.

    >>> d2s.all(d2s.to_tensor([[True, False], [True, True]]), axis=1).numpy().tolist()
    [False, True]
    """
    return equal(sum(equal(_true(x), False), axis, None, keepdim), 0)


def _true(x: Any) -> Any:
    return x if tensor_type(x, "count", "x").dtype is bool_ else not_equal(x, 0)


def count_nonzero(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """How many elements are not 0.

    >>> d2s.count_nonzero(d2s.to_tensor([0.0, 2.0, 3.0])).item()
    2
    """
    return sum(_true(x), axis, None, keepdim)


def nansum(x: Any, axis: Any = None, dtype: Any = None, keepdim: bool = False) -> Any:
    """The sum of the elements that are no nans.

    >>> d2s.nansum(d2s.to_tensor([float("nan"), 2.0, 3.0])).item()
    5.0
    """
    floats = tensor_type(x, "nansum", "x").dtype.kind == "f"
    return sum(where(isnan(x), 0.0, x) if floats else x, axis, dtype, keepdim)


def nanmean(x: Any, axis: Any = None, keepdim: bool = False) -> Any:
    """The mean of the elements that are no nans.

    >>> d2s.nanmean(d2s.to_tensor([float("nan"), 2.0, 3.0])).item()
    2.5
    """
    count = sum(equal(x, x), axis, None, keepdim)
    return nansum(x, axis, None, keepdim) / cast(count, x.dtype)


def norm(x: Any, p: Any = None, axis: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of vectors along an axis, or of all elements; along two axes, a norm of matrices.

    p is a number, infinite ones included, or "fro", the root of the sum of squares, which it also is if not given.

    >>> d2s.norm(d2s.to_tensor([3.0, -4.0])).item(), d2s.norm(d2s.to_tensor([3.0, -4.0]), p=1).item()
    (5.0, 7.0)
    """
    x = x if dtype is None else cast(x, dtype)
    if p is None or (isinstance(p, str) and p == "fro"):
        return _root(sum(square(x), axis, None, keepdim), 2)
    p = number("norm", "p", p) if not isinstance(p, str) else p
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        return _of_matrices(x, p, axis, keepdim)
    if isinstance(p, str):
        raise ArgumentError("D2S0004", f"norm(): 'p' is {p!r:.60}, expected a number or 'fro'")
    return _of_vectors(x, p, axis, keepdim)


def _of_vectors(x: Any, p: float, axis: Any, keepdim: bool) -> Any:
    if math.isinf(p):
        return (max if p > 0 else min)(abs(x), axis, keepdim)
    if p == 0:
        return cast(count_nonzero(x, axis, keepdim), x.dtype)
    if p == 1:
        return sum(abs(x), axis, None, keepdim)
    return _root(sum(square(x) if p == 2 else pow(abs(x), p), axis, None, keepdim), p)


def _root(total: Any, p: float) -> Any:
    """The p-th root, at 0 without a gradient: that of a norm is 0 there, but the root's own is infinite, and 0 * inf is nan."""
    nothing = equal(total, 0)
    safe = where(nothing, 1, total)
    return where(nothing, total, sqrt(safe) if p == 2 else pow(safe, 1 / p)) if p > 0 else pow(total, 1 / p)


def _of_matrices(x: Any, p: Any, axis: Any, keepdim: bool) -> Any:
    """The largest or smallest sum of magnitudes of a column (1) or of a row (infinite)."""
    if p not in (1.0, -1.0, math.inf, -math.inf):
        message = f"norm(): 'p' is {p!r:.60}: of matrices there are 'fro', 1, -1, inf and -inf; outside of graphs 'nuc', 2, -2"
        raise ArgumentError("D2S0004", message, hint="reshape the two axes into one for the norm of a vector")
    rows, columns = (a % len(x.shape) for a in axis)
    summed, kept = (rows, columns) if p in (1.0, -1.0) else (columns, rows)
    sums = sum(abs(x), summed, None, True)
    found = (max if p > 0 else min)(sums, kept, True)
    return found if keepdim else sum(found, (rows, columns))
