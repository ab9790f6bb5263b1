"""Optimizers that Paddle gave up later, or changed: Ftrl, LarsMomentum, Adagrad that forgets, Adadelta, Lamb.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> (p * 2.0).sum().backward()
>>> DecayedAdagrad(0.5, decay=0.75, parameters=[p]).step()
>>> round(p.item(), 5)
0.0
"""

from collections.abc import Sequence
from typing import Any

from d2s import optimizer
from d2s.errors import ArgumentError
from d2s.optimizer import adaptive
from d2s.optimizer.groups import Group, Slot
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer, Where
from d2s.optimizer.update import Rule


class Adam(optimizer.Adam):
    """An `epsilon` that a script gives is added as it is, as 1.x did; today's grows with the steps.

    The one nobody gives is today's, so that all generations train alike, bit for bit.
    """

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        corrected, epsilon, *betas = super().numbers(slot, group, rate)
        own = group.settings["epsilon"]
        return corrected, epsilon if own == 1e-8 else own, *betas


class Adadelta(adaptive.Adadelta):
    """The steps as they come out, whatever the learning rate is, by an average that the step itself has moved."""

    rule = adaptive.Adadelta.rule._replace(
        name="adadelta_of_1x",
        element=adaptive.Adadelta.rule.element.replace(
            "p = p - lr * change", "p = p - sqrt_of((_avg_squared_update + epsilon) / (_avg_squared_grad + epsilon)) * g"
        ),
    )


class Lamb(optimizer.Lamb):
    """Moments as they are, not corrected for their beginning; parameters without a decay have steps of their length, too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **(kwargs | {"always_adapt": True}))

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        epsilon, *betas, _, _, fade = super().numbers(slot, group, rate)
        return epsilon, *betas, 1.0, 1.0, fade


class LarsMomentum(Optimizer):
    """Momentum with steps as long as the parameter is, by the length of its gradient.

    >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
    >>> (p * 2.0).sum().backward()
    >>> LarsMomentum(0.5, 0.9, lars_coeff=0.5, lars_weight_decay=1.0, parameters=[p]).step()
    >>> p.tolist()
    [0.75]
    """

    lengths = ("p", "g")
    rule = Rule(
        "lars",
        ("velocity",),
        ("lr", "momentum", "fade"),
        "velocity = momentum * velocity + lr * (g + fade * p)\np = p - velocity\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        momentum: float,
        lars_coeff: float = 0.001,
        lars_weight_decay: float = 0.0005,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        settings = {"momentum": momentum, "coeff": lars_coeff, "fade": lars_weight_decay}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return group.settings["momentum"], group.settings["fade"]

    def to_adapt(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, rate * group.settings["coeff"], group.settings["fade"]

    def adapted(self, told: Sequence[Any], lengths: Sequence[Any], where: Where) -> Any:
        (rate, scaled, fade), (own, steep) = told, lengths
        ratio = own * scaled / where(own * fade > 0, steep + own * fade, 1.0)
        return where(own * fade > 0, where(steep > 0, ratio, rate), rate)


class DecayedAdagrad(Optimizer):
    """Steps divided by the root of an average of squared gradients."""

    rule = Rule(
        "decayed_adagrad",
        ("moment",),
        ("lr", "forget", "epsilon"),
        "moment = forget * moment + (T(1) - forget) * g * g\np = p - lr * g / (sqrt_of(moment) + epsilon)\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        decay: float = 0.95,
        epsilon: float = 1e-6,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        settings = {"forget": decay, "epsilon": epsilon}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, group.settings["forget"], group.settings["epsilon"]


class Ftrl(Optimizer):
    """Follows the leader that regularization allows: weights that matter little become 0.

    >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
    >>> (p * 2.0).sum().backward()
    >>> Ftrl(0.5, l1=9.0, parameters=[p]).step()
    >>> p.tolist()
    [0.0]
    """

    rule = Rule(
        "ftrl",
        ("squared", "linear"),
        ("lr", "l1", "l2"),
        "total = squared + g * g\n"
        "linear = linear + g - (sqrt_of(total) - sqrt_of(squared)) / lr * p\n"
        "bound = select(linear > 0, l1, select(linear < 0, -l1, T(0)))\n"
        "far = select(linear > 0, linear, -linear) > l1\n"
        "p = select(far, (bound - linear) / (sqrt_of(total) / lr + T(2) * l2), T(0))\n"
        "squared = total\n",
    )

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        l1: float = 0.0,
        l2: float = 0.0,
        lr_power: float = -0.5,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        name: str | None = None,
    ) -> None:
        if lr_power != -0.5:
            raise ArgumentError("D2S0004", f"Ftrl(): 'lr_power' is {lr_power}, d2s has -0.5 only")
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, {"l1": l1, "l2": l2})

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, group.settings["l1"], group.settings["l2"]
