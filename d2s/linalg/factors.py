"""Matrices as products of simpler ones, with gradients. In: tensors whose last two axes are matrices. Out: their factors.

>>> low = cholesky(d2s.to_tensor([[4.0, 2.0], [2.0, 5.0]]))
>>> low.tolist()
[[2.0, 0.0], [1.0, 2.0]]
"""

from typing import Any

import numpy as np

from d2s.arguments import one_of
from d2s.eager.py_layer import PyLayer
from d2s.errors import GradientError
from d2s.linalg.inverse import inv
from d2s.linalg.matrices import by_lapack, matrices, results, saved, tensor, turned
from d2s.ops.compare import where
from d2s.ops.create import eye, zeros_like
from d2s.ops.linalg import matmul
from d2s.ops.shape import unsqueeze
from d2s.ops.triangle import tril


class _Cholesky(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return saved(ctx, (x,), (tensor(by_lapack("cholesky", np.linalg.cholesky, x.array)),))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        (g,) = gs
        (low,) = results(_Cholesky, ctx)
        inverse = inv(low)
        inner = tril(matmul(low, g, True))
        half = inner - 0.5 * _on_diagonal(inner)
        whole = matmul(matmul(inverse, half, True), inverse)
        return 0.5 * (whole + turned(whole))


def _on_diagonal(x: Any) -> Any:
    return x * eye(x.shape[-1], dtype=x.dtype)


def cholesky(x: Any, upper: bool = False) -> Any:
    """The lower triangle whose product with its transpose is x, a symmetric matrix of positive definite kind.

    >>> d2s.linalg.cholesky(d2s.to_tensor([[4.0]]), upper=True).tolist()
    [[2.0]]
    """
    matrices(x, "cholesky", square=True)
    return turned(_Cholesky.apply(x)) if upper else _Cholesky.apply(x)


class _Qr(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return saved(ctx, (x,), tuple(map(tensor, by_lapack("qr", np.linalg.qr, x.array))))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        g_q, g_r = gs
        q, r = results(_Qr, ctx)
        if r.shape[-1] != r.shape[-2]:
            raise GradientError("D2S0006", "qr() of matrices wider than high has no gradient")
        m = matmul(r, g_r, False, True) - matmul(g_q, q, True)
        mirrored = tril(m) + turned(tril(m, -1))
        return matmul(g_q + matmul(q, mirrored), inv(r), False, True)


def qr(x: Any, mode: str = "reduced") -> Any:
    """Columns that stand upright on each other, and the upper triangle that makes x of them; mode "r" gives that alone.

    >>> q, r = d2s.linalg.qr(d2s.to_tensor([[3.0], [4.0]]))
    >>> abs(r).tolist()
    [[5.0]]
    """
    one_of("qr", "mode", mode, ("reduced", "complete", "r"))
    array = matrices(x, "qr")
    if mode == "complete":
        q, r = by_lapack("qr", lambda a: np.linalg.qr(a, "complete"), array)
        return tensor(q), tensor(r)
    q, r = _Qr.apply(x)
    return r if mode == "r" else (q, r)


class _Eigh(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any, corner: Any) -> Any:
        return saved(ctx, (x, corner), tuple(map(tensor, by_lapack("eigh", lambda a: np.linalg.eigh(a, corner), x.array))))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        g_values, g_vectors = gs
        values, vectors = results(_Eigh, ctx)
        apart = unsqueeze(values, -2) - unsqueeze(values, -1)
        inner = matmul(vectors, g_vectors, True) * _one_over(apart) + _on_diagonal(unsqueeze(g_values, -1) + zeros_like(apart))
        whole = matmul(matmul(vectors, inner), vectors, False, True)
        return 0.5 * (whole + turned(whole))


def _one_over(x: Any) -> Any:
    """1 / x, and 0 where x is 0."""
    return where(x == 0.0, 0.0, 1.0 / where(x == 0.0, 1.0, x))


def eigh(x: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, ascending, and the eigenvectors as columns; only one triangle is read.

    >>> values, vectors = d2s.linalg.eigh(d2s.to_tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> values.tolist()
    [1.0, 2.0]
    """
    one_of("eigh", "UPLO", UPLO, ("L", "U"))
    matrices(x, "eigh", square=True)
    return _Eigh.apply(x, UPLO)


def eigvalsh(x: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, ascending.

    >>> d2s.linalg.eigvalsh(d2s.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    return eigh(x, UPLO)[0]


class _Svd(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return saved(ctx, (x,), tuple(map(tensor, by_lapack("svd", lambda a: np.linalg.svd(a, full_matrices=False), x.array))))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        g_u, g_s, g_v = gs
        u, s, v = results(_Svd, ctx)
        across, down = unsqueeze(s, -2), unsqueeze(s, -1)
        apart = _one_over(across * across - down * down)
        of_u, of_v = matmul(u, g_u, True) * apart, matmul(v, g_v, False, True) * apart
        inner = (
            (of_u + turned(of_u)) * across + down * (of_v + turned(of_v)) + _on_diagonal(unsqueeze(g_s, -1) + zeros_like(apart))
        )
        found = matmul(matmul(u, inner), v)
        rows, columns = u.shape[-2], v.shape[-1]
        if rows > columns:
            found = found + matmul((g_u - matmul(u, matmul(u, g_u, True))) * _one_over(across), v)
        elif columns > rows:
            found = found + matmul(u, (g_v - matmul(matmul(g_v, v, False, True), v)) * _one_over(down))
        return found


def svd(x: Any, full_matrices: bool = False) -> Any:
    """U, the singular values in descending order, and V transposed: U times these values times it is x.

    >>> d2s.linalg.svd(d2s.to_tensor([[3.0, 0.0], [0.0, 4.0]]))[1].tolist()
    [4.0, 3.0]
    """
    array = matrices(x, "svd")
    if full_matrices:
        return tuple(map(tensor, by_lapack("svd", np.linalg.svd, array)))
    return _Svd.apply(x)
