"""Digits, and pieces of clothing, in 28 x 28 pixels.

>>> import os
>>> os.environ["D2S_DATA_HOME"] = "samples"  # doctests run where the shipped digits are
>>> digits = d2s.vision.datasets.MNIST(mode="test", backend="cv2")
>>> image, label = digits[0]
>>> image.shape, image.dtype, label.tolist()
((28, 28), dtype('float32'), [7])
>>> del os.environ["D2S_DATA_HOME"]
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.default_dtype import default_dtype
from d2s.errors import FormatError
from d2s.io.dataset import Dataset
from d2s.vision import image
from d2s.vision.datasets import files, idx
from d2s.vision.datasets.files import Source

_MNIST = "https://dataset.bj.bcebos.com/mnist/"
_FASHION = "https://dataset.bj.bcebos.com/fashion_mnist/"


class MNIST(Dataset):
    """60,000 digits to learn from and 10,000 to test with: (image, label), the label an array of one int64.

    Images are Pillow's (or the uint8 arrays in them where it is not installed); with `backend="cv2"`, arrays of floats from 0
    to 255. `image_path` and `label_path` name files that lie elsewhere.
    """

    NAME = "mnist"
    TRAIN_IMAGE = Source("train-images-idx3-ubyte.gz", _MNIST, "f68b3c2dcbeaaa9fbdd348bbdeb94873")
    TRAIN_LABEL = Source("train-labels-idx1-ubyte.gz", _MNIST, "d53e105ee54ea40749a09fcbcd1e9432")
    TEST_IMAGE = Source("t10k-images-idx3-ubyte.gz", _MNIST, "9fb629c4189551a2d022fa330f9573f3")
    TEST_LABEL = Source("t10k-labels-idx1-ubyte.gz", _MNIST, "ec29112dd5afa0611ce80d1b7f02629c")

    def __init__(
        self,
        image_path: Any = None,
        label_path: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.mode = files.checked_mode(mode, type(self).__name__)
        self.backend = image.checked(backend or image.get_image_backend(), image.BACKENDS, type(self).__name__)
        images, labels = (self.TRAIN_IMAGE, self.TRAIN_LABEL) if self.mode == "train" else (self.TEST_IMAGE, self.TEST_LABEL)
        self.image_path = self._path(image_path, "image_path", images, download)
        self.label_path = self._path(label_path, "label_path", labels, download)
        self.transform, self.dtype = transform, default_dtype().name
        self.images = idx.opened(self.image_path, 3).reshape(-1, 784)
        self.labels = idx.opened(self.label_path, 1).reshape(-1, 1).astype(np.int64)
        if len(self.images) != len(self.labels):
            message = f"{self.image_path} has {len(self.images)} images, {self.label_path} {len(self.labels)} labels"
            raise FormatError("D2S3001", message)

    def _path(self, path: Any, name: str, source: Source, download: bool) -> Any:
        return files.found(source, files.home(self.NAME), download) if path is None else files.given(path, name)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        array = self.images[idx].reshape(28, 28)
        picture = image.of_array(array) if self.backend == "pil" else array.astype(self.dtype)
        return picture if self.transform is None else self.transform(picture), self.labels[idx].copy()

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """The same with pieces of clothing."""

    NAME = "fashion-mnist"
    TRAIN_IMAGE = Source("train-images-idx3-ubyte.gz", _FASHION, "8d4fb7e6c68d591d4c3dfef9ec88bf0d")
    TRAIN_LABEL = Source("train-labels-idx1-ubyte.gz", _FASHION, "25c81989df183df01b3e8a0aad5dffbe")
    TEST_IMAGE = Source("t10k-images-idx3-ubyte.gz", _FASHION, "bef4ecab320f06d8554ea6380940ec79")
    TEST_LABEL = Source("t10k-labels-idx1-ubyte.gz", _FASHION, "bb300cfdad3c16e7a12a480ee83cd310")
