"""Stars: what is taken apart into arguments, items, keys and several targets.

In: what a star stands in front of, or what is assigned to several targets. Out: its parts; where the path a run takes decides
how many there are, something that stands for them, which the call or the display then makes one of for each number of them.

>>> taken_into([1, 2, 3], 1, 1)
[1, [2], 3]
>>> call_starred(max)(*starred([1, 3]), **starred_named({"key": abs}))
3
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.branch import switch
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import List, by_path
from d2s.capture.forms import OneOf
from d2s.capture.growing import is_grown
from d2s.capture.symbolic import capturing
from d2s.capture.users_code import refuse
from d2s.convert.calls import call
from d2s.convert.growing import in_graph
from d2s.convert.kept import Kept
from d2s.convert.loads import iterate, spread, spread_named
from d2s.convert.recipes import Recipe
from d2s.convert.stores import Several, made
from d2s.convert.taking import settled
from d2s.errors import DTypeError

Inside = tuple[tuple[int, Any], ...]
_names = itertools.count()


def starred(value: Any) -> Any:
    """`*value` of a call."""
    if not capturing():
        return value
    several = opened(settled(value))
    if is_grown(several):
        message = "a star takes a list apart that a loop makes longer: how many arguments there are only a run will tell"
        refuse("D2S1001", message, "give the function the list itself")
    return (Several(several),) if isinstance(several, OneOf) else spread(several)


def starred_named(value: Any) -> Any:
    """`**value` of a call."""
    several = opened(value)
    return {f" {next(_names)}": Several(several)} if isinstance(several, OneOf) else spread_named(value)


def starred_keys(value: Any) -> Any:
    """`{**value}`."""
    several = opened(value)
    return {Several(several): None} if isinstance(several, OneOf) else spread_named(value)


def call_starred(function: Any) -> Callable[..., Any]:
    """What is called instead of `function`, where stars take arguments apart."""
    plain = call(function)
    if not capturing():
        return plain

    def called(*args: Any, **kwargs: Any) -> Any:
        found: Any = next((value for value in (*args, *kwargs.values()) if type(value) is Several), None)
        if found is None:
            return plain(*args, **kwargs)

        def of(one: Any) -> Any:
            return call_starred(function)(*_with(args, found, one), **_named(kwargs, found, one))

        return gathered(each(found.value, of))

    return called


def _with(args: tuple[Any, ...], several: Several, one: Any) -> list[Any]:
    return [part for value in args for part in (spread(one) if value is several else (value,))]


def _named(kwargs: dict[str, Any], several: Several, one: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in kwargs.items():
        more = spread_named(one) if value is several else {name: value}
        twice = next((key for key in more if key in kwargs or key in found), None) if value is several else None
        if twice is not None:
            raise TypeError(f"got multiple values for keyword argument {twice!r}")
        found |= more
    return found


def put_together(kind: str, *parts: tuple[bool, Any]) -> Any:
    """`[a, *b]`, `(a, *b)` and `{a, *b}`: the parts, and whether they have a star."""
    found = made([])
    for has_star, value in parts:
        if has_star:
            value = settled(value)
            found.extend(value if by_path(value) or isinstance(value, OneOf) else list(iterate(value)))
        else:
            found.append(value)
    return found if kind == "list" else call(tuple if kind == "tuple" else set)(found)


def taken_into(value: Any, before: int, behind: int | None = None, inside: Inside = ()) -> Any:
    """What `before` targets are given; or those in front of a star, the list of the star, and those behind it.

    `inside` tells of targets that take apart what they are given in turn.
    """
    found = _taken(value, before, behind)
    if not inside:
        return found
    parts = list(found)
    for place, pattern in inside:
        if place < len(parts):
            plain = len(pattern) == 1 and not isinstance(opened(parts[place]), OneOf | List)
            parts[place] = spread(parts[place]) if plain else _when_asked(parts[place], pattern)
    return parts


def _when_asked(value: Any, pattern: tuple[Any, ...]) -> Iterator[Any]:
    """What targets inside of others are given: targets in front of them have been given theirs before."""
    yield from taken_into(value, *pattern)


def _taken(value: Any, before: int, behind: int | None) -> Any:
    tracer = capturing()
    to_the_end = behind is not None or isinstance(value, Kept | Recipe)
    several = opened(settled(value) if to_the_end else value) if tracer else value
    if is_grown(several):
        return in_graph(_of_grown)(several, before, behind)
    if tracer and isinstance(several, OneOf):
        return switch(tracer, several, lambda one: list(_counted(_taken(one, before, behind), before, behind)))
    return spread(several) if behind is None else _around(_items(several), before, behind)


def _items(value: Any) -> list[Any]:
    parts = spread(value)
    try:
        iterator = iter(parts)
    except DTypeError:
        raise
    except TypeError:
        raise TypeError(f"cannot unpack non-iterable {type(value).__name__} object") from None
    return list(iterator)


def _counted(parts: Iterable[Any], before: int, behind: int | None) -> Iterable[Any]:
    """As many parts as there are targets."""
    if behind is not None:
        return parts
    found = _items(parts)
    if len(found) > before:
        raise ValueError(f"too many values to unpack (expected {before})")
    if len(found) < before:
        raise ValueError(f"not enough values to unpack (expected {before}, got {len(found)})")
    return found


def _around(items: list[Any], before: int, behind: int) -> list[Any]:
    last = len(items) - behind
    if last < before:
        raise ValueError(f"not enough values to unpack (expected at least {before + behind}, got {len(items)})")
    return [*items[:before], made(items[before:last]), *items[last:]]


def _of_grown(owner: Any, before: Any, behind: Any) -> Any:
    count = len(owner)
    if behind is None:
        if count > before:
            raise ValueError(f"too many values to unpack (expected {before})")
        if count < before:
            raise ValueError(f"not enough values to unpack (expected {before}, got {count})")
        return [owner[k] for k in range(before)]
    if count < before + behind:
        raise ValueError(f"not enough values to unpack (expected at least {before + behind}, got {count})")
    first = [owner[k] for k in range(before)]
    last = [owner[count - behind + k] for k in range(behind)]
    return [*first, owner[before : count - behind], *last]
