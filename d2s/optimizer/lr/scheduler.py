"""`LRScheduler`: the learning rate as a function of the epoch, and the state it goes on from.

>>> class Halving(d2s.optimizer.lr.LRScheduler):
...     def get_lr(self):
...         return self.base_lr * 0.5**self.last_epoch
>>> halving = Halving(0.5)
>>> halving.step()
>>> halving(), halving.state_dict()
(0.25, {'last_epoch': 1, 'last_lr': 0.25})
"""

import operator
import warnings
from typing import Any

from d2s.arguments import expect, number
from d2s.errors import ArgumentError, DTypeError, brief


class LRScheduler:
    """The base of schedulers. A subclass defines `get_lr`, which reads `base_lr` and `last_epoch`."""

    keys: tuple[str, ...] = ("last_epoch", "last_lr")  # the state

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        function = type(self).__name__
        rate = number(function, "learning_rate", learning_rate)
        if rate < 0:
            raise ArgumentError("D2S0004", f"{function}(): 'learning_rate' is {learning_rate}, below 0")
        expect(function, "last_epoch", last_epoch, int, "an int")
        self._check_epoch("", "last_epoch", last_epoch)
        self.base_lr = self.last_lr = rate
        self.last_epoch, self.verbose = last_epoch, verbose
        self.step()

    def __call__(self) -> float:
        """The learning rate now."""
        return self.last_lr

    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch, or to the one given: behind each round through the data, or each batch."""
        if epoch is not None:
            self._check_epoch(".step", "epoch", epoch)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self.get_lr() if epoch is None else self.rate_of(epoch)
        self.say()

    def _check_epoch(self, method: str, name: str, epoch: Any) -> None:
        """Refuses what is no epoch; parts of one are taken, as batches count them."""
        function = f"{type(self).__name__}{method}"
        expect(function, name, epoch, int | float, "an int")
        if not -1 <= epoch < 1 << 31:
            raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(epoch)}, expected one from -1 on, below 2**31")

    def say(self) -> None:
        """Prints the new rate where the user wants to read it."""
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def rate_of(self, epoch: int) -> float:
        """The rate of an epoch that was given, and not reached step by step."""
        return self.get_lr()

    def state_dict(self) -> dict[str, Any]:
        """What the schedule goes on from."""
        return {key: getattr(self, key) for key in self.keys}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Goes on where `state_dict` was taken."""
        if not isinstance(state_dict, dict):
            got = type(state_dict).__name__
            raise DTypeError("D2S0001", f"set_state_dict() of a {type(self).__name__}: expects a dict, got {got}")
        for key in self.keys:
            if key not in state_dict:
                raise ArgumentError("D2S0004", f"set_state_dict() of a {type(self).__name__}: '{key}' is missing")
            setattr(self, key, state_dict[key])
        if len(state_dict) > len(self.state_dict()):
            warnings.warn(f"the state of a scheduler holds more than a {type(self).__name__} knows", stacklevel=2)

    def set_dict(self, state_dict: dict[str, Any]) -> None:
        """`set_state_dict()`."""
        self.set_state_dict(state_dict)


def inside(function: str, name: str, value: Any, least: float, most: float, ends: str = "()") -> float:
    """A number between two others; `ends` says which of them it may be: "[" and "]" if it may."""
    found = number(function, name, value)
    above = found >= least if ends[0] == "[" else found > least
    below = found <= most if ends[1] == "]" else found < most
    if not (above and below):
        raise ArgumentError(
            "D2S0004", f"{function}(): '{name}' is {value}, expected one of {ends[0]}{least:g}, {most:g}{ends[1]}"
        )
    return found


def count(function: str, name: str, value: Any) -> int:
    """An int of 1 or more."""
    try:
        found = operator.index(value)
    except TypeError:
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects an int, got {type(value).__name__}") from None
    if not 1 <= found < 1 << 63 or isinstance(value, bool):
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, expected an int of 1 or more, of 64 bits")
    return found


def one_of(function: str, name: str, value: Any, known: tuple[str, ...]) -> str:
    """One of some words."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(
            "D2S0004", f"{function}(): '{name}' is {brief(value)}, expected one of {', '.join(map(repr, known))}"
        )
    found: str = value
    return found


def function_of(function: str, name: str, value: Any) -> Any:
    """Something to call."""
    if not callable(value):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects a function, got {type(value).__name__}")
    return value
