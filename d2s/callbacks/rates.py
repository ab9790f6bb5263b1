"""Learning rates that change while a model is trained.

>>> LRScheduler(by_step=False, by_epoch=True).by_epoch
True
"""

import warnings
from typing import Any

from d2s.arguments import expect, number
from d2s.callbacks.callback import Callback, watched
from d2s.callbacks.checkpoints import rises
from d2s.errors import ArgumentError, brief
from d2s.optimizer import lr


class LRScheduler(Callback):
    """Steps the scheduler of the optimizer, if it has one, behind each batch or each epoch."""

    def __init__(self, by_step: bool = True, by_epoch: bool = False) -> None:
        super().__init__()
        if by_step and by_epoch:
            raise ArgumentError("D2S0004", "LRScheduler(): by_step and by_epoch are both True, expected one of them")
        self.by_step, self.by_epoch = by_step, by_epoch

    def _step(self) -> None:
        rate = getattr(self.model._optimizer, "_learning_rate", None)
        if isinstance(rate, lr.LRScheduler):
            rate.step()

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.by_epoch:
            self._step()

    def on_train_batch_end(self, step: int, logs: dict[str, Any] | None = None) -> None:
        if self.by_step:
            self._step()


class ReduceLROnPlateau(Callback):
    """Multiplies the learning rate by `factor` when `patience` evaluations in a row did not better what is watched.

    Behind that, `cooldown` evaluations count as nothing; the rate does not fall below `min_lr`.

    >>> reduce = d2s.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=2)
    """

    def __init__(
        self,
        monitor: str = "loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 1,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__()
        self.rises = rises("ReduceLROnPlateau", mode, monitor)
        for name, count in (("patience", patience), ("cooldown", cooldown)):
            expect("ReduceLROnPlateau", name, count, int, "an int")
        if not 0 <= number("ReduceLROnPlateau", "factor", factor) < 1:
            raise ArgumentError("D2S0004", f"ReduceLROnPlateau(): 'factor' is {brief(factor)}, expected 0 to below 1")
        self.monitor, self.factor, self.patience, self.verbose = monitor, factor, patience, verbose
        self.min_delta = number("ReduceLROnPlateau", "min_delta", min_delta)
        self.cooldown, self.min_lr = cooldown, number("ReduceLROnPlateau", "min_lr", min_lr)
        self._begin()

    def _begin(self) -> None:
        self.wait = self.cooldown_counter = self.epoch = 0
        self.best = float("-inf") if self.rises else float("inf")

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._begin()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.epoch = epoch

    def _better(self, value: float) -> bool:
        return value > self.best + self.min_delta if self.rises else value < self.best - self.min_delta

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        value = watched(logs, self.monitor)
        if value is None:
            warnings.warn(f"ReduceLROnPlateau watches '{self.monitor}', which no evaluation says", stacklevel=2)
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter, self.wait = self.cooldown_counter - 1, 0
        if self._better(value):
            self.best, self.wait = value, 0
        elif self.cooldown_counter == 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce()

    def _reduce(self) -> None:
        optimizer = self.model._optimizer
        before = optimizer.get_lr()
        if before <= self.min_lr:
            return
        optimizer.set_lr(max(before * self.factor, self.min_lr))
        self.cooldown_counter, self.wait = self.cooldown, 0
        if self.verbose > 0:
            print(f"Epoch {self.epoch + 1}: the learning rate is reduced to {optimizer.get_lr():.6g}")
