"""What all functions that take matrices apart have in common: checks, and NumPy's failures told in our words.

>>> matrices(d2s.eye(2), "inv", square=True).shape
(2, 2)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.autodiff.mode import recording
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, CaptureError, DTypeError, ShapeError
from d2s.ops.arrange import swapaxes
from d2s.ops.dispatch import handlers
from d2s.ops.shapes import tensor_type


def matrices(x: Any, name: str, square: bool = False, argument: str = "x") -> np.ndarray:
    """The array of a tensor that holds one matrix or more, of floats."""
    held = tensor_type(x, name, argument)
    if held.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {held.dtype.name}", hint="x.astype('float32')")
    if len(held.shape) < 2 or (square and held.shape[-1] != held.shape[-2]):
        wanted = "square matrices in its last two axes" if square else "two axes or more"
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(held.shape)}, expected {wanted}")
    if handlers.stack or not isinstance(x, Tensor):
        message = f"{name}() takes matrices apart by LAPACK, which no graph holds"
        raise CaptureError("D2S1003", message, hint="call it outside of the captured function, and hand its result in")
    return x.array


def by_lapack(name: str, function: Callable[..., Any], *arrays: np.ndarray) -> Any:
    """What NumPy's function gives, in the dtype of the first array."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError as error:
        message = f"{name}(): {str(error)[0].lower()}{str(error)[1:]}"
        raise ArgumentError("D2S0004", message, hint="look at the matrix: it may be singular, or hold a nan") from None


def results(layer: Any, ctx: Any) -> tuple[Any, ...]:
    """What a layer gave, as its gradient needs it: where that goes on the tape itself, computed again from what was given."""
    given, found = ctx.saved_tensor()[: ctx.count], ctx.saved_tensor()[ctx.count :]
    if not recording():
        return tuple(found)
    again = layer.apply(*given)
    return again if isinstance(again, tuple) else (again,)


def saved(ctx: Any, given: tuple[Any, ...], found: tuple[Any, ...]) -> Any:
    """Keeps both, and returns the latter."""
    ctx.count = len(given)
    ctx.save_for_backward(*given, *found)
    return found if len(found) > 1 else found[0]


def tensor(array: np.ndarray) -> Tensor:
    return Tensor(np.asarray(array, order="C"))


def turned(x: Any) -> Any:
    """The transposes of matrices."""
    return swapaxes(x, -1, -2)
