"""Inverses, determinants and systems of equations, with gradients. In: tensors whose last two axes are matrices. Out: tensors.

>>> solve(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]]), d2s.to_tensor([2.0, 2.0])).tolist()
[1.0, 0.5]
"""

from typing import Any

import numpy as np

from d2s.arguments import number
from d2s.autodiff.mode import recording
from d2s.eager.py_layer import PyLayer
from d2s.errors import ShapeError
from d2s.linalg.factors import svd
from d2s.linalg.inverse import inv
from d2s.linalg.matrices import by_lapack, matrices, results, saved, tensor, turned
from d2s.ops.compare import cast, greater_than, where
from d2s.ops.create import eye, zeros
from d2s.ops.expand import broadcast_to
from d2s.ops.join import stack
from d2s.ops.linalg import matmul
from d2s.ops.reduce import max
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import broadcast, tensor_type, whole_number
from d2s.ops.triangle import tril, triu


class _Determinant(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        sign, log = map(tensor, np.linalg.slogdet(x.array))
        return sign, log

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        _, g_log = gs
        (x,) = ctx.saved_tensor()
        return unsqueeze(g_log, [-1, -2]) * turned(inv(x))


def slogdet(x: Any) -> Any:
    """The signs of determinants, and behind them the logarithms of their magnitudes: two rows.

    >>> d2s.linalg.slogdet(d2s.to_tensor([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [-1.0, 0.0]
    """
    matrices(x, "slogdet", square=True)
    sign, log = _Determinant.apply(x)
    return stack([sign, log], 0)


class _Volume(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return saved(ctx, (x,), (tensor(np.asarray(np.linalg.det(x.array), x.array.dtype)),))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        (g,) = gs
        (found,), x = results(_Volume, ctx), ctx.saved_tensor()[0]
        if recording() or found.numpy().all():
            return unsqueeze(g * found, [-1, -2]) * turned(inv(x))
        return unsqueeze(g, [-1, -2]) * tensor(_cofactors(x.array))


def _cofactors(array: np.ndarray) -> np.ndarray:
    """The slopes of a determinant, which a singular matrix has, too."""
    u, s, v = by_lapack("det", np.linalg.svd, array)
    size = s.shape[-1]
    others = (
        np.where(np.eye(size, dtype=bool), 1.0, s[..., None, :]).prod(-1) * (np.linalg.det(u) * np.linalg.det(v))[..., None]
    )
    return np.matmul(u * others[..., None, :], v).astype(array.dtype)


def det(x: Any) -> Any:
    """The determinants of square matrices.

    >>> d2s.linalg.det(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """
    matrices(x, "det", square=True)
    return _Volume.apply(x)


class _Solved(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, y: Any) -> Any:
        return saved(ctx, (x, y), (tensor(by_lapack("solve", np.linalg.solve, x.array, y.array)),))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        (g,) = gs
        (found,), x = results(_Solved, ctx), ctx.saved_tensor()[0]
        of_y = solve(turned(x), g)
        return -matmul(of_y, found, False, True), of_y


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
    if right.shape[-2] != x.shape[-1]:
        raise ShapeError("D2S0002", f"solve(): 'x' has shape {x.shape}, 'y' has {y.shape}: not as many rows")
    batch = list(broadcast("solve", [tuple(x.shape[:-2]), tuple(right.shape[:-2])])[0])
    found = _Solved.apply(broadcast_to(x, batch + x.shape[-2:]), broadcast_to(right, batch + right.shape[-2:]))
    return squeeze(found, -1) if column else found


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


class _Pseudo(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, rcond: float) -> Any:
        u, s, v = by_lapack("pinv", lambda a: np.linalg.svd(a, full_matrices=False), x.array)
        kept = s > s.max(-1, keepdims=True, initial=0.0) * rcond
        inverse = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
        ctx.rcond = rcond
        found = np.matmul(np.swapaxes(v, -1, -2) * inverse[..., None, :], np.swapaxes(u, -1, -2))
        return saved(ctx, (x,), (tensor(found),))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        """By Golub and Pereyra: right where singular values are equal, which the gradient of `svd` is not."""
        (g,), x = gs, ctx.saved_tensor()[0]
        found = _Pseudo.apply(x, ctx.rcond) if recording() else ctx.saved_tensor()[1]
        p, back = turned(found), turned(g)
        outside = matmul(back - matmul(x, matmul(found, back)), matmul(found, p))
        inside = matmul(matmul(p, found), back - matmul(back, matmul(found, x)))
        return outside + inside - matmul(matmul(p, g), p)


def pinv(x: Any, rcond: float = 1e-15, hermitian: bool = False) -> Any:
    """The inverse of Moore and Penrose: singular values up to `rcond` times the largest count as 0.

    >>> d2s.linalg.pinv(d2s.to_tensor([[2.0, 0.0]])).tolist()
    [[0.5], [0.0]]
    """
    matrices(x, "pinv", square=bool(hermitian))
    return _Pseudo.apply(x, number("pinv", "rcond", rcond))


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
    array = matrices(x, "matrix_rank", square=bool(hermitian))
    s = svd(x.detach())[1]
    rounding = float(np.finfo(array.dtype).eps) * int(np.max(array.shape[-2:]))
    limit = max(s, -1, True) * rounding if tol is None else number("matrix_rank", "tol", tol)
    return cast(greater_than(s, limit), "int64").sum(-1)
