"""Adam and its kin: steps by moments of the gradient, which are averages that forget.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> (p * 2.0).sum().backward()
>>> d2s.optimizer.Adam(0.25, parameters=[p]).step()
>>> p.tolist()
[0.75]
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from d2s.arguments import number
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.op import flag
from d2s.optimizer.groups import Group, Slot
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer
from d2s.optimizer.update import Rule

MOMENTS = "moment1 = beta1 * moment1 + (T(1) - beta1) * g\nmoment2 = beta2 * moment2 + (T(1) - beta2) * g * g\n"
_NUMBERS = ("lr", "epsilon", "beta1", "beta2")
_ADAM = Rule("adam", ("moment1", "moment2"), _NUMBERS, MOMENTS + "p = p - lr * (moment1 / (sqrt_of(moment2) + epsilon))\n")
_LARGEST = "moment2_max = select(moment2 > moment2_max, moment2, moment2_max)\n"


@functools.cache
def _of_largest(rule: Rule) -> Rule:
    """The same with the largest second moment so far for the second moment."""
    element = rule.element.replace(MOMENTS, MOMENTS + _LARGEST).replace("sqrt_of(moment2)", "sqrt_of(moment2_max)")
    return rule._replace(name=f"{rule.name}_amsgrad", state=(*rule.state, "moment2_max"), element=element)


def forgetting(function: str, **betas: Any) -> dict[str, float]:
    """Rates of forgetting: numbers from 0 to below 1."""
    for name, value in betas.items():
        if not 0 <= number(function, name, value) < 1:
            raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, expected a number from 0 to below 1")
    return {name: number(function, name, value) for name, value in betas.items()}


def positive(function: str, epsilon: Any) -> float:
    """What is added so that nothing is divided by 0."""
    if not number(function, "epsilon", epsilon) >= 0:
        raise ArgumentError("D2S0004", f"{function}(): 'epsilon' is {brief(epsilon)}, expected a number of 0 or more")
    return number(function, "epsilon", epsilon)


def share(function: str, name: str, value: Any) -> float:
    """What is taken of a parameter at each step."""
    return number(function, name, value)


class _Moments(Optimizer):
    """Two moments of the gradient, and how much of each has been forgotten."""

    powers: ClassVar[dict[str, str]] = {"beta1_pow_acc": "beta1", "beta2_pow_acc": "beta2"}
    _amsgrad = False

    def rule_of(self, parameter: Any, group: Group) -> Rule:
        return _of_largest(self.rule) if self._amsgrad else self.rule

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        settings = group.settings
        left = math.sqrt(1 - slot.state["beta2_pow_acc"].array[0])
        corrected = rate * left / (1 - float(slot.state["beta1_pow_acc"].array[0]))
        return corrected, settings["epsilon"] * left, settings["beta1"], settings["beta2"]


class Adam(_Moments):
    """Moments `m = beta1 * m + (1 - beta1) * g`, `v = beta2 * v + (1 - beta2) * g²`; a step of `m / (sqrt(v) + epsilon)`, both
    corrected for their beginning at 0. With `amsgrad`, v is the largest there was.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> adam = d2s.optimizer.Adam(1e-3, parameters=layer.parameters(), weight_decay=0.01)
    """

    rule = _ADAM

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        use_multi_tensor: bool = False,
        name: str | None = None,
        amsgrad: bool = False,
    ) -> None:
        self._amsgrad = flag(amsgrad, "amsgrad")
        settings = forgetting("Adam", beta1=beta1, beta2=beta2) | {"epsilon": positive("Adam", epsilon)}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)


class AdamW(_Moments):
    """Adam whose decay shrinks the parameter itself, `p = p * (1 - learning_rate * weight_decay)`, and not its gradient.

    `lr_ratio` of a parameter multiplies its learning rate; `apply_decay_param_fun` of its name says whether it decays.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> only_weights = lambda name: ".w_" in name
    >>> adamw = d2s.optimizer.AdamW(1e-3, parameters=layer.parameters(), apply_decay_param_fun=only_weights)
    """

    rule = _ADAM._replace(name="adamw", numbers=(*_NUMBERS, "keep"), element=_ADAM.element.replace("p = p -", "p = p * keep -"))

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: float = 0.01,
        lr_ratio: Callable[[Any], float] | None = None,
        apply_decay_param_fun: Callable[[str], bool] | None = None,
        grad_clip: Any = None,
        lazy_mode: bool = False,
        multi_precision: bool = False,
        name: str | None = None,
        amsgrad: bool = False,
    ) -> None:
        self._amsgrad = flag(amsgrad, "amsgrad")
        for argument, given in (("lr_ratio", lr_ratio), ("apply_decay_param_fun", apply_decay_param_fun)):
            if given is not None and not callable(given):
                raise DTypeError("D2S0001", f"AdamW(): '{argument}' expects a function, got {type(given).__name__}")
        self._ratio, self._decays = lr_ratio, apply_decay_param_fun
        settings = forgetting("AdamW", beta1=beta1, beta2=beta2) | {"epsilon": positive("AdamW", epsilon)}
        settings["weight_decay"] = share("AdamW", "weight_decay", weight_decay)
        super().__init__(learning_rate, parameters, None, grad_clip, name, settings)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        p = slot.parameter
        rate *= self._ratio(p) if self._ratio else 1.0
        decays = self._decays is None or self._decays(p.name)
        return *super().numbers(slot, group, rate), 1 - rate * group.settings["weight_decay"] if decays else 1.0


class Adamax(Optimizer):
    """Adam with the largest gradient seen, `inf_norm = max(|g|, beta2 * inf_norm + epsilon)`, for the second moment.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> adamax = d2s.optimizer.Adamax(1e-3, parameters=layer.parameters())
    """

    powers: ClassVar[dict[str, str]] = {"beta1_pow_acc": "beta1"}
    rule = Rule(
        "adamax",
        ("moment", "inf_norm"),
        _NUMBERS,
        "moment = beta1 * moment + (T(1) - beta1) * g\n"
        "faded, size = beta2 * inf_norm + epsilon, abs_of(g)\n"
        "inf_norm = select(size > faded, size, faded)\n"
        "p = p - lr * (moment / inf_norm)\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        settings = forgetting("Adamax", beta1=beta1, beta2=beta2) | {"epsilon": positive("Adamax", epsilon)}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        settings = group.settings
        corrected = rate / (1 - float(slot.state["beta1_pow_acc"].array[0]))
        return corrected, settings["epsilon"], settings["beta1"], settings["beta2"]
