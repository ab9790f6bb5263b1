"""The steps of optimizers as a part of the native call of a run: one kernel for each parameter, where it lies.

In: a program's steps, replayed up to their gradients. Out: `update` nodes, the inputs these are told in each run - state, the
learning rate and other numbers - and what is left to do in Python behind a run: powers of betas, notes of what was written.
Optimizers and limits of gradients in other words than d2s's own take their steps behind the run, in Python.

>>> in_graph(d2s.optimizer.Adam(parameters=[])), in_graph(d2s.optimizer.LBFGS(parameters=d2s.nn.Linear(1, 1).parameters()))
(True, False)
"""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.eager.tensor import Tensor
from d2s.ir.program import Value
from d2s.ops import OPS
from d2s.ops.dispatch import handling
from d2s.ops.recording import Recorder, Symbolic
from d2s.optimizer.recorded import CLIPS, Kernel, Stepped, launches, limits, says_its_own_step
from d2s.static.recording import Recording
from d2s.static.replay import Replay
from d2s.static.scope import Scope
from d2s.static.variable import Step
from d2s.types import Type, bool_


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Stepping:
    """The step of one parameter: number `slot` of group `group` of the optimizer of step number `step`."""

    step: int
    group: int
    slot: int
    ahead: int  # steps that a run takes before with the same state
    present: Value | None  # whether the path of a run has a gradient; None: each has


class Taken:
    """The step of one parameter in one run: what it is told, and what is done behind the run."""

    def __init__(self, stepped: Stepped, key: tuple[int, int], scope: Scope) -> None:
        self.stepped, self.key, self.scope = stepped, key, scope

    def numbers(self, name: str) -> np.ndarray:
        return getattr(self.stepped, name)(()).array  # type: ignore[no-any-return]

    def learnt(self) -> np.ndarray:
        """Whether a run before had a gradient: a loop of eager code then steps with the zeros of `clear_grad()`."""
        return np.array(self.key in self.scope.learnt)

    def state(self, name: str) -> np.ndarray:
        return self.stepped.state(name).array

    def done(self, present: Any) -> None:
        """Behind the run; `present` is None where every path has a gradient."""
        if present:
            self.scope.learnt.add(self.key)
        self.stepped.done(int(present is None or self.key in self.scope.learnt))


def in_graph(optimizer: Any) -> bool:
    """Whether the steps of an optimizer can be nodes."""
    return not says_its_own_step(optimizer) and all(g.clip is None or type(g.clip) in CLIPS for g in optimizer._groups)


def form(recording: Recording) -> tuple[Any, ...]:
    """What the nodes of steps depend on and a user may change between runs."""
    return tuple(
        (
            in_graph(step.optimizer),
            *((id(g.decay), id(g.clip), len(g.slots)) for g in step.optimizer._groups),
            *(t.stop_gradient for t, _ in step.gradients),
        )
        for step in recording.steps
    )


class Steps:
    """The nodes of a program's steps, in order."""

    def __init__(self, replay: Replay, steps: Sequence[Step]) -> None:
        self.replay, self.steps = replay, steps
        self.recorder = Recorder(replay.builder.name)
        self.recorder.builder = replay.builder
        self.told: list[tuple[Value, int, Callable[[Taken], np.ndarray]]] = []  # inputs, of which step, and what they are
        self.taken: list[Stepping] = []
        self._now: dict[Any, Value] = {}  # of a parameter and of pieces of state: what it is behind the steps so far
        with handling(self.recorder):
            for n, step in enumerate(steps):
                self._add(n, step)

    def wanted(self) -> Iterator[Value]:
        """What is asked of a run for what comes behind it."""
        yield from (one.present for one in self.taken if one.present is not None)

    def begin(self, scope: Scope) -> list[Taken]:
        """The steps a run in this scope takes."""
        optimizers = [scope.optimizer(step.optimizer) for step in self.steps]
        return [self._begun(one, optimizers[one.step], scope) for one in self.taken]

    def _begun(self, one: Stepping, optimizer: Any, scope: Scope) -> Taken:
        group = optimizer._groups[one.group]
        slot, step = group.slots[one.slot], id(self.steps[one.step])
        key = step, one.group, one.slot, one.ahead
        found = scope.stepped.get(key)
        if found is None or found.stepped.slot is not slot:
            found = scope.stepped[key] = Taken(Stepped(optimizer, group, slot, one.ahead), (step, id(slot.parameter)), scope)
        return found  # type: ignore[no-any-return]

    def tell(self, held: dict[Value, Any], taken: Sequence[Taken]) -> None:
        """Adds what the steps read in this run."""
        held.update((value, read(taken[n])) for value, n, read in self.told)

    def done(self, held: dict[Value, Any], taken: Sequence[Taken]) -> None:
        """Behind a run."""
        for one, step in zip(taken, self.taken, strict=True):
            one.done(None if step.present is None else bool(held[step.present]))

    def _add(self, number: int, step: Step) -> None:
        gradients = {
            id(t): (t, self.replay.value(g.value), self.replay.present.get(g.value))
            for t, g in step.gradients
            if g.value not in self.replay.absent and not t.stop_gradient
        }
        for n, group in enumerate(step.optimizer._groups):
            chosen = [(k, *gradients[id(s.parameter)]) for k, s in enumerate(group.slots) if id(s.parameter) in gradients]
            found = limits(group.clip, [(t, self._symbol(g)) for _, t, g, _ in chosen])
            for (k, tensor, gradient, present), limit in zip(chosen, found, strict=True):
                self._update((number, n, k), tensor, gradient, present, limit)

    def _update(self, place: tuple[int, int, int], tensor: Tensor, gradient: Value, present: Value | None, limit: Any) -> None:
        number, n, k = place
        optimizer = self.steps[number].optimizer
        group = optimizer._groups[n]
        slot = group.slots[k]
        before = [one for one in self.taken if self.steps[one.step].optimizer is optimizer and (one.group, one.slot) == (n, k)]
        one = Stepping(*place, len(before), present)
        self.taken.append(one)
        clips = group.clip is not None and getattr(tensor, "need_clip", True)
        like = Stepped(optimizer, group, slot, 0)
        flag = []
        if present is not None:
            learnt = self._told("learnt", Type(bool_), Taken.learnt)
            flag = [self._value(OPS["logical_or"](self._symbol(present), learnt))]
            gradient = self._value(OPS["where"](self._symbol(present), self._symbol(gradient), 0.0))

        def value(name: str) -> Value:
            known = {"p": lambda: self._parameter(tensor), "g": lambda: gradient}
            return known[name]() if name in known else self._state(like, name)

        def told(name: str) -> Symbolic:
            shape = getattr(like, name)(()).array.shape
            return self._told(name, Type(types.float64, shape), lambda taken: taken.numbers(name))

        def now(name: str) -> Symbolic:
            return self._symbol(value(name))

        for rule, numbers in launches(like, type(group.clip) if clips else None, limit, told, now):
            states = [value(name) for name in rule.state]
            inputs = [value("p"), gradient, *states, self._value(numbers), *flag]
            attrs = {"rule": Kernel(rule), "state": rule.state}
            results = self.replay.builder.add("update", inputs, [v.type for v in (inputs[0], *states)], attrs)
            for key, result in zip([id(tensor), *((id(slot), name) for name in rule.state)], results, strict=True):
                self._now[key] = result

    def _parameter(self, tensor: Tensor) -> Value:
        return self._now.get(id(tensor)) or self.replay.value(self.replay.recording.first(tensor).value)

    def _state(self, like: Stepped, name: str) -> Value:
        key = id(like.slot), name
        if key not in self._now:
            of = like.state(name).array
            self._now[key] = self._value(
                self._told(name, Type(types.dtype(of.dtype), of.shape), lambda taken: taken.state(name))
            )
        return self._now[key]

    def _told(self, name: str, of: Type, read: Callable[[Taken], np.ndarray]) -> Symbolic:
        """An input that the step being added is told in each run."""
        symbol: Symbolic = self.recorder.input(of, name)
        self.told.append((symbol.value, len(self.taken) - 1, read))
        return symbol

    def _symbol(self, value: Value) -> Symbolic:
        return Symbolic(self.recorder, value)

    def _value(self, symbol: Any) -> Value:
        return self.recorder.resolve(symbol)
