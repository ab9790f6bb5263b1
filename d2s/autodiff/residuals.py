"""Residuals of a region: popped in front of its gradient, in the order in which the region pushes them, backwards.

In: forward values that the gradient of a region reads. Out: pops in front of it, and what the region is to push. Where only a
run knows an extent of a value, the extent is pushed behind the value, so that it is known before the value is popped.

>>> Pushed(Value(SIZE, "n"), 3)
Pushed(value=<Value n: int>, slot=3, axis=None)
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from d2s.autodiff.lists import having
from d2s.errors import GradientError
from d2s.ir.program import Node, Value
from d2s.ops.recording import Symbolic
from d2s.ops.shapes import is_found
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
    stack: Symbolic
    unpopped: Symbolic
    unstacked: list[Type]
    pushed: list[Pushed]

    def popped(self, stack: Symbolic) -> Symbolic:
        """Puts the pops of what this region's gradient reads in front of it; returns the stack it leaves."""
        top, pops = self.recorder.resolve(stack), list[Node]()
        known = {d for v in self.recorder.builder.inputs if not v.type.listed for d in v.type.shape}
        for forward, symbol in reversed(self.used()):
            new: dict[str, int] = {str(d): k for k, d in enumerate(forward.type.shape) if is_found(d) and d not in known}
            known |= new.keys()
            sizes = list[Value]()
            for axis in new.values():  # they were pushed behind the value
                top, size = self.pop(pops, top, Value(SIZE), Pushed(forward, self.slots.next(), axis))
                sizes.append(size)
            top, _ = self.pop(pops, top, symbol.value, Pushed(forward, self.slots.next()), sizes, tuple(new))
        self.define_extents(known)
        for node in self.recorder.builder.nodes:
            node.inputs = tuple(top if v is self.unpopped.value else v for v in node.inputs)
        self.recorder.builder.nodes[:0] = pops
        return Symbolic(self.recorder, top if self.stack is self.unpopped else self.stack.value)

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

    def define_extents(self, known: Collection[Dim]) -> None:
        """Takes in a value for each extent that saved values have and nothing in the gradient region defines."""
        inputs = self.recorder.builder.inputs
        popped = [*(p.value.type for p in self.pushed), *self.unstacked]
        for name in dict.fromkeys(d for t in popped for d in t.shape if isinstance(d, str)):
            if is_found(name) and name not in known:
                message = f"the gradient of a gradient in a loop or branch whose values are {name} long, as only the run knows"
                raise GradientError("D2S0006", message)
            if name not in known and not any(name in v.type.shape and not v.type.listed for v in inputs):
                top = self
                while top.parent:
                    top = top.parent
                self.recorder.resolve(top.need(having(top.region, name)))
