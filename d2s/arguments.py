"""Checks of arguments that say, with a code, which argument it is, what it is to be, and what came; and Paddle's `name=`.

>>> expect("roll", "axis", 3, int, "an int")
>>> one_of("pad", "mode", "reflect", ["constant", "reflect"])
>>> number("SGD", "learning_rate", 2)
2.0
"""

import functools
import inspect
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, brief, kind_of

_LARGEST = 2**1024 - 2**970  # the first int that rounds to infinity


def expect(function: str, name: str, value: Any, kinds: Any, words: str) -> None:
    """Refuses a value that is none of some classes."""
    if not isinstance(value, kinds):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects {words}, got {kind_of(value)}")


def one_of(function: str, name: str, value: Any, known: Iterable[str]) -> None:
    """Refuses what is none of some words."""
    if not isinstance(value, str) or value not in known:
        wanted = ", ".join(map(repr, known))
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, expected one of {wanted}")


def number(function: str, name: str, value: Any) -> float:
    """A real number, as a float."""
    if type(value) is float:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects a number, got {kind_of(value)}")
    if isinstance(value, int) and not -_LARGEST < value < _LARGEST:  # no `try`: captured functions come here, too
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, too large for a float")
    return float(value)


# --- name=: a label all of Paddle's functions take, and of which nothing comes


def unlabelled(named: dict[str, Any]) -> dict[str, Any]:
    """Arguments without Paddle's `name`."""
    if not isinstance(named["name"], str | None):
        raise ArgumentError("D2S0004", f"'name' is {brief(named['name'])}, expected a string or None")
    return {key: value for key, value in named.items() if key != "name"}


def unlabelled_behind(values: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """Positional arguments of a function of so many, without the `name` that Paddle takes behind them.

    >>> unlabelled_behind((1, 2, "sum"), 2)
    (1, 2)
    """
    return values[:-1] if count >= 0 and len(values) == count + 1 and isinstance(values[-1], str | None) else values


@functools.cache
def labelled(function: types.FunctionType) -> Callable[..., Any]:
    """The function, which takes `name=`, too. In its module it takes the place of the one that does not.

    >>> def twice(x):
    ...     return 2 * x
    >>> labelled(twice)(3, name="doubled")
    6
    """
    without, cut = unlabelled, unlabelled_behind
    count = -1 if function.__code__.co_flags & inspect.CO_VARARGS else function.__code__.co_argcount

    def taking(*args: Any, **kwargs: Any) -> Any:
        return function(*cut(args, count), **(without(kwargs) if "name" in kwargs else kwargs))

    made = types.FunctionType(taking.__code__, function.__globals__, function.__name__, None, taking.__closure__)
    functools.update_wrapper(made, function)
    home = sys.modules[function.__module__]
    if getattr(home, function.__name__, None) is function:
        setattr(home, function.__name__, made)  # what a pickle finds
    return made


def label(published: Any) -> None:
    """Has the functions that a module or class publishes, and that are made of ops, take `name=`."""
    for name, value in list(vars(published).items()):
        if isinstance(value, types.FunctionType) and not name.startswith("_") and _unnamed(value):
            setattr(published, name, labelled(value))


_MADE_OF_OPS = ("d2s.ops.", "d2s.linalg.", "d2s.eager.counts", "d2s.eager.masks", "d2s.eager.assign")


def _unnamed(function: types.FunctionType) -> bool:
    code = function.__code__
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return (
        (function.__module__ or "").startswith(_MADE_OF_OPS)
        and "name" not in known
        and not code.co_flags & inspect.CO_VARKEYWORDS
    )
