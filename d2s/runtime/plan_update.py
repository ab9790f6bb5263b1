"""The steps of an `update`: an optimizer's kernel on parameter and state where they lie.

In: the planner, with where values are and who is still to read them. Out: steps; what is read again as it was is copied before.

>>> sorted(name for name in vars(PlansUpdates) if not name.startswith("_"))
['plan_update', 'save', 'share']
"""

from typing import Any

from d2s.codegen import emit
from d2s.ir.program import Node, Value
from d2s.runtime import interpreter
from d2s.runtime.executor import COPY, RUN


def updating(node: Node) -> emit.Launch:
    """The kernel of an `update`."""
    of = node.inputs[0].type
    return emit.Launch(node.attrs["rule"].text(of.dtype), of.dtype.short, (of.shape,))


class PlansUpdates:
    """A part of the planner."""

    program: Any
    homes: dict[Value, int]
    shared: dict[Value, set[Value]]
    waiting: Any
    runs: dict[int, Node]
    operands: list[int]
    at: Any
    allocate: Any
    step: Any
    kernel: Any
    bytes: Any
    branch: Any
    land: Any
    product: Any

    def plan_update(self, node: Node) -> None:
        """In place: what is read again as it was is copied before, and the results stand where the inputs did."""
        states, held = len(node.attrs["state"]), interpreter.updated(node)
        operands = self.at(node.inputs[: 3 + states])
        places = self.at(held)
        for value in held:
            self.save(value, 1)
        for value in [v for v, others in self.shared.items() if not others.isdisjoint(held)]:
            self.save(value, 0)
        launch = updating(node)
        without = [self.branch(v) for v in node.inputs[3 + states :]]
        operands += [self.product(dims) for dims in launch.extents]
        self.runs[self.step(RUN, self.kernel(launch.text, launch.T), 4 * len(self.operands))] = node
        self.operands += operands
        for jump in without:
            self.land(jump)
        self.homes.update(zip(node.outputs, places, strict=True))

    def save(self, value: Value, reads: int) -> None:
        """Before the memory of a value is changed: a copy, if it has more readers than `reads`."""
        if self.waiting[value] > reads or value in self.program.outputs:
            home = self.homes[value]
            self.homes[value] = self.allocate(value.type)
            self.step(COPY, self.homes[value], home, self.bytes(value.type))

    def share(self, node: Node) -> None:
        """Notes that results of a node with regions may be inputs of it, handed through."""
        for out in node.outputs:
            given = {v for v in node.inputs if v.type == out.type}
            self.shared[out] = given.union(*(self.shared.get(v, ()) for v in given))
