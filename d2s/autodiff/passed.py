"""Which nodes of a Program a sweep passes: eager code frees each of them, and refuses to pass a freed one again.

In: results, and what wants a gradient. Out: nodes that a sweep from the results may pass; where regions stand in the Program,
the uses of nodes that a run of it made tell.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n], f32[n]) { %0: f32[n] = tanh(x) %1: f32[n] = exp(%0) return %0, %1 }")
>>> [sorted(node.op for node in may_pass(program, (n,), (1,))) for n in (0, 1)]
[['tanh'], ['exp', 'tanh']]
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from d2s.autodiff.active import depending
from d2s.ir.program import Node, Program, Value
from d2s.runtime import interpreter

Numbers = Sequence[int]
_HANDING = ("cond", "while_loop", "call", "again")  # what comes out of these was made by other nodes, or handed in


def has_regions(program: Program) -> bool:
    return any(node.regions() for node in program.nodes)


def may_pass(program: Program, roots: Iterable[int], wanted: Numbers, stopped: Collection[Value] = ()) -> frozenset[Node]:
    """The nodes of its top level that a sweep from these results may pass, towards these inputs; none goes past `stopped`."""
    active = depending(program, wanted, stopped)
    reached = {program.outputs[n] for n in roots}
    found = set()
    for node in reversed(program.nodes):
        if not reached.isdisjoint(node.outputs):
            found.add(node)
            reached.update(active.intersection(node.inputs))
    return frozenset(found)


def makers(program: Program, value: Value) -> frozenset[Node]:
    """The nodes of its top level that may have made what a value is: paths, trips, calls and lists hand on what was there."""
    making = {v: node for node in program.nodes for v in node.outputs}
    found, waiting = set(), [value]
    while waiting:
        node = making.get(waiting.pop())
        if node is not None and node not in found:
            found.add(node)
            waiting += node.inputs if node.op in (*_HANDING, "renamed") or node.op.startswith("list_") else ()
    return frozenset(found)


class Use(NamedTuple):
    """A node that ran, with the arrays it was given and has made, each with the value it stands for."""

    given: list[tuple[Value, Any]]
    made: list[tuple[Value, Any]]


class Uses:
    """All that a run of a Program made, node by node, those of regions as often as they ran."""

    def __init__(self, program: Program, arrays: Sequence[Any]) -> None:
        self._program, self._uses = program, list[Use]()
        self._results = interpreter.run(program, arrays, see=self._see)

    def _see(self, node: Node, inputs: list[Any], results: list[Any]) -> None:
        if node.op in _HANDING or (node.op.startswith("list_") and node.op != "list_stack"):
            return
        given = [(v, a) for v, held in zip(node.inputs, inputs, strict=True) for a in each(held)]
        made = [(v, a) for v, a in zip(node.outputs, results, strict=True) if not isinstance(a, tuple)]
        self._uses.append(Use(given, made))

    def passed(self, roots: Iterable[tuple[int, int]], wanted: Numbers, stopped: Collection[Value]) -> set[int]:
        """Which of these a sweep from results - or from an item of one that is a list - passes; none goes past `stopped`."""
        active = depending(self._program, wanted, stopped)
        reached = {id(each(self._results[n])[k]) for n, k in roots}
        found = set()
        for number, use in reversed(list(enumerate(self._uses))):
            if any(value in active and id(array) in reached for value, array in use.made):
                found.add(number)
                reached |= {id(array) for value, array in use.given if value in active}
        return found


def each(held: Any) -> tuple[Any, ...]:
    """The items of a list, or the one array."""
    return held if isinstance(held, tuple) else (held,)
