"""What `match` asks: whether a value has the structure of a pattern, and its parts.

In: a subject and how to take it apart. Out: the parts a pattern looks at, in order, or None where the structure is another.

>>> taken_apart([1, 2, 3], ("sequence", (True,), 2, ()))
(1, [2, 3])
>>> taken_apart({"a": 1}, ("mapping", ("b",), (True,), False)) is None
True
"""

import collections.abc
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.by_path import opened
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.convert.attributes import get_attribute
from d2s.convert.classes import kind_of
from d2s.convert.loads import guard_content
from d2s.eager.tensor import Tensor

_THEMSELVES = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)  # int(x) takes x itself
Spec = Any  # None: not looked at; True: a part; else (kind, ...)


def taken_apart(subject: Any, spec: Spec) -> tuple[Any, ...] | None:
    subject = opened(subject)
    if isinstance(subject, OneOf):
        return each(subject, lambda one: taken_apart(one, spec))  # type: ignore[no-any-return]
    if spec is None:
        return ()
    if spec is True:
        return (subject,)
    guard_content(capturing(), subject)
    return _KINDS[spec[0]](subject, *spec[1:])


def _all(pairs: Any) -> tuple[Any, ...] | None:
    found: list[Any] = []
    for part, spec in pairs:
        parts = taken_apart(part, spec)
        if parts is None:
            return None
        found += parts
    return tuple(found)


def _sequence(subject: Any, before: tuple[Spec, ...], star: int, after: tuple[Spec, ...]) -> tuple[Any, ...] | None:
    """`star`: 0 for none, 1 for one that nothing looks at, 2 for one that is a part."""
    unlike = isinstance(subject, str | bytes | bytearray | SymbolicTensor | Tensor)
    if unlike or not isinstance(subject, collections.abc.Sequence):
        return None
    given = len(before) + len(after)
    if len(subject) < given or (not star and len(subject) != given):
        return None
    first, last = len(before), len(subject) - len(after)
    middle = [(list(subject[first:last]), True)] if star == 2 else []
    ends = zip(subject[last:], after, strict=True)
    return _all([*zip(subject[:first], before, strict=True), *middle, *ends])


def _mapping(subject: Any, keys: tuple[Any, ...], specs: tuple[Spec, ...], rest: bool) -> tuple[Any, ...] | None:
    if not isinstance(subject, collections.abc.Mapping) or any(key not in subject for key in keys):
        return None
    found = _all((subject[key], spec) for key, spec in zip(keys, specs, strict=True))
    others = {key: value for key, value in subject.items() if key not in keys}
    return found if found is None or not rest else (*found, others)


def _of_class(subject: Any, cls: Any, inner: tuple[Spec, ...], names: tuple[str, ...], named: Any) -> tuple[Any, ...] | None:
    if not isinstance(cls, type):
        raise TypeError("called match pattern must be a class")
    if not issubclass(kind_of(subject), cls):
        return None
    if inner and issubclass(cls, _THEMSELVES):
        return _all([(subject, inner[0])])
    accepted = getattr(cls, "__match_args__", ())
    if len(inner) > len(accepted):
        counted = f"{len(accepted)} positional sub-pattern{'' if len(accepted) == 1 else 's'} ({len(inner)} given)"
        raise TypeError(f"{cls.__name__}() accepts {counted}")
    found = []
    for name, spec in zip((*accepted[: len(inner)], *names), (*inner, *named), strict=True):
        try:
            found.append((get_attribute(subject, name), spec))
        except AttributeError:
            return None
    return _all(found)


def _also(subject: Any, spec: Spec) -> tuple[Any, ...] | None:
    parts = taken_apart(subject, spec)
    return None if parts is None else (subject, *parts)


_KINDS: dict[str, Any] = {"sequence": _sequence, "mapping": _mapping, "class": _of_class, "also": _also}
