"""Learning rates that only fall, or change at given epochs.

>>> exponential = ExponentialDecay(1.0, gamma=0.5)
>>> exponential.step()
>>> exponential()
0.5
"""

import itertools
import math
from collections.abc import Callable, Sequence

from d2s.arguments import expect, number
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.optimizer.lr.scheduler import LRScheduler, count, function_of, inside


class NoamDecay(LRScheduler):
    """`learning_rate * d_model^-0.5 * min(epoch^-0.5, epoch * warmup_steps^-1.5)`: up for a while, then slowly down.

    >>> d2s.optimizer.lr.NoamDecay(d_model=64, warmup_steps=10)()
    0.0
    """

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.d_model = count("NoamDecay", "d_model", d_model)
        self.warmup_steps = inside("NoamDecay", "warmup_steps", warmup_steps, 0, math.inf)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        falling = 1.0 if self.last_epoch == 0 else self.last_epoch**-0.5
        return self.base_lr * self.d_model**-0.5 * min(falling, self.warmup_steps**-1.5 * self.last_epoch)


class PiecewiseDecay(LRScheduler):
    """`values[k]` up to `boundaries[k]`, and the last value from then on.

    >>> d2s.optimizer.lr.PiecewiseDecay([3, 6], [0.3, 0.2, 0.1])()
    0.3
    """

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False) -> None:
        expect("PiecewiseDecay", "boundaries", boundaries, list | tuple, "a list of ints")
        expect("PiecewiseDecay", "values", values, list | tuple, "a list of numbers")
        if len(values) != len(boundaries) + 1:
            message = f"PiecewiseDecay(): {len(boundaries)} boundaries need {len(boundaries) + 1} values, not {len(values)}"
            raise ArgumentError("D2S0004", message)
        self.boundaries = [number("PiecewiseDecay", "boundaries", border) for border in boundaries]
        self.values = [number("PiecewiseDecay", "values", value) for value in values]
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        before = (value for border, value in zip(self.boundaries, self.values, strict=False) if self.last_epoch < border)
        return next(before, self.values[-1])


class NaturalExpDecay(LRScheduler):
    """`learning_rate * e^(-gamma * epoch)`.

    >>> d2s.optimizer.lr.NaturalExpDecay(0.5, gamma=0.1)()
    0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = inside("NaturalExpDecay", "gamma", gamma, 0, math.inf)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """`learning_rate / (1 + gamma * epoch)`.

    >>> d2s.optimizer.lr.InverseTimeDecay(0.5, gamma=0.1)()
    0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = number("InverseTimeDecay", "gamma", gamma)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From `learning_rate` to `end_lr` in `decay_steps` epochs, along a power; with `cycle`, again in twice as many, and so on.

    >>> d2s.optimizer.lr.PolynomialDecay(0.5, decay_steps=10)()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.decay_steps = count("PolynomialDecay", "decay_steps", decay_steps)
        self.end_lr = number("PolynomialDecay", "end_lr", end_lr)
        self.power, self.cycle = inside("PolynomialDecay", "power", power, 0, math.inf), cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rounds = max(1, math.ceil(self.last_epoch / self.decay_steps)) if self.cycle else 1
        epoch, steps = self.last_epoch if self.cycle else min(self.last_epoch, self.decay_steps), self.decay_steps * rounds
        return (self.base_lr - self.end_lr) * (1 - epoch / steps) ** self.power + self.end_lr


class ExponentialDecay(LRScheduler):
    """`learning_rate * gamma^epoch`.

    >>> d2s.optimizer.lr.ExponentialDecay(0.5, gamma=0.9)()
    0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = inside("ExponentialDecay", "gamma", gamma, 0, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        found: float = self.base_lr * self.gamma**self.last_epoch
        return found


class MultiStepDecay(LRScheduler):
    """`gamma` times less at each of the milestones.

    >>> d2s.optimizer.lr.MultiStepDecay(0.5, milestones=[30, 50])()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(milestones, list | tuple):
            raise DTypeError("D2S0001", f"MultiStepDecay(): 'milestones' expects a list, got {type(milestones).__name__}")
        for milestone in milestones:
            expect("MultiStepDecay", "milestones", milestone, int, "ints")
        if any(a >= b for a, b in itertools.pairwise(milestones)):
            raise ArgumentError(
                "D2S0004", f"MultiStepDecay(): 'milestones' are {brief(milestones)}, expected each above the last"
            )
        self.milestones, self.gamma = milestones, inside("MultiStepDecay", "gamma", gamma, -math.inf, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * float(self.gamma ** sum(self.last_epoch >= at for at in self.milestones))


class StepDecay(LRScheduler):
    """`gamma` times less every `step_size` epochs.

    >>> d2s.optimizer.lr.StepDecay(0.5, step_size=30)()
    0.5
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.step_size = count("StepDecay", "step_size", step_size)
        self.gamma = inside("StepDecay", "gamma", gamma, -math.inf, 1)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * float(self.gamma ** (self.last_epoch // self.step_size))


class LambdaDecay(LRScheduler):
    """`learning_rate * lr_lambda(epoch)`.

    >>> d2s.optimizer.lr.LambdaDecay(0.5, lambda epoch: 0.95**epoch)()
    0.5
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = function_of("LambdaDecay", "lr_lambda", lr_lambda)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * float(self.lr_lambda(self.last_epoch))


class MultiplicativeDecay(LRScheduler):
    """`lr_lambda(epoch)` times the rate of the epoch before.

    >>> d2s.optimizer.lr.MultiplicativeDecay(0.5, lambda epoch: 0.95)()
    0.5
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.lr_lambda = function_of("MultiplicativeDecay", "lr_lambda", lr_lambda)
        self._reached = (0, 0.0, 0.0)  # an epoch, its rate, and the rate all began with
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        first, found, begin = self._reached
        if first > self.last_epoch or begin != self.base_lr:
            first, found = 0, self.base_lr
        for epoch in range(first + 1, self.last_epoch + 1):
            found = found * self.lr_lambda(epoch)
        self._reached = max(first, self.last_epoch, 0), found, self.base_lr
        return found


class LinearLR(LRScheduler):
    """From `start_factor` to `end_factor` times the rate in `total_steps` epochs, in equal steps.

    >>> d2s.optimizer.lr.LinearLR(0.5, total_steps=5, start_factor=0.5)()
    0.25
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.total_steps = count("LinearLR", "total_steps", total_steps)
        self.start_factor = inside("LinearLR", "start_factor", start_factor, 0, 1, "(]")
        self.end_factor = inside("LinearLR", "end_factor", end_factor, 0, 1, "[]")
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        change = self.end_factor - self.start_factor
        return self.last_lr * (1.0 + change / (self.total_steps * self.start_factor + (self.last_epoch - 1) * change))
