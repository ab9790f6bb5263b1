"""What a captured function returns: a recipe that makes it again at each call.

In: the outcome of a capture. Out: a recipe, and from it and a call's values the result. Containers the function made are made
anew, one for each; containers that came from outside are handed back themselves.

>>> twice = [1, 2]
>>> recipe = describe((twice, twice), lambda value: ("constant", value), {}, {})
>>> first, second = build(recipe, lambda kind, at: at * 10)
>>> first, first is second
([10, 20], True)
"""

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture.containers import REAL, by_path, contents, give, new_object, plain_kind
from d2s.capture.encode import decode
from d2s.capture.forms import Grown, OneOf
from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor

Leaf = tuple[str, Any]


@dataclasses.dataclass(eq=False, slots=True)
class Made:
    """A container made at each call; a second mention of it is the same one."""

    kind: type
    keys: tuple[Any, ...]
    parts: "list[Recipe]"


@dataclasses.dataclass(eq=False, slots=True)
class Choice:
    """One of several, by a number that a run computes."""

    tag: Leaf
    parts: "list[Recipe]"


@dataclasses.dataclass(eq=False, slots=True)
class Filled:
    """A container made at each call, of what another recipe makes: its content depends on the path."""

    kind: type
    parts: "list[Recipe]"


@dataclasses.dataclass(eq=False, slots=True)
class Rows:
    """What a list holds whose length a run computes: its leaves of kind "row" are lists with a part for each item."""

    length: Leaf
    item: "Recipe"


Recipe = Made | Choice | Filled | Rows | Leaf


_HOLDING = (list, dict, tuple, set, frozenset)


def describe(value: Any, leaf: Callable[[Any], Leaf], outside: dict[int, Leaf], seen: dict[int, Any]) -> Recipe:
    """The recipe of a value; `outside` tells of containers that were there before and of
    objects that were made, `seen` of those described already."""
    if isinstance(value, OneOf):
        return Choice(leaf(value.tag), [describe(part, leaf, outside, seen) for part in value.alternatives])
    if isinstance(value, Grown):
        item = decode(value.item, iter(value.parts), lambda container: container)
        return Rows(leaf(value.length), describe(item, lambda part: _of_rows(part, leaf), outside, {}))
    kind, record = plain_kind(value), outside.get(id(value), ("",))[0] == "record"
    if (
        not record
        and kind not in (list, dict, tuple, set, frozenset)
        and not (isinstance(value, tuple) and hasattr(value, "_fields"))
    ):
        return leaf(value)
    if id(value) in outside and not record:
        return outside[id(value)]
    if id(value) not in seen and by_path(value):
        seen[id(value)] = filled = Filled(kind, [])
        filled.parts.append(describe(value.held, leaf, outside, seen))
    elif id(value) not in seen:
        held = contents(value) if kind is dict or record else value
        made = seen[id(value)] = Made(kind, tuple(held) if kind is dict or record else (), [])
        parts = held.values() if isinstance(held, dict) else held
        made.parts += [describe(part, leaf, outside, seen) for part in parts]
    return seen[id(value)]


def _of_rows(part: Any, leaf: Callable[[Any], Leaf]) -> Leaf:
    listed = isinstance(part, SymbolicTensor) and part.value.type.listed
    return ("row", leaf(part)[1]) if listed else leaf(part)


def leaves(recipe: Recipe) -> Iterator[Leaf]:
    """The leaves, in order."""
    if isinstance(recipe, Rows):
        yield recipe.length
        yield from leaves(recipe.item)
        return
    if isinstance(recipe, Choice):
        yield recipe.tag
    if isinstance(recipe, Made | Choice | Filled):
        for part in recipe.parts:
            yield from leaves(part)
    else:
        yield recipe


def build(recipe: Recipe, leaf: Callable[[str, Any], Any]) -> Any:
    """The value of a recipe, its leaves given by `leaf`."""
    return _build(recipe, leaf, {})


def _row(leaf: Callable[[str, Any], Any], k: int) -> Callable[[str, Any], Any]:
    """The leaves of item number k."""
    return lambda kind, at: leaf(kind, at)[k] if kind == "row" else leaf(kind, at)


def made_of(kind: Any, held: dict[str, Any]) -> Any:
    """An object that holds this: what makes one of the user's code has run already."""
    if kind in REAL:
        return REAL[kind](held)
    if issubclass(kind, BaseException):
        return new_object(kind, held)
    return new_object(kind, _there(held))


def _there(held: dict[str, Any]) -> dict[str, Any]:
    """The attributes that an object has on the path taken."""
    return {name: held[name] for name in held if held[name] is not MISSING}


def _build(recipe: Recipe, leaf: Callable[[str, Any], Any], done: dict[int, Any]) -> Any:
    made: Any
    if isinstance(recipe, Choice):
        return _build(recipe.parts[leaf(*recipe.tag)], leaf, done)
    if isinstance(recipe, Rows):
        return tuple(_build(recipe.item, _row(leaf, k), {}) for k in range(leaf(*recipe.length)))
    if isinstance(recipe, tuple):
        return leaf(*recipe)
    if id(recipe) in done:
        return done[id(recipe)]
    if isinstance(recipe, Filled):
        done[id(recipe)] = filled = recipe.kind()
        content = _build(recipe.parts[0], leaf, done)
        filled.extend(content) if recipe.kind is list else filled.update(content)
        return filled
    if recipe.kind in (set, frozenset):
        done[id(recipe)] = recipe.kind([_build(part, leaf, done) for part in recipe.parts])
        return done[id(recipe)]
    if recipe.kind in REAL or issubclass(recipe.kind, BaseException):
        held = {name: _build(part, leaf, done) for name, part in zip(recipe.keys, recipe.parts, strict=True)}
        done[id(recipe)] = made_of(recipe.kind, held)
        return done[id(recipe)]
    if not issubclass(recipe.kind, tuple | list | dict):
        done[id(recipe)] = made = new_object(recipe.kind, {})
        held = {name: _build(part, leaf, done) for name, part in zip(recipe.keys, recipe.parts, strict=True)}
        give(made, _there(held))
        return made
    if recipe.kind in (list, dict):
        made = recipe.kind()
        done[id(recipe)] = made  # before its parts: it may be one of them
        parts = [_build(part, leaf, done) for part in recipe.parts]
        made.extend(parts) if recipe.kind is list else made.update(zip(recipe.keys, parts, strict=True))
        return made
    parts = [_build(part, leaf, done) for part in recipe.parts]
    done[id(recipe)] = recipe.kind(parts) if recipe.kind is tuple else recipe.kind(*parts)
    return done[id(recipe)]
