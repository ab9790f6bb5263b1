"""ONNX's words for ops whose attributes need a form of their own there.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "conv" in SAID
True
"""

import math
from typing import Any

import numpy as np

from d2s import types
from d2s.onnx.writer import Pen, refuse, says

_END = (1 << 63) - 1


@says("cast")
def _(pen: Pen) -> None:
    pen.cast(pen.names[0], pen.outputs[0].dtype, to=0)


@says("detached")
def _(pen: Pen) -> None:
    pen.write("Identity", pen.names[0], to=0)


# --- the same values in another shape or order -------------------------------------------------------------------------------


@says("reshape flatten unflatten squeeze unsqueeze")
def _(pen: Pen) -> None:
    have, want = pen.types[0].shape, pen.outputs[0].shape
    dims: list[Any] = [0 if isinstance(d, str) and have[k : k + 1] == (d,) else d for k, d in enumerate(want)]
    names = [k for k, d in enumerate(dims) if isinstance(d, str)]
    zeros = any(d == 0 for d in want)
    if len(names) == 1:
        dims[names[0]] = -1
    shape = pen.shape_as(pen.names[0], want, have) if len(names) > 1 else pen.const(dims)
    pen.write("Reshape", pen.names[0], shape, to=0, allowzero=1 if zeros else None)


@says("transpose")
def _(pen: Pen) -> None:
    pen.write("Transpose", pen.names[0], to=0, perm=list(pen.attrs["perm"]))


@says("expand")
def _(pen: Pen) -> None:
    pen.write("Expand", pen.names[0], pen.shape_as(pen.names[0], pen.outputs[0].shape, pen.types[0].shape), to=0)


@says("tile")
def _(pen: Pen) -> None:
    times = pen.attrs["repeat_times"]
    shape = (1,) * (len(times) - len(pen.types[0].shape)) + pen.types[0].shape
    source = pen.names[0]
    if len(shape) > len(pen.types[0].shape):
        source = pen.write("Unsqueeze", source, pen.const(list(range(len(shape) - len(pen.types[0].shape)))))
    pen.write("Tile", source, pen.const(list(times)), to=0)


def _sliced(pen: Pen, source: str, axes: Any, starts: Any, ends: Any, steps: Any, to: int | None = None) -> str:
    return pen.write("Slice", source, *(pen.const(list(column)) for column in (starts, ends, axes, steps)), to=to)


@says("flip")
def _(pen: Pen) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.write("Identity", pen.names[0], to=0)
        return
    _sliced(pen, pen.names[0], axes, [-1] * len(axes), [-_END] * len(axes), [-1] * len(axes), to=0)


@says("sliced")
def _(pen: Pen) -> None:
    axes, starts, counts, steps, dropped = (pen.attrs[key] for key in ("axes", "starts", "counts", "steps", "dropped"))
    if not axes:
        pen.write("Identity", pen.names[0], to=0)
        return
    ends = []
    for axis, start, count, step in zip(axes, starts, counts, steps, strict=True):
        if not isinstance(count, int):
            refuse("sliced to as many values as only a run knows")
        end = start + count * step
        dim = pen.types[0].shape[axis]
        ends.append(_END if start < 0 <= end else -_END if end < 0 <= start or (end < 0 and isinstance(dim, int)) else end)
    found = _sliced(pen, pen.names[0], axes, starts, ends, steps, to=None if dropped else 0)
    if dropped:
        pen.write("Squeeze", found, pen.const(list(dropped)), to=0)


@says("rotate")
def _(pen: Pen) -> None:
    axis, source = pen.attrs["axis"], pen.names[0]
    if axis is None:
        source, dim = pen.write("Reshape", source, pen.const([-1])), math.prod(_numbers(pen, pen.types[0].shape))
    else:
        dim = _numbers(pen, pen.types[0].shape[axis : axis + 1])[0]
    cut = dim - pen.attrs["shift"] % max(dim, 1)
    along = axis or 0
    parts = [_sliced(pen, source, [along], [a], [b], [1]) for a, b in ((cut, _END), (0, cut))]
    whole = pen.write("Concat", *parts, axis=along, to=0 if axis is not None else None)
    if axis is None:
        pen.write("Reshape", whole, pen.const(list(pen.types[0].shape)), to=0)


def _numbers(pen: Pen, dims: Any) -> list[int]:
    return [d if isinstance(d, int) else refuse(f"{pen.node.op} of an axis of {d} values") for d in dims]


@says("concat")
def _(pen: Pen) -> None:
    pen.write("Concat", *pen.names, to=0, axis=pen.attrs["axis"])


@says("stacked")
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    pen.write("Concat", *(pen.write("Unsqueeze", n, pen.const([axis])) for n in pen.names), to=0, axis=axis)


@says("tril triu")
def _(pen: Pen) -> None:
    pen.write("Trilu", pen.names[0], pen.const(pen.attrs["diagonal"]), to=0, upper=int(pen.node.op == "triu"))


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
    found = pen.write("Gather", pen.names[1], index, to=0 if padding < 0 else None, axis=0)
    if padding >= 0 and pen.types[1].dtype is types.bool_:
        refuse("embedding of bool")
    if padding >= 0:
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
        behind = [x.shape[k] for k in perm[len(axes) :]]
        new = pen.write("Expand", new, pen.const(_numbers(pen, [*index.shape, *behind])))
    reduction = "add" if pen.node.op == "add_at" else "none"
    index_name = pen.write("Concat", *places, axis=-1)
    found = pen.write("ScatterND", held, index_name, new, to=None if turned else 0, reduction=reduction)
    if turned:
        pen.write("Transpose", found, to=0, perm=[perm.index(k) for k in range(len(perm))])


@says("take_along")
def _(pen: Pen) -> None:
    pen.write("GatherElements", pen.names[0], _index(pen, pen.names[1], 1), to=0, axis=pen.attrs["axis"])


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
    mode = {"reflect": "reflect", "replicate": "edge"}.get(pen.attrs["mode"]) or refuse("pad_own by circular")
    pen.write("Pad", pen.names[0], pen.const([*pen.attrs["lows"], *pen.attrs["highs"]]), to=0, mode=mode)


# --- reductions and orders ---------------------------------------------------------------------------------------------------


_REDUCTIONS = {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd", "logsumexp": "ReduceLogSumExp"}
_REDUCTIONS |= {"max": "ReduceMax", "min": "ReduceMin", "amax": "ReduceMax", "amin": "ReduceMin"}


@says(" ".join(_REDUCTIONS))
def _(pen: Pen) -> None:
    kind, axes, want = _REDUCTIONS[pen.node.op], list(pen.attrs["axis"]), pen.outputs[0].dtype
    source = pen.names[0] if pen.types[0].dtype is want else pen.cast(pen.names[0], want)
    if not axes:
        pen.write("Identity", source, to=0)
        return
    pen.write(kind, source, pen.const(axes), to=0, keepdims=int(pen.attrs["keepdim"]))


@says("softmax log_softmax")
def _(pen: Pen) -> None:
    kind = "Softmax" if pen.node.op == "softmax" else "LogSoftmax"
    if not pen.types[0].shape:
        refuse(f"{pen.node.op} of a single number")
    pen.write(kind, pen.names[0], to=0, axis=pen.attrs["axis"])


@says("argmax argmin")
def _(pen: Pen) -> None:
    axis, dtype, source = pen.attrs["axis"], pen.attrs["dtype"], pen.names[0]
    if axis is None or not pen.types[0].shape:
        source = pen.write("Reshape", source, pen.const([-1]))
    kind, keep = "ArgMax" if pen.node.op == "argmax" else "ArgMin", int(pen.attrs["keepdim"] and axis is not None)
    found = pen.write(kind, source, axis=axis or 0, keepdims=keep)
    if axis is None and pen.outputs[0].shape:
        found = pen.write("Reshape", found, pen.const([1] * len(pen.outputs[0].shape)))
    pen.cast(found, dtype, to=0)


@says("sorted")
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    count = pen.const(_numbers(pen, pen.types[0].shape[axis : axis + 1]))
    attrs = {"axis": axis, "largest": int(pen.attrs["descending"]), "sorted": 1}
    pen.graph.node("TopK", [pen.names[0], count], pen.graph.define(pen.node), attrs)


@says("cumsum")
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        pen.write("Identity", pen.names[0], to=0)
        return
    pen.write("CumSum", pen.names[0], pen.const(pen.attrs["axis"]), to=0, reverse=int(pen.attrs["reverse"]))


# --- products ----------------------------------------------------------------------------------------------------------------


@says("matmul")
def _(pen: Pen) -> None:
    names = list(pen.names)
    for k, key in enumerate(("transpose_x", "transpose_y")):
        rank = len(pen.types[k].shape)
        if pen.attrs[key] and rank > 1:
            names[k] = pen.write("Transpose", names[k], perm=[*range(rank - 2), rank - 1, rank - 2])
    pen.write("MatMul", *names, to=0)


@says("attention")
def _(pen: Pen) -> None:
    turned = [pen.write("Transpose", n, perm=[0, 2, 1, 3]) for n in pen.names[:2]]
    keys = pen.write("Transpose", pen.names[1], perm=[0, 2, 3, 1])
    values = pen.write("Transpose", pen.names[2], perm=[0, 2, 1, 3])
    size, dtype = _numbers(pen, pen.types[0].shape[3:])[0], pen.types[0].dtype
    scores = pen.write("Mul", pen.write("MatMul", turned[0], keys), pen.const(size**-0.5, dtype))
    hidden = pen.const(-np.inf, dtype)
    for name, of in zip(pen.names[3:], pen.types[3:], strict=True):
        scores = pen.write("Where", name, scores, hidden) if of.dtype.kind == "b" else pen.write("Add", scores, name)
    if pen.attrs["causal"]:
        ones = pen.write("Expand", pen.const(1.0, types.float32), pen.write("Shape", scores))
        low = pen.cast(pen.write("Trilu", ones, upper=0), types.bool_)
        scores = pen.write("Where", low, scores, hidden)
    found = pen.write("MatMul", pen.write("Softmax", scores, axis=3), values)
    pen.write("Transpose", found, to=0, perm=[0, 2, 1, 3])


# --- windows that slide ------------------------------------------------------------------------------------------------------


def _window(pen: Pen) -> dict[str, Any]:
    pads = pen.attrs["padding"]
    return {"strides": list(pen.attrs["stride"]), "pads": [*pads[::2], *pads[1::2]]}


@says("conv")
def _(pen: Pen) -> None:
    more = {"dilations": list(pen.attrs["dilation"]), "group": pen.attrs["groups"]}
    pen.write("Conv", *pen.names, to=0, kernel_shape=list(pen.types[1].shape[2:]), **_window(pen), **more)


@says("conv_transpose")
def _(pen: Pen) -> None:
    kernel, rank = pen.types[1].shape[2:], len(pen.types[1].shape) - 2
    window, extra = _window(pen), []
    for k, (have, want) in enumerate(zip(pen.types[0].shape[2:], pen.outputs[0].shape[2:], strict=True)):
        around = pen.attrs["dilation"][k] * (int(kernel[k]) - 1) + 1 - window["pads"][k] - window["pads"][k + rank]
        known = isinstance(have, int) and isinstance(want, int)
        extra.append(int(want) - (int(have) - 1) * pen.attrs["stride"][k] - around if known else 0)
    more = {"dilations": list(pen.attrs["dilation"]), "group": pen.attrs["groups"], "output_padding": extra}
    pen.write("ConvTranspose", *pen.names, to=0, kernel_shape=list(kernel), **window, **more)


@says("max_pool avg_pool")
def _(pen: Pen) -> None:
    kind = "MaxPool" if pen.node.op == "max_pool" else "AveragePool"
    size = pen.attrs["size"]
    if size:
        have = _numbers(pen, pen.types[0].shape[2:])
        parts = _numbers(pen, pen.outputs[0].shape[2:])
        if any(a % b for a, b in zip(have, parts, strict=True)):
            refuse(f"{pen.node.op} in parts of different extents")
        wide = [a // b for a, b in zip(have, parts, strict=True)]
        pen.write(kind, pen.names[0], to=0, kernel_shape=wide, strides=wide)
        return
    if pen.attrs["ceil_mode"]:
        refuse(f"{pen.node.op} with ceil_mode")
    counts = {} if kind == "MaxPool" else {"count_include_pad": int(not pen.attrs["exclusive"])}
    pen.write(kind, pen.names[0], to=0, kernel_shape=list(pen.attrs["kernel"]), **_window(pen), **counts)


# --- norms and activations ---------------------------------------------------------------------------------------------------


def _only_first(pen: Pen) -> None:
    """By-products are for gradients; a name that nothing defines would not pass if one were read."""
    pen.graph.names.update((value, "refused") for value in pen.node.outputs[1:])


@says("batch_norm_fixed")
def _(pen: Pen) -> None:
    if pen.attrs["channel"] != 1:
        refuse("batch_norm_fixed with channels behind")
    (count,) = _numbers(pen, pen.types[0].shape[1:2])
    rest, dtype = list(pen.names[3:]), pen.types[0].dtype
    scale = rest.pop(0) if pen.attrs["weighted"] else pen.const([1] * count, dtype)
    bias = rest.pop(0) if pen.attrs["shifted"] else pen.const([0] * count, dtype)
    epsilon = float(pen.attrs["epsilon"])
    pen.write("BatchNormalization", pen.names[0], scale, bias, pen.names[1], pen.names[2], to=0, epsilon=epsilon)


@says("layer_norm")
def _(pen: Pen) -> None:
    _only_first(pen)
    axes = pen.const(list(range(-pen.attrs["dims"], 0)))
    _normed(pen, pen.names[0], axes, pen.attrs["centred"], lambda name: name)


@says("group_norm")
def _(pen: Pen) -> None:
    _only_first(pen)
    rank = len(pen.types[0].shape)
    grouped = pen.write("Reshape", pen.names[0], pen.const([0, pen.attrs["groups"], -1]))
    turn = pen.const([1, -1, *[1] * (rank - 2)])
    found = _scaled(pen, grouped, pen.const([-1]), True)
    back = pen.write("Reshape", found, pen.write("Shape", pen.names[0]))
    _affine(pen, back, lambda name: pen.write("Reshape", name, turn))


def _scaled(pen: Pen, x: str, axes: str, centred: bool) -> str:
    less = pen.write("Sub", x, pen.write("ReduceMean", x, axes, keepdims=1)) if centred else x
    variance = pen.write("ReduceMean", pen.write("Mul", less, less), axes, keepdims=1)
    raised = pen.write("Add", variance, pen.const(pen.attrs["epsilon"], pen.types[0].dtype))
    return pen.write("Div", less, pen.write("Sqrt", raised))


def _normed(pen: Pen, x: str, axes: str, centred: bool, shaped: Any) -> None:
    _affine(pen, _scaled(pen, x, axes, centred), shaped)


def _affine(pen: Pen, found: str, shaped: Any) -> None:
    rest = [shaped(name) for name in pen.names[1:]]
    if pen.attrs["weighted"]:
        found = pen.write("Mul", found, rest.pop(0))
    if pen.attrs["shifted"]:
        found = pen.write("Add", found, rest.pop(0))
    pen.write("Identity", found, to=0)


@says("gelu")
def _(pen: Pen) -> None:
    x, dtype = pen.names[0], pen.types[0].dtype
    if pen.attrs["approximate"]:
        cube = pen.write("Mul", pen.write("Mul", pen.write("Mul", x, x), x), pen.const(0.044715, dtype))
        inner = pen.write("Mul", pen.write("Add", x, cube), pen.const(math.sqrt(2 / math.pi), dtype))
        bent = pen.write("Tanh", inner)
    else:
        bent = pen.write("Erf", pen.write("Mul", x, pen.const(math.sqrt(0.5), dtype)))
    half = pen.write("Mul", x, pen.const(0.5, dtype))
    pen.write("Mul", half, pen.write("Add", bent, pen.const(1, dtype)), to=0)


_NAMED = {
    "leaky_relu": ("LeakyRelu", {"alpha": "negative_slope"}),
    "elu": ("Elu", {"alpha": "alpha"}),
    "hardsigmoid": ("HardSigmoid", {"alpha": "slope", "beta": "offset"}),
}


@says(" ".join(_NAMED))
def _(pen: Pen) -> None:
    kind, names = _NAMED[pen.node.op]
    pen.write(kind, pen.names[0], to=0, **{theirs: float(pen.attrs[ours]) for theirs, ours in names.items()})


@says("selu")
def _(pen: Pen) -> None:
    pen.write("Selu", pen.names[0], to=0, alpha=float(pen.attrs["alpha"]), gamma=float(pen.attrs["scale"]))


@says("clip hardtanh")
def _(pen: Pen) -> None:
    low, high, dtype, held = pen.attrs["min"], pen.attrs["max"], pen.types[0].dtype, pen.names[0]
    if low is not None:
        held = pen.write("Max", held, pen.const(low, dtype))
    if high is not None:
        held = pen.write("Min", held, pen.const(high, dtype))
    pen.write("Identity", held, to=0)


# --- losses, values that are not there ---------------------------------------------------------------------------------------


@says("class_entropy")
def _(pen: Pen) -> None:
    _only_first(pen)
    axis, label = pen.attrs["axis"], pen.cast(pen.names[1], types.int64)
    if len(pen.types[1].shape) < len(pen.types[0].shape):
        label = pen.write("Unsqueeze", label, pen.const([axis]))
    ignored = pen.write("Equal", label, pen.const(pen.attrs["ignore_index"]))
    place = pen.write("Where", ignored, pen.const(0), label)
    scores = pen.write("LogSoftmax", pen.names[0], axis=axis)
    found = pen.write("Neg", pen.write("GatherElements", scores, place, axis=axis))
    kept = pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found)
    pen.write("Squeeze", kept, pen.const([axis]), to=0)


def _seen(pen: Pen, label: str) -> tuple[str, str]:
    """Where labels are to be ignored, and the labels with 0 there."""
    ignored = pen.write("Equal", label, pen.const(pen.attrs["ignore_index"]))
    return ignored, pen.write("Where", ignored, pen.const(0), label)


@says("class_weight")
def _(pen: Pen) -> None:
    ignored, place = _seen(pen, pen.cast(pen.names[1], types.int64))
    found = pen.write("Gather", pen.names[0], place, axis=0)
    pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found, to=0)


@says("pick_class")
def _(pen: Pen) -> None:
    axis, label = pen.attrs["axis"], pen.cast(pen.names[1], types.int64)
    if len(pen.types[1].shape) < len(pen.types[0].shape):
        label = pen.write("Unsqueeze", label, pen.const([axis]))
    ignored, place = _seen(pen, label)
    found = pen.write("GatherElements", pen.names[0], place, axis=axis)
    kept = pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found)
    pen.write("Squeeze", kept, pen.const([axis]), to=0)


@says("mean_of_seen")
def _(pen: Pen) -> None:
    ignored, _ = _seen(pen, pen.cast(pen.names[1], types.int64))
    dtype = pen.types[0].dtype
    ones = pen.cast(pen.write("Not", ignored), dtype)
    total, seen = (pen.write("ReduceSum", name, keepdims=0) for name in (pen.names[0], ones))
    pen.write("Div", total, pen.write("Max", seen, pen.const(1, dtype)), to=0)


@says("hole")
def _(pen: Pen) -> None:
    """Nothing reads it: extents that only a run knows are 1."""
    of = pen.outputs[0]
    shape = pen.const([d if isinstance(d, int) else 1 for d in of.shape])
    pen.write("ConstantOfShape", shape, to=0, value=np.zeros(1, of.dtype.numpy))
