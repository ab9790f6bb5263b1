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

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from d2s import types
from d2s.autodiff import orders, taken
from d2s.autodiff.active import active_values
from d2s.autodiff.changed import needs_changed
from d2s.autodiff.identity import every_tensor
from d2s.autodiff.mode import recording
from d2s.autodiff.names import Names
from d2s.autodiff.program import linearize
from d2s.autodiff.renewed import renewed
from d2s.autodiff.totals import Total, add
from d2s.capture.forms import OneOf
from d2s.capture.heap import Place
from d2s.capture.symbolic import Tracer
from d2s.capture.users_code import refuse, user_line
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError, GradientError
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.types import Type

FREED = "backward() a second time through a graph whose buffers were freed by the first"


class History(NamedTuple):
    """What eagerly became of the histories of results, where a function takes gradients."""

    used_up: tuple[int, ...]  # results with a history through what a sweep may have freed, or a step changed
    inside: tuple[int, ...]  # results whose history ends at tensors computed inside
    leaves: tuple[int, ...]  # results that are such tensors
    eager: bool  # whether eager code alone knows one: not surely used up, or a leaf that leaves with a gradient or by the path
    made: frozenset[Value]  # all leaves that were made inside
    stopped: frozenset[Value]  # gradients without a history
    lives: bool  # whether any result has a history that is not used up


class Told(NamedTuple):
    """An input that each call is given anew, made of the leaves of its arguments; `symbol` stands for it."""

    read: Callable[[Sequence[Any]], Tensor]
    symbol: Any


class Training:
    """What gradients a capture has taken: of its root, for they are taken at its top level only."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self.swept = False  # whether a gradient was taken: to ask for one, or whether there may be one, is no sweep
        self.freed: set[Value] = set()  # what no gradient goes through any more
        self.retained: set[Value] = set()  # what one goes through again: the user said so
        self.stopped: set[Value] = set()  # gradients, which are no part of a tape
        self.written: set[Value] = set()  # what optimizers have written where it lies
        self.opened: dict[Value, Any] = {}  # what is computed here and wants a gradient, and the symbol that was given

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
        return any(self.tracer.now(symbol).value is value for symbol in self.opened.values())

    def leaf(self, symbol: Any) -> Value | None:
        """What a tensor that may have a gradient is known by."""
        if symbol.value in self.tensors():
            return symbol.value  # type: ignore[no-any-return]
        now = self.tracer.resolve(symbol)
        return next((v for v, held in self.opened.items() if self.tracer.now(held).value is now), None)

    def has_history(self, symbol: Any) -> bool:
        """Whether a tensor depends on what wants a gradient."""
        value = self.tracer.resolve(symbol)
        return value in active_values(self._program([]), self._beginnings(), self.stopped)

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
        now = self.leaves()
        begun = set(now) | set(now.values())
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
        stopped = self.stopped | set(cut)
        active, ends = active_values(self._program([]), set(wanted), stopped), set(self.leaves().values())
        passed = _between(builder.nodes, [v for v, _ in roots], active, ends)
        if not passed.isdisjoint(self.freed):
            raise GradientError("D2S0006", FREED, hint="call the first one with retain_graph=True")
        self.swept = True
        (self.retained if retain else self.freed).update(passed.difference(builder.inputs, wanted))
        known = {*builder.inputs, *(v for node in builder.nodes for v in node.outputs)}
        found = self._recorded(roots, wanted, stopped)
        if not connected:
            found = {v: _own(total, known) for v, total in found.items()}
            self.stopped |= {total.value.value for total in found.values()}
        return found

    def refuse_renewed(self, roots: Collection[Value], wanted: Collection[Value]) -> None:
        """A tensor that got other values without history keeps its place on the tape; a graph knows values only.

        So no root may depend on such values, but as what is wanted itself, or on what that was before.
        """
        changes, renewed = self.tracer.root.changes, self.tracer.root.renewed
        program = self._program([])
        passed, lost = active_values(program, set(wanted), self.stopped), set[Value]()
        for by, (before, _) in changes.items():
            if by in renewed and by not in passed and (before in passed or before in lost):
                lost.add(by)
        for value in wanted:
            while value in renewed:
                value = changes[value][0]
                lost.update({value}.difference(wanted))
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

    def _recorded(self, roots: Sequence[tuple[Value, Value]], wanted: set[Value], stopped: set[Value]) -> dict[Value, Total]:
        """Puts the forward half in the place of what was recorded, and the backward half behind it."""
        builder, program = self.tracer.builder, self._program([v for v, _ in roots])
        begun = [v in wanted for v in program.inputs]
        watched = wanted.difference(program.inputs)
        linear = linearize(program, begun, [True] * len(roots), [False] * len(begun), stopped, watched, self.tracer.overwritten)
        for refusal in linear.refused:
            raise refusal
        _refuse_order(program, wanted, stopped)
        if needs_changed(program, _passed(program, active_values(program, set(wanted), stopped)), self.tracer.root.changes):
            message = "a gradient in the function itself may need values that an `if`, a loop or a `try` has changed in place"
            raise CaptureError("D2S1003", message, where=user_line(), hint="x.clone() before you change it")
        builder.nodes[:] = linear.forward.nodes
        weights = [g for n, (_, g) in enumerate(roots) if n in linear.reached]
        behind, results = linear.behind(weights)
        builder.nodes += behind
        outputs = [self._symbol(v) for v in results]
        places = {program.inputs[n]: (total, flag) for n, total, flag in linear.totals} | linear.found
        return {v: Total(outputs[total], outputs[flag] if flag >= 0 else None) for v, (total, flag) in places.items()}

    def history(self, program: Program) -> History | None:
        """What eagerly becomes of the results' histories. None where nothing was done to any."""
        if not (self.swept or self.written or self.opened):
            return None
        active = active_values(program, self._stepped(program), self.stopped)
        outside = active_values(program, set(self.leaves()).difference(self.opened), self.stopped)
        spent = set(self.freed)
        for node in program.nodes:
            if not spent.isdisjoint(node.inputs):
                spent |= active.intersection(node.outputs)
        learnt = [n for n, v in enumerate(program.outputs) if v in active]
        surely = _surely_spent(program.nodes, set(self.freed), active)
        used_up = [n for n in learnt if self.written or program.outputs[n] in spent]
        lost = {program.outputs[n] for n in used_up} if recording() else active
        leaves = [n for n in learnt if self._is_alone(program, program.outputs[n], lost)]
        outlives = any(program.outputs[n] not in surely for n in used_up)
        shows = not self._may_be_leaves(program).issubset(program.outputs[n] for n in leaves)
        inside = [n for n in learnt if n not in (*used_up, *leaves) and program.outputs[n] not in outside]
        lives = len({*used_up, *inside, *leaves}) < len(learnt)
        made, stopped = frozenset(self.opened), frozenset(self.stopped)
        renewed = not active_values(program, self._set_anew(), self.stopped).isdisjoint(program.outputs)
        eager = recording() and (outlives or shows or renewed)
        return History(tuple(used_up), tuple(inside), tuple(leaves), eager, made, stopped, lives)

    def _stepped(self, program: Program) -> set[Value]:
        """What optimizers have made of leaves, which are these from then on."""
        found = set(self.leaves())
        for node in program.nodes:
            if node.op == "update" and node.inputs[0] in found:
                found.add(node.outputs[0])
        return found

    def _set_anew(self) -> set[Value]:
        """What leaves from outside have got by `set_value()`: their values, and nothing that a graph knows them by."""
        now = {value: latest for value, latest in self.leaves().items() if value not in self.opened}
        return {latest for value, latest in now.items() if latest is not value and latest not in self.written}

    def outgrown(self, latest: Iterable[Value]) -> set[Value]:
        """What parameters were before optimizers changed them."""
        wanted, found = set(latest), set[Value]()
        for node in reversed(self.tracer.builder.nodes):
            if node.op == "update" and not wanted.union(found).isdisjoint(node.outputs[:1]):
                found.add(node.inputs[0])
        return found

    def _may_be_leaves(self, program: Program) -> set[Value]:
        """The results that are a leaf that was made here, on some path at least."""
        results, there = set(program.outputs), every_tensor(program)
        if not self.opened or not any(node.regions() for node in program.nodes):
            return results.intersection(self.opened)
        names = Names(program, there)
        return {v for v in results & there if any(names.one(v, leaf) for leaf in there.intersection(self.opened))}

    def _is_alone(self, program: Program, value: Value, lost: Collection[Value]) -> bool:
        """Whether a result is a leaf that was made here, to which no gradient has gone, nor would from another result."""
        if value not in self.opened or (("grad", value) in self.tracer.heap.places and self.place(value).held() is not None):
            return False
        behind = active_values(program, {value}, self.stopped)
        return not any(v in behind and v is not value and v not in lost for v in program.outputs)

    def refuse_shared(self, program: Program) -> None:
        """What may be one tensor with a parameter, and so eagerly has changed with it, is not read behind the step."""
        aliased = self.tracer.aliased | self.tracer.sharing | self.tracer.overlapping
        for n, node in enumerate(program.nodes):
            if node.op == "update" and node.inputs[0] in aliased:
                behind = program.nodes[n + 1 :]
                later = {v for one in behind for v in one.inputs} | set(program.outputs)
                later -= {v for one in behind for v in one.outputs}  # made of what is there then
                later.difference_update(program.inputs)  # other tensors, each with memory of its own
                if any(v in aliased and v.type == node.inputs[0].type for v in later):
                    message = "a tensor that may be a parameter, or shares its memory, is read behind the step that changes it"
                    raise CaptureError("D2S1003", message, where=node.where, hint="read a copy: p.clone(), made before")

    # --- the grad of a tensor

    def place(self, value: Value) -> Place:
        """Where the gradient of a tensor is gathered: None, a symbol, or one of these by the path taken."""
        return self.tracer.heap.place(("grad", value), lambda: self._found(value))

    def _found(self, value: Value) -> Place:
        if value in self.opened:
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


def _refuse_order(program: Program, wanted: set[Value], stopped: Collection[Value]) -> None:
    """A tensor of two names has one total in eager code and two in a graph: where that would be another order of additions."""
    if any(node.op == "pop" for node in program.every_node()):
        return  # a gradient of a gradient: what its stacks hand on has no names here
    node = orders.another(program, active_values(program, set(wanted), stopped), [], program.outputs)
    if node is not None:
        kind = {"cond": "an `if`", "while_loop": "a loop", "call": "a call", "again": "a call"}.get(node.op, "a list")
        message = f"a gradient in the function itself goes through {kind} that gives a tensor a second name ({node.where})"
        hint = "y = x.clone() makes it two tensors; or call backward() or grad() outside of the function"
        raise CaptureError("D2S1003", message, where=user_line(), hint=hint)


def _between(nodes: Sequence[Node], roots: Sequence[Value], active: set[Value], ends: Collection[Value] = ()) -> set[Value]:
    """The values that a sweep from some roots passes; what made the leaves it ends at is none of them."""
    found = active.intersection(roots)
    for node in reversed(nodes):
        if not found.difference(ends).isdisjoint(node.outputs):
            found.update(active.intersection(node.inputs))
    return found


def _own(total: Total, known: set[Value]) -> Total:
    """A gradient that is no tensor others know, as it may be changed in place."""
    own = total if total.value.value not in known else Total(OPS["detached"](total.value), total.present)
    known.add(own.value.value)
    return own


def _surely_spent(nodes: Sequence[Node], spent: set[Value], active: Collection[Value]) -> set[Value]:
    """`spent` and what has a history through it, whatever path a run takes."""
    for node in nodes:
        if node.op == "cond":
            arms = [_spent_in(arm, node.inputs[1:], spent, active) for arm in node.regions().values()]
            spent.update(v for n, v in enumerate(node.outputs) if all(arm[n] for arm in arms))
        elif node.op == "while_loop":
            body, begun = node.attrs["body"], list(node.inputs)
            while True:  # what every trip leaves spent, if it was before
                held = [v in spent for v in begun[: len(node.outputs)]]
                left = _spent_in(body, begun, spent, active)
                if not any(h and not on for h, on in zip(held, left, strict=False)):
                    break
                begun = [v if n >= len(left) or left[n] else p for n, (v, p) in enumerate(zip(begun, body.inputs, strict=True))]
            spent.update(v for v, h in zip(node.outputs, held, strict=False) if h)
        elif not spent.isdisjoint(node.inputs):
            spent.update(v for v in node.outputs if v in active)
    return spent


def _spent_in(region: Program, given: Sequence[Value], spent: Collection[Value], active: Collection[Value]) -> list[bool]:
    inside = {p for p, v in zip(region.inputs, given, strict=True) if v in spent}
    found = _surely_spent(region.nodes, inside, active)
    return [v in found for v in region.outputs]


def as_held(total: Total) -> Any:
    """A gradient as Python sees it: where a path has none, it is None there."""
    if total.present is None:
        return total.value
    return OneOf(OPS["cast"](total.present, types.int64, python=True), [None, total.value])


def _passed(program: Program, active: set[Value]) -> set[Value]:
    """Of the values that depend on what is wanted those that a sweep from the outputs passes."""
    passed = _between(program.nodes, program.outputs, active)
    apart = [Program("", (), (node,), ()) for node in program.nodes if passed.isdisjoint(node.outputs)]
    return active.difference(v for one in apart for node in one.every_node() for v in node.outputs)


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
