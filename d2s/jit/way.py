"""One way of running a Graph: calls in which the same inputs want gradients.

In: a Graph, which of its inputs want one. Out: the forward half that such calls run, natively, too; the halves that sweeps
need; what a sweep from one result passes of others.

>>> from d2s.ir.text import parse
>>> from d2s.jit.graph import Graph
>>> graph = Graph(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) return %0 }"))
>>> Way(graph, (True,)).linear.saved
[(False, 0)]
"""

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from d2s import passes
from d2s.autodiff import orders, reads, taken, tape
from d2s.autodiff.changed import may_need, needs_changed
from d2s.autodiff.linear import Linear
from d2s.autodiff.passed import has_regions, makers, may_pass
from d2s.config import KNOBS
from d2s.errors import GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import show
from d2s.jit.once_more import making
from d2s.jit.taped import GraphNode, Mask, Place, Sweep, Sweeping
from d2s.once import once
from d2s.ops.dispatch import handlers
from d2s.runtime.call import Call
from d2s.runtime.native_call import Recorded
from d2s.runtime.native_items import Items
from d2s.stages import stage

if TYPE_CHECKING:
    from d2s.jit.graph import Graph


class Way:
    """How calls run in which some inputs want gradients: by which forward half, with which halves a sweep may go back."""

    def __init__(self, graph: "Graph", wanted: Mask) -> None:
        self.graph, self.wanted, self.given = graph, wanted, graph.given()
        self.linear, self.forward = self._halved()
        learns = self.linear.reached if self.linear else self._learning()
        self.reached = [n in learns and n not in graph.ended for n in range(len(self.given))]
        told, self.taken = taken.told(self.forward.program, wanted, self.reached, graph.stopped)
        told, self.same, self.numbers = graph.alike(told)
        if max(self.taken, default=-1) >= 0 or self.numbers:
            stage(f"forward:{told.name}", lambda: show(told))
            self.forward = Call(told, passes.lower)
        self._sweeps: dict[tuple[Mask, Mask], Sweep] = {}
        self._passing: dict[tuple[int, Mask], frozenset[Node]] = {}
        self._shut: dict[tuple[Sweeping, ...], Set[int]] = {}
        self._inner: dict[int, bool] = {}
        self._reordered: dict[tuple[Mask, frozenset[int]], bool] = {}

    def _halved(self) -> tuple[Linear | None, Call]:
        """The halves for the usual sweep, and the call of the first; the Program as it is where none says its gradient."""
        try:
            linear, forward, _ = self.graph.halves(self.wanted, self.given, (False,) * len(self.wanted))
        except GradientError:  # every sweep opens such a call, and what eager code says of its gradient is said there
            return None, Call(self.graph.program, passes.lower)
        return linear, forward

    def _learning(self) -> set[int]:
        """The results that depend on what wants a gradient."""
        depending = self.graph.wanting(self.wanted)
        return {n for n, v in enumerate(self.graph.program.outputs) if n < len(self.given) and self.given[n] and v in depending}

    @once
    def _items(self) -> dict[int, Items]:
        """What makes the items of the lists that a native call has found as arrays."""
        example, several = tape.Result(self.recorded().node, 1), len(self.given)
        lists = [n for n, v in enumerate(self.forward.program.outputs) if v.type.listed]
        return {n: Items(handlers.base.classes, example, n, several) for n in lists}

    def on_path(self, results: Sequence[Any]) -> list[Any]:
        """Which results of a run depend on what wants a gradient; of a list, which items."""
        told = [has and (n < 0 or results[n]) for has, n in zip(self.reached, self.taken, strict=True)]
        return [tuple(map(bool, one)) if isinstance(one, tuple) else bool(one) for one in told]

    def sweep(self, given: Mask, started: Mask) -> "Sweep":
        """The halves for these cotangents and totals."""
        if (given, started) not in self._sweeps:
            linear, _, backward = self.graph.halves(self.wanted, given, started)
            self._sweeps[given, started] = Sweep(linear, backward, self._kept(linear))
        return self._sweeps[given, started]

    def may_pass(self, numbers: Iterable[int], wanted: Mask) -> frozenset[Node]:
        """The nodes that a sweep from these results may pass, towards some inputs."""
        several, found = len(self.given), frozenset[Node]()
        for n in {number % several for number in numbers}:
            if (n, wanted) not in self._passing:
                self._passing[n, wanted] = may_pass(self.graph.program, (n,), wanted, self.graph.stopped)
            found |= self._passing[n, wanted]
        return found

    @once
    def needs_changed(self) -> bool:
        """Whether a run alone can tell that a gradient needs what was changed in place."""
        return needs_changed(self.graph.opened, self.graph.wanting(self.wanted), self.graph.changes)

    @once
    def needs_memory(self) -> bool:
        """Whether a gradient may need what a call finds or leaves in memory that it changes."""
        graph = self.graph
        places = [v for n, m in graph.in_place.items() for v in (graph.opened.inputs[n], graph.opened.outputs[m])]
        there = {Value(v.type): (v, "") for v in places}  # others write there behind the call
        return may_need(graph.opened, graph.wanting(self.wanted), graph.changes, there)

    @once
    def reorders(self) -> bool:
        """Whether some sweep would add contributions in another order than eager code, or needs what may have been changed.

        One towards some inputs asks of each node it passes what that needs, be it for these or for others.
        """
        graph = self.graph
        needs = may_need(graph.opened, graph.wanting(self.wanted), graph.changes, graph.changes)
        return needs or self.has_order_of_its_own(self.wanted, frozenset(range(len(self.given))))

    @once
    def will_be_opened(self) -> bool:
        """Whether a sweep from all results would, where nothing has a total before."""
        results = frozenset(n for n, has in enumerate(self.given) if has)
        return self.has_order_of_its_own((False,) * len(self.wanted), results)

    @once
    def opened(self) -> Program:
        """What is opened of a call behind which memory was changed: where it matters, with what tells what lies in that."""
        left = self.graph.in_place.values() if self.needs_memory else ()
        wanted = [has or n in left for n, has in enumerate(self.reached)]
        return making(self.graph.opened, wanted, self.graph.wanting(self.wanted), self.graph.changes)

    @once
    def kept(self) -> tuple[int, ...]:
        """The inputs that calls change in place and that what is run once more for a sweep reads."""
        if not any(self.reached):
            return ()
        read = reads.of_program(self.opened)
        return tuple([n for n in self.graph.in_place if self.opened.inputs[n] in read])

    def has_order_of_its_own(self, started: Mask, given: frozenset[int]) -> bool:
        """Whether a sweep from these results would, where these inputs have totals before, or can only be made node by node."""
        if self.linear is None:
            return True
        if (started, given) not in self._reordered:
            program, active = self.graph.program, self.graph.wanting(self.wanted)
            begun = {v for v, has in zip(program.inputs, started, strict=True) if has}
            outputs = [program.outputs[n] for n in sorted(given)]
            self._reordered[started, given] = orders.another(program, active, begun, outputs) is not None
        return self._reordered[started, given]

    def leading(self, wanted: Mask) -> Sequence[int] | None:
        """The results that may lead to some inputs; None: all."""
        depending = self.graph.wanting(wanted)
        found = [n for n, v in enumerate(self.graph.program.outputs[: len(self.reached)]) if v in depending]
        return None if self.graph.lists or len(found) == len(self.reached) else found

    def is_passed(self, number: int) -> bool:
        """Whether sweeps from other results may pass this one."""
        if number not in self._inner:
            several = len(self.given)
            made = makers(self.graph.program, self.graph.program.outputs[number % several])
            others = [n for n, reached in enumerate(self.reached) if reached and (n != number or number >= several)]
            self._inner[number] = not self.may_pass(others, self.wanted).isdisjoint(made)
        return self._inner[number]

    def shut(self, swept: tuple[Sweeping, ...]) -> Set[int]:
        """Results from which, behind these sweeps, no other may start: it would pass what they have freed."""
        if self.graph.lists or has_regions(self.graph.program):
            return frozenset()
        if swept not in self._shut:
            freed = frozenset[Node]().union(*(self.may_pass(*sweep) for sweep in swept))
            others = [n for n, reached in enumerate(self.reached) if reached]
            self._shut[swept] = {n for n in others if not freed.isdisjoint(self.may_pass((n,), self.wanted))}
        return self._shut[swept]

    def _kept(self, linear: Linear) -> Sequence[Place] | None:
        """Where a call kept what a backward half reads; None where it did not keep all of it."""
        ran = self.linear
        if ran is None:
            return None
        if linear is ran or (linear.saved == ran.saved and show(linear.forward) == show(ran.forward)):
            return ran.saved
        known = {v: n for n, v in enumerate(ran.forward.outputs)}
        outputs = linear.forward.outputs
        if not all(is_input or outputs[n] in known for is_input, n in linear.saved):
            return None
        return [(is_input, n if is_input else known[outputs[n]]) for is_input, n in linear.saved]

    def recorded(self) -> Recorded:
        """What native calls put on the tape. Which items of a list are on it is found behind such a call."""
        node = GraphNode(self, (), (), ())
        node.executor = KNOBS["EXECUTOR"][0]  # where another one is set, no call is native
        outputs = self.graph.program.outputs
        taken = [-1 if v.type.listed else n for v, n in zip(outputs, self.taken, strict=True)]
        return Recorded(node, tape.Result(node, 1), [bool(w) for w in self.wanted], self.reached, taken)

    def _handed(self, node: GraphNode, n: int, items: Sequence[np.ndarray], flags: Sequence[bool]) -> list[Any]:
        """A list of the results: numbers, what is no result of the node's, or tensors of which some are on the tape."""
        if self.graph.program.outputs[n].type.python:
            return [a.item() for a in items]
        if n in self.graph.ended:
            return list(map(self.graph.ended[n], items))
        tensors: list[Any] = node.taped(n, items, tuple(flags) if len(flags) == len(items) else flags[0])
        return tensors

    def unstacked(self, node: GraphNode, given: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """The results of a native call with lists, each of which it has found as one tensor."""
        graph, found = self.graph, node.results
        made, results = list(given[: len(self.given)]), list(found)
        for n, items in self._items.items():
            if n >= len(made):  # what is told of results
                results[n] = items.arrays(found[n])
                continue
            flags = found[self.taken[n]].tolist() if self.reached[n] and self.taken[n] >= 0 else [self.reached[n]]
            if n in graph.ended or all(flags) != any(flags) or graph.program.outputs[n].type.python:
                results[n] = items.arrays(found[n])
                made[n] = self._handed(node, n, results[n], flags)
            else:
                made[n] = items.tensors(found[n], node if any(flags) else None)
                results[n] = tuple([t.array for t in made[n]])
        node.results = results
        return graph._named(made, found, inputs, self.numbers)
