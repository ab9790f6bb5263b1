"""A Program with its gradients, on tensors: what runs for a captured function and for one that was loaded.

In: tensors, Python numbers as 0-D ones. Out: tensors. Where one wants a gradient, all of the call is one node on the tape: the
forward half ran, and the node keeps what the backward half reads.

>>> from d2s.ir.text import parse
>>> graph = Graph(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = tanh(x) return %0 }"))
>>> graph([d2s.to_tensor([0.0])])[0].numpy().tolist()
[0.0]
"""

import functools
import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from typing import Any

from d2s import passes
from d2s.autodiff import tape, writes
from d2s.autodiff.active import active_values, depending, wanted_inputs
from d2s.autodiff.changed import Changes
from d2s.autodiff.identity import Identity
from d2s.autodiff.linear import Linear
from d2s.autodiff.mode import recording
from d2s.autodiff.names import TAKING
from d2s.autodiff.program import linearize
from d2s.autodiff.renewed import Leaning, of_renewed
from d2s.autodiff.taken import telling
from d2s.capture.histories import History
from d2s.capture.symbolic import Overwritten
from d2s.config import unusual
from d2s.eager.tensor import Tensor
from d2s.ir.program import Program, Value
from d2s.ir.text import show
from d2s.jit import listed
from d2s.jit.ended import ends_inside, leaf, used_up
from d2s.jit.opened import Opened
from d2s.jit.staying import stays
from d2s.jit.taped import GraphNode, Mask
from d2s.jit.way import Way
from d2s.ops.dispatch import handlers
from d2s.runtime import host
from d2s.runtime.call import Call
from d2s.runtime.native_call import Entry, Handed
from d2s.runtime.native_items import Items
from d2s.runtime.plan import Plan
from d2s.stages import stage

NATIVE_WAYS = 5  # choices of inputs that want gradients, none being one, for which the calls of a graph are native


class Graph:
    """A Program with its gradients. `returned` outputs are the function's; those behind them get no cotangent as a rule.

    `history`: where the Program has gradients of its own, what they leave of the results' histories. `overwritten`: what the
    function has changed in place. `named`: the outputs of which it matters whether they are one tensor, if not all. `in_place`:
    the inputs into whose memory a call writes, each with the output it writes there; `moved`: the outputs that say whether it
    does, by these, where that is a matter of the path.
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
        moved: Mapping[int, int] | None = None,
    ) -> None:
        self.program = passes.prepare(program)
        self.returned = len(program.outputs) if returned is None else returned
        known = range(len(program.outputs)) if named is None else named
        self.identity = Identity(self.program, known, in_place or {})
        self.ended = dict.fromkeys(history.used_up, used_up) | dict.fromkeys(history.inside, ends_inside) if history else {}
        self._leaves = dict.fromkeys(history.leaves if history else (), leaf)
        self.ended |= self._leaves
        self.stopped = history.stopped if history else frozenset()
        self.overwritten, self.changes, self.in_place = overwritten, changes or {}, in_place or {}
        self._moved = moved or {}
        self.opened = program if changes else self.program  # with changes that nobody reads
        self._is_eagers = history is not None and history.eager
        self._made = history.made if history else frozenset()
        self._losing: dict[Mask, bool] = {}
        self._given = {program.outputs[n] for n in known if self.ended.get(n) is not used_up}  # what gradients may begin at
        self.lives = history is None or history.lives  # whether a call may want gradients
        made = {v for node in self.program.nodes if not node.regions() and node.op not in TAKING for v in node.outputs}
        self.hands_on = not made.issuperset(self.program.outputs)  # an input that comes out is the tensor that went in
        self.lists = any(v.type.listed for v in self.program.outputs)
        self._ways: dict[Mask, Way] = {}
        self.acts = host.acts(self.program)
        self._active: dict[Mask, Set[Value]] = {}
        self._leaning = Leaning(self.program, self.changes, self._made, self.stopped)
        self._telling_ways: dict[Mask, Program] = {}
        plain, self._same, self._numbers = self.alike(self._telling((False,) * len(self.program.inputs)))
        self._plain = Call(plain, passes.lower)
        self._halves: dict[tuple[Mask, Mask, Mask], tuple[Linear, Call, Call]] = {}
        self._kinds: list[type] | None = None  # of what a native call is given
        self.may_be_left = False  # whether there is eager code to make a call
        self._left = set[Mask]()  # ways that it goes instead
        self._native: dict[Mask, Entry | None] = {}  # by what wants a gradient; () where nothing does
        self._entries: list[Entry] = []  # of the native calls, each asked behind the one before
        self._known = known
        self._with_numbers = False
        self._beside: Graph | None = None  # the same without steps of Python's

    def alike(self, program: Program) -> tuple[Program, int, dict[int, int]]:
        """A Program that also says which of its results are one: by which output whether any are, and by which each is told."""
        return self.identity.told(program) if self.identity.asked else (program, -1, {})

    def _named(self, made: list[Any], results: Sequence[Any], inputs: Sequence[Tensor], numbers: dict[int, int]) -> list[Any]:
        """The results, in which one tensor is one."""
        return listed.named(made, numbers, lambda at: _told(results[at]), self.identity, inputs) if numbers else made

    def halves(self, wanted: Mask, given: Mask, started: Mask) -> tuple[Linear, Call, Call]:
        """The forward and the backward half for what a sweep has and wants."""
        key = wanted, given, started
        if key not in self._halves:
            linear = linearize(self._telling(wanted), *key, self.stopped, overwritten=self.overwritten)
            stage(f"forward:{self.program.name}", lambda: show(linear.forward))
            stage(f"backward:{self.program.name}", lambda: show(linear.backward))
            halves = linear, Call(linear.forward, passes.lower), Call(linear.backward, passes.lower)
            self._halves.setdefault(key, halves)
        return self._halves[key]

    def _telling(self, wanted: Mask) -> Program:
        """The Program, in which steps are told what only the path decides: whether what they are given wants a gradient."""
        if self.acts and wanted not in self._telling_ways:
            begun = self._leaning.begun(wanted)
            made = telling(self.program, begun, active_values(self.program, begun, self.stopped))
            self._telling_ways[wanted] = made
        return self._telling_ways.get(wanted, self.program)

    @functools.cached_property
    def tells(self) -> bool:
        """Whether steps are told so in some calls."""
        inputs = self.program.inputs
        ways = [tuple(k == n for k in range(len(inputs))) for n, v in enumerate(inputs) if v.type.is_float]
        return any(self._telling(way) is not self.program for way in (*ways, (False,) * len(inputs)))

    def __call__(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Runs on tensors (Python numbers as 0-D ones)."""
        arrays = [t.array for t in inputs]
        wanted = tuple([not t.stop_gradient for t in inputs]) if recording() and self.lives else ()
        if self.acts and not host.is_running():
            with host.running():
                return self(inputs)
        if self.acts:
            host.current().wanting = self._leaning(tuple([not t.stop_gradient for t in inputs]))
        if True not in wanted:
            found = self._plain(arrays)
            self._hasten(())
            results = found[: len(self.program.outputs)]
            ended = self.ended if recording() else self._leaves
            if not (self.lists or self.hands_on or ended):
                return [Tensor(a) for a in results]
            own = _owners(inputs) if self.hands_on else {}
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
        own = _owners(inputs) if self.hands_on else {}
        made = [
            own[id(a)] if id(a) in own else listed.each(self.ended[n], a) if n in self.ended else node.taped(n, a, reached)
            for n, (a, reached) in enumerate(zip(results, way.on_path(results), strict=False))
        ]
        return self._named(made, results, inputs, way.numbers)

    def moves(self, output: int, results: Sequence[Any]) -> bool:
        """Whether a run has changed in place what becomes an output."""
        return output not in self._moved or bool(results[self._moved[output]])

    def keep(self, results: Any) -> None:
        """Before a native call's results are written into its inputs: its node keeps of these what may be read again."""
        for t in _tensors_of(results):
            node = t.node and t.node.node
            if type(node) is GraphNode and node.way.graph is self and not node.before and not node.written:
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

    def entry(self, inputs: Sequence[Any], with_numbers: bool = False) -> Entry | None:
        """The way past Python for such inputs, Python numbers as they are, however it ran so far; later ways join in.

        `with_numbers`: where results are one tensor and nothing is on the tape, it gives them with what tells them apart.
        """
        self._kinds = [type(x) for x in inputs]
        self._with_numbers = with_numbers
        for wanted in ([()] if self._plain.has_run else []) + list(self._ways):
            self._hasten(wanted)
        return self._first

    @property
    def is_divisible(self) -> bool:
        """Whether parts of the Program, each on the tape, are what the whole would be there."""
        return not (self.ended or self._is_eagers or self._made)

    @property
    def changes_nothing(self) -> bool:
        """Whether no tensor that was there before is changed in place."""
        return not (self.changes or self.in_place or self.overwritten)

    def part(self, program: Program, carried: int) -> "Graph":
        """Some of this one's nodes; so many outputs may get cotangents, the others are asked for by Python."""
        handed_out = {self.program.outputs[n] for n in self._known}
        named = [n for n, v in enumerate(program.outputs) if n < carried or v in handed_out]
        made = Graph(program, carried, named=named)
        made.stopped, made.lives = self.stopped, self.lives
        return made

    def beside(self, program: Program, carried: int, inputs: Sequence[Any]) -> Entry | None:
        """The native way of a part that takes the same inputs, for what wants gradients wherever this one ran so."""
        beside = self._beside = self.part(program, carried)
        beside.entry(inputs)
        for wanted in ([()] if self._plain.has_run else []) + list(self._ways):
            beside._follow(wanted)
        return beside._first

    def _follow(self, wanted: Mask) -> None:
        """Goes the way that another graph of the same has gone."""
        if wanted:
            self._way(wanted)
        self._hasten(wanted)

    def unstacked(self) -> Callable[[Any, Sequence[Any]], list[Any]] | None:
        """What makes the results of those of a native call and its inputs, if they are not the same."""
        classes = handlers.base.classes
        if not (self.lists or self.tells_apart) or classes is None:
            return None
        plain = listed.unstacked(self.program, self._numbers, self.identity, Items(classes))

        def results(found: Any, inputs: Sequence[Any]) -> list[Any]:
            given = found if isinstance(found, tuple) else (found,)
            for t in given:
                if t.node is not None:
                    node, _ = tape.place(t.node)
                    if isinstance(node, GraphNode) and isinstance(node.way, Way) and node.way.graph is self:
                        return node.way.unstacked(node, given, inputs)
                    break
            return plain(given, inputs)

        def one_by_one(found: Any, inputs: Sequence[Any]) -> Any:
            made = plain(found, inputs)
            return made if len(made) > 1 else made[0]

        return results if self.lists else one_by_one

    def _hasten(self, wanted: Mask) -> None:
        """From now on calls in which these inputs want gradients are native, if such a call can be and any are."""
        if self._beside:
            self._beside._follow(wanted)
        if self._kinds is None or wanted in self._native or wanted in self._left or len(self._native) >= NATIVE_WAYS:
            return
        way = self._ways[wanted] if wanted else None
        run, recorded = (way.forward, way.recorded()) if way else (self._plain, None)
        handed = Handed(len(self.program.outputs), way.same if way else self._same)
        if self.lists:
            run = Call(listed.stacked(run.program), passes.lower)
            handed = handed._replace(several=len(run.program.outputs), same=handed.same if way else -1)  # all numbers come
        entry = run.entry(handlers.base.classes, self._kinds, recorded, handed)
        if self._native.setdefault(wanted, entry) is not entry:  # another thread was first
            return
        self._ask(entry)
        if entry and self._with_numbers and self.tells_apart and not way:
            self._ask(run.entry(handlers.base.classes, self._kinds, None, Handed(len(run.program.outputs), -1)))

    def _ask(self, entry: Entry | None) -> None:
        """Has an entry asked behind the others; of threads that come here at once, the last links all."""
        if entry:
            self._entries.append(entry)
            for one, following in itertools.pairwise([*self._entries]):
                one.ask_behind(following)

    @property
    def _first(self) -> Entry | None:
        return self._entries[0] if self._entries else None

    @property
    def tells_apart(self) -> bool:
        """Whether results of native calls may come with numbers, by which some are one tensor."""
        return bool(self._numbers) and not self.lists

    def leave(self, wanted: Mask) -> None:
        """Calls in which these inputs want gradients had to be run again node by node: eager code makes the next ones."""
        if not self.may_be_left or stays():
            return
        self._left.add(wanted)
        if entry := self._native.get(wanted):
            entry.close()

    def is_left(self, inputs: Callable[[], Sequence[Tensor]], changes: bool) -> bool:
        """Whether eager code makes a call on such tensors; one that `changes` them could not be run again."""
        if not (self._left or self.changes or self._is_eagers) or not recording() or stays():
            return False
        if self._is_eagers:
            return True
        wanted = tuple([not t.stop_gradient for t in inputs()])
        lost = self._loses_history(wanted)
        if lost or (changes and self.lives and True in wanted and not unusual and self._way(wanted).will_be_opened):
            self.leave(wanted)
        return wanted in self._left and (lost or not unusual)  # the others are seen in the graph where somebody looks

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
        if self._way(wanted).linear is None:
            return [self._way(wanted).forward.plan]
        return [half.plan for half in self.halves(wanted, self.given(), (False,) * len(wanted))[1:]]

    def given(self) -> Mask:
        """Which outputs a call assumes to get cotangents."""
        within = enumerate(self.program.outputs)
        return tuple(n < self.returned and v.type.is_float and n not in self.ended for n, v in within)

    def _way(self, wanted: Mask) -> "Way":
        found = self._ways.get(wanted)
        return found or self._ways.setdefault(wanted, Way(self, wanted))

    def wanting(self, wanted: Mask) -> Set[Value]:
        """The values that depend on a wanted input."""
        if wanted not in self._active:
            self._active[wanted] = depending(self.program, wanted, self.stopped)
        return self._active[wanted]


def _told(numbers: Any) -> Any:
    """What tells a result from others: a number, or one for each item of a list."""
    return [int(k) for k in numbers] if isinstance(numbers, tuple) else numbers.tolist()


def _owners(inputs: Sequence[Tensor]) -> dict[int, Tensor]:
    """Whose array that is, where it is that of one tensor."""
    found: dict[int, Tensor | None] = {}
    for t in inputs:
        found[id(t.array)] = t if found.get(id(t.array), t) is t else None
    return {key: t for key, t in found.items() if t is not None}


def _tensors_of(results: Any) -> Iterator[Tensor]:
    """Those of a call, also in the lists among its results."""
    for one in results if isinstance(results, tuple | list) else (results,):
        if isinstance(one, tuple | list):
            yield from _tensors_of(one)
        elif isinstance(one, Tensor):
            yield one
