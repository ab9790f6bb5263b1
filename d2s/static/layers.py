"""Layers as calls: parameters are declared on the way, and the startup program gives them their first values.

In: variables and sizes. Out: variables.

>>> d2s.enable_static()
>>> with d2s.static.program_guard(d2s.static.Program(), d2s.static.Program()):
...     x = d2s.static.data("x", [None, 8])
...     print(d2s.static.nn.fc(x, 3).shape)
[-1, 3]
>>> d2s.disable_static()
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import memory, types, unique_name
from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.nn.initializer import Constant, Initializer, Normal, begin
from d2s.nn.layer import Layer
from d2s.nn.norm import batch_norm as normalised
from d2s.nn.parameter import ParamAttr
from d2s.ops.shape import reshape
from d2s.ops.shapes import tensor_type
from d2s.static.program import declaring
from d2s.types import Dim


def known(function: str, extents: Sequence[Dim]) -> int:
    """The product of extents that a parameter's shape is made of."""
    if any(isinstance(d, str) for d in extents):
        raise ArgumentError("D2S0004", f"{function}(): a parameter's extent would be open", hint="give it in static.data()")
    return math.prod(int(d) for d in extents)


def channels_of(function: str, input: Any, layout: Any = "NC", argument: str = "input") -> Any:
    """The extent of the axis of channels, as the letters of a layout say."""
    expect(function, "data_format", layout, str, "a str")
    shape = tensor_type(input, function, argument).shape
    if len(shape) < 2:
        raise ShapeError("D2S0002", f"{function}(): '{argument}' has shape {list(shape)}, expected at least 2 axes")
    return shape[1 if layout.startswith("NC") else -1]


def _holder(kind: str, name: str | None) -> Layer:
    """What parameters are made with: a name given begins theirs as it is, as in Paddle."""
    expect(kind, "name", name, str | None, "a str")
    layer = Layer(kind)
    if name is not None:
        layer._full_name = name
    return layer


def fc(
    x: Any,
    size: int,
    num_flatten_dims: int = 1,
    weight_attr: Any = None,
    bias_attr: Any = None,
    activation: str | None = None,
    name: str | None = None,
) -> Any:
    """`x @ w + b`, the axes of x from `num_flatten_dims` on as one; of several x the sum, with a list of `weight_attr`s."""
    declaring("fc")
    expect("fc", "size", size, int, "an int")
    layer = _holder("fc", name)
    total = None
    several = list(x) if isinstance(x, list | tuple) else [x]
    attrs = list(weight_attr) if isinstance(weight_attr, list | tuple) else [weight_attr] * len(several)
    if len(attrs) != len(several):
        raise ArgumentError("D2S0004", f"fc(): 'weight_attr' lists {len(attrs)} for {len(several)} inputs")
    for one, attr in zip(several, attrs, strict=True):
        axis = num_flatten_dims % len(one.shape) if num_flatten_dims < 0 else num_flatten_dims
        columns = known("fc", one.shape[axis:])
        weight = layer.create_parameter([columns, size], attr)
        flat = one if len(one.shape) == axis + 1 else reshape(one, [0] * axis + [columns])
        product = functional.linear(flat, weight)
        total = product if total is None else total + product
    bias = layer.create_parameter([size], bias_attr, is_bias=True)
    return activated(total if bias is None else total + bias, activation)


def embedding(
    input: Any,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """The rows of a table that indices name."""
    declaring("embedding")
    weight = Layer("embedding").create_parameter(size, param_attr, dtype)
    return functional.embedding(input, weight, padding_idx)


def _convolution(kind: str, layout: str, doc: str) -> Callable[..., Any]:
    """A convolution as a call, by the name of what `functional` has; `layout` is that of images."""
    axes, compute = len(layout) - 2, getattr(functional, kind)

    def conv(
        input: Any,
        num_filters: int,
        filter_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int | None = None,
        param_attr: Any = None,
        bias_attr: Any = None,
        use_cudnn: bool = True,
        act: str | None = None,
        name: str | None = None,
        data_format: str = layout,
    ) -> Any:
        declaring(kind)
        layer = _holder(kind, name)
        channels = known(kind, [channels_of(kind, input, data_format)])
        window = list(filter_size) if isinstance(filter_size, list | tuple) else [filter_size] * axes
        shape, deviation = [num_filters, channels // (groups or 1), *window], (2.0 / (math.prod(window) * channels)) ** 0.5
        weight = layer.create_parameter(shape, param_attr, default_initializer=Normal(0.0, deviation))
        bias = layer.create_parameter([num_filters], bias_attr, is_bias=True)
        found = compute(input, weight, bias, stride, padding, dilation, groups or 1, data_format)
        return activated(found, act)

    conv.__name__ = conv.__qualname__ = kind
    conv.__doc__ = doc
    return conv


conv2d = _convolution("conv2d", "NCHW", "A convolution over two axes.")
conv3d = _convolution("conv3d", "NCDHW", "A convolution over volumes.")


def batch_norm(
    input: Any,
    act: str | None = None,
    is_test: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    param_attr: Any = None,
    bias_attr: Any = None,
    data_layout: str = "NCHW",
    in_place: bool = False,
    name: str | None = None,
    moving_mean_name: str | None = None,
    moving_variance_name: str | None = None,
    do_model_average_for_mean_and_var: bool = True,
    use_global_stats: bool = False,
) -> Any:
    """Each channel brought to mean 0 and variance 1; clones for tests use the running averages."""
    declaring("batch_norm")
    layer = _holder("batch_norm", name)
    shape = [known("batch_norm", [channels_of("batch_norm", input, data_layout)])]
    scale = layer.create_parameter(shape, param_attr, default_initializer=Constant(1.0))
    bias = layer.create_parameter(shape, bias_attr, is_bias=True)
    running = (
        ParamAttr(moving_mean_name, Constant(0.0), trainable=False),
        ParamAttr(moving_variance_name, Constant(1.0), trainable=False),
    )
    mean, variance = (layer.create_parameter(shape, attr) for attr in running)
    layout = data_layout if len(input.shape) != 2 else "NC"
    fixed = use_global_stats or None
    found = normalised(input, mean, variance, scale, bias, not is_test, momentum, epsilon, layout, fixed)
    return activated(found, act)


def create_parameter(
    shape: Sequence[int],
    dtype: Any = "float32",
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Initializer | None = None,
) -> Any:
    """A parameter of its own.

    >>> d2s.static.create_parameter([2], is_bias=True).tolist()
    [0.0, 0.0]
    """
    expect("create_parameter", "name", name, str | None, "a str")
    found = Layer("create_parameter").create_parameter(shape, attr, dtype, is_bias, default_initializer)
    if found is not None and name is not None:
        found.name = name
    return found


def create_global_var(
    shape: Sequence[int], value: float, dtype: Any, persistable: bool = False, force_cpu: bool = False, name: str | None = None
) -> Tensor:
    """A tensor that lives as long as its program, and begins as one number.

    >>> d2s.static.create_global_var([2], 1.5, "float32").tolist()
    [1.5, 1.5]
    """
    expect("create_global_var", "shape", shape, list | tuple, "a list of ints")
    held = types.dtype(dtype)
    if not all(isinstance(d, int) and d >= 0 for d in shape):
        raise ArgumentError("D2S0004", f"create_global_var(): 'shape' is {brief(shape)}, expected extents")
    memory.check("create_global_var", tuple(shape), held.numpy)
    found = Tensor(np.zeros(tuple(shape), held.numpy))
    found.name = name or unique_name.generate("global_var")
    begin(found, Constant(value))
    return found
