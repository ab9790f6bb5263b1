"""Paddle's words for layers: convolutions, pools, norms, products, attention, dropout.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["conv"].dtypes
'f32 f64'
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.export.paddle_pen import Pen, refuse, spells
from d2s.ops.conv import SAME
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
    known = [d for d in pen.outputs[0].shape[2:] if isinstance(d, int)]
    if len(known) == len(pen.attrs["size"]):
        return {"output_padding": [], "output_size": ([1] if flat else []) + known}
    if any(n >= 0 for n in pen.attrs["size"]):
        refuse("conv_transpose of axes some of which are open")
    return {"output_padding": ([0] if flat else []) + [SAME - n for n in pen.attrs["size"]], "output_size": []}


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
    mean = pen.reduced("reduce_mean", x, of_x, axes, line)
    less = pen.two("elementwise_sub", x, mean, of_x) if centred else x
    square = pen.two("elementwise_mul", less, less, of_x)
    variance = pen.reduced("reduce_mean", square, of_x, axes, line)
    raised = pen.scaled(variance, line, bias=epsilon)
    return less, mean, variance, pen.write("rsqrt", {"X": raised}, {}, line)


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


@spells("dropped", _FLOATS, judged=2)
def _(pen: Pen) -> None:
    likelihood, factor = (pen.writer.constants.get(value) for value in pen.node.inputs[3:5])
    if likelihood is None or factor is None:
        refuse("dropout by a likelihood that only a run knows")
    up = factor != 1.0
    attrs: dict[str, Any] = {"dropout_prob": float(likelihood), "is_test": False}
    attrs["dropout_implementation"] = "upscale_in_train" if up else "downgrade_in_infer"
    pen.write("dropout", {"X": pen.names[2]}, attrs, also={"Mask": Type(types.uint8, pen.outputs[0].shape)})
