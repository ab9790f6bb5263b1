"""Registers of extents and of products of them: those of a call, known before anything runs, and those that a run finds.

In: dims of types. Out: registers. What a call's extents come to is computed at the head of the table. An extent that a run
finds (`m0` …) is set where its node stands, and products with it are computed where they are first wanted: they hold for the
rest of the region they stand in, for a trip comes to another extent.

>>> Registered({("n0",): 2}).known[("n0",)]
2
"""

import dataclasses
import math
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from d2s.ir.program import Node, Value
from d2s.reckoned import is_reckoned, last_steps, source
from d2s.runtime.executor import ADD, DIFFER, ENDLESS, LOAD, MOVE, MULTIPLY, QUOTIENT
from d2s.types import Dim, Type

Product = tuple[Dim, ...]


@dataclasses.dataclass
class Registered:
    """Registers by product."""

    known: dict[Product, int]  # of numbers and of a call's extents, before anything runs
    found: dict[Product, int] = dataclasses.field(default_factory=dict)  # of extents that a run finds; of this region
    names: dict[str, int] = dataclasses.field(default_factory=dict)  # of extents that a run finds, wherever


class PlansExtents:
    """Part of the planner."""

    extents: Registered
    head: list[tuple[int, ...]]
    homes: dict[Value, int]

    def register(self, start: int = 0) -> int:
        raise NotImplementedError

    def step(self, code: int, *operands: int) -> int:
        raise NotImplementedError

    def check(self, node: Node, code: int, *operands: int) -> None:
        raise NotImplementedError

    def product(self, dims: Product) -> int:
        """The register that holds a product of extents; where a run must compute it, the steps for it."""
        number = min(_known(dims), ENDLESS)
        names = tuple(sorted(d for d in dims if isinstance(d, str)))
        key: Product = names if names and number == 1 else (*names, number)
        for name in names:
            if is_reckoned(name) and (name,) not in self.extents.known and (name,) not in self.extents.found:
                self.reckon(name)
        called = all((name,) in self.extents.known for name in names)
        registers = self.extents.known if called else self.extents.found
        if key not in registers:
            if not names:
                registers[key] = self.register(number)
            else:
                x, y = self.product(key[:-1]), self.product(key[-1:])
                registers[key] = self.register()
                step = (MULTIPLY, registers[key], x, y)
                self.head.append(step) if called else self.step(*step)
        return registers[key]

    def reckon(self, name: str) -> None:
        """Computes an extent that follows from another; of a call's extents it is known before anything runs."""
        of, times, plus, by = last_steps(name)
        found, called = self.product((of,)), (source(name),) in self.extents.known
        for code, number in ((MULTIPLY, times), (ADD, plus), (QUOTIENT, by)):
            step = (code, register := self.register(), found, self.product((number,)))
            self.head.append(step) if called else self.step(*step)
            found = register
        self.extents.names[name] = found
        (self.extents.known if called else self.extents.found)[(name,)] = found

    def bytes(self, of: Type) -> int:
        return self.product((*of.shape, of.dtype.size))

    def name(self, name: str) -> int:
        """The register of an extent that is found from here on."""
        register = self.extents.names.setdefault(name, -1)
        if register < 0:
            register = self.extents.names[name] = self.register()
        self.extents.found[(name,)] = register
        return register

    def find_extents(self, node: Node) -> None:
        """Sets the extents that a node's last inputs say. A name that is set already is for the same number, or a file lies."""
        names = node.attrs["finds"]
        for name, value in zip(names, node.inputs[len(node.inputs) - len(names) :], strict=True):
            if is_reckoned(name):
                self.product((name,))
            if not isinstance(name, str) or (name,) in self.extents.known:
                continue
            if (name,) in self.extents.found and node.op not in ("pop", "renamed"):  # which no file holds
                again = self.register()
                self.step(LOAD, again, self.homes[value])
                self.check(node, DIFFER, again, self.extents.found[(name,)])
            else:
                self.step(LOAD, self.name(name), self.homes[value])

    def hand_on(self, have: Sequence[Type], want: Sequence[Type], names: Collection[str]) -> None:
        """Sets those of some names that types have, by what other types have in their places."""
        both = zip(have, want, strict=False)
        pairs = {name: d for a, b in both for d, name in zip(a.shape, b.shape, strict=True) if name in names and d != name}
        sources = {name: self._register_of(d) for name, d in pairs.items()}
        if len(sources) > 1:  # one may be another's source
            kept = {name: self.register() for name in sources}
            for name, source in sources.items():
                self.step(MOVE, kept[name], source)
            sources = kept
        for name, source in sources.items():
            self.step(MOVE, self.name(str(name)), source)

    def _register_of(self, dim: Dim) -> int:
        """The register of one extent, also of one that a region before found, or that follows from such a one."""
        if dim in self.extents.names and not is_reckoned(dim):
            return self.extents.names[str(dim)]
        of = str(source(dim)) if isinstance(dim, str) else ""
        if not of or (of,) in self.extents.known or (of,) in self.extents.found:
            return self.product((dim,))
        with self.apart():
            self.extents.found[(of,)] = self.extents.names[of]
            return self.product((dim,))

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is found in a `with` block of this holds to its end."""
        outer = self.extents.found
        self.extents.found = dict(outer)
        yield
        self.extents.found = outer


def is_endless(of: Type) -> bool:
    """Whether it has more elements than there is memory for anywhere, whatever a run finds."""
    return _known(of.shape) >= ENDLESS


def _known(dims: Product) -> int:
    return math.prod(d for d in dims if isinstance(d, int))


def finds(node: Node) -> Sequence[str]:
    """The names of extents that a node sets."""
    return [name for name in node.attrs.get("finds", ()) if isinstance(name, str)]
