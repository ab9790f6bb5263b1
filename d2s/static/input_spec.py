"""What an argument of a graph will be, said before there is one.

>>> InputSpec([None, 784], "float32")
InputSpec(shape=(None, 784), dtype=d2s.float32, name=None)
"""

import dataclasses
from typing import Any

from d2s import types


@dataclasses.dataclass(frozen=True, slots=True)
class InputSpec:
    """A dtype and a shape in which None (or -1) is any extent."""

    shape: Any
    dtype: Any = "float32"
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", tuple(None if d in (None, -1) else d for d in self.shape))
        object.__setattr__(self, "dtype", types.dtype(self.dtype))
