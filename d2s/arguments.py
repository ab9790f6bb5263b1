"""Checks of arguments that say, with a code, which argument it is, what it is to be, and what came.

>>> expect("roll", "axis", 3, int, "an int")
>>> one_of("pad", "mode", "reflect", ["constant", "reflect"])
>>> number("SGD", "learning_rate", 2)
2.0
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, brief

_LARGEST = 2**1024 - 2**970  # the first int that rounds to infinity


def expect(function: str, name: str, value: Any, kinds: Any, words: str) -> None:
    """Refuses a value that is none of some classes."""
    if not isinstance(value, kinds):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects {words}, got {type(value).__name__}")


def one_of(function: str, name: str, value: Any, known: Iterable[str]) -> None:
    """Refuses what is none of some words."""
    if not isinstance(value, str) or value not in known:
        wanted = ", ".join(map(repr, known))
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, expected one of {wanted}")


def number(function: str, name: str, value: Any) -> float:
    """A real number, as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects a number, got {type(value).__name__}")
    if not -_LARGEST < value < _LARGEST and isinstance(value, int):  # no `try`: captured functions come here, too
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, too large for a float")
    return float(value)
