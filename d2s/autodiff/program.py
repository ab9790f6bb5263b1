"""The gradient of a Program is a Program: the same sweep as the tape's, over recorded nodes, regions included.

In: a Program, which inputs want a gradient, which outputs get a cotangent, which inputs have a total already.
Out: `Linear`: the Program that also returns what its gradient reads, and the Program that computes new totals.

* What a region's gradient reads is pushed on a stack when the region runs and popped, last first, by its gradient region.
* Where the cotangent of a node may be absent, its sweep stands under a `cond`: an absent cotangent contributes nothing,
  not even -0.0 * inf.
* Totals go into regions and come out of them, so that contributions are added in the order of the eager tape.

>>> from d2s.ir.text import parse, show
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) return %0 }")
>>> print(show(linearize(program, [True], [True], [False]).backward))
program f_grad(saved: f32[2], g_0: f32[2]) -> (f32[2]) {
  %0: f32[2] = multiply(saved, saved)
  %1: f32[] = constant(dtype=f32, python=False, value=1.0)
  %2: f32[2] = subtract(%1, %0)
  %3: f32[2] = multiply(g_0, %2)
  return %3
}
<BLANKLINE>
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from d2s.autodiff import reads, writes
from d2s.autodiff.active import active_values, wanted_inputs
from d2s.autodiff.chained import Chain
from d2s.autodiff.handed import Ways, handed_on, placed, renamed
from d2s.autodiff.linear import Linear, returned, uniquely_named
from d2s.autodiff.lists import SweepsLists
from d2s.autodiff.lists import given as given_total
from d2s.autodiff.loop import LoopSweep
from d2s.autodiff.recursion import CallSweep, saving_again, saving_call, unswept
from d2s.autodiff.residuals import SIZE, PopsResiduals, Pushed
from d2s.autodiff.saving import saving_cond, saving_loop
from d2s.autodiff.stacks import Slots
from d2s.autodiff.sweep import pull
from d2s.autodiff.totals import FLAG, Total, Totals, add, nothing, presence, told
from d2s.errors import GradientError
from d2s.exact import Exactly
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.control import called_as
from d2s.ops.dispatch import current, handling
from d2s.ops.recording import Recorder, Symbolic
from d2s.types import STACK, Type


def linearize(
    program: Program,
    wanted: Sequence[int],
    given: Sequence[int],
    started: Sequence[int],
    stopped: Collection[Value] = (),
    watched: Collection[Value] = (),
    overwritten: Mapping[Value, tuple[Value, str]] | None = None,
    wanting: Collection[Value] | None = None,
    connected: bool = False,
) -> Linear:
    """The two halves; `given` and `started` say which outputs have a cotangent, and which inputs a total, so far.

    Of a list, `given` may be 2: some of its items have one.

    No gradient passes values that are `stopped`. The gradients of `watched` values, computed at the top level, are results too.
    Of values that eager code has `overwritten` it is told by what, and at which of the user's lines. `wanting`: what wants a
    gradient there, if that is more than what leads to what is wanted here. `connected`: whether it may have one itself.
    """
    active = active_values(program, wanted_inputs(program, wanted) | set(watched), stopped)
    recorder = Recorder(program.name + "_grad")
    recorder.extents_named, recorder.connected = _extents_named(program), connected
    scope = _Scope(program, active, recorder)
    scope.watched, scope.overwritten = watched, overwritten or {}
    scope.wanting = active if wanting is None else wanting
    begun = {v for v, has in zip(program.inputs, started, strict=True) if has}
    scope.split = {v: ways for v, ways in handed_on(program, begun).items() if v not in watched}
    totals: Totals = {}
    outputs = [(n, v) for n, v in enumerate(program.outputs) if given[n] and v in active]
    gs = [(v, given_total(recorder, n, v.type, given[n] == 2)) for n, v in outputs]
    for value, has in zip(program.inputs, started, strict=True):
        if has:
            totals[value] = Total(recorder.input(value.type, f"total_{value.name}"))
    with handling(recorder):
        for value, g in gs:
            scope.give(totals, value, g)
        scope.sweep(totals)
    return scope.halves(totals)


def _extents_named(program: Program) -> int:
    """A number that no extent which a gradient of this Program named has."""
    types = [v.type for node in program.every_node() for v in (*node.inputs, *node.outputs)]
    types += [v.type for node in program.every_node() for region in node.regions().values() for v in region.inputs]
    letter = Recorder.letter
    named = {d for t in types for d in t.shape if isinstance(d, str) and d[:1] == letter and d[1:].isdigit()}
    return max((int(d[1:]) + 1 for d in named), default=0)


class _Scope(SweepsLists, PopsResiduals):
    """One region being swept: `alias` maps its inputs that do not change to values of the surrounding scope."""

    def __init__(self, region: Program, active: set[Value], recorder: Recorder, parent: Any = None, alias: Any = None) -> None:
        self.region, self.active, self.recorder, self.parent = region, active, recorder, parent
        self.alias: dict[Value, Value] = alias or {}
        self.handed: dict[Value, Value] = {}  # what an arm returns is a result of its node: nothing to push
        self.saved: dict[Value, Symbolic] = {}
        self.chain: Chain | None = None  # of the body of a loop
        self.pushed: list[Pushed] = []
        self.stack = self.unpopped = Symbolic(recorder, Value(STACK, "residuals"))
        self.telling = set[Value]()  # saved values that only tell extents
        self.slots: Slots = parent.slots if parent else Slots(region)
        self.unstacked: list[Type] = []  # of cotangents this region's gradient takes from stacks
        self.constants = {node.outputs[0]: node.attrs["value"] for node in region.nodes if node.op == "constant"}
        self.watched: Collection[Value] = ()
        self.found: Totals = {}  # of what is watched
        self.overwritten: Mapping[Value, tuple[Value, str]] = {}
        self.wanting: Collection[Value] = active
        self.refused: list[GradientError] = []
        self.split: dict[Value, tuple[Any, Ways]] = dict(handed_on(region, region.inputs)) if parent else {}
        self.renamed, self.placed = renamed(region), placed(region)
        self.arms: dict[Node, list[_Scope]] = {}  # of the conds swept
        self.loops: dict[Node, LoopSweep] = {}
        self.calls: dict[Node, CallSweep] = {}
        self.agains: set[Node] = set()  # the calls of functions around that are swept
        self.functions: dict[str, CallSweep] = dict(parent.functions) if parent else {}  # the functions around
        self.lengths: dict[Value, Value] = {}
        self.entered: dict[Value, Value] = {}

    def inside(self, region: Program, name: str, alias: dict[Value, Value]) -> "_Scope":
        return _Scope(region, self.active, self.recorder.region(name), self, alias)

    def need(self, value: Value) -> Any:
        """A forward value, for the gradient to read: it is saved if the gradient does."""
        if value in self.alias:
            return self.parent.need(self.alias[value])
        if value in self.handed:
            return self.parent.need(self.handed[value])
        if value in self.constants:
            return current().constant(self.constants[value], value.type)
        return (self.chain.need(value) if self.chain else None) or self.pop_of(value)

    def pop_of(self, value: Value) -> Symbolic:
        """What was pushed of a forward value."""
        if value not in self.saved:
            self.saved[value] = Symbolic(self.recorder, Value(value.type, value.name or "saved"))
        return self.saved[value]

    def sweep(self, totals: Totals) -> None:
        """The nodes in reverse order, each passing the totals of its outputs on to its inputs."""
        for node in reversed(self.region.nodes):
            if any(v in totals for v in node.outputs):
                self.recorder.where = node.where
                self.bring(totals, node.inputs if node.regions() else ())
                self.begin_stacks(node, totals)
                self.begin_lists(node, totals)
                self.found |= {v: totals[v] for v in node.outputs if v in self.watched and v in totals}
                getattr(self, "pull_" + node.op, self.pull_op)(node, totals)

    def pull_op(self, node: Node, totals: Totals) -> None:
        several = OPS[node.op].has("composed")
        g = _together([totals.pop(v, None) for v in node.outputs]) if several else totals.pop(node.outputs[0])
        if g.present is None:
            self.refused += self.refusals(node) if self.overwritten else []
            self.contribute(node, g.value, totals)
            return
        arms: list[Any] = []
        for name in ("then", "otherwise"):
            recorder, totals_inside = self.recorder.region(name), dict(totals)
            if name == "then":
                with handling(recorder):
                    self.contribute(node, g.value, totals_inside)
            arms.append((recorder, totals_inside, []))
        self.join(g.present, arms, self.behind(node.inputs), totals)

    def pull_update(self, node: Node, totals: Totals) -> None:
        """What an optimizer has made of a parameter is that parameter."""
        self.pull_renewed(node, totals)

    def pull_renewed(self, node: Node, totals: Totals) -> None:
        """What the tensor had other values before gets is added to what it has got since."""
        more = totals.pop(node.outputs[0], None)
        if more is not None:
            self.give(totals, self.placed[node.outputs[0]], more)

    def bring(self, totals: Totals, values: Sequence[Value]) -> None:
        """Has totals that came in, of what tensors were at first, stand at what they are behind: there it is added to first."""
        for value in values:
            before: Value | None = value
            while before is not None and before not in totals:
                before = self.placed.get(before)
            if before is not None:
                totals[value] = totals.pop(before)

    def contribute(self, node: Node, g: Any, totals: Totals) -> None:
        wanted = [v in self.active for v in node.inputs]
        inputs, outputs = [self.need(v) for v in node.inputs], [self.need(v) for v in node.outputs]
        out = outputs[0] if len(outputs) == 1 else tuple(outputs)
        pull(OPS[node.op], node.attrs, g, out, inputs, wanted, lambda i, c: self.give(totals, node.inputs[i], Total(c)))

    def refusals(self, node: Node) -> list[GradientError]:
        """What eager code says where it passes a node that needs what others have changed in place since.

        A node that changes a tensor in place has what it overwrites, and its own result, in memory of its own.
        """
        inputs, wanted = tuple(v.type for v in node.inputs), tuple(v in self.wanting for v in node.inputs)
        needed = reads.of_gradient(OPS[node.op], inputs, Exactly(node.attrs), wanted)
        own = set(node.outputs).intersection(by for by, _ in self.overwritten.values())
        needs = [v for k, v in enumerate((*node.inputs, *node.outputs)) if k in needed and v not in own]
        changed = [(v, *self.overwritten[v]) for v in needs if v in self.overwritten and v not in self.constants]
        return [writes.refusal(f"{node.op}()", node.where, v.type, where) for v, by, where in changed if by not in own]

    def give(self, totals: Totals, value: Value, more: Total) -> None:
        """Adds a contribution; to what came in, where the value is that on the path taken."""
        value = self.renamed.get(value, value)
        self.bring(totals, [value] if value in self.placed else [])
        condition, ways = self.split.get(value, (value, ()))
        for holds, source in ways:
            if source in self.active:
                met = condition if isinstance(condition, Symbolic) else self.need(condition)
                here = OPS["where"](met, *(current().constant(taken, FLAG) for taken in (holds, not holds)))
                present = here if more.present is None else OPS["where"](here, more.present, False)
                give = add if source is value else self.give
                give(totals, source, Total(self.where(here, more.value, source), present))
        if len(ways) < 2:
            add(totals, value, more)

    def where(self, here: Any, contribution: Any, source: Value) -> Any:
        """A contribution to what a value is where that holds, with the extents it has by that name; else nothing."""
        if contribution.value.type.shape == source.type.shape:
            return OPS["where"](here, contribution, -0.0)
        around: Any = current()
        regions = [around.region(name) for name in ("then", "otherwise")]
        with handling(regions[0]):
            then = called_as(contribution, source.type.shape)
        with handling(regions[1]):
            otherwise = nothing(self.need(source))
        reads, arms = around.adopt(regions, [[then], [otherwise]])
        return around.choose(around.resolve(here), reads, *arms)[0]

    def is_given(self, value: Value, source: Value) -> bool:
        """Whether contributions to a value were given to what came in."""
        return any(one is source for _, one in self.split.get(value, (None, ()))[1])

    def behind(self, values: Sequence[Value]) -> list[Value]:
        """What is given what these are given: they themselves, by their first names, and what else they may be."""
        values = [self.renamed.get(v, v) for v in values]
        found = dict.fromkeys(values)
        for value in values:
            others = [source for _, source in self.split.get(value, (None, ()))[1] if source is not value]
            found |= dict.fromkeys(self.behind(others))
        return list(found)

    def begin_stacks(self, node: Node, totals: Totals) -> None:
        """The cotangent of a stack is a stack of cotangents: empty behind the last node that takes something from it."""
        for v in node.outputs if node.regions() and self.parent is None else ():
            if v.type is STACK and v in self.active and v not in totals:
                totals[v] = Total(self.recorder.add("stack", [], [STACK], {})[0])

    def pull_pop(self, node: Node, totals: Totals) -> None:
        """Puts the cotangent of what was taken on the stack of cotangents."""
        left, value = node.outputs
        stack, g = totals.pop(left, None), totals.pop(value, None)
        numbers = self.slots.told(node, g)
        if g is not None:
            assert stack is not None
            for symbol, slot in zip((g.value, g.present), numbers, strict=False):
                inputs = [*map(self.recorder.resolve, (stack.value, symbol))]
                stack = Total(self.recorder.add("push", inputs, [STACK], {"slot": slot})[0])
        if stack is not None:
            totals[node.inputs[0]] = stack

    def pull_push(self, node: Node, totals: Totals) -> None:
        """Takes the cotangent of what was put on the stack, if there is one."""
        below, value = node.inputs
        stack, numbers = totals.pop(node.outputs[0]), self.slots.of_cotangent(node)
        if numbers:
            stack, present = self.unstack(stack, FLAG, numbers[1]) if len(numbers) > 1 else (stack, None)
            stack, g = self.unstack(stack, value.type, numbers[0])
            if value in self.active:
                add(totals, value, Total(g, present))
        totals[below] = stack

    def unstack(self, stack: Total, of: Type, slot: int) -> tuple[Total, Symbolic]:
        attrs = {"dtype": of.dtype, "shape": of.shape, "python": of.python, "slot": slot}
        left, taken = self.recorder.add("pop", [self.recorder.resolve(stack.value)], [STACK, of], attrs)
        self.unstacked.append(of)
        return Total(left), taken

    def pull_stack(self, node: Node, totals: Totals) -> None:
        """All cotangents have been taken from it."""
        totals.pop(node.outputs[0])

    def pull_cond(self, node: Node, totals: Totals) -> None:
        gs = [totals.pop(v, None) for v in node.outputs]
        arms: list[Any] = []
        self.arms[node], taken = [], self.behind(node.inputs[1:])
        for name in ("then", "otherwise"):
            region = node.attrs[name]
            alias = dict(zip(region.inputs, node.inputs[1:], strict=True))
            scope = self.inside(region, name, alias)
            scope.handed = {v: out for v, out in zip(region.outputs, node.outputs, strict=True) if v not in alias}
            firsts = {v: p for p, v in reversed(alias.items())}  # a value captured twice has one total
            entering = {v: p for v, p in firsts.items() if v in totals and v not in self.split}
            found: Totals = {p: totals[v] for v, p in entering.items() if p in self.active and not p.type.grows}
            with handling(scope.recorder):
                for inner, g, out in zip(region.outputs, gs, node.outputs, strict=True):
                    elsewhere = inner in alias and self.is_given(out, alias[inner])
                    if g and not elsewhere and (inner in self.active or inner.type.grows):
                        scope.give(found, inner, Total(g.value, g.present))
                scope.sweep(found)
            outside: Totals = {v: totals[v] for v in taken if v in totals and (v not in firsts or v in self.split)}
            with handling(scope.recorder):
                for p, total in found.items():
                    if p in alias:
                        self.give(outside, alias[p], total)
            arms.append((scope.recorder, outside))
            self.arms[node].append(scope)
        self.complete(arms, self.arms[node])
        arms = [(*arm, [scope.popped(self.stack)]) for arm, scope in zip(arms, self.arms[node], strict=True)]
        (self.stack,) = self.join(self.need(node.inputs[0]), arms, taken, totals)

    def complete(self, arms: Sequence[Any], scopes: "Sequence[_Scope]") -> None:
        """A list that one arm has a total of has one in the other, too."""
        found = {v for _, outside in arms for v in outside if v.type.listed}
        for (recorder, outside), scope in zip(arms, scopes, strict=True):
            inner = {v: p for p, v in scope.alias.items()}
            with handling(recorder):
                outside.update({v: scope.absent(inner[v]) for v in found if v not in outside})

    def pull_while_loop(self, node: Node, totals: Totals) -> None:
        self.loops[node] = sweep = LoopSweep(self, node, totals)
        while not sweep.settled():
            pass
        sweep.record(totals)

    def pull_call(self, node: Node, totals: Totals) -> None:
        self.calls[node] = sweep = CallSweep(self, node, totals)
        while not sweep.settled():
            pass
        sweep.record(totals)

    def pull_again(self, node: Node, totals: Totals) -> None:
        self.agains.add(node)
        self.functions[node.attrs["name"]].again(self, node, totals)

    def join(
        self, condition: Any, arms: Sequence[tuple[Recorder, Totals, list[Any]]], keys: Sequence[Value], totals: Totals
    ) -> list[Any]:
        """A `cond` over two swept arms (recorder, totals, further outputs); the totals of `keys` become those of the arm taken.

        Returns the further outputs.
        """
        found = [v for v in keys if any(v in inside for _, inside, _ in arms)]
        flagged = [v for v in found if any(v not in inside or inside[v].present is not None for _, inside, _ in arms)]
        outputs = []
        for recorder, inside, further in arms:
            with handling(recorder):
                told(inside[v] for v in flagged if v in inside)
                values = [inside[v].value if v in inside else nothing(self.need(v)) for v in found]
                outputs.append([*further, *values, *(presence(inside.get(v)) for v in flagged)])
        reads, (then, otherwise) = self.recorder.adopt([recorder for recorder, _, _ in arms], outputs)
        inputs = [self.recorder.resolve(condition), *reads]
        results = self.recorder.choose(inputs[0], reads, then, otherwise)
        count = len(arms[0][2])
        present = dict(zip(flagged, results[count + len(found) :], strict=True))
        totals.update({v: Total(s, present.get(v)) for v, s in zip(found, results[count:], strict=False)})
        return results[:count]

    def used(self) -> list[tuple[Value, Symbolic]]:
        """Forward values the gradient reads in the end."""
        read = {v for node in self.recorder.builder.nodes for v in node.inputs} | self.telling
        popped = self.chain.popped if self.chain else ()
        return [(v, s) for v, s in self.saved.items() if s.value in read or v in popped]

    def saving(self, stack: Value) -> tuple[list[Node], Value]:
        """The forward nodes of this region, those with regions pushing on the stack; and the stack after them."""
        nodes = self.counting_inputs()
        for node in self.region.nodes:
            if node in self.arms:
                saving = [saving_cond(node, self.arms[node], stack)]
                stack = saving[-1].outputs[-1]
            elif node in self.loops:
                saving = saving_loop(node, self.loops[node], stack)
                stack = saving[-1].outputs[-1]
            elif node in self.calls or node in self.agains:
                saving = [saving_call(node, self.calls[node], stack) if node in self.calls else saving_again(node, stack)]
                stack = saving[-1].outputs[-1]
            else:
                saving = [unswept(node, {name: sweep.node for name, sweep in self.functions.items()})]
            nodes += saving[:-1]
            nodes += self.counting(saving[-1])
        return nodes, stack

    def saving_region(self, more: Sequence[Node], stack: Value) -> tuple[tuple[Node, ...], Value]:
        """The same with `more` nodes behind them, and then the pushes of what the gradient region pops."""
        nodes, top = self.saving(stack)
        pushes = []
        for value, slot, axis in self.pushed:
            if axis is not None:
                pushes.append(Node("extent", (value,), (Value(SIZE),), {"axis": axis}))
                value = pushes[-1].outputs[0]
            pushes.append(Node("push", (top, value), (Value(STACK),), {"slot": slot}))
            top = pushes[-1].outputs[0]
        return (*nodes, *more, *pushes), top

    def halves(self, totals: Totals) -> Linear:
        """The forward and the backward Program of the whole."""
        program, builder = self.region, self.recorder.builder
        start = Node("stack", (), (Value(STACK),), {})
        self.tell_extents()
        nodes, stack = self.saving(start.outputs[0])
        swept = bool(self.arms or self.loops or self.calls)
        saved = self.used()
        kept = [v for v, _ in saved if v not in program.inputs and v not in program.outputs]
        outputs = [*program.outputs, *kept, *([stack] if swept else [])]
        forward = Program(program.name, self.inputs(), tuple([start, *nodes] if swept else nodes), tuple(outputs))
        places = [(v in program.inputs, (program.inputs if v in program.inputs else outputs).index(v)) for v, _ in saved]
        if swept:
            places.append((False, len(outputs) - 1))
        first = [s.value for _, s in saved] + ([self.unpopped.value] if swept else [])
        builder.inputs = uniquely_named([*first, *builder.inputs])
        results: list[Value] = []
        learnt = [(n, totals[v]) for n, v in enumerate(program.inputs) if v in totals and v in self.active]
        rows = [(n, *returned(total, results)) for n, total in learnt]
        found = {v: returned(total, results) for v, total in self.found.items()}
        reached = {n for n, v in enumerate(program.outputs) if v in self.active}
        order = [program.inputs.index(v) for v in totals if v in program.inputs]
        return Linear(forward, builder.finish(results), places, reached, rows, found, order, self.refused)


def _together(gs: Sequence[Total | None]) -> Total:
    """The cotangents of all results of a node as one, which is there where one of them is: an absent one is held as -0.0."""
    found = [g for g in gs if g is not None]
    present = None
    if all(g.present is not None for g in found):
        present = functools.reduce(lambda a, b: OPS["where"](a, True, b), [g.present for g in found])
    return Total(tuple(g and g.value for g in gs), present)
