"""Paddle's words for ops that move, pick, join and place values.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> "take_at" in SPELLED
True
"""

from typing import Any, NamedTuple

from d2s import types
from d2s.export.paddle_pen import Long, Longs, Pen, refuse, spells
from d2s.export.tensors import NUMBERS
from d2s.types import Type

_MOVED = "b1 i32 i64 f32 f64"
_NUMBERS = "i32 i64 f32 f64"
_END = 2147483647  # behind the end of any axis


def _xshape(pen: Pen) -> dict[str, Type]:
    return {"XShape": Type(pen.types[0].dtype, (0, *pen.types[0].shape))}


# --- the same values in another shape or order -------------------------------------------------------------------------------


@spells("reshape", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.write("reshape2", {"X": pen.names[0]}, {"shape": list(pen.attrs["shape"])}, also=_xshape(pen))


@spells("flatten unflatten", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.reshaped(pen.names[0], pen.types[0], pen.outputs[0].shape, of=None)


@spells("reshape_like", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    x, like = pen.types
    if sum(isinstance(d, str) for d in like.shape) < 2:
        pen.reshaped(pen.names[0], x, like.shape, of=None)
        return
    shape = pen.shape(pen.names[1], like)
    pen.write("reshape2", {"X": pen.names[0], "Shape": shape}, {"shape": []}, also=_xshape(pen))


@spells("squeeze unsqueeze", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    if not pen.attrs["axis"]:
        pen.copy(pen.names[0])  # no axis is every axis there
        return
    pen.write(f"{pen.node.op}2", {"X": pen.names[0]}, {"axes": list(pen.attrs["axis"])}, also=_xshape(pen))


@spells("transpose", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.transposed(pen.names[0], pen.types[0], pen.attrs["perm"], of=None)


@spells("flip", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    if not pen.attrs["axis"]:
        pen.copy(pen.names[0])
        return
    pen.write("flip", {"X": pen.names[0]}, {"axis": list(pen.attrs["axis"])})


@spells("rotate", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    axis, shift = pen.attrs["axis"], pen.attrs["shift"]
    if not pen.types[0].shape:
        pen.copy(pen.names[0])
        return
    pen.write("roll", {"X": pen.names[0]}, {"shifts": Longs([shift]), "axis": Longs([] if axis is None else [axis])})


@spells("expand", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    if not pen.attrs["shape"]:
        pen.copy(pen.names[0])
        return
    pen.write("expand_v2", {"X": pen.with_an_axis()}, {"shape": list(pen.attrs["shape"])})


@spells("expand_as", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    (x, y), want = pen.types, pen.outputs[0]
    like = pen.names[1] if y.dtype is x.dtype or y.dtype.short in _MOVED.split() else pen.cast(pen.names[1], y, types.int32)
    pen.broadcast(pen.names[0], x, like, want, of=None)


@spells("tile", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    if not pen.attrs["repeat_times"]:
        pen.copy(pen.names[0])
        return
    pen.write("tile", {"X": pen.names[0]}, {"repeat_times": list(pen.attrs["repeat_times"])})


@spells("concat", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.write("concat", {"X": pen.names}, {"axis": pen.attrs["axis"]})


@spells("stacked", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    pen.write("stack", {"X": pen.names}, {"axis": pen.attrs["axis"]}, out="Y")


# --- stretches of axes -------------------------------------------------------------------------------------------------------


class _Cut(NamedTuple):
    """Stretches as Paddle says them, all forward; what was backward is turned round behind."""

    axes: list[int]
    starts: list[int]
    ends: list[int]
    steps: list[int]
    turned: list[int]


def _cut(pen: Pen) -> _Cut:
    found = _Cut([], [], [], [], [])
    columns = (pen.attrs[key] for key in ("axes", "starts", "counts", "steps"))
    for axis, start, count, step in zip(*columns, strict=True):
        if not isinstance(count, int):
            refuse(f"{pen.node.op} of as many values as only a run knows")
        if step < 0:
            start += (count - 1) * step
        if step < 0 and count > 1:
            found.turned.append(axis)
        end = start + (max(count, 1) - 1) * abs(step) + 1 if count else start
        for column, value in zip(found, (axis, start, _END if start < 0 <= end else end, abs(step)), strict=False):
            column.append(value)
    return found


@spells("sliced", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    axes, starts, ends, steps, turned = _cut(pen)
    dropped, source = list(pen.attrs["dropped"]), pen.names[0]
    if not axes:
        pen.copy(source)
        return
    attrs = {"axes": axes, "starts": starts, "ends": ends, "infer_flags": [1] * len(axes), "decrease_axis": dropped}
    kind, more = ("strided_slice", {"strides": steps}) if any(step != 1 for step in steps) else ("slice", {})
    if dropped and not pen.outputs[0].shape and pen.types[0].dtype is types.float32:
        # oneDNN's kernel, which Paddle's inference takes, would leave an axis
        ones = Type(types.float32, (1,) * len(dropped))
        found = pen.write(kind, {"Input": source}, attrs | more | {"decrease_axis": []}, ones)
        pen.reshaped(found, ones, (), of=None)
        return
    found = pen.write(kind, {"Input": source}, attrs | more, pen.outputs[0] if turned else None)
    if turned:
        pen.write("flip", {"X": found}, {"axis": [a - sum(d < a for d in dropped) for a in turned]})


@spells("set_slice", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    axes, starts, ends, steps, turned = map(Longs, _cut(pen))
    dropped, value = Longs(pen.attrs["dropped"]), pen.names[1]
    attrs: dict[str, Any] = {"axes": axes, "starts": starts, "ends": ends, "steps": steps, "decrease_axes": dropped}
    if not axes:
        whole = pen.broadcast(value, pen.types[1], pen.names[0], pen.types[0])
        pen.copy(whole)
        return
    attrs |= {"none_axes": Longs(), "dtype": NUMBERS[pen.types[0].dtype], "shape": Longs()}
    if turned and pen.types[1].shape:
        kept = [a - sum(d < a for d in dropped) for a in turned]
        value = pen.write("flip", {"X": value}, {"axis": kept}, pen.types[1])
    pen.write("set_value", {"Input": pen.names[0], "ValueTensor": value}, attrs)


# --- places ------------------------------------------------------------------------------------------------------------------


def _fronted(pen: Pen, x: str, of_x: Type) -> tuple[str, Type, list[int]]:
    """x with the axes that are indexed in front, and the order of its axes."""
    perm = [*pen.attrs["axes"], *(k for k in range(len(of_x.shape)) if k not in pen.attrs["axes"])]
    return *pen.transposed(x, of_x, perm), perm


def _in_place(pen: Pen, rank: int, index: int) -> list[int]:
    """The order that takes a result whose indexed part is in front to where the op wants that part."""
    if pen.attrs["front"]:
        return list(range(rank))
    first = pen.attrs["axes"][0]
    return [*range(index, index + first), *range(index), *range(index + first, rank)]


@spells("take_at", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    x, of_x, _ = _fronted(pen, pen.names[0], pen.types[0])
    indices, given = pen.names[1:], pen.types[1:]
    found = [pen.from_start(i, t, x, of_x, k) for k, (i, t) in enumerate(zip(indices, given, strict=True))]
    found = [_as_int64(pen, i, t) for i, t in zip(found, given, strict=True)]
    shape = given[0].shape
    places = pen.write("stack", {"X": found}, {"axis": len(shape)}, Type(types.int64, (*shape, len(found))), out="Y")
    order = _in_place(pen, len(pen.outputs[0].shape), len(shape))
    if order == sorted(order):
        pen.write("gather_nd", {"X": x, "Index": places})
        return
    taken = Type(of_x.dtype, (*shape, *of_x.shape[len(found) :]))
    pen.transposed(pen.write("gather_nd", {"X": x, "Index": places}, {}, taken), taken, order, of=None)


def _as_int64(pen: Pen, index: str, have: Type) -> str:
    return index if have.dtype is types.int64 else pen.cast(index, have, types.int64)


@spells("put_at add_at", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    x, of_x, perm = _fronted(pen, pen.names[0], pen.types[0])
    value, of_value, given = pen.names[1], pen.types[1], pen.types[2:]
    if pen.node.op == "add_at" and pen.node.inputs[0].type.dtype.kind == "b":
        refuse("add_at of bool")
    indices = [_as_int64(pen, i, t) for i, t in zip(pen.names[2:], given, strict=True)]
    rank = len(given[0].shape)
    if not rank:
        indices = [pen.reshaped(i, Type(types.int64), (1,)) for i in indices]
    if of_value.shape:
        order = _in_place(pen, len(of_value.shape), rank)
        value, of_value = pen.transposed(value, of_value, [order.index(k) for k in range(len(order))])
    elif (number := pen.writer.constants.get(pen.node.inputs[1])) is not None:
        value = pen.number(number, of_value.dtype, [1])  # folded, oneDNN's reshape of a single one fails in Paddle 3.3
    else:
        value = pen.reshaped(value, of_value, (1,))
    in_order = perm == sorted(perm)
    # changed where it lies: into another variable Paddle copies x only as long as no run has left anything there
    put = pen.write("assign", {"X": x}, {}, None if in_order else of_x)
    slots = {"x": [put], "indices": indices, "value": [value]}
    pen.writer.op(pen.block, "index_put", slots, {"out": [put]}, {"accumulate": pen.node.op == "add_at"})
    if not in_order:
        pen.transposed(put, of_x, [perm.index(k) for k in range(len(perm))], of=None)


@spells("gather", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    (x, index, *_), axis = pen.types, pen.attrs["axis"]
    place = pen.from_start(pen.names[1], index, pen.names[0], x, axis)
    if len(index.shape) == 2:
        place = pen.reshaped(place, index, pen.outputs[0].shape[axis : axis + 1])
    pen.taken(pen.names[0], x, place, index, axis)


@spells("row", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    pen.write("gather", {"X": pen.names[0], "Index": pen.names[1]}, {"axis": 0})


@spells("extent")
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    shape = pen.shape(pen.names[0], pen.types[0])
    attrs = {"axes": [0], "starts": [axis], "ends": [axis + 1], "infer_flags": [1], "decrease_axis": [0]}
    one = pen.write("slice", {"Input": shape}, attrs, Type(types.int32))
    pen.cast(one, Type(types.int32), types.int64, of=None)


@spells("embedding", "f32 f64", judged=1)
def _(pen: Pen) -> None:
    ids, padding = pen.types[0], pen.attrs["padding_idx"]
    index = pen.names[0] if ids.dtype.short in ("i32", "i64") else pen.cast(pen.names[0], ids, types.int64)
    pen.write("lookup_table_v2", {"Ids": index, "W": pen.names[1]}, {"padding_idx": Long(-1 if padding is None else padding)})


@spells("take_along", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    index = pen.from_start(pen.names[1], pen.types[1], pen.names[0], pen.types[0], axis)
    pen.write("take_along_axis", {"Input": pen.names[0], "Index": index}, {"Axis": axis}, out="Result")


_REDUCES = {"assign": "assign", "add": "add", "multiply": "mul", "mul": "mul", "amin": "amin", "amax": "amax"}


@spells("put_along", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    axis, of_index, reduce = pen.attrs["axis"], pen.types[1], _REDUCES.get(pen.attrs["reduce"])
    if not reduce:
        refuse(f"put_along by {pen.attrs['reduce']}")
    index = pen.from_start(pen.names[1], of_index, pen.names[0], pen.types[0], axis)
    value = pen.broadcast(pen.names[2], pen.types[2], index, of_index)
    slots = {"Input": pen.names[0], "Index": index, "Value": value}
    attrs = {"Axis": axis, "Reduce": reduce, "Include_self": True}
    pen.write("put_along_axis", slots, attrs, out="Result")


@spells("searchsorted", _NUMBERS)
def _(pen: Pen) -> None:
    attrs = {"out_int32": pen.attrs["out_int32"], "right": pen.attrs["right"]}
    pen.write("searchsorted", {"SortedSequence": pen.names[0], "Values": pen.names[1]}, attrs)


# --- diagonals, triangles, what is made of numbers ---------------------------------------------------------------------------


@spells("tril triu", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.write("tril_triu", {"X": pen.names[0]}, {"diagonal": pen.attrs["diagonal"], "lower": pen.node.op == "tril"})


@spells("diagonal", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    pen.write("diagonal", {"Input": pen.names[0]}, {key: pen.attrs[key] for key in ("offset", "axis1", "axis2")})


@spells("set_diagonal", _MOVED, narrow=True)
def _(pen: Pen) -> None:
    x, value = pen.types
    rows = [d for k, d in enumerate(x.shape) if k not in (pen.attrs["axis1"], pen.attrs["axis2"])]
    filled = pen.names[1]
    if not value.shape:
        part = Type(x.dtype, (*rows, _length(pen, x)))
        attrs = {"offset": pen.attrs["offset"], "axis1": pen.attrs["axis1"], "axis2": pen.attrs["axis2"]}
        like = pen.write("diagonal", {"Input": pen.names[0]}, attrs, part)
        filled = pen.broadcast(filled, value, like, part)
    attrs = {"offset": Long(pen.attrs["offset"]), "dim1": pen.attrs["axis1"], "dim2": pen.attrs["axis2"]}
    pen.write("fill_diagonal_tensor", {"X": pen.names[0], "Y": filled}, attrs)


def _length(pen: Pen, x: Type) -> Any:
    """How long the diagonal is."""
    one, two = (x.shape[pen.attrs[key]] for key in ("axis1", "axis2"))
    if isinstance(one, str) or isinstance(two, str):
        return one
    offset = pen.attrs["offset"]
    return max(0, min(one, two - offset) if offset >= 0 else min(one + offset, two))


@spells("one_hot")
def _(pen: Pen) -> None:
    (x,), count = pen.types, pen.attrs["num_classes"]
    index = pen.names[0] if x.dtype.short in ("i32", "i64") else pen.cast(pen.names[0], x, types.int64)
    pen.write("one_hot_v2", {"X": index}, {"depth": count, "dtype": 5, "allow_out_of_range": False})


@spells("ramp", _NUMBERS)
def _(pen: Pen) -> None:
    start, count = pen.types[0], pen.attrs["count"]
    if not isinstance(count, int):
        refuse("ramp of as many values as only a run knows")
    ends = {"Start": pen.number(0, start.dtype), "End": pen.number(count, start.dtype), "Step": pen.number(1, start.dtype)}
    steps = pen.write("range", ends, {}, pen.outputs[0])
    pen.two("elementwise_add", pen.two("elementwise_mul", steps, pen.names[1], pen.outputs[0]), pen.names[0], None)


@spells("positions")
def _(pen: Pen) -> None:
    (like,) = pen.types
    flat = Type(types.int64, ("",))  # as long as it is
    one = pen.write("fill_any_like", {"X": pen.names[0]}, {"value": 1.0, "dtype": 3}, Type(types.int64, like.shape))
    line = pen.write("reshape2", {"X": one}, {"shape": [-1]}, flat, also={"XShape": Type(types.int64, (0, *like.shape))})
    attrs = {"axis": 0, "flatten": False, "exclusive": False, "reverse": False}
    counted = pen.scaled(pen.write("cumsum", {"X": line}, attrs, flat), flat, bias=-1.0)
    if not any(isinstance(d, str) for d in like.shape):
        dims = [d for d in like.shape if isinstance(d, int)]
        pen.write("reshape2", {"X": counted}, {"shape": dims}, also={"XShape": Type(types.int64, (0, ""))})
        return
    shape = pen.shape(pen.names[0], like)
    pen.write("reshape2", {"X": counted, "Shape": shape}, {"shape": []}, also={"XShape": Type(types.int64, (0, ""))})
