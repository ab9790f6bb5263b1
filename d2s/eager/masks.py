"""Places and values that a mask selects: how many there are only the values tell. In a graph a run finds these extents.

In: a tensor, a mask. Out: tensors whose first extent is how often the mask holds.

>>> masked_select(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([False, True])).numpy().tolist()
[2.0]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import memory
from d2s.eager.indexing import known_now
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, DTypeError
from d2s.extents import agree
from d2s.ops.compare import where
from d2s.ops.expand import broadcast_tensors
from d2s.ops.found import finds_places, places_along
from d2s.ops.gather import take_at
from d2s.ops.join import stack
from d2s.ops.recording import Symbolic
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import tensor_type, whole_number
from d2s.types import bool_


def nonzero(x: Any, as_tuple: bool = False) -> Any:
    """The places of all values that are not zero, a row for each; or one tensor for each axis.

    >>> d2s.nonzero(d2s.to_tensor([[0, 5], [7, 0]])).numpy().tolist()
    [[0, 1], [1, 0]]
    """
    if not tensor_type(x, "nonzero", "x").shape:
        raise ArgumentError("D2S0002", "nonzero(): 'x' is 0-D, expected one axis at least")
    if finds_places():
        along = places_along(x if x.dtype is bool_ else x != 0)
        return tuple(along) if as_tuple else unsqueeze(along[0], 1) if len(along) == 1 else stack(along, 1)
    known_now("how many values are not zero")
    found = np.nonzero(x.array)
    return tuple(map(Tensor, found)) if as_tuple else Tensor(np.stack(found, axis=1))


def masked_select(x: Any, mask: Any) -> Any:
    """The values where a mask holds, as one row; the two are brought to one shape first.

    >>> d2s.masked_select(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[True, False], [True, True]])).numpy().tolist()
    [1, 3, 4]
    """
    have, held = tensor_type(x, "masked_select", "x"), tensor_type(mask, "masked_select", "mask")
    if held.dtype.kind != "b":
        raise DTypeError("D2S0003", "masked_select(): 'mask' expects bools")
    values, where = (x, mask) if agree(have.shape, held.shape) else broadcast_tensors([x, mask])
    if finds_places():
        return take_at(values, *places_along(where), axes=tuple(range(len(tensor_type(where, "", "").shape))))
    known_now("how often a mask holds")
    return values[where]


def tril_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The places on and below a diagonal: a row of row numbers, and one of column numbers.

    >>> d2s.tril_indices(2, 2).tolist()
    [[0, 1, 1], [0, 0, 1]]
    """
    return _of_triangle("tril_indices", np.tril_indices, row, col, offset, dtype)


def triu_indices(row: int, col: int | None = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The places on and above a diagonal: a row of row numbers, and one of column numbers.

    >>> d2s.triu_indices(2, 2).tolist()
    [[0, 0, 1], [0, 1, 1]]
    """
    return _of_triangle("triu_indices", np.triu_indices, row, col, offset, dtype)


def _of_triangle(name: str, places: Callable[..., Any], row: Any, col: Any, offset: Any, dtype: Any) -> Tensor:
    rows = whole_number(row, name, "row")
    wide = rows if col is None else whole_number(col, name, "col")
    if min(rows, wide) < 0:
        raise ArgumentError("D2S0004", f"{name}(): {rows} rows of {wide}, expected numbers from 0")
    memory.check(name, (rows, wide, 3), np.dtype("int64"))
    return to_tensor(np.stack(places(rows, whole_number(offset, name, "offset"), wide)), dtype)


@where.rule("besides")
def _(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Without x and y: where it holds, one tensor for each axis."""
    if x is not None or y is not None:
        raise ArgumentError("D2S0004", "where(): 'x' and 'y' are given both, or neither")
    return nonzero(condition, as_tuple=True)


for _function in (nonzero, masked_select):
    for _kind in (Tensor, Symbolic):
        setattr(_kind, _function.__name__, _function)
