"""A learning rate that rises at first, then is another's.

>>> scheduler = LinearWarmup(0.5, warmup_steps=2, start_lr=0.0, end_lr=0.5)
>>> scheduler.step()
>>> scheduler()
0.25
"""

from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, DTypeError
from d2s.optimizer.lr.scheduler import LRScheduler, count
from d2s.types import NUMBERS


class LinearWarmup(LRScheduler):
    """From `start_lr` to `end_lr` in `warmup_steps` epochs, then `learning_rate`: a number, or a scheduler that begins there.

    >>> decay = d2s.optimizer.lr.StepDecay(0.5, step_size=3)
    >>> d2s.optimizer.lr.LinearWarmup(decay, warmup_steps=10, start_lr=0.0, end_lr=0.5)()
    0.0
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        if not isinstance(learning_rate, (*NUMBERS, LRScheduler)) or isinstance(learning_rate, bool):
            got = type(learning_rate).__name__
            raise DTypeError("D2S0001", f"LinearWarmup(): 'learning_rate' expects a number or an LRScheduler, got {got}")
        if not number("LinearWarmup", "end_lr", end_lr) > number("LinearWarmup", "start_lr", start_lr):
            raise ArgumentError("D2S0004", f"LinearWarmup(): 'end_lr' is {end_lr}, not above 'start_lr', which is {start_lr}")
        self.learning_rate, self.warmup_steps = learning_rate, count("LinearWarmup", "warmup_steps", warmup_steps)
        self.start_lr, self.end_lr = start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return float(self.learning_rate)

    def state_dict(self) -> dict[str, Any]:
        """What both schedules go on from."""
        found = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            found["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return found

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler) and "LinearWarmup_LR" in state_dict:
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])
