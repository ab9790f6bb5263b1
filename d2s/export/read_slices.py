"""What Paddle's stretches of axes mean: values read from them, and put there.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "strided_slice" in READ
True
"""

from typing import Any

from d2s.export.paddle_words import Reading, reads
from d2s.export.tensors import dtype_of
from d2s.ops import OPS
from d2s.ops.extremes import maximum, minimum
from d2s.ops.found import length, number, stretch_of
from d2s.ops.rows import row
from d2s.ops.slicing import Stretch, columns, part, set_slice, stretch
from d2s.types import Dim

_END = 2147483647
_SINCE, _NEW = 2_002_000, 3_000_000  # versions of Paddle: -1 behind steps back was the place before the first one, as None is

Found = tuple[Any, Any, int]  # start, end, step along an axis of which only a run knows which part that is


# --- where they begin and end ------------------------------------------------------------------------------------------------


def _back(r: Reading, x: Any, axis: int, start: int, end: int) -> tuple[Any, Any]:
    """Where steps back begin and end, as Python says it.

    Until Paddle 3 an end of -1 was no place but what is before the first one, and its slices took a place before the first
    one for the first. The builds before 3.0.0 call themselves 3.0.0: where they differ, it is refused.
    """
    version, dim, cut_off = r.frame.version, r.shape(x)[axis], r.op.type == "strided_slice"
    if end == -1 and not (_SINCE <= version < _NEW or version > _NEW):
        r.fail("of steps back to -1, which means one or the other in different builds of this version of Paddle")
    if end == -1 and version < _NEW:
        stop: Any = None
    elif end <= -_END:
        stop = None
    elif end < 0 and version < _NEW and cut_off:
        stop = max(dim + end, 0) if isinstance(dim, int) else maximum(length(x, axis) + end, number(0))
    else:
        stop = None if isinstance(dim, int) and end < -dim else end
    if start < 0 and version < _NEW and cut_off:
        begin: Any = max(dim + start, 0) if isinstance(dim, int) else maximum(length(x, axis) + start, number(0))
    else:
        begin = None if start >= _END else start
    return begin, stop


def _bounds(r: Reading, x: Any, axis: int, start: Any, end: Any, step: int) -> Stretch | Found:
    """One stretch; where only a run knows it, its bounds."""
    dim: Dim = r.shape(x)[axis]
    if isinstance(end, str) and end == dim:
        end = _END
    start, end = (r.extent(b) if isinstance(b, str) else b for b in (start, end))
    open_bounds = not (isinstance(start, int) and isinstance(end, int))
    if open_bounds and step < 0:
        r.fail("of steps back between places that only a run knows")
    if step < 0:
        start, end = _back(r, x, axis, start, end)
    elif open_bounds:
        return start, None if isinstance(end, int) and end >= _END else end, step
    if isinstance(dim, int):
        return stretch("slice", dim, start, end, step) if step < 0 or end >= -dim else Stretch(0, 0)
    if step == 1 and start == 0 and end >= _END:
        return Stretch(0, dim)
    if step == 1 and ((start, end) == (0, 1) or (start == -1 and end >= _END)):
        return Stretch(start, 1)
    if step == 1 and r.frame.whole_parts and (0 <= start < end < _END or start < end < 0):
        return Stretch(start, end - start)
    if step == 1 and r.frame.whole_parts and start < 0 and end >= _END:
        return Stretch(start, -start)
    return start, None if isinstance(end, int) and end >= _END else end, step


def _place(r: Reading, x: Any, axis: int, start: int, end: int) -> Stretch | None:
    """One place, of an axis that is dropped: a run refuses what is not there."""
    if isinstance(start, int) and isinstance(end, int) and (end == start + 1 or (start == -1 and end in (0, _END))):
        dim = r.shape(x)[axis]
        return Stretch(start % dim if isinstance(dim, int) and -dim <= start < dim else start, 1)
    return None


def _rows(r: Reading, x: Any, starts: Any, ends: Any, steps: Any) -> list[tuple[int, Any, Any, int]]:
    shape, axes = r.shape(x), r.take("axes", [])
    steps = steps or [1] * len(axes)
    fits = len(axes) == len(starts) == len(ends) == len(steps) and all(isinstance(s, int) and s for s in steps)
    if not fits or any(not -len(shape) <= a < len(shape) for a in axes):
        r.fail(f"of axes {axes} with {len(starts)} starts, {len(ends)} ends and the steps {list(steps)[:9]}")
    axes = [a % len(shape) for a in axes]
    if len(set(axes)) < len(axes):
        r.fail(f"of axes {axes}")
    return list(zip(axes, starts, ends, steps, strict=True))


# --- values read -------------------------------------------------------------------------------------------------------------


@reads("slice strided_slice")
def _(r: Reading) -> Any:
    x = r.x("Input")
    if r.op.type == "slice":
        r.only("Input", "StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList")
    rank = len(r.shape(x))
    dropped = sorted({a % rank for a in r.take("decrease_axis", []) if -rank <= a < rank})
    starts = r.numbers("starts", "StartsTensor", "StartsTensorList")
    ends = r.numbers("ends", "EndsTensor", "EndsTensorList")
    rows = _rows(r, x, starts, ends, r.wanted("strides", "StridesTensor", "StridesTensorList"))
    known = r.frame.known.get(x.value)
    where: dict[int, Stretch] = {}
    single: dict[int, Any] = {}  # places that only a run knows
    found = x
    for axis, start, end, step in rows:
        if axis in dropped and not isinstance(start, int):
            single[axis] = r.extent(start) if isinstance(start, str) else start
            continue
        single_place = _place(r, x, axis, start, end) if axis in dropped and step == 1 else None
        stretched = single_place or _bounds(r, x, axis, start, end, step)
        if isinstance(stretched, Stretch):
            where[axis] = stretched
        else:
            found = _run_time(r, found, axis, *stretched)
    if any(a not in single and (a not in where or where[a].size != 1) for a in dropped):
        r.fail(f"that drops axes {dropped}")
    found = part(found, r.shape(found), where, tuple(a for a in dropped if a in where)) if where or found is x else found
    for axis, index in sorted(single.items(), reverse=True):
        found = _picked(r, found, axis - sum(a < axis and a in where for a in dropped), index)
    if known is None or list(where) != [0] or single:
        return found
    start, size, step = where[0]
    return r.know(found, [known[start + k * step] for k in range(size)] if isinstance(size, int) else known)


def _run_time(r: Reading, x: Any, axis: int, start: Any, end: Any, step: int) -> Any:
    if step == -1 and start is None and end is None:
        return OPS["flip"](x, [axis])
    return stretch_of(x, axis, start, end, step)


def _picked(r: Reading, x: Any, axis: int, index: Any) -> Any:
    """What stands at one place of an axis, which only a run knows."""
    index = number(index)
    size = length(x, axis)
    place = minimum(maximum(OPS["where"](index < 0, index + size, index), number(0)), size - 1)
    if axis == 0:
        return row(x, place)
    return OPS["squeeze"](OPS["gather"](x, OPS["reshape"](place, [1]), axis), axis)


# --- values put --------------------------------------------------------------------------------------------------------------


@reads("set_value")
def _(r: Reading) -> Any:
    r.only("Input", "ValueTensor", "StartsTensorList", "EndsTensorList", "StepsTensorList")
    x, added = r.x("Input"), r.take("none_axes", [])
    shape = r.shape(x)
    starts, ends = r.numbers("starts", "", "StartsTensorList"), r.numbers("ends", "", "EndsTensorList")
    rows = _rows(r, x, starts, ends, r.wanted("steps", "", "StepsTensorList"))
    where: dict[int, Stretch] = {}
    dropped = sorted({a % len(shape) for a in r.take("decrease_axes", []) if -len(shape) <= a < len(shape)})
    for axis, *row_ in rows:
        found = (axis in dropped and row_[2] == 1 and _place(r, x, axis, *row_[:2])) or _bounds(r, x, axis, *row_)
        where[axis] = found if isinstance(found, Stretch) else r.fail("at places that only a run knows")
    if added or any(a not in where or where[a].size != 1 for a in dropped):
        r.fail(f"that drops axes {dropped} and adds {added}")
    value = r.x("ValueTensor") if r.has("ValueTensor") else _written(r)
    place = columns(shape, where, dropped)
    want = r.shape(part(x, shape, where, dropped))
    if r.shape(value) not in (want, ()):
        value = r.expanded(value, want)
    return set_slice(x, value, *place) if place[0] else OPS["expand_as"](value, x)


def _written(r: Reading) -> Any:
    """What is put there as the file says it."""
    dtype = dtype_of(r.take("dtype", 5))
    return r.tensor(r.scalars(dtype), dtype, r.take("shape", []))
