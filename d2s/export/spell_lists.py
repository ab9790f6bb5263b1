"""Paddle's words for lists that a run makes longer and shorter: a list is a tensor, whose rows behind the first are its items.

Paddle's own arrays of tensors cannot be shortened or begun anew in a loop, nor leave an `if`; a tensor can. The first row is
there because older kernels of Paddle take no tensor without values. What changes a list copies it.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["list_append"].dtypes
'b1 i32 i64 f32 f64'
"""

from d2s import types
from d2s.export.paddle_numbers import filling
from d2s.export.paddle_pen import Pen, spells
from d2s.types import Shape, Type

_MOVED, _NUMBERS = "b1 i32 i64 f32 f64", "i32 i64 f32 f64"
_NUMBER, _PLACE = Type(types.int64), Type(types.int64, (1,))
_END = (1 << 31) - 1  # of an axis, however long


@spells("list_new")
def _(pen: Pen) -> None:
    of = pen.outputs[0]
    shape = (1, *of.shape[1:])
    attrs = filling(of.dtype, [d if isinstance(d, int) else -1 for d in shape], 0)
    slots = {} if all(isinstance(d, int) for d in shape) else {"ShapeTensorList": _extents(pen, shape)}
    pen.write("fill_constant", slots, attrs)


def _extents(pen: Pen, shape: Shape) -> list[str]:
    return [pen.dim(*pen.one_with(d), d) if isinstance(d, str) else pen.number(d, types.int32, [1]) for d in shape]


@spells("list_full", _NUMBERS, narrow=True, judged=1)
def _(pen: Pen) -> None:
    count, x = pen.names
    row, _ = pen.unsqueezed(x, pen.types[1], 0)
    line = Type(types.int64, ("count",))
    above, zero, step = pen.scaled(count, _NUMBER, 1.0, 1.0), pen.number(0, types.int64), pen.number(1, types.int64)
    places = pen.write("range", {"Start": zero, "End": above, "Step": step}, {}, line)
    pen.write("gather", {"X": row, "Index": pen.scaled(places, line, 0.0)}, {"axis": 0})


@spells("list_length")
def _(pen: Pen) -> None:
    pen.kept()
    rows = pen.extent(pen.names[0], pen.types[0], pen.types[0].shape[0])
    wide = pen.cast(pen.squeezed(rows, Type(types.int32, (1,)), 0, Type(types.int32)), Type(types.int32), types.int64)
    pen.write("scale", {"X": wide}, {"scale": 1.0, "bias": -1.0, "bias_after_scale": True}, k=1)


@spells("list_append", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    row, _ = pen.unsqueezed(pen.names[1], pen.types[1], 0)
    pen.write("concat", {"X": [pen.names[0], row]}, {"axis": 0})


@spells("list_pop", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    _rows(pen, -1, _END, k=1, alone=True)
    _rows(pen, 0, -1, k=0)


def _rows(pen: Pen, start: int, end: int, of: Type | None = None, k: int = 0, alone: bool = False) -> str:
    """The rows from one to another, or the one that stands there."""
    attrs = {"axes": [0], "starts": [start], "ends": [end], "infer_flags": [1], "decrease_axis": [0] if alone else []}
    return pen.write("slice", {"Input": pen.names[0]}, attrs, of, k=k)


@spells("list_get", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    rows = Type(pen.types[0].dtype, (1, *pen.types[0].shape[1:]))
    found = pen.write("gather", {"X": pen.names[0], "Index": _place(pen)}, {"axis": 0}, rows)
    also = {"XShape": Type(rows.dtype, (0, *rows.shape))}
    pen.write("squeeze2", {"X": found}, {"axes": [0]}, also=also, k=1)
    pen.kept()


def _place(pen: Pen) -> str:
    """The row of the item at an index."""
    return pen.reshaped(pen.scaled(pen.names[1], _NUMBER, 1.0, 1.0), _NUMBER, (1,))


@spells("list_set", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    row, _ = pen.unsqueezed(pen.names[2], pen.types[2], 0)
    pen.write("scatter", {"X": pen.names[0], "Ids": _place(pen), "Updates": row}, {"overwrite": True})


@spells("list_stack", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    out = pen.outputs[1]
    if pen.attrs["behind"]:
        rows = _rows(pen, 1, _END, pen.types[0])
        slots, rest = {"X": rows}, out.shape[1:]
        if not all(isinstance(d, int) for d in rest):
            slots["ShapeTensor"] = [pen.number(-1, types.int32, [1]), *_extents(pen, rest)]  # type: ignore[assignment]
        shape = [-1, *(d if isinstance(d, int) else -1 for d in rest)]
        also = {"XShape": Type(out.dtype, (0, *pen.types[0].shape))}
        pen.write("reshape2", slots, {"shape": shape}, also=also, k=1)
    else:
        _rows(pen, 1, _END, k=1)
    pen.kept()
