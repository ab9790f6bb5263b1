"""Matrices as products of simpler ones, with gradients. In: tensors whose last two axes are matrices. Out: their factors.

>>> low = cholesky(d2s.to_tensor([[4.0, 2.0], [2.0, 5.0]]))
>>> low.tolist()
[[2.0, 0.0], [1.0, 2.0]]
"""

from typing import Any

import numpy as np

from d2s.arguments import one_of
from d2s.linalg.matrices import array_of, matrices, tensor
from d2s.ops.lapack import by_lapack, cholesky_of, eigh_of, known_sizes, qr_of, rows, svd_of, turned


def cholesky(x: Any, upper: bool = False) -> Any:
    """The lower triangle whose product with its transpose is x, a symmetric matrix of positive definite kind.

    >>> d2s.linalg.cholesky(d2s.to_tensor([[4.0]]), upper=True).tolist()
    [[2.0]]
    """
    matrices(x, "cholesky", square=True)
    return turned(cholesky_of(x)) if upper else cholesky_of(x)


def qr(x: Any, mode: str = "reduced") -> Any:
    """Columns that stand upright on each other, and the upper triangle that makes x of them; mode "r" gives that alone.

    >>> q, r = d2s.linalg.qr(d2s.to_tensor([[3.0], [4.0]]))
    >>> abs(r).tolist()
    [[5.0]]
    """
    one_of("qr", "mode", mode, ("reduced", "complete", "r"))
    height, width = known_sizes("qr", matrices(x, "qr"))
    if mode == "complete":
        q, r = by_lapack("qr", lambda a: np.linalg.qr(a, "complete"), array_of(x, "qr() of mode 'complete'"))
        return tensor(q), tensor(r)
    found = qr_of(x)
    r = turned(rows(found, height, height + width))
    return r if mode == "r" else (rows(found, 0, height), r)


def eigh(x: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, ascending, and the eigenvectors as columns; only one triangle is read.

    >>> values, vectors = d2s.linalg.eigh(d2s.to_tensor([[2.0, 0.0], [0.0, 1.0]]))
    >>> values.tolist()
    [1.0, 2.0]
    """
    one_of("eigh", "UPLO", UPLO, ("L", "U"))
    size, _ = known_sizes("eigh", matrices(x, "eigh", square=True))
    found = eigh_of(x, UPLO == "U")
    return rows(found, 0, 1, alone=True), rows(found, 1, size + 1)


def eigvalsh(x: Any, UPLO: str = "L") -> Any:
    """The eigenvalues of symmetric matrices, ascending.

    >>> d2s.linalg.eigvalsh(d2s.to_tensor([[2.0, 0.0], [0.0, 1.0]])).tolist()
    [1.0, 2.0]
    """
    return eigh(x, UPLO)[0]


def svd(x: Any, full_matrices: bool = False) -> Any:
    """U, the singular values in descending order, and V transposed: U times these values times it is x.

    >>> d2s.linalg.svd(d2s.to_tensor([[3.0, 0.0], [0.0, 4.0]]))[1].tolist()
    [4.0, 3.0]
    """
    height, width = known_sizes("svd", matrices(x, "svd"))
    if full_matrices:
        return tuple(map(tensor, by_lapack("svd", np.linalg.svd, array_of(x, "svd() with full matrices"))))
    found = svd_of(x)
    values = rows(found, height, height + 1, alone=True)
    return rows(found, 0, height), values, turned(rows(found, height + 1, height + 1 + width))
