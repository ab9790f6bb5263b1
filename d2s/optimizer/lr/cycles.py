"""Learning rates that rise and fall.

>>> cosine = CosineAnnealingDecay(1.0, T_max=2)
>>> cosine.step()
>>> cosine()
0.5
"""

import math
from collections.abc import Callable
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError
from d2s.optimizer.lr.scheduler import LRScheduler, count, function_of, inside, one_of


class CosineAnnealingDecay(LRScheduler):
    """From `learning_rate` to `eta_min` and back along a cosine, `T_max` epochs each way.

    >>> d2s.optimizer.lr.CosineAnnealingDecay(0.5, T_max=10)()
    0.5
    """

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        self.T_max = count("CosineAnnealingDecay", "T_max", T_max)
        self.eta_min = number("CosineAnnealingDecay", "eta_min", eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """From the rate before, so that it goes on from whatever that was set to."""
        if self.last_epoch == 0:
            return self.base_lr
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        return self._height(self.last_epoch) / self._height(self.last_epoch - 1) * (self.last_lr - self.eta_min) + self.eta_min

    def rate_of(self, epoch: int) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * self._height(epoch) / 2

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine in `T_0` epochs, then anew, in `T_mult` times as many each time.

    >>> d2s.optimizer.lr.CosineAnnealingWarmRestarts(0.5, T_0=10, T_mult=2)()
    0.5
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.T_0 = self.T_i = count("CosineAnnealingWarmRestarts", "T_0", T_0)
        self.T_mult, self.T_cur = count("CosineAnnealingWarmRestarts", "T_mult", T_mult), last_epoch
        self.eta_min = number("CosineAnnealingWarmRestarts", "eta_min", eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch, or to the one given."""
        if epoch is not None:
            self._check_epoch(".step", "epoch", epoch)
        at = self.last_epoch + 1 if epoch is None else epoch
        if at < 0:
            raise ArgumentError("D2S0004", f"CosineAnnealingWarmRestarts.step(): 'epoch' is {epoch}, below 0")
        self.T_cur, self.T_i = at, self.T_0
        while self.T_cur >= self.T_i and self.T_mult > 1:
            self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        if self.T_mult == 1:
            self.T_cur %= self.T_0
        self.last_epoch, self.last_lr = at, self.get_lr()
        self.say()


class OneCycleLR(LRScheduler):
    """Up from `max_learning_rate / divide_factor` in a share `phase_pct` of `total_steps`, and down to `end_learning_rate`.

    With `three_phase`, down to the beginning first, as fast as up, and to the end in the rest.

    >>> round(d2s.optimizer.lr.OneCycleLR(max_learning_rate=0.5, total_steps=10, divide_factor=5.0)(), 6)
    0.1
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        self.total_steps = count("OneCycleLR", "total_steps", total_steps)
        self.max_lr = inside("OneCycleLR", "max_learning_rate", max_learning_rate, 0, math.inf, "[)")
        self.min_lr = inside("OneCycleLR", "end_learning_rate", end_learning_rate, 0, math.inf, "[)")
        share = inside("OneCycleLR", "phase_pct", phase_pct, 0, 1, "[]")
        self.anneal_strategy = one_of("OneCycleLR", "anneal_strategy", anneal_strategy, ("cos", "linear"))
        begin = self.max_lr / inside("OneCycleLR", "divide_factor", divide_factor, 0, math.inf, "()")
        self._turns, self._rates = self._course(share, begin, three_phase)
        super().__init__(begin, last_epoch, verbose)

    def _course(self, share: float, begin: float, three_phase: bool) -> tuple[list[float], list[float]]:
        """The epochs at which the rate turns, and what it is there."""
        last = self.total_steps - 1
        if not three_phase:
            return [0, share * self.total_steps - 1, last], [begin, self.max_lr, self.min_lr]
        if share >= 0.5:
            raise ArgumentError("D2S0004", f"OneCycleLR(): 'phase_pct' is {share}, of three phases it is below 0.5")
        turns = [0, share * self.total_steps - 1, 2 * share * self.total_steps - 2, last]
        return turns, [begin, self.max_lr, begin, self.min_lr]

    def get_lr(self) -> float:
        if self.last_epoch > self.total_steps:
            message = f"OneCycleLR.step(): {self.last_epoch} steps, and the cycle has {self.total_steps}"
            raise ArgumentError("D2S0004", message)
        phases = len(self._turns) - 1
        k = next((k for k in range(phases) if self.last_epoch <= self._turns[k + 1]), phases - 1)
        done = (self.last_epoch - self._turns[k]) / (self._turns[k + 1] - self._turns[k])
        return self._between(self._rates[k], self._rates[k + 1], done)

    def _between(self, start: float, end: float, done: float) -> float:
        if self.anneal_strategy == "cos":
            return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)
        return done * (end - start) + start


class CyclicLR(LRScheduler):
    """Between two rates, up in `step_size_up` epochs and down in `step_size_down`, again and again; `mode` says how high.

    "triangular": always as high; "triangular2": half as high each time; "exp_range": `exp_gamma^epoch` times as high; or
    `scale_fn` of the number of the cycle or, with scale_mode="iterations", of the epoch.

    >>> d2s.optimizer.lr.CyclicLR(0.1, 0.5, step_size_up=4)()
    0.1
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        up = count("CyclicLR", "step_size_up", step_size_up)
        down = up if step_size_down is None else count("CyclicLR", "step_size_down", step_size_down)
        self.cycle_size, self.step_up_pct = float(up + down), up / float(up + down)
        self.max_lr = inside("CyclicLR", "max_learning_rate", max_learning_rate, 0, math.inf, "[)")
        low = number("CyclicLR", "base_learning_rate", base_learning_rate)
        if self.max_lr < low:
            raise ArgumentError("D2S0004", "CyclicLR(): 'max_learning_rate' is below 'base_learning_rate'")
        self.scale_mode = one_of("CyclicLR", "scale_mode", scale_mode, ("cycle", "iterations"))
        self.amplitude, self.exp_gamma = self.max_lr - low, number("CyclicLR", "exp_gamma", exp_gamma)
        self._scale: Any = None if scale_fn is None else function_of("CyclicLR", "scale_fn", scale_fn)
        self.mode = mode if self._scale else one_of("CyclicLR", "mode", mode, ("triangular", "triangular2", "exp_range"))
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        cycle = 1 + self.last_epoch // self.cycle_size
        done = 1.0 + self.last_epoch / self.cycle_size - cycle
        height = done / self.step_up_pct if done <= self.step_up_pct else (1 - done) / (1 - self.step_up_pct)
        return self.base_lr + self.amplitude * height * self._height(cycle)

    def _height(self, cycle: float) -> float:
        if self._scale is not None:
            return float(self._scale(cycle if self.scale_mode == "cycle" else self.last_epoch))
        if self.mode == "exp_range":
            return float(self.exp_gamma**self.last_epoch)
        return 1.0 if self.mode == "triangular" else 1 / (2.0 ** (cycle - 1))
