"""`Linear`: a Program in two halves, one that keeps what a gradient reads and one that computes it; apart, or in one Program.

>>> from d2s.autodiff.program import linearize
>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) return %0 }")
>>> halves = linearize(program, [True], [True], [False])
>>> [[node.op for node in half.nodes] for half in (halves.forward, halves.backward)]
[['tanh'], ['multiply', 'constant', 'subtract', 'multiply']]
"""

import dataclasses
from collections.abc import Sequence

from d2s.autodiff.totals import Total
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value


@dataclasses.dataclass(eq=False, slots=True)
class Linear:
    """A Program split for training: `forward` returns its outputs and then what `backward` reads."""

    forward: Program
    backward: Program
    saved: list[tuple[bool, int]]  # what backward takes first: (an input of forward?, its position there)
    reached: set[int]  # outputs that depend on a wanted input
    totals: list[
        tuple[int, int, int]
    ]  # input of forward, output of backward with its total, output that says it is there (-1: it is)
    found: dict[Value, tuple[int, int]]  # the same of values that were watched
    order: list[int]  # inputs of forward, as they get their first contributions
    refused: "list[GradientError]"  # what eager code says of this gradient: it needs values that were changed in place

    def behind(self, given: Sequence[Value]) -> tuple[list[Node], list[Value]]:
        """The nodes of the backward half as they stand behind those of the forward one, and its results.

        `given` are its inputs behind those it reads of the forward half.
        """
        inputs, outputs = self.forward.inputs, self.forward.outputs
        saved = [(inputs if is_input else outputs)[n] for is_input, n in self.saved]
        known = dict(zip(self.backward.inputs, [*saved, *given], strict=True))
        nodes = [Node(n.op, tuple(known.get(v, v) for v in n.inputs), n.outputs, n.attrs, n.where) for n in self.backward.nodes]
        return nodes, [known.get(v, v) for v in self.backward.outputs]


def returned(total: Total, results: list[Value]) -> tuple[int, int]:
    """Adds a total to the results of a backward half; says where it and its bool stand."""
    results.append(total.value.value)
    if total.present is None:
        return len(results) - 1, -1
    results.append(total.present.value)
    return len(results) - 2, len(results) - 1


def uniquely_named(values: Sequence[Value]) -> list[Value]:
    """Input names of their own for all; gradient inputs are nobody else's values."""
    taken: dict[str, int] = {}
    for value in values:
        name = value.name
        while value.name in taken:  # some end in a number already: what was named so before is named again
            taken[name] += 1
            value.name = f"{name}_{taken[name]}_"
        taken[value.name] = 0
    return list(values)
