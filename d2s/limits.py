"""What numbers a dtype holds.

>>> iinfo("int8").max, finfo("float32").eps
(127, 1.1920928955078125e-07)
"""

from typing import Any

import numpy as np

from d2s import types
from d2s.errors import DTypeError, brief
from d2s.types import DType


class iinfo:
    """The limits of an integer dtype: min, max, bits.

    >>> d2s.iinfo("uint8")
    d2s.iinfo(min=0, max=255, bits=8, dtype=uint8)
    """

    def __init__(self, dtype: Any) -> None:
        held = _of_kind("i", "integer", "iinfo", dtype)
        limits = np.iinfo(held.numpy)
        self.min, self.max, self.bits, self.dtype = int(limits.min), int(limits.max), limits.bits, held.name

    def __repr__(self) -> str:
        return f"d2s.iinfo(min={self.min}, max={self.max}, bits={self.bits}, dtype={self.dtype})"


class finfo:
    """The limits of a float dtype: min, max, eps, resolution, smallest_normal (also tiny), bits.

    >>> d2s.finfo("float64").bits
    64
    """

    def __init__(self, dtype: Any) -> None:
        held = _of_kind("f", "float", "finfo", dtype)
        limits = np.finfo(held.numpy)
        self.min, self.max, self.eps = float(limits.min), float(limits.max), float(limits.eps)
        self.resolution = float(10.0**-limits.precision)
        self.smallest_normal = self.tiny = float(limits.tiny)
        self.bits, self.dtype = limits.bits, held.name

    def __repr__(self) -> str:
        names = ("min", "max", "eps", "resolution", "smallest_normal", "tiny")
        return f"d2s.finfo({', '.join(f'{n}={getattr(self, n):g}' for n in names)}, bits={self.bits}, dtype={self.dtype})"


def _of_kind(kind: str, words: str, name: str, dtype: Any) -> DType:
    found = types.dtype(dtype)
    if dtype is None or found.kind != kind:
        raise DTypeError("D2S0003", f"{name}() takes {'an' if kind == 'i' else 'a'} {words} dtype, not {brief(dtype)}")
    return found
