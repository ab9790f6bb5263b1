"""Rewritten functions, each made once.

In: a function of the user's. Out: the same, rewritten to ask this package at every decision; for as long as its code and
defaults are what they were.
"""

import sys
import types
import weakref
from typing import Any

from d2s.ast_transforms import Converted, convert_function

Code = tuple[Any, Any, Any]
_converted: "weakref.WeakKeyDictionary[types.FunctionType, tuple[Code, dict[str, Converted]]]" = weakref.WeakKeyDictionary()


def converted(function: types.FunctionType, loop: str = "") -> Converted:
    """The rewritten function; of a generator for a `loop`, turned inside out."""
    code = function.__code__, function.__defaults__, function.__kwdefaults__
    known = _converted.get(function)
    if known is None or any(a is not b for a, b in zip(known[0], code, strict=True)):
        _converted[function] = known = code, {}
    if loop not in known[1]:
        known[1][loop] = convert_function(function, sys.modules[__package__], loop)
    return known[1][loop]
