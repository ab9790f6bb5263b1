"""Tensors with some places filled: rows, places of a mask, diagonals. In: a tensor and what to put there. Out: a new tensor.

>>> index_fill(d2s.zeros([3]), d2s.to_tensor([0, 2]), 0, 5.0).tolist()
[5.0, 0.0, 5.0]
"""

import builtins
import math
from collections.abc import Iterator
from typing import Any

from d2s.errors import DTypeError, ShapeError
from d2s.ops.compare import cast, where
from d2s.ops.create import number_of
from d2s.ops.dispatch import OPS
from d2s.ops.gather import take_at
from d2s.ops.join import concat
from d2s.ops.op import flag
from d2s.ops.scan import cumsum
from d2s.ops.scatter import put_at
from d2s.ops.shape import flatten, reshape_like
from d2s.ops.shapes import one_axis, tensor_type, unnamed, whole_number
from d2s.ops.slicing import Stretch, columns, set_slice, zero
from d2s.ops.triangle import set_diagonal
from d2s.ops.widened import together
from d2s.types import int64


def index_fill(x: Any, index: Any, axis: int, value: Any) -> Any:
    """x with a number at some places of an axis.

    >>> d2s.index_fill(d2s.zeros([2, 2]), d2s.to_tensor([1]), 1, 5.0).tolist()
    [[0.0, 5.0], [0.0, 5.0]]
    """
    have = tensor_type(x, "index_fill", "x")
    places = tensor_type(index, "index_fill", "index").shape
    if len(places) > 1:
        raise ShapeError("D2S0002", f"index_fill(): 'index' has shape {list(places)}, expected one axis")
    given = number_of(value, have.dtype)
    if tensor_type(given, "index_fill", "value").shape:
        raise ShapeError("D2S0002", "index_fill(): 'value' expects one number")
    return put_at(x, given, flatten(index), axes=(one_axis(axis, len(have.shape), "index_fill"),))


def masked_scatter(x: Any, mask: Any, value: Any) -> Any:
    """x with the elements of `value`, one after the other, where a mask holds; there must be enough of them.

    >>> mask = d2s.to_tensor([False, True, True])
    >>> d2s.masked_scatter(d2s.zeros([3]), mask, d2s.to_tensor([1.0, 2.0, 3.0])).tolist()
    [0.0, 1.0, 2.0]
    """
    have, given = tensor_type(x, "masked_scatter", "x"), tensor_type(value, "masked_scatter", "value")
    if tensor_type(mask, "masked_scatter", "mask").dtype.kind != "b":
        raise DTypeError("D2S0003", "masked_scatter(): 'mask' expects bools")
    if given.dtype is not have.dtype:
        raise DTypeError("D2S0003", f"masked_scatter(): 'value' is {given.dtype.name}, 'x' {have.dtype.name}")
    x, mask = together([x, mask])
    number = where(mask, reshape_like(cumsum(cast(flatten(mask), int64)), mask), 0)
    in_order = concat([flatten(zero(x)), flatten(value)])  # number 0 is what no place of the mask takes
    return where(mask, take_at(in_order, number, axes=(0,)), x)


def fill_diagonal(x: Any, value: Any, offset: int = 0, wrap: bool = False) -> Any:
    """x with a number on its main diagonal, each place of it moved `offset` columns where the row has that column.

    More than two axes have one extent, and the diagonal has all coordinates equal. `wrap`: below a tall matrix's diagonal,
    behind an empty row, another one begins.

    >>> d2s.ops.filling.fill_diagonal(d2s.zeros([2, 3]), 1.0, offset=1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    have = tensor_type(x, "fill_diagonal_", "x")
    by, again = whole_number(offset, "fill_diagonal_", "offset"), flag(wrap, "wrap")
    shape = tuple(_known(d) for d in have.shape)
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        message = f"fill_diagonal_(): 'x' has shape {list(shape)}, expected a matrix or axes of one extent"
        raise ShapeError("D2S0002", message)
    row, number = flatten(x), number_of(value, have.dtype)
    if tensor_type(number, "fill_diagonal_", "value").shape:
        raise ShapeError("D2S0002", "fill_diagonal_(): 'value' expects one number")
    for places in _diagonals(shape, by, again):
        row = set_slice(row, number, *columns((math.prod(shape),), {0: places}))
    return reshape_like(row, x)


def _known(dim: Any) -> int:
    if isinstance(dim, str):
        raise unnamed("fill_diagonal_", f"the extent {dim}")
    return int(dim)


def _diagonals(shape: tuple[int, ...], offset: int, wrap: bool) -> Iterator[Stretch]:
    """The places of each diagonal in the row of all elements."""
    rows, wide = shape[0], shape[1]
    step = builtins.sum(math.prod(shape[k + 1 :]) for k in range(len(shape)))
    below = wide + 1 if len(shape) == 2 and wrap else max(rows, 1)
    for top in range(0, rows, below):
        first, end = max(0, -offset), min(wide, wide - offset, rows - top)
        if first < end:
            yield Stretch(top * wide + first * step + offset, end - first, step)


def fill_diagonal_tensor(x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """x with the rows of y on a diagonal of the matrices two axes make.

    >>> d2s.zeros([2, 2]).fill_diagonal_tensor(d2s.to_tensor([1.0, 2.0])).tolist()
    [[1.0, 0.0], [0.0, 2.0]]
    """
    have, given = tensor_type(x, "fill_diagonal_tensor", "x"), tensor_type(y, "fill_diagonal_tensor", "y")
    if given.dtype is not have.dtype:
        raise DTypeError("D2S0003", f"fill_diagonal_tensor(): 'y' is {given.dtype.name}, 'x' {have.dtype.name}")
    at = OPS["diagonal"].canonical([have], {"offset": offset, "axis1": dim1, "axis2": dim2})
    return set_diagonal(x, y, at["offset"], at["axis1"], at["axis2"])
