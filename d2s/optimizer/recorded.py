"""`optimizer.step()` in a captured function: a node for each kernel of each parameter, the very one eager code uses.

In: the parameters' gradients as the capture has them. Out: `update` nodes, one for each kernel of a step, which write
parameters and state where they lie. The numbers of a step - the learning rate, corrections, decays - are told anew at each call
by the optimizer's own methods, so schedules and `set_lr` recompile nothing; limits on norms and what lengths of tensors decide
are computed in the graph. Behind a run `Stepped` does the rest.

>>> layer = d2s.nn.Linear(1, 1)
>>> sgd = d2s.optimizer.SGD(0.5, parameters=layer.parameters())
>>> @d2s.to_static
... def train(x):
...     loss = layer(x).sum()
...     loss.backward()
...     sgd.step()
...     sgd.clear_grad()
...     return loss
>>> before = layer.bias.item()
>>> _ = train(d2s.to_tensor([[1.0]]))
>>> before - layer.bias.item()
0.5
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from d2s import types
from d2s.autodiff import writes
from d2s.autodiff.mode import no_grad
from d2s.capture.answers import Reader
from d2s.capture.forms import OneOf
from d2s.capture.guards import MISSING
from d2s.capture.heap import Place
from d2s.capture.sweeps import presence, told
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.training import clear_gradient, training
from d2s.capture.users_code import refuse
from d2s.convert.calls import RECORDED, call
from d2s.eager.tensor import Tensor
from d2s.nn.clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from d2s.ops import OPS
from d2s.ops.slicing import unbind
from d2s.optimizer.lbfgs import LBFGS
from d2s.optimizer.optimizer import Optimizer
from d2s.optimizer.recorded_rates import changed, rate_reader
from d2s.optimizer.update import Rule, text_of
from d2s.types import DType, Type

CLIPS = (ClipGradByValue, ClipGradByNorm, ClipGradByGlobalNorm)


class Kernel:
    """A rule as an attribute of a node: the text of its kernel by dtype."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule

    def text(self, dtype: DType) -> str:
        return text_of(self.rule, dtype)

    def __repr__(self) -> str:
        return repr(self.rule.name)


class Stepped:
    """The steps of one parameter as calls make them: what they are told before a run, what is done behind it."""

    def __init__(self, optimizer: Any, group: Any, slot: Any, ahead: int, rate: Reader | None = None) -> None:
        self.optimizer, self.group, self.slot = optimizer, group, slot
        self.rate = rate or (lambda leaves: optimizer.get_lr())
        self.ahead = ahead  # steps that the same call makes before
        self.begun: Any = None
        self.changes = slot

    def __repr__(self) -> str:
        """The same for each capture of a step."""
        return f"'step {self.ahead} of {id(self.slot)}'"

    def held(self) -> Any:
        """The slot; before its first step, one whose state waits aside."""
        known = self.slot.state
        if all(name in known for name in self.optimizer._held_names(self.slot.parameter, self.group)):
            return self.slot
        if self.begun is None or any(self.begun.state.get(name) is not state for name, state in known.items()):
            self.begun = type(self.slot)(self.slot.parameter)
            self.begun.state |= known
            self.optimizer._begin(self.begun, self.group)
        return self.begun

    def state(self, name: str) -> Tensor:
        """A piece of state."""
        found: Tensor = self.held().state[name]
        return found

    def numbers(self, leaves: Sequence[Any]) -> Tensor:
        """What the first kernel is told, but for a limit on norms."""
        optimizer, group, slot = self.optimizer, self.group, self.held()
        rate = optimizer._rate_of(slot, group, self.rate(leaves))
        found = [*optimizer.numbers(self._later(slot) if self.ahead else slot, group, rate)]
        decay = optimizer._decay_of(slot, group)
        found += [decay.coeff] if decay else []
        clips = type(group.clip) is ClipGradByValue and getattr(slot.parameter, "need_clip", True)
        return Tensor(np.array([*found, *((group.clip.min, group.clip.max) if clips else ())], np.float64))

    def to_adapt(self, leaves: Sequence[Any]) -> Tensor:
        """What a number that lengths decide is computed from besides."""
        optimizer, group, slot = self.optimizer, self.group, self.held()
        rate = optimizer._rate_of(slot, group, self.rate(leaves))
        return Tensor(np.array(optimizer.to_adapt(slot, group, rate), np.float64))

    def _later(self, slot: Any) -> Any:
        """The slot as it will be behind the steps before."""
        later = type(slot)(slot.parameter)
        later.state |= slot.state | {name: Tensor(slot.state[name].array.copy()) for name in self.optimizer.powers}
        for _ in range(self.ahead):
            self.optimizer._raise_powers(later, self.group)
        return later

    def done(self, steps: Any) -> None:
        """Behind a run: so many steps were made, or where that depends on the path, one or none."""
        count = steps if isinstance(steps, int) else int(steps.item())
        if count:
            held, self.begun = self.held(), None
            self.slot.state.update(held.state)
            writes.noted(self.slot.parameter.array)
        for _ in range(count):
            self.optimizer._raise_powers(self.slot, self.group)


def step(tracer: Tracer, optimizer: Any) -> None:
    """`optimizer.step()`."""
    training("step()")
    _refuse_own(optimizer)
    _guard(tracer, optimizer)
    rate = rate_reader(tracer, optimizer)
    for group in optimizer._groups:
        _step_of(tracer, optimizer, group, rate)


def clear_grad(tracer: Tracer, optimizer: Any, set_to_zero: bool = True) -> None:
    """`optimizer.clear_grad()`."""
    training("clear_grad()")
    for parameter in optimizer._parameter_list:
        symbol = tracer.lift(parameter)
        if not tracer.training.stops(symbol.value):
            clear_gradient(symbol, set_to_zero)


def minimize(tracer: Tracer, optimizer: Any, loss: Any, *rest: Any, **more: Any) -> tuple[list[Any], list[tuple[Any, Any]]]:
    """`optimizer.minimize(loss)`."""
    here = training("minimize()")
    learnt = [p for p in optimizer._parameter_list if not here.stops(tracer.lift(p).value)]
    pairs = [(p, tracer.lift(p).grad) for p in learnt]
    step(tracer, optimizer)
    return [], [(p, g) for p, g in pairs if g is not None]


def _refuse_own(optimizer: Any) -> None:
    """A step in other words than those of `Optimizer` is made of Python."""
    if says_its_own_step(optimizer):
        refuse("D2S1003", f"step() of {type(optimizer).__name__}", "take the step outside of the captured function")


def says_its_own_step(optimizer: Any) -> bool:
    """Whether the step of an optimizer is not made of the words of `Optimizer`."""
    home = _home(optimizer, "step")
    return any(_home(optimizer, name) is not home for name in ("_step_of", "_change"))


def _home(optimizer: Any, method: str) -> type:
    return next(kind for kind in type(optimizer).__mro__ if method in vars(kind))


def _guard(tracer: Tracer, optimizer: Any) -> None:
    """A capture knows which parameters there are, how they decay and are limited."""
    if changed(tracer, optimizer, "_learning_rate"):
        refuse("D2S1003", "step() of an optimizer behind a store to it", "change it behind the step")
    for held in (optimizer._groups, *(group.slots for group in optimizer._groups)):
        _guard_listed(tracer, held)
    for group in optimizer._groups:
        for name in ("decay", "clip"):
            _guard_attribute(tracer, group, name)
        if isinstance(group.clip, ClipGradByNorm | ClipGradByGlobalNorm):
            _guard_attribute(tracer, group.clip, "clip_norm")


def _guard_listed(tracer: Tracer, held: Any) -> None:
    tracer.guard((id(held), "content"), "the parameters of an optimizer", lambda: held, source=("value", held, None))


def _guard_attribute(tracer: Tracer, owner: Any, name: str) -> None:
    def read() -> Any:
        return getattr(owner, name, MISSING)

    tracer.guard((id(owner), "attribute", name), f"{type(owner).__name__}.{name}", read, source=("attribute", owner, name))


def _step_of(tracer: Tracer, optimizer: Any, group: Any, rate: Reader) -> None:
    """The parameters of a group that have a gradient, on some path at least."""
    found = []
    for slot in group.slots:
        symbol = tracer.lift(slot.parameter)
        held = None if tracer.training.stops(symbol.value) else tracer.training.place(symbol.value).held()
        if held is not None:
            found.append((slot, symbol, held))
    with no_grad():
        if group.clip is not None and type(group.clip) not in CLIPS:
            found = _limited_by_own(group.clip, found)
        lengths = limits(group.clip, [(slot.parameter, held) for slot, _, held in found])
        for (slot, symbol, held), limit in zip(found, lengths, strict=True):
            _record(tracer, Stepped(optimizer, group, slot, _steps_before(tracer, slot), rate), symbol, held, limit)


def _limited_by_own(clip: Any, found: Sequence[Any]) -> list[Any]:
    """The gradients as a limit of the user's makes them: its text is a part of the function."""
    if any(presence(held) is not None for _, _, held in found):
        message = f"a limit of gradients by a {type(clip).__name__} where only some path has one of them"
        refuse("D2S1003", message, "take the step outside of the captured function")
    pairs = call(clip)([(slot.parameter, held) for slot, _, held in found])
    if [id(p) for p, _ in pairs] != [id(slot.parameter) for slot, _, _ in found]:
        refuse("D2S1003", f"a {type(clip).__name__} that gives other parameters than it is given", "give one pair for each")
    return [(slot, symbol, limited) for (slot, symbol, _), (_, limited) in zip(found, pairs, strict=True)]


def _gradient(held: Any) -> Any:
    return held.alternatives[1] if isinstance(held, OneOf) else held


def limits(clip: Any, pairs: Sequence[tuple[Any, Any]]) -> list[Any]:
    """How much shorter gradients are made; None where that is no number of the graph's."""
    shrink = _SHRINK.get(type(clip))
    if shrink is None:
        return [None] * len(pairs)
    squares = [_squares(held) if getattr(p, "need_clip", True) else None for p, held in pairs]
    if isinstance(clip, ClipGradByGlobalNorm):
        found = [s for s in squares if s is not None]
        squares = [None if s is None else functools.reduce(OPS["add"], found) for s in squares]
    found = [None if s is None else shrink(OPS["sqrt"](s), clip.clip_norm) for s in squares]
    return found


def _shrink_one(norm: Any, most: float) -> Any:
    return OPS["where"](OPS["greater_than"](norm, most), OPS["divide"](most, norm), 1.0)


def _shrink_all(norm: Any, most: float) -> Any:
    return OPS["where"](OPS["less_equal"](norm, most), 1.0, OPS["divide"](most, norm))


_SHRINK = {ClipGradByNorm: _shrink_one, ClipGradByGlobalNorm: _shrink_all}


def _squares(held: Any) -> Any:
    """The sum of a gradient's squares; 0 of one that the path does not have."""
    return OPS["cast"](OPS["sum"](OPS["square"](_gradient(held))), types.float64)


def _record(tracer: Tracer, stepped: Stepped, symbol: Any, held: Any, limit: Any) -> None:
    """The node of one parameter."""
    slot, group = stepped.slot, stepped.group
    clip = type(group.clip) if type(group.clip) in CLIPS and getattr(slot.parameter, "need_clip", True) else None
    flag = presence(held)

    def now(name: str) -> Any:
        known = {"p": lambda: tracer.now(symbol), "g": lambda: _gradient(held)}
        return known[name]() if name in known else _state(tracer, stepped, slot, name)

    for rule, numbers in launches(stepped, clip, limit, functools.partial(_numbers, tracer, stepped, slot), now):
        inputs = [now("p"), now("g"), *map(now, rule.state), numbers, *(() if flag is None else (flag,))]
        values = [tracer.resolve(s) for s in inputs]
        written = [v.type for v in (values[0], *values[2 : 2 + len(rule.state)])]
        results = tracer.add("update", values, written, {"rule": Kernel(rule), "state": rule.state})
        tracer.training.step(values[0], results[0].value)
        tracer.training.written |= {s.value for s in results[1:]}
        _hold(tracer, symbol.value, results[0])
        for name, result in zip(rule.state, results[1:], strict=True):
            _hold(tracer, ("state", id(slot), name), result)
    _note(tracer, slot, stepped, flag)


def launches(
    stepped: Stepped, clip: Any, limit: Any, told_of: Callable[[str], Any], now: Callable[[str], Any]
) -> Iterator[tuple[Rule, Any]]:
    """The kernels of a step with their numbers, in order; `now` says what "p", "g" or a state is behind those so far."""
    optimizer = stepped.optimizer
    *before, last = optimizer._rules(stepped.slot, stepped.group, clip)
    parts = [told_of("numbers"), *(() if limit is None else (OPS["reshape"](limit, [1]),))]
    for rule in before:
        yield rule, _joined(parts)
        parts = []
    if optimizer.lengths:
        lengths = [OPS["sqrt"](_squares(now(name))) for name in optimizer.lengths]
        found = optimizer.adapted(unbind(told_of("to_adapt")), lengths, OPS["where"])
        parts = [OPS["reshape"](found, [1]), *parts]
    yield last, _joined(parts)


def _joined(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else OPS["concat"](*parts, axis=0)


def _hold(tracer: Tracer, key: Any, result: Any) -> None:
    """What is written where it lies is what is read there from now on."""
    place = tracer.root.heap.place(key, lambda: Place(None))
    tracer.root.heap.set(place, SymbolicTensor(tracer, result.value))


def _numbers(tracer: Tracer, stepped: Stepped, slot: Any, name: str) -> Any:
    read = getattr(stepped, name)
    return told(tracer, (name, id(slot), stepped.ahead), read, Type(types.float64, read(tracer.root.leaves).array.shape), name)


def _state(tracer: Tracer, stepped: Stepped, slot: Any, name: str) -> Any:
    place = tracer.root.heap.places.get(("state", id(slot), name))
    if place is not None:
        return place.now
    array = stepped.state(name).array
    of = Type(types.dtype(array.dtype), array.shape)
    return told(tracer, ("state", id(slot), name), lambda leaves: stepped.state(name), of, name)


def _steps_before(tracer: Tracer, slot: Any) -> int:
    place = tracer.root.heap.places.get(("stepped", id(slot)))
    if place is not None and not isinstance(place.now, int):
        refuse("D2S1003", "a second step() of a parameter that only some path has a gradient for", "take one step in each call")
    return 0 if place is None else place.now


def _note(tracer: Tracer, slot: Any, stepped: Stepped, flag: Any) -> None:
    """Behind each run, what is left to do in Python."""
    place = tracer.root.heap.place(("stepped", id(slot)), lambda: Place(0, None, ("stepped", stepped.done)))
    if flag is not None and stepped.ahead:
        refuse("D2S1003", "a second step() of a parameter that only some path has a gradient for", "take one step in each call")
    tracer.root.heap.set(place, stepped.ahead + 1 if flag is None else flag)


def line_search(tracer: Tracer, optimizer: Any, *_: Any, **__: Any) -> NoReturn:
    """`step(closure)` of an LBFGS calls its closure as often as losses tell it to."""
    refuse("D2S1003", f"step() of {type(optimizer).__name__}", "make the closure static, and take the step outside of it")


RECORDED.update(
    {
        Optimizer.step: step,
        Optimizer.clear_grad: clear_grad,
        Optimizer.minimize: minimize,
        LBFGS.step: line_search,
    }
)
