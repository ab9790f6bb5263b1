"""Checks of what transforms are given: sizes, places, numbers per colour, names of methods.

>>> pair("Resize", "size", 4), borders("Pad", (1, 2))
((4, 4), (1, 2, 1, 2))
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect, number
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.vision.transforms.sampling import METHODS


def method(function: str, given: Any) -> str:
    return one_of(function, "interpolation", given, METHODS)


def layout(function: str, given: Any) -> str:
    return one_of(function, "data_format", given.upper() if type(given) is str else given, ("CHW", "HWC"))


def one_of(function: str, name: str, given: Any, known: Sequence[str]) -> str:
    """A name that is known."""
    if not isinstance(given, str) or given not in known:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(given)}, expected one of {', '.join(known)}")
    return given


def whole(function: str, name: str, given: Any) -> int:
    expect(function, name, given, int | np.integer, "an int")
    return int(given)


def pair(function: str, name: str, given: Any) -> tuple[int, int]:
    """Height and width, both above 0."""
    both = (given, given) if isinstance(given, int | np.integer) else tuple(given) if isinstance(given, list | tuple) else ()
    if len(both) == 1:
        both *= 2
    if len(both) != 2 or not all(isinstance(n, int | np.integer) and not isinstance(n, bool) and 0 < n < 1 << 31 for n in both):
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(given)}, expected an int above 0, or two")
    return int(both[0]), int(both[1])


def borders(function: str, given: Any) -> tuple[int, int, int, int]:
    sides = (given,) if isinstance(given, int | np.integer) else tuple(given) if isinstance(given, list | tuple) else ()
    if len(sides) not in (1, 2, 4) or not all(isinstance(n, int | np.integer) and 0 <= n < 1 << 24 for n in sides):
        raise ArgumentError("D2S0004", f"{function}(): 'padding' is {brief(given)}, expected 1, 2 or 4 ints from 0 on")
    left, above, right, below = (int(n) for n in sides * (4 // len(sides)))
    return left, above, right, below


def _row(given: Any) -> bool:
    return given.ndim > 0 if isinstance(given, np.ndarray) else isinstance(given, Sequence)


def point(function: str, name: str, given: Any) -> tuple[float, float]:
    if not _row(given) or isinstance(given, str) or len(given) != 2:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(given)}, expected two numbers")
    return number(function, name, given[0]), number(function, name, given[1])


def points(name: str, given: Any) -> list[tuple[float, float]]:
    if not _row(given) or len(given) != 4:
        raise ArgumentError("D2S0004", f"perspective(): '{name}' is {brief(given)}, expected four points (x, y)")
    return [point("perspective", name, one) for one in given]


def fill(function: str, given: Any) -> Any:
    values = given if isinstance(given, list | tuple) and given else [given]
    return [number(function, "fill", value) for value in values]


def factor(function: str, name: str, given: Any) -> float:
    found = number(function, name, given)
    if not found >= 0:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(given)}, expected a number from 0 on")
    return found


def per_colour(name: str, given: Any, array: np.ndarray, axis: int) -> np.ndarray:
    """Numbers, one for all colours or one for each, along the axis of the colours."""
    try:
        if isinstance(given, range):
            raise TypeError  # an array of it may be larger than memory
        found = np.asarray(given.array if isinstance(given, Tensor) else given, np.float32).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise DTypeError("D2S0001", f"normalize(): '{name}' expects numbers, got {brief(given)}") from None
    if array.ndim != 3 or found.size not in (1, array.shape[axis]):
        message = f"normalize(): '{name}' has {found.size} numbers, the image has shape {list(array.shape)}"
        raise ShapeError("D2S0002", message, hint="data_format says where the colours are: 'CHW' or 'HWC'")
    return found.reshape((-1, 1, 1) if axis == 0 else (1, 1, -1))
