"""Changing a tensor in place, in a graph: the symbol keeps its name, what it holds is another value from here on.

In: `x.add_(y)`, `x.fill_(1.0)`, `x.set_value(y)`, `x[0] = y` on symbols. Out: what the tensor holds then, noted as a change
on the path that runs. A call writes it into the memory of a tensor that was there before (see `capture.stores`).

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type, float32
>>> tracer = Tracer("f")
>>> x = tracer.input(Type(float32, (2,)), "x")
>>> with handling(tracer):
...     y = x.add_(1.0)
>>> y is x, tracer.now(x) is x
(True, False)
"""

import numbers
from collections.abc import Callable
from typing import Any

from d2s.eager.in_place import InPlace
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, CaptureError, DTypeError, ShapeError
from d2s.ops import OPS
from d2s.ops.create import number_of
from d2s.ops.dispatch import current
from d2s.ops.item import set_item
from d2s.types import Shape, Type, bool_


class ChangesInPlace:
    """Methods of `SymbolicTensor` that change what it stands for."""

    __slots__ = ()
    value: Any

    def _become(self, result: Any, history: bool = True) -> Any:
        """The tensor has the values of `result` from here on; `history`: and its place on the tape."""
        self._check_taken(result.value.type)
        result = self._as_wide(result)
        current().overwrite(self, result)  # type: ignore[attr-defined]
        current().become(self, result, history)  # type: ignore[attr-defined]
        return self

    def _check_taken(self, have: Type) -> None:
        """Whether the tensor can take values in place."""
        want = self.value.type
        if have.dtype is not want.dtype:
            hint = f"y.astype('{want.dtype.name}') what it meets, or compute a new tensor"
            raise DTypeError("D2S0003", f"a {want.dtype.name} tensor cannot take {have.dtype.name} values in place", hint=hint)
        self._check_shape(have.shape)

    def _check_shape(self, have: Shape) -> None:
        """Whether it can be the tensor's own; of an extent that a run finds, the op that met it has the run look."""
        want = self.value.type.shape
        pairs = zip(have, want, strict=False)
        if len(have) != len(want) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
            raise ShapeError("D2S0002", f"a tensor of shape {list(want)} cannot take shape {list(have)} in place")

    def _as_wide(self, result: Any) -> Any:
        """The result, whose extents that a run finds have to be 1 where the tensor's are: arithmetic would have repeated it."""
        have, want = result.value.type.shape, self.value.type.shape
        if not any(w == 1 and isinstance(h, str) for h, w in zip(have, want, strict=True)):
            return result
        return OPS["reshape"](result, [d if isinstance(d, int) else 0 for d in want])

    def _turn(self, result: Any, as_they_lie: bool = False) -> Any:
        """The same for methods that may change shape or dtype, which a graph's tensors keep."""
        have, want = result.value.type, self.value.type
        if have != want:
            message = f"a tensor {want} is made {have} in place"
            raise CaptureError("D2S1003", message, where=current().line(), hint="give the new one a name: x = x.reshape(...)")
        return self._become(result)

    def set_value(self, value: Any) -> None:
        given = _tensor(value, self.value.type)
        have, want = given.value.type.shape, self.value.type.shape
        try:
            self._check_shape(have)
        except ShapeError:
            raise ShapeError("D2S0002", f"set_value(): expected shape {list(want)}, got {list(have)}") from None
        self._become(OPS["detached"](given if have == want else self._replaced(given)), history=False)

    def copy_(self, other: Any, blocking: bool = True) -> Any:
        if current().type_of(other) is None:
            raise DTypeError("D2S0001", f"copy_(): 'other' expects a Tensor, got {type(other).__name__}")
        self._check_taken(current().type_of(other))  # type: ignore[arg-type]
        return self._become(self._replaced(other))

    def fill_(self, value: Any) -> Any:
        given = number_of(value, self.value.type.dtype)
        held = current().type_of(given)
        if held is not None and any(d != 1 for d in held.shape):
            raise ArgumentError("D2S0004", f"fill_(): 'value' has shape {list(held.shape)}, expected one number")
        return self._become(self._replaced(given if held is None else OPS["detached"](given)))

    def zero_(self) -> Any:
        return self.fill_(False if self.value.type.dtype is bool_ else 0)

    def _replaced(self, by: Any) -> Any:
        """`by` as the tensor's values; where `by` has an extent of 1, one that a run finds has to be 1, too."""
        never, of = current().constant(False, Type(bool_)), current().type_of(by)
        if of is not None and any(d == 1 and isinstance(w, str) for d, w in zip(of.shape, self.value.type.shape, strict=False)):
            by = OPS["where"](never, OPS["reshape"](self, [1 if d == 1 else 0 for d in of.shape]), by)
        return OPS["where"](never, self, by)

    def _set_item(self, index: Any, value: Any, places: Callable[[], Any]) -> None:
        """`x[index] = value`; a mask of the tensor's shape, with one value, chooses element by element, all else by places."""
        held = current().type_of(index)
        if held is not None and held.dtype is bool_ and held.shape == self.value.type.shape and _single(value):
            self._become(OPS["where"](index, number_of(value, self.value.type.dtype), self))
        else:
            self._become(set_item(self, places(), value))


def _single(value: Any) -> bool:
    held = current().type_of(value)
    return isinstance(value, numbers.Real) if held is None else not held.shape


def _tensor(value: Any, like: Type) -> Any:
    """What was given, as a symbol; a list or a number is the same at every call."""
    if current().type_of(value) is None:
        value = current().data(to_tensor(value, like.dtype))  # type: ignore[attr-defined]
    return current().lift(value) if isinstance(value, Tensor) else value  # type: ignore[attr-defined]


def method(symbol: Any, name: str) -> Any:
    """The in-place form of an op, as a method of a symbol; None where there is none."""
    found = getattr(vars(InPlace).get(name), "__wrapped__", None)
    return None if found is None or not hasattr(InPlace, name) else found.__get__(symbol)
