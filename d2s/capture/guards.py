"""What a captured function read and could change, checked at each call: no stale result.

In: what was read, as a way to read it again. Out: a guard that says whether it still is what it was.

>>> settings = {"flag": True}
>>> guard = Guard("settings['flag']", lambda: settings["flag"])
>>> guard.holds()
True
>>> settings["flag"] = False
>>> guard.holds()
False
"""

import types
from collections.abc import Callable
from typing import Any

PLAIN = (type(None), bool, int, str, bytes, range)
MISSING = object()


class Guard:
    """One thing read at capture, at the user's line `where`. `kept` holds it, so that its identity stays its own."""

    __slots__ = ("described", "kept", "print", "read", "where")

    def __init__(self, described: str, read: Callable[[], Any], where: str = "") -> None:
        self.described, self.read, self.where = described, read, where
        self.kept = self._now()
        self.print = fingerprint(self.kept)

    def _now(self) -> Any:
        try:
            return self.read()
        except (AttributeError, LookupError, ValueError):
            return MISSING

    def holds(self) -> bool:
        return fingerprint(self._now()) == self.print


def fingerprint(value: Any, depth: int = 0) -> Any:
    """Plain values by value and type, small containers by content, methods by what they bind, everything else by identity."""
    kind = type(value)
    if kind in PLAIN:
        return kind, value
    if kind is float:
        return kind, value.hex()
    if kind in (tuple, list, dict, set, frozenset) and depth < 5:
        items = value.items() if kind is dict else value
        return (
            kind,
            id(value) if kind in (list, dict, set) else 0,
            tuple(fingerprint(item, depth + 1) for item in items),
        )
    if kind is types.MethodType:
        return kind, id(value.__self__), fingerprint(value.__func__, depth)
    if kind is types.BuiltinMethodType:
        return kind, value.__name__, id(value.__self__)
    if kind is types.FunctionType:
        defaults = fingerprint((value.__defaults__, value.__kwdefaults__), depth + 1)
        return kind, id(value), id(value.__code__), defaults
    if hasattr(kind, "is_same_as"):  # a method made static is another object at each look
        return kind, *(id(part) for part in value.is_same_as())
    return kind, id(value)
