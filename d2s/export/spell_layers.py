"""Paddle's words for layers: convolutions, pools, norms, activations, attention, losses, orders and running totals.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["conv"].dtypes
'f32 f64'
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.export.paddle_pen import Long, Longs, Pen, refuse, spells
from d2s.export.tensors import NUMBERS
from d2s.types import Shape, Type

_FLOATS, _NUMBERS = "f32 f64", "i32 i64 f32 f64"

# --- windows that slide ------------------------------------------------------------------------------------------------------


def _flat(x: Type) -> bool:
    """Whether windows slide along one axis only: Paddle wants another one in front of it."""
    return len(x.shape) == 3


def _numbers(attrs: dict[str, Any], flat: bool, *names: str) -> list[list[int]]:
    return [([1] if flat else []) + list(attrs[name]) for name in names]


def _paddings(pads: Sequence[int], flat: bool) -> list[int]:
    """One number for each axis where both sides are alike."""
    pairs = ([0, 0] if flat else []) + list(pads)
    return pairs[::2] if pairs[::2] == pairs[1::2] else pairs


def _with_row(shape: Shape) -> Shape:
    return (*shape[:2], 1, *shape[2:])


@spells("conv conv_transpose", _FLOATS)
def _(pen: Pen) -> None:
    x, weight, flat = *pen.types[:2], _flat(pen.types[0])
    source, filters = pen.names[:2]
    if flat:
        source, _ = pen.unsqueezed(source, x, 2)
        filters, _ = pen.unsqueezed(filters, weight, 2)
    strides, dilations = _numbers(pen.attrs, flat, "stride", "dilation")
    attrs: dict[str, Any] = {"strides": strides, "dilations": dilations, "paddings": _paddings(pen.attrs["padding"], flat)}
    attrs |= {"groups": pen.attrs["groups"], "padding_algorithm": "EXPLICIT"}
    kind = "conv3d" if len(x.shape) == 5 else "conv2d"
    if pen.node.op == "conv_transpose":
        kind, attrs = f"{kind}_transpose", attrs | _size(pen, flat)
    attrs["data_format"] = "NCDHW" if len(x.shape) == 5 else "NCHW"
    biased, out = len(pen.names) > 2, pen.outputs[0]
    wide = Type(out.dtype, _with_row(out.shape)) if flat else out
    slots = {"Input": source, "Filter": filters}
    made = pen.write(kind, slots, attrs, wide if flat or biased else None, out="Output")
    if biased:
        made = pen.two("elementwise_add", made, pen.names[2], wide if flat else None, axis=1)
    if flat:
        pen.squeezed(made, wide, 2)


def _size(pen: Pen, flat: bool) -> dict[str, Any]:
    spatial = pen.outputs[0].shape[2:]
    known = [d for d in spatial if isinstance(d, int)]
    return {"output_padding": [], "output_size": ([1] if flat else []) + known if len(known) == len(spatial) else []}


def _pool_attrs(pen: Pen, flat: bool) -> dict[str, Any]:
    attrs = pen.attrs
    common = {"global_pooling": False, "adaptive": bool(attrs["size"])}
    if not attrs["size"]:
        ksize, strides = _numbers(attrs, flat, "kernel", "stride")
        return common | {"ksize": ksize, "strides": strides, "paddings": _paddings(attrs["padding"], flat)}
    parts = [d if isinstance(d, int) else refuse(f"{pen.node.op} of an axis of {d} values") for d in pen.outputs[0].shape[2:]]
    ksize = ([1] if flat else []) + parts
    return common | {"ksize": ksize, "strides": [1] * len(ksize), "paddings": [0] * len(ksize)}


@spells("max_pool avg_pool max_pool_with_index", _FLOATS)
def _(pen: Pen) -> None:
    (x,), flat, out = pen.types, _flat(pen.types[0]), pen.outputs[0]
    source = pen.unsqueezed(pen.names[0], x, 2)[0] if flat else pen.names[0]
    attrs, rank = _pool_attrs(pen, flat), "3" if len(x.shape) == 5 else "2"
    wide = Type(out.dtype, _with_row(out.shape))
    if pen.node.op == "max_pool_with_index":
        _check_marked(pen, attrs)
        mask = Type(types.int32, wide.shape)
        found = {"Mask": pen.spare(mask) if flat else 1}
        made = pen.write(f"max_pool{rank}d_with_index", {"X": source}, attrs, wide if flat else None, also=found)
        if flat:
            pen.squeezed(made, wide, 2)
            also = {"XShape": Type(types.int32, (0, *mask.shape))}
            pen.write("squeeze2", {"X": found["Mask"]}, {"axes": [2]}, also=also, k=1)  # type: ignore[dict-item]
        return
    if attrs["adaptive"] and pen.node.op == "max_pool":  # which pool2d gets wrong
        also = {"Mask": Type(types.int32, wide.shape)}
        made = pen.write(f"max_pool{rank}d_with_index", {"X": source}, attrs, wide if flat else None, also=also)
        if flat:
            pen.squeezed(made, wide, 2)
        return
    attrs |= {"pooling_type": pen.node.op[:3], "exclusive": bool(pen.attrs.get("exclusive", True))}
    attrs |= {"ceil_mode": pen.attrs["ceil_mode"], "padding_algorithm": "EXPLICIT"}
    attrs["data_format"] = "NCDHW" if rank == "3" else "NCHW"
    made = pen.write(f"pool{rank}d", {"X": source}, attrs, wide if flat else None)
    if flat:
        pen.squeezed(made, wide, 2)


def _check_marked(pen: Pen, attrs: dict[str, Any]) -> None:
    if pen.attrs["ceil_mode"] or len(attrs["paddings"]) > len(attrs["ksize"]):
        refuse("max_pool_with_index with ceil_mode, or with more padding on one side")


# --- norms -------------------------------------------------------------------------------------------------------------------


def _channels(pen: Pen, count: Any, given: Sequence[str]) -> list[str]:
    """Weight and bias of a norm: ones and zeros where there are none."""
    if not isinstance(count, int):
        refuse(f"{pen.node.op} of {count} channels")
    found, rest, dtype = [], list(given), pen.types[0].dtype
    for there, neutral in ((pen.attrs["weighted"], 1), (pen.attrs["shifted"], 0)):
        found.append(rest.pop(0) if there else pen.number(neutral, dtype, [count]))
    return found


@spells("batch_norm_fixed", _FLOATS)
def _(pen: Pen) -> None:
    x, channel = pen.types[0], pen.attrs["channel"]
    if channel not in (1, len(x.shape) - 1):
        refuse(f"batch_norm_fixed along axis {channel}")
    count = x.shape[channel]
    scale, bias = _channels(pen, count, pen.names[3:])
    slots = {"X": pen.names[0], "Scale": scale, "Bias": bias, "Mean": pen.names[1], "Variance": pen.names[2]}
    line = Type(x.dtype, (count,))
    also: dict[str, Any] = {"MeanOut": pen.names[1], "VarianceOut": pen.names[2], "SavedMean": line, "SavedVariance": line}
    attrs = {"epsilon": pen.attrs["epsilon"], "momentum": 0.9, "is_test": True, "use_global_stats": False}
    attrs |= {"data_layout": "NCHW" if channel == 1 else "NHWC", "trainable_statistics": False}
    pen.write("batch_norm", slots, attrs, out="Y", also=also)


def _centred(pen: Pen, x: str, of_x: Type, axes: list[int], centred: bool, epsilon: float) -> tuple[str, str, str, str]:
    """x less its mean, that mean, the variance, and 1 / deviation, with the axes kept."""
    line = Type(of_x.dtype, tuple(1 if k in axes else d for k, d in enumerate(of_x.shape)))
    mean = _reduced(pen, "reduce_mean", x, of_x, axes, line)
    less = pen.two("elementwise_sub", x, mean, of_x) if centred else x
    square = pen.two("elementwise_mul", less, less, of_x)
    variance = _reduced(pen, "reduce_mean", square, of_x, axes, line)
    raised = pen.scaled(variance, line, bias=epsilon)
    return less, mean, variance, pen.write("rsqrt", {"X": raised}, {}, line)


def _reduced(pen: Pen, kind: str, x: str, of_x: Type, axes: list[int], of: Type | None, keep: bool = True) -> str:
    attrs = {"dim": axes, "keep_dim": keep, "reduce_all": len(axes) == len(of_x.shape), "in_dtype": -1, "out_dtype": -1}
    return pen.write(kind, {"X": x}, attrs, of)


@spells("batch_norm", _FLOATS)
def _(pen: Pen) -> None:
    """In training: what is read besides the result are the means and variances of the batch."""
    x, channel = pen.types[0], pen.attrs["channel"]
    axes = [k for k in range(len(x.shape)) if k != channel]
    less, mean, variance, scale = _centred(pen, pen.names[0], x, axes, True, pen.attrs["epsilon"])
    line = Type(x.dtype, tuple(1 if k in axes else d for k, d in enumerate(x.shape)))
    _scaled(pen, less, scale, pen.names[1:], x, axis=channel)
    for k, what in ((1, mean), (2, variance)):
        if pen.used(k):
            also = {"XShape": Type(x.dtype, (0, *line.shape))}
            pen.write("reshape2", {"X": what}, {"shape": [-1]}, also=also, k=k)


def _scaled(pen: Pen, less: str, scale: str, affine: Sequence[str], x: Type, axis: int) -> None:
    """What a norm does in the end: times 1 / deviation, times a weight, plus a bias."""
    steps = [("elementwise_mul", scale, -1)]
    steps += [("elementwise_mul", affine[0], axis)] if pen.attrs["weighted"] else []
    steps += [("elementwise_add", affine[-1], axis)] if pen.attrs["shifted"] else []
    for n, (kind, by, along) in enumerate(steps):
        less = pen.two(kind, less, by, x if n + 1 < len(steps) else None, along)


@spells("layer_norm", _FLOATS)
def _(pen: Pen) -> None:
    x, dims = pen.types[0], pen.attrs["dims"]
    first = len(x.shape) - dims
    if pen.used(1) or pen.used(2):
        refuse("the means of layer_norm")
    if not first or not pen.attrs["centred"]:
        axes = list(range(first, len(x.shape)))
        less, _, _, scale = _centred(pen, pen.names[0], x, axes, pen.attrs["centred"], pen.attrs["epsilon"])
        _scaled(pen, less, scale, pen.names[1:], x, axis=-1)
        return
    slots: dict[str, Any] = {"X": pen.names[0]}
    rows = [name if dims == 1 else _one_row(pen, name, have) for name, have in zip(pen.names[1:], pen.types[1:], strict=True)]
    if rows:  # one without the other is what Paddle's inference gets wrong
        slots["Scale"], slots["Bias"] = _channels(pen, math.prod(_numbers_of(pen, x.shape[first:])), rows)
    lines = Type(x.dtype, x.shape[:first] if first == 1 else ("",))
    attrs = {"epsilon": pen.attrs["epsilon"], "begin_norm_axis": first}
    pen.write("layer_norm", slots, attrs, out="Y", also={"Mean": lines, "Variance": lines})


def _one_row(pen: Pen, name: str, have: Type) -> str:
    return pen.reshaped(name, have, (math.prod(_numbers_of(pen, have.shape)),))


def _numbers_of(pen: Pen, dims: Shape) -> list[int]:
    return [d if isinstance(d, int) else refuse(f"{pen.node.op} of an axis of {d} values") for d in dims]


@spells("group_norm", _FLOATS)
def _(pen: Pen) -> None:
    x, groups = pen.types[0], pen.attrs["groups"]
    if pen.used(1) or pen.used(2):
        refuse("the means of group_norm")
    scale, bias = _channels(pen, x.shape[1], pen.names[1:])
    lines = Type(x.dtype, (x.shape[0], groups))
    attrs: dict[str, Any] = {"epsilon": pen.attrs["epsilon"], "groups": groups, "data_layout": "NCHW"}
    pen.write(
        "group_norm", {"X": pen.names[0], "Scale": scale, "Bias": bias}, attrs, out="Y", also={"Mean": lines, "Variance": lines}
    )


# --- products and attention --------------------------------------------------------------------------------------------------


def _product(pen: Pen, x: str, y: str, of: Type | None, trans_y: bool = False) -> str:
    return pen.write("matmul_v2", {"X": x, "Y": y}, {"trans_x": False, "trans_y": trans_y}, of)


@spells("linear", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    """A product and an addition: the same bits, and every version of Paddle has them."""
    x, weight, bias = pen.names
    pen.two("elementwise_add", _product(pen, x, weight, pen.outputs[0]), bias, None)


@spells("attention", _FLOATS)
def _(pen: Pen) -> None:
    if pen.used(1):
        refuse("the sums of attention")
    turned = [pen.transposed(n, t, (0, 2, 1, 3)) for n, t in zip(pen.names[:3], pen.types[:3], strict=True)]
    (query, of_query), (key, of_key), (value, _) = turned
    scores = Type(of_query.dtype, (*of_query.shape[:3], of_key.shape[2]))
    size = of_query.shape[3] if isinstance(of_query.shape[3], int) else refuse("attention of vectors of any size")
    seen = pen.scaled(_product(pen, query, key, scores, trans_y=True), scores, scale=size**-0.5)
    for name, mask in zip(pen.names[3:], pen.types[3:], strict=True):
        seen = (
            _masked(pen, seen, scores, name, mask) if mask.dtype.kind == "b" else pen.two("elementwise_add", seen, name, scores)
        )
    if pen.attrs["causal"]:
        seen = _masked(pen, seen, scores, *_lower(pen, seen, scores))
    weights = pen.write("softmax", {"X": seen}, {"axis": 3}, scores)
    pen.transposed(_product(pen, weights, value, of_query), of_query, (0, 2, 1, 3), of=None)


def _lower(pen: Pen, like: str, of: Type) -> tuple[str, Type]:
    """True on and below the diagonals."""
    ones = pen.write("fill_any_like", {"X": like}, {"value": 1.0, "dtype": 5}, Type(types.float32, of.shape))
    low = pen.write("tril_triu", {"X": ones}, {"diagonal": 0, "lower": True}, Type(types.float32, of.shape))
    return pen.cast(low, Type(types.float32, of.shape), types.bool_), Type(types.bool_, of.shape)


def _masked(pen: Pen, scores: str, of: Type, mask: str, of_mask: Type) -> str:
    hidden = pen.broadcast(pen.number(float("-inf"), of.dtype), Type(of.dtype), scores, of)
    shown = pen.broadcast(mask, of_mask, scores, of)
    return pen.write("where", {"Condition": shown, "X": scores, "Y": hidden}, {}, of)


# --- losses ------------------------------------------------------------------------------------------------------------------


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


@spells("class_weight", _FLOATS)
def _(pen: Pen) -> None:
    (weight, label), out = pen.types, pen.outputs[0]
    counts, index = _seen(pen, pen.names[1], label)
    line = Type(weight.dtype, ("",))
    flat = pen.write(
        "reshape2", {"X": index}, {"shape": [-1]}, Type(label.dtype, ("",)), also={"XShape": Type(label.dtype, (0,))}
    )
    found = pen.write("gather", {"X": pen.names[0], "Index": flat}, {"axis": 0}, line)
    shape = pen.write("shape", {"Input": pen.names[1]}, {}, Type(types.int32, (len(label.shape),)))
    slots = {"X": found, "Shape": shape}
    shaped = pen.write("reshape2", slots, {"shape": []}, out, also={"XShape": Type(out.dtype, (0, ""))})
    _where_seen(pen, counts, shaped, out, None)


@spells("mean_of_seen", _FLOATS)
def _(pen: Pen) -> None:
    x, label = pen.types
    total = _reduced(pen, "reduce_sum", pen.names[0], x, list(range(len(x.shape))), Type(x.dtype), keep=False)
    counts, _ = _seen(pen, pen.names[1], label)
    held = pen.cast(counts, Type(types.bool_, label.shape), x.dtype)
    of_held = Type(x.dtype, label.shape)
    seen = _reduced(pen, "reduce_sum", held, of_held, list(range(len(label.shape))), Type(x.dtype), keep=False)
    some = pen.two("elementwise_max", seen, pen.number(1, x.dtype), Type(x.dtype))
    pen.two("elementwise_div", total, some, None)


# --- orders and running totals -----------------------------------------------------------------------------------------------


@spells("sorted", _NUMBERS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "descending": pen.attrs["descending"]}
    pen.write("argsort", {"X": pen.names[0]}, attrs, also={"Indices": 1})


@spells("argmax argmin", _NUMBERS)
def _(pen: Pen) -> None:
    axis, dtype = pen.attrs["axis"], pen.attrs["dtype"]
    attrs = {"axis": Long(0 if axis is None else axis), "keepdims": pen.attrs["keepdim"], "flatten": axis is None}
    attrs["dtype"] = NUMBERS[dtype]
    if not pen.types[0].shape:
        attrs |= {"flatten": True, "keepdims": False}
    pen.write(f"arg_{pen.node.op[3:]}", {"X": pen.names[0]}, attrs)


@spells("cumsum", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        pen.copy(pen.names[0])
        return
    attrs = {"axis": pen.attrs["axis"], "flatten": False, "exclusive": False, "reverse": pen.attrs["reverse"]}
    pen.write("cumsum", {"X": pen.names[0]}, attrs)


@spells("logcumsumexp", _FLOATS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "flatten": False, "exclusive": False, "reverse": False}
    pen.write("logcumsumexp", {"X": pen.names[0]}, attrs)


@spells("cumprod", _NUMBERS)
def _(pen: Pen) -> None:
    pen.write("cumprod", {"X": pen.names[0]}, {"dim": pen.attrs["axis"]})


@spells("cummax cummin", _NUMBERS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "dtype": NUMBERS[pen.attrs["dtype"]]}
    pen.write(pen.node.op, {"x": pen.names[0]}, attrs, out="out", also={"indices": 1})


@spells("relu sign", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    """Paddle has these of floats."""
    (x,), (name,) = pen.types, pen.names
    if x.dtype.kind == "f":
        pen.write(pen.node.op, {"X": name})
        return
    zero = pen.number(0, x.dtype)
    if pen.node.op == "relu":
        pen.two("elementwise_max", name, zero, None)
        return
    truth = Type(types.bool_, x.shape)
    above, below = (pen.cast(pen.two(kind, name, zero, truth), truth, x.dtype) for kind in ("greater_than", "less_than"))
    pen.two("elementwise_sub", above, below, None)


# --- values that are not there, and ends of runs -----------------------------------------------------------------------------


@spells("hole")
def _(pen: Pen) -> None:
    """Nothing reads it: extents that only a run knows are 1."""
    of = pen.outputs[0]
    shape = Longs(d if isinstance(d, int) else 1 for d in of.shape)
    attrs = {"shape": shape, "dtype": NUMBERS[of.dtype], "value": 0.0, "str_value": "0", "force_cpu": False}
    pen.write("fill_constant", {}, attrs)


@spells("detached")
def _(pen: Pen) -> None:
    pen.copy(pen.names[0])


@spells("fail")
def _(pen: Pen) -> None:
    false = pen.number(0, types.bool_)
    why = pen.cast(false, Type(types.bool_), types.int32)
    pen.writer.op(pen.block, "assert", {"Cond": [false], "Data": [why]}, {}, {"summarize": Long(-1)})


@spells("dropped", _FLOATS, judged=2)
def _(pen: Pen) -> None:
    likelihood, factor = (pen.writer.constants.get(value) for value in pen.node.inputs[3:5])
    if likelihood is None or factor is None:
        refuse("dropout by a likelihood that only a run knows")
    up = factor != 1.0
    attrs: dict[str, Any] = {"dropout_prob": float(likelihood), "is_test": False}
    attrs["dropout_implementation"] = "upscale_in_train" if up else "downgrade_in_infer"
    pen.write("dropout", {"X": pen.names[2]}, attrs, also={"Mask": Type(types.uint8, pen.outputs[0].shape)})


@spells("clip", "i32 i64 f32 f64")
def _(pen: Pen) -> None:
    """Where a bound is no float32, two comparisons are exact."""
    low, high, (x,) = pen.attrs["min"], pen.attrs["max"], pen.types
    upside_down = low is not None and high is not None and low > high
    if x.dtype is types.float32 and not upside_down:
        bounds = {"min": float("-inf") if low is None else float(low), "max": float("inf") if high is None else float(high)}
        pen.write("clip", {"X": pen.names[0]}, bounds)
        return
    bounds_there = [(kind, n) for kind, n in (("elementwise_max", low), ("elementwise_min", high)) if n is not None]
    held = pen.names[0]
    for n, (kind, bound) in enumerate(bounds_there):
        held = pen.two(kind, held, pen.number(bound, x.dtype), x if n + 1 < len(bounds_there) else None)
    if not bounds_there:
        pen.copy(held)


@spells("prod", _NUMBERS, judged=0)
def _(pen: Pen) -> None:
    source, have, want = pen.names[0], pen.types[0], pen.outputs[0].dtype
    if have.dtype is not want:
        source = pen.cast(source, have, want)
    axes = list(pen.attrs["axis"])
    if not axes and have.shape:
        pen.copy(source)
        return
    _reduced(pen, "reduce_prod", source, Type(want, have.shape), axes, None, pen.attrs["keepdim"])


@spells("mean", _FLOATS)
def _(pen: Pen) -> None:
    _totalled(pen, "reduce_mean")


@spells("max min amax amin", _NUMBERS)
def _(pen: Pen) -> None:
    _totalled(pen, "reduce_max" if "max" in pen.node.op else "reduce_min")


def _totalled(pen: Pen, kind: str) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.copy(pen.names[0])  # no axis is every axis there
        return
    _reduced(pen, kind, pen.names[0], pen.types[0], axes, None, pen.attrs["keepdim"])


@spells("logsumexp", _FLOATS)
def _(pen: Pen) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.copy(pen.names[0])
        return
    attrs = {"axis": axes, "keepdim": pen.attrs["keepdim"], "reduce_all": len(axes) == len(pen.types[0].shape)}
    pen.write("logsumexp", {"X": pen.names[0]}, attrs)


@spells("softmax log_softmax", _FLOATS)
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        nothing = pen.two("elementwise_sub", pen.names[0], pen.names[0], pen.types[0])  # or a nan
        pen.write("exp", {"X": nothing}) if pen.node.op == "softmax" else pen.copy(nothing)
        return
    pen.write(pen.node.op, {"X": pen.names[0]}, {"axis": pen.attrs["axis"]})
