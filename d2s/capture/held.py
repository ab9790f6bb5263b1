"""Tuples, lists and dicts in places where each call finds another one: of one structure, and what they hold is read anew.

In: a place's value, and how it is read. Out: a structure of symbols, and `Held`, which tells whether a call finds one like it.

>>> box = type("Box", (), {"pair": (0.5, "a")})()
>>> held = Held("pair", lambda: box.pair, None, *parts_of(box.pair, False))
>>> box.pair = (0.7, "a")
>>> held.holds()
True
>>> box.pair = (0.7, "b")
>>> held.holds()
False
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from d2s.capture.containers import stand_in
from d2s.capture.guards import MISSING, fingerprint
from d2s.capture.outside import liftable
from d2s.capture.symbolic import Tracer
from d2s.capture.tree import Skeleton, changeable, containers, flatten, rebuild
from d2s.eager.tensor import Tensor

ANEW = object()  # in the place of what each call reads anew


class Where(NamedTuple):
    """A place that calls read anew: a variable's or an attribute's. `counts`: whether ints in what it holds are, too."""

    holder: Any
    name: str
    counts: bool = False


class Held(NamedTuple):
    """A structure that a capture found in a place; `leaves` are those that stay what they are, among ANEW."""

    described: str
    read: Callable[[], Any]
    attribute: tuple[Any, str] | None
    skeleton: Skeleton
    leaves: Sequence[Any]
    path: tuple[Any, ...] = ()  # which begins there

    def holds(self) -> bool:
        found, skeleton = flatten(self.read())
        return bool(skeleton == self.skeleton) and all(
            mine is ANEW or fingerprint(mine) == fingerprint(now) for mine, now in zip(self.leaves, found, strict=True)
        )

    def counts(self) -> bool:
        """Whether an int is another now."""
        found, skeleton = flatten(self.read())
        pairs = zip(self.leaves, found, strict=True) if skeleton == self.skeleton else ()
        return any(type(mine) is type(now) is int and mine != now for mine, now in pairs)


def parts_of(value: Any, counts: bool) -> tuple[Skeleton, list[Any]]:
    """The skeleton of a value and its leaves, in the place of those that are read anew ANEW."""
    leaves, skeleton = flatten(value)
    return skeleton, [ANEW if _is_read(leaf, counts) else leaf for leaf in leaves]


def _is_read(leaf: Any, counts: bool) -> bool:
    return type(leaf) in (Tensor, float) or (counts and liftable(leaf) is not None)


def is_structure(value: Any) -> bool:
    """Whether it holds, at any depth, what calls can read anew."""
    leaves, skeleton = flatten(value)
    return skeleton is not None and any(map(liftable, leaves))


def is_rebound(before: Any, now: Any) -> bool:
    """Whether a place holds another one of what each call can read anew."""
    if before is now or isinstance(before, int | float):
        return False
    if type(before) is Tensor:
        return type(now) is Tensor
    return is_structure(before) and flatten(before)[1] == flatten(now)[1]


def counts(before: Any, now: Any) -> bool:
    """Whether an int in a structure becomes another one."""
    mine, skeleton = flatten(before)
    theirs, other = flatten(now)
    pairs = zip(mine, theirs, strict=True) if skeleton == other else ()
    return any(type(a) is int and not (type(b) is int and a == b) for a, b in pairs)


def read_structure(
    tracer: Tracer, key: Any, described: str, read: Callable[[], Any], where: Where, attribute: tuple[Any, str] | None = None
) -> Any:
    """What stands for the structure that is found somewhere at each call."""
    root = tracer.root
    if key not in root.held:
        value = read()
        skeleton, leaves = parts_of(value, where.counts)
        inside, paths = flatten(value)[0], _paths(skeleton)
        for n, (leaf, path) in enumerate(zip(leaves, paths, strict=True)):
            if leaf is ANEW:
                of, there = liftable(inside[n]), functools.partial(_at, read, path)
                assert of is not None
                inside[n] = root.read_at_calls((*key, n), f"{described}_{n}", there, of, attribute, path)
        found = rebuild(skeleton, inside, stand_in)
        root.held[key] = Held(described, read, attribute, skeleton, leaves), found
        for n, made in enumerate(containers(found), root.numbered):
            root.numbered += 1
            root.containers[id(made)] = n
        root.given.update(map(id, changeable(found)))
    return root.held[key][1]


def containers_held(held: Sequence[Held]) -> list[Any]:
    """The containers of such structures as they are now, in the order in which a capture numbers them."""
    return [container for one in held for container in containers(one.read())]


def are_apart(tensors: Sequence[Any], strict: bool) -> bool:
    """Whether no tensor is there twice; not `strict`: none that wants a gradient."""
    seen = set[int]()
    for t in tensors:
        if isinstance(t, Tensor) and id(t) in seen and (strict or not t.stop_gradient):
            return False
        seen.add(id(t))
    return True


def _at(read: Callable[[], Any], path: Sequence[Any]) -> Any:
    """What is found there; MISSING where a structure of another form is."""
    found = read()
    try:
        for key in path:
            found = found[key]
    except (LookupError, TypeError):
        return MISSING
    return found


def _paths(skeleton: Skeleton, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each leaf."""
    if skeleton is None:
        yield before
        return
    _, keys, children = skeleton
    for n, child in enumerate(children):
        yield from _paths(child, (*before, keys[n].value if keys else n))
