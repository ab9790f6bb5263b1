"""The inverse of matrices.

>>> inv(d2s.to_tensor([[4.0]])).tolist()
[[0.25]]
"""

from typing import Any

from d2s.linalg.matrices import matrices
from d2s.ops.lapack import inverse_of


def inv(x: Any) -> Any:
    """The inverse of square matrices.

    >>> d2s.linalg.inv(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    matrices(x, "inv", square=True)
    return inverse_of(x)
