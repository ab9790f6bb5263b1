"""Lamb: Adam's step, made as long as the parameter is, for large batches.

>>> layer = d2s.nn.Linear(2, 1)
>>> layer(d2s.to_tensor([[1.0, 1.0]])).sum().backward()
>>> d2s.optimizer.Lamb(0.01, parameters=layer.parameters()).step()
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from d2s.errors import DTypeError
from d2s.optimizer.adam import MOMENTS, forgetting, positive, share
from d2s.optimizer.groups import Group, Slot
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer, Where
from d2s.optimizer.update import Rule

_DIRECTION = Rule(
    "lamb_direction",
    ("moment1", "moment2", "direction"),
    ("epsilon", "beta1", "beta2", "first", "second", "fade"),
    MOMENTS + "direction = moment1 / first / (sqrt_of(moment2 / second) + epsilon) + fade * p\n",
)
_STEP = Rule("lamb_step", ("direction",), ("lr",), "p = p - lr * direction\n")


class Lamb(Optimizer):
    """A step in the direction `r` of Adam with a decay, of the length `learning_rate * |p| / |r|`.

    >>> layer = d2s.nn.Linear(2, 1)
    >>> no_bias = lambda p: ".b_" in p.name
    >>> lamb = d2s.optimizer.Lamb(1e-2, parameters=layer.parameters(), exclude_from_weight_decay_fn=no_bias)
    """

    powers: ClassVar[dict[str, str]] = {"beta1_pow_acc": "beta1", "beta2_pow_acc": "beta2"}
    rule, scratch = _DIRECTION, ("direction",)
    last, lengths = _STEP, ("p", "direction")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        lamb_weight_decay: float = 0.01,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-6,
        parameters: Any = None,
        grad_clip: Any = None,
        exclude_from_weight_decay_fn: Callable[[Any], bool] | None = None,
        multi_precision: bool = False,
        always_adapt: bool = False,
        name: str | None = None,
    ) -> None:
        if exclude_from_weight_decay_fn is not None and not callable(exclude_from_weight_decay_fn):
            got = type(exclude_from_weight_decay_fn).__name__
            raise DTypeError("D2S0001", f"Lamb(): 'exclude_from_weight_decay_fn' expects a function, got {got}")
        self._excluded, self._always = exclude_from_weight_decay_fn, always_adapt
        settings = forgetting("Lamb", beta1=beta1, beta2=beta2) | {"epsilon": positive("Lamb", epsilon)}
        settings["lamb_weight_decay"] = share("Lamb", "lamb_weight_decay", lamb_weight_decay)
        super().__init__(learning_rate, parameters, None, grad_clip, name, settings)

    def _fade(self, slot: Slot, group: Group) -> float:
        excluded = self._excluded is not None and self._excluded(slot.parameter)
        return 0.0 if excluded else group.settings["lamb_weight_decay"]

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        settings, powers = group.settings, [float(slot.state[name].array[0]) for name in self.powers]
        first, second = (1 - power for power in powers)
        return settings["epsilon"], settings["beta1"], settings["beta2"], first, second, self._fade(slot, group)

    def to_adapt(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, float(self._always or self._fade(slot, group) > 0)

    def adapted(self, told: Sequence[Any], lengths: Sequence[Any], where: Where) -> Any:
        (rate, adapts), (own, wanted) = told, lengths
        ratio = where(wanted > 0, own / where(wanted > 0, wanted, 1.0), 1.0)
        return where(own * adapts > 0, ratio, 1.0) * rate
