"""Pools as users call them, in Paddle's spellings.

In: a tensor, windows in any of their forms, a layout. Out: a tensor, or (where its places are asked for) two.

>>> x = d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]])
>>> max_pool1d(x, 2).tolist(), adaptive_avg_pool1d(x, 1).tolist()
([[[3.0, 5.0]]], [[[2.75]]])
"""

from typing import Any

from d2s.errors import ArgumentError, ShapeError
from d2s.nn.conv import laid
from d2s.ops import windows
from d2s.ops.op import flag
from d2s.ops.pool import SAME, avg_pool, max_pool, max_pool_with_index
from d2s.ops.shapes import tensor_type


def _ready(name: str, x: Any, padding: Any, data_format: Any) -> tuple[Any, Any, tuple[int, ...]]:
    """x with channels in front, the padding of its other axes, and the way back."""
    rank = int(name[-2])
    shape = tensor_type(x, name, "x").shape
    if len(shape) != rank + 2:
        raise ShapeError("D2S0002", f"{name}(): 'x' has shape {list(shape)}, expected {rank + 2} axes")
    last = windows.layout(data_format, rank, name)
    there, back = windows.order(rank, last)
    return laid(x, there), windows.written(padding, rank, last, name), back


def _greatest(
    name: str, x: Any, kernel: Any, stride: Any, padding: Any, mask: Any, up: Any, data_format: Any = "", size: Any = ()
) -> Any:
    data_format = data_format or f"NC{windows.AXES[int(name[-2])]}"
    x, pads, back = _ready(name, x, padding, data_format)
    if not flag(mask, "return_mask"):
        return laid(max_pool(x, kernel, stride, pads, up, size), back)
    if back:
        raise ArgumentError("D2S0004", f"{name}(): 'return_mask' goes with channels first, 'data_format' is {data_format!r}")
    return max_pool_with_index(x, kernel, stride, pads, up, size)


def _mean(
    name: str, x: Any, kernel: Any, stride: Any, padding: Any, up: Any, exclusive: Any, divisor: Any, data_format: Any = ""
) -> Any:
    rank = int(name[-2])
    x, pads, back = _ready(name, x, padding, data_format or f"NC{windows.AXES[rank]}")
    found = avg_pool(x, kernel, stride, pads, up, (), exclusive)
    if divisor is not None:
        whole = 1
        for k in windows.each(kernel, rank, name, "kernel_size", 1):
            whole *= k
        found = found * whole / divisor
    return laid(found, back)


def _parts(output_size: Any) -> Any:
    """The size of an adaptive pool; None keeps an axis as it is."""
    listed = output_size if isinstance(output_size, list | tuple) else [output_size]
    return tuple(SAME if n is None else n for n in listed)


def _adaptive_mean(name: str, x: Any, output_size: Any, data_format: Any = "") -> Any:
    x, _, back = _ready(name, x, 0, data_format or f"NC{windows.AXES[int(name[-2])]}")
    return laid(avg_pool(x, None, size=_parts(output_size)), back)


def max_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The greatest element of every window; with `return_mask` also its place in its plane.

    >>> max_pool1d(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 3, stride=1, return_mask=True)[1].tolist()
    [[[1, 3]]]
    """
    return _greatest("max_pool1d", x, kernel_size, stride, padding, return_mask, ceil_mode)


def max_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The greatest element of every window; with `return_mask` also its place in its plane.

    >>> max_pool2d(d2s.to_tensor([[[[1.0, 3.0], [2.0, 5.0]]]]), [2, 1]).tolist()
    [[[[2.0, 5.0]]]]
    """
    return _greatest("max_pool2d", x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def max_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    return_mask: bool = False,
    ceil_mode: bool = False,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The greatest element of every window; with `return_mask` also its place in its plane.

    >>> max_pool3d(d2s.ones([1, 2, 4, 4, 5]), 2, ceil_mode=True).shape
    [1, 2, 2, 2, 3]
    """
    return _greatest("max_pool3d", x, kernel_size, stride, padding, return_mask, ceil_mode, data_format)


def avg_pool1d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    exclusive: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
) -> Any:
    """The mean of every window: of what lies inside of x, or (not `exclusive`) of its padding, too.

    >>> avg_pool1d(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2, padding=1).tolist()
    [[[1.0, 2.5, 5.0]]]
    """
    return _mean("avg_pool1d", x, kernel_size, stride, padding, ceil_mode, exclusive, None)


def avg_pool2d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """The mean of every window: of what lies inside of x, or (not `exclusive`) of its padding, too.

    >>> avg_pool2d(d2s.to_tensor([[[[1.0, 3.0], [2.0, 6.0]]]]), 2).tolist()
    [[[[3.0]]]]
    """
    return _mean("avg_pool2d", x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


def avg_pool3d(
    x: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    exclusive: bool = True,
    divisor_override: float | None = None,
    data_format: str = "NCDHW",
    name: str | None = None,
) -> Any:
    """The mean of every window: of what lies inside of x, or (not `exclusive`) of its padding, too.

    >>> avg_pool3d(d2s.ones([1, 2, 4, 4, 4]), 2, padding="SAME").shape
    [1, 2, 2, 2, 2]
    """
    return _mean("avg_pool3d", x, kernel_size, stride, padding, ceil_mode, exclusive, divisor_override, data_format)


def adaptive_avg_pool1d(x: Any, output_size: Any, name: str | None = None) -> Any:
    """The means of so many parts of each axis, as equal as they can be; they may share an element.

    >>> adaptive_avg_pool1d(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2).tolist()
    [[[2.0, 3.5]]]
    """
    return _adaptive_mean("adaptive_avg_pool1d", x, output_size)


def adaptive_avg_pool2d(x: Any, output_size: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The means of so many parts of each axis, as equal as they can be; they may share an element.

    >>> adaptive_avg_pool2d(d2s.ones([1, 2, 5, 7]), [None, 3]).shape
    [1, 2, 5, 3]
    """
    return _adaptive_mean("adaptive_avg_pool2d", x, output_size, data_format)


def adaptive_avg_pool3d(x: Any, output_size: Any, data_format: str = "NCDHW", name: str | None = None) -> Any:
    """The means of so many parts of each axis, as equal as they can be; they may share an element.

    >>> adaptive_avg_pool3d(d2s.ones([1, 2, 5, 7, 4]), 2).shape
    [1, 2, 2, 2, 2]
    """
    return _adaptive_mean("adaptive_avg_pool3d", x, output_size, data_format)


def adaptive_max_pool1d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest elements of so many parts of each axis; with `return_mask` also their places in their planes.

    >>> adaptive_max_pool1d(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2).tolist()
    [[[3.0, 5.0]]]
    """
    return _greatest("adaptive_max_pool1d", x, None, None, 0, return_mask, False, size=_parts(output_size))


def adaptive_max_pool2d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest elements of so many parts of each axis; with `return_mask` also their places in their planes.

    >>> adaptive_max_pool2d(d2s.ones([1, 2, 5, 7]), [None, 3]).shape
    [1, 2, 5, 3]
    """
    return _greatest("adaptive_max_pool2d", x, None, None, 0, return_mask, False, size=_parts(output_size))


def adaptive_max_pool3d(x: Any, output_size: Any, return_mask: bool = False, name: str | None = None) -> Any:
    """The greatest elements of so many parts of each axis; with `return_mask` also their places in their planes.

    >>> adaptive_max_pool3d(d2s.ones([1, 2, 5, 7, 4]), 2, return_mask=True)[1].shape
    [1, 2, 2, 2, 2]
    """
    return _greatest("adaptive_max_pool3d", x, None, None, 0, return_mask, False, size=_parts(output_size))
