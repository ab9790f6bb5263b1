"""Optimizers whose steps follow the size of the gradients of the past, element by element.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> (p * 2.0).sum().backward()
>>> d2s.optimizer.Adagrad(0.25, parameters=[p]).step()
>>> round(p.item(), 4)
0.75
"""

from collections.abc import Sequence
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError
from d2s.optimizer.adam import forgetting, positive
from d2s.optimizer.groups import Group, Slot
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer
from d2s.optimizer.update import Rule


class Adagrad(Optimizer):
    """Steps divided by the root of the sum of all squared gradients: large where gradients were small.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> adagrad = d2s.optimizer.Adagrad(0.1, parameters=layer.parameters())
    """

    rule = Rule(
        "adagrad",
        ("moment",),
        ("lr", "epsilon"),
        "moment = moment + g * g\np = p - lr * g / (sqrt_of(moment) + epsilon)\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
        initial_accumulator_value: float = 0.0,
    ) -> None:
        if number("Adagrad", "initial_accumulator_value", initial_accumulator_value) < 0:
            raise ArgumentError("D2S0004", f"Adagrad(): 'initial_accumulator_value' is {initial_accumulator_value}, below 0")
        self.begins = initial_accumulator_value
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, {"epsilon": positive("Adagrad", epsilon)})

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, group.settings["epsilon"]


class Adadelta(Optimizer):
    """Steps as large as those of the past were, relative to the gradients of the past.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> adadelta = d2s.optimizer.Adadelta(0.1, rho=0.9, parameters=layer.parameters())
    """

    rule = Rule(
        "adadelta",
        ("_avg_squared_grad", "_avg_squared_update"),
        ("lr", "epsilon", "rho"),
        "_avg_squared_grad = rho * _avg_squared_grad + (T(1) - rho) * g * g\n"
        "change = sqrt_of((_avg_squared_update + epsilon) / (_avg_squared_grad + epsilon)) * g\n"
        "_avg_squared_update = rho * _avg_squared_update + (T(1) - rho) * change * change\n"
        "p = p - lr * change\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        epsilon: float = 1e-6,
        rho: float = 0.95,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        settings = forgetting("Adadelta", rho=rho) | {"epsilon": positive("Adadelta", epsilon)}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, group.settings["epsilon"], group.settings["rho"]


_SQUARE = "mean_square = rho * mean_square + (T(1) - rho) * g * g\n"
_STEP = "momentum = fraction * momentum + lr * g / sqrt_of({} + epsilon)\np = p - momentum\n"
_NUMBERS = ("lr", "epsilon", "rho", "fraction")
_PLAIN = Rule("rmsprop", ("momentum", "mean_square"), _NUMBERS, _SQUARE + _STEP.format("mean_square"))
_CENTERED = Rule(
    "rmsprop_centered",
    ("momentum", "mean_square", "mean_grad"),
    _NUMBERS,
    _SQUARE + "mean_grad = rho * mean_grad + (T(1) - rho) * g\n" + _STEP.format("mean_square - mean_grad * mean_grad"),
)


class RMSProp(Optimizer):
    """Steps divided by the root of an average of squared gradients, `centered`: of their variance.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> rmsprop = d2s.optimizer.RMSProp(0.1, momentum=0.9, centered=True, parameters=layer.parameters())
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        rho: float = 0.95,
        epsilon: float = 1e-6,
        momentum: float = 0.0,
        centered: bool = False,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        settings = forgetting("RMSProp", rho=rho) | {"epsilon": positive("RMSProp", epsilon)}
        if not number("RMSProp", "momentum", momentum) >= 0:
            raise ArgumentError("D2S0004", f"RMSProp(): 'momentum' is {momentum}, below 0")
        settings |= {"momentum": momentum, "centered": centered}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def rule_of(self, parameter: Any, group: Group) -> Rule:
        return _CENTERED if group.settings["centered"] else _PLAIN

    def _state_names(self, parameter: Any, group: Group) -> tuple[str, ...]:
        return _CENTERED.state  # Paddle's files hold the mean gradient in any case

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        settings = group.settings
        return rate, settings["epsilon"], settings["rho"], settings["momentum"]
