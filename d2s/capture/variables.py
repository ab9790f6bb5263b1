"""Variables of modules and of outer functions that a captured function assigns.

Such a variable is a place (see `capture.heap`) whose content is really in the variable while the capture goes on, so that all
that reads it finds what was assigned. In the end the variable holds again what it held before; each call writes it anew.

>>> scope = {"total": 1}
>>> total = Variable(scope, "total")
>>> total.now = 2
>>> scope["total"], (total.end(), scope["total"]), total.now
(2, (None, 1), 2)
"""

import contextlib
import types
from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture.forms import OneOf
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD, Place
from d2s.capture.undefined import Undefined

Holder = types.CellType | dict[str, Any]


def found_in(holder: Holder, name: str) -> Any:
    """What a variable holds; MISSING where it has no value."""
    if isinstance(holder, dict):
        return holder.get(name, MISSING)
    try:
        return holder.cell_contents
    except ValueError:
        return MISSING


def place_key(holder: Holder, name: str) -> tuple[Any, ...]:
    """By which key the place of a variable is known."""
    return "variable", id(holder), name if isinstance(holder, dict) else ""


def guard_key(holder: Holder, name: str) -> tuple[Any, ...]:
    """By which key the guard of a variable is known."""
    return (id(holder), "global", name) if isinstance(holder, dict) else (id(holder), "closure")


def put_in(holder: Holder, name: str, value: Any) -> None:
    """Has a variable hold a value; of MISSING, none."""
    if isinstance(holder, dict) and value is MISSING:
        holder.pop(name, None)
    elif isinstance(holder, dict):
        holder[name] = value
    elif value is not MISSING:
        holder.cell_contents = value
    elif found_in(holder, name) is not MISSING:
        del holder.cell_contents


class Variable(Place):
    """One variable. `inside`: the captured function made it, so nothing of it is left when a call ends."""

    def __init__(self, holder: Holder, name: str, home: Any = None, inside: bool = False) -> None:
        self.holder, self.name, self.inside = holder, name, inside
        self.real = found_in(holder, name)
        self.absent = Undefined(name, error=NameError(f"name '{name}' is not defined"))
        self.asked = self.ended = False  # whether the capture depends on what was there before; whether it is over
        self.start = self.absent if self.real is MISSING else self.real
        self.held_now: Any = UNREAD
        super().__init__(UNREAD, home, None if inside else ("variable", holder, name))

    @property
    def now(self) -> Any:  # type: ignore[override]
        """What it holds on this path; UNREAD where that is what was there before, which nothing has asked for."""
        if self.inside and not self.ended:
            found = found_in(self.holder, self.name)
            return self.absent if found is MISSING else found
        return self.start if self.asked and self.held_now is UNREAD else self.held_now

    @now.setter
    def now(self, value: Any) -> None:
        self.held_now = value
        real = self.start if value is UNREAD else value
        put_in(self.holder, self.name, MISSING if isinstance(real, Undefined) else real)

    def starts_as(self, value: Any) -> None:
        """Has the capture find another value than the one that is there."""
        self.start = value
        self.ask()
        self.now = UNREAD

    def ask(self) -> None:
        """From now on the capture depends on what was there before."""
        self.asked, self.before = True, self.start
        if isinstance(self.held_now, OneOf):
            self.now = OneOf(self.held_now.tag, [self.start if one is UNREAD else one for one in self.held_now.alternatives])

    def forget(self) -> None:
        if not self.inside:
            self.asked, self.before, self.now = False, UNREAD, UNREAD

    @contextlib.contextmanager
    def as_before(self) -> Iterator[None]:
        """The variable as it was before the capture."""
        held = found_in(self.holder, self.name)
        put_in(self.holder, self.name, self.real)
        try:
            yield
        finally:
            put_in(self.holder, self.name, held)

    def end(self) -> None:
        if not self.ended:
            self.held_now, self.ended = self.now, True
            if not self.inside:
                put_in(self.holder, self.name, self.real)


class Shared(Place):
    """One variable of a statement whose body a function runs that does not know it: see `convert.generators`."""

    def __init__(self, get: Callable[[], tuple[Any, ...]], set: Callable[[tuple[Any, ...]], None], k: int, home: Any) -> None:
        self.get, self.set, self.k = get, set, k
        self.before, self.home, self.target, self.history, self.read = get()[k], home, None, False, None
        self.begun = self.before

    @property
    def now(self) -> Any:  # type: ignore[override]
        return self.get()[self.k]

    @now.setter
    def now(self, value: Any) -> None:
        held = self.get()
        self.set((*held[: self.k], value, *held[self.k + 1 :]))
