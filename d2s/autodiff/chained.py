"""Residuals of a loop whose gradient may have one itself: each is pushed by one name, and so its cotangent comes in one piece.

In: a loop being swept. Out: what a trip leaves is handed from trip to trip of the gradient: it is what the trip behind it was
given, and that alone is pushed and popped. What the first trip is given is read where the loop got it.

A gradient of the gradient has cotangents for residuals; in eager code they come before all that the loop itself contributes.
Pushed as what one trip leaves and as what the next is given, a state would get the first part in front of the loop's own
contribution, and the second behind it.

>>> Chain.__name__
'Chain'
"""

from typing import Any

from d2s.autodiff.handed import chained
from d2s.autodiff.totals import FLAG
from d2s.ir.program import Node, Program, Value
from d2s.ops.recording import Symbolic


class Chain:
    """What trips of a gradient hand on: `links` are what trips leave, and what the next one is given that as."""

    def __init__(self, sweep: Any) -> None:
        self.sweep = sweep
        self.links = chained(sweep.node)
        self.left: dict[Value, Symbolic] = {}  # what trips leave, as inputs of the gradient's trips
        self.given: dict[Value, Symbolic] = {}  # what trips are given, as the gradient reads it
        self.popped: dict[Value, Symbolic] = {}  # of that what the gradient hands on

    def need(self, value: Value) -> Symbolic | None:
        """A value of the body as the gradient reads it; None where that is what was pushed."""
        if value in self.links:
            if value not in self.left:
                self.left[value] = self.sweep.recorder.input(value.type, f"left_{self.links[value].name}")
            return self.left[value]
        if value in self.links.values() and value not in self.given:
            self.given[value] = Symbolic(self.sweep.recorder, Value(value.type))
        return self.given.get(value)

    def close(self) -> None:
        """Writes what the gradient reads of what trips are given; what it turned out not to read goes."""
        builder = self.sweep.recorder.builder
        read, nodes = {v for node in builder.nodes for v in node.inputs}, list[Node]()
        for value in [v for v, symbol in self.left.items() if symbol.value not in read]:
            builder.inputs.remove(self.left.pop(value).value)
        for p, symbol in self.given.items():
            nodes += self._first_or_popped(p, symbol.value) if symbol.value in read else ()
        builder.nodes[:0] = nodes
        self.popped = {p: self.sweep.scope.pop_of(p) for p in map(self.links.__getitem__, self.left)}

    def _first_or_popped(self, p: Value, given: Value) -> list[Node]:
        """The nodes in front of a trip of the gradient that take, in the last such trip, what the loop began with."""
        recorder, left = self.sweep.recorder, self.sweep.left.value
        one = Node("constant", (), (Value(left.type),), {"value": 1, "dtype": left.type.dtype, "python": False})
        is_first = Node("equal", (left, one.outputs[0]), (Value(FLAG),), {})
        first = recorder.resolve(self.sweep.outer.need(self.sweep.outside[p]))
        arms = {}
        for n, name in enumerate(("then", "otherwise")):
            inputs = Value(p.type, "first"), Value(p.type, "popped")
            arms[name] = Program(name, inputs, (), (inputs[n],))
        reads = is_first.outputs[0], first, self.sweep.scope.pop_of(p).value
        return [one, is_first, Node("cond", reads, (given,), arms)]

    def begun(self) -> list[Any]:
        """What the first trip of the gradient is given."""
        return [self.sweep.outer.need(self.sweep.after[self.links[value]]) for value in self.left]

    def handed(self) -> list[Any]:
        """What each trip of the gradient hands on."""
        return [*self.popped.values()]
