"""Paddle's words for results whose extents are other ones: axes resized, and what a run finds.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["resized"].dtypes
'i32 i64 f32 f64'
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.export.paddle_numbers import filling, is_read_as_it_is
from d2s.export.paddle_pen import Floats, Pen, refuse, spells
from d2s.ops.resize import SCALED
from d2s.types import Type

_MOVED, _NUMBERS = "b1 i32 i64 f32 f64", "i32 i64 f32 f64"

# --- an axis resized --------------------------------------------------------------------------------------------------------


_BETWEEN = {"nearest": "nearest", "linear": "bilinear", "cubic": "bicubic"}


@spells("resized_to", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    """To an extent that a run finds."""
    _resized(pen, pen.attrs | {"scale": 0.0, "size": None}, _int32(pen, pen.names[1]))


@spells("resized", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    _resized(pen, pen.attrs)


def _resized(pen: Pen, said: dict[str, Any], found: str = "") -> None:
    """One axis at a time, the other axis of a plane as it is; `found` is an extent that a run has found."""
    axis, x = said["axis"], pen.types[0]
    name, plane, at = _plane(pen, axis)
    other = plane.shape[5 - at]
    size = pen.outputs[0].shape[axis]
    sizes = [size, other] if at == 2 else [other, size]
    known = [d if isinstance(d, int) else -1 for d in sizes]
    kind, scale = _BETWEEN[said["mode"]], said["scale"]
    attrs = {"data_layout": "NCHW", "interp_method": kind, "align_corners": said["places"] == "corners"}
    attrs |= {"align_mode": int(said["places"] == "whole"), "out_d": -1, "out_h": known[0], "out_w": known[1]}
    slots: dict[str, Any] = {"X": name}
    have = x.shape[axis]
    if scale > 0 and said["size"] != SCALED and not (isinstance(have, int) and int(have * scale) == size):
        refuse(f"resized by {scale} to {size} of {have}")
    attrs["scale"] = Floats([] if scale <= 0 else [scale, 1.0] if at == 2 else [1.0, scale])
    if scale <= 0 and -1 in known:
        slots["SizeTensor"] = [found if found and k == at - 2 else pen.dim(name, plane, d) for k, d in enumerate(sizes)]
    same = len(x.shape) == 4 and plane.shape == x.shape
    wide = kind == "nearest" and plane.dtype is types.float32 and not _repeats(have, said)
    if wide:  # oneDNN's kernel, which Paddle's inference takes for float32, goes by other places
        slots["X"] = pen.cast(name, plane, types.float64)
    whole = Type(types.float64 if wide else plane.dtype, (*plane.shape[:2], *sizes))
    between = pen.write(f"{kind}_interp_v2", slots, attrs, None if same and not wide else whole)
    if wide:
        between = pen.cast(between, whole, types.float32, of=None if same else True)
        whole = Type(types.float32, whole.shape)
    if not same:
        pen.reshaped(between, whole, pen.outputs[0].shape, of=None)


def _repeats(have: Any, attrs: dict[str, Any]) -> bool:
    """Whether each value comes a whole number of times."""
    size, scale = attrs["size"], attrs["scale"]
    if size == SCALED:
        return attrs["places"] == "whole" and float(scale).is_integer()
    known = isinstance(have, int) and isinstance(size, int) and size % have == 0
    return known and attrs["places"] == "whole" and (scale <= 0 or scale == size / have)


def _plane(pen: Pen, axis: int) -> tuple[str, Type, int]:
    """x as images, of which an axis is that one."""
    x = pen.types[0]
    if len(x.shape) == 4 and axis > 1:
        return pen.names[0], x, axis
    if len(x.shape) == 3 and axis == 2:
        return *pen.unsqueezed(pen.names[0], x, 3), 2
    rows, inside = (_extent(dims) for dims in (x.shape[:axis], x.shape[axis + 1 :]))
    want = (rows, 1, x.shape[axis], inside)
    if sum(isinstance(d, str) for d in want) > 1:
        refuse("resized of several axes of any extent")
    plane = Type(x.dtype, want)
    shape = [d if isinstance(d, int) else -1 for d in want]
    made = pen.write("reshape2", {"X": pen.names[0]}, {"shape": shape}, plane, also={"XShape": Type(x.dtype, (0, *x.shape))})
    return made, plane, 2


def _extent(dims: Sequence[Any]) -> Any:
    """The product of extents; of those that only a run knows a name that says so."""
    return math.prod(dims) if all(isinstance(d, int) for d in dims) else "rows"


# --- extents that a run finds ------------------------------------------------------------------------------------------------


@spells("places_where")
def _(pen: Pen) -> None:
    (extent,) = pen.outputs[0].shape
    flat = Type(types.bool_, ("all",))
    also = {"XShape": Type(types.bool_, (0, *pen.types[0].shape))}
    mask = pen.write("reshape2", {"X": pen.names[0]}, {"shape": [-1]}, flat, also=also)
    column = Type(types.int64, (extent, 1))
    pen.squeezed(pen.write("where_index", {"Condition": mask}, {}, column), column, 1)


def _counted(pen: Pen, count: str, of: Type | None) -> str:
    start, step = (pen.number(n, types.int64) for n in (0, 1))
    return pen.write("range", {"Start": start, "End": count, "Step": step}, {}, of)


@spells("counting")
def _(pen: Pen) -> None:
    _counted(pen, pen.names[0], None)


@spells("cut", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    x, start, count = pen.names
    line = Type(types.int64, (pen.outputs[0].shape[pen.attrs["axis"]],))
    steps = pen.scaled(_counted(pen, count, line), line, float(pen.attrs["step"]))
    places = pen.two("elementwise_add", steps, start, line)
    pen.taken(x, pen.types[0], places, line, pen.attrs["axis"])


@spells("behind", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.write("concat", {"X": pen.names[: len(pen.names) // 2]}, {"axis": pen.attrs["axis"]})


@spells("laid", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    shape = list(pen.attrs["shape"])
    slots = {"X": pen.names[0]} | ({"ShapeTensor": _whole_shape(pen)} if shape.count(-1) > 1 else {})
    pen.write("reshape2", slots, {"shape": shape}, also={"XShape": Type(pen.types[0].dtype, (0, *pen.types[0].shape))})


@spells("filled", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    value = pen.writer.constants.get(pen.node.inputs[0])
    if value is not None and (pen.types[0].dtype.kind == "f" or is_read_as_it_is(value)):
        _full(pen, value, None)
        return
    like = _full(pen, 0, Type(types.int32, pen.outputs[0].shape))
    pen.broadcast(pen.with_an_axis(), pen.types[0], like, pen.outputs[0], of=None)  # nor an expand_v2 to such a shape


def _full(pen: Pen, value: float, of: Type | None) -> str:
    """One number in every place of the shape, which may have none: Paddle 2.6 expands nothing to that."""
    attrs = filling((of or pen.outputs[0]).dtype, pen.attrs["shape"], value)
    return pen.write("fill_constant", {"ShapeTensorList": _whole_shape(pen)}, attrs, of)


def _whole_shape(pen: Pen) -> list[str]:
    """A shape as numbers, one by one: those a run finds, and the others."""
    counts = iter(pen.names[1:])
    return [_int32(pen, next(counts)) if d == -1 else pen.number(d, types.int32, [1]) for d in pen.attrs["shape"]]


def _int32(pen: Pen, count: str) -> str:
    line = Type(types.int64, (1,))
    return pen.cast(pen.reshaped(count, Type(types.int64), (1,)), line, types.int32)
