"""Pictures and volumes read at places that a grid says, and grids of affine maps.

A grid holds places from -1 to 1 along each spatial axis, the last axis first: with `align_corners` these are the first and the
last value, otherwise the outer edges of their cells.

>>> same = d2s.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
>>> x = d2s.to_tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
>>> grid_sample(x, affine_grid(same, [1, 1, 2, 2])).tolist()
[[[[1.0, 2.0], [3.0, 4.0]]]]
"""

import itertools
from typing import Any

from d2s.arguments import one_of
from d2s.errors import ShapeError
from d2s.ops.along_axis import take_along_axis
from d2s.ops.compare import cast, greater_equal, less_equal, where
from d2s.ops.create import linspace, ones
from d2s.ops.expand import broadcast_tensors
from d2s.ops.extremes import clip, minimum
from d2s.ops.join import stack
from d2s.ops.logic import logical_and
from d2s.ops.math import abs, floor_divide
from d2s.ops.matmul import matmul
from d2s.ops.op import flag
from d2s.ops.rounding import floor, round
from d2s.ops.shape import flatten, reshape, unsqueeze
from d2s.ops.shapes import extents, tensor_type, uncountable, unnamed
from d2s.ops.slicing import unbind

MODES, PADDINGS = ("bilinear", "nearest"), ("zeros", "border", "reflection")


def affine_grid(theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """The places that affine maps of [batch, 2, 3] (or of volumes [batch, 3, 4]) take those of a picture of a shape to.

    >>> d2s.nn.functional.affine_grid(d2s.to_tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]), [1, 1, 1, 2]).tolist()
    [[[[-1.0, 0.0], [1.0, 0.0]]]]
    """
    held, size = tensor_type(theta, "affine_grid", "theta"), extents(out_shape, "affine_grid", "out_shape")
    spatial = len(size) - 2
    if spatial not in (2, 3) or held.shape[1:] != (spatial, spatial + 1) or held.shape[0] != size[0]:
        message = f"affine_grid(): 'theta' is {held}, 'out_shape' is {list(size)}"
        raise ShapeError("D2S0002", message, hint="[batch, 2, 3] with 4 extents, or [batch, 3, 4] with 5")
    inner = [d for d in size[2:] if isinstance(d, int)]
    if len(inner) != spatial:
        raise unnamed("affine_grid", f"the extents {list(size[2:])}")
    axes = [
        _line(n, align_corners, held.dtype).reshape([-1 if k == a else 1 for k in range(spatial)]) for a, n in enumerate(inner)
    ]
    places = stack([*reversed(broadcast_tensors(axes)), ones(inner, held.dtype)], spatial)
    found = matmul(reshape(places, [1, -1, spatial + 1]), theta, False, True)
    return reshape(found, [found.shape[0], *inner, spatial])


def _line(count: int, align_corners: bool, dtype: Any) -> Any:
    """Places along an axis; of a single one, 0."""
    if count == 1:
        return linspace(0.0, 0.0, 1, dtype)
    end = 1.0 if align_corners else 1.0 - 1.0 / count
    return linspace(-end, end, count, dtype)


def grid_sample(
    x: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Any:
    """x [batch, channels, spatial axes] at the places of a grid [batch, spatial axes of the result, places].

    By `mode` between the values around a place, or the nearest. What lies outside is 0 ("zeros"), the value at the edge
    ("border"), or what a mirror at the edge shows ("reflection").

    >>> x, grid = d2s.to_tensor([[[[1.0, 3.0]]]]), d2s.to_tensor([[[[0.0, 0.0]]]])
    >>> d2s.nn.functional.grid_sample(x, grid).tolist()
    [[[[2.0]]]]
    """
    shape, places = tensor_type(x, "grid_sample", "x").shape, tensor_type(grid, "grid_sample", "grid").shape
    one_of("grid_sample", "mode", mode, MODES)
    one_of("grid_sample", "padding_mode", padding_mode, PADDINGS)
    align_corners = flag(align_corners, "align_corners")
    spatial = len(shape) - 2
    if places[:1] != shape[:1] and any(map(uncountable, (*places[:1], *shape[:1]))):
        raise unnamed("grid_sample", f"whether {places[0]} places are for {shape[0]} pictures")
    if spatial not in (2, 3) or len(places) != spatial + 2 or places[-1] != spatial or places[0] != shape[0]:
        message = f"grid_sample(): 'x' has shape {list(shape)}, 'grid' has {list(places)}"
        raise ShapeError("D2S0002", message, hint="[batch, channels, h, w] and [batch, ..., ..., 2]; of volumes 5 axes and 3")
    sizes = [d for d in shape[2:] if isinstance(d, int)]
    if len(sizes) != spatial:
        raise unnamed("grid_sample", f"the extents {list(shape[2:])}")
    if min(sizes) < 1:
        raise ShapeError("D2S0002", f"grid_sample(): 'x' has shape {list(shape)}, expected spatial axes that are not empty")
    coordinates = [
        _inside(_laid(c, n, align_corners), n, padding_mode, align_corners)
        for c, n in zip(reversed(unbind(grid, -1)), sizes, strict=True)
    ]
    return (_nearest if mode == "nearest" else _between)(x, coordinates, sizes)


def _laid(places: Any, size: int, align_corners: bool) -> Any:
    """Places from -1 to 1 as indices."""
    return (places + 1.0) * ((size - 1) / 2) if align_corners else ((places + 1.0) * size - 1.0) / 2.0


def _inside(at: Any, size: int, padding_mode: str, align_corners: bool) -> Any:
    """Indices that are inside: the edge, or as a mirror shows them; unchanged for zeros around."""
    if padding_mode == "zeros":
        return at
    if padding_mode == "reflection":
        at = _mirrored(at, size, align_corners)
    return clip(at, 0.0, float(size - 1))


def _mirrored(at: Any, size: int, align_corners: bool) -> Any:
    edge = 0.0 if align_corners else 0.5
    span = float(2 * (size - 1) if align_corners else 2 * size)
    if span == 0:
        return at * 0.0
    far = abs(at + edge)
    rest = far - floor_divide(far, span) * span
    return minimum(rest, span - rest) - edge


def _read(x: Any, indices: list[Any], sizes: list[int]) -> Any:
    """x at whole indices, 0 where these are outside."""
    flat: Any = None
    inside: Any = None
    for at, size in zip(indices, sizes, strict=True):
        fits = logical_and(greater_equal(at, 0.0), less_equal(at, float(size - 1)))
        inside = fits if inside is None else logical_and(inside, fits)
        step = cast(clip(at, 0.0, float(size - 1)), "int64")
        flat = step if flat is None else flat * size + step
    found = take_along_axis(flatten(x, 2), unsqueeze(flatten(flat, 1), 1), 2)
    return where(unsqueeze(inside, 1), reshape(found, [flat.shape[0], x.shape[1], *flat.shape[1:]]), 0.0)


def _nearest(x: Any, coordinates: list[Any], sizes: list[int]) -> Any:
    return _read(x, [round(at) for at in coordinates], sizes)


def _between(x: Any, coordinates: list[Any], sizes: list[int]) -> Any:
    """The sum of the values at the corners around each place, by how near they are."""
    lows = [floor(at) for at in coordinates]
    shares = [at - low for at, low in zip(coordinates, lows, strict=True)]
    total = None
    for corner in itertools.product((0, 1), repeat=len(sizes)):
        weight = None
        for share, far in zip(shares, corner, strict=True):
            part = share if far else 1.0 - share
            weight = part if weight is None else weight * part
        value = _read(x, [low + float(far) for low, far in zip(lows, corner, strict=True)], sizes) * unsqueeze(weight, 1)
        total = value if total is None else total + value
    return total
