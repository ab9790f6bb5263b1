"""The inverse of matrices, with its gradient, which other gradients are made of.

>>> inv(d2s.to_tensor([[4.0]])).tolist()
[[0.25]]
"""

from typing import Any

import numpy as np

from d2s.eager.py_layer import PyLayer
from d2s.linalg.matrices import by_lapack, matrices, results, saved, tensor
from d2s.ops.linalg import matmul


class _Inverse(PyLayer):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        return saved(ctx, (x,), (tensor(by_lapack("inv", np.linalg.inv, x.array)),))

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        (g,) = gs
        (found,) = results(_Inverse, ctx)
        return -matmul(matmul(found, g, True), found, False, True)


def inv(x: Any) -> Any:
    """The inverse of square matrices.

    >>> d2s.linalg.inv(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    matrices(x, "inv", square=True)
    return _Inverse.apply(x)
