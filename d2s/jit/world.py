"""What a call may change beside its arguments: told, put back, and told again.

In: what a capture stores, and the tensors it reads. Out: places; each can be read as plain data, and remembers how to be put
back as it was.

>>> box = {"n": 1}
>>> place = container("box", box)
>>> box["n"] = 2
>>> place.read(), place.put_back(), box
({'n': 2}, None, {'n': 1})
"""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from d2s.capture.guards import MISSING
from d2s.capture.heap import contents, restore
from d2s.capture.trace import Captured
from d2s.capture.tree import changeable
from d2s.capture.variables import Holder, found_in, put_in
from d2s.eager.tensor import Tensor
from d2s.runtime import random_state


class Place(NamedTuple):
    """Something that calls may change."""

    named: str
    read: Callable[[], Any]
    put_back: Callable[[], None]


def told(value: Any) -> Any:
    """A value as data that does not change: tensors as copies of their arrays."""
    if isinstance(value, Tensor):
        return value.array.copy()
    if isinstance(value, dict):
        return {key: told(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [told(part) for part in value]
    return value


def tensor(t: Tensor) -> Place:
    """The values of a tensor."""
    before = t.array.copy()

    def put_back() -> None:
        if not np.array_equal(t.array, before, equal_nan=t.dtype.kind == "f"):
            t._write(before)

    return Place(f"tensor '{t.name}'" if t.name else "a tensor", lambda: t.array.copy(), put_back)


def gradient(t: Tensor) -> Place:
    """The gradient of a tensor."""
    before = t.grad

    def put_back() -> None:
        t.grad = before

    return Place(f"the gradient of '{t.name}'" if t.name else "a gradient", lambda: told(t.grad), put_back)


def container(named: str, held: Any) -> Place:
    """What a list, dict or set holds."""
    before = contents(held)
    return Place(named, lambda: told(copy.copy(held)), lambda: restore(held, before))


def attribute(owner: Any, name: str) -> Place:
    """An attribute."""
    before = getattr(owner, name, MISSING)

    def put_back() -> None:
        if before is not MISSING:
            setattr(owner, name, before)
        elif hasattr(owner, name):
            delattr(owner, name)

    return Place(f"{type(owner).__name__}.{name}", lambda: told(getattr(owner, name, MISSING)), put_back)


def variable(holder: Holder, name: str) -> Place:
    """A variable of a module or of an outer function."""
    before = found_in(holder, name)
    return Place(f"'{name}'", lambda: told(found_in(holder, name)), lambda: put_in(holder, name, before))


def state_of(owner: Any) -> Place:
    """All that an object of ours keeps: an optimizer's state of a parameter, a scheduler's epoch."""
    held = owner.state if hasattr(owner, "state") else vars(owner)
    before, arrays = dict(held), {name: v.array.copy() for name, v in held.items() if isinstance(v, Tensor)}

    def put_back() -> None:
        held.clear()
        held.update(before)
        for name, array in arrays.items():
            held[name]._write(array)

    return Place(f"the state of a {type(owner).__name__}", lambda: told(dict(held)), put_back)


def streams() -> Iterator[Place]:
    """The random numbers of d2s, Python and NumPy."""
    for named, read, move in (
        ("the state of the random numbers", random_state.get_rng_state, random_state.set_rng_state),
        ("the state of Python's random numbers", random.getstate, random.setstate),
        ("the state of NumPy's random numbers", _of_numpy, np.random.set_state),
    ):
        before = read()
        yield Place(named, read, lambda move=move, before=before: move(before))  # type: ignore[misc]


def _of_numpy() -> Any:
    return tuple(part.tolist() if isinstance(part, np.ndarray) else part for part in np.random.get_state())


def places(captured: Captured) -> list[Place]:
    """All that calls of a captured function may change, but for their arguments."""
    found = [tensor(t) for t in (*captured.lifted, *(read.read() for read in captured.reads)) if isinstance(t, Tensor)]
    found += [container(f"a {type(c).__name__}", c) for held in captured.held.values() for c in changeable(held.read())]
    for kind, owner, *details in captured.stores:
        if kind == "attribute":
            found.append(attribute(owner, details[0]))
        elif kind == "variable":
            found.append(variable(owner, details[0]))
        elif kind in ("content", "more", "entries") and owner[0] == "outside":
            found.append(container(f"a {type(owner[1]).__name__}", owner[1]))
        elif kind == "stepped":
            found.append(state_of(owner.__self__.changes))
    return [*found, *streams()]
