"""Residuals of a region: popped in front of its gradient, in the order in which the region pushes them, backwards.

In: forward values that the gradient of a region reads. Out: pops in front of it, and what the region is to push. Where only a
run knows an extent of a value, the extent is pushed behind the value, so that it is known before the value is popped; of one
that follows from another by whole numbers, that other one.

>>> Pushed(Value(SIZE, "n"), 3)
Pushed(value=<Value n: int>, slot=3, axis=None)
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from d2s.autodiff.lists import having, untold
from d2s.errors import GradientError
from d2s.ir.program import Node, Value
from d2s.ops.recording import Symbolic
from d2s.ops.shapes import is_found
from d2s.reckoned import source
from d2s.types import STACK, Dim, Type, int64

SIZE = Type(int64, python=True)


class Pushed(NamedTuple):
    """A value that is pushed, or one of its extents, and the number of the place it is popped at."""

    value: Value
    slot: int
    axis: int | None = None


class PopsResiduals:
    """The part of a scope that pops."""

    recorder: Any
    region: Any
    parent: Any
    used: Any
    need: Any
    slots: Any
    telling: set[Value]
    stack: Symbolic
    unpopped: Symbolic
    unstacked: list[Type]
    pushed: list[Pushed]

    def popped(self, stack: Symbolic) -> Symbolic:
        """Puts the pops of what this region's gradient reads in front of it; returns the stack it leaves."""
        self.tell_extents()
        top, pops = self.recorder.resolve(stack), list[Node]()
        known = {d for v in self.recorder.builder.inputs if not v.type.listed for d in v.type.shape}
        for forward, symbol in reversed(self.used()):
            new = dict.fromkeys(str(source(d)) for d in forward.type.shape if is_found(d) and known.isdisjoint((d, source(d))))
            known |= new.keys()
            told = {name: place for name in new if (place := telling(name, [forward, *self.values()]))}
            for name in new:
                if name not in told:
                    self.take_in(name)
            sizes = list[Value]()
            for value, axis in told.values():  # they were pushed behind the value
                top, size = self.pop(pops, top, Value(SIZE), Pushed(value, self.slots.next(), axis))
                sizes.append(size)
            top, _ = self.pop(pops, top, symbol.value, Pushed(forward, self.slots.next()), sizes, tuple(told))
        self.define_extents(known)
        for node in self.recorder.builder.nodes:
            node.inputs = tuple(top if v is self.unpopped.value else v for v in node.inputs)
        self.recorder.builder.nodes[:0] = pops
        return Symbolic(self.recorder, top if self.stack is self.unpopped else self.stack.value)

    def values(self) -> list[Value]:
        """What the region has."""
        return [*self.region.inputs, *(v for node in self.region.nodes for v in node.outputs)]

    def take_in(self, name: str) -> None:
        """Has the gradient region read a value that a region around it has, and that is as long as a name says."""
        around = self.parent
        while around:
            if place := telling(name, around.values()):
                self.recorder.resolve(around.need(place[0]))
                return
            around = around.parent
        raise untold(name)

    def pop(
        self,
        pops: list[Node],
        top: Value,
        value: Value,
        pushed: "Pushed",
        sizes: Sequence[Value] = (),
        finds: Sequence[str] = (),
    ) -> tuple[Value, Value]:
        """Adds a pop, and notes what is to be pushed for it; returns the stack it leaves, and what was taken."""
        of = value.type
        attrs = {"dtype": of.dtype, "shape": of.shape, "python": of.python, "slot": pushed.slot}
        pops.append(Node("pop", (top, *sizes), (Value(STACK), value), attrs | ({"finds": tuple(finds)} if finds else {})))
        self.pushed.insert(0, pushed)
        return pops[-1].outputs[0], value

    def tell_extents(self) -> None:
        """Has a value read for each extent that results of the gradient have and nothing it reads tells: `n0` of `n0-1`."""
        builder = self.recorder.builder
        read = [*builder.inputs, *(v for v, _ in self.used())]
        known = {d for v in read if not v.type.listed for d in v.type.shape}
        for node in builder.nodes:
            known |= {*node.attrs.get("finds", ())}
            for name in dict.fromkeys(d for v in node.outputs for d in v.type.shape if isinstance(d, str)):
                place = None
                if known.isdisjoint((name, source(name))):
                    place = telling(name, self.values()) or telling(str(source(name)), self.values())
                if place:
                    self.telling.add(self.recorder.resolve(self.need(place[0])))
                    known |= {*place[0].type.shape}

    def define_extents(self, known: set[Dim]) -> None:
        """Takes in a value for each extent that saved values have and nothing in the gradient region defines."""
        inputs = self.recorder.builder.inputs
        popped = [*(p.value.type for p in self.pushed if p.axis is None), *self.unstacked]
        for name in dict.fromkeys(d for t in popped for d in t.shape if isinstance(d, str)):
            if not known.isdisjoint((name, source(name))):
                continue
            if is_found(name):
                message = f"the gradient of a gradient in a loop or branch whose values are {name} long, as only the run knows"
                raise GradientError("D2S0006", message)
            if not any(name in v.type.shape and not v.type.listed for v in inputs):
                top = self
                while top.parent:
                    top = top.parent
                self.recorder.resolve(top.need(having(top.region, name)))


def telling(name: str, values: Iterable[Value]) -> tuple[Value, int] | None:
    """The first value that has an axis as long as a name says, and that axis."""
    found = (v for v in values if name in v.type.shape and not v.type.listed)
    return next(((v, v.type.shape.index(name)) for v in found), None)
