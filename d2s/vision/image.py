"""Images in files, and as what they come: Pillow's images, arrays, or tensors.

Pillow is optional. Where it is missing, what would be an image of Pillow's is the uint8 array that is in it, which
transforms take alike; only reading of files needs it. OpenCV is not used: 'cv2' means arrays.

>>> get_image_backend()
'pil'
"""

import functools
from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, FileError, brief

BACKENDS = ("pil", "cv2", "tensor")
_backend = "pil"


def set_image_backend(backend: str) -> None:
    """As what images come from now on: 'pil', 'cv2' (arrays) or 'tensor'.

    >>> d2s.vision.set_image_backend("pil")
    """
    global _backend
    _backend = checked(backend, BACKENDS, "set_image_backend")


def get_image_backend() -> str:
    """As what images come.

    >>> d2s.vision.get_image_backend()
    'pil'
    """
    return _backend


def image_load(path: Any, backend: str | None = None) -> Any:
    """The image in a file: Pillow's, or for 'cv2' an array (height, width, blue green red), or for 'tensor' one (3, h, w).

    >>> d2s.vision.image_load("missing.png")
    Traceback (most recent call last):
    d2s.errors.FileError: [D2S3004] missing.png cannot be read: No such file or directory
    """
    kind = checked(backend or _backend, BACKENDS, "image_load")
    image = opened(path)
    if kind == "pil":
        return image
    array = np.asarray(image.convert("RGB"))
    return array[:, :, ::-1].copy() if kind == "cv2" else Tensor(array.transpose(2, 0, 1).copy())


def opened(path: Any) -> Any:
    """The image in a file, as Pillow's."""
    try:
        with open(path, "rb") as file:
            image = _needed().open(file)
            image.load()
    except OSError as error:
        raise FileError("D2S3004", f"{path} cannot be read: {error.strerror or error}") from None
    except (TypeError, ValueError, SyntaxError) as error:
        raise ArgumentError("D2S0004", f"{brief(path)} is no image: {error}") from None
    return image


def of_array(array: np.ndarray) -> Any:
    """A uint8 array as an image: Pillow's where there is Pillow."""
    module = pillow()
    return array if module is None else module.fromarray(array)


@functools.cache
def pillow() -> Any:
    """Pillow's module of images; None where it is not installed."""
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image


def _needed() -> Any:
    if pillow() is None:
        raise FileError("D2S3004", "files of images are read by Pillow, which is not installed", hint="pip install pillow")
    return pillow()


def checked(backend: Any, known: tuple[str, ...], function: str) -> str:
    """A name of a backend."""
    if not isinstance(backend, str) or backend not in known:
        raise ArgumentError("D2S0004", f"{function}(): 'backend' is {brief(backend)}, expected one of {', '.join(known)}")
    return backend
