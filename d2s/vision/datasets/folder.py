"""Images in folders: a folder per class, or all together.

>>> import pathlib, tempfile
>>> root = tempfile.mkdtemp()
>>> for kind in ("dog", "cat"):
...     os.makedirs(f"{root}/{kind}")
...     _ = pathlib.Path(f"{root}/{kind}/1.txt").write_text(kind)
>>> pets = d2s.vision.datasets.DatasetFolder(root, loader=lambda path: pathlib.Path(path).read_text(), extensions=(".txt",))
>>> pets.classes, list(pets)
(['cat', 'dog'], [('cat', 0), ('dog', 1)])
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, FileError
from d2s.io.dataset import Dataset
from d2s.vision import image

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


class DatasetFolder(Dataset):
    """(image, number of its class) for each file in `root`/class/…; classes are numbered in the order of their names."""

    def __init__(
        self,
        root: Any,
        loader: Callable[[Any], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        wanted = _filter(type(self).__name__, extensions, is_valid_file)
        self.root, self.loader, self.transform = _folder(type(self).__name__, root), loader or _loaded, transform
        self.extensions = IMG_EXTENSIONS if extensions is None and is_valid_file is None else extensions
        self.classes = sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in _walked(os.path.join(self.root, name), wanted)
        ]
        self.targets = [number for _, number in self.samples]
        _some(self.samples, self.root, self.extensions)

    def __getitem__(self, idx: int) -> tuple[Any, int]:
        path, number = self.samples[idx]
        found = self.loader(path)
        return (found if self.transform is None else self.transform(found)), number

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """[image] for each file in a folder and in the folders in it."""

    def __init__(
        self,
        root: Any,
        loader: Callable[[Any], Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        wanted = _filter(type(self).__name__, extensions, is_valid_file)
        self.root, self.loader, self.transform = _folder(type(self).__name__, root), loader or _loaded, transform
        self.extensions = IMG_EXTENSIONS if extensions is None and is_valid_file is None else extensions
        self.samples = list(_walked(self.root, wanted))
        _some(self.samples, self.root, self.extensions)

    def __getitem__(self, idx: int) -> list[Any]:
        found = self.loader(self.samples[idx])
        return [found if self.transform is None else self.transform(found)]

    def __len__(self) -> int:
        return len(self.samples)


def _loaded(path: Any) -> Any:
    """An image in three colours; with the backend 'cv2', an array of them (red, green, blue)."""
    found = image.opened(path).convert("RGB")
    return np.array(found) if image.get_image_backend() == "cv2" else found


def _filter(function: str, extensions: Any, is_valid_file: Any) -> Callable[[str], bool]:
    if extensions is not None and is_valid_file is not None:
        raise ArgumentError("D2S0004", f"{function}() takes one of 'extensions' and 'is_valid_file'")
    if is_valid_file is not None:
        if not callable(is_valid_file):
            raise DTypeError("D2S0001", f"{function}(): 'is_valid_file' expects a function, got {type(is_valid_file).__name__}")
        return is_valid_file  # type: ignore[no-any-return]
    known = IMG_EXTENSIONS if extensions is None else extensions
    if not isinstance(known, Sequence) or isinstance(known, str) or not all(isinstance(one, str) for one in known):
        raise DTypeError("D2S0001", f"{function}(): 'extensions' expects a list of strings such as '.png'")
    endings = tuple(one.lower() for one in known)
    return lambda path: path.lower().endswith(endings)


def _folder(function: str, root: Any) -> str:
    try:
        found = os.fspath(root)
    except TypeError:
        raise DTypeError("D2S0001", f"{function}(): 'root' expects a path, got {type(root).__name__}") from None
    if not isinstance(found, str) or "\0" in found or not os.path.isdir(found):
        raise FileError("D2S3004", f"{function}(): {found!r} is no folder")
    return found


def _walked(folder: str, wanted: Callable[[str], bool]) -> Iterator[str]:
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        yield from (path for path in (os.path.join(place, name) for name in sorted(names)) if wanted(path))


def _some(samples: Sequence[Any], root: str, extensions: Any) -> None:
    if not samples:
        ending = f" that ends with {', '.join(extensions)}" if extensions else " that is valid"
        raise FileError("D2S3004", f"{root} holds no file{ending}")
