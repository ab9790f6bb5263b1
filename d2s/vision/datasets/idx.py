"""Files of the IDX format, packed or not: arrays of bytes, as MNIST's.

>>> import io
>>> read(io.BytesIO(bytes([0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 1, 7, 9])), 2, "two.idx").tolist()
[[7], [9]]
"""

import gzip
import math
import pathlib
import struct
import zlib
from typing import BinaryIO

import numpy as np

from d2s.errors import FileError, FormatError


def opened(path: pathlib.Path, ndim: int) -> np.ndarray:
    """The array in a file, which is packed where its first bytes say so."""
    try:
        with open(path, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not packed:
                return read(file, ndim, path.name)
            with gzip.open(file) as inside:
                return read(inside, ndim, path.name)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise FormatError("D2S3001", f"{path} is damaged: it does not unpack") from None
    except OSError as error:
        raise FileError("D2S3004", f"{path} cannot be read: {error.strerror}") from None


def read(file: BinaryIO | gzip.GzipFile, ndim: int, name: str) -> np.ndarray:
    """An array of bytes of some rank. No more is read than its shape asks for, and no shape is believed."""
    header = file.read(4 + 4 * ndim)
    if len(header) < 4 + 4 * ndim or header[:4] != bytes([0, 0, 8, ndim]):
        raise FormatError("D2S3001", f"{name} is no IDX file of bytes in {ndim} dimensions")
    shape = struct.unpack(f">{ndim}I", header[4:])
    data = bytearray()
    while len(data) < math.prod(shape) and (piece := file.read(min(math.prod(shape) - len(data), 1 << 24))):
        data += piece
    if len(data) != math.prod(shape) or file.read(1):
        raise FormatError("D2S3001", f"{name} does not hold the {math.prod(shape)} bytes of its shape {list(shape)}")
    return np.frombuffer(data, np.uint8).reshape(shape)
