"""`x[...]`, assignment to it, and iteration, on eager tensors; and what asks for places whose number only values tell.

In: an index as NumPy takes it: lists, arrays and masks become integer tensors first. Out: tensors of their own; a tensor
that was assigned to has the new values.

>>> x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]])
>>> x[x > 1.5].numpy().tolist(), x[::-1, 0].numpy().tolist()
([2.0, 3.0, 4.0], [3.0, 1.0])
>>> x[[0], 1:] = 9
>>> x.numpy().tolist()
[[1.0, 9.0], [3.0, 4.0]]
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from d2s.autodiff.mode import recording
from d2s.autodiff.writes import noted
from d2s.eager.history import acts
from d2s.errors import ArgumentError, CaptureError, DTypeError, IndexRangeError, brief
from d2s.ops.compare import where
from d2s.ops.create import number_of
from d2s.ops.dispatch import current, handlers
from d2s.ops.item import get_item, set_item, written
from d2s.types import NUMBERS


class Indexing:
    """Methods of `Tensor`."""

    __slots__ = ()
    array: np.ndarray
    _new: Callable[[np.ndarray], Any]
    stop_gradient: Any
    _become: Callable[[Any], Any]
    _check_values: Callable[[np.ndarray], None]

    def __getitem__(self, index: Any) -> Any:
        return get_item(self, self._plain(index))

    @acts
    def __setitem__(self, index: Any, value: Any) -> None:
        if not isinstance(value, (Indexing, *NUMBERS)):
            value = self._new(_stored(value))
        mask = getattr(index, "array", index)
        if isinstance(mask, np.ndarray) and mask.dtype == bool and mask.shape == self.array.shape and _single(value):
            new = where(self._new(mask), number_of(value, self.dtype), self)  # type: ignore[attr-defined]
        else:
            index = self._plain(index)
            if self._forgets(value) and (part := written(self, index, value)) is not None:
                self._check_values(self.array)
                self.array[index] = part.array  # only what changes is touched
                noted(self.array)
                return
            new = set_item(self, index, value)
        self._become(new)

    def _forgets(self, value: Any) -> bool:
        """Whether no tape is to know of a change by this value."""
        if handlers.stack:
            return False
        return not recording() or (self.stop_gradient and getattr(value, "stop_gradient", True))

    def __iter__(self) -> Iterator[Any]:
        if not self.array.ndim:
            raise DTypeError("D2S0001", "iteration over a 0-D tensor")
        return (self[n] for n in range(self.array.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool((self == value).array.any()) if isinstance(value, (Indexing, *NUMBERS)) else False  # type: ignore[attr-defined]

    def _plain(self, index: Any) -> Any:
        """The index in the forms ops take."""
        if type(index) in (int, slice):
            return index
        axis, entries = 0, []
        given = index if isinstance(index, tuple) else (index,)
        used = [_axes(entry) for entry in given]
        for entry, count in zip(given, used, strict=True):
            entries += self._entries(entry, axis)
            axis += len(self.array.shape) - sum(used) if entry is Ellipsis else count
        return tuple(entries)

    def _entries(self, entry: Any, axis: int) -> list[Any]:
        """One entry as ops take it: of a mask the places where it holds, one tensor for each of its axes."""
        held = _array(entry)
        if held is None:
            return [entry]
        if held.dtype == bool:
            return [bool(held)] if not held.ndim else [self._new(at) for at in self._places(held, axis)]
        if held.dtype.kind not in "iu":
            raise IndexRangeError("D2S0003", f"an index holds {held.dtype.name}, expected integers or bools")
        return [entry if isinstance(entry, Indexing) else self._new(held.astype(np.int64))]

    def _places(self, mask: np.ndarray, axis: int) -> tuple[np.ndarray, ...]:
        shape = self.array.shape[axis : axis + mask.ndim]
        if mask.shape != shape:
            raise IndexRangeError("D2S0007", f"a mask of shape {list(mask.shape)} does not fit axes of {list(shape)} values")
        known_now(f"how often a mask of shape {list(mask.shape)} holds")
        return np.nonzero(mask)


def known_now(what: str) -> None:
    """Refuses, while capturing, what depends on values."""
    if handlers.stack:
        message = f"{what} is known at run time only, and it is the size of a result"
        raise CaptureError("D2S1001", message, where=current().line(), hint="d2s.where(mask, x, y) keeps the size")


known_now.d2s_not_to_static = True  # type: ignore[attr-defined] # it looks for the user's line itself


def _single(value: Any) -> bool:
    return not isinstance(value, Indexing) or not value.array.ndim


def _array(entry: Any) -> np.ndarray | None:
    """What an entry of an index holds, if it is a tensor, an array or a list."""
    if isinstance(entry, Indexing):
        return entry.array
    if isinstance(entry, bool | np.bool_):
        return np.asarray(entry)
    if not isinstance(entry, np.ndarray | list | tuple):
        return None
    found = _as_array(entry)
    return found.astype(np.int64) if not found.size and isinstance(entry, list | tuple) else found


def _axes(entry: Any) -> int:
    """How many axes an entry is about."""
    if entry is None or entry is Ellipsis:
        return 0
    held = _array(entry)
    return held.ndim if held is not None and held.dtype == bool else 1


def _stored(given: Any) -> np.ndarray:
    """The numbers that are to be stored."""
    found = _as_array(given)
    if found.dtype.kind not in "biuf":
        raise DTypeError("D2S0001", f"assignment(): the value holds {found.dtype.name} values, not real numbers")
    return found


def _as_array(given: Any) -> np.ndarray:
    """What a list, or whatever it is, holds."""
    try:
        return np.asarray(given)
    except (TypeError, ValueError, RecursionError, MemoryError) as error:
        raise ArgumentError("D2S0004", f"{brief(given)} is no array: {error}") from None
