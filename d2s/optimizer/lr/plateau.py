"""A learning rate that falls when training gets nowhere.

>>> scheduler = ReduceOnPlateau(0.5, factor=0.5, patience=1)
>>> for loss in (1.0, 1.0, 1.0):
...     scheduler.step(loss)
>>> scheduler()
0.25
"""

from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError
from d2s.optimizer.lr.scheduler import LRScheduler, inside, one_of
from d2s.types import NUMBERS


class ReduceOnPlateau(LRScheduler):
    """`factor` times less when what is watched got no better for more than `patience` steps; not again for `cooldown`.

    Better is less (mode "min") or more ("max") than the best so far, by `threshold`: a share of it ("rel"), or not ("abs").

    >>> scheduler = d2s.optimizer.lr.ReduceOnPlateau(0.5, mode="max", patience=0)
    >>> scheduler.step(d2s.to_tensor(0.9))
    """

    keys = ("cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr")

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        self.mode = one_of("ReduceOnPlateau", "mode", mode, ("min", "max"))
        self.threshold_mode = one_of("ReduceOnPlateau", "threshold_mode", threshold_mode, ("rel", "abs"))
        self.factor = inside("ReduceOnPlateau", "factor", factor, -np.inf, 1)
        self.patience, self.threshold, self.cooldown = patience, threshold, cooldown
        self.min_lr, self.epsilon = min_lr, epsilon
        self.cooldown_counter, self.num_bad_epochs = 0, 0
        self.best: float | None = None
        super().__init__(learning_rate, -1, verbose)

    def step(self, metrics: Any = None, epoch: int | None = None) -> None:  # type: ignore[override]
        """Takes note of what is watched, such as a loss: a number, or a tensor of one."""
        if metrics is None and self.last_epoch == -1:
            self.last_epoch = 0
            return
        if epoch is not None:
            self._check_epoch(".step", "epoch", epoch)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        current = _watched(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        better = self.best is None or self._is_better(current, float(self.best))
        self.best = current if better else self.best
        self.num_bad_epochs = 0 if better else self.num_bad_epochs + 1
        if self.num_bad_epochs > self.patience:
            self._reduce()

    def _reduce(self) -> None:
        self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        reduced = max(self.last_lr * self.factor, self.min_lr)
        if self.last_lr - reduced > self.epsilon:
            self.last_lr = reduced
            self.say()

    def _is_better(self, current: float, best: float) -> bool:
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return current < best - margin if self.mode == "min" else current > best + margin


def _watched(metrics: Any) -> float:
    if isinstance(metrics, NUMBERS) and not isinstance(metrics, bool):
        return float(metrics)
    array = metrics if isinstance(metrics, np.ndarray) else getattr(metrics, "array", None)
    if array is None:
        got = type(metrics).__name__
        raise DTypeError("D2S0001", f"ReduceOnPlateau.step(): 'metrics' expects a number or a tensor of one, got {got}")
    if array.size != 1:
        raise ArgumentError("D2S0004", f"ReduceOnPlateau.step(): 'metrics' has shape {list(array.shape)}, expected one number")
    return float(array.item())
