"""Functions of `fluid.layers` that move elements: shapes, parts, joins, padding, sorting.

In: the arguments of then, with the names and defaults of then. Out: what d2s's functions give for them.

>>> [part.shape for part in split(d2s.ones([2, 6]), 3)], flatten(d2s.ones([2, 3, 4]), 2).shape
([[2, 2], [2, 2], [2, 2]], [6, 4])
>>> expand(d2s.ones([1, 2]), [3, 2]).shape
[3, 4]
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.compat.old_names import dropout
from d2s.eager import masks
from d2s.errors import ArgumentError
from d2s.nn import functional
from d2s.ops import argmax as extreme
from d2s.ops import arrange, compare, create, gather, join, linalg, rearrange, scan, slices, slicing, sort, triangle
from d2s.ops import expand as spread
from d2s.ops import scatter as scattered
from d2s.ops import shape as shapes

# --- shapes ------------------------------------------------------------------------------------------------------------------


def squeeze(input: Any, axes: Sequence[int], name: str | None = None) -> Any:
    """Without axes of extent 1: those named, or all."""
    return shapes.squeeze(input, list(axes) or None)


def unsqueeze(input: Any, axes: Any, name: str | None = None) -> Any:
    """With axes of extent 1."""
    return shapes.unsqueeze(input, axes)


def flatten(x: Any, axis: int = 1, name: str | None = None) -> Any:
    """A matrix: the axes in front of one are its rows, the others its columns."""
    if axis in (0, x.ndim):
        return shapes.reshape(x, [-1, 1] if axis else [1, -1])
    return shapes.flatten(shapes.flatten(x, axis, -1), 0, axis - 1)


def shape(input: Any) -> Any:
    """The extents, as int32."""
    return compare.cast(rearrange.shape(input), "int32")


def mul(x: Any, y: Any, x_num_col_dims: int = 1, y_num_col_dims: int = 1, name: str | None = None) -> Any:
    """The product of matrices: of both tensors, the axes behind the first few are columns."""
    rows, behind = shapes.flatten(x, x_num_col_dims, -1), list(y.shape[y_num_col_dims:])
    found = linalg.matmul(rows, flatten(y, y_num_col_dims))
    return found if len(behind) == 1 else shapes.unflatten(found, -1, behind)


def expand(x: Any, expand_times: Any, name: str | None = None) -> Any:
    """The tensor, several times along each axis."""
    return spread.tile(x, expand_times)


def expand_as(x: Any, target_tensor: Any, name: str | None = None) -> Any:
    """The tensor, as often along each axis as it fits into another."""
    return spread.tile(x, [to // have for have, to in zip(x.shape, target_tensor.shape, strict=True)])


def transpose(x: Any, perm: Any, name: str | None = None) -> Any:
    """The axes in another order."""
    return arrange.transpose(x, perm)


def reverse(x: Any, axis: Any) -> Any:
    """The elements along axes from the end to the beginning."""
    return arrange.flip(x, axis)


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with these diagonals."""
    return rearrange.diag_embed(input, offset, dim1, dim2)


def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """The elements moved along axes, around the end."""
    return arrange.roll(input, shifts, dims)


def flip(input: Any, dims: Any, name: str | None = None) -> Any:
    """The elements along axes from the end to the beginning."""
    return arrange.flip(input, dims)


def index_select(input: Any, index: Any, dim: int = 0) -> Any:
    """Parts along an axis, by their numbers."""
    return gather.index_select(input, index, dim)


def tril(input: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """What lies on and below a diagonal."""
    return triangle.tril(input, diagonal)


def triu(input: Any, diagonal: int = 0, name: str | None = None) -> Any:
    """What lies on and above a diagonal."""
    return triangle.triu(input, diagonal)


def space_to_depth(x: Any, blocksize: int, name: str | None = None) -> Any:
    """Squares of images as channels."""
    count, channels, height, width = x.shape
    split_up = shapes.reshape(x, [count, channels, height // blocksize, blocksize, width // blocksize, blocksize])
    moved = arrange.transpose(split_up, [0, 3, 5, 1, 2, 4])
    return shapes.reshape(moved, [count, channels * blocksize**2, height // blocksize, width // blocksize])


# --- parts and joins ---------------------------------------------------------------------------------------------------------


def split(input: Any, num_or_sections: Any, dim: int = -1, name: str | None = None) -> Any:
    """Parts along an axis, the last where none is named."""
    return slicing.split(input, num_or_sections, dim)


def stack(x: Any, axis: int = 0) -> Any:
    """Tensors along a new axis."""
    return join.stack(x if isinstance(x, list | tuple) else [x], axis)


def unstack(x: Any, axis: int = 0, num: int | None = None) -> Any:
    """The tensors along an axis."""
    return slicing.unstack(x, axis, num)


def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """A part along axes."""
    return slices.slice(input, axes, starts, ends)


def strided_slice(input: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> Any:
    """Every so many elements of a part."""
    return slices.strided_slice(input, axes, starts, ends, strides)


def crop_tensor(x: Any, shape: Any = None, offsets: Any = None, name: str | None = None) -> Any:
    """A box cut out."""
    wanted = shape.shape if hasattr(shape, "shape") else shape
    return rearrange.crop(x, wanted, offsets)


def gather_rows(input: Any, index: Any, overwrite: bool = True) -> Any:
    """Rows, by their numbers."""
    return gather.gather(input, shapes.flatten(index))


def gather_nd(input: Any, index: Any, name: str | None = None) -> Any:
    """Parts, by the numbers of their first axes."""
    return gather.gather_nd(input, index)


def scatter(input: Any, index: Any, updates: Any, name: str | None = None, overwrite: bool = True) -> Any:
    """Rows put in place of others, or added up there."""
    return scattered.scatter(input, shapes.flatten(index), updates, overwrite)


def scatter_nd_add(ref: Any, index: Any, updates: Any, name: str | None = None) -> Any:
    """Parts added where they are to stand."""
    return scattered.scatter_nd_add(ref, index, updates)


def where(condition: Any) -> Any:
    """The places where it holds."""
    return masks.nonzero(condition)


# --- padding -----------------------------------------------------------------------------------------------------------------


def pad(x: Any, paddings: Sequence[int], pad_value: float = 0.0, name: str | None = None) -> Any:
    """A number around: two extents for each axis."""
    return functional.pad(x, list(paddings), value=pad_value)


_MODES = {"constant": "constant", "reflect": "reflect", "edge": "replicate"}


def pad2d(
    input: Any,
    paddings: Sequence[int] = (0, 0, 0, 0),
    mode: str = "constant",
    pad_value: float = 0.0,
    data_format: str = "NCHW",
    name: str | None = None,
) -> Any:
    """Something around images: above, below, left and right of them."""
    if mode not in _MODES:
        raise ArgumentError("D2S0004", f"pad2d(): 'mode' is {mode!r}", hint=f"one of {', '.join(_MODES)}")
    above, below, left, right = paddings
    return functional.pad(input, [left, right, above, below], _MODES[mode], pad_value, data_format)


def pad_constant_like(x: Any, y: Any, pad_value: float = 0.0, name: str | None = None) -> Any:
    """`y`, grown to the shape of `x`."""
    return pad(y, [side for to, have in zip(x.shape, y.shape, strict=True) for side in (0, to - have)], pad_value)


# --- order, counts, numbers in a row -----------------------------------------------------------------------------------------


def argmax(x: Any, axis: int = 0) -> Any:
    """Where the greatest element along an axis stands."""
    return extreme.argmax(x, axis)


def argmin(x: Any, axis: int = 0) -> Any:
    """Where the least element along an axis stands."""
    return extreme.argmin(x, axis)


def argsort(input: Any, axis: int = -1, descending: bool = False, name: str | None = None) -> tuple[Any, Any]:
    """The elements in order, and where they stood."""
    return sort.sort(input, axis, descending), sort.argsort(input, axis, descending)


def topk(input: Any, k: int, name: str | None = None) -> tuple[Any, Any]:
    """The greatest elements, and where they stand."""
    return sort.topk(input, k)


def cumsum(x: Any, axis: int | None = None, exclusive: bool | None = None, reverse: bool | None = None) -> Any:
    """Sums of what stands in front; without the element itself, or from the end."""
    along = -1 if axis is None else axis
    seen = arrange.flip(x, along) if reverse else x
    found = scan.cumsum(seen, along)
    found = found - seen if exclusive else found
    return arrange.flip(found, along) if reverse else found


def range(start: Any, end: Any, step: Any, dtype: Any, name: str | None = None) -> Any:
    """Numbers in a row."""
    return create.arange(start, end, step, dtype)


def eye(num_rows: int, num_columns: int | None = None, batch_shape: Any = None, dtype: Any = "float32") -> Any:
    """Ones on the diagonal."""
    found = create.eye(num_rows, num_columns, dtype)
    return found if batch_shape is None else spread.tile(found, [*batch_shape, 1, 1])


def diag(diagonal: Any) -> Any:
    """A matrix with that diagonal."""
    return triangle.diag(diagonal)


def one_hot(input: Any, depth: int, allow_out_of_range: bool = False) -> Any:
    """A row with a 1 for each number; the last axis, of extent 1, becomes that row."""
    last = input.shape[-1] == 1
    return functional.one_hot(shapes.squeeze(input, -1) if last else input, depth)


def one_hot_behind(input: Any, depth: int, allow_out_of_range: bool = False) -> Any:
    """A row with a 1 for each number, along a new axis."""
    return functional.one_hot(input, depth)


# --- nets --------------------------------------------------------------------------------------------------------------------


def glu(input: Any, dim: int = -1) -> Any:
    """One half by the sigmoid of the other."""
    return functional.glu(input, dim)


def attention(queries: Any, keys: Any, values: Any, num_heads: int = 1, dropout_rate: float = 0.0) -> Any:
    """`fluid.nets.scaled_dot_product_attention`: products of queries and keys weigh the values."""

    def heads(x: Any) -> Any:
        return arrange.transpose(shapes.reshape(x, [0, 0, num_heads, x.shape[-1] // num_heads]), [0, 2, 1, 3])

    query, key, value = map(heads, (queries, keys, values))
    weights = functional.softmax(linalg.matmul(query * math.sqrt(1 / query.shape[-1]), key, transpose_y=True))
    found = linalg.matmul(dropout(weights, dropout_rate) if dropout_rate else weights, value)
    return shapes.reshape(arrange.transpose(found, [0, 2, 1, 3]), [0, 0, values.shape[-1]])
