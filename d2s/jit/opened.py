"""A static call's one node on the tape as the nodes that eager code would have put there: for sweeps that look between them.

In: a Program, the arrays of a call and where the cotangents of its inputs go. Out: where those of its results go. So what one
result passes to another is seen by a hook of the first, and gradients of gradients are added in the order of eager code.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n], f32[n]) { %0: f32[n] = tanh(x) %1: f32[n] = exp(%0) return %0, %1 }")
>>> x = d2s.to_tensor([0.0], stop_gradient=False)
>>> found = Opened(program, [x.array], [x], 0)
>>> first, second = found.result(0), found.result(1)
>>> second.op.name, second.edges[0] is first, first.edges[0] is x
('exp', True, True)
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s.autodiff import tape, writes
from d2s.autodiff.changed import Changes
from d2s.autodiff.handed import PLACE
from d2s.autodiff.passed import each
from d2s.eager.handler import OpNode, refuse_changed
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value
from d2s.jit.lying import Lying
from d2s.ops import OPS, join
from d2s.runtime import host, interpreter

_HANDING = ("cond", "while_loop", "call", "again", "stack", "push", "pop", "renamed")  # what comes out of these went in
_ENDING = ("detached", "host", "hole", "constant")


class _Opened(OpNode):
    """A node that stands for one of a Program."""

    __slots__ = ("changed", "lying", "needs", "where")
    where: str
    needs: set[int]  # the arrays its gradient reads, by id
    changed: GradientError | None  # what is said of one that was changed in place
    lying: list[Lying]  # where eager code has what its gradient reads, of what others know

    def pull(self, cotangents: dict[int, Any], totals: tape.Totals) -> None:
        if self.changed:
            raise self.changed
        for lying in self.lying:
            if lying.is_lost:
                refuse_changed(lying.array, self.order, f"{self.op.name}()", lambda: self.where)
        super().pull(cotangents, totals)

    @property
    def line(self) -> str:
        return self.where


class Opened:
    """A run of a Program, put on the tape. An array stands for a tensor, as no two of a run are one."""

    def __init__(
        self,
        program: Program,
        arrays: Sequence[np.ndarray],
        edges: Sequence[tape.Edge],
        order: float,
        stopped: Collection[Value] = (),
        changes: Changes | None = None,
        lying: Mapping[Value, Lying] | None = None,
    ) -> None:
        """Its nodes are as old as the one of that order. `changes`: what the Program's function changes in place.

        `lying`: what lies in memory that others know, beside the inputs that are not changed.
        """
        self._changes, self._last = changes or {}, dict[Value, Any]()
        lying = lying or {}
        given = [a.view() for a in arrays]
        self._stopped = stopped
        self._nodes: list[_Opened] = []
        self._memory: dict[int, set[int]] = {}  # of what was detached: what is in the same
        self._kept: list[Any] = [*given]  # so that ids stay theirs
        self._saved = {id(mine): a for v, mine, a in zip(program.inputs, given, arrays, strict=True) if v not in lying}
        self._edges = {id(mine): edge for mine, edge in zip(given, edges, strict=True) if edge is not None}
        self._last.update(zip(program.inputs, given, strict=True))
        results = self._run(program, given)
        homes = {id(self._last[v]): one for v, one in lying.items() if v in self._last}
        for node in self._nodes:
            node.lying = [homes[at] for at in node.needs if at in homes]
        self._results = [tuple(map(self._edge, each(found))) for found in results]
        for n, node in enumerate(self._nodes):  # orders are whole numbers: between two there is place for all
            node.order = order - 1 + (n + 1) / (len(self._nodes) + 1)
        del self._kept, self._saved, self._edges, self._last, self._memory

    def _run(self, program: Program, given: Sequence[np.ndarray]) -> Sequence[Any]:
        """The results; of a run that ends in an exception, what it had changed by then."""
        try:
            return interpreter.run(program, given, see=self._see)
        except Exception:
            ends = host.current().ends
            if ends is None:
                raise
            return ends

    @property
    def results(self) -> list[tuple[tape.Edge, ...]]:
        """Where the cotangents of all results go; of one that is a list, those of its items."""
        return self._results

    def result(self, n: int, item: int = 0) -> tape.Edge:
        """Where the cotangent of a result goes, or that of an item of one that is a list."""
        return self._results[n][item]

    def free(self, places: Iterable[tuple[int, int]], targets: Collection[tape.Edge]) -> None:
        """Releases the nodes that a sweep from results towards some inputs has passed."""
        roots = [self.result(*place) for place in places]
        passed = tape.leading(roots, targets) | {tape.place(root)[0] for root in roots}
        for node in self._nodes:
            if node in passed:
                node.release()

    def _edge(self, array: Any) -> tape.Edge:
        return self._edges.get(id(array))

    def _see(self, node: Node, inputs: list[Any], results: list[Any]) -> None:
        first = len(self._nodes)
        self._last.update(zip(node.inputs, inputs, strict=True))
        self._take(node, inputs, results)
        self._last.update(zip(node.outputs, results, strict=True))
        for v in node.outputs:
            if v in self._changes:
                self._change(v, self._nodes[first:])

    def _change(self, by: Value, own: list[_Opened]) -> None:
        """Notes that something is written over: the nodes that need it are refused, but for those that write (`own`)."""
        before, where = self._changes[by]
        array = self._last.get(before)
        lost = {id(array)} | self._memory.get(id(array), set())
        for made in self._nodes if array is not None else ():
            if made not in own and not lost.isdisjoint(made.needs):
                made.changed = made.changed or writes.refusal(f"{made.op.name}()", made.where, before.type, where)
        for made in own:
            made.needs -= {id(array), id(self._last[by])}

    def _take(self, node: Node, inputs: list[Any], results: list[Any]) -> None:
        if node.op in _HANDING:
            return
        if node.op.startswith("list_"):
            self._see_list(node, inputs, results)
            return
        own = {id(a) for a in inputs}
        results[:] = [a.view() if id(a) in own else a for a in results]
        self._kept += results
        if node.op == "detached":
            self._memory[id(results[0])] = self._memory.get(id(inputs[0]), set()) | {id(inputs[0])}
        if node.op in PLACE:
            self._edges[id(results[0])] = self._edge(inputs[PLACE[node.op]])
        elif node.op not in _ENDING:
            self._add(node.op, node, inputs, results, interpreter.attributes(node, inputs))

    def _see_list(self, node: Node, inputs: list[Any], results: list[Any]) -> None:
        """A list hands its items on; only what is made of all of them at once is another value."""
        self._kept += results
        if node.op == "list_stack" and inputs[0]:
            self._join("concat" if node.attrs["behind"] else "stacked", node, list(inputs[0]), results[1])
        if node.op == "list_unstack" and self._edge(inputs[1]) is not None:
            message = "a gradient of a gradient of a list that a loop makes longer"
            raise GradientError("D2S0006", message, where=node.where, hint="do without d2s.stack of it there")

    def _join(self, name: str, node: Node, items: list[Any], whole: Any) -> None:
        """Many are joined in groups, and these in turn."""
        while len(items) > join.MOST:
            groups = [items[k : k + join.MOST] for k in range(0, len(items), join.MOST)]
            items = [(np.stack if name == "stacked" else np.concatenate)(group) for group in groups]
            self._kept += items
            for group, made in zip(groups, items, strict=True):
                self._add(name, node, group, [made], {"axis": 0})
            name = "concat"
        self._add(name, node, items, [whole], {"axis": 0})

    def _add(self, name: str, node: Node, inputs: Sequence[Any], results: Sequence[Any], attrs: dict[str, Any]) -> None:
        edges = [self._edge(a) for a in inputs]
        if results[0].dtype.kind != "f" or all(edge is None for edge in edges):
            return
        op = OPS[name]
        made = _Opened(op, edges, attrs, [self._saved.get(id(a), a) for a in (*inputs, *results)])
        made.where, made.changed = node.where, None
        arrays = (*inputs, *results)
        made.needs = {id(arrays[k]) for k in made.read()}
        self._nodes.append(made)
        carrying = len(results) if op.has("composed") else 1
        for k, (value, array) in enumerate(zip(node.outputs[-len(results) :], results[:carrying], strict=False)):
            if value not in self._stopped and not value.type.python:  # Python's numbers have no gradient
                self._edges[id(array)] = tape.result(made, k)
