"""Normalisation as functions: over the last axes, over the channels of a sample, over a batch, and of vectors.

In: values, weights, biases, and for a batch the running mean and variance. Out: normalised values; running averages are
brought up to date in training.

>>> print(rms_norm(d2s.to_tensor([[3.0, 4.0]]), 2, eps=0.0).numpy().round(2))
[[0.85 1.13]]
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.arguments import expect, number
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.ops.arrange import moveaxis
from d2s.ops.dispatch import current
from d2s.ops.math import pow, square
from d2s.ops.norm import batch_norm_, batch_norm_fixed, group_norm_, layer_norm_
from d2s.ops.pad import pad
from d2s.ops.shape import reshape
from d2s.ops.shapes import extents, tensor_type, uncountable, unnamed, whole_number
from d2s.ops.slices import slice

CHANNELS_LAST = ("NLC", "NHWC", "NDHWC")
CHANNELS_FIRST = ("NC", "NCL", "NCHW", "NCDHW")


def _affine(weight: Any, bias: Any) -> tuple[list[Any], dict[str, bool]]:
    """The tensors that are there, and which they are."""
    return [t for t in (weight, bias) if t is not None], {"weighted": weight is not None, "shifted": bias is not None}


def layer_norm(
    x: Any,
    normalized_shape: int | Sequence[int],
    weight: Any = None,
    bias: Any = None,
    epsilon: float = 1e-5,
    name: str | None = None,
) -> Any:
    """Each line over the last axes, whose extents are `normalized_shape`, brought to mean 0 and variance 1.

    >>> d2s.nn.functional.layer_norm(d2s.to_tensor([[1.0, 3.0]]), 2, epsilon=0.0).tolist()
    [[-1.0, 1.0]]
    """
    return _last_axes("layer_norm", x, normalized_shape, weight, bias, epsilon, True)


def rms_norm(
    input: Any, normalized_shape: int | Sequence[int], weight: Any = None, eps: float = 1e-5, name: str | None = None
) -> Any:
    """Each line over the last axes divided by the root of its mean square.

    >>> d2s.nn.functional.rms_norm(d2s.to_tensor([[1.0, -1.0]]), 2, eps=0.0).tolist()
    [[1.0, -1.0]]
    """
    return _last_axes("rms_norm", input, normalized_shape, weight, None, eps, False)


def _last_axes(name: str, x: Any, wanted: Any, weight: Any, bias: Any, epsilon: float, centred: bool) -> Any:
    shape = list(tensor_type(x, name, "x").shape)
    wanted = extents(wanted if isinstance(wanted, list | tuple) else [wanted], name, "normalized_shape")
    lines = shape[-len(wanted) :] if wanted else []
    unlike = [pair for pair in zip(lines, wanted, strict=False) if pair[0] != pair[1]]
    if unlike and len(lines) == len(wanted) and all(any(map(uncountable, pair)) for pair in unlike):
        if len(unlike) > 1 or not isinstance(unlike[0][1], int) or unlike[0][1] < 1:
            raise unnamed(name, f"whether {lines} are {list(wanted)}")
        lines = list(wanted)
        x = reshape(x, [0] * (len(shape) - len(wanted)) + lines)  # a run finds whether the one extent is that
    if not wanted or lines != list(wanted):
        raise ShapeError("D2S0002", f"{name}(): 'x' has shape {shape}, 'normalized_shape' is {list(wanted)}")
    tensors, which = _affine(_flat(weight, wanted), _flat(bias, wanted))
    found, _, _ = layer_norm_(x, *tensors, dims=len(wanted), centred=centred, epsilon=epsilon, **which)
    return found


def _flat(tensor: Any, line: Sequence[Any]) -> Any:
    """A weight in the shape of a line; Paddle keeps those of several axes as one."""
    return tensor.reshape(line) if tensor is not None and list(tensor.shape) == [math.prod(line)] else tensor


def _channels_last(name: str, data_format: str) -> bool:
    if not isinstance(data_format, str) or data_format not in CHANNELS_LAST + CHANNELS_FIRST:
        listed = ", ".join(CHANNELS_FIRST + CHANNELS_LAST)
        raise ArgumentError("D2S0004", f"{name}(): 'data_format' is {brief(data_format)}, expected one of {listed}")
    return data_format in CHANNELS_LAST


def group_norm(
    x: Any,
    num_groups: int,
    epsilon: float = 1e-5,
    weight: Any = None,
    bias: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The channels of each sample, in so many groups, brought to mean 0 and variance 1.

    >>> d2s.nn.functional.group_norm(d2s.to_tensor([[1.0, 3.0, 5.0, 9.0]]), 2, epsilon=0.0).tolist()
    [[-1.0, 1.0, -1.0, 1.0]]
    """
    last = _channels_last("group_norm", data_format)
    num_groups = whole_number(num_groups, "group_norm", "num_groups")
    tensors, which = _affine(weight, bias)
    found, _, _ = group_norm_(moveaxis(x, -1, 1) if last else x, *tensors, groups=num_groups, epsilon=epsilon, **which)
    return moveaxis(found, 1, -1) if last else found


def instance_norm(
    x: Any,
    running_mean: Any = None,
    running_var: Any = None,
    weight: Any = None,
    bias: Any = None,
    use_input_stats: bool = True,
    momentum: float = 0.9,
    eps: float = 1e-5,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Each channel of each sample brought to mean 0 and variance 1, or without `use_input_stats` by what is given.

    >>> d2s.nn.functional.instance_norm(d2s.to_tensor([[[1.0, 3.0]]]), eps=0.0).tolist()
    [[[-1.0, 1.0]]]
    """
    last = _channels_last("instance_norm", data_format)
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps, data_format)
    shape = tensor_type(x, "instance_norm", "x").shape
    if len(shape) < 2:
        raise ShapeError("D2S0002", f"instance_norm(): 'x' has shape {list(shape)}, expected at least 2 axes")
    channels: Any = shape[-1 if last else 1]
    return group_norm(x, channels, eps, weight, bias, data_format)


def batch_norm(
    x: Any,
    running_mean: Any,
    running_var: Any,
    weight: Any = None,
    bias: Any = None,
    training: bool = False,
    momentum: float = 0.9,
    epsilon: float = 1e-5,
    data_format: str = "NCHW",
    use_global_stats: bool | None = None,
    name: str | None = None,
) -> Any:
    """Each channel brought to mean 0 and variance 1: those of the batch in training, else the running ones.

    In training the running ones are moved towards those of the batch: `momentum` of them stays.

    >>> mean, variance = d2s.to_tensor([0.0]), d2s.to_tensor([1.0])
    >>> d2s.nn.functional.batch_norm(d2s.to_tensor([[1.0], [3.0]]), mean, variance, training=True, epsilon=0.0).tolist()
    [[-1.0], [1.0]]
    >>> print(mean.numpy(), variance.numpy())
    [0.2] [1.]
    """
    channel = x.ndim - 1 if _channels_last("batch_norm", data_format) else 1
    tensors, which = _affine(weight, bias)
    settings = {"channel": channel, "epsilon": epsilon} | which
    fixed = not training if use_global_stats is None else use_global_stats
    if fixed:
        return batch_norm_fixed(x, running_mean, running_var, *tensors, **settings)
    found, means, variances = batch_norm_(x, *tensors, **settings)
    _move(running_mean, means, momentum)
    _move(running_var, variances, momentum)
    return found


def _move(average: Any, new: Any, momentum: float) -> None:
    """A running average, of which `momentum` stays."""
    moved = average * momentum + new * (1 - momentum)
    handler = current()
    if hasattr(handler, "assign"):
        handler.assign(average, moved)  # each run of a declared program moves it
    else:
        average.set_value(moved)


_END = 1 << 62  # behind that of any axis


def local_response_norm(
    x: Any,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    k: float = 1.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Values divided by a power of the mean square of so many neighbouring channels.

    >>> d2s.nn.functional.local_response_norm(d2s.to_tensor([[[2.0]]]), 1, alpha=1.0, beta=1.0, data_format="NCL").tolist()
    [[[0.4000000059604645]]]
    """
    shape = tensor_type(x, "local_response_norm", "x").shape
    if len(shape) < 3:
        raise ShapeError("D2S0002", f"local_response_norm(): 'x' has shape {list(shape)}, expected three axes or more")
    axis = x.ndim - 1 if _channels_last("local_response_norm", data_format) else 1
    expect("local_response_norm", "size", size, int, "an int")
    widths = [(size // 2, (size - 1) // 2) if a == axis else (0, 0) for a in range(x.ndim)]
    squares = pad(square(x), [n for pair in widths for n in pair])
    parts = [slice(squares, [axis], [n], [n + 1 - size or _END]) for n in range(size)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return x / pow(total * (number("local_response_norm", "alpha", alpha) / size) + k, beta)
