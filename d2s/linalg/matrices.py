"""What all functions that take matrices apart have in common: checks.

>>> matrices(d2s.eye(2), "inv", square=True)
f32[2,2]
"""

from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, DTypeError, ShapeError
from d2s.ops.dispatch import handlers
from d2s.ops.shapes import tensor_type
from d2s.types import Type


def matrices(x: Any, name: str, square: bool = False, argument: str = "x") -> Type:
    """The type of a tensor that holds one matrix or more, of floats."""
    held = tensor_type(x, name, argument)
    if held.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {held.dtype.name}", hint="x.astype('float32')")
    if len(held.shape) < 2 or (square and held.shape[-1] != held.shape[-2]):
        wanted = "square matrices in its last two axes" if square else "two axes or more"
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(held.shape)}, expected {wanted}")
    return held


def array_of(x: Any, name: str) -> np.ndarray:
    """The array of a tensor that no graph has a place for."""
    if handlers.stack or not isinstance(x, Tensor):
        raise CaptureError("D2S1003", f"{name} has no gradient, and no graph holds it", hint="call it outside, and hand it in")
    return x.array


def tensor(array: np.ndarray) -> Tensor:
    return Tensor(np.asarray(array, order="C"))
