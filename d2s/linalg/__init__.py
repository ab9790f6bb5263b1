"""Linear algebra: `paddle.linalg`. Products are ops of our own; what takes matrices apart is LAPACK's, by way of NumPy."""

import sys

from d2s.arguments import label
from d2s.linalg.factors import cholesky, eigh, eigvalsh, qr, svd
from d2s.linalg.inverse import inv
from d2s.linalg.inverses import cholesky_solve, det, matrix_power, matrix_rank, pinv, slogdet, solve, triangular_solve
from d2s.linalg.norms import norm
from d2s.ops.linalg import matmul, mv

__all__ = [
    "cholesky",
    "cholesky_solve",
    "det",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_power",
    "matrix_rank",
    "mv",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "triangular_solve",
]


def __dir__() -> list[str]:
    return __all__


label(sys.modules[__name__])
