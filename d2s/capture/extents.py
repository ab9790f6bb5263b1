"""What a capture calls the extents that it does not know: of arguments, and those that a run finds.

In: symbols, numbers of run time, types. Out: names, one for each extent that is surely the same.

>>> from d2s import types
>>> from d2s.capture.symbolic import Tracer
>>> tracer = Tracer("f")
>>> n = tracer.constant(3, Type(types.int64, python=True))
>>> tracer.extent_called(n) == tracer.extent_called(n)
True
"""

import dataclasses
from typing import Any

from d2s.ops import OPS
from d2s.ops.found import OPEN
from d2s.ops.recording import Symbolic
from d2s.types import Type


class Sized(Symbolic):
    """A symbol whose recorder names extents."""

    __slots__ = ()

    @property
    def ndim(self) -> int:
        return len(self.value.type.shape)

    @property
    def shape(self) -> list[Any]:
        """An extent with a name is a Python number of run time."""
        return [self.recorder.root.sized(self, axis) for axis in range(self.ndim)]  # type: ignore[attr-defined]


class NamesExtents:
    """The part of a tracer that knows names; `root` is the tracer of the whole capture."""

    root: Any
    number: Any
    new_extent: Any

    def sized(self, symbol: Any, axis: int) -> Any:
        """An extent: a number, or one of run time."""
        name = symbol.value.type.shape[axis]
        if isinstance(name, int):
            return name
        found = OPS["extent"](symbol, axis=axis)
        self.root.extents[found.value] = name
        return found

    def extent_name(self, number: Any) -> str | None:
        """The name of the extent that a number of run time surely is."""
        return self.root.extents.get(number.value) if isinstance(number, Symbolic) else None

    def extent_called(self, number: Symbolic) -> str:
        """The name of an extent that a run finds: one for equal numbers."""
        name = self.root._names.get(self.number(number.value))
        if name is None:
            name = self.root._names[self.number(number.value)] = self.new_extent()
        return name

    def with_names(self, of: Type) -> Type:
        """A type whose open extents have names: the same ones for the same object."""
        if OPEN not in of.shape:
            return of
        if id(of) not in self.root._opened:
            named = dataclasses.replace(of, shape=tuple(self.new_extent() if d == OPEN else d for d in of.shape))
            self.root._opened[id(of)] = of, named
        return self.root._opened[id(of)][1]

    def call_extent(self, number: Symbolic, name: str) -> None:
        """Notes that a number is an extent that has a name."""
        self.root._names[self.number(number.value)] = name
