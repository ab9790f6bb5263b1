"""Images in their three forms - Pillow's, arrays (height, width, colours), tensors (colours, height, width) - as one: an array.

In: an image. Out: an array (height, width, colours), and the way back to the form that came.

>>> through(np.zeros((2, 3), "uint8"), lambda array: array[:, :2]).shape
(2, 2)
>>> through(d2s.zeros([3, 4, 5]), lambda array: array[:2]).shape
[3, 2, 5]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import memory
from d2s.eager.tensor import Tensor
from d2s.errors import DTypeError, ShapeError
from d2s.vision.image import pillow

Change = Callable[[np.ndarray], np.ndarray]


def through(image: Any, change: Change) -> Any:
    """An image with its array changed, in the form it came."""
    if isinstance(image, Tensor):
        return Tensor(np.ascontiguousarray(change(_rank(image.array, (3,)).transpose(1, 2, 0)).transpose(2, 0, 1)))
    array = pixels(image)
    found = change(array[:, :, None] if array.ndim == 2 else array)
    plain = found[:, :, 0] if found.shape[2] == 1 and (array.ndim == 2 or is_pillow(image)) else found
    return pillow().fromarray(np.ascontiguousarray(plain)) if is_pillow(image) else np.ascontiguousarray(plain)


def pixels(image: Any) -> np.ndarray:
    """The array in an image that is no tensor."""
    if is_pillow(image):
        return np.asarray(image.convert("RGB") if image.mode in ("P", "CMYK") else image)
    if not isinstance(image, np.ndarray):
        message = f"an image is one of Pillow's, an array or a tensor, got {type(image).__name__}"
        raise DTypeError("D2S0001", message)
    return _rank(image, (2, 3))


def is_pillow(image: Any) -> bool:
    """Whether it is an image of Pillow's."""
    module = pillow()
    return module is not None and isinstance(image, module.Image)


def size(image: Any) -> tuple[int, int]:
    """Height and width."""
    if isinstance(image, Tensor):
        return _rank(image.array, (3,)).shape[1], image.array.shape[2]
    height, width = pixels(image).shape[:2]
    return height, width


def top(image: Any) -> float:
    """The value of white: 255, but 1 in a tensor of floats."""
    return 1.0 if isinstance(image, Tensor) and image.array.dtype.kind == "f" else 255.0


def _rank(array: np.ndarray, ranks: tuple[int, ...]) -> np.ndarray:
    if array.dtype.kind not in "biuf":
        raise DTypeError("D2S0001", f"an image holds numbers, got {array.dtype.name}")
    if array.ndim not in ranks or 0 in array.shape:
        known = " or ".join(map(str, ranks))
        raise ShapeError("D2S0002", f"an image has {known} axes of 1 or more, got shape {list(array.shape)}")
    memory.check("an image", array.shape, array.dtype)
    return array
