"""Changing a tensor where it lies: `x.add_(y)`, `x.fill_(1.0)`, `x.set_value(...)`; what shares the memory sees it.

The values are written into the memory of the tensor, its place on the tape becomes that of the result. What gradients have
saved of the old values is gone: one that needs them says so (see `autodiff.writes`). Dtype and shape stay, but where a change
of them is what a method is for: then nothing is overwritten, and who shared the memory keeps what it was.

>>> x = d2s.to_tensor([1.0, 4.0])
>>> y = x.detach()
>>> x.sqrt_().add_(1.0) is x, y.tolist()
(True, [2.0, 3.0])
"""

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from d2s import types
from d2s.autodiff import writes
from d2s.autodiff.mode import recording
from d2s.eager.history import acts
from d2s.errors import ArgumentError, DTypeError, GradientError, ShapeError
from d2s.ops import OPS
from d2s.ops.dispatch import current
from d2s.ops.recording import Symbolic


def refuse_leaf() -> NoReturn:
    """Of a leaf that wants a gradient and is changed in place."""
    message = "a leaf that wants a gradient cannot be changed in place: there is nowhere its gradient could go"
    raise GradientError("D2S0006", message, hint="change it under d2s.no_grad(), or a copy of it: x.clone()")


class InPlace:
    """Methods of `Tensor`; `in_place_forms` adds those that are the in-place forms of functions."""

    __slots__ = ()
    array: np.ndarray
    stop_gradient: Any
    node: Any
    _new: Callable[..., Any]
    _given: Callable[[Any], Any]
    _grad: Any
    _retained: Callable[[], Any]
    retain_grads: Callable[[], None]

    def _become(self, result: Any) -> Any:
        """This tensor now has the values and the history of `result`, which was computed from it: the one way to change it.

        Where nothing is recorded only the values change. In a declared program each run changes it.
        """
        if isinstance(result, Symbolic):
            current().assign(self, result)  # type: ignore[attr-defined]
            return self
        self._check_values(result.array)
        if not recording():
            self._write(result.array)
            return self
        self._check_place()
        if hasattr(result.node, "outlive"):
            result.node.outlive(self.array)
        self._write(result.array)
        self._move(result)
        return self

    def _turn(self, result: Any, as_they_lie: bool = False) -> Any:
        """This tensor now is `result`, which was computed from it and may have another shape or dtype.

        `as_they_lie`: the values in the memory stay, only the shape is another. Else a new type takes new memory.
        """
        have, new = self.array, result.array
        if not as_they_lie and have.shape == new.shape and have.dtype == new.dtype:
            return self._become(result)
        if not self.stop_gradient and (self.node is None or not recording()):
            message = "a tensor that wants a gradient keeps its shape and dtype, where it is a leaf or nothing is recorded"
            raise GradientError("D2S0006", message, hint="compute a new tensor: x.reshape(...), x.astype(...)")
        self.array = have.reshape(new.shape) if as_they_lie else new  # type: ignore[misc]
        if hasattr(result.node, "outlive"):
            result.node.outlive(self.array)  # which is not saved twice
        self._move(result)
        self._grad = None  # it was that of another shape or dtype
        return self

    def _move(self, result: Any) -> None:
        """Takes the place on the tape that `result` has."""
        kept = [handle.remove() for handle in self._retained()]
        self.node, self.stop_gradient = result.node, result.stop_gradient
        if kept:
            self.retain_grads()

    def _check_place(self) -> None:
        """Whether a change that is recorded has a place on the tape."""
        if self.node is None and not self.stop_gradient:
            refuse_leaf()

    def _check_values(self, values: np.ndarray) -> None:
        """Whether values can go into this tensor's memory."""
        if values.dtype != self.array.dtype:
            have, want = types.dtype(values.dtype).name, types.dtype(self.array.dtype).name
            hint = f"y.astype('{want}') what it meets, or compute a new tensor"
            raise DTypeError("D2S0003", f"a {want} tensor cannot take {have} values in place", hint=hint)
        if values.shape != self.array.shape:
            message = f"a tensor of shape {list(self.array.shape)} cannot take shape {list(values.shape)} in place"
            raise ShapeError("D2S0002", message)
        if not self.array.flags.writeable:
            raise ArgumentError("D2S0004", "the memory of this tensor is read-only", hint="change x.clone()")

    def _write(self, values: np.ndarray) -> None:
        np.copyto(self.array, values)
        writes.noted(self.array)

    @acts
    def set_value(self, value: Any) -> None:
        """New values of the same shape, without history: those of a tensor, an array, a list.

        >>> x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> x.set_value([5.0, 6.0])
        >>> x.tolist(), x.is_leaf, x.stop_gradient
        ([5.0, 6.0], True, False)
        """
        values = self._given(value).array
        if values.shape != self.array.shape:
            message = f"set_value(): expected shape {list(self.array.shape)}, got {list(values.shape)}"
            raise ShapeError("D2S0002", message)
        self._check_values(values)
        self._write(values)

    @acts
    def copy_(self, other: Any, blocking: bool = True) -> Any:
        """Becomes a copy of a tensor of the same shape and dtype; gradients go to that one.

        >>> d2s.to_tensor([0.0, 0.0]).copy_(d2s.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
        """
        if isinstance(other, type) or not hasattr(other, "array"):
            raise DTypeError("D2S0001", f"copy_(): 'other' expects a Tensor, got {type(other).__name__}")
        self._check_values(other.array)
        return self._become(self._replaced(other))

    @acts
    def fill_(self, value: Any) -> Any:
        """Becomes one number everywhere.

        >>> d2s.to_tensor([1.0, 2.0]).fill_(7).tolist()
        [7.0, 7.0]
        """
        given = self._given(value)
        if given.array.size != 1:
            raise ArgumentError("D2S0004", f"fill_(): 'value' has shape {list(given.array.shape)}, expected one number")
        return self._become(self._replaced(self._new(given.array.reshape(()))))

    @acts
    def zero_(self) -> Any:
        """Becomes 0 everywhere.

        >>> d2s.to_tensor([1.0, 2.0]).zero_().tolist()
        [0.0, 0.0]
        """
        return self._become(self._replaced(self._given(0)))

    def _replaced(self, by: Any) -> Any:
        """`by` in this one's shape, as what became of it: its own gradient is 0."""
        return OPS["where"](self._new(types.array_of(False, types.bool_)), self, by)
