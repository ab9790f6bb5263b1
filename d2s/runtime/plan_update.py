"""The steps of an `update`: an optimizer's kernel on parameter and state where they lie.

In: the planner, with where values are and who is still to read them. Out: steps; what is read again as it was is copied before.

>>> sorted(name for name in vars(PlansUpdates) if not name.startswith("_"))
['copied', 'plan_update', 'save', 'share']
"""

from typing import Any

from d2s.codegen import emit
from d2s.ir.program import Node, Value
from d2s.runtime import interpreter
from d2s.runtime.executor import COPY


def updating(node: Node) -> emit.Launch:
    """The kernel of an `update`."""
    of = node.inputs[0].type
    return emit.Launch(node.attrs["rule"].text(of.dtype), of.dtype.short, (of.shape,))


class PlansUpdates:
    """A part of the planner."""

    program: Any
    homes: dict[Value, int]
    shared: dict[Value, set[Value]]
    stepped: set[Value]
    waiting: Any
    operands: list[int]
    at: Any
    allocate: Any
    step: Any
    run_kernel: Any
    work: Any
    bytes: Any
    branch: Any
    land: Any
    product: Any

    def plan_update(self, node: Node) -> None:
        """In place: what is read again as it was is copied before, and the results stand where the inputs did.

        What the run has computed itself, as a parameter that got other values before its step, stays: a copy is changed.
        """
        states, held = len(node.attrs["state"]), interpreter.updated(node)
        operands = self.at(node.inputs[: 3 + states])
        apart = {k: self.copied(v) for k, v in enumerate(held) if v not in self.program.inputs and v not in self.stepped}
        places = [apart.get(k, home) for k, home in enumerate(self.at(held))]
        operands[0], operands[2 : 2 + states] = places[0], places[1:]
        for value in [v for k, v in enumerate(held) if k not in apart]:
            self.save(value, 1)
        for value in [v for v, others in self.shared.items() if not others.isdisjoint(held)]:
            self.save(value, 0)
        launch = updating(node)
        without = [self.branch(v) for v in node.inputs[3 + states :]]
        operands += [self.product(dims) for dims in launch.extents]
        self.run_kernel(node, launch, self.work(node))
        self.operands += operands
        for jump in without:
            self.land(jump)
        self.homes.update(zip(node.outputs, places, strict=True))
        self.stepped.update(node.outputs)

    def copied(self, value: Value) -> int:
        """Where a copy of a value is."""
        home: int = self.allocate(value.type)
        self.step(COPY, home, self.homes[value], self.bytes(value.type))
        return home

    def save(self, value: Value, reads: int) -> None:
        """Before the memory of a value is changed: a copy, if it has more readers than `reads`."""
        if self.waiting[value] > reads or value in self.program.outputs:
            self.homes[value] = self.copied(value)

    def share(self, node: Node) -> None:
        """Notes that results of a node with regions may be inputs of it, handed through."""
        for out in node.outputs:
            given = {v for v in node.inputs if v.type == out.type}
            self.shared[out] = given.union(*(self.shared.get(v, ()) for v in given))
