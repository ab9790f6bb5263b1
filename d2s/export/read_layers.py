"""What Paddle's ops mean that compute: layers: convolutions, pools, norms, products, losses, padding.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "batch_norm" in READ
True
"""

from collections.abc import Sequence
from typing import Any

from d2s.export.paddle_words import Reading, reads
from d2s.ops import OPS, windows
from d2s.ops.arrange import moveaxis
from d2s.ops.conv import SAME, conv_, conv_transpose_
from d2s.ops.ctc import ctc
from d2s.ops.label import class_entropy
from d2s.ops.norm import batch_norm_, batch_norm_fixed, group_norm_, layer_norm_
from d2s.ops.pad import pad as padded
from d2s.ops.pool import avg_pool, max_pool, max_pool_with_index
from d2s.ops.training_marks import note

# --- windows that slide ------------------------------------------------------------------------------------------------------


def _padding(r: Reading, rank: int) -> Any:
    how = r.take("padding_algorithm", "EXPLICIT")
    if how != "EXPLICIT":
        return how
    return r.take("paddings", [0] * rank)


def _sliding(r: Reading, rank: int) -> dict[str, Any]:
    attrs = {"stride": r.take("strides", [1] * rank), "padding": _padding(r, rank)}
    return attrs | {"dilation": r.take("dilations", [1] * rank), "groups": r.take("groups", 1)}


@reads("conv2d depthwise_conv2d conv3d")
def _(r: Reading) -> Any:
    r.only("Input", "Filter")
    x, weight = r.x("Input"), r.x("Filter")
    last = r.channels_last()
    found = conv_(moveaxis(x, -1, 1) if last else x, weight, **_sliding(r, len(r.shape(x)) - 2))
    return {"Output": moveaxis(found, 1, -1) if last else found}


@reads("conv2d_transpose depthwise_conv2d_transpose conv3d_transpose")
def _(r: Reading) -> Any:
    r.only("Input", "Filter")
    x, weight, last = r.x("Input"), r.x("Filter"), r.channels_last()
    x = moveaxis(x, -1, 1) if last else x
    attrs = _sliding(r, len(r.shape(x)) - 2)
    kernel = r.shape(weight)[2:]
    full = windows.attributes(r.op.type, r.shape(x)[2:], tuple(map(int, kernel)), *attrs.values())
    size = r.take("output_size", []) or _grown(r, r.shape(x)[2:], kernel, full, r.take("output_padding", []))
    found = conv_transpose_(x, weight, **full, size=size)
    return {"Output": moveaxis(found, 1, -1) if last else found}


def _grown(r: Reading, have: Any, kernel: Any, attrs: dict[str, Any], more: Sequence[int]) -> list[int]:
    """The extents a convolution has to have had; of open ones, by how many they are more than the least."""
    found, extra = [], list(more) or [0] * len(have)
    for k, d in enumerate(have):
        around = attrs["dilation"][k] * (kernel[k] - 1) - sum(attrs["padding"][2 * k : 2 * k + 2]) + extra[k]
        found.append(SAME - extra[k] if isinstance(d, str) else (d - 1) * attrs["stride"][k] + around + 1)
    return found


def _pool(r: Reading, x: Any) -> dict[str, Any]:
    rank = len(r.shape(x)) - 2
    ksize = r.take("ksize", [])
    if r.take("global_pooling", False):
        return {"kernel": 1, "size": [1] * rank}
    if r.take("adaptive", False):
        return {"kernel": 1, "size": ksize}
    return {"kernel": ksize, "stride": r.take("strides", [1] * rank), "padding": _padding(r, rank)}


@reads("pool2d pool3d")
def _(r: Reading) -> Any:
    r.only("X")
    last = r.channels_last()
    x = moveaxis(r.x(), -1, 1) if last else r.x()
    attrs, kind = _pool(r, x), r.take("pooling_type", "")
    if not attrs.get("size"):
        attrs["ceil_mode"] = r.take("ceil_mode", False)
    if kind not in ("max", "avg"):
        r.fail(f"of type {kind!r:.20}")
    found = max_pool(x, **attrs) if kind == "max" else avg_pool(x, **attrs, exclusive=r.take("exclusive", True))
    return moveaxis(found, 1, -1) if last else found


@reads("max_pool2d_with_index max_pool3d_with_index")
def _(r: Reading) -> Any:
    out, mask = max_pool_with_index(r.x(), **_pool(r, r.x()) | {"ceil_mode": r.take("ceil_mode", False)})
    return {"Out": out, "Mask": mask}


# --- norms -------------------------------------------------------------------------------------------------------------------


def _affine(r: Reading) -> tuple[list[Any], dict[str, bool]]:
    there = [slot for slot in ("Scale", "Bias") if r.has(slot)]
    return [r.x(slot) for slot in there], {"weighted": "Scale" in there, "shifted": "Bias" in there}


@reads("batch_norm sync_batch_norm")
def _(r: Reading) -> Any:
    x, (tensors, which), epsilon = r.x(), _affine(r), r.take("epsilon", 1e-5)
    rank = len(r.shape(x))
    channel = rank - 1 if r.channels_last("data_layout") else 1
    if r.take("is_test", False) or r.take("use_global_stats", False):
        found = batch_norm_fixed(x, r.x("Mean"), r.x("Variance"), *tensors, channel=channel, epsilon=epsilon, **which)
        if not r.take("use_global_stats", False):
            note(found, "norm", min(1.0, max(0.0, r.take("momentum", 0.9))))
    else:
        found, _, _ = batch_norm_(x, *tensors, channel=channel, epsilon=epsilon, **which)
    return {"Y": found}


@reads("layer_norm")
def _(r: Reading) -> Any:
    x, (tensors, which), first = r.x(), _affine(r), r.take("begin_norm_axis", 1)
    behind = r.shape(x)[first:]
    if not 0 < first < len(r.shape(x)):
        r.fail(f"from axis {first}")
    shaped = [t if r.shape(t) == behind else r.reshaped(t, behind) for t in tensors]
    dims, epsilon = len(behind), r.take("epsilon", 1e-5)
    return {"Y": layer_norm_(x, *shaped, dims=dims, centred=True, epsilon=epsilon, **which)[0]}


@reads("group_norm instance_norm")
def _(r: Reading) -> Any:
    (tensors, which), last = _affine(r), r.channels_last("data_layout")
    x = moveaxis(r.x(), -1, 1) if last else r.x()
    groups = r.take("groups", 1) if r.op.type == "group_norm" else r.shape(x)[1]
    found = group_norm_(x, *tensors, groups=groups, epsilon=r.take("epsilon", 1e-5), **which)[0]
    return {"Y": moveaxis(found, 1, -1) if last else found}


# --- products ----------------------------------------------------------------------------------------------------------------


@reads("mul")
def _(r: Reading) -> Any:
    x, y = r.x(), r.x("Y")
    columns, rank = r.take("x_num_col_dims", 1), len(r.shape(x))
    if r.take("y_num_col_dims", 1) != 1 or len(r.shape(y)) != 2 or not 0 < columns < rank:
        r.fail(f"of {r.type(x)} and {r.type(y)}")
    flat = OPS["flatten"](x, columns, rank - 1) if columns < rank - 1 else x
    return OPS["matmul"](flat, y)


@reads("matmul")
def _(r: Reading) -> Any:
    found = OPS["matmul"](r.x(), r.x("Y"), r.take("transpose_X", False), r.take("transpose_Y", False))
    alpha = r.take("alpha", 1.0)
    return found if alpha == 1 else found * r.constant(alpha, r.type(found).dtype)


@reads("bmm")
def _(r: Reading) -> Any:
    return OPS["matmul"](r.x(), r.x("Y"))


@reads("mv")
def _(r: Reading) -> Any:
    return OPS["matmul"](r.x(), r.x("Vec"))


@reads("addmm")
def _(r: Reading) -> Any:
    product, before = OPS["matmul"](r.x(), r.x("Y")), r.x("Input")
    dtype = r.type(product).dtype
    return before * r.constant(r.take("Beta", 1.0), dtype) + product * r.constant(r.take("Alpha", 1.0), dtype)


# --- losses, padding ---------------------------------------------------------------------------------------------------------


@reads("softmax_with_cross_entropy")
def _(r: Reading) -> Any:
    x, label, axis = r.x("Logits"), r.x("Label"), r.take("axis", -1)
    axis = axis % max(1, len(r.shape(x)))
    if not r.take("use_softmax", True):
        r.fail("without the softmax")
    if r.take("soft_label", False):
        loss = OPS["neg"](OPS["sum"](label * OPS["log_softmax"](x, axis), axis, None, True))
    else:
        loss = OPS["unsqueeze"](class_entropy(x, label, axis, r.take("ignore_index", -100))[0], axis)
    return {"Softmax": OPS["softmax"](x, axis), "Loss": loss}


@reads("pad")
def _(r: Reading) -> Any:
    return padded(r.x(), r.take("paddings", []), "constant", r.take("pad_value", 0.0))


@reads("pad3d pad2d")
def _(r: Reading) -> Any:
    r.only("X")
    x, mode, widths = r.x(), r.take("mode", "constant"), r.take("paddings", [])
    if r.op.type == "pad2d":
        widths = widths[2:] + widths[:2]  # rows stand first there
    value = r.take("value", 0.0) if r.op.type == "pad3d" else r.take("pad_value", 0.0)
    rank = "NCDHW" if r.op.type == "pad3d" else "NCHW"
    return padded(x, widths, {"edge": "replicate"}.get(mode, mode), value, r.take("data_format", rank))


# --- losses -------------------------------------------------------------------------------------------------------------------


@reads("warpctc")
def _(r: Reading) -> Any:
    r.only("Logits", "Label", "LogitsLength", "LabelLength")
    if r.take("norm_by_times", False) or not (r.has("LogitsLength") and r.has("LabelLength")):
        r.fail("without lengths, or by steps")
    loss, _ = ctc(r.x("Logits"), r.x("Label"), r.x("LogitsLength"), r.x("LabelLength"), r.take("blank", 0))
    return {"Loss": OPS["unsqueeze"](loss, [1])}
