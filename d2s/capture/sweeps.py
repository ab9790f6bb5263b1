"""What gradients a capture has taken: the sweeps put into its Program, and what they make of tensors and of results.

In: values of the root's Program. Out: the nodes of a sweep behind them, in `Training` what it freed, kept and stopped.

>>> from d2s.ops.dispatch import handling
>>> from d2s.types import float32
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     y = tracer.lift(d2s.to_tensor([3.0], stop_gradient=False)) * 2.0
...     found = Training(tracer).sweep([(y.value, y.value)], set(tracer.builder.inputs), False, False)
>>> [total.value.value.type for total in found.values()]
[f32[1]]
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from d2s import types
from d2s.autodiff import orders, taken
from d2s.autodiff.active import active_values
from d2s.autodiff.changed import needs_changed
from d2s.autodiff.handed import leading, placed
from d2s.autodiff.program import linearize
from d2s.autodiff.renewed import renewed
from d2s.autodiff.tape import Hook
from d2s.autodiff.totals import Total, add
from d2s.capture.forms import OneOf
from d2s.capture.heap import Place
from d2s.capture.spent import surely_passed, surely_spent
from d2s.capture.symbolic import Tracer
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, GradientError
from d2s.ir.program import Node, Program, Value, in_regions
from d2s.ops import OPS
from d2s.types import Type

FREED = "backward() a second time through a graph whose buffers were freed by the first"


class Told(NamedTuple):
    """An input that each call is given anew, made of the leaves of its arguments; `symbol` stands for it."""

    read: Callable[[Sequence[Any]], Tensor]
    symbol: Any


class Training:
    """What gradients a capture has taken: of its root, for they are taken at its top level only."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.sweeps = 0  # gradients that were taken: to ask for one, or whether there may be one, is no sweep
        self.freed: set[Value] = set()  # what no gradient goes through any more, on some paths at least
        self.surely_freed: set[Value] = set()  # of these, what on all
        self.retained: set[Value] = set()  # what one goes through again: the user said so
        self.stopped: set[Value] = set()  # gradients, which are no part of a tape
        self.stepped: dict[Value, tuple[Value, str]] = {}  # what optimizers have made, of what, at which line
        self.before: dict[Value, Value] = {}  # what stands for tensors, and what did before it, in one place on the tape
        self.written: set[Value] = set()  # of these what they have written where it lies
        self.opened: dict[Value, Any] = {}  # what wants a gradient from here on, and the symbol that was given
        self.outside: dict[Value, Value] = {}  # of these what stands for tensors from outside, and the inputs that do
        self.waiting: dict[Value, Value] = {}  # what tensors were that want no gradient for now, by these inputs
        self.resumed: dict[Value, Value] = {}  # what tensors are that want one again, and what they were
        self.watched: dict[Value, list[Hook]] = {}  # what was computed here, and the hooks that see its gradient
        self.keeping: dict[Value, Value] = {}  # tensors, by what they were made as, that keep the gradient of what they were
        self.lying: dict[Value, Value] = {}  # tensors in another place on the tape, in the same memory: and what they were

    def tensors(self) -> dict[Value, Tensor]:
        """The tensors the function has met so far, by the inputs that stand for them."""
        root = self.tracer
        given = {value: root.leaves[n] for value, n in root.arguments.items()} | root.found
        given = {value: held for value, held in given.items() if isinstance(held, Tensor)}
        return given | {s.value: t for t, s in root.lifted.values() if s.value not in given}

    def leaves(self) -> dict[Value, Value]:
        """What wants a gradient, and what it is now."""
        wanting = [v for v, t in self.tensors().items() if not t.stop_gradient and v.type.is_float]
        symbols = {v: self._symbol(v) for v in wanting} | self.opened
        return {v: self.tracer.now(symbol).value for v, symbol in symbols.items()}

    def is_opened(self, value: Value) -> bool:
        """Whether a value is what such a tensor is now."""
        wanting = [symbol for v, symbol in self.opened.items() if not (v in self.outside and self.stops(symbol.value))]
        return any(self.tracer.now(symbol).value is value for symbol in wanting)

    def stops(self, value: Value) -> bool:
        """The `stop_gradient` of a tensor from outside."""
        place = self.tracer.heap.places.get(("stop_gradient", value))
        return bool(self.tensors()[value].stop_gradient if place is None else place.now)

    def rests(self, symbol: Any) -> bool:
        """Whether a tensor from outside wants no gradient for now: what was made of it before still leads there."""
        return symbol.value in self.waiting and self.stops(symbol.value)

    def set_stop(self, symbol: Any, stops: bool) -> None:
        """A tensor from outside wants a gradient from here on, or none."""
        value, tensor = symbol.value, self.tensors()[symbol.value]
        if tensor.node is not None:
            message = "a store to the 'stop_gradient' of a tensor that was computed outside of the captured function"
            refuse("D2S1003", message, "set it before the call")
        if stops is self.stops(value):
            return
        target = "stop_gradient", _leaf(self.tracer, value)
        self.tracer.heap.set(self.tracer.heap.place((target[0], value), lambda: Place(not stops, None, target)), stops)
        if not value.type.is_float:
            return
        before = self.tracer.now(symbol).value
        made = self.stand_anew(symbol)
        if stops:
            self.waiting[value] = before
            self.stopped.add(made)
        elif value in self.waiting:
            self.resumed[made] = self.waiting[value]
        else:
            self.opened[made], self.outside[made] = symbol, value

    def stand_anew(self, symbol: Any) -> Value:
        """Has a tensor begin on the tape from here on; its memory is the one it was."""
        before, made = self.tracer.now(symbol).value, OPS["detached"](symbol)
        self.tracer.begin_anew(symbol, made, False)
        self.lying[made.value] = before
        return made.value  # type: ignore[no-any-return]

    def lain(self, value: Value) -> list[Value]:
        """What was in the memory of a tensor before it stood elsewhere on the tape: the same values."""
        found = [value]
        while found[-1] in self.lying:
            found.append(self.lying[found[-1]])
        return found[1:]

    def leaf(self, symbol: Any) -> Value | None:
        """What a tensor that may have a gradient is known by."""
        if symbol.value in self.tensors():
            return symbol.value  # type: ignore[no-any-return]
        if symbol.value in self.keeping:
            return self.keeping[symbol.value]
        now = self.tracer.resolve(symbol)
        return next((v for v, held in self.opened.items() if self.tracer.now(held).value is now), None)

    def has_history(self, symbol: Any) -> bool:
        """Whether a tensor depends on what wants a gradient."""
        value, begun = self.tracer.resolve(symbol), self._beginnings()
        return value in active_values(self._program([]), begun, self.stopped)

    def depends_on_path(self, symbol: Any) -> bool:
        """Whether it does so on some paths only."""
        return self._by_path(self.tracer.resolve(symbol))[1] >= 0

    def _by_path(self, value: Value) -> tuple[Program, int]:
        """All so far, and its output that says whether a value wants a gradient; -1: it does on all paths, or on none."""
        wanting, program = self._beginnings(), self._program([value])
        inputs = [v in wanting for v in program.inputs]
        told, (place,) = taken.told(program, inputs, [True], self.stopped, wanting.difference(program.inputs))
        return told, place

    def _beginnings(self) -> set[Value]:
        """Leaves, and the values that tensors got which keep their place on the tape."""
        self.keep_places()
        begun = set(self.leaves())
        return begun | renewed(self._program([]), self.tracer.root.changes, begun, self.stopped)

    def wants(self, symbol: Any) -> Any:
        """Whether a tensor wants a gradient: a bool, or the symbol of that where it does on some paths only."""
        if not self.has_history(symbol):
            return False
        told, place = self._by_path(self.tracer.resolve(symbol))
        if place < 0:
            return True
        self.tracer.builder.nodes[:] = told.nodes
        return self._symbol(told.outputs[place])

    def _symbol(self, value: Value) -> Any:
        return self.tracer.symbol(self.tracer, value)

    def sweep(
        self, roots: Sequence[tuple[Value, Value]], wanted: set[Value], retain: bool, connected: bool, cut: Iterable[Value] = ()
    ) -> dict[Value, Total]:
        """The gradients of roots, weighted, in the values wanted of them; where `connected`, they have gradients themselves."""
        builder = self.tracer.builder
        stopped = self.stopped.union(cut)
        led, passed = (self._led(roots, ends, stopped) for ends in ({*wanted, *self.leaves()}, set(wanted)))
        if not led.isdisjoint(self.freed):  # where that led, nobody knows any more
            self._refuse_freed({v for v, _ in roots}, led)
        self.sweeps += 1
        (self.retained if retain else self.freed).update(passed.difference(builder.inputs, wanted))
        if not retain:
            active = active_values(self._program([]), wanted, stopped)
            self.surely_freed |= surely_passed(builder.nodes, {v for v, _ in roots}, active) & self.freed
        known = {*builder.inputs, *(v for node in builder.nodes for v in node.outputs)}
        found = self._recorded(roots, wanted | passed.intersection(self.watched), stopped, connected)
        if not connected:
            found = {v: _own(total, known) for v, total in found.items()}
            self.stopped |= {total.value.value for total in found.values()}
        return found

    def _led(self, roots: Sequence[tuple[Value, Value]], towards: set[Value], stopped: Collection[Value]) -> set[Value]:
        """The values on the way from roots to some others; what leaves are and have been is none of them."""
        active, ends = active_values(self._program([]), towards, stopped), self._standing_for_leaves()
        return _between(self.tracer.builder.nodes, [v for v, _ in roots], active, ends).difference(ends)

    def _refuse_freed(self, roots: Collection[Value], led: Collection[Value]) -> NoReturn:
        """Eager code's own words, where it says so on all paths."""
        retain = "call the first one with retain_graph=True"
        if surely_spent(self.tracer.builder.nodes, set(self.surely_freed), led).isdisjoint(roots):
            refuse("D2S1003", "a gradient through what a backward() before it has freed on some paths", retain)
        raise GradientError("D2S0006", FREED, hint=retain)

    def step(self, before: Value, by: Value) -> None:
        """An optimizer has made another value of a parameter, where that lies unless it was computed here."""
        if before in self.tracer.builder.inputs or before in self.written:
            self.written.add(by)
        self.stepped[by], self.before[by] = (before, self.tracer.line()), before

    def keep_places(self) -> None:
        """Has what tensors got without history stand where they do on the tape: a graph knows values only."""
        builder, root = self.tracer.builder, self.tracer.root
        changes = {by: before for by, (before, _) in root.changes.items() if by in root.renewed and by.type.is_float}
        changes |= self.resumed
        if changes:
            builder.nodes[:] = _placed(builder.nodes, {*builder.inputs}, changes)
            self.before = placed(self._program([]))

    def first(self, value: Value) -> Value:
        """What a tensor was before it got other values in the same place on the tape."""
        return self.held_by(value)[-1]

    def standing(self, symbol: Any) -> Value:
        """What stands for a tensor on the tape."""
        if self.rests(symbol):
            return self.first(self.waiting[symbol.value])
        first = self.first(self.tracer.resolve(symbol))
        place = self.tracer.heap.places.get(symbol.value)
        if place is None or place.history or symbol.recorder is not self.tracer or first in self.lying:
            return first
        return symbol.value  # type: ignore[no-any-return]

    def held_by(self, value: Value) -> list[Value]:
        """What a tensor has been until it was this, in the same place on the tape, the latest first."""
        found = [value]
        while found[-1] in self.before:
            found.append(self.before[found[-1]])
        return found

    def _standing_for_leaves(self) -> set[Value]:
        """What leaves are and have been."""
        ends = [*(one for leaf in self.leaves().items() for one in leaf), *self.waiting.values()]
        return {value for one in ends for value in self.held_by(one)}

    def refuse_renewed(self, roots: Collection[Value], wanted: Collection[Value]) -> None:
        """What a tensor got without history in an `if` or a loop that does not read it stands where only eager code knows."""
        changes, renewed = self.tracer.root.changes, self.tracer.root.renewed
        program = self._program([])
        passed, lost = active_values(program, wanted, self.stopped), set[Value]()
        for by, (before, _) in changes.items():
            if by in renewed and by not in passed and (before in passed or before in lost):
                lost.add(by)
        if lost and not active_values(program, lost, self.stopped.union(wanted)).isdisjoint(roots):
            message = (
                "a gradient in the function itself through a tensor that got other values by set_value() or under no_grad()"
            )
            refuse(
                "D2S1003", message, "give the other values a name of their own; or take the gradient outside of the function"
            )

    def _program(self, outputs: Sequence[Value]) -> Program:
        builder = self.tracer.builder
        return Program(builder.name, tuple(builder.inputs), tuple(builder.nodes), tuple(outputs))

    def _recorded(
        self, roots: Sequence[tuple[Value, Value]], wanted: set[Value], stopped: set[Value], connected: bool
    ) -> dict[Value, Total]:
        """Puts the forward half in the place of what was recorded, and the backward half behind it."""
        builder, program = self.tracer.builder, self._program([v for v, _ in roots])
        begun = [v in wanted for v in program.inputs]
        watched = wanted.difference(program.inputs)
        stepped = [(one, (by, where)) for by, (before, where) in self.stepped.items() for one in (before, *self.lain(before))]
        overwritten = self.tracer.overwritten | dict(stepped)
        wanting = active_values(program, {*wanted, *self.leaves()}, self.stopped)
        given, started = [True] * len(roots), [False] * len(begun)
        linear = linearize(program, begun, given, started, stopped, watched, overwritten, wanting, connected)
        for refusal in linear.refused:
            raise refusal
        _refuse_order(program, wanted, stopped)
        changes = self.tracer.root.changes | self.stepped
        passed = _passed(program, active_values(program, wanted, stopped))
        swept = [node for node in program.every_node() if not passed.isdisjoint(node.outputs)]
        passed.update(v for node in swept for v in node.inputs if v in wanting)  # which eager nodes may want to reach
        if needs_changed(program, passed, changes):
            message = "a gradient in the function itself may need values that an `if`, a loop or a `try` has changed in place"
            raise CaptureError("D2S1003", message, where=user_line(), hint="x.clone() before you change it")
        builder.nodes[:] = linear.forward.nodes
        weights = [g for n, (_, g) in enumerate(roots) if n in linear.reached]
        behind, results = linear.behind(weights)
        builder.nodes += behind
        outputs = [self._symbol(v) for v in results]
        learnt = {n: (total, flag) for n, total, flag in linear.totals}
        places = {program.inputs[n]: learnt[n] for n in linear.order if n in learnt} | linear.found
        return {v: Total(outputs[total], outputs[flag] if flag >= 0 else None) for v, (total, flag) in places.items()}

    @property
    def acts(self) -> bool:
        """Whether anything was done to any history."""
        return bool(self.sweeps or self.stepped or self.opened or self.waiting or self.watched)

    @property
    def done(self) -> tuple[int, ...]:
        """How much was done that the same statements, recorded once more, would do a second time."""
        return self.sweeps, len(self.stepped), len(self.lying), sum(map(len, self.watched.values()))

    def refuse_shared(self, program: Program) -> None:
        """What may be one tensor with a parameter, and so eagerly has changed with it, is not read behind the step."""
        aliased = self.tracer.aliased | self.tracer.sharing | self.tracer.overlapping
        for n, node in enumerate(program.nodes):
            own = self.held_by(node.inputs[0]) if node.op == "update" else []
            if not aliased.keys().isdisjoint(own):
                behind = program.nodes[n + 1 :]
                later = {v for one in behind for v in one.inputs} | set(program.outputs)
                later -= {v for one in behind for v in one.outputs}  # made of what is there then
                later.difference_update(program.inputs, own, node.outputs)  # what has memory of its own, and itself
                if any(v in aliased and v.type == node.inputs[0].type for v in later):
                    message = "a tensor that may be a parameter, or shares its memory, is read behind the step that changes it"
                    raise CaptureError("D2S1003", message, where=node.where, hint="read a copy: p.clone(), made before")

    # --- the grad of a tensor

    def place(self, value: Value) -> Place:
        """Where the gradient of a tensor is gathered: None, a symbol, or one of these by the path taken."""
        value = self.outside.get(value, value)
        return self.tracer.heap.place(("grad", value), lambda: self._found(value))

    def _found(self, value: Value) -> Place:
        if value in self.opened or value in self.watched:
            return Place(None)
        target = ("grad", _leaf(self.tracer, value))
        if self.tensors()[value].grad is None:
            return Place(None, None, target)
        tensor = _finding(self.tracer, target[1])
        given = told(self.tracer, ("grad", value), lambda leaves: tensor(leaves).grad, value.type, "grad")
        return Place(given, None, target)

    def gather(self, value: Value, more: Total) -> None:
        """Adds to the gradient of a tensor."""
        place = self.place(value)
        held = place.held()
        if held is None:
            found = more
        elif isinstance(held, OneOf):
            totals = {value: as_total(held)}
            add(totals, value, more)
            found = totals[value]
        else:
            found = Total(OPS["add"](held, more.value))
        self.tracer.heap.set(place, as_held(found))


def _placed(nodes: Sequence[Node], known: set[Value], changes: Mapping[Value, Value]) -> list[Node]:
    """The nodes, in which other values of tensors have the place on the tape of what these were, if that is known there."""
    found: list[Node] = []
    for node in nodes:
        before = changes.get(node.outputs[0]) if node.op == "detached" else None
        if before is not None and before in known:
            given = Value(before.type)
            found.append(Node("detached", node.inputs, (given,), node.attrs, node.where))
            node = Node("renewed", (given, before), node.outputs, {}, node.where)
        elif node.regions():
            node = in_regions(node, lambda region: _placed_in(region, changes))
        found.append(node)
        known.update(node.outputs)
    return found


def _placed_in(region: Program, changes: Mapping[Value, Value]) -> Program:
    nodes = _placed(region.nodes, {*region.inputs}, changes)
    return Program(region.name, region.inputs, tuple(nodes), region.outputs)


def _refuse_order(program: Program, wanted: set[Value], stopped: Collection[Value]) -> None:
    """A tensor of two names has one total in eager code and two in a graph: where that would be another order of additions."""
    node = orders.another(program, _passed(program, active_values(program, wanted, stopped)), [], program.outputs)
    if node is not None:
        kind = {"cond": "an `if`", "while_loop": "a loop", "call": "a call", "again": "a call"}.get(node.op, "a list")
        message = f"a gradient in the function itself goes through {kind} that gives a tensor a second name ({node.where})"
        hint = "y = x.clone() makes it two tensors; or call backward() or grad() outside of the function"
        raise CaptureError("D2S1003", message, where=user_line(), hint=hint)


def _between(nodes: Sequence[Node], roots: Sequence[Value], active: set[Value], ends: Collection[Value] = ()) -> set[Value]:
    """The values that a sweep from some roots passes; what made the leaves it ends at is none of them."""
    found = active.intersection(roots)
    for node in reversed(nodes):
        passed = found.difference(ends).intersection(node.outputs)
        if passed:
            found.update(_into_arms(node, passed, active) if node.op == "cond" else active.intersection(leading(node)))
    return found


def _into_arms(cond: Node, passed: Collection[Value], active: set[Value]) -> set[Value]:
    """What a sweep that comes to some results of a `cond` passes in front of it."""
    found = set[Value]()
    for arm in cond.regions().values():
        inside = _between(
            arm.nodes, [v for v, result in zip(arm.outputs, cond.outputs, strict=True) if result in passed], active
        )
        found.update(v for p, v in zip(arm.inputs, cond.inputs[1:], strict=True) if p in inside)
    return found & active


def _own(total: Total, known: set[Value]) -> Total:
    """A gradient that is no tensor others know, as it may be changed in place."""
    own = total if total.value.value not in known else Total(OPS["detached"](total.value), total.present)
    known.add(own.value.value)
    return own


def as_held(total: Total) -> Any:
    """A gradient as Python sees it: where a path has none, it is None there."""
    if total.present is None:
        return total.value
    return OneOf(OPS["cast"](total.present, types.int64, python=True), [None, total.value])


def _passed(region: Program, active: set[Value]) -> set[Value]:
    """Of the values that depend on what is wanted those that a sweep from the outputs passes."""
    passed = _between(region.nodes, region.outputs, active)
    swept = [node for node in region.nodes if not passed.isdisjoint(node.outputs)]
    for node in swept:
        if node.op == "while_loop":  # what it begins with is what it leaves, where it makes no trip
            begun = zip(node.attrs["body"].inputs, node.outputs, strict=False)
            passed.update(p for p, out in begun if out in passed and p in active)
    return passed.union(*(_passed(inner, active) for node in swept for inner in node.regions().values()))


def as_total(held: OneOf) -> Total:
    """The same the other way round: an absent total is -0.0."""
    present = OPS["not_equal"](OPS["cast"](held.tag, types.int64), 0)
    return Total(OPS["where"](present, held.alternatives[1], -0.0), present)


def presence(held: Any) -> Any:
    """The bool that says whether a gradient is there; None where it surely is."""
    return as_total(held).present if isinstance(held, OneOf) else None


def told(tracer: Tracer, key: Any, read: Callable[[Sequence[Any]], Tensor], of: Type, name: str) -> Any:
    """The input that stands for what each call is given anew."""
    root = tracer.root
    if key not in root.told:
        root.told[key] = Told(read, root.input(of, name))
    return root.told[key].symbol


def _leaf(tracer: Tracer, value: Value) -> tuple[str, Any]:
    return tracer.source(value) or ("outside", next(t for t, s in tracer.lifted.values() if s.value is value))


def _finding(tracer: Tracer, leaf: tuple[str, Any]) -> Callable[[Sequence[Any]], Any]:
    """What finds a tensor at each call, of the leaves of its arguments."""
    kind, at = leaf
    if kind == "read":
        read = list(tracer.inputs.values())[at].read
        return lambda leaves: read()
    return (lambda leaves: leaves[at]) if kind == "argument" else (lambda leaves: at)
