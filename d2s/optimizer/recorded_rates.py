"""Learning rates in a captured function: what `get_lr()` is there, which rate a step has, and steps of schedulers.

In: an optimizer or a scheduler. Out: Python numbers of run time, which each call asks schedulers for: of steps that the call
itself makes before, a copy of the scheduler tells; the scheduler's own are made behind the run.

>>> import d2s
>>> layer = d2s.nn.Linear(1, 1)
>>> rate = d2s.optimizer.lr.StepDecay(0.5, 1, 0.5)
>>> sgd = d2s.optimizer.SGD(rate, parameters=layer.parameters())
>>> @d2s.to_static
... def train(x):
...     layer(x).sum().backward()
...     sgd.step()
...     rate.step()
...     return sgd.get_lr()
>>> [train(d2s.to_tensor([[1.0]])) for _ in range(3)]
[0.25, 0.125, 0.0625]
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import types
from d2s.arguments import number
from d2s.capture.answers import Reader, question_of
from d2s.capture.heap import UNREAD, Place
from d2s.capture.outside import liftable
from d2s.capture.sweeps import told
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.training import training
from d2s.capture.users_code import in_package, refuse
from d2s.convert.attributes import store_plainly
from d2s.convert.calls import RECORDED
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.ops import OPS
from d2s.optimizer import lr
from d2s.optimizer.lr import LRScheduler, ReduceOnPlateau
from d2s.optimizer.optimizer import Optimizer
from d2s.types import Type

_NUMBER = Type(types.float64, python=True)


class Postponed:
    """The steps of a scheduler, which are taken behind a run."""

    def __init__(self, scheduler: LRScheduler) -> None:
        self.changes = scheduler

    def __repr__(self) -> str:
        """The same for each capture of them."""
        return f"'steps of {id(self.changes)}'"

    def done(self, steps: int) -> None:
        for _ in range(steps):
            self.changes.step()


class Watching(Postponed):
    """The step of a scheduler that is told how training goes."""

    def done(self, metrics: Any) -> None:  # type: ignore[override]
        self.changes.step(metrics)


def rate_reader(tracer: Tracer, optimizer: Any) -> Reader:
    """How calls find the rate of a step that is taken here."""
    rate = _rate_now(tracer, optimizer)
    if isinstance(rate, LRScheduler):
        steps = _steps_before(tracer, rate)
        return lambda leaves: float(_later(rate, steps)()) if steps else optimizer.get_lr()
    if isinstance(rate, SymbolicTensor):
        found = question_of(tracer, rate)
        if found is None:
            message = "a learning rate that is computed of more than Python numbers"
            refuse("D2S1003", message, "set it outside of the captured function")
        return found.value
    return (lambda leaves: optimizer.get_lr()) if rate is optimizer._learning_rate else (lambda leaves: rate)


def _rate_now(tracer: Tracer, optimizer: Any) -> Any:
    """What the optimizer has its rate of here."""
    place = tracer.root.heap.places.get(("attribute", id(optimizer), "_learning_rate"))
    if place is not None and place.now is not UNREAD:
        return place.now
    key, found = (id(optimizer), "scheduler"), functools.partial(_scheduler_of, optimizer)
    tracer.guard(key, f"the scheduler of a {type(optimizer).__name__}", found)
    return optimizer._learning_rate


def _scheduler_of(optimizer: Any) -> LRScheduler | None:
    rate = optimizer._learning_rate
    return rate if isinstance(rate, LRScheduler) else None


def _steps_before(tracer: Tracer, scheduler: LRScheduler) -> int:
    """How many steps of a scheduler the function has made so far."""
    if changed(tracer, scheduler):
        refuse("D2S1003", f"the rate of a {type(scheduler).__name__} behind a store to it", "ask for it before")
    if id(scheduler) not in tracer.root.acted:
        return 0
    steps = tracer.root.heap.places["scheduled", id(scheduler)].now
    ours = all(in_package(m.__code__.co_filename) for m in (type(scheduler).step, type(scheduler).get_lr))
    if not isinstance(steps, int) or not ours:
        refuse("D2S1003", f"the rate of a {type(scheduler).__name__} behind a step of it", "ask for it before")
    return steps


def _later(scheduler: LRScheduler, steps: int) -> LRScheduler:
    """The scheduler as it is behind some steps more."""
    if not steps:
        return scheduler
    later = copy.deepcopy(scheduler)
    for one in (later, *vars(later).values()):
        if isinstance(one, LRScheduler):
            one.verbose = False
    for _ in range(steps):
        later.step()
    return later


def _asked(tracer: Tracer, scheduler: LRScheduler, key: Any, ask: Callable[[LRScheduler], float], of: Type = _NUMBER) -> Any:
    """What a scheduler says at this place of the function."""
    steps = _steps_before(tracer, scheduler)
    key = "scheduler", id(scheduler), key, steps
    return told(tracer, key, lambda leaves: Tensor(np.array(ask(_later(scheduler, steps)), of.dtype.numpy)), of, "rate")


def _attribute(tracer: Tracer, scheduler: LRScheduler, name: str, value: Any) -> Any:
    """An attribute of a scheduler behind a step of it."""
    of = liftable(value)
    if of is None or not of.python:
        refuse("D2S1003", f"'{name}' of a {type(scheduler).__name__} behind a step of it", "read it before, or outside")
    return _asked(tracer, scheduler, name, lambda later: getattr(later, name), of)


def changed(tracer: Tracer, owner: Any, *but: str) -> bool:
    """Whether an attribute of this was stored to, other than these."""
    places = [place.target for place in tracer.root.heap.places.values() if place.target and place.target[0] == "attribute"]
    return any(one is owner and name not in but for _, one, name in places)


# --- what a capture records


def get_lr(tracer: Tracer, optimizer: Any) -> Any:
    """`optimizer.get_lr()`: a Python number of run time."""
    rate = _rate_now(tracer, optimizer)
    if isinstance(rate, LRScheduler):
        return rate_of(tracer, rate)
    if rate is not optimizer._learning_rate:
        return rate
    return told(tracer, ("rate", id(optimizer)), lambda leaves: Tensor(np.array(float(optimizer.get_lr()))), _NUMBER, "rate")


def set_lr(tracer: Tracer, optimizer: Any, value: Any) -> None:
    """`optimizer.set_lr(value)`."""
    training("set_lr()")
    if isinstance(_rate_now(tracer, optimizer), LRScheduler):
        raise ArgumentError("D2S0004", "set_lr() of an optimizer whose learning rate is a scheduler's")
    if isinstance(value, SymbolicTensor) and value.value.type.python:
        value = OPS["cast"](value, types.float64, python=True)
    else:
        value = number("set_lr", "value", value)
    store_plainly(tracer, value, optimizer, "_learning_rate")


def rate_of(tracer: Tracer, scheduler: LRScheduler) -> Any:
    """`scheduler()`: a Python number of run time."""
    return _asked(tracer, scheduler, "now", lambda later: float(later()))


def _computed(function: Callable[[LRScheduler], float], tracer: Tracer, scheduler: LRScheduler) -> Any:
    """`scheduler.get_lr()`, of a class of ours."""
    return _asked(tracer, scheduler, function, lambda later: float(function(later)))


def schedule(tracer: Tracer, scheduler: LRScheduler, *args: Any, **kwargs: Any) -> None:
    """`scheduler.step()`: behind the run, so that only what is computed before sees the rate."""
    training("step() of a scheduler")
    if args or kwargs:
        refuse("D2S1003", f"step() of a {type(scheduler).__name__} with arguments", "call it outside of the captured function")
    place = tracer.root.heap.place(("scheduled", id(scheduler)), lambda: Place(0, None, ("stepped", Postponed(scheduler).done)))
    tracer.root.heap.set(place, place.now + 1)
    tracer.root.acted[id(scheduler)] = functools.partial(_attribute, tracer, scheduler)


def watch(tracer: Tracer, scheduler: ReduceOnPlateau, metrics: Any = None, epoch: Any = None) -> None:
    """`scheduler.step(loss)`: behind the run, once."""
    training("step() of a ReduceOnPlateau")
    if metrics is None or epoch is not None or id(scheduler) in tracer.root.acted:
        message = "step() of a ReduceOnPlateau with an epoch, or a second one"
        refuse("D2S1003", message, "call it outside of the captured function")
    target = "stepped", Watching(scheduler).done
    place = tracer.root.heap.place(("scheduled", id(scheduler)), lambda: Place(None, None, target))
    tracer.root.heap.set(place, _plain(metrics))
    tracer.root.acted[id(scheduler)] = functools.partial(_attribute, tracer, scheduler)


def _plain(metrics: Any) -> Any:
    """What is watched, without a history."""
    tensor = isinstance(metrics, SymbolicTensor) and not metrics.value.type.python
    return metrics.detach() if tensor else metrics


RECORDED.update(
    {
        Optimizer.get_lr: get_lr,
        Optimizer.set_lr: set_lr,
        LRScheduler.step: schedule,
        LRScheduler.__call__: rate_of,
        ReduceOnPlateau.step: watch,
    }
)
for _kind in (getattr(lr, name) for name in lr.__all__):
    if "get_lr" in vars(_kind) and _kind is not LRScheduler:
        RECORDED[_kind.get_lr] = functools.partial(_computed, _kind.get_lr)
    RECORDED.setdefault(_kind.step, schedule)
