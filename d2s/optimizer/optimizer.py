"""`Optimizer`: parameters in groups, what is known of each of them between steps, and the step.

In: parameters with gradients. Out: parameters with new values, written where they lie. A gradient is limited (`grad_clip`),
then decayed (`weight_decay`), then used: all of it in the one kernel of the parameter.

>>> layer = d2s.nn.Linear(2, 1)
>>> adam = d2s.optimizer.Adam(0.1, parameters=layer.parameters())
>>> layer(d2s.to_tensor([[1.0, 1.0]])).sum().backward()
>>> adam.step()
>>> sorted(adam.state_dict())[0].endswith(".b_0_beta1_pow_acc_0")
True
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from d2s.arguments import expect, number
from d2s.autodiff import writes
from d2s.autodiff.mode import no_grad
from d2s.eager import checked
from d2s.eager.history import acts
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.nn.clip import ClipGradBase
from d2s.ops.dispatch import OPS
from d2s.ops.operators import Operators
from d2s.optimizer.groups import Group, Groups, Slot, checked_clip
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.update import Rule, Update
from d2s.regularizer import L1Decay, L2Decay, WeightDecayRegularizer
from d2s.types import NUMBERS

Where = Callable[[Any, Any, Any], Any]
_DECAYS = {L2Decay: "g = g + decay * p\n", L1Decay: "g = g + decay * select(p > 0, T(1), select(p < 0, T(-1), T(0)))\n"}


class Optimizer(Groups):
    """The base of optimizers. A subclass says its `rule`, the numbers a step needs, and which `settings` groups may set.

    `powers` are state of one number: they begin as a setting and are multiplied by it at each step. Some steps need to know how
    long tensors are: `lengths` names these, and `adapted` makes of them the first number of the last kernel.
    """

    rule: Rule
    last: Rule | None = None  # a second kernel, behind that of the rule
    lengths: tuple[str, ...] = ()  # of "p", "g" and state, just before the last kernel
    powers: ClassVar[dict[str, str]] = {}
    begins: float = 0.0  # what state begins as
    scratch: tuple[str, ...] = ()  # state that each step writes anew, and no file holds

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        if type(self) is Optimizer:
            raise NotImplementedError("Optimizer is the base of optimizers: use one of them, such as Adam")
        self._learning_rate = _checked_rate(type(self).__name__, learning_rate)
        self._grad_clip, self._name, self.settings = checked_clip(grad_clip), name, self._checked(settings or {})
        self.regularization = self._decay(weight_decay)
        self._groups = self._grouped(parameters)
        self._check_apart()

    # --- the step

    @acts
    def step(self) -> None:
        """Changes every parameter that has a gradient.

        >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
        >>> (p * 2.0).sum().backward()
        >>> d2s.optimizer.SGD(0.25, parameters=[p]).step()
        >>> p.tolist()
        [0.5]
        """
        rate = self.get_lr()
        with no_grad():
            for group in self._groups:
                self._step_of(group, rate)

    def _step_of(self, group: Group, rate: float) -> None:
        slots = [slot for slot in group.slots if slot.parameter.grad is not None and not slot.parameter.stop_gradient]
        pairs = [(slot.parameter, slot.parameter.grad) for slot in slots]
        limits: list[Any] = [None] * len(pairs)
        if group.clip is not None and type(group.clip)._dygraph_clip is not ClipGradBase._dygraph_clip:
            pairs = list(group.clip(pairs))  # the user's own
        elif group.clip is not None:
            limits = group.clip.limits(pairs)
        for slot, (_, gradient), limit in zip(slots, pairs, limits, strict=True):
            self._change(slot, group, gradient.array, rate, limit)
            writes.noted(slot.parameter.array)

    def _change(self, slot: Slot, group: Group, gradient: np.ndarray, rate: float, limit: Any) -> None:
        """A step of one parameter."""
        self._begin(slot, group)
        decay, rate = self._decay_of(slot, group), self._rate_of(slot, group, rate)
        rules = self._rules(slot, group, None if limit is None else group.clip.__class__)
        told = [*self.numbers(slot, group, rate), *([decay.coeff] if decay else ()), *(limit or ())]
        for rule in rules[:-1]:
            _run(slot.update(rule), gradient, told)
            told = []
        if self.lengths:
            arrays = {"p": slot.parameter.detach(), "g": Tensor(gradient), **slot.state}
            lengths = [length(arrays[name]) for name in self.lengths]
            told = [self.adapted(self.to_adapt(slot, group, rate), lengths, _where), *told]
        _run(slot.update(rules[-1]), gradient, told)
        self._raise_powers(slot, group)

    def _decay_of(self, slot: Slot, group: Group) -> WeightDecayRegularizer | None:
        """What is added to the gradient of a parameter: its own decay goes before that of the group."""
        own = getattr(slot.parameter, "regularizer", None) if group.rate is None else None
        return own or group.decay

    def _rules(self, slot: Slot, group: Group, clip: Any) -> list[Rule]:
        """The kernels of a parameter's step; the first of them behind its decay and the limit of its gradient."""
        decay: Any = self._decay_of(slot, group).__class__
        first = _composed(self.rule_of(slot.parameter, group), decay, clip)
        return [first] if self.last is None else [first, self.last]

    def _raise_powers(self, slot: Slot, group: Group) -> None:
        """One step more has been made."""
        for name, setting in self.powers.items():
            power = slot.state[name].array
            power *= power.dtype.type(group.settings[setting])

    def _rate_of(self, slot: Slot, group: Group, rate: float) -> float:
        own = getattr(slot.parameter, "optimize_attr", {"learning_rate": 1.0})["learning_rate"]
        return rate * (own if group.rate is None else group.rate)

    def rule_of(self, parameter: Any, group: Group) -> Rule:
        """The rule of a parameter."""
        return self.rule

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        """What `rule.numbers` are at this step."""
        raise NotImplementedError

    def to_adapt(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        """What `adapted` is told."""
        raise NotImplementedError

    def adapted(self, told: Sequence[Any], lengths: Sequence[Any], where: Where) -> Any:
        """The first number of the last kernel, of numbers or of values of a graph."""
        raise NotImplementedError

    def _begin(self, slot: Slot, group: Group) -> None:
        """The state of a parameter that has none yet."""
        p = slot.parameter
        for name in self._held_names(p, group):
            if name not in slot.state:
                shape, value = ([1], group.settings[self.powers[name]]) if name in self.powers else (p.shape, self.begins)
                slot.state[name] = Tensor(np.full(shape, value, p.dtype.numpy))

    def _held_names(self, parameter: Any, group: Group) -> tuple[str, ...]:
        """The state of a parameter; all that is in files, and what each step writes anew."""
        return (*self._state_names(parameter, group), *self.scratch)

    def _state_names(self, parameter: Any, group: Group) -> tuple[str, ...]:
        return (*(name for name in self.rule_of(parameter, group).state if name not in self.scratch), *self.powers)

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """A step with the gradients there are: call `loss.backward()` first. A declared loss is minimized by each run.

        >>> layer = d2s.nn.Linear(1, 1)
        >>> sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> loss = layer(d2s.to_tensor([[1.0]])).sum()
        >>> loss.backward()
        >>> len(sgd.minimize(loss)[1])
        2
        """
        declared = getattr(loss, "minimized_by", None)
        if declared is not None:
            found: tuple[list[Any], list[tuple[Any, Any]]] = declared(self, startup_program, parameters, no_grad_set)
            return found
        pairs = [(p, p.grad) for p in self._parameter_list if p.grad is not None and not p.stop_gradient]
        self.step()
        return [], pairs

    def backward(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None, callbacks: Any = None
    ) -> list[tuple[Any, Any]]:
        """The parameters and their gradients: what there is of these, or of a declared loss what each run computes.

        >>> layer = d2s.nn.Linear(1, 1)
        >>> sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())
        >>> loss = layer(d2s.to_tensor([[1.0]])).sum()
        >>> loss.backward()
        >>> [p.shape for p, _ in sgd.backward(loss)]
        [[1, 1], [1]]
        """
        declared = getattr(loss, "gradients_for", None)
        if declared is not None:
            found: list[tuple[Any, Any]] = declared(self, parameters, no_grad_set)
            return found
        return [(p, p.grad) for p in self._parameter_list if p.grad is not None and not p.stop_gradient]

    def apply_gradients(self, params_grads: Sequence[tuple[Any, Any]]) -> list[Any]:
        """A step with the gradients of these pairs.

        >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
        >>> d2s.optimizer.SGD(0.5, parameters=[p]).apply_gradients([(p, d2s.to_tensor([1.0]))])
        []
        >>> p.tolist()
        [0.5]
        """
        pairs = [(p, g) for p, g in _checked_pairs(params_grads) if g is not None]
        declared = next((g.applied_by for _, g in pairs if hasattr(g, "applied_by")), None)
        if declared is not None:
            return declared(self, pairs)  # type: ignore[no-any-return]
        before = [(p, p._grad) for p in self._parameter_list]
        try:
            for p, _ in before:
                p._grad = None
            for p, g in pairs:
                p._grad = g
            self.step()
        finally:
            for p, g in before:
                p._grad = g
        return []

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Sets the gradients of all parameters to 0, or takes them away."""
        for p in self._parameter_list:
            if not p.stop_gradient:
                p.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    # --- the learning rate

    def get_lr(self) -> float:
        """The learning rate of the next step.

        >>> d2s.optimizer.SGD(0.5, parameters=d2s.nn.Linear(1, 1).parameters()).get_lr()
        0.5
        """
        rate = self._learning_rate
        return float(rate() if isinstance(rate, LRScheduler) else rate)

    def set_lr(self, value: float) -> None:
        """Sets the learning rate, where no scheduler does."""
        if isinstance(self._learning_rate, LRScheduler):
            raise ArgumentError("D2S0004", "set_lr() of an optimizer whose learning rate is a scheduler's")
        self._learning_rate = number("set_lr", "value", value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Leaves the learning rate to a scheduler."""
        if not isinstance(scheduler, LRScheduler):
            raise DTypeError("D2S0001", f"set_lr_scheduler(): expects an LRScheduler, got {type(scheduler).__name__}")
        self._learning_rate = scheduler

    # --- state

    def state_dict(self) -> dict[str, Any]:
        """All state by the names Paddle gives it, such as 'linear_0.w_0_moment1_0', and that of the scheduler."""
        kept = [
            (slot, self._state_names(slot.parameter, group)) for group in self._groups for slot in group.slots if slot.state
        ]
        order = dict.fromkeys(name for _, names in kept for name in names)
        found: dict[str, Any] = {
            f"{slot.parameter.name}_{name}_0": slot.state[name] for name in order for slot, names in kept if name in names
        }
        if isinstance(self._learning_rate, LRScheduler):
            found["LR_Scheduler"] = self._learning_rate.state_dict()
        return found

    @acts
    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken.

        >>> layer = d2s.nn.Linear(1, 1)
        >>> first, second = (d2s.optimizer.Adam(parameters=layer.parameters()) for _ in range(2))
        >>> layer(d2s.to_tensor([[1.0]])).sum().backward()
        >>> first.step()
        >>> second.set_state_dict(first.state_dict())
        >>> second.state_dict().keys() == first.state_dict().keys()
        True
        """
        if not isinstance(state_dict, dict):
            raise DTypeError("D2S0001", f"set_state_dict(): 'state_dict' expects a dict, got {type(state_dict).__name__}")
        if isinstance(self._learning_rate, LRScheduler) and "LR_Scheduler" in state_dict:
            self._learning_rate.set_state_dict(state_dict["LR_Scheduler"])
        for group in self._groups:
            for slot in group.slots:
                self._take(slot, self._state_names(slot.parameter, group), state_dict)

    def set_dict(self, state_dict: dict[str, Any]) -> None:
        """`set_state_dict()`."""
        self.set_state_dict(state_dict)

    load_state_dict = set_dict

    def _take(self, slot: Slot, names: tuple[str, ...], state: dict[str, Any]) -> None:
        """The state of one parameter, if it is there; a name's number is that of Paddle's count."""
        keys = {
            name: next((k for n in range(10) if (k := f"{slot.parameter.name}_{name}_{n}") in state), None) for name in names
        }
        missing = [name for name, key in keys.items() if key is None]
        if len(missing) == len(keys):
            return
        if missing:
            raise ArgumentError("D2S0004", f"set_state_dict(): '{slot.parameter.name}_{missing[0]}_0' is missing")
        for name, key in ((name, str(key)) for name, key in keys.items()):
            expected = [1] if name in self.powers else slot.parameter.shape
            new = to_tensor(state[key], slot.parameter.dtype)
            if new.shape != expected and not (name in self.powers and new.size == 1):
                raise ShapeError("D2S0002", f"set_state_dict(): '{key}' has shape {new.shape}, expected {expected}")
            slot.state[name] = Tensor(new.array.reshape(expected))


def _run(update: Update, gradient: np.ndarray, told: Sequence[float]) -> None:
    """One kernel of a step."""
    if checked.onlookers:
        checked.changed(update.arrays, [gradient, np.array(told)], lambda: update.run(gradient, told))
    else:
        update.run(gradient, told)


def length(x: Tensor) -> float:
    """The length of a tensor.

    >>> length(d2s.to_tensor([3.0, 4.0]))
    5.0
    """
    return math.sqrt(OPS["sum"](OPS["square"](x)).item())


def _where(condition: bool, x: float, y: float) -> float:
    return x if condition else y


@functools.cache
def _composed(rule: Rule, decay: type, clip: type[ClipGradBase] | None) -> Rule:
    """A rule behind what is done to the gradient first."""
    for kind, text in _DECAYS.items():
        if issubclass(decay, kind):
            rule = rule.behind(("decay",), text)
    return rule if clip is None else rule.behind(clip.numbers, clip.element)


def _checked_rate(function: str, rate: Any) -> Any:
    if isinstance(rate, LRScheduler):
        return rate
    if not isinstance(rate, NUMBERS) or isinstance(rate, bool):
        got = type(rate).__name__
        raise DTypeError("D2S0001", f"{function}(): 'learning_rate' expects a number or an LRScheduler, got {got}")
    return number(function, "learning_rate", rate)


def _checked_pairs(given: Any) -> Sequence[tuple[Any, Any]]:
    """Pairs of a parameter and its gradient, or None."""
    expect("apply_gradients", "params_grads", given, list | tuple, "a list of pairs")
    for pair in given:
        expect("apply_gradients", "params_grads", pair, list | tuple, "pairs of a parameter and its gradient")
        if len(pair) != 2 or not isinstance(pair[0], Operators) or not isinstance(pair[1], Operators | None):
            message = f"apply_gradients(): 'params_grads' holds {brief(pair)}, expected a parameter and its gradient"
            raise DTypeError("D2S0001", message)
    return given  # type: ignore[no-any-return]
