"""`paddle.dataset`: readers of data sets as they are published, beside MNIST.

In: the files, in `D2S_DATA_HOME` or downloaded. Out: functions without arguments that give iterators of samples; dictionaries
of words.

>>> sorted(NAMES)[:3]
['cifar.test10', 'cifar.test100', 'cifar.train10']
"""

import collections
import pathlib
import re
import string
import tarfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from d2s.errors import FormatError
from d2s.vision.datasets import Cifar10, Cifar100, files
from d2s.vision.datasets.files import Source

Reader = Callable[[], Iterator[Any]]
_HOUSING = Source("housing.data", "http://paddlemodels.bj.bcebos.com/uci_housing/", "d4accdce7a25600298819f8e28e8d593")
_REVIEWS = Source("aclImdb_v1.tar.gz", "https://dataset.bj.bcebos.com/imdb%2F", "7c2ac02c03563afcf9b574c7e56c153a")
_SENTENCES = Source("simple-examples.tgz", "https://dataset.bj.bcebos.com/imikolov%2F", "30177ea32e27c525793142b6bf2c8e2d")


# --- pictures ----------------------------------------------------------------------------------------------------------------


def _pictures(kind: Any, mode: str) -> Callable[..., Reader]:
    def reader_of(cycle: bool = False) -> Reader:
        held = kind(mode=mode, backend="cv2")

        def reader() -> Iterator[Any]:
            while True:
                yield from ((np.float32(x / 255.0), int(label)) for x, label in zip(held.images, held.labels, strict=True))
                if not cycle:
                    return

        return reader

    return reader_of


# --- prices of houses --------------------------------------------------------------------------------------------------------


def _houses(learnt: bool) -> Callable[[], Reader]:
    def reader_of() -> Reader:
        path = files.found(_HOUSING, files.home("uci_housing"), True)
        rows = np.fromfile(path, sep=" ")
        if not rows.size or rows.size % 14:
            raise FormatError("D2S3001", f"{path} holds {rows.size} numbers, not rows of 14")
        rows = rows.reshape(-1, 14)
        given = rows[:, :13]
        rows[:, :13] = (given - given.sum(0) / len(rows)) / (given.max(0) - given.min(0))
        seen = int(len(rows) * 0.8)
        chosen = rows[:seen] if learnt else rows[seen:]
        return lambda: ((row[:-1], row[-1:]) for row in chosen)

    return reader_of


# --- texts -------------------------------------------------------------------------------------------------------------------


def _dictionary(counts: dict[Any, int], cutoff: int) -> dict[Any, int]:
    """Words, which are bytes, by how usual they are, the rare ones left out; "<unk>" stands for these."""
    usual = sorted(
        (w for w, n in counts.items() if n > cutoff), key=lambda w: (-counts[w], w if isinstance(w, bytes) else w.encode())
    )
    return {word: n for n, word in enumerate([*usual, "<unk>"])}


_STOPS = string.punctuation.encode()


def _reviews(pattern: str) -> Iterator[list[bytes]]:
    """The words of the reviews whose files have such names."""
    with tarfile.open(_archive(_REVIEWS, "imdb")) as archive:
        for member in archive:
            file = archive.extractfile(member) if re.match(pattern, member.name) else None
            if file is not None:
                yield file.read().rstrip(b"\n\r").translate(None, _STOPS).lower().split()


def _archive(source: Source, dataset: str) -> pathlib.Path:
    path = files.found(source, files.home(dataset), True)
    if not tarfile.is_tarfile(path):
        raise FormatError("D2S3001", f"{path} is no archive")
    return path


def word_dict(cutoff: int = 150) -> dict[bytes, int]:
    """The words of all reviews."""
    counts = collections.Counter(word for words in _reviews(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$") for word in words)
    return _dictionary(counts, cutoff)


def _opinions(part: str) -> Callable[[dict[Any, int]], Reader]:
    def reader_of(word_idx: dict[Any, int]) -> Reader:
        unknown = word_idx["<unk>"]

        def reader() -> Iterator[tuple[list[int], int]]:
            for label, kind in enumerate(("pos", "neg")):
                for words in _reviews(rf"aclImdb/{part}/{kind}/.*\.txt$"):
                    yield [word_idx.get(word, unknown) for word in words], label

        return reader

    return reader_of


class DataType:
    """What a reader of sentences gives: so many words in a row, or all."""

    NGRAM, SEQ = 1, 2


def _sentences(part: str) -> Iterator[list[bytes]]:
    with tarfile.open(_archive(_SENTENCES, "imikolov")) as archive:
        for line in archive.extractfile(f"./simple-examples/data/ptb.{part}.txt") or ():
            yield line.split()


def build_dict(min_word_freq: int = 50) -> dict[Any, int]:
    """The words of all sentences, and marks of their ends."""
    counts = collections.Counter[Any](
        w for part in ("train", "valid") for line in _sentences(part) for w in (*line, "<s>", "<e>")
    )
    return _dictionary(counts, min_word_freq)


def _words(part: str) -> Callable[..., Reader]:
    def reader_of(word_idx: dict[Any, int], n: int, data_type: int = DataType.NGRAM) -> Reader:
        unknown = word_idx["<unk>"]

        def reader() -> Iterator[Any]:
            for line in _sentences(part):
                if data_type == DataType.SEQ:
                    found = [word_idx.get(w, unknown) for w in line]
                    if n <= 0 or len(found) + 1 <= n:
                        yield [word_idx["<s>"], *found], [*found, word_idx["<e>"]]
                    continue
                found = [word_idx.get(w, unknown) for w in ("<s>", *line, "<e>")]
                yield from (tuple(found[end - n : end]) for end in range(n, len(found) + 1))

        return reader

    return reader_of


NAMES: dict[str, Any] = {
    f"cifar.{mode}{end}": _pictures(kind, mode)
    for mode in ("train", "test")
    for end, kind in (("10", Cifar10), ("100", Cifar100))
}
NAMES |= {"uci_housing.train": _houses(True), "uci_housing.test": _houses(False)}
NAMES |= {"imdb.word_dict": word_dict, "imdb.train": _opinions("train"), "imdb.test": _opinions("test")}
NAMES |= {"imikolov.build_dict": build_dict, "imikolov.DataType": DataType}
NAMES |= {"imikolov.train": _words("train"), "imikolov.test": _words("valid")}
NAMES |= {
    "uci_housing.feature_names": [
        "CRIM",
        "ZN",
        "INDUS",
        "CHAS",
        "NOX",
        "RM",
        "AGE",
        "DIS",
        "RAD",
        "TAX",
        "PTRATIO",
        "B",
        "LSTAT",
    ]
}
