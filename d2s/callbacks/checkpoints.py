"""Files of a model as it is trained, and when to end.

>>> EarlyStopping("acc", patience=2).better(0.9, 0.8)
True
"""

import os
import warnings
from typing import Any

from d2s.arguments import expect, number
from d2s.callbacks.callback import Callback, watched
from d2s.errors import ArgumentError, brief


class ModelCheckpoint(Callback):
    """Saves the model behind each `save_freq`-th epoch as `save_dir`/epoch, and in the end as `save_dir`/final."""

    def __init__(self, save_freq: int = 1, save_dir: str | None = None) -> None:
        super().__init__()
        expect("ModelCheckpoint", "save_freq", save_freq, int, "an int")
        expect("ModelCheckpoint", "save_dir", save_dir, str | os.PathLike | None, "a folder")
        if save_freq < 1:
            raise ArgumentError("D2S0004", f"ModelCheckpoint(): 'save_freq' is {brief(save_freq)}, expected 1 or more")
        self.save_freq, self.save_dir = save_freq, save_dir

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        if self.save_dir is not None and epoch % self.save_freq == 0:
            self.model.save(os.path.join(self.save_dir, str(epoch)))

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        if self.save_dir is not None:
            self.model.save(os.path.join(self.save_dir, "final"))


def rises(function: str, mode: str, monitor: str) -> bool:
    """Whether more of what is watched is better; "auto" knows it of accuracies and areas."""
    if not isinstance(mode, str) or mode not in ("auto", "min", "max"):
        raise ArgumentError("D2S0004", f"{function}(): 'mode' is {brief(mode)}, expected 'auto', 'min' or 'max'")
    expect(function, "monitor", monitor, str, "the name of a loss or metric")
    return mode == "max" or (mode == "auto" and ("acc" in monitor or monitor in ("auc", "precision", "recall")))


class EarlyStopping(Callback):
    """Ends a `fit` when so many evaluations in a row (`patience`; 0 counts as 1) did not better what is watched.

    Better is what is more than `min_delta` better than the best so far, which begins as `baseline`. The best model is saved
    as `best_model` in the `save_dir` of `fit`.

    >>> stop = d2s.callbacks.EarlyStopping("loss", patience=3)
    """

    def __init__(
        self,
        monitor: str = "loss",
        mode: str = "auto",
        patience: int = 0,
        verbose: int = 1,
        min_delta: float = 0,
        baseline: float | None = None,
        save_best_model: bool = True,
    ) -> None:
        super().__init__()
        expect("EarlyStopping", "patience", patience, int, "an int")
        self.monitor, self.patience, self.verbose = monitor, patience, verbose
        self.rises = rises("EarlyStopping", mode, monitor)
        self.min_delta = abs(number("EarlyStopping", "min_delta", min_delta))
        self.baseline = None if baseline is None else number("EarlyStopping", "baseline", baseline)
        self.save_best_model = save_best_model
        self.save_dir: str | None = None
        self._begin()

    def _begin(self) -> None:
        self.wait_epoch = self.stopped_epoch = 0
        worst = float("-inf") if self.rises else float("inf")
        self.best_value = worst if self.baseline is None else self.baseline

    def better(self, value: float, than: float) -> bool:
        return value - self.min_delta > than if self.rises else value + self.min_delta < than

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        self._begin()

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        self.stopped_epoch = epoch

    def on_eval_end(self, logs: dict[str, Any] | None = None) -> None:
        value = watched(logs, self.monitor)
        if value is None:
            warnings.warn(f"EarlyStopping watches '{self.monitor}', which no evaluation says", stacklevel=2)
        elif self.better(value, self.best_value):
            self.best_value, self.wait_epoch = value, 0
            if self.save_best_model and self.save_dir is not None:
                self.model.save(os.path.join(self.save_dir, "best_model"))
        else:
            self.wait_epoch += 1
            if self.wait_epoch >= self.patience:
                self._stop()

    def _stop(self) -> None:
        self.model.stop_training = True
        if self.verbose > 0:
            best = f"{self.monitor} was at best {self.best_value:.5g}"
            print(f"Epoch {self.stopped_epoch + 1}: training stops early; {best}")
