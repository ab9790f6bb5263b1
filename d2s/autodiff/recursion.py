"""The reverse sweep of a `call`, a function that calls itself: a `call` of its gradient, which calls itself where that did.

In: the scope around it, the node, the totals of that scope. Out: a recorded call that is given the cotangents of the results
and the totals of the inputs so far, and gives the totals as its calls leave them. Each call of it takes from the stack what the
call it belongs to has put there. All calls are given alike much: which totals may be absent is found by sweeping until nothing
changes, and with it what the gradient reads from outside.

>>> CallSweep.__name__
'CallSweep'
"""

from collections.abc import Mapping, Sequence
from typing import Any

from d2s.autodiff.totals import FLAG, Total, Totals, add, nothing, presence
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ops.control import described
from d2s.ops.dispatch import handling
from d2s.ops.recording import Symbolic
from d2s.types import STACK

Kinds = dict[Value, bool]  # of totals that are there: whether they may be absent


class CallSweep:
    """One function being swept. What its gradient is given is kept by its results and inputs, what that gives by its inputs."""

    def __init__(self, outer: Any, node: Node, totals: Totals) -> None:
        if any(v.type is STACK for v in node.inputs):
            raise GradientError("D2S0006", f"a gradient of a gradient through '{node.attrs['name']}', which calls itself")
        self.outer, self.node, self.body, self.name = outer, node, node.attrs["body"], node.attrs["name"]
        self.carried = self.body.inputs[: node.attrs["carries"]]
        self.fixed = dict(zip(self.body.inputs, node.inputs, strict=True))
        for p in self.carried:
            del self.fixed[p]
        self.gs = [totals.pop(v, None) for v in node.outputs]
        self.given = list(map(_kind, self.gs))
        self.start = {p: total.present is not None for p, total in self._starts(node, totals).items()}
        self.end: Kinds = {p: False for p in self.body.inputs if p in outer.active}
        self.reads: list[Value] = []  # of the recorder around
        self.same = True  # whether all calls are given what the sweep was told

    def _starts(self, node: Node, totals: Totals) -> Totals:
        """The totals that inputs have, by the body's own; a value that is given twice has one."""
        firsts = {v: p for p, v in reversed(list(zip(self.body.inputs, node.inputs, strict=True)))}
        return {p: totals[v] for v, p in firsts.items() if v in totals and p in self.outer.active}

    def meet(self, gs: Sequence[Total | None], starts: Totals) -> None:
        """Notes what a call of the gradient is given; what is there at some calls only may be absent."""
        given = [_joined(known, _kind(g)) for known, g in zip(self.given, gs, strict=True)]
        kinds = {p: _joined(self.start.get(p), _kind(starts.get(p))) for p in (*self.start, *starts)}
        start = {p: bool(kind) for p, kind in kinds.items()}
        self.same = self.same and (given, start) == (self.given, self.start)
        self.given, self.start = given, start

    def settled(self) -> bool:
        """Sweeps the body once; whether that was with what all calls have in common."""
        self.same, known, ends = True, len(self.reads), dict(self.end)
        self.scope = self.outer.inside(self.body, "body", self.fixed)
        self.scope.functions[self.name] = self
        self.recorder = self.scope.recorder
        stack = self.recorder.input(STACK, "residuals")
        found = self._entered()
        with handling(self.recorder):
            self.scope.sweep(found)
            end = {
                p: total.present is not None for p, total in found.items() if p in self.body.inputs and p in self.scope.active
            }
            self.end = {p: end[p] or ends.get(p, False) for p in self.body.inputs if p in end}
            totals = [s for p, flagged in self.end.items() for s in ([found[p].value, presence(found[p])][: 1 + flagged])]
            self.outputs = [self.scope.popped(stack), *totals]
        self.reads = list(self.recorder.captured)
        return self.same and ends == self.end and len(self.reads) == known

    def _entered(self) -> Totals:
        """The totals that a call of the gradient begins with."""
        results = list(zip(self.body.outputs, self.given, strict=True))
        gs = [(v, _input(self.recorder, v, "g", kind)) for v, kind in results if kind is not None]
        found: Totals = {p: _input(self.recorder, p, f"total_{p.name}", kind) for p, kind in self.start.items()}
        for v in self.reads:
            self.recorder.resolve(Symbolic(self.outer.recorder, v))
        with handling(self.recorder):
            for value, g in gs:
                if value in self.scope.active:
                    self.scope.give(found, value, g)
        return found

    def again(self, scope: Any, node: Node, totals: Totals) -> None:
        """A call of the gradient inside of its body, at a call of the function."""
        gs, starts = [totals.pop(v, None) for v in node.outputs], self._starts(node, totals)
        self.meet(gs, starts)
        inputs = self._handed(scope, node, gs, starts)
        inputs += [scope.recorder.resolve(Symbolic(self.outer.recorder, v)) for v in self.reads]
        types = [STACK, *(t for p, flagged in self.end.items() for t in ([p.type, FLAG] if flagged else [p.type]))]
        attrs = {"name": self.name, "results": described(types)}
        self._take_back(scope, node, starts, scope.recorder.add("again", inputs, types, attrs), totals)

    def record(self, totals: Totals) -> None:
        """Writes the call, and takes over the totals it leaves."""
        outer, starts = self.outer, self._starts(self.node, totals)
        inputs = self._handed(outer, self.node, self.gs, starts)
        reads, (body,) = outer.recorder.adopt([self.recorder], [self.outputs])
        attrs = {"body": body, "carries": len(inputs), "name": self.name}
        results = outer.recorder.add("call", [*inputs, *reads], [v.type for v in body.outputs], attrs)
        self._take_back(outer, self.node, starts, results, totals)

    def _handed(self, scope: Any, node: Node, gs: Sequence[Total | None], starts: Totals) -> list[Value]:
        """What a call of the gradient is given: the stack, cotangents and totals, with bools where some call has none."""
        found = [scope.stack]
        with handling(scope.recorder):
            for v, g, kind in zip(node.outputs, gs, self.given, strict=True):
                found += [] if kind is None else _filled(scope, v, g, kind)
            inside = dict(zip(self.body.inputs, node.inputs, strict=True))
            for p, kind in self.start.items():
                found += _filled(scope, inside[p], starts.get(p), kind)
        return [scope.recorder.resolve(s) for s in found]

    def _take_back(self, scope: Any, node: Node, starts: Totals, results: Sequence[Any], totals: Totals) -> None:
        scope.stack, *rest = results
        left = iter(rest)
        found = {p: Total(next(left), next(left) if flagged else None) for p, flagged in self.end.items()}
        pairs = list(zip(self.body.inputs, node.inputs, strict=True))
        with handling(scope.recorder):
            for p, v in pairs:
                if p in found and p in starts:
                    totals[v] = found[p]
            for p, v in pairs:
                if p in found and p not in starts and v in scope.active:
                    add(totals, v, found[p])


def _kind(total: Total | None) -> bool | None:
    """Whether a total may be absent; None for none at all."""
    return None if total is None else total.present is not None


def _joined(known: bool | None, found: bool | None) -> bool | None:
    """The same of what is one at some calls and the other at others."""
    return known if known is found else True


def _input(recorder: Any, value: Value, name: str, flagged: bool) -> Total:
    total = recorder.input(value.type, name)
    return Total(total, recorder.input(FLAG, f"has_{name}") if flagged else None)


def _filled(scope: Any, value: Value, total: Total | None, flagged: bool) -> list[Any]:
    held = nothing(scope.need(value)) if total is None else total.value
    return [held, presence(total)] if flagged else [held]


def saving_call(node: Node, sweep: CallSweep, stack: Value) -> Node:
    """The function with a stack on which each call puts what its gradient reads."""
    inside = Value(STACK, "residuals")
    nodes, top = sweep.scope.saving_region((), inside)
    body = Program(sweep.body.name, (inside, *sweep.body.inputs), nodes, (*sweep.body.outputs, top))
    attrs = {"body": body, "carries": node.attrs["carries"] + 1, "name": node.attrs["name"]}
    return Node("call", (stack, *node.inputs), (*node.outputs, Value(STACK)), attrs, node.where)


def saving_again(node: Node, stack: Value) -> Node:
    attrs = node.attrs | {"results": (*node.attrs["results"], "stack")}
    return Node("again", (stack, *node.inputs), (*node.outputs, Value(STACK)), attrs, node.where)


def unswept(node: Node, functions: Mapping[str, Node]) -> Node:
    """A node that no gradient passes, where functions around it have a stack now: it calls them as they were."""
    function = functions.get(node.attrs["name"]) if node.op == "again" else None
    others = {name: one for name, one in functions.items() if name != node.attrs.get("name")}
    if function is not None:
        body = _unswept_region(function.attrs["body"].copied(), others)
        return Node("call", node.inputs, node.outputs, function.attrs | {"body": body}, node.where)
    within = others if node.op == "call" else functions
    regions = {name: _unswept_region(region, within) for name, region in node.regions().items()} if functions else {}
    return Node(node.op, node.inputs, node.outputs, node.attrs | regions, node.where) if regions else node


def _unswept_region(region: Program, functions: Mapping[str, Node]) -> Program:
    nodes = tuple(unswept(node, functions) for node in region.nodes)
    return Program(region.name, region.inputs, nodes, region.outputs)
