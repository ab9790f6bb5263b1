"""Order: sorted values, and what is read off them. nan counts as larger than all numbers.

In: values and an axis. Out: values and the places they come from. Equal values stay in their order.

>>> from d2s.types import float32
>>> sorted_.infer([Type(float32, ("n", 4))], {"axis": 1, "descending": False})
(f32[n,4], i64[n,4])
"""

from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.along_axis import collect_along, take_along
from d2s.ops.compare import cast, equal, greater_than, where
from d2s.ops.dispatch import current
from d2s.ops.extremes import minimum
from d2s.ops.found import cut, finds_extents, length, number
from d2s.ops.join import stack
from d2s.ops.op import Share, flag, op
from d2s.ops.open_shapes import as_extent
from d2s.ops.reduce import kept_shape
from d2s.ops.rounding import isnan
from d2s.ops.scan import in_a_row
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import tensor_type, unnamed, whole_number
from d2s.ops.slices import slice
from d2s.ops.softmax import no_bools, one_axis
from d2s.types import Type, float64, int32, int64

# --- sorting -----------------------------------------------------------------------------------------------------------------


@op(paddle="argsort")
def sorted_(x, axis: int = -1, descending: bool = False):
    """Values in order along an axis, and the places they come from.

    >>> [t.numpy().tolist() for t in d2s.ops.sort.sorted_(d2s.to_tensor([3.0, 1.0, 2.0]))]
    [[1.0, 2.0, 3.0], [1, 2, 0]]
    """


@sorted_.rule("canonical")
def _(x, axis, descending):
    return {"axis": one_axis(axis, len(x.shape), "sort"), "descending": flag(descending, "descending")}


@sorted_.rule("infer")
def _(x, axis, descending):
    no_bools("sort", x)
    return x, Type(int64, x.shape)


_MERGE = """\
@inlined
def merged(v, p, first, middle, last, w, q):
    i, j = first, middle
    for k in range(first, last):
        if (j < last) & (i < middle):
            right = {before}
        else:
            right = i >= middle
        if right:
            w[k], q[k] = v[j], p[j]
            j += 1
        else:
            w[k], q[k] = v[i], p[i]
            i += 1

"""
_SORT = """\
memory = new_memory(2 * n1 * (8 + {size}))
if memory == 0: r[o[fault]] = 1
for piece in range(lo, hi if memory != 0 else lo):
    start, step = piece // n2 * n1 * n2 + piece % n2, n2
    p, q = i64_out(memory), i64_out(memory + 8 * n1)
    v, w = {short}_out(memory + 16 * n1), {short}_out(memory + (16 + {size}) * n1)
    for e in range(n1):
        v[e], p[e] = x[start + e * step], e
    width = 1
    while width < n1:
        for first in range(0, (n1 + 2 * width - 1) // (2 * width)):
            middle, last = 2 * first * width + width, 2 * first * width + 2 * width
            middle, last = select(middle < n1, middle, n1), select(last < n1, last, n1)
            merged(v, p, 2 * first * width, middle, last, w, q)
        v, w = w, v
        p, q = q, p
        width *= 2
    for e in range(n1):
        out[start + e * step] = v[e]
        out1[start + e * step] = p[e]
free_memory(memory)
"""


@sorted_.rule("kernel")
def _(x, *out, axis, descending):
    sign = ">" if descending else "<"
    before = f"v[j] {sign} v[i]"
    if x.dtype.kind == "f":
        larger, smaller = ("j", "i") if descending else ("i", "j")
        before = f"({before}) | ((v[{larger}] != v[{larger}]) & (v[{smaller}] == v[{smaller}]))"
    body = _SORT.format(size=x.dtype.size, short=x.dtype.short)
    extents = [x.shape[:axis], x.shape[axis : axis + 1] or (1,), x.shape[axis + 1 :]]
    return extents, body, Share("n0 * n2", "1 + 4096 // (1 + n1)"), _MERGE.format(before=before)


@sorted_.rule("fault")
def _(value, x, axis, descending):
    return ArgumentError("D2S0004", f"sort(): there is no memory to sort {x} in")


@sorted_.rule("vjp")
def _(g, out, x, axis, descending):
    of: Type = current().type_of(x)  # type: ignore[assignment]
    return lambda: collect_along(g, out[1], x, axis) if of.shape else g


def sort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """Values in order along an axis, nan last in ascending order; equal ones stay in their order in any case.

    >>> d2s.sort(d2s.to_tensor([3.0, 1.0, 2.0])).numpy().tolist()
    [1.0, 2.0, 3.0]
    """
    values, _ = sorted_(x, axis, descending)
    return values


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> Any:
    """The places that values in order along an axis come from.

    >>> d2s.argsort(d2s.to_tensor([3.0, 1.0, 2.0])).numpy().tolist()
    [1, 2, 0]
    """
    _, places = sorted_(x, axis, descending)
    return places


def topk(x: Any, k: int, axis: Any = None, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The k largest (or smallest) elements along an axis, the last one if none is given, and where they stand.

    >>> [t.numpy().tolist() for t in d2s.topk(d2s.to_tensor([3.0, 1.0, 2.0]), 2)]
    [[3.0, 2.0], [0, 2]]
    """
    axis = -1 if axis is None else axis
    _among("topk", "k", k, x, axis)
    values, places = sorted_(x, axis, largest)
    return (values, places) if not x.ndim else (slice(values, [axis], [0], [k]), slice(places, [axis], [0], [k]))


def _among(name: str, argument: str, k: Any, x: Any, axis: Any) -> None:
    """Refuses a k that is not one of 1 ... the number of elements along the axis."""
    shape = tensor_type(x, name, "x").shape
    count = shape[one_axis(axis, len(shape), name)] if shape else 1
    if not isinstance(count, int):
        raise unnamed(name, f"the extent of axis {axis}")
    if current().type_of(k) is not None:
        k = whole_number(k, name, argument)
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or not 1 <= k <= count:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' is {brief(k)}, expected an int from 1 to {count}")


def kthvalue(x: Any, k: int, axis: Any = None, keepdim: bool = False) -> tuple[Any, Any]:
    """The k-th smallest element along an axis, the last one if none is given, and where it stands.

    >>> [t.item() for t in d2s.kthvalue(d2s.to_tensor([3.0, 1.0, 2.0]), 2)]
    [2.0, 2]
    """
    axis = -1 if axis is None else axis
    _among("kthvalue", "k", k, x, axis)
    values, places = sorted_(x, axis, False)
    return (values, places) if not x.ndim else (_place(values, k - 1, axis, keepdim), _place(places, k - 1, axis, keepdim))


def _place(x: Any, k: Any, axis: int, keepdim: bool) -> Any:
    """Element k along an axis, an int or a number of run time."""
    found = slice(x, [axis], [k], [k + 1]) if isinstance(k, int) else cut(x, number(k), number(1), axis, 1, (1,))
    return found if keepdim else squeeze(found, axis)


# --- read off sorted values --------------------------------------------------------------------------------------------------


def median(x: Any, axis: Any = None, keepdim: bool = False, mode: str = "avg") -> Any:
    """The middle of the values in order along an axis, or of all; nan where there is one.

    Of an even number the mean of the two in the middle, or with mode "min" the lower one; then also where it stands, if an
    axis is given.

    >>> d2s.median(d2s.to_tensor([3.0, 1.0, 2.0, 5.0])).item()
    2.5
    """
    if not isinstance(mode, str) or mode not in ("avg", "min"):
        raise ArgumentError("D2S0004", f"median(): 'mode' is {brief(mode)}, expected 'avg' or 'min'")
    rank, whole = len(tensor_type(x, "median", "x").shape), axis is None
    if not rank and not whole:
        x, axis, keepdim = unsqueeze(x, 0), one_axis(axis, 1, "median"), False
    x, axis = in_a_row(x, axis)
    values, places = sorted_(x if x.dtype.kind == "f" or mode == "min" else cast(x, "float32"), axis, False)
    count = _count("median", values, axis)
    low, high = _place(values, (count - 1) // 2, axis, True), _place(values, count // 2, axis, True)
    last = _place(values, count - 1, axis, True)
    middle = low if mode == "min" else (low + high) * 0.5
    middle = where(isnan(last), last, middle) if x.dtype.kind == "f" else middle
    found = _shaped(middle, rank, whole, axis, keepdim)
    place = _shaped(_place(places, (count - 1) // 2, axis, True), rank, whole, axis, keepdim)
    return (found, place) if mode == "min" and not whole else found


def _count(name: str, x: Any, axis: int) -> Any:
    """The number of elements along an axis, which is to be one at least; where only a run knows it, a tensor."""
    if not x.shape:
        raise ArgumentError("D2S0004", f"{name}(): axis {brief(axis)} is not one of 0 axes")
    axis = one_axis(axis, len(x.shape), name)
    count = x.shape[axis]
    if not isinstance(count, int) and finds_extents():
        return as_extent(length(x, axis), name, 1)
    if isinstance(count, int) and count == 0:
        raise ArgumentError("D2S0004", f"{name}(): 'x' has shape {list(x.shape)}: there is nothing along axis {axis}")
    return count


def _shaped(x: Any, rank: int, whole: bool, axis: int, keepdim: bool) -> Any:
    """A result whose axis has extent 1, as `keepdim` wants it; made of all values, it was one axis of `rank`."""
    found = x if keepdim and not whole else squeeze(x, axis)
    return unsqueeze(found, list(range(rank))) if keepdim and whole and rank else found


def quantile(x: Any, q: Any, axis: Any = None, keepdim: bool = False, interpolation: str = "linear") -> Any:
    """The value below which the part q (or each of several) of the values along an axis lies, or of all; nan where one is.

    >>> d2s.quantile(d2s.to_tensor([1.0, 2.0, 3.0, 4.0]), 0.5).item()
    2.5
    """
    wanted = list(q) if isinstance(q, (list, tuple)) else [q]
    if any(not isinstance(v, (int, float)) or not 0 <= v <= 1 for v in wanted) or not wanted:
        raise ArgumentError("D2S0004", f"quantile(): 'q' is {brief(q)}, expected numbers from 0 to 1")
    if not isinstance(interpolation, str) or interpolation not in ("linear", "lower", "higher", "nearest", "midpoint"):
        raise ArgumentError("D2S0004", f"quantile(): 'interpolation' is {brief(interpolation)}")
    rank, whole = len(tensor_type(x, "quantile", "x").shape), axis is None
    x, axis = in_a_row(x, axis)
    values, _ = sorted_(x if x.dtype.kind == "f" else cast(x, "float32"), axis, False)
    found = [_shaped(_between(values, v, axis, interpolation), rank, whole, axis, keepdim) for v in wanted]
    return stack(found, 0) if isinstance(q, (list, tuple)) else found[0]


def _between(values: Any, q: float, axis: int, interpolation: str) -> Any:
    count = _count("quantile", values, axis)
    low, after, part = _part(q, count, interpolation) if isinstance(count, int) else _part_found(q, count, interpolation)
    below, above = _place(values, low, axis, True), _place(values, after, axis, True)
    last = _place(values, count - 1, axis, True)
    return where(isnan(last), last, below + (above - below) * (part if isinstance(count, int) else cast(part, values.dtype)))


def _part(q: float, count: int, interpolation: str) -> tuple[int, int, float]:
    """Between which two of so many values the part q of them ends, and how far behind the first."""
    at = q * (count - 1)
    low = int(at)
    parts = {"linear": at - low, "lower": 0.0, "higher": float(at > low), "nearest": float(round(at) - low)}
    return low, min(low + 1, count - 1), parts.get(interpolation, 0.5 * (at > low))


def _part_found(q: float, count: Any, interpolation: str) -> tuple[Any, Any, Any]:
    """The same of a count that only a run knows."""
    at = cast(count - 1, float64) * q
    low = cast(at, int64)
    rest = at - cast(low, float64)
    up = greater_than(rest, 0.0)
    nearest = where(equal(rest, 0.5), cast(low % 2, float64), cast(greater_than(rest, 0.5), float64))
    parts = {"linear": rest, "lower": rest * 0.0, "higher": cast(up, float64), "nearest": nearest}
    return low, minimum(low + 1, count - 1), parts.get(interpolation, cast(up, float64) * 0.5)


@op(paddle=None)
def longest_run(x, axis: int):
    """Where the longest run of equal values along an axis ends; the first one of several.

    >>> d2s.ops.sort.longest_run(d2s.to_tensor([1, 2, 2, 3, 3]), 0).numpy().tolist()
    [2]
    """


@longest_run.rule("infer")
def _(x, axis):
    return Type(int64, kept_shape(x.shape, (axis,)))


@longest_run.rule("kernel")
def _(x, out, axis):
    body = """\
for piece in range(lo, hi):
    start = piece // n2 * n1 * n2 + piece % n2
    best, length, run = 0, 0, 0
    for e in range(n1):
        same = (e > 0) & (x[start + e * n2] == x[start + select(e > 0, e - 1, 0) * n2])
        run = run + 1 if same else 1
        if run > length:
            best, length = e, run
    out[piece] = best
"""
    extents = [x.shape[:axis], x.shape[axis : axis + 1], x.shape[axis + 1 :]]
    return extents, body, Share("n0 * n2", "1 + 16384 // (1 + n1)"), ""


@longest_run.rule("vjp")
def _(g, out, x, axis):
    return (None,)


def mode(x: Any, axis: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The value that stands most often along an axis, the smallest of several, and the last place where it does.

    >>> [t.item() for t in d2s.mode(d2s.to_tensor([1.0, 2.0, 2.0, 3.0]))]
    [2.0, 2]
    """
    axis = one_axis(axis, len(tensor_type(x, "mode", "x").shape), "mode")
    if not x.shape:
        return sorted_(x, axis, False)
    _count("mode", x, axis)
    values, places = sorted_(x, axis, False)
    end = longest_run(values, axis)
    found = take_along(values, end, axis), take_along(places, end, axis)
    return found if keepdim else (squeeze(found[0], axis), squeeze(found[1], axis))


# --- places in sorted values -------------------------------------------------------------------------------------------------


@op(paddle="searchsorted")
def searchsorted(sorted_sequence, values, out_int32: bool = False, right: bool = False):
    """Where each value would go in a sorted sequence: before equal ones, or with `right` behind them.

    >>> d2s.searchsorted(d2s.to_tensor([1.0, 3.0, 5.0]), d2s.to_tensor([0.0, 3.0, 6.0])).numpy().tolist()
    [0, 1, 3]
    """


@searchsorted.rule("canonical")
def _(sorted_sequence, values, out_int32, right):
    return {"out_int32": flag(out_int32, "out_int32"), "right": flag(right, "right")}


@searchsorted.rule("infer")
def _(sorted_sequence, values, out_int32, right):
    if sorted_sequence.dtype is not values.dtype or values.dtype.kind == "b":
        raise DTypeError("D2S0003", f"searchsorted() does not take {sorted_sequence} and {values} together")
    if not sorted_sequence.shape or (len(sorted_sequence.shape) > 1 and sorted_sequence.shape[:-1] != values.shape[:-1]):
        message = f"searchsorted(): 'sorted_sequence' is {sorted_sequence}, 'values' {values}: expected one row, or one per row"
        raise ShapeError("D2S0002", message)
    return Type(int32 if out_int32 else int64, values.shape)


@searchsorted.rule("kernel")
def _(sorted_sequence, values, out, out_int32, right):
    rows = len(sorted_sequence.shape) > 1
    before = "<=" if right else "<"
    body = f"""\
for i in range(lo, hi):
    row, low, high = {"i // n1 * n2" if rows else "0"}, 0, n2
    while low < high:
        middle = (low + high) >> 1
        found = sorted_sequence[row + middle]
        before = (found {before} values[i]) | ((values[i] != values[i]) & (found == found))
        low, high = select(before, middle + 1, low), select(before, high, middle)
    out[i] = low
"""
    extents = [values.shape, values.shape[-1:], sorted_sequence.shape[-1:]]
    return extents, body, Share("n0", "1024"), ""


@searchsorted.rule("vjp")
def _(g, out, sorted_sequence, values, out_int32, right):
    return None, None


def bucketize(x: Any, sorted_sequence: Any, out_int32: bool = False, right: bool = False) -> Any:
    """Where each value would go in one sorted sequence.

    >>> d2s.bucketize(d2s.to_tensor([0.0, 3.0]), d2s.to_tensor([1.0, 3.0, 5.0])).numpy().tolist()
    [0, 1]
    """
    return searchsorted(sorted_sequence, x, out_int32, right)
