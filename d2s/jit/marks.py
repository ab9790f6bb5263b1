"""Functions and modules that captures run as they are.

>>> import string
>>> ignore_module([string])
"""

import types
from collections.abc import Callable, Sequence
from typing import Any

from d2s import convert
from d2s.arguments import expect
from d2s.errors import DTypeError


def not_to_static(func: Any = None) -> Any:
    """A function that captures run as it is: its ops become nodes, but no `if` of it is rewritten, nor what it calls.

    >>> @not_to_static
    ... def plain(x):
    ...     return x * 2
    >>> d2s.to_static(lambda x: plain(x) + 1)(d2s.to_tensor([1.0])).tolist()
    [3.0]
    """
    if func is None:
        return not_to_static
    expect("not_to_static", "func", func, Callable, "a function")
    try:
        func.d2s_not_to_static = True
    except (AttributeError, TypeError):
        got = type(func).__name__
        raise DTypeError("D2S0001", f"not_to_static(): 'func' expects a function written in Python, got {got}") from None
    return func


def ignore_module(modules: Sequence[Any]) -> None:
    """Functions of these modules are run by captures as they are, like those of `not_to_static`."""
    expect("ignore_module", "modules", modules, list | tuple, "a list")
    for module in modules:
        expect("ignore_module", "modules", module, types.ModuleType, "modules")
        convert.IGNORED.add(module.__name__)
