"""The structure of what a saved function returns, as JSON in a file's notes.

In: the recipe of a capture. Out: JSON, and the leaves that are outputs of the file; and from JSON and outputs the result.

>>> kept, outputs = described(Made(list, (), [("output", 0), ("outside", None)]))
>>> kept, outputs
(['list', [], [None, ['constant', [None], []]]], [('output', 0)])
>>> result(kept, iter([7]))
[7, None]
"""

import collections
import functools
import itertools
import keyword
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.capture.containers import REAL
from d2s.capture.guards import MISSING
from d2s.capture.result import Choice, Filled, Leaf, Made, Recipe, Rows
from d2s.capture.symbolic import capturing
from d2s.capture.users_code import refuse
from d2s.errors import FormatError

Choose = Callable[[Any, Sequence[Any]], Any]
CONSTANTS = (type(None), bool, int, float, str)
MAX_DEPTH = 50
_KINDS: dict[str, Any] = {"list": list, "dict": dict, "set": (set, frozenset), "tuple": tuple}
_ASIDES = {"choice": "path", "rows": "length"}  # structures whose first output tells of the others
_DAMAGED = "the note on what the function returns is damaged"


def described(recipe: Recipe) -> tuple[Any, list[Leaf]]:
    """The JSON of a recipe, and its leaves that a file must hold."""
    outputs: list[Leaf] = []
    plain = _described(recipe, outputs)
    asides = list(_asides(plain, itertools.count()))
    if not asides:
        return plain, outputs
    behind = [place for place, _ in asides]  # who reads the file without the note finds what is returned first
    order = [n for n in range(len(outputs)) if n not in behind] + behind
    return ["moved", [order.index(n) for n in range(len(outputs))], [plain]], [outputs[n] for n in order]


def _asides(plain: Any, place: Iterator[int]) -> Iterator[tuple[int, str]]:
    """The outputs that only tell what others are, by their places, and what they tell."""
    if plain is None:
        next(place)
        return
    if plain[0] in _ASIDES:
        yield next(place), _ASIDES[plain[0]]
    for part in plain[2][1 if plain[0] in _ASIDES else 0 :]:
        yield from _asides(part, place)


def names(plain: Any, outputs: int) -> list[str]:
    """What the outputs of a structure are called."""
    told = [name for _, name in _asides(plain[2][0], itertools.count())] if plain and plain[0] == "moved" else []
    return [f"output_{n}" for n in range(outputs - len(told))] + [f"{name}_{n}" for n, name in enumerate(told)]


def _described(recipe: Recipe, outputs: list[Leaf]) -> Any:
    if isinstance(recipe, Choice):
        return ["choice", [], [_described(part, outputs) for part in (recipe.tag, *recipe.parts)]]
    if isinstance(recipe, Filled):
        return ["set" if recipe.kind is frozenset else recipe.kind.__name__, None, [_described(recipe.parts[0], outputs)]]
    if isinstance(recipe, Made) and recipe.kind in REAL:  # of `collections`: what they hold, as the list or dict it is
        return _described(recipe.parts[recipe.keys.index("content")], outputs)
    if isinstance(recipe, Made):
        kind = next((kind for kind, classes in _KINDS.items() if issubclass(recipe.kind, classes)), "")
        if kind == "dict":
            return _dict(recipe.keys, recipe.parts, outputs)
        called = [recipe.kind.__name__, *getattr(recipe.kind, "_fields", ("",))]
        if kind == "tuple" and _names_fields(called):
            return ["named", called, [_described(part, outputs) for part in recipe.parts]]
        if kind:
            return [kind, list(recipe.keys), [_described(part, outputs) for part in recipe.parts]]
        outputs.append(("object", recipe.kind))
        return None
    if isinstance(recipe, Rows):
        return ["rows", [], [_described(part, outputs) for part in (recipe.length, recipe.item)]]
    kind, at = recipe
    if kind == "row":
        outputs.append(("output", at))
        return ["row", [], [None]]
    if kind == "outside" and at is MISSING:  # a path that has no value to return never comes here
        return ["constant", [None], []]
    if kind == "outside" and type(at) in CONSTANTS:
        return ["constant", [at], []]
    outputs.append(recipe)
    return None


def _dict(keys: Sequence[Any], parts: Sequence[Recipe], outputs: list[Leaf]) -> Any:
    """A dict's parts are outputs in the order of its keys, which is Paddle's; another order of its own is noted."""
    try:
        order = sorted(range(len(keys)), key=lambda n: keys[n])
    except TypeError:  # keys of classes that nobody compares
        order = list(range(len(keys)))
    held = ["dict", [keys[n] for n in order], [_described(parts[n], outputs) for n in order]]
    return held if held[1] == list(keys) else ["ordered", list(keys), [held]]


def count(plain: Any, depth: int = 0) -> int:
    """How many outputs a structure takes; FormatError where it is none."""
    if plain is None:
        return 1
    try:
        kind, keys, parts = plain
        if keys is None:  # a container of what its one part is
            return count(parts[0], depth + 1) if kind in ("list", "dict", "set") and len(parts) == 1 else count((), depth)
        fits = {"list": True, "tuple": True, "dict": len(set(keys)) == len(parts), "choice": len(parts) > 1}
        fits["ordered"] = kind == "ordered" and len(parts) == 1 and parts[0][0] == "dict" and {*parts[0][1]} == {*keys}
        fits["moved"] = kind == "moved" and depth == 0 and len(parts) == 1 and sorted(keys) == [*range(count(parts[0], 1))]
        fits["named"] = kind == "named" and len(keys) == len(parts) + 1 and _names_fields(keys)
        fits |= {"set": True, "rows": len(parts) == 2, "row": parts == [None]}
        if depth > MAX_DEPTH or not (fits | {"constant": len(keys) == 1 and not parts})[kind]:
            raise FormatError("D2S3001", _DAMAGED)
        return sum(count(part, depth + 1) for part in parts)
    except (TypeError, ValueError, KeyError):
        raise FormatError("D2S3001", _DAMAGED) from None


def _one_of(plain: Sequence[Any], outputs: Iterator[Any]) -> Any:
    """The alternative that a run took; what others hold was never made, and their tags are no numbers."""
    tag, found = int(result(plain[0], outputs)), None
    if not 0 <= tag < len(plain) - 1:
        raise FormatError("D2S3001", _DAMAGED)
    for k, alternative in enumerate(plain[1:]):
        held = [next(outputs) for _ in range(count(alternative))]
        found = result(alternative, iter(held)) if k == tag else found
    return found


def result(plain: Any, outputs: Iterator[Any], choose: Choose | None = None) -> Any:
    """What the function returned, of its outputs; in a capture `choose` says what one of several is, by its number."""
    if plain is None:
        return next(outputs)
    kind, keys, children = plain
    if kind == "constant":
        return keys[0]
    if kind == "moved":
        held = [next(outputs) for _ in keys]
        return result(children[0], iter([held[n] for n in keys]), choose)
    if kind == "rows":
        return _rows(children[0], children[1], outputs, choose)
    if kind == "choice" and choose is None:
        return _one_of(children, outputs)
    parts = [result(child, outputs, choose) for child in children]
    if kind == "row":
        return parts[0]
    if keys is None:
        return _filled(kind, parts[0])
    if kind == "named":
        return _named(*keys)(*parts)
    if kind == "ordered":
        return {key: parts[0][key] for key in keys}
    if kind == "choice" and choose:
        return choose(parts[0], parts[1:])
    return dict(zip(keys, parts, strict=True)) if kind == "dict" else _MADE[kind](parts)


def _rows(length: Any, item: Any, outputs: Iterator[Any], choose: Choose | None) -> tuple[Any, ...]:
    """The items of a list whose length a run tells, of which each "row" has a part."""
    if capturing():
        refuse("D2S1003", "a loaded layer returns a list whose length only a run will tell", "call it outside")
    total = int(result(length, outputs, choose))
    held = [(plain, next(outputs)) for plain in _leaves(item)]
    rows = [each for plain, each in held if plain]
    if not all(len(each) == total if isinstance(each, list) else each.shape[:1] == [total] for each in rows):
        raise FormatError("D2S3001", _DAMAGED)
    return tuple(result(item, iter([each[k] if plain else each for plain, each in held]), choose) for k in range(total))


def _leaves(plain: Any) -> Iterator[bool]:
    """Of each output a structure takes, whether it is a list with a part for each item."""
    if plain is None or plain[0] == "row":
        yield plain is not None
    else:
        for part in plain[2]:
            yield from _leaves(part)


def _filled(kind: str, content: Any) -> Any:
    if capturing():
        refuse("D2S1003", f"a loaded layer returns a {kind} whose content depends on the path", "call it outside")
    if not isinstance(content, dict if kind == "dict" else tuple | set):
        raise FormatError("D2S3001", _DAMAGED)
    return dict(content) if kind == "dict" else _MADE[kind](content)


def _names_fields(called: Sequence[Any]) -> bool:
    """Whether a class of tuples and its fields may be called so: what is read is a name, and no more."""
    plain = all(isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name) for name in called)
    fields = called[1:]
    return plain and len(set(fields)) == len(fields) and not any(name.startswith("_") for name in fields)


@functools.lru_cache(maxsize=100)
def _named(name: str, *fields: str) -> Any:
    """A class of tuples with the names of the user's: a file holds what it called them, not the class."""
    plain = _plain(name, fields)
    pickled = {"__reduce__": lambda self: (_remade, (name, fields, tuple(self)))}  # no module has the class
    return type(name, (plain,), {"__slots__": (), "__doc__": plain.__doc__} | pickled)


def _plain(name: str, fields: Sequence[str]) -> Any:
    return collections.namedtuple(name, fields)


def _remade(name: str, fields: Sequence[str], parts: Sequence[Any]) -> Any:
    """One that was pickled."""
    return _named(name, *fields)(*parts)


_MADE: dict[str, Callable[[Any], Any]] = {"list": list, "set": set, "tuple": tuple}


def several(outputs: int) -> Any:
    """The structure of so many outputs that no note tells of."""
    return None if outputs == 1 else ["tuple", [], list(itertools.repeat(None, outputs))]
