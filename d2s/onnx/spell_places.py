"""ONNX's words for values at places that others name.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "gather" in SAID
True
"""

import math

import numpy as np

from d2s import types
from d2s.onnx.spell_shapes import known
from d2s.onnx.writer import Pen, refuse, says

# --- places ------------------------------------------------------------------------------------------------------------------


@says("gather")
def _(pen: Pen) -> None:
    axis, index = pen.attrs["axis"], pen.names[1]
    if len(pen.types[1].shape) == 2:
        index = pen.write("Reshape", index, pen.const([-1]))
    pen.write("Gather", pen.names[0], _index(pen, index, 1), to=0, axis=axis)


def _index(pen: Pen, name: str, k: int) -> str:
    return name if pen.types[k].dtype.name in ("int32", "int64") else pen.cast(name, types.int64)


@says("row")
def _(pen: Pen) -> None:
    pen.write("Gather", pen.names[0], pen.names[1], to=0, axis=0)


@says("extent")
def _(pen: Pen) -> None:
    pen.write("Gather", pen.write("Shape", pen.names[0]), pen.const(pen.attrs["axis"]), to=0)


@says("embedding")
def _(pen: Pen) -> None:
    index, padding = _index(pen, pen.names[0], 0), pen.attrs["padding_idx"]
    found = pen.write("Gather", pen.names[1], index, to=0 if padding is None else None, axis=0)
    if padding is not None and pen.types[1].dtype is types.bool_:
        refuse("embedding of bool")
    if padding is not None:
        same = pen.write("Equal", pen.cast(index, types.int64), pen.const(padding))
        hidden = pen.write("Unsqueeze", same, pen.const([-1]))
        pen.write("Where", hidden, pen.const(0, pen.types[1].dtype), found, to=0)


@says("take_at")
def _(pen: Pen) -> None:
    axes, rank = pen.attrs["axes"], len(pen.types[0].shape)
    perm = [*axes, *(k for k in range(rank) if k not in axes)]
    x = pen.names[0] if perm == sorted(perm) else pen.write("Transpose", pen.names[0], perm=perm)
    places = [pen.write("Unsqueeze", pen.cast(n, types.int64), pen.const([-1])) for n in pen.names[1:]]
    index = pen.write("Concat", *places, axis=-1)
    count, first = len(pen.types[1].shape), 0 if pen.attrs["front"] else axes[0]
    order = [*range(count, count + first), *range(count), *range(count + first, len(pen.outputs[0].shape))]
    turned = order != sorted(order)
    found = pen.write("GatherND", x, index, to=None if turned else 0)
    if turned:
        pen.write("Transpose", found, to=0, perm=order)


@says("put_at add_at")
def _(pen: Pen) -> None:
    axes, (x, value, index, *_) = pen.attrs["axes"], pen.types
    if x.dtype is types.bool_:
        refuse(f"{pen.node.op} of bool")
    perm = [*axes, *(k for k in range(len(x.shape)) if k not in axes)]
    turned = perm != sorted(perm)
    held = pen.write("Transpose", pen.names[0], perm=perm) if turned else pen.names[0]
    places = [pen.write("Unsqueeze", pen.cast(n, types.int64), pen.const([-1])) for n in pen.names[2:]]
    count, first, new = len(index.shape), 0 if pen.attrs["front"] else axes[0], pen.names[1]
    if value.shape:
        order = [*range(count, count + first), *range(count), *range(count + first, len(value.shape))]
        new = pen.write("Transpose", new, perm=[order.index(k) for k in range(len(order))])
    else:
        whole = pen.write("Shape", pen.names[2])
        if len(axes) < len(perm):
            behind = pen.write("Gather", pen.write("Shape", held), pen.const([*range(len(axes), len(perm))]))
            whole = pen.write("Concat", whole, behind, axis=0)
        new = pen.write("Expand", new, whole)
    reduction = "add" if pen.node.op == "add_at" else "none"
    index_name = pen.write("Concat", *places, axis=-1)
    found = pen.write("ScatterND", held, index_name, new, to=None if turned else 0, reduction=reduction)
    if turned:
        pen.write("Transpose", found, to=0, perm=[perm.index(k) for k in range(len(perm))])


@says("take_along")
def _(pen: Pen) -> None:
    pen.write("GatherElements", pen.names[0], _index(pen, pen.names[1], 1), to=0, axis=pen.attrs["axis"])


@says("put_along")
def _(pen: Pen) -> None:
    kind = {"assign": "none", "add": "add", "multiply": "mul", "amax": "max", "amin": "min"}[pen.attrs["reduce"]]
    if kind in ("max", "min") and pen.graph.shared.opset < 18:
        refuse(f"put_along by {kind} before opset 18")
    if pen.types[0].dtype is types.bool_:
        refuse("put_along of bool")
    index = _index(pen, pen.names[1], 1)
    value = pen.names[2] if pen.types[2].shape else pen.write("Expand", pen.names[2], pen.write("Shape", index))
    pen.write("ScatterElements", pen.names[0], index, value, to=0, axis=pen.attrs["axis"], reduction=kind)


@says("one_hot")
def _(pen: Pen) -> None:
    values = pen.write("Constant", value=np.array([0, 1], "float32"))
    index, alone = pen.cast(pen.names[0], types.int64), not pen.types[0].shape
    if alone:
        index = pen.write("Reshape", index, pen.const([1]))
    found = pen.write("OneHot", index, pen.const([pen.attrs["num_classes"]]), values, to=None if alone else 0, axis=-1)
    if alone:
        pen.write("Reshape", found, pen.const([-1]), to=0)


@says("ramp")
def _(pen: Pen) -> None:
    of = pen.types[0].dtype
    ends = [pen.const(n, of) for n in (0, pen.attrs["count"], 1)]
    steps = pen.write("Mul", pen.write("Range", *ends), pen.names[1])
    pen.write("Add", steps, pen.names[0], to=0)


@says("pad_with")
def _(pen: Pen) -> None:
    widths = pen.const([*pen.attrs["lows"], *pen.attrs["highs"]])
    pen.write("Pad", pen.names[0], widths, pen.names[1], to=0, mode="constant")


@says("pad_own")
def _(pen: Pen) -> None:
    mode = {"reflect": "reflect", "replicate": "edge"}.get(pen.attrs["mode"])
    if mode is None:
        _wrapped(pen)
        return
    pen.write("Pad", pen.names[0], pen.const([*pen.attrs["lows"], *pen.attrs["highs"]]), to=0, mode=mode)


def _wrapped(pen: Pen) -> None:
    """What stands at the other end comes in front, and behind."""
    found = pen.names[0]
    for axis, (low, high, dim) in enumerate(zip(pen.attrs["lows"], pen.attrs["highs"], pen.types[0].shape, strict=True)):
        if low or high:
            (count,) = known(pen, [dim])
            places = [(k - low) % count for k in range(low + count + high)]
            found = pen.write("Gather", found, pen.const(places), axis=axis)
    pen.write("Identity", found, to=0)


@says("set_diagonal")
def _(pen: Pen) -> None:
    one, two, offset = pen.attrs["axis1"], pen.attrs["axis2"], pen.attrs["offset"]
    shape = known(pen, pen.types[0].shape)
    places = np.diagonal(np.arange(math.prod(shape)).reshape(shape), offset, one, two)
    new = pen.names[1] if pen.types[1].shape else pen.write("Expand", pen.names[1], pen.const(list(places.shape)))
    flat = [pen.write("Reshape", name, pen.const([-1])) for name in (pen.names[0], new)]
    found = pen.write("ScatterElements", flat[0], pen.const(places.reshape(-1)), flat[1], axis=0)
    pen.write("Reshape", found, pen.const(shape), to=0, allowzero=1)


@says("searchsorted")
def _(pen: Pen) -> None:
    """As many as are in front of a value."""
    line = pen.write("Unsqueeze", pen.names[0], pen.const([-2])) if pen.types[1].shape else pen.names[0]
    value = pen.write("Unsqueeze", pen.names[1], pen.const([-1]))
    front = pen.write("LessOrEqual" if pen.attrs["right"] else "Less", line, value)
    counted = pen.write("ReduceSum", pen.cast(front, types.int64), pen.const([-1]), keepdims=0)
    pen.cast(counted, pen.outputs[0].dtype, to=0)


# --- extents that a run finds ------------------------------------------------------------------------------------------------


@says("places_where")
def _(pen: Pen) -> None:
    found = pen.write("NonZero", pen.write("Reshape", pen.names[0], pen.const([-1])))
    pen.write("Squeeze", found, pen.const([0]), to=0)


@says("counting")
def _(pen: Pen) -> None:
    pen.write("Range", pen.const(0), pen.names[0], pen.const(1), to=0)


@says("cut")
def _(pen: Pen) -> None:
    x, start, count = pen.names
    steps = pen.write("Mul", pen.write("Range", pen.const(0), count, pen.const(1)), pen.const(pen.attrs["step"]))
    pen.write("Gather", x, pen.write("Add", steps, start), to=0, axis=pen.attrs["axis"])


@says("behind")
def _(pen: Pen) -> None:
    pen.write("Concat", *pen.names[: len(pen.names) // 2], to=0, axis=pen.attrs["axis"])


@says("laid filled")
def _(pen: Pen) -> None:
    counts, one = iter(pen.names[1:]), pen.const([1])
    parts = [pen.write("Reshape", next(counts), one) if d == -1 else pen.const([d]) for d in pen.attrs["shape"]]
    shape = pen.write("Concat", *parts, axis=0)
    if pen.node.op == "filled":
        pen.write("Expand", pen.names[0], shape, to=0)
    else:
        pen.write("Reshape", pen.names[0], shape, to=0, allowzero=1)
