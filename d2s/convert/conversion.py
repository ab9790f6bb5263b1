"""Rewritten functions, each made once.

In: a function of the user's. Out: the same, rewritten to ask this package at every decision; for as long as its code and
defaults are what they were.
"""

import inspect
import sys
import types
import weakref
from typing import Any

from d2s.ast_transforms import Converted, convert_function

Code = tuple[Any, Any, Any]
_known: "weakref.WeakKeyDictionary[types.FunctionType, _Known]" = weakref.WeakKeyDictionary()


class _Known:
    """What was made of a function as it is."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self.converted: dict[str, Converted] = {}
        self.signature: inspect.Signature | None = None


def converted(function: types.FunctionType, loop: str = "") -> Converted:
    """The rewritten function; of a generator for a `loop`, turned inside out."""
    known = _known_of(function)
    if loop not in known.converted:
        known.converted[loop] = convert_function(function, sys.modules[__package__], loop)
    return known.converted[loop]


def signature_of(function: types.FunctionType) -> inspect.Signature:
    """Its parameters, which take their time to tell."""
    known = _known_of(function)
    if known.signature is None:
        known.signature = inspect.signature(function)
    return known.signature


def _known_of(function: types.FunctionType) -> _Known:
    code = function.__code__, function.__defaults__, function.__kwdefaults__
    known = _known.get(function)
    if known is None or any(a is not b for a, b in zip(known.code, code, strict=True)):
        _known[function] = known = _Known(code)
    return known
