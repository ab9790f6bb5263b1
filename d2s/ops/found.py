"""Results whose extents a run finds: the places where a mask holds, numbers counted up, the part of an axis between two places.

Such an extent has a name (`m0`, `m1` …) that the node itself sets: `finds` lists its names, and the last inputs of the
node are the numbers they stand for. A capture gives equal numbers equal names (`extent_called`); eagerly the number stands
in the place of the name.

>>> from d2s.types import bool_
>>> places_where.infer([Type(bool_, ("n0",)), Type(int64)], {"finds": ("m0",)})
(i64[m0],)
"""

import functools
from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, brief
from d2s.ops.compare import cast, less_than, where
from d2s.ops.dispatch import current
from d2s.ops.extremes import maximum, minimum
from d2s.ops.math import add, floor_divide, multiply, remainder, subtract
from d2s.ops.movement import CHUNK, Registers, body, indented
from d2s.ops.op import Share, op
from d2s.ops.reduce import sum as total_of
from d2s.ops.rows import extent
from d2s.ops.shapes import fitting
from d2s.types import Dim, Shape, Type, int64

NUMBER = Type(int64)
OPEN = "m"  # an extent that a run finds, yet to be named


@op(paddle=None)
def places_where(mask, count, finds: Any):
    """Where a mask holds, as places in the row of all its values; `count` says how often it does.

    >>> mask = d2s.to_tensor([True, False, True])
    >>> d2s.ops.found.places_where(mask, d2s.to_tensor(2), (2,)).numpy().tolist()
    [0, 2]
    """


@places_where.rule("infer")
def _(mask, count, finds):
    return Type(int64, finds)


@places_where.rule("kernel")
def _(mask, count, out, finds):
    # each piece counts what is before it, so there are few; the last is of what a mask has less than was said
    lines = ["k, i, end, most = 0, lo, hi if hi < n1 else n1, n0", "for before in range(lo):", "    k += mask[before] != 0"]
    # the place behind its last one is another piece's, and is written where nothing holds
    lines += ["if hi <= n1:", "    most = k", "    for own in range(lo, hi):", "        most += mask[own] != 0"]
    lines += ["most = most if most < n0 else n0"]
    one = ["out[k] = i", "k += mask[i] != 0", "i += 1"]  # without a branch on what nobody foresees
    lines += ["while k + 8 <= most and i + 8 <= end:", "    for step in range(8):", *indented(one, 2)]
    lines += ["while k < most and i < end:", *indented(one)]
    lines += ["if hi > n1:", "    for j in range(k, n0):", "        out[j] = 0"]
    return [out.shape, mask.shape], body(lines), Share("n1 + 1", f"{CHUNK} + (n1 >> 1)")


@op(paddle=None)
def counting(count, finds: Any):
    """The numbers from 0 up to `count`.

    >>> d2s.ops.found.counting(d2s.to_tensor(3), (3,)).numpy().tolist()
    [0, 1, 2]
    """


@counting.rule("infer")
def _(count, finds):
    return Type(int64, finds)


@counting.rule("kernel")
def _(count, out, finds):
    return [out.shape], body(["for i in range(lo, hi):", "    out[i] = i"]), Share("n0", str(CHUNK))


@op(paddle=None)
def cut(x, start, count, axis: int, step: int, finds: Any):
    """So many values along an axis, from a start on, in steps.

    >>> d2s.ops.found.cut(d2s.to_tensor([1, 2, 3, 4]), d2s.to_tensor(3), d2s.to_tensor(2), 0, -2, (2,)).numpy().tolist()
    [4, 2]
    """


@cut.rule("infer")
def _(x, start, count, axis, step, finds):
    return Type(x.dtype, _with(x.shape, axis, finds[0]))


@cut.rule("kernel")
def _(x, start, count, out, axis, step, finds):
    r = Registers()
    rows, row, source = r(out.shape[: axis + 1]), r(x.shape[axis + 1 :]), r((x.shape[axis],))
    lines = [f"along = {r((out.shape[axis],))}"]
    most = f"({source} - 1 - start[0]) // {step}" if step > 0 else f"start[0] // {-step}"
    lines += [f"if start[0] < 0 or start[0] >= {source} or along - 1 > {most}:"]  # in no capture, but in what a file says
    lines += indented([f"for i in range(lo * {row}, hi * {row}):", "    out[i] = T(0)", "return 0"])
    if step == 1:
        copy = [f"base = (outer * {source} + start[0] + j - k) * {row}", f"for i in range(k * {row}, (k + m) * {row}):"]
        lines += _runs([*copy, "    out[i] = x[base + i]"])
    else:
        lines += ["for k in range(lo, hi):", "    outer = k // along"]
        lines += [f"    at = (outer * {source} + start[0] + (k - outer * along) * {step}) * {row}"]
        lines += [f"    for i in range({row}):", f"        out[k * {row} + i] = x[at + i]"]
    return r.extents, body(lines), Share(rows, f"1 + {CHUNK} // (1 + {row})")


def _runs(work: Sequence[str]) -> list[str]:
    """Lines for each stretch k ... k + m of the rows lo ... hi that lies in one `outer`, where it begins at j."""
    lines = ["outer = k // along", "j = k - outer * along", "m = along - j if along - j < hi - k else hi - k", *work, "k += m"]
    return ["k = lo", "while k < hi:", *indented(lines)]


@cut.rule("vjp")
def _(g, out, x, start, count, axis, step, finds):
    return lambda: uncut(g, x, start, count, axis, step), None, None


@op(paddle=None)
def uncut(x, like, start, count, axis: int, step: int):
    """The transpose of `cut`: x at some places of an axis of `like`, zero elsewhere.

    >>> x, like = d2s.to_tensor([5.0]), d2s.to_tensor([0.0, 0.0, 0.0])
    >>> d2s.ops.found.uncut(x, like, d2s.to_tensor(1), d2s.to_tensor(1), 0, 1).numpy().tolist()
    [0.0, 5.0, 0.0]
    """


@uncut.rule("infer")
def _(x, like, start, count, axis, step):
    fitting("uncut", "x", _with(x.shape, axis, 0), _with(like.shape, axis, 0))
    return Type(x.dtype, like.shape)


@uncut.rule("kernel")
def _(x, like, start, count, out, axis, step):
    r = Registers()
    rows, row, source = r(out.shape[: axis + 1]), r(out.shape[axis + 1 :]), r((x.shape[axis],))
    lines = [f"along = {r((out.shape[axis],))}", f"for i in range(lo * {row}, hi * {row}):", "    out[i] = T(0)"]
    if step == 1:
        put = ["begin = j if j > start[0] else start[0]", f"end = start[0] + {source}", "end = j + m if j + m < end else end"]
        put += [f"to, base = outer * along * {row}, (outer * {source} - start[0]) * {row}"]
        lines += _runs([*put, f"for i in range(begin * {row}, end * {row}):", "    out[to + i] = x[base + i]"])
    else:
        lines += ["for k in range(lo, hi):", "    outer = k // along", "    far = k - outer * along - start[0]"]
        lines += [f"    j = far // {step}", f"    if j >= 0 and j < {source} and j * {step} == far:"]
        lines += [f"        for i in range({row}):", f"            out[k * {row} + i] = x[(outer * {source} + j) * {row} + i]"]
    return r.extents, body(lines), Share(rows, f"1 + {CHUNK} // (1 + {row})")


@uncut.rule("vjp")
def _(g, out, x, like, start, count, axis, step):
    return lambda: cut(g, start, count, axis, step, (current().type_of(x).shape[axis],)), None, None, None  # type: ignore[union-attr]


def _with(shape: Shape, axis: int, dim: Dim) -> Shape:
    return (*shape[:axis], dim, *shape[axis + 1 :])


# --- numbers of run time ------------------------------------------------------------------------------------------------------


def finds_extents() -> bool:
    """Whether what is being recorded may have extents that a run finds, and computes with all extents it does not know."""
    return hasattr(current(), "extent_name")


def finds_places() -> bool:
    """Whether it may have those of places that values tell; so has a declared program."""
    return hasattr(current(), "extent_called")


def called(number: Any) -> tuple[str, ...]:
    """The attribute `finds` for one extent, a number of run time."""
    return (current().extent_called(number),)  # type: ignore[attr-defined]


def length(x: Any, axis: int) -> Any:
    """An extent as a number that ops compute with."""
    dim = current().type_of(x).shape[axis]  # type: ignore[union-attr]
    if isinstance(dim, int):
        return number(dim)
    found = number(extent(x, axis))
    current().call_extent(found, dim)  # type: ignore[attr-defined]
    return found


def extents_of(x: Any) -> list[Any]:
    """The shape of a tensor in ints, and in numbers of run time where only a run knows them."""
    return [d if isinstance(d, int) else length(x, k) for k, d in enumerate(current().type_of(x).shape)]  # type: ignore[union-attr]


def number(value: Any) -> Any:
    """A Python int, or one of run time, as a number that ops compute with."""
    if isinstance(value, int):
        return current().constant(value, NUMBER)
    held = current().type_of(value)
    if held is None or held.dtype.kind != "i":
        raise ArgumentError("D2S0004", f"expected an int, got {brief(value)}")
    return cast(value, int64)


def sum_of(numbers: Sequence[Any]) -> Any:
    return functools.reduce(add, numbers)


def places_in(mask: Any) -> Any:
    """Where a mask holds, as places in the row of all its values."""
    count = total_of(mask)
    return places_where(mask, count, called(count))


def counted(start: Any, end: Any, step: int = 1) -> Any:
    """The numbers from one of run time up to another, in steps."""
    begin, last = number(start), number(end)
    count = maximum(_in_steps(subtract(last, begin) if step > 0 else subtract(begin, last), step), number(0))
    found = counting(count, called(count))
    return add(found if step == 1 else multiply(found, step), begin)


def _in_steps(far: Any, step: int) -> Any:
    """How many steps there are on a way."""
    return floor_divide(add(far, abs(step) - 1), abs(step)) if abs(step) > 1 else far


def stretch_of(x: Any, axis: int, start: Any, stop: Any, step: int) -> Any:
    """Part of an axis where only a run knows the bounds of a slice, or how long the axis is."""
    begin, count = _stretch(x, axis, start, stop, step)
    return cut(x, begin, count, axis, step, called(count))


def numbers_of(x: Any, axis: int, start: Any, stop: Any, step: int) -> Any:
    """The places along an axis that such a slice names."""
    begin, count = _stretch(x, axis, start, stop, step)
    return add(multiply(counting(count, called(count)), step), begin)


def _stretch(x: Any, axis: int, start: Any, stop: Any, step: int) -> tuple[Any, Any]:
    """Where a slice begins on an axis, and how many values it has there."""
    size = length(x, axis)
    lowest, highest = (number(0), size) if step > 0 else (number(-1), subtract(size, 1))
    first, last = (lowest, highest) if step > 0 else (highest, lowest)
    begin, end = (d if b is None else _bounded(b, size, lowest, highest) for b, d in ((start, first), (stop, last)))
    far = subtract(end, begin) if step > 0 else subtract(begin, end)
    return begin, maximum(_in_steps(far, step), number(0))


def _bounded(bound: Any, size: Any, lowest: Any, highest: Any) -> Any:
    """A bound of a slice as a place on the axis: from the end where it is below 0, cut off where it is beyond."""
    bound = number(bound)
    return minimum(maximum(where(less_than(bound, 0), add(bound, size), bound), lowest), highest)


def places_along(mask: Any) -> list[Any]:
    """Where a mask holds: for each of its axes a tensor of places along it."""
    shape = current().type_of(mask).shape  # type: ignore[union-attr]
    flat = places_in(mask)
    found = []
    for axis, dim in enumerate(shape):
        along = flat
        behind = shape[axis + 1 :]
        if behind:
            along = floor_divide(along, _product([length(mask, k) for k in range(axis + 1, len(shape))]))
        found.append(remainder(along, _at_least_1(length(mask, axis))) if axis and dim != 1 else along)
    return found


def _product(numbers: Sequence[Any]) -> Any:
    return _at_least_1(functools.reduce(multiply, numbers))


def _at_least_1(size: Any) -> Any:
    """What an empty mask, which has no places, may be divided by."""
    return maximum(size, number(1))
