"""Convolutions as users call them, in Paddle's spellings. In: tensors, windows in any of their forms, a layout. Out: a tensor.

Channels are the second axis for the kernels; where they are the last, axes are transposed before and after.

>>> x, weight = d2s.ones([1, 2, 5, 5]), d2s.ones([3, 2, 3, 3])
>>> conv2d(x, weight, padding="SAME").shape, conv2d_transpose(x, d2s.ones([2, 3, 3, 3]), stride=2).shape
([1, 3, 5, 5], [1, 3, 11, 11])
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, ShapeError
from d2s.ops import windows
from d2s.ops.arrange import transpose
from d2s.ops.conv import SAME, conv_, conv_transpose_
from d2s.ops.shapes import tensor_type, unnamed
from d2s.types import Shape


def _axes(x: Any, rank: int, name: str, argument: str = "x") -> Shape:
    """The shape of an argument that has a batch or filters, channels, and so many axes more."""
    shape = tensor_type(x, name, argument).shape
    if len(shape) != rank + 2:
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(shape)}, expected {rank + 2} axes")
    return shape


def laid(x: Any, perm: Sequence[int]) -> Any:
    """The axes in another order, where there is another."""
    return transpose(x, tuple(perm)) if perm else x


def _conv(name: str, data_format: Any, x: Any, weight: Any, bias: Any, padding: Any, **attrs: Any) -> Any:
    rank = int(name[4])
    _axes(x, rank, name)
    last = windows.layout(data_format, rank, name)
    there, back = windows.order(rank, last)
    biases = () if bias is None else (bias,)
    return laid(conv_(laid(x, there), weight, *biases, padding=windows.written(padding, rank, last, name), **attrs), back)


def _transposed(
    name: str, data_format: Any, x: Any, weight: Any, bias: Any, padding: Any, more: Any, size: Any, **attrs: Any
) -> Any:
    rank = int(name[4])
    _axes(x, rank, name)
    last = windows.layout(data_format, rank, name)
    there, back = windows.order(rank, last)
    x, biases = laid(x, there), () if bias is None else (bias,)
    have = tensor_type(x, name, "x").shape[2:]
    kernel = windows.known(name, _axes(weight, rank, name, "weight")[2:], "the size of the filters")
    found = windows.attributes(name, have, kernel, padding=windows.written(padding, rank, last, name), **attrs)
    pads, sizes = _size(name, have, kernel, found, more, size)
    return laid(conv_transpose_(x, weight, *biases, **found | {"padding": pads}, size=sizes), back)


def _size(name: str, have: Any, kernel: Any, attrs: dict[str, Any], more: Any, size: Any) -> tuple[Any, Any]:
    """The padding and the extents of the result: of those a convolution brings to the extents of x, the wanted ones."""
    rank = len(have)
    longer = windows.each(more, rank, name, "output_padding", 0)
    if size is not None and any(longer):
        raise ArgumentError("D2S0004", f"{name}(): 'output_size' and 'output_padding' are both given")
    wanted = None if size is None else windows.each(size, rank, name, "output_size", 1)
    pads, sizes = list(attrs["padding"]), []
    for a in range(rank):
        stride, dilation, reach = attrs["stride"][a], attrs["dilation"][a], attrs["dilation"][a] * (kernel[a] - 1) + 1
        before, behind = attrs["padding"][2 * a : 2 * a + 2]
        if longer[a] and longer[a] >= max(stride, dilation):
            less = f"expected less than the stride {stride} or the dilation {dilation}"
            raise ArgumentError("D2S0004", f"{name}(): 'output_padding' is {list(longer)}, {less}")
        if longer[a] >= stride:
            pads[2 * a + 1] -= longer[a]
        if isinstance(have[a], str):
            sizes.append(_least_and(name, longer[a] if longer[a] < stride else 0, wanted))
            continue
        least = (have[a] - 1) * stride + reach - before - behind
        sizes.append(least + longer[a] if wanted is None else wanted[a])
        if wanted is not None and not least <= sizes[-1] < least + stride:
            taken = f"{least}" if stride == 1 else f"{least} to {least + stride - 1}"
            raise ShapeError(
                "D2S0002", f"{name}(): 'output_size' is {list(wanted)}, along axis {windows.AXES[rank][a]} {taken} fits"
            )
    return tuple(pads), tuple(sizes)


def _least_and(name: str, longer: int, wanted: Any) -> int:
    """Of an open axis: the least extent, and so much more."""
    if wanted is not None:
        raise unnamed(name, f"whether {list(wanted)} fits")
    return SAME - longer


def conv1d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """Filters slid along the last axis of [batch, channels, length]; the weight is [filters, channels / groups, taps].

    >>> conv1d(d2s.to_tensor([[[1.0, 2.0, 3.0]]]), d2s.to_tensor([[[1.0, 1.0]]]), padding=[0, 1]).tolist()
    [[[3.0, 5.0, 3.0]]]
    """
    return _conv("conv1d", data_format, x, weight, bias, padding, stride=stride, dilation=dilation, groups=groups)


def conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Filters slid over the last two axes of [batch, channels, height, width]; the weight is [filters, channels / groups, ...].

    `padding` is one number, one per axis, two per axis, a pair for each of the four axes, 'SAME' or 'VALID'.

    >>> conv2d(d2s.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), d2s.to_tensor([[[[1.0, 1.0]]]])).tolist()
    [[[[3.0], [7.0]]]]
    """
    return _conv("conv2d", data_format, x, weight, bias, padding, stride=stride, dilation=dilation, groups=groups)


def conv3d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Filters slid over the last three axes of [batch, channels, depth, height, width].

    >>> conv3d(d2s.to_tensor([[[[[1.0, 2.0]]]]]), d2s.to_tensor([[[[[3.0]]]]])).tolist()
    [[[[[3.0, 6.0]]]]]
    """
    return _conv("conv3d", data_format, x, weight, bias, padding, stride=stride, dilation=dilation, groups=groups)


def conv1d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCL",
    name: str | None = None,
) -> Any:
    """Every element of x times a filter, laid `stride` apart and added: the weight is [channels, filters / groups, taps].

    `output_size` chooses among the lengths a convolution brings to that of x; `output_padding` is how much more than the least.

    >>> conv1d_transpose(d2s.to_tensor([[[1.0, 2.0]]]), d2s.to_tensor([[[10.0, 1.0]]])).tolist()
    [[[10.0, 21.0, 2.0]]]
    """
    attrs = {"stride": stride, "dilation": dilation, "groups": groups}
    return _transposed("conv1d_transpose", data_format, x, weight, bias, padding, output_padding, output_size, **attrs)


def conv2d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    output_size: Any = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Every element of x times a filter, laid `stride` apart and added: the weight is [channels, filters / groups, ...].

    >>> conv2d_transpose(d2s.to_tensor([[[[1.0, 2.0]]]]), d2s.to_tensor([[[[1.0]]]]), stride=[1, 2]).tolist()
    [[[[1.0, 0.0, 2.0]]]]
    """
    attrs = {"stride": stride, "dilation": dilation, "groups": groups}
    return _transposed("conv2d_transpose", data_format, x, weight, bias, padding, output_padding, output_size, **attrs)


def conv3d_transpose(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
    output_size: Any = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """Every element of x times a filter, laid `stride` apart and added, over three axes.

    >>> conv3d_transpose(d2s.ones([1, 2, 3, 3, 3]), d2s.ones([2, 1, 3, 3, 3]), stride=2, output_padding=1).shape
    [1, 1, 8, 8, 8]
    """
    attrs = {"stride": stride, "dilation": dilation, "groups": groups}
    return _transposed("conv3d_transpose", data_format, x, weight, bias, padding, output_padding, output_size, **attrs)
