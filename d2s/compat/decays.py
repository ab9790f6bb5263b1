"""Decays of the learning rate as 1.x and 2.0 alpha had them: the step that counts is that of the optimizer.

In: numbers. Out: a schedule, which `minimize` takes on by itself, and a run of a declared program. Those of the last part count
epochs, which the user says. What `fluid.layers` declares stands in declared_rates.py.

>>> ExponentialDecay(1.0, 2, 0.5)(), StepDecay(0.5, 1).epoch()
(1.0, None)
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.optimizer import lr
from d2s.optimizer.lr import LRScheduler


class Decay(LRScheduler):
    """A learning rate that follows from the number of steps an optimizer has done."""

    def __init__(self, rate: Callable[[int], float], begin: int = 0, step: int = 1) -> None:
        self._rate, self._begin, self._step = rate, begin, step
        super().__init__(float(rate(begin)))

    @property
    def count(self) -> int:
        """The steps counted, from where they begin: what a file keeps."""
        return self._begin + self.last_epoch * self._step

    @count.setter
    def count(self, count: int) -> None:
        self.step((count - self._begin) // self._step)

    def at(self, count: int) -> float:
        """The rate behind so many steps."""
        return float(self._rate(self._begin + count * self._step))

    def get_lr(self) -> float:
        return self.at(self.last_epoch)


def _progress(step: int, steps: float, staircase: bool) -> float:
    return math.floor(step / steps) if staircase else step / steps


def ExponentialDecay(
    learning_rate: float,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    begin: int = 0,
    step: int = 1,
    dtype: Any = "float32",
) -> Decay:
    """`learning_rate * decay_rate ** (step / decay_steps)`."""
    return Decay(lambda n: learning_rate * decay_rate ** _progress(n, decay_steps, staircase), begin, step)


def NaturalExpDecay(
    learning_rate: float,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    begin: int = 0,
    step: int = 1,
    dtype: Any = "float32",
) -> Decay:
    """`learning_rate * exp(-decay_rate * step / decay_steps)`."""
    return Decay(lambda n: learning_rate * math.exp(-decay_rate * _progress(n, decay_steps, staircase)), begin, step)


def InverseTimeDecay(
    learning_rate: float,
    decay_steps: float,
    decay_rate: float,
    staircase: bool = False,
    begin: int = 0,
    step: int = 1,
    dtype: Any = "float32",
) -> Decay:
    """`learning_rate / (1 + decay_rate * step / decay_steps)`."""
    return Decay(lambda n: learning_rate / (1 + decay_rate * _progress(n, decay_steps, staircase)), begin, step)


def PolynomialDecay(
    learning_rate: float,
    decay_steps: int,
    end_learning_rate: float = 0.0001,
    power: float = 1.0,
    cycle: bool = False,
    begin: int = 0,
    step: int = 1,
    dtype: Any = "float32",
) -> Decay:
    """From one rate to another, along a power; with `cycle`, again in twice as many steps, and so on."""

    def rate(n: int) -> float:
        whole = decay_steps * max(1, math.ceil(n / decay_steps)) if cycle else decay_steps
        return float((learning_rate - end_learning_rate) * (1 - min(n, whole) / whole) ** power + end_learning_rate)

    return Decay(rate, begin, step)


def PiecewiseDecay(
    boundaries: Sequence[int], values: Sequence[float], begin: int = 0, step: int = 1, dtype: Any = "float32"
) -> Decay:
    """One rate up to each boundary, and another behind it."""
    return Decay(lambda n: values[sum(n >= b for b in boundaries)], begin, step)


def NoamDecay(
    d_model: float,
    warmup_steps: float,
    begin: int = 1,
    step: int = 1,
    dtype: Any = "float32",
    learning_rate: float = 1.0,
) -> Decay:
    """Up for some steps, then down with the root of their number."""
    return Decay(lambda n: learning_rate * d_model**-0.5 * min(max(n, 1) ** -0.5, n * warmup_steps**-1.5), begin, step)


def CosineDecay(
    learning_rate: float, step_each_epoch: int, epochs: int, begin: int = 0, step: int = 1, dtype: Any = "float32"
) -> Decay:
    """Half a wave of the cosine over some epochs."""
    return Decay(
        lambda n: learning_rate * 0.5 * (math.cos(math.floor(n / step_each_epoch) * math.pi / epochs) + 1), begin, step
    )


def LinearLrWarmup(
    learning_rate: Any,
    warmup_steps: int,
    start_lr: float,
    end_lr: float,
    begin: int = 1,
    step: int = 1,
    dtype: Any = "float32",
) -> Decay:
    """In a line from one rate to another, then a third, or a decay, which has counted all steps."""

    def rate(n: int) -> float:
        if n < warmup_steps:
            return start_lr + (end_lr - start_lr) * n / warmup_steps
        return learning_rate.at((n - begin) // step) if isinstance(learning_rate, Decay) else float(learning_rate)

    return Decay(rate, begin, step)


DECAYS: list[Any] = [ExponentialDecay, NaturalExpDecay, InverseTimeDecay, PolynomialDecay, PiecewiseDecay, NoamDecay]
DECAYS += [CosineDecay, LinearLrWarmup]


# --- by epochs, as 1.8 had them ----------------------------------------------------------------------------------------------


class StepDecay(lr.StepDecay):
    """Less behind every so many epochs; `epoch()` says that one is over."""

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, step_size, decay_rate)

    epoch = LRScheduler.step


class MultiStepDecay(lr.MultiStepDecay):
    """Less behind each of some epochs."""

    def __init__(self, learning_rate: float, milestones: Sequence[int], decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, milestones, decay_rate)

    epoch = LRScheduler.step


class LambdaDecay(lr.LambdaDecay):
    """A function of the epoch says what part of the rate is left."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float]) -> None:
        super().__init__(learning_rate, lr_lambda)

    epoch = LRScheduler.step


class ReduceLROnPlateau(lr.ReduceOnPlateau):
    """Less where a loss gets no smaller; `step(loss)` tells it."""

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        decay_rate: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        eps: float = 1e-8,
        dtype: Any = "float32",
    ) -> None:
        super().__init__(learning_rate, mode, decay_rate, patience, threshold, threshold_mode, cooldown, min_lr, eps, verbose)


BY_EPOCHS = (StepDecay, MultiStepDecay, LambdaDecay, ReduceLROnPlateau)
