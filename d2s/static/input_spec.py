"""What an argument of a graph will be, said before there is one.

>>> InputSpec([None, 784], "float32")
InputSpec(shape=(None, 784), dtype=d2s.float32, name=None)
"""

import dataclasses
from typing import Any

import numpy as np

from d2s import types
from d2s.errors import ArgumentError, DTypeError, brief


@dataclasses.dataclass(frozen=True, slots=True)
class InputSpec:
    """A dtype and a shape in which None (or -1) is any extent."""

    shape: Any
    dtype: Any = "float32"
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.shape, list | tuple):
            raise DTypeError("D2S0001", f"InputSpec(): 'shape' expects a list, got {type(self.shape).__name__}")
        object.__setattr__(self, "shape", tuple(map(_extent, self.shape)))
        object.__setattr__(self, "dtype", types.dtype(self.dtype))


def _extent(d: Any) -> int | None:
    if d is None or (isinstance(d, int | np.integer) and d == -1):
        return None
    if not isinstance(d, int | np.integer) or isinstance(d, bool) or not 0 <= d < 1 << 62:
        raise ArgumentError("D2S0004", f"InputSpec(): {brief(d)} is no extent: an int, or None for any")
    return int(d)
