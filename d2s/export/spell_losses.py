"""Paddle's words for what losses are made of: classes picked by labels, some of which do not count.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["class_entropy"].dtypes
'f32 f64'
"""

from d2s import types
from d2s.export.paddle_pen import Pen, refuse, spells
from d2s.types import Type

_FLOATS = "f32 f64"


def _label(pen: Pen, axis: int) -> tuple[str, Type]:
    """The labels in int64, with an axis of 1 for the classes."""
    name, have = pen.names[1], pen.types[1]
    if have.dtype is not types.int64:
        name, have = pen.cast(name, have, types.int64), Type(types.int64, have.shape)
    return (name, have) if len(have.shape) == len(pen.types[0].shape) else pen.unsqueezed(name, have, axis)


@spells("class_entropy", _FLOATS)
def _(pen: Pen) -> None:
    if pen.used(1) or pen.used(2):
        refuse("what the gradient of cross entropy reads")
    axis, x = pen.attrs["axis"], pen.types[0]
    label, of_label = _label(pen, axis)
    attrs = {"soft_label": False, "use_softmax": True, "numeric_stable_mode": True}
    attrs |= {"ignore_index": pen.attrs["ignore_index"], "axis": axis}
    line = Type(x.dtype, of_label.shape)
    loss = pen.write(
        "softmax_with_cross_entropy", {"Logits": pen.names[0], "Label": label}, attrs, line, "Loss", {"Softmax": x}
    )
    pen.squeezed(loss, line, axis)


def _seen(pen: Pen, label: str, of_label: Type) -> tuple[str, str]:
    """Where labels count, and the labels with 0 for those that do not."""
    ignored = pen.number(pen.attrs["ignore_index"], of_label.dtype)
    counts = pen.two("not_equal", label, ignored, Type(types.bool_, of_label.shape))
    zero = pen.broadcast(pen.number(0, of_label.dtype), Type(of_label.dtype), label, of_label)
    return counts, pen.write("where", {"Condition": counts, "X": label, "Y": zero}, {}, of_label)


def _where_seen(pen: Pen, counts: str, found: str, of: Type, want: Type | None) -> str:
    zero = pen.broadcast(pen.number(0, of.dtype), Type(of.dtype), found, of)
    return pen.write("where", {"Condition": counts, "X": found, "Y": zero}, {}, want)


@spells("pick_class", _FLOATS)
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    label, of_label = _label(pen, axis)
    counts, label = _seen(pen, label, of_label)
    line = Type(pen.types[0].dtype, of_label.shape)
    found = pen.write("take_along_axis", {"Input": pen.names[0], "Index": label}, {"Axis": axis}, line, out="Result")
    pen.squeezed(_where_seen(pen, counts, found, line, line), line, axis)


@spells("place_class", _FLOATS)
def _(pen: Pen) -> None:
    (line, label, like), axis, of = pen.types, pen.attrs["axis"], pen.outputs[0].dtype
    count, name = like.shape[axis], pen.names[1]
    if not isinstance(count, int):
        refuse("places of classes, as many as only a run knows,")
    if len(label.shape) == len(like.shape):
        name, label = pen.squeezed(name, label, axis, Type(label.dtype, line.shape)), Type(label.dtype, line.shape)
    counts, index = _seen(pen, name, label)
    apart = Type(of, (*line.shape, count))
    hot = pen.write("one_hot_v2", {"X": index}, {"depth": count, "dtype": 5}, Type(types.float32, apart.shape))
    there = pen.cast(hot, Type(types.float32, apart.shape), types.bool_)
    seen, of_seen = pen.unsqueezed(counts, Type(types.bool_, line.shape), len(line.shape))
    both = {"X": there, "Y": pen.broadcast(seen, of_seen, there, apart)}
    there = pen.write("logical_and", both, {}, Type(types.bool_, apart.shape))
    x, of_x = pen.unsqueezed(pen.names[0], line, len(line.shape))
    held = pen.broadcast(x, of_x, there, apart)
    found = _where_seen(pen, there, held, apart, apart)
    last = len(line.shape)
    pen.transposed(found, apart, [*range(axis), last, *range(axis, last)], of=None)


@spells("class_weight", _FLOATS)
def _(pen: Pen) -> None:
    (weight, label), out = pen.types, pen.outputs[0]
    counts, index = _seen(pen, pen.names[1], label)
    line = Type(weight.dtype, ("",))
    flat = pen.write(
        "reshape2", {"X": index}, {"shape": [-1]}, Type(label.dtype, ("",)), also={"XShape": Type(label.dtype, (0,))}
    )
    found = pen.write("gather", {"X": pen.names[0], "Index": flat}, {"axis": 0}, line)
    shape = pen.shape(pen.names[1], label)
    slots = {"X": found, "Shape": shape}
    shaped = pen.write("reshape2", slots, {"shape": []}, out, also={"XShape": Type(out.dtype, (0, ""))})
    _where_seen(pen, counts, shaped, out, None)


@spells("mean_of_seen", _FLOATS)
def _(pen: Pen) -> None:
    x, label = pen.types
    total = pen.reduced("reduce_sum", pen.names[0], x, list(range(len(x.shape))), Type(x.dtype), keep=False)
    counts, _ = _seen(pen, pen.names[1], label)
    held = pen.cast(counts, Type(types.bool_, label.shape), x.dtype)
    of_held = Type(x.dtype, label.shape)
    seen = pen.reduced("reduce_sum", held, of_held, list(range(len(label.shape))), Type(x.dtype), keep=False)
    some = pen.two("elementwise_max", seen, pen.number(1, x.dtype), Type(x.dtype))
    pen.two("elementwise_div", total, some, None)


@spells("ctc", _FLOATS)
def _(pen: Pen) -> None:
    if pen.used(1):
        refuse("what the gradient of ctc reads")
    scores, batch = pen.types[0], pen.types[0].shape[1]
    wanted = ("Logits", None), ("Label", types.int32), ("LogitsLength", types.int64), ("LabelLength", types.int64)
    slots = {
        slot: name if dtype in (None, have.dtype) else pen.cast(name, have, dtype)
        for (slot, dtype), name, have in zip(wanted, pen.names, pen.types, strict=True)
    }
    line = Type(scores.dtype, (batch, 1))
    attrs = {"blank": pen.attrs["blank"], "norm_by_times": False}
    loss = pen.write("warpctc", slots, attrs, line, "Loss", {"WarpCTCGrad": scores})
    pen.squeezed(loss, line, 1)
