"""Which memory was changed in place, when, and at which line of the user's: what a gradient asks before it reads saved values.

In: an array that was just written to. Out: its latest `Write`, while the memory lives. Time is the tape's clock, which also
numbers its nodes.

>>> import numpy as np
>>> a, before = np.zeros(2), now()
>>> noted(a)
>>> after(before), of(a[:1]).order > before, of(np.zeros(2)) is None
(True, True, True)
"""

import dataclasses
import itertools
import weakref
from types import CodeType
from typing import Any

import numpy as np

from d2s.errors import GradientError
from d2s.runtime import user_lines

clock = itertools.count()


@dataclasses.dataclass(slots=True)
class Write:
    """The latest change of some memory, and how many there were."""

    order: int
    place: tuple[CodeType | None, int]
    count: int
    owner: "weakref.ref[np.ndarray]"

    @property
    def line(self) -> str:
        return user_lines.spelled(*self.place)


_writes: dict[int, Write] = {}  # by address
_latest = [-1]


def now() -> int:
    """The next tick of the clock."""
    return next(clock)


def after(order: float) -> bool:
    """Whether anything at all was written after a time."""
    return _latest[0] > order


def of(array: np.ndarray) -> Write | None:
    """The latest write to the memory of an array."""
    found = _writes.get(_address(array))
    return found if found is not None and found.owner() is not None else None


def count(array: np.ndarray) -> int:
    """How often the memory of an array was written to."""
    write = of(array)
    return write.count if write else 0


def noted(array: np.ndarray) -> None:
    """Notes that the memory of an array has other values from now on."""
    address, order, place = _address(array), now(), user_lines.here()
    known = _writes.get(address)
    if known is None or known.owner() is None:
        _writes[address] = Write(order, place, 1, weakref.ref(_owner(array), _Forget(address)))
    else:
        known.order, known.place, known.count = order, place, known.count + 1
    _latest[0] = order


def refusal(said: str, made: str, of: Any, changed: str) -> GradientError:
    """What a gradient says that needs values which were changed in place, with both of the user's lines."""
    made, changed = (f" (at {where})" if where else "" for where in (made, changed))
    message = f"the gradient of {said}{made} needs the values of a {of} that was changed in place{changed}"
    return GradientError("D2S0006", message, hint="x.clone() before you change it, or change it after backward()")


def _address(array: np.ndarray) -> int:
    address: int = array.__array_interface__["data"][0]  # half of what `ctypes.data` takes
    return address


def _owner(array: np.ndarray) -> np.ndarray:
    """The array that keeps the memory: it lives as long as any view of it."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


@dataclasses.dataclass(slots=True)
class _Forget:
    """Drops the write to memory that is gone."""

    address: int

    def __call__(self, owner: Any) -> None:
        if self.address in _writes and _writes[self.address].owner is owner:
            del _writes[self.address]
