"""Convolutions: sums of one fused multiply-add per (channel, tap), in ascending order, on every path; then the bias.

Filters of 3x3 with many channels have other sums in float32, by extents alone: see `conv_winograd_text`. Where each group has
one channel in and one out, the gradient of a filter has another order: see `conv_depth_text`.

Three ops are closed under gradients: `conv`, `conv_transpose` (the gradient of a convolution with respect to its input) and
`conv_weight_grad`. The gradients of each are the others. Places of padding take part with 0, as in Paddle: an infinite weight
that meets them is a nan. What users call stands in `nn.functional`.

>>> from d2s.types import float32
>>> attrs = {"stride": (1, 1), "padding": (1, 1, 1, 1), "dilation": (1, 1), "groups": 1}
>>> conv_.infer([Type(float32, ("n", 3, 32, 32)), Type(float32, (8, 3, 3, 3))], attrs)
(f32[n,8,32,32],)
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.errors import DTypeError, ShapeError
from d2s.ops import (
    conv_depth_text,
    conv_plane_text,
    conv_text,
    conv_weight_text,
    conv_winograd_text,
    conv_winograd_weight_text,
    windows,
)
from d2s.ops.dispatch import current
from d2s.ops.op import Followed, Share, op
from d2s.ops.reduce import sum
from d2s.ops.shapes import fitting, following, unnamed
from d2s.types import Dim, Shape, Type

Attrs = dict[str, Any]
MANY = 64  # places of a channel
SAME = -1  # in the size of a transpose: the least extent there can be; -2: one more, and so on


def _checked(name: str, x: Type, weight: Type, bias: Sequence[Type], channels: int) -> int:
    """The number of axes that windows slide over."""
    rank = len(x.shape) - 2
    if rank not in windows.AXES or len(weight.shape) != rank + 2:
        wanted = "expected 3 to 5 axes, as many of both"
        raise ShapeError("D2S0002", f"{name}(): 'x' has shape {list(x.shape)}, 'weight' {list(weight.shape)}, {wanted}")
    if x.dtype.kind != "f" or any(t.dtype is not x.dtype for t in (weight, *bias)):
        raise DTypeError("D2S0003", f"{name}() does not take {', '.join(map(str, (x, weight, *bias)))}")
    if any(isinstance(d, str) for d in (x.shape[1], *weight.shape)):
        raise unnamed(name, "the number of channels")
    if len(bias) > 1 or (bias and bias[0].shape != (channels,)):
        raise ShapeError("D2S0002", f"{name}(): 'bias' has shape {list(bias[-1].shape)}, expected [{channels}]")
    return rank


def _extents(x: Shape, out: Shape, kernel: Shape, attrs: Attrs, channels: tuple[int, int]) -> list[tuple[Dim, ...]]:
    """The registers of a kernel: see `conv_text.NAMES`. Axes that are missing have extent 1; a window of one place is flat."""
    stride, dilation, before = attrs["stride"], attrs["dilation"], attrs["padding"][::2]
    flat = {*kernel, *stride} == {1} and not any(attrs["padding"])
    if flat:
        spatial: list[list[tuple[Dim, ...]]] = [[tuple(shape[2:])] for shape in (x, out)]
        numbers: list[Shape] = [(1,), (1,), (1,), (0,)]
    else:
        spatial = [[(d,) for d in shape[2:]] for shape in (x, out)]
        numbers = [kernel, stride, dilation, before]
    missing = 3 - len(numbers[0])
    lines: list[list[tuple[Dim, ...]]] = [[(1,)] * missing + s for s in spatial]
    lines += [[(0 if n is numbers[3] else 1,)] * missing + [(k,) for k in n] for n in numbers]
    return [(x[0],), (attrs["groups"],), *((c,) for c in channels), *(product for line in lines for product in line)]


# --- a convolution ----------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="Conv")
def conv_(x, weight, *bias, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1):
    """The convolution behind `conv1d`, `conv2d` and `conv3d`: channels are the second axis.

    >>> x, weight = d2s.to_tensor([[[1.0, 2.0, 3.0]]]), d2s.to_tensor([[[10.0, 1.0]]])
    >>> d2s.ops.conv.conv_(x, weight).numpy().tolist()
    [[[12.0, 23.0]]]
    """


def _name(weight: Type, transposed: bool = False) -> str:
    return f"conv{len(weight.shape) - 2}d{'_transpose' if transposed else ''}"


@conv_.rule("canonical")
def _(x, weight, *bias, stride, padding, dilation, groups):
    name = _name(weight)
    _checked(name, x, weight, (), 0)
    return windows.attributes(name, x.shape[2:], weight.shape[2:], stride, padding, dilation, groups)


@conv_.rule("infer")
def _(x, weight, *bias, stride, padding, dilation, groups):
    name, channels = _name(weight), weight.shape[0]
    _checked(name, x, weight, bias, channels)
    if x.shape[1] != weight.shape[1] * groups or channels % groups:
        have = f"'x' has {x.shape[1]} channels, 'weight' has shape {list(weight.shape)}, 'groups' is {groups}"
        message = f"{have}: expected {weight.shape[1] * groups} channels of 'x', and filters in equal groups"
        raise ShapeError("D2S0002", f"{name}(): {message}")
    spatial = windows.windows(name, x.shape[2:], weight.shape[2:], stride, dilation, padding)
    return Type(x.dtype, (x.shape[0], channels, *spatial))


@conv_.rule("least")
def _(x, weight, *bias, stride, padding, dilation, groups):
    return windows.open_ones(conv_.infer([x, weight], _attrs(stride, padding, dilation, groups))[0])


def _attrs(stride: Any, padding: Any, dilation: Any, groups: Any) -> Attrs:
    return {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


def _kernel(x: Type, weight: Type, bias_and_out: Sequence[Type], attrs: Attrs, transposed: bool) -> Any:
    (*bias, out), groups = bias_and_out, attrs["groups"]
    channels = int(x.shape[1]) // groups, int(out.shape[1]) // groups
    extents = _extents(x.shape, out.shape, weight.shape[2:], attrs, channels)
    if channels == (1, 1):
        share = Share(conv_depth_text.PIECES, conv_depth_text.GRAIN)
        fits = conv_plane_text.fits(weight.shape[2:], attrs["stride"], attrs["dilation"])
        text = conv_plane_text if fits else conv_depth_text
        return extents, text.call(transposed, bool(bias)), share, text.ABOVE
    if conv_winograd_text.fits(x.dtype.short, weight.shape[2:], attrs["stride"], attrs["dilation"], channels):
        share = Share(conv_winograd_text.PIECES, conv_winograd_text.GRAIN)
        return extents, conv_winograd_text.call(transposed, bool(bias)), share, conv_winograd_text.ABOVE
    return extents, conv_text.call(transposed, bool(bias)), Share(conv_text.pieces(transposed), "1"), conv_text.ABOVE


def _followed(x: Type, weight: Type, bias_and_out: Sequence[Type], attrs: Attrs, transposed: bool) -> Followed | None:
    """The kernel that hands on all places of some channels; None where these are so few that calls take longer than they do."""
    places = bias_and_out[-1].shape[2:]
    if all(isinstance(d, int) for d in places) and math.prod(int(d) for d in places) < MANY:
        return None
    extents, body, share, above = _kernel(x, weight, bias_and_out, attrs, transposed)
    name, text = next((name, text) for name, text in _NAMED.items() if body.startswith(f"{name}("))
    return Followed(len(places), (extents, body + conv_text.handed_on(name, transposed), share, above + text.FOLLOWED))


_NAMED = {
    "convolved": conv_text,
    "tiled": conv_winograd_text,
    "planes_met": conv_plane_text,
    "planes_convolved": conv_depth_text,
}


@conv_.rule("followed")
def _(x, weight, *bias_and_out, stride, padding, dilation, groups):
    return _followed(x, weight, bias_and_out, _attrs(stride, padding, dilation, groups), False)


@conv_.rule("kernel")
def _(x, weight, *bias_and_out, stride, padding, dilation, groups):
    return _kernel(x, weight, bias_and_out, _attrs(stride, padding, dilation, groups), False)


def _type(x: Any) -> Type:
    found: Type = current().type_of(x)  # type: ignore[assignment]
    return found


def _size(x: Any, g: Any, attrs: Attrs) -> tuple[int, ...] | None:
    """The spatial extents of x, for a transpose of g; None where those of g do not tell them."""
    pairs = list(zip(_type(x).shape[2:], _type(g).shape[2:], attrs["stride"], strict=True))
    if any(isinstance(d, str) and stride > 1 for d, _, stride in pairs):
        return None
    return tuple(d if isinstance(d, int) else SAME for d, *_ in pairs)


def _of_bias(g: Any, bias: Any) -> list[Any]:
    axes = (0, *range(2, len(_type(g).shape)))
    return [lambda: sum(g, axes)] * len(bias)


@conv_.rule("vjp")
def _(g, out, x, weight, *bias, stride, padding, dilation, groups):
    attrs = _attrs(stride, padding, dilation, groups)

    def of_x():
        size = _size(x, g, attrs)
        return conv_input_grad(g, weight, x, **attrs) if size is None else conv_transpose_(g, weight, **attrs, size=size)

    return of_x, lambda: conv_weight_grad(x, g, **attrs, kernel=_type(weight).shape[2:]), *_of_bias(g, bias)


# --- its transpose ----------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="ConvTranspose")
def conv_transpose_(x, weight, *bias, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: Any = 1, size: Any):
    """The gradient of a convolution with respect to its input, whose spatial extents were `size`; -1: the least they can be.

    >>> x, weight = d2s.to_tensor([[[1.0, 2.0]]]), d2s.to_tensor([[[10.0, 1.0]]])
    >>> d2s.ops.conv.conv_transpose_(x, weight, size=[3]).numpy().tolist()
    [[[10.0, 21.0, 2.0]]]
    """


@conv_transpose_.rule("canonical")
def _(x, weight, *bias, stride, padding, dilation, groups, size):
    name = _name(weight, True)
    _checked(name, x, weight, (), 0)
    found = windows.each(size, len(x.shape) - 2, name, "size", SAME - windows.MOST)
    return windows.attributes(name, x.shape[2:], weight.shape[2:], stride, padding, dilation, groups) | {"size": found}


@conv_transpose_.rule("infer")
def _(x, weight, *bias, stride, padding, dilation, groups, size):
    name = _name(weight, True)
    channels = weight.shape[1] * groups
    _checked(name, x, weight, bias, channels)
    if x.shape[1] != weight.shape[0] or x.shape[1] % groups:
        have = f"'x' has {x.shape[1]} channels, 'weight' has shape {list(weight.shape)}, 'groups' is {groups}"
        raise ShapeError("D2S0002", f"{name}(): {have}: expected {weight.shape[0]} channels of 'x', in equal groups")
    given = zip(size, x.shape[2:], weight.shape[2:], stride, dilation, padding[::2], padding[1::2], strict=True)
    spatial = tuple(n if n >= 0 else _least(*rest, SAME - n) for n, *rest in given)
    found = windows.windows(name, spatial, weight.shape[2:], stride, dilation, padding)
    if found != x.shape[2:]:
        message = f"{name}(): 'size' is {list(size)}, a convolution of it has extents {list(found)}, not those of 'x'"
        raise ShapeError("D2S0002", f"{message}, {list(x.shape[2:])}")
    return Type(x.dtype, (x.shape[0], channels, *spatial))


@conv_transpose_.rule("least")
def _(x, weight, *bias, stride, padding, dilation, groups, size):
    attrs = _attrs(stride, padding, dilation, groups) | {"size": size}
    return windows.open_ones(conv_transpose_.infer([x, weight], attrs)[0])


def _least(have: Dim, kernel: int, stride: int, dilation: int, before: int, behind: int, more: int) -> Dim:
    """The least extent of which a convolution makes this one, and so much more."""
    plus = dilation * (kernel - 1) + 1 - before - behind - stride + more
    return following(have, times=stride, plus=plus)


@conv_transpose_.rule("kernel")
def _(x, weight, *bias_and_out, stride, padding, dilation, groups, size):
    return _kernel(x, weight, bias_and_out, _attrs(stride, padding, dilation, groups), True)


@conv_transpose_.rule("followed")
def _(x, weight, *bias_and_out, stride, padding, dilation, groups, size):
    return _followed(x, weight, bias_and_out, _attrs(stride, padding, dilation, groups), True)


@conv_transpose_.rule("vjp")
def _(g, out, x, weight, *bias, stride, padding, dilation, groups, size):
    attrs = _attrs(stride, padding, dilation, groups)

    def of_weight():
        return conv_weight_grad(g, x, **attrs, kernel=_type(weight).shape[2:])

    return lambda: conv_(g, weight, **attrs), of_weight, *_of_bias(g, bias)


# --- the same, of an input whose extents no number says ---------------------------------------------------------------------


@op(paddle=None)
def conv_input_grad(x, weight, like, stride: Any, padding: Any, dilation: Any, groups: Any):
    """The gradient of a convolution of `like` with respect to it.

    >>> x, weight, like = d2s.to_tensor([[[1.0]]]), d2s.to_tensor([[[10.0, 1.0]]]), d2s.to_tensor([[[7.0, 8.0, 9.0]]])
    >>> d2s.ops.conv.conv_input_grad(x, weight, like, 2, 0, 1, 1).numpy().tolist()
    [[[10.0, 1.0, 0.0]]]
    """


@conv_input_grad.rule("canonical")
def _(x, weight, like, stride, padding, dilation, groups):
    return windows.attributes("conv_input_grad", like.shape[2:], weight.shape[2:], stride, padding, dilation, groups)


@conv_input_grad.rule("infer")
def _(x, weight, like, stride, padding, dilation, groups):
    made = conv_.infer([like, weight], _attrs(stride, padding, dilation, groups))[0]
    fitting("conv_input_grad", "x", x.shape, made.shape)
    return like


@conv_input_grad.rule("requires")
def _(x, weight, like, stride, padding, dilation, groups):
    made = conv_.infer([like, weight], _attrs(stride, padding, dilation, groups))[0]
    return fitting("conv_input_grad", "x", x.shape, made.shape)


@conv_input_grad.rule("kernel")
def _(x, weight, like, out, stride, padding, dilation, groups):
    return windows.past_like(_kernel(x, weight, [out], _attrs(stride, padding, dilation, groups), True), 2)


@conv_input_grad.rule("vjp")
def _(g, out, x, weight, like, stride, padding, dilation, groups):
    attrs = _attrs(stride, padding, dilation, groups)
    return lambda: conv_(g, weight, **attrs), lambda: conv_weight_grad(g, x, **attrs, kernel=_type(weight).shape[2:]), None


# --- the gradient of the weight ---------------------------------------------------------------------------------------------


@op(paddle=None)
def conv_weight_grad(x, cotangent, stride: Any, padding: Any, dilation: Any, groups: Any, kernel: Any):
    """The gradient of a convolution of x with respect to its weight, of spatial extents `kernel`.

    >>> x, g = d2s.to_tensor([[[1.0, 2.0, 3.0]]]), d2s.to_tensor([[[1.0, 1.0]]])
    >>> d2s.ops.conv.conv_weight_grad(x, g, 1, 0, 1, 1, [2]).numpy().tolist()
    [[[3.0, 5.0]]]
    """


@conv_weight_grad.rule("canonical")
def _(x, cotangent, stride, padding, dilation, groups, kernel):
    found = windows.each(kernel, len(x.shape) - 2, "conv_weight_grad", "kernel", 0)
    return windows.attributes("conv_weight_grad", x.shape[2:], found, stride, padding, dilation, groups) | {"kernel": found}


@conv_weight_grad.rule("infer")
def _(x, cotangent, stride, padding, dilation, groups, kernel):
    name, channels = "conv_weight_grad", cotangent.shape[1]
    _checked(name, x, Type(cotangent.dtype, (channels, *kernel, 1)), (), 0)
    spatial = windows.windows(name, x.shape[2:], kernel, stride, dilation, padding)
    fitting(name, "cotangent", cotangent.shape, (x.shape[0], channels, *spatial))
    if x.shape[1] % groups or channels % groups:
        raise ShapeError("D2S0002", f"{name}(): {x.shape[1]} and {channels} channels are not {groups} groups")
    return Type(x.dtype, (channels, x.shape[1] // groups, *kernel))


@conv_weight_grad.rule("requires")
def _(x, cotangent, stride, padding, dilation, groups, kernel):
    return [(x.shape[0], cotangent.shape[0])] if x.shape[0] != cotangent.shape[0] else []


@conv_weight_grad.rule("kernel")
def _(x, cotangent, out, stride, padding, dilation, groups, kernel):
    attrs = _attrs(stride, padding, dilation, groups)
    channels = int(x.shape[1]) // groups, int(cotangent.shape[1]) // groups
    extents = _extents(x.shape, cotangent.shape, kernel, attrs, channels)
    if channels == (1, 1) and groups > 1:
        share = Share(conv_depth_text.WEIGHT_PIECES, conv_depth_text.WEIGHT_GRAIN)
        narrow = conv_plane_text.fits(kernel, stride, dilation) and {*stride} == {1}
        single = conv_plane_text if narrow else conv_depth_text
        return extents, single.WEIGHT_CALL, share, single.WEIGHT_ABOVE
    tiled = conv_winograd_weight_text.fits(x.dtype.short, kernel, stride, dilation, channels)
    text = conv_winograd_weight_text if tiled else conv_weight_text
    return extents, text.CALL, Share(text.PIECES, "1"), text.ABOVE


@conv_weight_grad.rule("vjp")
def _(g, out, x, cotangent, stride, padding, dilation, groups, kernel):
    attrs = _attrs(stride, padding, dilation, groups)

    def of_x():
        size = _size(x, cotangent, attrs)
        return conv_input_grad(cotangent, g, x, **attrs) if size is None else conv_transpose_(cotangent, g, **attrs, size=size)

    return of_x, lambda: conv_(x, g, **attrs)
