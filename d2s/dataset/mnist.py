"""MNIST as a reader: 784 floats from -1 to 1, and the digit as an int.

>>> import os
>>> os.environ["D2S_DATA_HOME"] = "samples"  # doctests run where the shipped digits are
>>> image, label = next(d2s.dataset.mnist.test()())
>>> image.shape, image.min(), label
((784,), np.float32(-1.0), 7)
>>> del os.environ["D2S_DATA_HOME"]
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from d2s.vision.datasets.mnist import MNIST

Reader = Callable[[], Iterator[tuple[Any, int]]]


def train() -> Reader:
    """The digits to learn from."""
    return _reader("train")


def test() -> Reader:
    """The digits to test with."""
    return _reader("test")


def _reader(mode: str) -> Reader:
    digits = MNIST(mode=mode)
    scale = np.arange(256, dtype=np.float32) / np.float32(255) * 2 - 1  # of each byte
    return lambda: ((scale[image], int(label[0])) for image, label in zip(digits.images, digits.labels, strict=True))
