"""What a capture knows of all that was there before: what each call reads anew, and what it depends on.

In: what is read, and how. Out: inputs that stand for it, guards, and the containers that were given.

>>> from d2s import types
>>> from d2s.capture.symbolic import Tracer
>>> tracer = Tracer("f")
>>> tracer.read_at_calls("key", "model.rate", lambda: 0.5, Type(types.float64, python=True)).value.name
'rate'
>>> tracer.guard("other", "model.flag", lambda: True)
>>> [guard.described for guard in tracer.guards.values()]
['model.flag']
"""

import dataclasses
import itertools
import types as python_types
from collections.abc import Callable
from typing import Any, NamedTuple

from d2s import types
from d2s.capture.containers import by_path
from d2s.capture.guards import Guard, Source
from d2s.capture.kinds import CONTENT, parts_of
from d2s.capture.users_code import name_here, user_line
from d2s.eager.tensor import Tensor
from d2s.ir.program import Value
from d2s.runtime import launch
from d2s.types import Type


class Read(NamedTuple):
    """Something that calls change, found anew at each: a tensor or a number."""

    described: str
    read: Callable[[], Any]
    type: Type
    symbol: Any
    kind: Any  # its class
    attribute: tuple[Any, str] | None = None  # of what, and which, where it is one
    path: tuple[Any, ...] = ()  # the keys that lead to it from there
    key: Any = None  # of the place

    def fits(self, named: dict[str, int]) -> bool:
        """Whether what a call finds is of the class and the type that is read; `named` are extents by name, as far as known."""
        now = self.read()
        of = liftable(now)
        if type(now) is not self.kind or of is None or not are_alike(self.type, of):
            return False
        pairs = zip(self.type.shape, of.shape, strict=True)
        return all(d == n if isinstance(d, int) else n > 1 and named.setdefault(d, n) == n for d, n in pairs)  # type: ignore[operator, arg-type]


class ReadsOutside:
    """The part of a tracer that looks outside; `root` is the tracer of the whole capture."""

    root: Any

    def read_at_calls(
        self,
        key: Any,
        described: str,
        read: Callable[[], Any],
        of: Type,
        attribute: tuple[Any, str] | None = None,
        path: tuple[Any, ...] = (),
    ) -> Any:
        """The input that stands for what is found somewhere at each call."""
        if key not in self.root.inputs:
            name = described.rpartition(".")[2]
            symbol = self.root.input(self._opened_at_calls(key, of), name if name.isidentifier() else "read")
            self.root.found[symbol.value] = found = read()
            self.root.inputs[key] = Read(described, read, symbol.value.type, symbol, type(found), attribute, path, key)
        return self.root.inputs[key].symbol

    def _opened_at_calls(self, key: Any, of: Type) -> Type:
        """The type with names for extents that captures before found otherwise; equal ones that were equal have one."""
        others = [was for was in self.root.was.get(key, ()) if are_alike(was, of)]
        known, shape = self.root.opened_reads, list(of.shape)
        given = {d for v in self.root.arguments for d in v.type.shape}
        for axis, now in enumerate(of.shape):
            before = tuple(was.shape[axis] for was in others)
            if any(d != now for d in before) and now > 1:  # type: ignore[operator]
                free = (name for k in itertools.count() if (name := f"n{k}") not in given and name not in known.values())
                shape[axis] = known.setdefault((before, now), next(free))
        return dataclasses.replace(of, shape=tuple(shape))

    def source(self, value: Value) -> tuple[str, Any] | None:
        """Where a call has what an input is, if that is no tensor known at capture."""
        if value in self.root.arguments:
            return "argument", self.root.arguments[value]
        found = {"read": self.root.inputs, "told": self.root.told}
        places = (
            (kind, n) for kind, those in found.items() for n, one in enumerate(those.values()) if one.symbol.value is value
        )
        return next(places, None)

    def guard(self, key: Any, described: str, read: Callable[[], Any], where: str = "", source: Source | None = None) -> None:
        """Notes that the capture depends on something outside."""
        if key not in self.root.guards:
            if source and source[0] == "attribute" and source[2] != "cell_contents":
                described = f"{name_here(source[1]) or described.partition('.')[0]}.{source[2]}"
            self.root.guards[key] = Guard(described, read, where or user_line(), source, key)
            self.give(self.root.guards[key].kept)
            name = described.rpartition(".")[2].strip("'")
            if isinstance(self.root.guards[key].kept, Tensor) and name.isidentifier():
                self.root.called.setdefault(id(self.root.guards[key].kept), name)

    def give(self, value: Any) -> None:
        """Notes containers, those in them and those that functions and methods are bound to as given."""
        if isinstance(value, CONTENT):
            only_one = isinstance(value, tuple | frozenset) and not value  # all that are empty are one object
            if only_one or by_path(value) or id(value) in self.root.given:
                return
            self.root.given.add(id(value))
        for part in parts_of(value):
            self.give(part)


def bound_to(value: Any) -> Any:
    """What a builtin method is bound to; anything else is itself."""
    return value.__self__ if isinstance(value, python_types.BuiltinMethodType | python_types.MethodWrapperType) else value


def are_alike(one: Type, other: Type) -> bool:
    """Whether types differ in extents only."""
    return dataclasses.replace(one, shape=()) == dataclasses.replace(other, shape=()) and len(one.shape) == len(other.shape)


def liftable(value: Any) -> Type | None:
    """The type of a value that a call can read anew: a tensor, an int or a float."""
    if isinstance(value, Tensor):
        return launch.type_of(value.array)
    number = type(value) is float or (type(value) is int and -(1 << 63) <= value < 1 << 63)
    return Type(types.python_dtype(value), python=True) if number else None
