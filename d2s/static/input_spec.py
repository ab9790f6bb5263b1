"""What an argument of a graph will be, said before there is one.

>>> InputSpec([None, 784], "float32")
InputSpec(shape=(None, 784), dtype=d2s.float32, name=None, stop_gradient=False)
"""

import dataclasses
from typing import Any

import numpy as np

from d2s import types
from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.op import flag
from d2s.ops.shapes import tensor_type


@dataclasses.dataclass(frozen=True, slots=True)
class InputSpec:
    """A dtype and a shape in which None (or -1) is any extent. Whether gradients are wanted a call's own tensors say."""

    shape: Any
    dtype: Any = "float32"
    name: str | None = None
    stop_gradient: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.shape, list | tuple):
            raise DTypeError("D2S0001", f"InputSpec(): 'shape' expects a list, got {type(self.shape).__name__}")
        object.__setattr__(self, "shape", tuple(map(_extent, self.shape)))
        object.__setattr__(self, "dtype", types.dtype(self.dtype))
        object.__setattr__(self, "stop_gradient", flag(self.stop_gradient, "stop_gradient"))

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> "InputSpec":
        """What a tensor is.

        >>> InputSpec.from_tensor(d2s.ones([2, 3]), name="x")
        InputSpec(shape=(2, 3), dtype=d2s.float32, name='x', stop_gradient=False)
        """
        of = tensor_type(tensor, "InputSpec.from_tensor", "tensor")
        return cls([None if isinstance(d, str) else d for d in of.shape], of.dtype, name)

    @classmethod
    def from_numpy(cls, ndarray: np.ndarray, name: str | None = None) -> "InputSpec":
        """What a NumPy array is.

        >>> InputSpec.from_numpy(np.ones([2, 3], "float32")).shape
        (2, 3)
        """
        expect("InputSpec.from_numpy", "ndarray", ndarray, np.ndarray, "an array")
        return cls(ndarray.shape, ndarray.dtype, name)

    def batch(self, batch_size: Any) -> "InputSpec":
        """Puts an axis in front, here; as in Paddle, the spec itself is given back.

        >>> InputSpec([64]).batch(4).shape
        (4, 64)
        """
        object.__setattr__(self, "shape", (_extent(batch_size), *self.shape))
        return self

    def unbatch(self) -> "InputSpec":
        """Takes the axis in front away, here.

        >>> InputSpec([4, 64]).unbatch().shape
        (64,)
        """
        if not self.shape:
            raise ShapeError("D2S0002", "unbatch(): a spec of shape () has no axis to take away")
        object.__setattr__(self, "shape", self.shape[1:])
        return self


def _extent(d: Any) -> int | None:
    if d is None or (isinstance(d, int | np.integer) and d == -1):
        return None
    if not isinstance(d, int | np.integer) or isinstance(d, bool) or not 0 <= d < 1 << 62:
        raise ArgumentError("D2S0004", f"InputSpec(): {brief(d)} is no extent: an int, or None for any")
    return int(d)
