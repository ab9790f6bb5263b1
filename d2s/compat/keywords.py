"""Calls with a keyword that d2s's function does not take are refused in words, at the user's line.

In: a function, or a class of this folder. Out: the same, which names the keywords there are.

>>> refusing("paddle.fluid.layers.relu", d2s.nn.functional.relu)(d2s.ones([1]), inplace=True)
Traceback (most recent call last):
d2s.errors.UnknownKeyword: [D2S5002] paddle.fluid.layers.relu(): d2s has no argument 'inplace' there; it takes x
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

from d2s.capture.symbolic import capturing
from d2s.capture.users_code import user_line
from d2s.convert.calls import RECORDED
from d2s.errors import UnknownKeyword

_UNEXPECTED = re.compile(r"unexpected keyword argument '(\w+)'")


def in_capture() -> bool:
    """Whether a function is being captured."""
    return capturing() is not None


RECORDED[in_capture] = lambda tracer: True


def refusing(path: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that says which keyword it does not know."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if in_capture():
            return function(*args, **kwargs)  # a graph catches less
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            if isinstance(error, UnknownKeyword):
                raise
            found = _UNEXPECTED.search(str(error))
            if not found or found[1] not in kwargs:
                if str(error).startswith(f"{function.__qualname__}()"):
                    raise TypeError(str(error).replace(function.__qualname__, path)) from None
                raise
            raise UnknownKeyword("D2S5002", _message(path, found[1], function), where=user_line()) from None

    return call


def refusing_class(kind: type) -> type:
    """A class of this folder, whose `__init__` says so, too."""
    if not hasattr(kind.__init__, "__wrapped__"):  # type: ignore[misc]
        kind.__init__ = refusing(kind.__name__, kind.__init__)  # type: ignore[misc]
    return kind


def _message(path: str, keyword: str, function: Callable[..., Any]) -> str:
    known = [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes = ", ".join(name for name in known if name != "self")
    return f"{path}(): d2s has no argument {keyword!r} there{takes and f'; it takes {takes}'}"
