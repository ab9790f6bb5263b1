"""A Program with its gradients, on tensors: what runs for a captured function and for one that was loaded.

In: tensors, Python numbers as 0-D ones. Out: tensors. Where one wants a gradient, all of the call is one node on the tape: the
forward half ran, and the node keeps what the backward half reads.

>>> from d2s.ir.text import parse
>>> graph = Graph(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) return %0 }"))
>>> graph([d2s.to_tensor([0.0])])[0].numpy().tolist()
[0.0]
"""

import contextlib
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from d2s import passes
from d2s.autodiff import orders, reads, taken, tape, writes
from d2s.autodiff.active import depending, wanted_inputs
from d2s.autodiff.changed import Changes, may_need, needs_changed
from d2s.autodiff.identity import Identity
from d2s.autodiff.linear import Linear
from d2s.autodiff.mode import recording
from d2s.autodiff.passed import has_regions, makers, may_pass
from d2s.autodiff.program import linearize
from d2s.autodiff.renewed import of_renewed
from d2s.capture.sweeps import History
from d2s.capture.symbolic import Overwritten
from d2s.config import KNOBS, unusual
from d2s.eager.tensor import Tensor
from d2s.ir.program import Node, Program, Value
from d2s.ir.text import show
from d2s.jit import listed
from d2s.jit.ended import ends_inside, leaf, used_up
from d2s.jit.once_more import making
from d2s.jit.opened import Opened
from d2s.jit.taped import GraphNode, Mask, Place, Sweep, Sweeping
from d2s.ops.dispatch import handlers
from d2s.runtime import host
from d2s.runtime.call import Call
from d2s.runtime.native_call import Entry, Handed, Recorded
from d2s.runtime.plan import Plan
from d2s.stages import stage

NATIVE_WAYS = 5  # choices of inputs that want gradients, none being one, for which the calls of a graph are native


_staying = list[None]()  # not empty while every call is the graph's


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """No call in a `with` block is left to eager code: for those who compare the two."""
    _staying.append(None)
    try:
        yield
    finally:
        _staying.pop()


class Graph:
    """A Program with its gradients. `returned` outputs are the function's; those behind them get no cotangent as a rule.

    `history`: where the Program has gradients of its own, what they leave of the results' histories. `overwritten`: what the
    function has changed in place. `named`: the outputs of which it matters whether they are one tensor, if not all. `in_place`:
    the inputs into whose memory a call writes, each with the output it writes there.
    """

    def __init__(
        self,
        program: Program,
        returned: int | None = None,
        history: History | None = None,
        overwritten: Overwritten | None = None,
        named: Collection[int] | None = None,
        changes: Changes | None = None,
        in_place: Mapping[int, int] | None = None,
    ) -> None:
        self.program = passes.prepare(program)
        self.returned = len(program.outputs) if returned is None else returned
        known = range(len(program.outputs)) if named is None else named
        self.identity = Identity(self.program, known)
        self.ended = dict.fromkeys(history.used_up, used_up) | dict.fromkeys(history.inside, ends_inside) if history else {}
        self._leaves = dict.fromkeys(history.leaves if history else (), leaf)
        self.ended |= self._leaves
        self.stopped = history.stopped if history else frozenset()
        self.overwritten, self.changes, self.in_place = overwritten, changes or {}, in_place or {}
        self.opened = program if changes else self.program  # with changes that nobody reads
        self.shows_leaf = history is not None and history.shown
        self._made = history.made if history else frozenset()
        self._losing: dict[Mask, bool] = {}
        self._given = {program.outputs[n] for n in known if self.ended.get(n) is not used_up}  # what gradients may begin at
        self.lives = history is None or history.lives  # whether a call may want gradients
        plain, self._same, self._numbers = self.alike(self.program)
        self._plain = Call(plain, passes.lower)
        made = {v for node in self.program.nodes if not node.regions() for v in node.outputs}
        self.hands_on = not made.issuperset(self.program.outputs)  # an input that comes out is the tensor that went in
        self.lists = any(v.type.listed for v in self.program.outputs)
        self._ways: dict[Mask, Way] = {}
        self.acts = host.acts(self.program)
        self._active: dict[Mask, Set[Value]] = {}
        self._halves: dict[tuple[Mask, Mask, Mask], tuple[Linear, Call, Call]] = {}
        self._kinds: list[type] | None = None  # of what a native call is given
        self.may_be_left = False  # whether there is eager code to make a call
        self._left = set[Mask]()  # ways that it goes instead
        self._native: dict[Mask, Entry | None] = {}  # by what wants a gradient; () where nothing does
        self._first: Entry | None = None  # of the native calls; the others are asked behind it

    def alike(self, program: Program) -> tuple[Program, int, dict[int, int]]:
        """A Program that also says which of its results are one: by which output whether any are, and by which each is told."""
        return self.identity.told(program) if self.identity.asked else (program, -1, {})

    def _named(self, made: list[Any], results: Sequence[Any], inputs: Sequence[Tensor], numbers: dict[int, int]) -> list[Any]:
        """The results, in which one tensor is one."""
        known: dict[int, Any] = {k: inputs[k] for k in self.identity.inputs} if numbers else {}
        for n, at in numbers.items():
            if isinstance(made[n], list):
                made[n] = [known.setdefault(int(number), t) for number, t in zip(results[at], made[n], strict=True)]
            else:
                made[n] = known.setdefault(int(results[at]), made[n])
        return made

    def halves(self, wanted: Mask, given: Mask, started: Mask) -> tuple[Linear, Call, Call]:
        """The forward and the backward half for what a sweep has and wants."""
        key = wanted, given, started
        if key not in self._halves:
            linear = linearize(self.program, *key, self.stopped, overwritten=self.overwritten)
            stage(f"forward:{self.program.name}", lambda: show(linear.forward))
            stage(f"backward:{self.program.name}", lambda: show(linear.backward))
            self._halves[key] = linear, Call(linear.forward, passes.lower), Call(linear.backward, passes.lower)
        return self._halves[key]

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Runs on tensors (Python numbers as 0-D ones)."""
        arrays = [t.array for t in inputs]
        wanted = tuple([not t.stop_gradient for t in inputs]) if recording() and self.lives else ()
        if self.acts and not host.is_running():
            with host.running():
                return self(inputs)
        if self.acts:
            host.current().wanting = self.wanting(wanted or (False,) * len(inputs))
        if True not in wanted:
            found = self._plain(arrays)
            self._hasten(())
            results = found[: len(self.program.outputs)]
            ended = self.ended if recording() else self._leaves
            if not (self.lists or self.hands_on or ended):
                return [Tensor(a) for a in results]
            own = {id(a): t for a, t in zip(arrays, inputs, strict=True)} if self.hands_on else {}
            made = [own[id(a)] if id(a) in own else listed.each(ended.get(n, Tensor), a) for n, a in enumerate(results)]
            return self._named(made, found, inputs, self._numbers)
        way = self._way(wanted)
        run = host.current() if self.acts else None
        before = len(run.found) if run else 0
        if run:
            run.history = functools.partial(self._history, inputs, wanted, before)
        results = way.forward(arrays)
        self._hasten(wanted)
        node = GraphNode(way, [tape.edge(t) if w else None for t, w in zip(inputs, wanted, strict=True)], arrays, results)
        node.found = run.found[before:] if run else []
        node.keep()
        own = {id(a): t for a, t in zip(arrays, inputs, strict=True)} if self.hands_on else {}
        made = [
            own[id(a)] if id(a) in own else listed.each(self.ended[n], a) if n in self.ended else node.taped(n, a, reached)
            for n, (a, reached) in enumerate(zip(results, way.on_path(results), strict=False))
        ]
        return self._named(made, results, inputs, way.numbers)

    def keep(self, results: Any) -> None:
        """Before a native call's results are written into its inputs: its node keeps of these what may be read again."""
        for t in results if type(results) is tuple else (results,):
            node = t.node and t.node.node
            if type(node) is GraphNode and node.way.graph is self and not node.before:
                node.keep()
                return

    def _history(self, inputs: Sequence[Tensor], wanted: Mask, before: int) -> Sequence[Any]:
        """Of a run that ends in an exception: where the cotangents go of what it had changed by then."""
        edges = [tape.edge(t) if w else None for t, w in zip(inputs, wanted, strict=True)]
        with host.replaying(host.current().found[before:]):
            arrays = [t.array for t in inputs]
            return Opened(self.opened, arrays, edges, writes.now(), self.stopped, self.changes).results

    @property
    def ways(self) -> int:
        """In how many ways it ran: without gradients, or with those of some inputs."""
        return self._plain.has_run + len(self._ways)

    def entry(self, inputs: Sequence[Any]) -> Entry | None:
        """The way past Python for such inputs, Python numbers as they are, however it ran so far; later ways join in."""
        self._kinds = [type(x) for x in inputs]
        for wanted in ([()] if self._plain.has_run else []) + list(self._ways):
            self._hasten(wanted)
        return self._first

    def unstacked(self) -> Callable[[Any, Sequence[Any]], list[Any]] | None:
        """What makes the results of those of a native call and its inputs, if they are not the same."""
        if not self.lists:
            return None
        plain = listed.unstacked(self.program, self._numbers)

        def results(found: Any, inputs: Sequence[Any]) -> list[Any]:
            given = found if isinstance(found, tuple) else (found,)
            node = next((tape.place(t.node)[0] for t in given if t.node is not None), None)
            own = node if isinstance(node, GraphNode) and isinstance(node.way, Way) and node.way.graph is self else None
            return plain(given, inputs) if own is None else own.way.unstacked(own, given, inputs)

        return results

    def _hasten(self, wanted: Mask) -> None:
        """From now on calls in which these inputs want gradients are native, if such a call can be and any are."""
        if self._kinds is None or wanted in self._native or wanted in self._left or len(self._native) >= NATIVE_WAYS:
            return
        way = self._ways[wanted] if wanted else None
        run, recorded = (way.forward, way.recorded()) if way else (self._plain, None)
        handed = Handed(len(self.program.outputs), way.same if way else self._same)
        if self.lists:
            run = Call(listed.stacked(run.program), passes.lower)
            handed = handed._replace(several=len(run.program.outputs))
        entry = run.entry(handlers.base.classes, self._kinds, recorded, handed)
        self._native[wanted] = entry
        if entry and self._first:
            self._first.ask_behind(entry)
        self._first = self._first or entry

    def leave(self, wanted: Mask) -> None:
        """Calls in which these inputs want gradients had to be run again node by node: eager code makes the next ones."""
        if not self.may_be_left or _staying:
            return
        self._left.add(wanted)
        if entry := self._native.get(wanted):
            entry.close()

    def is_left(self, inputs: Callable[[], Sequence[Tensor]], changes: bool) -> bool:
        """Whether eager code makes a call on such tensors; one that `changes` them could not be run again."""
        if not (self._left or self.changes or self.shows_leaf) or not recording() or unusual or _staying:
            return False
        if self.shows_leaf:
            return True
        wanted = tuple([not t.stop_gradient for t in inputs()])
        if self._loses_history(wanted) or (changes and self.lives and True in wanted and self._way(wanted).will_be_opened):
            self.leave(wanted)
        return wanted in self._left

    def _loses_history(self, wanted: Mask) -> bool:
        """Whether results are made of what a tensor that wants a gradient got without history."""
        if wanted not in self._losing:
            begun = self._made.union(wanted_inputs(self.opened, wanted) if self.lives else ())
            made = of_renewed(self.opened, self.changes, begun, self.stopped)
            self._losing[wanted] = not made.isdisjoint(self._given)
        return self._losing[wanted]

    def plans(self, inputs: Sequence[Tensor]) -> list[Plan]:
        """What a call on such tensors runs: one plan, or where a gradient is wanted those of both halves."""
        wanted = tuple(not t.stop_gradient for t in inputs)
        if not recording() or True not in wanted or not self.lives:
            return [self._plain.plan]
        return [half.plan for half in self.halves(wanted, self.given(), (False,) * len(wanted))[1:]]

    def given(self) -> Mask:
        """Which outputs a call assumes to get cotangents."""
        within = enumerate(self.program.outputs)
        return tuple(n < self.returned and v.type.is_float and n not in self.ended for n, v in within)

    def _way(self, wanted: Mask) -> "Way":
        if wanted not in self._ways:
            self._ways[wanted] = Way(self, wanted)
        return self._ways[wanted]

    def wanting(self, wanted: Mask) -> Set[Value]:
        """The values that depend on a wanted input."""
        if wanted not in self._active:
            self._active[wanted] = depending(self.program, wanted, self.stopped)
        return self._active[wanted]


class Way:
    """How calls run in which some inputs want gradients: by which forward half, with which halves a sweep may go back."""

    def __init__(self, graph: Graph, wanted: Mask) -> None:
        self.graph, self.wanted, self.given = graph, wanted, graph.given()
        self.linear, self.forward, _ = graph.halves(wanted, self.given, (False,) * len(wanted))
        self.reached = [n in self.linear.reached and n not in graph.ended for n in range(len(self.given))]
        told, self.taken = taken.told(self.linear.forward, wanted, self.reached, graph.stopped)
        told, self.same, self.numbers = graph.alike(told)
        if max(self.taken, default=-1) >= 0 or self.numbers:
            stage(f"forward:{told.name}", lambda: show(told))
            self.forward = Call(told, passes.lower)
        self._sweeps: dict[tuple[Mask, Mask], Sweep] = {}
        self._passing: dict[tuple[int, Mask], frozenset[Node]] = {}
        self._shut: dict[tuple[Sweeping, ...], Set[int]] = {}
        self._inner: dict[int, bool] = {}
        self._reordered: dict[tuple[Mask, frozenset[int]], bool] = {}

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
                self._passing[n, wanted] = may_pass(self.graph.program, (n,), wanted)
            found |= self._passing[n, wanted]
        return found

    @functools.cached_property
    def needs_changed(self) -> bool:
        """Whether a run alone can tell that a gradient needs what was changed in place."""
        return needs_changed(self.graph.opened, self.graph.wanting(self.wanted), self.graph.changes)

    @functools.cached_property
    def needs_memory(self) -> bool:
        """Whether a gradient may need what a call finds or leaves in memory that it changes."""
        graph = self.graph
        there = {v: (v, "") for n, m in graph.in_place.items() for v in (graph.opened.inputs[n], graph.opened.outputs[m])}
        return may_need(graph.opened, graph.wanting(self.wanted), graph.changes, there)

    @functools.cached_property
    def reorders(self) -> bool:
        """Whether some sweep would add contributions in another order than eager code, or needs what may have been changed.

        One towards some inputs asks of each node it passes what that needs, be it for these or for others.
        """
        graph = self.graph
        needs = may_need(graph.opened, graph.wanting(self.wanted), graph.changes, graph.changes)
        return needs or self.has_order_of_its_own(self.wanted, frozenset(range(len(self.given))))

    @functools.cached_property
    def will_be_opened(self) -> bool:
        """Whether a sweep from all results would, where nothing has a total before."""
        results = frozenset(n for n, has in enumerate(self.given) if has)
        return self.has_order_of_its_own((False,) * len(self.wanted), results)

    @functools.cached_property
    def opened(self) -> Program:
        """What is opened of a call behind which memory was changed."""
        return making(self.graph.opened, self.reached, self.graph.wanting(self.wanted), self.graph.changes)

    @functools.cached_property
    def kept(self) -> tuple[int, ...]:
        """The inputs that calls change in place and that what is run once more for a sweep reads."""
        if not any(self.reached):
            return ()
        read = reads.of_program(self.opened)
        return tuple([n for n in self.graph.in_place if self.opened.inputs[n] in read])

    def has_order_of_its_own(self, started: Mask, given: frozenset[int]) -> bool:
        """Whether a sweep from these results would, where these inputs have totals before."""
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

    def unstacked(self, node: GraphNode, given: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        """The results of a native call with lists, each of which it has found as one tensor."""
        graph, outputs = self.graph, self.forward.program.outputs
        results = [listed.apart(a) if v.type.listed else a for v, a in zip(outputs, node.results, strict=True)]
        node.results = results
        made: list[Any] = list(given[: len(self.given)])
        for n, reached in enumerate(self.on_path(results)):
            if not outputs[n].type.listed:
                continue
            if outputs[n].type.python:
                made[n] = [a.item() for a in results[n]]
            else:
                made[n] = listed.each(graph.ended[n], results[n]) if n in graph.ended else node.taped(n, results[n], reached)
        return graph._named(made, results, inputs, self.numbers)
