"""Containers from outside that a captured function changes: what they hold is found anew at each call.

In: a list, dict or set. Out: symbols in it, for the time of the capture; or, to see whether anything asks for what it holds,
nonsense in it.

>>> from d2s.capture.symbolic import Tracer
>>> tracer, totals = Tracer("f"), [1.5]
>>> read_contents(tracer, totals)
>>> totals[0].value.type, len(tracer.inputs)
(float, 1)
>>> tracer.heap.put_back(), totals
([], [1.5])
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from d2s import types
from d2s.capture.containers import List
from d2s.capture.guards import MISSING, Guard
from d2s.capture.held import Held, Where, counts, is_rebound, is_structure, read_structure
from d2s.capture.outside import liftable
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.tree import containers
from d2s.capture.users_code import refuse
from d2s.capture.variables import Variable, found_in, place_key
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError
from d2s.types import Type

OF_CONTAINERS = ("content", "length")  # kinds of what is read anew that go with a container, not with a place
_INT = Type(types.int64, python=True)


def changing(tracer: Tracer, owner: Any) -> None:
    """Notes that a list, dict or set is going to be changed: one from outside, or one that the capture has made."""
    if id(owner) in tracer.root.tails:
        refuse("D2S1003", f"a {type(owner).__name__} from outside is changed to which a path or a loop adds items", _ONLY_MORE)
    heap, parted = tracer.root.heap, tracer.root.twins.get(id(owner))
    if parted is not None:
        message = f"a {type(owner).__name__} is changed that may be one with another{parted and ', since '}{parted}"
        refuse("D2S1003", message, "change a copy of it")
    if not heap.has(owner):
        if id(owner) in tracer.root.given:
            heap.take_in(owner)
        else:
            heap.found(owner)
    heap.changing(owner)


_LOOKED_INTO = "a container from outside is looked into to which a path or a loop adds items"
_ONLY_MORE = "only append to a list and store items in a dict, or fill one of the function's"


def add_to(tracer: Tracer, container: Any) -> None:
    """Has what is added to a list from outside go into one of the capture, which may hold what depends on the path.

    Of a dict it holds the pairs that are stored, one after the other.
    """
    tracer.give(container)
    tracer.tails[id(container)] = container, tracer.heap.made(List())


def refuse_added_to(tracer: Tracer, given: Any) -> None:
    """What a run has added to a container so far is not in it: nobody may look into it."""
    if any(id(c) in tracer.root.tails for c in containers(given)):
        refuse("D2S1003", _LOOKED_INTO, _ONLY_MORE)


def refuse_handed(value: Any) -> None:
    """What a step was given that may have changed it is not what it was at the capture: nobody may look into it there."""
    tracer = capturing() if isinstance(value, np.ndarray) else None
    if tracer and id(value) in tracer.root.handed:
        message = "an array of NumPy's from outside is read behind what is given it, and may have changed it"
        refuse("D2S1004", message, "read a copy that NumPy makes of it there: np.copy(a)[0]")


def refuse_looked_into(tracer: Tracer) -> None:
    """The same of all that was captured."""
    for guard in filter(None, [tracer.guards.get((key, "content")) for key in tracer.tails]):
        raise CaptureError("D2S1003", _LOOKED_INTO, where=guard.where, hint=_ONLY_MORE)


def read_contents(tracer: Tracer, container: Any) -> None:
    """Puts into a container that calls change what stands for the tensors and numbers it holds at each call."""
    key = (id(container), "content")
    tracer.guard(key, f"a {type(container).__name__}", lambda: _kinds(container), source=("kinds", container, None))
    tracer.give(container)
    tracer.heap.take_in(container)
    items = list(container.items() if isinstance(container, dict) else enumerate(container))
    kinds = [liftable(value) for _, value in items]
    for (k, _), of in zip(items, kinds, strict=True):
        if of is not None:
            read = functools.partial(item_or_missing, container, k)
            tracer.heap.enter(container, k, tracer.read_at_calls((*key, k), f"[{k!r}]", read, of))


def is_counted_alone(tracer: Tracer, container: Any) -> bool:
    """Whether `len` of this tells of nothing else that it holds: of a list from outside, as far as the capture knows it."""
    known = tracer.root
    if type(container) is not list or id(container) not in known.given or known.heap.has(container):
        return False
    return id(container) not in known.tails and (id(container), "content") not in known.guards.keys() | known.lifts.keys()


def length(tracer: Tracer, container: Any) -> Any:
    """`len` of such a list; of one that calls make longer or shorter, what each finds, and what the capture has added to it."""
    key, heap = (id(container), "length"), tracer.root.heap
    entered = heap.entered.get(id(container), container)
    with heap.as_before(container):
        before: Any = len(container)
        if key in tracer.root.lifts:
            before = tracer.read_at_calls(key, "length", functools.partial(len, container), _INT)
        else:
            tracer.guard(key, "the length of a list", lambda: len(container), source=("length", container, None))
    return before + (len(container) - len(entered)) if len(container) != len(entered) else before


def varying(guards: Iterable[Guard], lifts: dict[Any, Any], held: dict[Any, Held]) -> dict[Any, Any]:
    """What is another one than at a capture, and what that reads anew at each call: the next capture reads it so.

    Numbers, tensors, and tuples, lists and dicts of these.
    """
    found = {}
    for guard in guards:
        now = guard.now()
        if guard.source and (guard.varies() or is_rebound(guard.kept, now)):
            kind, holder, name = guard.source
            if guard.key[1] == "length":
                found[guard.key] = holder
            elif guard.key[1] == "attribute":
                found[guard.key] = Where(holder, name, counts(guard.kept, now))
            elif guard.key[1] in ("global", "closure"):
                found[guard.key] = Where(holder, guard.described if kind == "attribute" else name, counts(guard.kept, now))
    for key, where in lifts.items():
        if key[1] == "length":
            found[key] = where
        elif _is_readable(_found_at(key, where)):
            found[key] = where._replace(counts=where.counts or (key in held and held[key].counts()))
    return found


def _found_at(key: Any, where: Where) -> Any:
    return getattr(where.holder, where.name, MISSING) if key[1] == "attribute" else found_in(where.holder, where.name)


def together(lifts: dict[Any, Any], more: dict[Any, Any]) -> dict[Any, Any]:
    """All that is to be read anew: of containers in places that are, the place tells what they hold."""
    both = lifts | more
    places = [(key, where) for key, where in both.items() if key[1] not in OF_CONTAINERS]
    in_places = {id(c) for key, where in places for c in containers(_found_at(key, where))}
    return {key: where for key, where in both.items() if key[1] != "content" or key[0] not in in_places}


def _is_readable(value: Any) -> bool:
    return type(value) in (int, float, Tensor) or is_structure(value)


def read_variable(tracer: Tracer, key: Any, where: Where) -> None:
    """Has a variable that calls change hold what stands for what it holds at each call."""
    holder, name, _ = where
    read = functools.partial(found_in, holder, name)
    found = read_place(tracer, key, name, read, where)
    if found is MISSING:
        raise CaptureError("D2S1003", f"'{name}' holds what calls cannot read anew")
    place: Any = tracer.heap.place(place_key(holder, name), lambda: Variable(holder, name))
    place.starts_as(found)


def read_place(
    tracer: Tracer, key: Any, described: str, read: Callable[[], Any], where: Where, attribute: tuple[Any, str] | None = None
) -> Any:
    """What stands for what a place holds at each call; MISSING where no call can read that anew."""
    value = read()
    of = liftable(value)
    if of is not None:
        return tracer.read_at_calls(key, described, read, of, attribute)
    return read_structure(tracer, key, described, read, where, attribute) if is_structure(value) else MISSING


def item_or_missing(container: Any, key: Any) -> Any:
    """What is at a place of a container."""
    if isinstance(container, dict):
        return dict.get(container, key, MISSING)  # which makes no item, as a defaultdict's own reading would
    return container[key] if key < len(container) else MISSING


def _kinds(container: Any) -> Any:
    """What of a container stays the same from call to call: its keys, and all that is not read anew."""
    items = container.items() if isinstance(container, dict) else enumerate(container)
    return tuple((k, (str(of.dtype), of.python, len(of.shape)) if (of := liftable(value)) else value) for k, value in items)


class _Nothing:
    """What no captured function can do anything with."""


def empty(tracer: Tracer, container: Any) -> None:
    """Puts nonsense into a container: a capture that is the same with it does not ask for what is there."""
    tracer.give(container)
    tracer.heap.take_in(container)
    nonsense = [_Nothing() for _ in range(len(container) + 3)]
    tracer.heap.hold(container, {k: _Nothing() for k in nonsense} if isinstance(container, dict) else nonsense)
