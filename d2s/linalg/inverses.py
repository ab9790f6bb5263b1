"""Inverses, determinants and systems of equations, with gradients. In: tensors whose last two axes are matrices. Out: tensors.

>>> solve(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]]), d2s.to_tensor([2.0, 2.0])).tolist()
[1.0, 0.5]
"""

import builtins
from typing import Any

import numpy as np

from d2s.arguments import number
from d2s.errors import ShapeError
from d2s.linalg.factors import svd
from d2s.linalg.inverse import inv
from d2s.linalg.matrices import matrices
from d2s.ops.compare import cast, greater_than, where
from d2s.ops.create import eye, zeros
from d2s.ops.expand import broadcast_to
from d2s.ops.lapack import determinant, known_sizes, pseudo_inverse, signed_log, solved, turned
from d2s.ops.linalg import matmul
from d2s.ops.reduce import max
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import broadcast, tensor_type, whole_number
from d2s.ops.triangle import tril, triu


def slogdet(x: Any) -> Any:
    """The signs of determinants, and behind them the logarithms of their magnitudes: two rows.

    >>> d2s.linalg.slogdet(d2s.to_tensor([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [-1.0, 0.0]
    """
    matrices(x, "slogdet", square=True)
    return signed_log(x)


def det(x: Any) -> Any:
    """The determinants of square matrices.

    >>> d2s.linalg.det(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """
    matrices(x, "det", square=True)
    return determinant(x)


def solve(x: Any, y: Any, left: bool = True) -> Any:
    """What x must be multiplied by to give y, or with left=False what must be multiplied by x; y may be a vector.

    >>> d2s.linalg.solve(d2s.to_tensor([[2.0]]), d2s.to_tensor([[4.0]])).tolist()
    [[2.0]]
    """
    matrices(x, "solve", square=True)
    tensor_type(y, "solve", "y")
    if not left:
        return turned(solve(turned(x), turned(y)))
    column = y.ndim == 1 or (y.ndim == x.ndim - 1 and y.shape == x.shape[:-1])
    right = unsqueeze(y, -1) if column else y
    matrices(right, "solve", argument="y")
    rows, size = (tensor_type(one, "solve", "x").shape[-2] for one in (right, x))
    if isinstance(rows, int) and isinstance(size, int) and rows != size:
        raise ShapeError("D2S0002", f"solve(): 'x' has shape {x.shape}, 'y' has {y.shape}: not as many rows")
    found = solved(_repeated(x, right), _repeated(right, x))
    return squeeze(found, -1) if column else found


def _repeated(x: Any, y: Any) -> Any:
    """Matrices as often as those they meet."""
    of_x, of_y = tensor_type(x, "solve", "x").shape[:-2], tensor_type(y, "solve", "y").shape[:-2]
    broadcast("solve", [of_x, of_y])
    have, others = [1] * (len(of_y) - len(of_x)) + list(of_x), [1] * (len(of_x) - len(of_y)) + list(of_y)
    if len(of_x) == len(have) and all(a == b or b == 1 for a, b in zip(have, others, strict=True)):
        return x
    own, met = [1] * (len(have) - len(of_x)) + x.shape, [1] * (len(others) - len(of_y)) + y.shape
    batch = [n if a == 1 else m for a, m, n in zip(have, own, met, strict=False)]
    return broadcast_to(x, batch + x.shape[-2:])


def triangular_solve(x: Any, y: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False) -> Any:
    """`solve` where only one triangle of x counts, transposed or not, with ones on its diagonal if `unitriangular`.

    >>> x, y = d2s.to_tensor([[2.0, 9.0], [7.0, 4.0]]), d2s.to_tensor([[2.0], [4.0]])
    >>> d2s.linalg.triangular_solve(x, y, upper=False).tolist()
    [[1.0], [-0.75]]
    """
    matrices(x, "triangular_solve", square=True)
    part = triu(x, int(unitriangular)) if upper else tril(x, -int(unitriangular))
    part = part + eye(x.shape[-1], dtype=x.dtype) if unitriangular else part
    return solve(turned(part) if transpose else part, y)


def cholesky_solve(x: Any, y: Any, upper: bool = False) -> Any:
    """`solve` of the matrix whose Cholesky factor is y, for x.

    >>> d2s.linalg.cholesky_solve(d2s.to_tensor([[8.0]]), d2s.to_tensor([[2.0]])).tolist()
    [[2.0]]
    """
    matrices(y, "cholesky_solve", square=True, argument="y")
    half = triangular_solve(y, x, upper, transpose=upper)
    return triangular_solve(y, half, upper, transpose=not upper)


def pinv(x: Any, rcond: float = 1e-15, hermitian: bool = False) -> Any:
    """The inverse of Moore and Penrose: singular values up to `rcond` times the largest count as 0.

    >>> d2s.linalg.pinv(d2s.to_tensor([[2.0, 0.0]])).tolist()
    [[0.5], [0.0]]
    """
    matrices(x, "pinv", square=bool(hermitian))
    return pseudo_inverse(x, number("pinv", "rcond", rcond))


def matrix_power(x: Any, n: int) -> Any:
    """The product of n times the same matrix, of its inverse where n is negative.

    >>> d2s.linalg.matrix_power(d2s.to_tensor([[1.0, 1.0], [0.0, 1.0]]), 3).tolist()
    [[1.0, 3.0], [0.0, 1.0]]
    """
    matrices(x, "matrix_power", square=True)
    power = whole_number(n, "matrix_power", "n")
    square, left = (inv(x), -power) if power < 0 else (x, power)
    found = None
    while left:
        if left & 1:
            found = square if found is None else matmul(found, square)
        left >>= 1
        square = matmul(square, square) if left else square
    nowhere = zeros(x.shape, "bool")
    return where(nowhere, x, eye(x.shape[-1], dtype=x.dtype)) if found is None else found


def matrix_rank(x: Any, tol: float | None = None, hermitian: bool = False) -> Any:
    """How many singular values are above `tol`, which is the rounding of the largest if not given.

    >>> d2s.linalg.matrix_rank(d2s.to_tensor([[1.0, 2.0], [2.0, 4.0]])).item()
    1
    """
    held = matrices(x, "matrix_rank", square=bool(hermitian))
    s = svd(x.detach())[1]
    rounding = float(np.finfo(held.dtype.numpy).eps) * builtins.max(known_sizes("matrix_rank", held))
    limit = max(s, -1, True) * rounding if tol is None else number("matrix_rank", "tol", tol)
    return cast(greater_than(s, limit), "int64").sum(-1)
