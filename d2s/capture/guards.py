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

import array
import functools
import os
import types
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import numpy as np

from d2s.capture.containers import by_path
from d2s.capture.kinds import COMPARED, CONTENT, opener
from d2s.errors import brief
from d2s.exact import told

MISSING = object()
# ("attribute", owner, name), ("item", container, key), ("value", value, None), ("length", list, None),
# ("layers", list of layers, how it is read)
Source = tuple[str, Any, Any]


class Guard:
    """One thing read at capture, at the user's line `where`. `kept` holds it, so that its identity stays its own."""

    __slots__ = ("described", "exact", "kept", "key", "loose", "print", "read", "source", "where")

    def __init__(
        self, described: str, read: Callable[[], Any], where: str = "", source: Source | None = None, key: Any = None
    ) -> None:
        self.described, self.read, self.where, self.source, self.key = described, read, where, source, key
        self.kept = self.now()
        self.loose: tuple[int, ...] = ()
        self.exact: Collection[int] = ()
        self.print = fingerprint(self.kept)

    def loosen(self, ids: tuple[int, ...]) -> None:
        """Of these containers only the identity counts: calls change what they hold, which nothing has asked for."""
        self.loose, self.print = ids, fingerprint(self.kept, ids, self.exact)

    def tighten(self, ids: Collection[int]) -> None:
        """Of these tuples the identity counts, too: calls hand them on."""
        self.exact, self.print = ids, fingerprint(self.kept, self.loose, ids)

    def now(self) -> Any:
        """What is read now."""
        try:
            return self.read()
        except (AttributeError, LookupError, ValueError):
            return MISSING

    def holds(self) -> bool:
        return fingerprint(self.now(), self.loose, self.exact) == self.print

    def varies(self) -> bool:
        """Whether it is a number, and another one now."""
        now = self.now()
        return type(now) is type(self.kept) and type(now) in (int, float) and not self.holds()

    def change(self) -> str:
        """What is another now, and where it is read: `self.flag: True → False (model.py:31)`."""
        path, _, line = self.where.rpartition(":")
        place = f" ({os.path.basename(path)}:{line})" if path else ""
        value = self.now()
        was, now = shown(self.kept), shown(value)
        if now == was:
            now = "another one" if value is not self.kept else "changed"
        return f"{self.described}: {was} → {now}{place}"


def shown(value: Any) -> str:
    """A value as a line about a change shows it."""
    if value is MISSING:
        return "nothing"
    return brief(value) if type(value) in (*COMPARED, float) else f"a {type(value).__name__}"


class Itself(NamedTuple):
    """The fingerprint of an object that is known by nothing but which one it is."""

    kind: type
    id: int


def fingerprint(value: Any, around: tuple[int, ...] = (), exact: Collection[int] = ()) -> Any:
    """Plain values by value and type, containers by content, methods by what they bind, everything else by identity."""
    kind = type(value)
    if kind in COMPARED or kind in (float, complex):
        return told(value)
    if kind is slice:
        return kind, fingerprint((value.start, value.stop, value.step), around, exact)
    if isinstance(value, np.generic):
        return kind, repr(value.item())
    if id(value) in around or by_path(value):  # a container inside itself, or one that a capture has made
        return kind, id(value)
    inside = (*around, id(value))
    if isinstance(value, CONTENT):
        plain = (
            list.__iter__(value) if isinstance(value, list) else value
        )  # a class of the user's may iterate over something else
        items = value.items() if isinstance(value, dict) else plain
        own = 0 if kind in (tuple, frozenset) and id(value) not in exact else id(value)
        return kind, own, tuple(fingerprint(item, inside, exact) for item in items)
    opened = opener(kind)
    if opened:
        return kind, id(value), fingerprint(opened(value), inside, exact)
    if isinstance(value, np.ndarray | bytearray | array.array | memoryview):
        return kind, id(value), getattr(value, "shape", ()), hash(bytes(value))
    if kind is types.MethodType:
        return kind, id(value.__self__), fingerprint(value.__func__, inside, exact)
    if kind in (types.BuiltinMethodType, types.MethodWrapperType):
        return kind, value.__name__, id(value.__self__)
    if kind is types.FunctionType:
        return kind, id(value), id(value.__code__), fingerprint((value.__defaults__, value.__kwdefaults__), inside, exact)
    if kind is functools.partial:
        return kind, id(value), fingerprint((value.func, value.args, value.keywords), inside, exact)
    if hasattr(kind, "is_same_as"):  # a method made static is another object at each look
        return kind, *(id(part) for part in value.is_same_as())
    return Itself(kind, id(value))
