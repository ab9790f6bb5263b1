"""All that a captured function may change: containers, attributes, tensors in place, the stream of random numbers.

A change is made on a path. When the path ends it is told and undone, so that the others find everything as it was; `branch`
and loops join what was held at their ends. What was there before the capture is put back when the capture ends, and a call
writes it anew (see `capture.stores`): capture acts on nothing.

In: containers as they are made, every change of one; `Place`s for all that is no container. Out: what a path changed.

>>> heap, made = Heap(), [1]
>>> heap.made(made)
[1]
>>> with heap.path() as changes:
...     heap.changing(made)
...     made.append(2)
>>> made, list(changes.values())
([1], [([1], (1, 2))])
"""

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture import containers
from d2s.capture.locks import lock_of, soon

UNREAD = object()  # what is still there, and nobody has asked what that is


class Place:
    """Something else than a container that holds a value: an attribute, a tensor's memory. `now` is what it holds on this path.

    `home` is the region it was made in. `target` says where a call writes what it holds in the end, if it was there before;
    `history`, of a tensor, whether with its place on the tape; `empty`, that what is read there stands elsewhere: no path that
    leaves it as it is may have it written.
    """

    def __init__(
        self, held: Any, home: Any = None, target: Any = None, read: Callable[[], Any] | None = None, empty: bool = False
    ) -> None:
        self.before = self.now = held
        self.home, self.target, self.history, self.empty = home, target, False, empty
        self.read = read  # what it holds, where that was not asked yet
        self.begun = held  # what was known of that when it was made

    def held(self) -> Any:
        """What it holds; where no path has asked yet, what was there before the capture."""
        if self.now is not UNREAD:
            return self.now
        found = self.first()
        if not self.empty:
            self.before = self.now = found
        return found

    def known(self) -> "Place":
        """The same, just made, where what was there before has been asked for already."""
        self.held()
        self.begun = self.now
        return self

    def first(self) -> Any:
        assert self.read is not None
        return self.read()

    def forget(self) -> None:
        """Has it as it was made: what was there before is not known."""
        if self.read is not None:
            self.before = self.now = self.begun

    def end(self) -> None:
        """At the end of the capture: what it really is holds again what it held before."""


class Memory(Place):
    """A tensor's memory: what it holds are values, none of them a tensor of its own."""


Changes = dict[int, tuple[Any, Any]]  # by id: a container or a place, and what it held at the end of the path
Known = dict[Any, dict[str, Any]]  # by key: what a place holds, and knows of what was there before


class Heap:
    """What one capture may change. All of it is kept: an id stays that of its object."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Any, Any]] = {}  # by id: a container, and the region it was made in
        self._touched: list[int] = []  # the ids of containers, once for each change
        self._paths: list[tuple[Any, dict[int, tuple[Any, Any]]]] = []  # a region, and what was held before
        self.places: dict[Any, Place] = {}
        self.given: dict[int, tuple[Any, Any]] = {}  # containers from outside that were changed, and what they held
        self.entered: dict[int, Any] = {}  # the same, as the capture reads it
        self.turns = contextlib.ExitStack()  # their locks, until the capture ends

    def made(self, container: Any) -> Any:
        """A container that was made just now."""
        self._made[id(container)] = container, self.here()
        return container

    def found(self, container: Any) -> None:
        """A container that was made somewhere, nobody saw where: it may be known outside of all paths."""
        self._made[id(container)] = container, None

    def has(self, value: Any) -> bool:
        return id(value) in self._made

    def records(self) -> list[Any]:
        """The objects of the user's classes that were made."""
        return [made for made, _ in self._made.values() if not containers.is_container(made)]

    def is_record(self, value: Any) -> bool:
        return self.has(value) and not containers.is_container(value)

    def place(self, key: Any, make: Callable[[], Place]) -> Place:
        """The place known by a key."""
        if key not in self.places:
            self.places[key] = make()
        return self.places[key]

    def take_in(self, container: Any) -> bool:
        """Notes that a container from outside is going to be changed; whether that is new."""
        new = id(container) not in self.given
        if new:
            self.turns.enter_context(soon(lock_of(container)))
            self.given[id(container)] = container, contents(container)
            self.entered[id(container)] = contents(container)
        return new

    def enter(self, container: Any, key: Any, value: Any) -> None:
        """Has the capture find another value in a container from outside than the one that is there now."""
        held = self.entered[id(container)]
        held = held | {key: value} if isinstance(held, dict) else (*held[:key], value, *held[key + 1 :])
        self.entered[id(container)] = held
        container[key] = value

    def hold(self, container: Any, held: Any) -> None:
        """Has the capture find all else in a container from outside."""
        restore(container, held)
        self.entered[id(container)] = contents(container)

    @contextlib.contextmanager
    def as_before(self, container: Any) -> Iterator[None]:
        """A container from outside as it was before the capture."""
        found = self.given.get(id(container))
        now = contents(container) if found else None
        if found:
            restore(container, found[1])
        try:
            yield
        finally:
            if found:
                restore(container, now)

    def changing(self, owner: Any) -> None:
        """Notes what is held before a change, unless nothing outside of this path knows the owner."""
        self._touched += () if isinstance(owner, Place) else (id(owner),)
        if self._paths and self.home(owner) is not (self.here() or self):
            self._paths[-1][1].setdefault(id(owner), (owner, contents(owner)))

    def mark(self) -> tuple[int, int]:
        """The moment, for `changed_since`."""
        return len(self._made), len(self._touched)

    def changed_since(self, mark: tuple[int, int]) -> bool:
        """Whether a container was changed that was there at that moment."""
        made, touched = mark
        later = set(itertools.islice(self._made, made, None))
        return any(key not in later for key in self._touched[touched:])

    def here(self) -> Any:
        """The path that is being recorded; None for the capture itself."""
        return self._paths[-1][0] if self._paths else None

    def inside(self, path: Any) -> list[Any] | None:
        """The paths that are being recorded within one, outer before inner; None where that one is over."""
        around = [None, *(region for region, _ in self._paths)]
        place = next((n for n, one in enumerate(around) if one is path), -1)
        return around[place + 1 :] if place >= 0 else None

    def home(self, owner: Any) -> Any:
        """The path a container or a place was made on; None for one that was there before all paths."""
        return owner.home if isinstance(owner, Place) else self._made.get(id(owner), (owner, None))[1]

    @contextlib.contextmanager
    def path(self, region: Any = None) -> Iterator[Changes]:
        """A path of its own: what it changes is told at its end, and undone."""
        changes: Changes = {}
        self._paths.append((region, {}))
        try:
            yield changes
        finally:
            for key, (owner, before) in self._paths.pop()[1].items():
                changes[key] = owner, contents(owner)
                restore(owner, before)

    def known(self) -> Known:
        """What is known of each place now, for `forget`."""
        return {key: dict(vars(place)) for key, place in self.places.items()}

    def forget(self, before: Known) -> None:
        """Has nothing known that was read of a place since, on paths that are over: the same statements find it as it was."""
        for key, place in self.places.items():
            if key in before:
                vars(place).update(before[key])
            else:
                place.forget()

    @contextlib.contextmanager
    def at_end_of(self, changes: Changes) -> Iterator[None]:
        """All as it was when a path ended."""
        now = [(owner, contents(owner)) for owner, _ in changes.values()]
        for owner, held in changes.values():
            restore(owner, held)
        try:
            yield
        finally:
            for owner, held in now:
                restore(owner, held)

    def set(self, owner: Any, held: Any) -> None:
        """Has a container or a place hold something else."""
        self.changing(owner)
        restore(owner, held)

    def changed(self) -> list[tuple[Any, Any, Any]]:
        """Containers from outside that hold something else now, with what the capture found in them and what they hold.

        In the order of their first changes, whenever they were taken in.
        """
        order = {key: n for n, key in reversed(list(enumerate(self._touched)))}
        given = sorted(self.given.items(), key=lambda one: order.get(one[0], len(order)))
        found = [(c, self.entered[key], contents(c)) for key, (c, _) in given]
        return [(c, entered, left) for c, entered, left in found if not _unchanged(entered, left)]

    def put_back(self) -> list[tuple[Any, Any, Any]]:
        """At the end of the capture: what was there before holds again what it held before; returns what `changed` does."""
        found = self.changed()
        for place in self.places.values():
            place.end()
        for container, before in self.given.values():
            restore(container, before)
        return found


def _unchanged(entered: Any, left: Any) -> bool:
    if not isinstance(left, tuple | dict | frozenset):
        return False  # it depends on the path
    if isinstance(entered, frozenset):
        return bool(entered == left)
    pairs = [list(held.items()) if isinstance(held, dict) else list(enumerate(held)) for held in (entered, left)]
    return len(pairs[0]) == len(pairs[1]) and all(k == j and x is y for (k, x), (j, y) in zip(*pairs, strict=True))


def contents(owner: Any) -> Any:
    """What a container or a place holds, as something that does not change."""
    return owner.now if isinstance(owner, Place) else containers.contents(owner)


def restore(owner: Any, held: Any) -> None:
    if isinstance(owner, Place):
        owner.now = held
    else:
        containers.restore(owner, held)
