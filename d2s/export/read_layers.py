"""What Paddle's ops mean that compute: layers, reductions, orders, losses, and arithmetic with constants.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "batch_norm" in READ
True
"""

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.errors import Raised
from d2s.export.paddle_words import Reading, reads
from d2s.export.tensors import dtype_of
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS, sort, windows
from d2s.ops.arrange import moveaxis
from d2s.ops.conv import conv_, conv_transpose_
from d2s.ops.label import class_entropy
from d2s.ops.norm import batch_norm_, batch_norm_fixed, group_norm_, layer_norm_
from d2s.ops.pad import pad as padded
from d2s.ops.pool import avg_pool, max_pool, max_pool_with_index
from d2s.ops.scan import cummax_, cummin_, cumprod_, cumsum_, logcumsumexp_
from d2s.types import Type

# --- windows that slide ------------------------------------------------------------------------------------------------------


def _padding(r: Reading, rank: int) -> Any:
    how = r.take("padding_algorithm", "EXPLICIT")
    if how != "EXPLICIT":
        return how
    return r.take("paddings", [0] * rank)


def _last(r: Reading, attribute: str = "data_format") -> bool:
    """Whether channels are the last axis."""
    return r.take(attribute, "NCHW") in ("NHWC", "NDHWC", "NLC")


def _sliding(r: Reading, rank: int) -> dict[str, Any]:
    attrs = {"stride": r.take("strides", [1] * rank), "padding": _padding(r, rank)}
    return attrs | {"dilation": r.take("dilations", [1] * rank), "groups": r.take("groups", 1)}


@reads("conv2d depthwise_conv2d conv3d")
def _(r: Reading) -> Any:
    r.only("Input", "Filter")
    x, weight = r.x("Input"), r.x("Filter")
    last = _last(r)
    found = conv_(moveaxis(x, -1, 1) if last else x, weight, **_sliding(r, len(r.shape(x)) - 2))
    return {"Output": moveaxis(found, 1, -1) if last else found}


@reads("conv2d_transpose depthwise_conv2d_transpose conv3d_transpose")
def _(r: Reading) -> Any:
    r.only("Input", "Filter")
    x, weight, last = r.x("Input"), r.x("Filter"), _last(r)
    x = moveaxis(x, -1, 1) if last else x
    attrs = _sliding(r, len(r.shape(x)) - 2)
    kernel = r.shape(weight)[2:]
    full = windows.attributes(r.op.type, r.shape(x)[2:], tuple(map(int, kernel)), *attrs.values())
    size = r.take("output_size", []) or _grown(r, r.shape(x)[2:], kernel, full, r.take("output_padding", []))
    found = conv_transpose_(x, weight, **full, size=size)
    return {"Output": moveaxis(found, 1, -1) if last else found}


def _grown(r: Reading, have: Any, kernel: Any, attrs: dict[str, Any], more: Sequence[int]) -> list[int]:
    """The extents a convolution has to have had; -1 is that of the result."""
    found, extra = [], list(more) or [0] * len(have)
    for k, d in enumerate(have):
        around = attrs["dilation"][k] * (kernel[k] - 1) - sum(attrs["padding"][2 * k : 2 * k + 2]) + extra[k]
        if isinstance(d, str) and (attrs["stride"][k] != 1 or around):
            r.fail(f"of an axis of {d} values")
        found.append(-1 if isinstance(d, str) else (d - 1) * attrs["stride"][k] + around + 1)
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
    last = _last(r)
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
    channel = rank - 1 if _last(r, "data_layout") else 1
    if r.take("is_test", False) or r.take("use_global_stats", False):
        found = batch_norm_fixed(x, r.x("Mean"), r.x("Variance"), *tensors, channel=channel, epsilon=epsilon, **which)
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
    (tensors, which), last = _affine(r), _last(r, "data_layout")
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


# --- arithmetic with constants -----------------------------------------------------------------------------------------------


@reads("scale")
def _(r: Reading) -> Any:
    """`scale * x + bias`: Paddle's spelling of neg, and of arithmetic with constants."""
    x, scale, bias = r.x(), r.take("scale", 1.0), r.take("bias", 0.0)
    if set(r.op.inputs) != {"X"}:
        r.fail("with a computed factor, or with its bias first")
    if (scale, bias) == (-1.0, 0.0):
        return OPS["neg"](x)
    if bias and not r.take("bias_after_scale", True):
        return _times(r, _plus(r, x, bias), scale)
    return _plus(r, _times(r, x, scale), bias)


def _constant(r: Reading, x: Any, number: float) -> Any:
    dtype = r.type(x).dtype
    if dtype.kind == "b" or (dtype.kind == "i" and number != number // 1):
        r.fail(f"of {dtype.name} by {number}")
    return r.constant(number, dtype)


def _times(r: Reading, x: Any, factor: float) -> Any:
    return x if factor == 1 else x * _constant(r, x, factor)


def _plus(r: Reading, x: Any, number: float) -> Any:
    return x if number == 0 else x + _constant(r, x, number)


@reads("increment")
def _(r: Reading) -> Any:
    return _plus(r, r.x(), r.take("step", 1.0))


@reads("pow")
def _(r: Reading) -> Any:
    r.only("X")
    return OPS["pow"](r.x(), _constant(r, r.x(), r.take("factor", 1.0)))


@reads("sum")
def _(r: Reading) -> Any:
    return functools.reduce(operator.add, r.many())


@reads("clip")
def _(r: Reading) -> Any:
    low = r.number(r.x("Min")) if r.has("Min") else r.take("min", -math.inf)
    high = r.number(r.x("Max")) if r.has("Max") else r.take("max", math.inf)
    return OPS["clip"](r.x(), None if low == -math.inf else low, None if high == math.inf else high)


@reads("swish")
def _(r: Reading) -> Any:
    return OPS["silu"](r.x())


@reads("prelu")
def _(r: Reading) -> Any:
    x, alpha, mode = r.x(), r.x("Alpha"), r.take("mode", "all")
    rank, count = len(r.shape(x)), len(r.shape(alpha))
    if mode == "channel":
        axis = rank - 1 if _last(r) else 1
        alpha = r.reshaped(alpha, [-1 if k == axis else 1 for k in range(rank)])
    elif mode != "all" or count > 1:
        r.fail(f"by {mode!r:.20}")
    return OPS["where"](OPS["greater_than"](x, 0.0), x, x * alpha)


@reads("dropout")
def _(r: Reading) -> Any:
    """As in inference, however the file was saved."""
    x, up = r.x(), r.take("dropout_implementation", "downgrade_in_infer") == "upscale_in_train"
    return x if up else _times(r, x, 1.0 - r.take("dropout_prob", 0.5))


@reads("cast")
def _(r: Reading) -> Any:
    x = r.x()
    found = OPS["cast"](x, dtype_of(r.take("out_dtype", 5)))
    known = r.frame.known.get(x.value)
    return found if known is None else r.know(found, known)


# --- reductions --------------------------------------------------------------------------------------------------------------


def _axes(r: Reading) -> Any:
    axes = r.take("dim", [])
    return None if r.take("reduce_all", False) or not axes else tuple(axes)


@reads("reduce_sum")
def _(r: Reading) -> Any:
    x, wanted = r.x(), r.take("out_dtype", -1)
    if wanted >= 0 and dtype_of(wanted) is not r.type(x).dtype:
        x = OPS["cast"](x, dtype_of(wanted))
    found = OPS["sum"](x, _axes(r), None, r.take("keep_dim", False))
    have = r.type(x).dtype
    return found if r.type(found).dtype is have or have.kind == "b" or wanted >= 0 else OPS["cast"](found, have)


@reads("reduce_mean reduce_max reduce_min reduce_amax reduce_amin reduce_prod reduce_any reduce_all")
def _(r: Reading) -> Any:
    name, x, keep = r.op.type.removeprefix("reduce_"), r.x(), r.take("keep_dim", False)
    if name in ("any", "all"):
        whole = OPS["cast"](x, types.int32)
        found = OPS["max" if name == "any" else "min"](whole, _axes(r), keep)
        return OPS["cast"](found, types.bool_)
    if name == "prod":
        return OPS["prod"](x, _axes(r), keep, r.type(x).dtype)
    return OPS[name](x, _axes(r), keep)


@reads("mean")
def _(r: Reading) -> Any:
    return OPS["mean"](r.x(), None, False)


@reads("logsumexp")
def _(r: Reading) -> Any:
    axes = r.take("axis", [])
    return OPS["logsumexp"](r.x(), None if r.take("reduce_all", False) or not axes else tuple(axes), r.take("keepdim", False))


@reads("softmax log_softmax")
def _(r: Reading) -> Any:
    return OPS[r.op.type](r.x(), r.take("axis", -1))


@reads("arg_max arg_min")
def _(r: Reading) -> Any:
    axis = None if r.take("flatten", False) else r.take("axis", -1)
    number = r.take("dtype", 3)
    dtype = types.int64 if number < 0 else dtype_of(number)
    return OPS[r.op.type.replace("_", "")](r.x(), axis, r.take("keepdims", False), dtype)


# --- orders and running totals -----------------------------------------------------------------------------------------------


@reads("argsort")
def _(r: Reading) -> Any:
    values, places = sort.sorted_(r.x(), r.take("axis", -1), r.take("descending", False))
    return {"Out": values, "Indices": places}


@reads("top_k_v2 top_k")
def _(r: Reading) -> Any:
    k = int(r.number(r.x("K"))) if r.has("K") else r.take("k", 1)
    values, places = sort.topk(r.x(), k, r.take("axis", -1), r.take("largest", True), r.take("sorted", True))
    return {"Out": values, "Indices": places}


@reads("cumsum")
def _(r: Reading) -> Any:
    x, back = r.x(), r.take("reverse", False)
    if r.take("flatten", False):
        x = OPS["flatten"](x)
    axis = r.take("axis", -1)
    found = cumsum_(x, axis, back)
    return found - x if r.take("exclusive", False) else found


@reads("cumprod")
def _(r: Reading) -> Any:
    if r.take("exclusive", False) or r.take("reverse", False):
        r.fail("backwards, or without the element itself")
    return cumprod_(r.x(), r.take("dim", 0))


@reads("logcumsumexp")
def _(r: Reading) -> Any:
    if r.take("exclusive", False) or r.take("reverse", False):
        r.fail("backwards, or without the element itself")
    x = OPS["flatten"](r.x()) if r.take("flatten", False) else r.x()
    return logcumsumexp_(x, r.take("axis", -1))


@reads("cummax cummin")
def _(r: Reading) -> Any:
    found = (cummax_ if r.op.type == "cummax" else cummin_)(r.x("x"), r.take("axis", -1), dtype_of(r.take("dtype", 3)))
    return {"out": found[0], "indices": found[1]}


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


# --- ends of runs ------------------------------------------------------------------------------------------------------------


@reads("assert")
def _(r: Reading) -> Any:
    condition = r.x("Cond")
    if r.type(condition) != Type(types.bool_):
        r.fail(f"of {r.type(condition)}")
    seen = Value(Type(types.bool_), "holds")
    failed = Value(Type(types.bool_), "holds")
    frame = r.frame.recorder
    error = Raised(AssertionError("the model's own check fails"))
    end = Node("fail", (), (), {"error": error}, r.frame.where)
    inner = Program("otherwise", (failed,), (end,), ())
    frame.add("cond", [condition.value, condition.value], [], {"then": Program("then", (seen,), (), ()), "otherwise": inner})
    return {}
