"""Paddle's ops that are functions of d2s: a row says what each takes. In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "p_norm" in READ
True
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.eager.masks import masked_select
from d2s.export.paddle_words import MAX_RESULT, MAX_WRITTEN_OUT, READ, Reading, reads
from d2s.export.tensors import dtype_of
from d2s.nn.bilinear import bilinear
from d2s.nn.folding import channel_shuffle, fold, pixel_shuffle, pixel_unshuffle, temporal_shift, unfold
from d2s.nn.gates import gumbel_softmax, maxout, rrelu
from d2s.nn.loss import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    kl_div,
    label_smooth,
    nll_loss,
    smooth_l1_loss,
)
from d2s.nn.sampling import affine_grid, grid_sample
from d2s.nn.sequences import sequence_mask
from d2s.ops import OPS
from d2s.ops.activation import tanhshrink
from d2s.ops.create import eye, linspace, meshgrid
from d2s.ops.derived import dist, heaviside, multiplex
from d2s.ops.einsum import einsum
from d2s.ops.near import allclose, equal_all, isclose, lerp, logit, stanh
from d2s.ops.rearrange import crop, cross, diag_embed, kron, repeat_interleave, trace
from d2s.ops.scatter import index_add, masked_fill
from d2s.ops.sort import kthvalue, median, mode
from d2s.ops.statistics import norm
from d2s.ops.triangle import diag

_MOST = 1 << 24  # of a number that makes extents
_WINDOW = 1024  # values of a window that is read value by value


@dataclasses.dataclass(frozen=True)
class _Row:
    """A function: the slots of its tensors, its attributes in order with Paddle's defaults, and what it gives."""

    function: Callable[..., Any]
    slots: str = "X"
    attributes: tuple[tuple[str, Any], ...] = ()
    out: str = "Out"
    fixed: tuple[tuple[str, Any], ...] = ()  # arguments Paddle's op has not


def _row(function: Callable[..., Any], slots: str = "X", out: str = "Out", fixed: Any = None, **attributes: Any) -> _Row:
    return _Row(function, slots, tuple(attributes.items()), out, tuple((fixed or {}).items()))


_NONE = {"reduction": "none"}
_ROWS = {
    "dist": _row(dist, "X Y", p=2.0),
    "lerp": _row(lerp, "X Y Weight"),
    "stanh": _row(stanh, scale_a=0.67, scale_b=1.7159),
    "tanh_shrink": _row(tanhshrink),
    "maxout": _row(maxout, groups=1, axis=1),
    "rrelu": _row(rrelu, lower=0.125, upper=1 / 3, fixed={"training": False}),
    "gumbel_softmax": _row(gumbel_softmax, temperature=1.0, hard=False, axis=-1),
    "pixel_shuffle": _row(pixel_shuffle, upscale_factor=1, data_format="NCHW"),
    "pixel_unshuffle": _row(pixel_unshuffle, downscale_factor=1, data_format="NCHW"),
    "channel_shuffle": _row(channel_shuffle, groups=1, data_format="NCHW"),
    "grid_sampler": _row(grid_sample, "X Grid", "Output", mode="bilinear", padding_mode="zeros", align_corners=True),
    "bce_loss": _row(binary_cross_entropy, "X Label", fixed=_NONE),
    "huber_loss": _row(smooth_l1_loss, "X Y", delta=1.0, fixed=_NONE),
    "kldiv_loss": _row(kl_div, "X Target", "Loss", reduction="mean", log_target=False),
    "masked_select": _row(masked_select, "X Mask", "Y"),
    "masked_fill": _row(masked_fill, "x mask value", "out"),
    "kron": _row(kron, "X Y"),
    "cross": _row(cross, "X Y", dim=9),
    "trace": _row(trace, "Input", offset=0, axis1=0, axis2=1),
    "diag_embed": _row(diag_embed, "Input", offset=0, dim1=-2, dim2=-1),
    "diag_v2": _row(diag, offset=0, padding_value=0.0),
    "index_add": _row(lambda x, index, value, axis: index_add(x, index, axis, value), "X Index AddValue", axis=0),
    "equal_all": _row(equal_all, "X Y"),
    "elementwise_heaviside": _row(heaviside, "X Y"),
    "reverse": _row(OPS["flip"], axis=[]),
}
_NAMES = {"dim": "axis"}  # of arguments that are called otherwise here
_EXTENTS = ("groups", "upscale_factor", "downscale_factor", "offset")  # which make extents


def _read(row: _Row) -> Callable[[Reading], Any]:
    def read(r: Reading) -> Any:
        slots = row.slots.split()
        r.only(*slots)
        given = [r.take(name, default) for name, default in row.attributes]
        for (name, _), value in zip(row.attributes, given, strict=True):
            if name in _EXTENTS and not abs(value) < _MOST:
                r.fail(f"whose '{name}' is {value}")
        named = zip((name for name, _ in row.attributes), given, strict=True)
        return {row.out: row.function(*map(r.x, slots), **{_NAMES.get(n, n): v for n, v in named}, **dict(row.fixed))}

    return read


READ.update({name: _read(row) for name, row in _ROWS.items()})

# --- norms -------------------------------------------------------------------------------------------------------------------


@reads("p_norm")
def _(r: Reading) -> Any:
    axis = None if r.take("asvector", False) else r.take("axis", -1)
    return norm(r.x(), r.take("porder", 2.0), axis, r.take("keepdim", False))


@reads("frobenius_norm")
def _(r: Reading) -> Any:
    x, axes = r.x(), r.take("dim", [])
    whole = r.take("reduce_all", False) or not axes
    squares = OPS["sum"](OPS["square"](x), None if whole else tuple(axes), None, r.take("keep_dim", False))
    return OPS["sqrt"](squares)


@reads("norm")
def _(r: Reading) -> Any:
    x, axis = r.x(), r.take("axis", -1)
    size = OPS["sqrt"](OPS["sum"](OPS["square"](x), axis, None, True) + r.take("epsilon", 1e-10))
    return {"Out": x / size, "Norm": size}


# --- value by value ----------------------------------------------------------------------------------------------------------


@reads("logit")
def _(r: Reading) -> Any:
    return logit(r.x(), r.take("eps", 1e-6) or None)


@reads("thresholded_relu")
def _(r: Reading) -> Any:
    return OPS["thresholded_relu"](r.x(), r.take("threshold", 1.0), r.take("value", 0.0))


@reads("isclose allclose")
def _(r: Reading) -> Any:
    near = isclose if r.op.type == "isclose" else allclose
    r.only("Input", "Other")
    rtol, atol = (_decimal(r, r.take(name, usual)) for name, usual in (("rtol", "1e-05"), ("atol", "1e-08")))
    return near(r.x("Input"), r.x("Other"), rtol, atol, r.take("equal_nan", False))


def _decimal(r: Reading, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        r.fail(f"of the number {text!r:.40}")


@reads("multiplex")
def _(r: Reading) -> Any:
    return multiplex(r.many(), r.x("Ids"))


# --- losses ------------------------------------------------------------------------------------------------------------------


@reads("nll_loss")
def _(r: Reading) -> Any:
    weight = r.x("Weight") if r.has("Weight") else None
    return nll_loss(r.x(), r.x("Label"), weight, r.take("ignore_index", -100), r.take("reduction", "mean"))


@reads("sigmoid_cross_entropy_with_logits")
def _(r: Reading) -> Any:
    x, label = r.x(), r.x("Label")
    if r.take("normalize", False):
        r.fail("by the number of labels that count")
    weight = r.x("pos_weight") if r.has("pos_weight") else None
    loss = binary_cross_entropy_with_logits(x, label, None, "none", weight)
    return OPS["where"](OPS["equal"](label, float(r.take("ignore_index", -100))), 0.0, loss)


@reads("label_smooth")
def _(r: Reading) -> Any:
    return label_smooth(r.x(), r.x("PriorDist") if r.has("PriorDist") else None, r.take("epsilon", 0.0))


@reads("bilinear_tensor_product")
def _(r: Reading) -> Any:
    return bilinear(r.x(), r.x("Y"), r.x("Weight"), r.x("Bias") if r.has("Bias") else None)


@reads("einsum")
def _(r: Reading) -> Any:
    return einsum(r.take("equation", ""), *r.many("Operands"))


@reads("multi_dot")
def _(r: Reading) -> Any:
    return functools.reduce(OPS["matmul"], r.many())


# --- pixels, windows, places -------------------------------------------------------------------------------------------------


def _window(r: Reading) -> list[Any]:
    """Kernel, strides, paddings, dilations."""
    kernel = r.take("kernel_sizes", [])
    if not 0 < math.prod(kernel) <= _WINDOW:
        r.fail(f"with windows of {kernel[:9]}")
    return [kernel, r.take("strides", []), r.take("paddings", []), r.take("dilations", [])]


@reads("unfold")
def _(r: Reading) -> Any:
    return {"Y": unfold(r.x(), *_window(r))}


@reads("fold")
def _(r: Reading) -> Any:
    return {"Y": fold(r.x(), r.take("output_sizes", []), *_window(r))}


@reads("temporal_shift")
def _(r: Reading) -> Any:
    last = r.take("data_format", "NCHW")
    return temporal_shift(r.x(), r.take("seg_num", 1), r.take("shift_ratio", 0.25), data_format=last)


@reads("affine_grid")
def _(r: Reading) -> Any:
    theta, shape = r.x("Theta"), _extents(r, r.wanted("output_shape", "OutputShape", ""))
    if shape and isinstance(r.shape(theta)[0], str):
        shape[0] = theta.shape[0]  # the batch is what it is, whatever the example was
    return {"Output": affine_grid(theta, shape, r.take("align_corners", True))}


@reads("crop_tensor")
def _(r: Reading) -> Any:
    shape, offsets = r.wanted("shape", "Shape", "ShapeTensor"), r.wanted("offsets", "Offsets", "OffsetsTensor")
    return crop(r.x(), [d if isinstance(d, int) else -1 for d in shape], offsets)


@reads("sequence_mask")
def _(r: Reading) -> Any:
    told = r.numbers("", "MaxLenTensor", "") if r.has("MaxLenTensor") else [r.take("maxlen", -1)]
    most = r.extent(told[0]) if isinstance(told[0], str) else told[0]
    if isinstance(most, int) and most > _MOST:
        r.fail(f"of {most} steps")
    return {"Y": sequence_mask(r.x(), None if isinstance(most, int) and most <= 0 else most, dtype_of(r.take("out_dtype", 3)))}


@reads("meshgrid")
def _(r: Reading) -> Any:
    return list(meshgrid(r.many()))


@reads("repeat_interleave")
def _(r: Reading) -> Any:
    times = r.x("RepeatsTensor") if r.has("RepeatsTensor") else r.take("Repeats", 1)
    if isinstance(times, int) and not 0 <= times < _MOST:
        r.fail(f"of {times} times")
    return repeat_interleave(r.x(), times, r.take("dim", 0))


# --- made of numbers ---------------------------------------------------------------------------------------------------------


def _extents(r: Reading, dims: Sequence[Any]) -> list[Any]:
    """Extents that may be made: those that are known are not too large together."""
    if len(dims) > MAX_WRITTEN_OUT or math.prod(d for d in dims if isinstance(d, int)) > MAX_RESULT:
        r.fail(f"of the shape {list(dims)[:9]}")
    if any(isinstance(d, int) and d < 0 for d in dims):
        r.fail(f"of the shape {list(dims)[:9]}")
    return [r.extent(d) if isinstance(d, str) else d for d in dims]


@reads("eye")
def _(r: Reading) -> Any:
    rows, columns = r.take("num_rows", 0), r.take("num_columns", -1)
    rows, columns = _extents(r, [rows, rows if columns < 0 else columns])
    return eye(rows, columns, dtype_of(r.take("dtype", 5)))


@reads("linspace")
def _(r: Reading) -> Any:
    start, stop, count = (r.number(r.x(slot)) for slot in ("Start", "Stop", "Num"))
    (count,) = _extents(r, [int(count)])
    return linspace(float(start), float(stop), count, dtype_of(r.take("dtype", 5)))


@reads("empty")
def _(r: Reading) -> Any:
    dims = r.wanted("shape", "ShapeTensor", "ShapeTensorList")
    if all(isinstance(d, int) for d in dims):
        _extents(r, dims)
    return r.full(0, dtype_of(r.take("dtype", 5)), dims)


# --- orders ------------------------------------------------------------------------------------------------------------------


@reads("kthvalue")
def _(r: Reading) -> Any:
    values, places = kthvalue(r.x(), r.take("k", 1), r.take("axis", -1), r.take("keepdim", False))
    return {"Out": values, "Indices": places}


@reads("mode")
def _(r: Reading) -> Any:
    values, places = mode(r.x(), r.take("axis", -1), r.take("keepdim", False))
    return {"Out": values, "Indices": places}


@reads("median")
def _(r: Reading) -> Any:
    axes = r.take("axis", [])
    if len(axes) > 1 or r.has("AxisTensor") or r.has("AxisTensorList"):
        r.fail(f"along the axes {axes[:9]}")
    found = median(r.x("x"), axes[0] if axes else None, r.take("keepdim", False), r.take("mode", "avg"))
    return {"out": found[0] if isinstance(found, tuple) else found}
