"""More layers as calls, each a layer of `d2s.nn` whose parameters the startup program gives their first values.

In: variables and sizes. Out: variables.

>>> layer_norm(d2s.to_tensor([[1.0, 3.0]]), epsilon=0.0).tolist()
[[-1.0, 1.0]]
"""

from collections.abc import Callable
from typing import Any

from d2s import nn
from d2s.arguments import one_of
from d2s.errors import ShapeError
from d2s.nn.activation import activated
from d2s.nn.layer import Layer
from d2s.ops.shapes import one_axis, some_axes, tensor_type
from d2s.static.layers import channels_of, known


def _transposed(kind: str, layer_of: Any, layout: str, doc: str) -> Callable[..., Any]:
    """A convolution backwards as a call, of a layer; `layout` is that of images."""

    def conv_transpose(
        input: Any,
        num_filters: int,
        output_size: Any = None,
        filter_size: Any = None,
        padding: Any = 0,
        stride: Any = 1,
        dilation: Any = 1,
        groups: int | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        use_cudnn: bool = True,
        act: str | None = None,
        name: str | None = None,
        data_format: str = layout,
    ) -> Any:
        channels = known(kind, [channels_of(kind, input, data_format)])
        given = {"weight_attr": param_attr, "bias_attr": bias_attr, "data_format": data_format}
        attrs = {name: value for name, value in given.items() if value is not None}  # the layer knows its defaults
        place = {"padding": padding, "dilation": dilation, "groups": groups or 1}
        layer = layer_of(channels, num_filters, filter_size, stride, **place, **attrs)
        return activated(layer(input, output_size), act)

    conv_transpose.__name__ = conv_transpose.__qualname__ = kind
    conv_transpose.__doc__ = doc
    return conv_transpose


conv2d_transpose = _transposed("conv2d_transpose", nn.Conv2DTranspose, "NCHW", "A convolution backwards.")
conv3d_transpose = _transposed("conv3d_transpose", nn.Conv3DTranspose, "NCDHW", "A convolution over volumes, backwards.")


def layer_norm(
    input: Any,
    scale: bool = True,
    shift: bool = True,
    begin_norm_axis: int = 1,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    name: str | None = None,
) -> Any:
    """Samples of mean 0 and variance 1."""
    shape = tensor_type(input, "layer_norm", "input").shape
    behind: Any = list(shape[one_axis(begin_norm_axis, len(shape), "layer_norm") :])
    layer = nn.LayerNorm(behind, epsilon, param_attr if scale else False, bias_attr if shift else False)
    return activated(layer(input), act)


def group_norm(
    input: Any,
    groups: int,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    data_layout: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Groups of channels of mean 0 and variance 1."""
    channels = channels_of("group_norm", input)
    return activated(nn.GroupNorm(groups, channels, epsilon, param_attr, bias_attr, data_layout)(input), act)


def instance_norm(
    input: Any, epsilon: float = 1e-5, param_attr: Any = None, bias_attr: Any = None, name: str | None = None
) -> Any:
    """Channels of mean 0 and variance 1, sample by sample."""
    return nn.InstanceNorm2D(channels_of("instance_norm", input), epsilon, weight_attr=param_attr, bias_attr=bias_attr)(input)


def prelu(x: Any, mode: str, param_attr: Any = None, data_format: str = "NCHW", name: str | None = None) -> Any:
    """`x`, and a part of what is negative that is learnt: one for all, or one for each channel."""
    one_of("prelu", "mode", mode, ("all", "channel"))
    count = 1 if mode == "all" else channels_of("prelu", x, data_format, "x")
    return nn.PReLU(count, 0.25, param_attr, data_format)(x)


def bilinear_tensor_product(
    x: Any,
    y: Any,
    size: int,
    act: str | None = None,
    name: str | None = None,
    param_attr: Any = None,
    bias_attr: Any = None,
) -> Any:
    """`x @ w @ y` for each of `size` matrices w.

    >>> bilinear_tensor_product(d2s.ones([1, 2]), d2s.ones([1, 3]), 4, param_attr=d2s.nn.initializer.Constant(1.0)).tolist()
    [[6.0, 6.0, 6.0, 6.0]]
    """
    given = {"x": x, "y": y}.items()
    first, second = (known("bilinear_tensor_product", some_axes("bilinear_tensor_product", a, v)[1:]) for a, v in given)
    return activated(nn.Bilinear(first, second, size, param_attr, bias_attr)(x, y), act)


def spectral_norm(weight: Any, dim: int = 0, power_iters: int = 1, eps: float = 1e-12, name: str | None = None) -> Any:
    """A weight divided by its largest singular value, as so many iterations find it."""
    shape: Any = tensor_type(weight, "spectral_norm", "weight").shape
    return nn.SpectralNorm(shape, dim, power_iters, eps)(weight)


def row_conv(input: Any, future_context_size: int, param_attr: Any = None, act: str | None = None) -> Any:
    """Each step of a sequence as the weighted sum of itself and so many steps behind it, channel by channel.

    >>> row_conv(d2s.ones([1, 3, 2]), 1, d2s.nn.initializer.Constant(1.0)).tolist()
    [[[2.0, 2.0], [2.0, 2.0], [1.0, 1.0]]]
    """
    shape = tensor_type(input, "row_conv", "input").shape
    if len(shape) != 3:
        raise ShapeError("D2S0002", f"row_conv(): 'input' has shape {list(shape)}, expected [batch, steps, channels]")
    channels = known("row_conv", shape[2:])
    weight: Any = Layer("row_conv").create_parameter([future_context_size + 1, channels], param_attr)
    ahead = nn.functional.pad(input, [0, future_context_size], data_format="NLC")
    steps = [ahead[:, k : input.shape[1] + k] for k in range(future_context_size + 1)]
    found = sum((step * weight[k] for k, step in enumerate(steps[1:], 1)), steps[0] * weight[0])
    return activated(found, act)
