"""Pictures of 32 x 32 pixels in 10 and in 100 classes, read from the archives as they are published.

The archives hold pickles. They are read by d2s's own machine, which knows arrays and plain values and can call nothing.
"""

import gzip
import io
import pathlib
import tarfile
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from d2s.checkpoint import pickle_reader
from d2s.errors import FileError, FormatError
from d2s.io.dataset import Dataset
from d2s.vision import image
from d2s.vision.datasets import files
from d2s.vision.datasets.files import Source

_FOLDER = "https://dataset.bj.bcebos.com/cifar/"
MOST = 1 << 29  # bytes of one file of the archive, which is compressed: the real ones have 155 million
FILES = 1000


class Cifar10(Dataset):
    """50,000 pictures to learn from and 10,000 to test with: (image, label).

    Images are Pillow's (or the uint8 arrays in them where it is not installed); with `backend="cv2"`, arrays of floats from 0
    to 255, (32, 32, 3). `data_file` names an archive that lies elsewhere.
    """

    SOURCE = Source("cifar-10-python.tar.gz", _FOLDER, "c58f30108f718f92721af3b95e74349a")
    FLAGS = {"train": "data_batch", "test": "test_batch"}  # noqa: RUF012

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        transform: Callable[[Any], Any] | None = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        self.mode = files.checked_mode(mode, type(self).__name__)
        self.backend = image.checked(backend or image.get_image_backend(), image.BACKENDS, type(self).__name__)
        place = files.home("cifar")
        self.data_file = files.found(self.SOURCE, place, download) if data_file is None else files.given(data_file, "data_file")
        self.transform, self.dtype = transform, "float32"
        held = sorted(_held(self.data_file, self.FLAGS[self.mode]), key=lambda one: one[0])
        parts = [_part(value, self.data_file) for _, value in held]
        if not parts:
            raise FormatError("D2S3001", f"{self.data_file} holds no file named {self.FLAGS[self.mode]}")
        self.images = np.concatenate([images for images, _ in parts])
        self.labels = np.concatenate([labels for _, labels in parts])

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        array = self.images[idx].reshape(3, 32, 32).transpose(1, 2, 0)
        picture = image.of_array(np.ascontiguousarray(array)) if self.backend == "pil" else array.astype(self.dtype)
        return picture if self.transform is None else self.transform(picture), np.array(self.labels[idx])

    def __len__(self) -> int:
        return len(self.labels)


class Cifar100(Cifar10):
    """The same in 100 classes."""

    SOURCE = Source("cifar-100-python.tar.gz", _FOLDER, "eb9058c3a382ffc7106e4002c42a8d85")
    FLAGS = {"train": "train", "test": "test"}  # noqa: RUF012


def _held(path: pathlib.Path, flag: str) -> Iterator[tuple[str, Any]]:
    """The files of an archive whose names have a word in them: name, and what is held."""
    try:
        with tarfile.open(path) as archive:
            for number, member in enumerate(archive):
                if number > FILES or member.size > MOST:
                    raise FormatError("D2S3001", f"{path} holds more, or larger, files than CIFAR's archives")
                if flag in member.name and member.isreg():
                    yield member.name, _value(archive.extractfile(member), path)
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile):
        raise FormatError("D2S3001", f"{path} is damaged: it does not unpack") from None
    except OSError as error:
        raise FileError("D2S3004", f"{path} cannot be read: {error.strerror or error}") from None


def _value(file: Any, path: pathlib.Path) -> Any:
    try:
        return pickle_reader.read(io.BytesIO(file.read()))
    except FormatError as error:
        raise FormatError(error.code, f"{path}: {error.message}") from None


def _part(held: Any, path: pathlib.Path) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels of one file of the archive."""
    named = held if isinstance(held, dict) else {}
    images, labels = named.get("data"), named.get("labels", named.get("fine_labels"))
    if not isinstance(images, np.ndarray) or images.dtype != np.uint8 or images.ndim != 2 or images.shape[1] != 3072:
        raise FormatError("D2S3001", f"{path} holds no images of 3 x 32 x 32 bytes")
    if not isinstance(labels, list) or len(labels) != len(images) or not all(type(n) is int and 0 <= n < 256 for n in labels):
        raise FormatError("D2S3001", f"{path} does not hold a label for each of its {len(images)} images")
    return images, np.array(labels, np.int64)
