"""Norms, those of singular values among them. In: tensors and axes. Out: one value for each vector or matrix.

>>> norm(d2s.to_tensor([[3.0, 0.0], [0.0, -4.0]]), "nuc").item()
7.0
"""

from typing import Any

from d2s.errors import ArgumentError
from d2s.linalg.factors import svd
from d2s.ops import statistics
from d2s.ops.arrange import moveaxis
from d2s.ops.compare import cast
from d2s.ops.reduce import max, min, sum
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import one_axis, tensor_type

_OF_SINGULAR_VALUES: dict[Any, Any] = {"nuc": sum, 2: max, -2: min}


def norm(x: Any, p: Any = None, axis: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The p-norm of vectors along an axis, or of all elements; along two axes, a norm of matrices.

    p is a number, infinite ones included, or "fro", the root of the sum of squares, which it also is if not given. Of matrices,
    2 and -2 are the largest and the smallest singular value, and "nuc" is the sum of them; other numbers are 1 and infinity.

    >>> x = d2s.to_tensor([[3.0, 0.0], [0.0, -4.0]])
    >>> d2s.linalg.norm(x).item(), d2s.linalg.norm(x, 2, [0, 1]).item()
    (5.0, 4.0)
    """
    rank = len(tensor_type(x, "norm", "x").shape)
    two = list(axis) if isinstance(axis, list | tuple) and len(axis) == 2 else None
    if isinstance(p, str) and p == "nuc" and axis is None and rank == 2:
        two = [0, 1]
    if two is None or not isinstance(p, str | int | float) or p not in _OF_SINGULAR_VALUES:
        return statistics.norm(x, p, axis, keepdim, dtype=dtype)
    rows, columns = (one_axis(a, rank, "norm") for a in two)
    if rows == columns:
        raise ArgumentError("D2S0004", f"norm(): 'axis' names axis {rows} twice")
    matrices = moveaxis(x if dtype is None else cast(x, dtype), [rows, columns], [-2, -1])
    found = _OF_SINGULAR_VALUES[p](svd(matrices)[1], -1)
    return unsqueeze(found, sorted([rows, columns])) if keepdim else found
