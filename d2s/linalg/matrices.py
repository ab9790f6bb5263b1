"""What all functions that take matrices apart have in common: checks.

>>> matrices(d2s.eye(2), "inv", square=True)
f32[2,2]
"""

from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError
from d2s.ops.dispatch import handlers
from d2s.ops.lapack import of_matrices
from d2s.ops.shapes import tensor_type
from d2s.types import Type


def matrices(x: Any, name: str, square: bool = False, argument: str = "x") -> Type:
    """The type of a tensor that holds one matrix or more, of floats."""
    return of_matrices(name, tensor_type(x, name, argument), square, argument)


def array_of(x: Any, name: str) -> np.ndarray:
    """The array of a tensor that no graph has a place for."""
    if handlers.stack or not isinstance(x, Tensor):
        raise CaptureError("D2S1003", f"{name} has no gradient, and no graph holds it", hint="call it outside, and hand it in")
    return x.array


def tensor(array: np.ndarray) -> Tensor:
    return Tensor(np.asarray(array, order="C"))
