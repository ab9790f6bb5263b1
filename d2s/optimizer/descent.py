"""SGD, and SGD with momentum.

>>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
>>> momentum = d2s.optimizer.Momentum(0.5, momentum=0.5, parameters=[p])
>>> for _ in range(2):
...     (p * 1.0).sum().backward()
...     momentum.step()
...     momentum.clear_grad()
>>> p.tolist()
[-0.25]
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError
from d2s.optimizer.groups import Group, Slot
from d2s.optimizer.lr import LRScheduler
from d2s.optimizer.optimizer import Optimizer
from d2s.optimizer.update import Rule


class SGD(Optimizer):
    """`p = p - learning_rate * g`.

    >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
    >>> (p * 2.0).sum().backward()
    >>> d2s.optimizer.SGD(0.25, parameters=[p]).step()
    >>> p.tolist()
    [0.5]
    """

    rule = Rule("sgd", (), ("lr",), "p = p - lr * g\n")

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        parameters: Any = None,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return (rate,)


_VELOCITY = "velocity = momentum * velocity + g * scale\n"
_PLAIN = Rule("momentum", ("velocity",), ("lr", "momentum", "scale"), _VELOCITY + "p = p - lr * velocity\n")
_AHEAD = _PLAIN._replace(name="nesterov", element=_VELOCITY + "p = p - (g * scale + momentum * velocity) * lr\n")


class Momentum(Optimizer):
    """`v = momentum * v + g`, `p = p - learning_rate * v`; with `use_nesterov`, `p = p - learning_rate * (g + momentum * v)`.

    >>> p = d2s.nn.Parameter(np.ones(1, "float32"), stop_gradient=False)
    >>> (p * 2.0).sum().backward()
    >>> d2s.optimizer.Momentum(0.25, momentum=0.5, parameters=[p], use_nesterov=True).step()
    >>> p.tolist()
    [0.25]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler = 0.001,
        momentum: float = 0.9,
        parameters: Any = None,
        use_nesterov: bool = False,
        weight_decay: Any = None,
        grad_clip: Any = None,
        multi_precision: bool = False,
        rescale_grad: float = 1.0,
        use_multi_tensor: bool = False,
        name: str | None = None,
    ) -> None:
        if momentum is None:
            raise ArgumentError("D2S0004", "Momentum(): 'momentum' is missing")
        settings = {"momentum": momentum, "use_nesterov": use_nesterov, "rescale_grad": rescale_grad}
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name, settings)

    def rule_of(self, parameter: Any, group: Group) -> Rule:
        return _AHEAD if group.settings["use_nesterov"] else _PLAIN

    def numbers(self, slot: Slot, group: Group, rate: float) -> Sequence[float]:
        return rate, group.settings["momentum"], group.settings["rescale_grad"]
