"""Functions of `fluid.layers` and `fluid.nets` that make parameters of their own.

In: variables, sizes, the names of then. Out: variables; what learns stands in the program that starts.

>>> layer_norm(d2s.to_tensor([[1.0, 3.0]]), epsilon=0.0).tolist()
[[-1.0, 1.0]]
"""

from collections.abc import Sequence
from typing import Any

from d2s import static
from d2s.compat.dygraph_layers import GRUUnit
from d2s.compat.fluid_images import pool2d
from d2s.compat.old_names import dropout
from d2s.nn import functional
from d2s.ops import join, shape, slicing
from d2s.static.layers import conv3d
from d2s.static.learning import conv2d_transpose, group_norm, instance_norm, layer_norm, prelu

__all__ = ["conv2d_transpose", "conv3d", "group_norm", "instance_norm", "layer_norm", "prelu"]  # as they were, and are


def fc(
    input: Any,
    size: int,
    num_flatten_dims: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    is_test: bool = False,
    name: str | None = None,
) -> Any:
    """A product with a weight of its own; of several inputs, the sum of their products."""
    return static.nn.fc(input, size, num_flatten_dims, param_attr, bias_attr, act, name)


def embedding(
    input: Any,
    size: Sequence[int],
    is_sparse: bool = False,
    is_distributed: bool = False,
    padding_idx: int | None = None,
    param_attr: Any = None,
    dtype: Any = "float32",
) -> Any:
    """A row of a table for each number; the last axis of the numbers has the extent 1 and becomes the row."""
    rows = shape.squeeze(input, -1) if input.shape[-1] == 1 else input
    return static.nn.embedding(rows, size, is_sparse, is_distributed, padding_idx, param_attr, dtype)


def adaptive_pool2d(
    input: Any, pool_size: Any, pool_type: str = "max", require_index: bool = False, name: str | None = None
) -> Any:
    """The greatest element, or the mean, of as many windows as wanted."""
    if pool_type == "max":
        return functional.adaptive_max_pool2d(input, pool_size, require_index)
    return functional.adaptive_avg_pool2d(input, pool_size)


def gru_unit(
    input: Any,
    hidden: Any,
    size: int,
    param_attr: Any = None,
    bias_attr: Any = None,
    activation: str = "tanh",
    gate_activation: str = "sigmoid",
    origin_mode: bool = False,
) -> tuple[Any, Any, Any]:
    """One step of a gated recurrent unit: the next state, what of the old one was let through, the gates."""
    found: tuple[Any, Any, Any] = GRUUnit(size, param_attr, bias_attr, activation, gate_activation, origin_mode)(input, hidden)
    return found


def lstm_unit(
    x_t: Any,
    hidden_t_prev: Any,
    cell_t_prev: Any,
    forget_bias: float = 0.0,
    param_attr: Any = None,
    bias_attr: Any = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """One step of a long short-term memory: the next state and the next cell."""
    size = cell_t_prev.shape[1]
    given = fc(join.concat([x_t, hidden_t_prev], 1), 4 * size, param_attr=param_attr, bias_attr=bias_attr)
    taken, kept, shown, new = slicing.split(given, 4, 1)
    kept = functional.sigmoid(kept + forget_bias)
    cell = kept * cell_t_prev + functional.sigmoid(taken) * functional.tanh(new)
    return functional.sigmoid(shown) * functional.tanh(cell), cell


# --- nets --------------------------------------------------------------------------------------------------------------------


def simple_img_conv_pool(
    input: Any,
    num_filters: int,
    filter_size: Any,
    pool_size: Any,
    pool_stride: Any,
    pool_padding: Any = 0,
    pool_type: str = "max",
    global_pooling: bool = False,
    conv_stride: Any = 1,
    conv_padding: Any = 0,
    conv_dilation: Any = 1,
    conv_groups: int = 1,
    param_attr: Any = None,
    bias_attr: Any = None,
    act: str | None = None,
    use_cudnn: bool = True,
) -> Any:
    """A convolution and a pool."""
    place = conv_stride, conv_padding, conv_dilation, conv_groups
    found = static.nn.conv2d(input, num_filters, filter_size, *place, param_attr, bias_attr, act=act)
    return pool2d(found, pool_size, pool_type, pool_stride, pool_padding, global_pooling)


def img_conv_group(
    input: Any,
    conv_num_filter: Sequence[int],
    pool_size: Any,
    conv_padding: Any = 1,
    conv_filter_size: Any = 3,
    conv_act: str | None = None,
    param_attr: Any = None,
    conv_with_batchnorm: Any = False,
    conv_batchnorm_drop_rate: Any = 0.0,
    pool_stride: Any = 1,
    pool_type: str = "max",
    use_cudnn: bool = True,
) -> Any:
    """Several convolutions, with norms and dropout between, and a pool."""
    count = len(conv_num_filter)
    settings = [conv_padding, conv_filter_size, param_attr, conv_with_batchnorm, conv_batchnorm_drop_rate]
    each = [one if isinstance(one, list | tuple) else [one] * count for one in settings]
    for filters, padding, size, attr, norm, drop in zip(conv_num_filter, *each, strict=True):
        act = None if norm else conv_act
        input = static.nn.conv2d(input, filters, size, padding=padding, param_attr=attr, act=act)
        if norm:
            input = static.nn.batch_norm(input, act=conv_act)
            input = dropout(input, drop) if abs(drop) > 1e-5 else input
    return pool2d(input, pool_size, pool_type, pool_stride)
