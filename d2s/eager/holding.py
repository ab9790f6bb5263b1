"""What a tensor holds: its memory given and taken, how it lies there, one of its values, functions applied to it.

>>> x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]])
>>> x.item(2), x.item(1, 1), x.strides, x.apply(lambda v: v * 2.0).tolist()
(3.0, 4.0, [2, 1], [[2.0, 4.0], [6.0, 8.0]])
"""

import itertools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import place, types
from d2s.autodiff.mode import recording
from d2s.eager.history import acts
from d2s.errors import ArgumentError, DTypeError, GradientError, IndexRangeError, brief
from d2s.ops import conversions
from d2s.ops.dispatch import handlers
from d2s.types import DType


class Holding:
    """Methods of `Tensor`."""

    __slots__ = ()
    array: np.ndarray
    stop_gradient: bool
    node: Any
    _grad: Any
    _new: Callable[[np.ndarray], Any]
    _turn: Callable[..., Any]
    detach: Callable[[], Any]

    def item(self, *at: int) -> Any:
        """The only value as a Python number; or the one at a place: its number in the row of all, or one index for each axis.

        >>> d2s.to_tensor(2.5).item(), d2s.to_tensor([1, 2]).item(1)
        (2.5, 2)
        """
        return self._one() if not at else self.array.item(*_place(self.array.shape, at))

    def _one(self) -> Any:
        if self.array.size != 1:
            raise ArgumentError("D2S0004", f"a tensor of shape {list(self.array.shape)} is not one Python value")
        return self.array.item()

    @property
    def data(self) -> Any:
        """The same memory without history; set, this tensor's memory is that of another one from then on.

        >>> x, y = d2s.to_tensor([1.0]), d2s.to_tensor([5.0, 6.0])
        >>> x.data = y
        >>> y.fill_(7.0).shape, x.tolist()
        ([2], [7.0, 7.0])
        """
        return self.detach()

    @data.setter
    def data(self, other: Any) -> None:
        if not isinstance(other, Holding):
            raise DTypeError("D2S0001", f"data: expects a Tensor, got {type(other).__name__}")
        alike = other.array.shape == self.array.shape and other.array.dtype == self.array.dtype
        if not alike and not self.stop_gradient:
            message = "data: a tensor that wants a gradient keeps its shape and dtype"
            raise GradientError("D2S0006", message, hint="make a new tensor of it")
        self.array = other.array  # type: ignore[misc]

    def value(self) -> Any:
        """The tensor itself."""
        return self

    def view(self, shape_or_dtype: Any, name: str | None = None) -> Any:
        """The values in another shape; or, for a dtype, the same memory with its bits read as that.

        >>> d2s.to_tensor([[1.0, 2.0]]).view([2]).tolist(), d2s.to_tensor([1.0]).view("int32").tolist()
        ([1.0, 2.0], [1065353216])
        """
        if handlers.stack or not isinstance(shape_or_dtype, str | type | DType | np.dtype):
            return conversions.view(self, shape_or_dtype)
        return self._bits(types.dtype(shape_or_dtype))

    def _bits(self, of: DType) -> Any:
        if not self.stop_gradient and recording():
            raise GradientError("D2S0006", "view() of bits has no gradient", hint="x.detach(), or x.astype(...) for the values")
        shape, size = self.array.shape, self.array.itemsize
        if not shape or (shape[-1] * size) % of.size or of is types.bool_:
            message = (
                f"view(): {types.dtype(self.array.dtype).name} values of shape {list(shape)} have no bits that are {of.name}s"
            )
            raise ArgumentError("D2S0004", message)
        row = self.array.reshape(-1).view(of.numpy)
        return self._new(row.reshape(*shape[:-1], shape[-1] * size // of.size))

    @property
    def persistable(self) -> bool:
        """Whether it is a model's own: parameters are."""
        return False

    @persistable.setter
    def persistable(self, persistable: bool) -> None:
        message = "persistable: only parameters and buffers of layers are kept with a model"
        raise ArgumentError("D2S0004", message, hint="layer.register_buffer(name, tensor, persistable=True)")

    def pin_memory(self, blocking: bool = True) -> Any:
        """Memory is pinned for GPUs, and there is none: says so."""
        return place.usable("gpu", "pin_memory")

    @acts
    def apply(self, func: Callable[[Any], Any]) -> Any:
        """What a function makes of this tensor, which is to want no gradient."""
        return _applied(self, func, "apply")

    @acts
    def apply_(self, func: Callable[[Any], Any]) -> Any:
        """Becomes what a function makes of this tensor, which is to want no gradient.

        >>> d2s.to_tensor([1.0, 2.0]).apply_(lambda v: v * 2.0).tolist()
        [2.0, 4.0]
        """
        found = _applied(self, func, "apply_")
        if not isinstance(found, Holding):
            raise DTypeError("D2S0001", f"apply_(): the function gave a {type(found).__name__}, expected a Tensor")
        return self._turn(found)


def _applied(x: Any, function: Any, name: str) -> Any:
    if not callable(function):
        raise DTypeError("D2S0001", f"{name}(): 'func' expects a function, got {type(function).__name__}")
    if not x.stop_gradient:
        raise GradientError("D2S0006", f"{name}() to a tensor that wants a gradient", hint="call the function with it")
    return function(x)


def _place(shape: tuple[int, ...], at: tuple[Any, ...]) -> tuple[int, ...]:
    """Checked indices of one element."""
    ends = (math.prod(shape),) if row_meant(at, len(shape)) else shape
    return tuple(itertools.starmap(inside, zip(at, ends, strict=True)))


def inside(given: Any, end: int) -> int:
    """An index that `item(...)` is given for so many values."""
    index = as_index(given)
    if not 0 <= index < end:
        raise IndexRangeError("D2S0007", f"item(): index {brief(given)} is out of range for {end} values")
    return index


def row_meant(at: tuple[Any, ...], rank: int) -> bool:
    """Whether `item(...)` is given the number of an element in the row of all, not one index for each axis."""
    if len(at) not in (1, rank):
        raise ArgumentError("D2S0004", f"item(): {len(at)} indices for {rank} axes")
    return len(at) == 1


def as_index(index: Any) -> int:
    """What `item(...)` is given, as an int."""
    try:
        return operator.index(index)
    except TypeError:
        raise DTypeError("D2S0001", f"item(): an index is an int, not {brief(index)}") from None
