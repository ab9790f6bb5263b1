"""Signals, pictures and volumes brought to another size, as functions and as layers.

In: [batch, channels, spatial axes], or channels last, and sizes or factors. Out: the same axes, of other extents.

>>> interpolate(d2s.to_tensor([[[1.0, 3.0]]]), size=[3], mode="linear", align_corners=True).tolist()
[[[1.0, 2.0, 3.0]]]
"""

from typing import Any

from d2s.arguments import number, one_of
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.extents import Extent
from d2s.nn.layer import Layer
from d2s.nn.pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from d2s.ops import windows
from d2s.ops.arrange import transpose
from d2s.ops.op import flag
from d2s.ops.open_shapes import Asked, asked
from d2s.ops.resize import SCALED, resized, resized_to
from d2s.ops.shapes import tensor_type, unnamed, whole_numbers
from d2s.types import Dim

RANKS = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,), "nearest": (3, 4, 5), "area": (3, 4, 5)}
CURVES = {"nearest": "nearest", "bicubic": "cubic"}
FORMATS = {3: ("NCW", "NWC", "NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
POOLS: dict[int, Any] = {3: adaptive_avg_pool1d, 4: adaptive_avg_pool2d, 5: adaptive_avg_pool3d}


def interpolate(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
    name: str | None = None,
) -> Any:
    """x with spatial axes of a `size`, or so many times as long.

    By `mode` a value is the "nearest", the mean of an "area", or lies between others on lines ("linear", "bilinear",
    "trilinear", by the number of axes) or on cubic curves ("bicubic").

    With `align_corners`, the first and last values stay where they are. Otherwise values stand in the middle of cells
    (`align_mode` 0) or at their beginning (1).

    >>> d2s.nn.functional.interpolate(d2s.ones([1, 2, 3, 4]), scale_factor=2).shape
    [1, 2, 6, 8]
    """
    shape = tensor_type(x, "interpolate", "x").shape
    _check(mode, len(shape), align_corners, align_mode, antialias)
    layout = FORMATS[len(shape)][0] if data_format is None else data_format
    one_of("interpolate", "data_format", layout, FORMATS[len(shape)])
    there, back = windows.order(len(shape) - 2, layout.endswith("C"))
    x = transpose(x, there) if there else x
    have = tensor_type(x, "interpolate", "x").shape[2:]
    sizes, scales = _sizes(have, size, scale_factor)
    if mode == "area" and any(isinstance(d, Asked) or d == SCALED for d in sizes):
        raise unnamed("interpolate", "the size of an 'area'")
    found = POOLS[len(shape)](x, sizes) if mode == "area" else _along_all(x, sizes, scales, mode, align_corners, align_mode)
    return transpose(found, back) if back else found


def _check(mode: Any, rank: int, align_corners: Any, align_mode: Any, antialias: Any) -> None:
    one_of("interpolate", "mode", mode, RANKS)
    if rank not in RANKS[mode]:
        wanted = " or ".join(map(str, RANKS[mode]))
        raise ShapeError("D2S0002", f"interpolate(): 'x' has {rank} axes, by {mode!r} expected {wanted}")
    if flag(align_corners, "align_corners") and mode in ("nearest", "area"):
        message = f"interpolate(): 'align_corners' is {align_corners} with {mode!r}"
        raise ArgumentError("D2S0004", message, hint="modes linear, bilinear, bicubic, trilinear")
    if not isinstance(align_mode, int) or align_mode not in (0, 1):
        raise ArgumentError("D2S0004", f"interpolate(): 'align_mode' is {brief(align_mode)}, expected 0 or 1")
    if flag(antialias, "antialias"):
        raise ArgumentError("D2S0004", "interpolate(): 'antialias' is not there yet", hint="antialias=False")


def _sizes(have: tuple[Dim, ...], size: Any, scale_factor: Any) -> tuple[list[Any], list[float]]:
    """The extents of the result, and the factors they were given by, 0 where they were not."""
    if (size is None) == (scale_factor is None):
        raise ArgumentError("D2S0004", "interpolate(): one of 'size' and 'scale_factor' is to be given, and not both")
    if size is not None:
        sizes = [*(asked(size, "interpolate") or whole_numbers(size, "interpolate", "size"))]
        sizes = sizes * len(have) if len(sizes) == 1 and isinstance(size, int) else sizes
        if len(sizes) != len(have) or any(not isinstance(d, Asked) and d < 1 for d in sizes):
            raise ArgumentError("D2S0004", f"interpolate(): 'size' is {brief(size)}, expected {len(have)} numbers from 1")
        return sizes, [0.0] * len(have)
    many = list(scale_factor) if isinstance(scale_factor, list | tuple) else [scale_factor] * len(have)
    scales = [number("interpolate", "scale_factor", s) for s in many]
    if len(scales) != len(have) or not min(scales) > 0:
        wanted = f"expected a number above 0, or {len(have)} of them"
        raise ArgumentError("D2S0004", f"interpolate(): 'scale_factor' is {brief(scale_factor)}, {wanted}")
    return [_scaled(n, s) for n, s in zip(have, scales, strict=True)], scales


def _scaled(have: Dim, scale: float) -> int:
    if isinstance(have, Extent):
        return have.computed(f" times {scale}", lambda n: _scaled(n, scale))  # type: ignore[no-any-return]
    if isinstance(have, str):
        return SCALED
    found = int(have * scale)
    if found < 1:
        raise ShapeError("D2S0002", f"interpolate(): {scale} times {have} values are none")
    return found


def _along_all(x: Any, sizes: list[Any], scales: list[float], mode: str, align_corners: bool, align_mode: int) -> Any:
    """Axis by axis, the last one first."""
    halves = mode == "bicubic" or (mode != "nearest" and align_mode == 0)
    places = "corners" if align_corners else "halves" if halves else "whole"
    curve = CURVES.get(mode, "linear")
    for k in reversed(range(len(sizes))):
        if isinstance(sizes[k], Asked):
            x = resized_to(x, sizes[k].count, 2 + k, curve, places, (sizes[k].dim,))
        else:
            x = resized(x, 2 + k, sizes[k], curve, places, 0.0 if align_corners and sizes[k] != SCALED else scales[k])
    return x


def upsample(
    x: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool = False,
    align_mode: int = 0,
    data_format: str | None = None,
    name: str | None = None,
) -> Any:
    """`interpolate` under another name.

    >>> d2s.nn.functional.upsample(d2s.ones([1, 2, 3, 4]), size=[6, 5]).shape
    [1, 2, 6, 5]
    """
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


class Upsample(Layer):
    """`functional.interpolate` as a layer.

    >>> d2s.nn.Upsample(scale_factor=2, mode="bilinear")(d2s.ones([1, 2, 3, 4])).shape
    [1, 2, 6, 8]
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool = False,
        align_mode: int = 0,
        data_format: str | None = None,
        recompute_scale_factor: bool | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners, self.align_mode, self.data_format = align_corners, align_mode, data_format

    def forward(self, x: Any) -> Any:
        how = (self.mode, self.align_corners, self.align_mode, self.data_format)
        return interpolate(x, self.size, self.scale_factor, *how)

    def extra_repr(self) -> str:
        first = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        corners = f"align_corners={self.align_corners}, align_mode={self.align_mode}"
        return f"{first}, mode={self.mode}, {corners}, data_format={self.data_format}"


class _Upsampling2D(Layer):
    """Pictures of another size, in one way."""

    mode: str
    align_corners: bool

    def __init__(self, size: Any = None, scale_factor: Any = None, data_format: str = "NCHW", name: str | None = None) -> None:
        super().__init__()
        self.size, self.scale_factor, self.data_format = size, scale_factor, data_format

    def forward(self, x: Any) -> Any:
        return interpolate(x, self.size, self.scale_factor, self.mode, self.align_corners, 0, self.data_format)

    def extra_repr(self) -> str:
        first = f"size={self.size}" if self.scale_factor is None else f"scale_factor={self.scale_factor}"
        return f"{first}, data_format={self.data_format}"


class UpsamplingNearest2D(_Upsampling2D):
    """Pictures of another size, by the nearest value.

    >>> d2s.nn.UpsamplingNearest2D(scale_factor=2)
    UpsamplingNearest2D(scale_factor=2, data_format=NCHW)
    """

    mode, align_corners = "nearest", False


class UpsamplingBilinear2D(_Upsampling2D):
    """Pictures of another size, by lines between values, whose corners stay where they are.

    >>> d2s.nn.UpsamplingBilinear2D(size=[2, 2])
    UpsamplingBilinear2D(size=[2, 2], data_format=NCHW)
    """

    mode, align_corners = "bilinear", True
