"""Functions of `fluid.layers` on images: other sizes, pools, channels.

In: the arguments of then, with the names and defaults of then. Out: what d2s's functions give for them.

>>> resize_nearest(d2s.ones([1, 1, 4, 4]), [2, 3]).shape, pool2d(d2s.ones([1, 1, 4, 4]), 2, pool_stride=2).shape
([1, 1, 2, 3], [1, 1, 2, 2])
"""

from typing import Any

import numpy as np

from d2s.arguments import one_of
from d2s.eager.tensor import to_tensor
from d2s.nn import functional
from d2s.nn.activation import activated
from d2s.ops import gather
from d2s.ops import shape as shapes


def image_resize(
    input: Any,
    out_shape: Any = None,
    scale: Any = None,
    name: str | None = None,
    resample: str = "BILINEAR",
    actual_shape: Any = None,
    align_corners: bool = True,
    align_mode: int = 1,
    data_format: str = "NCHW",
) -> Any:
    """Images of another size."""
    one_of("image_resize", "resample", resample, ("LINEAR", "BILINEAR", "TRILINEAR", "NEAREST", "BICUBIC"))
    if resample == "NEAREST" and align_corners:
        return _nearest(input, out_shape, scale, 2 if data_format == "NCHW" else 1)
    return functional.interpolate(input, out_shape, scale, resample.lower(), align_corners, align_mode, data_format)


def _nearest(input: Any, out_shape: Any, scale: Any, first: int) -> Any:
    """The nearest points where corners lie on corners, as only then."""
    for n, axis in enumerate((first, first + 1)):
        have = input.shape[axis]
        want = int(out_shape[n]) if out_shape is not None else int(have * scale)
        ratio = (have - 1) / (want - 1) if want > 1 else 0.0
        places = np.floor(np.float32(ratio) * np.arange(want, dtype="float32") + np.float32(0.5)).astype("int64")
        input = gather.index_select(input, to_tensor(places), axis)
    return input


def _resized(kind: str, data_format: str) -> Any:
    def resized(
        input: Any,
        out_shape: Any = None,
        scale: Any = None,
        name: str | None = None,
        actual_shape: Any = None,
        align_corners: bool = True,
        align_mode: int = 1,
        data_format: str = data_format,
    ) -> Any:
        return image_resize(input, out_shape, scale, name, kind, actual_shape, align_corners, align_mode, data_format)

    return resized


resize_bilinear, resize_trilinear = _resized("BILINEAR", "NCHW"), _resized("TRILINEAR", "NCDHW")


def resize_nearest(
    input: Any,
    out_shape: Any = None,
    scale: Any = None,
    name: str | None = None,
    actual_shape: Any = None,
    align_corners: bool = True,
    data_format: str = "NCHW",
) -> Any:
    """Images of another size, by their nearest points."""
    return image_resize(input, out_shape, scale, name, "NEAREST", actual_shape, align_corners, 1, data_format)


def image_resize_short(input: Any, out_short_len: int, resample: str = "BILINEAR") -> Any:
    """Images whose shorter side is so long, of the same form."""
    height, width = input.shape[2:]
    short = min(height, width)
    return image_resize(input, [int(d / short * out_short_len + 0.5) for d in (height, width)], resample=resample)


# --- pools -------------------------------------------------------------------------------------------------------------------


def pool2d(
    input: Any,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCHW",
) -> Any:
    """The greatest element, or the mean, of each window or of all."""
    one_of("pool2d", "pool_type", pool_type, ("max", "avg"))
    if global_pooling:
        pool_size, pool_stride, pool_padding = input.shape[2:] if data_format == "NCHW" else input.shape[1:3], 1, 0
    if pool_type == "max":
        return functional.max_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, data_format=data_format)
    return functional.avg_pool2d(input, pool_size, pool_stride, pool_padding, ceil_mode, exclusive, data_format=data_format)


def pool3d(
    input: Any,
    pool_size: Any = -1,
    pool_type: str = "max",
    pool_stride: Any = 1,
    pool_padding: Any = 0,
    global_pooling: bool = False,
    use_cudnn: bool = True,
    ceil_mode: bool = False,
    name: str | None = None,
    exclusive: bool = True,
    data_format: str = "NCDHW",
) -> Any:
    """The greatest element, or the mean, of each box or of all."""
    one_of("pool3d", "pool_type", pool_type, ("max", "avg"))
    if global_pooling:
        pool_size, pool_stride, pool_padding = input.shape[2:] if data_format == "NCDHW" else input.shape[1:4], 1, 0
    if pool_type == "max":
        return functional.max_pool3d(input, pool_size, pool_stride, pool_padding, ceil_mode=ceil_mode, data_format=data_format)
    return functional.avg_pool3d(input, pool_size, pool_stride, pool_padding, ceil_mode, exclusive, data_format=data_format)


# --- channels and places -----------------------------------------------------------------------------------------------------


def lrn(input: Any, n: int = 5, k: float = 1.0, alpha: float = 1e-4, beta: float = 0.75, name: str | None = None) -> Any:
    """Elements by the power of a sum of squares over channels around."""
    return functional.local_response_norm(input, n, alpha * n, beta, k)


def grid_sampler(x: Any, grid: Any, name: str | None = None) -> Any:
    """Values of images at places."""
    return functional.grid_sample(x, grid)


def maxout(x: Any, groups: int, name: str | None = None, axis: int = 1) -> Any:
    """The greatest of each group of channels."""
    return functional.maxout(x, groups, axis)


def shuffle_channel(x: Any, group: int, name: str | None = None) -> Any:
    """Channels in another order."""
    return functional.channel_shuffle(x, group)


def affine_channel(
    x: Any, scale: Any = None, bias: Any = None, data_layout: str = "NCHW", name: str | None = None, act: str | None = None
) -> Any:
    """Each channel by a number, and another more."""
    behind = [1] * (len(x.shape) - 2) if data_layout == "NCHW" else []
    scaled = x if scale is None else x * shapes.reshape(scale, [-1, *behind])
    return activated(scaled if bias is None else scaled + shapes.reshape(bias, [-1, *behind]), act)
