"""What Python's own functions make of objects of the user's classes, whose methods they call.

In: a function of Python's and what it is given. Out: what the methods say, rewritten; MISSING where none is the user's.

>>> class Two:
...     def __int__(self):
...         return 2
...     def __len__(self):
...         return 3
>>> of_object(int, Two()), of_object(len, Two()), of_object(float, Two()) is MISSING
(2, 3, True)
"""

import enum
import math
from collections.abc import Callable
from typing import Any

from d2s.capture.guards import MISSING
from d2s.convert.if_else import truth_of
from d2s.convert.loads import field_values
from d2s.convert.methods import METHODS, answers, asked, length, resolved

_METHODS: dict[Any, tuple[str, ...]] = {
    int: ("__int__", "__index__", "__trunc__"),
    float: ("__float__", "__index__"),
    complex: ("__complex__", "__float__"),
    round: ("__round__",),
    hash: ("__hash__",),
    math.floor: ("__floor__",),
    math.ceil: ("__ceil__",),
    math.trunc: ("__trunc__",),
}
_BETWEEN: dict[Any, str] = {divmod: "divmod", pow: "**"}
OF_OBJECTS: set[Any] = {bool, len, *_METHODS, *_BETWEEN}
_ASKED: dict[Any, Callable[[Any], Any]] = {bool: truth_of, len: length}


def _answer(function: Any, x: Any, y: Any) -> bool:
    name, reflected = METHODS[_BETWEEN[function]]
    return answers(x, name) or answers(y, reflected)


def of_object(function: Any, *args: Any) -> Any:
    if len(args) == 1 and function in _ASKED:
        return _ASKED[function](args[0]) if answers(args[0], "__len__", "__bool__") else MISSING
    if function in _BETWEEN and len(args) == 2 and _answer(function, *args):
        return resolved(args[0], _BETWEEN[function], args[1])
    if function is hash and len(args) == 1 and (values := field_values(args[0], "__hash__")) is not None:
        return hash(values)
    if function is len and isinstance(args[0], enum.EnumMeta):
        return len(args[0])
    name = next((n for n in _METHODS.get(function, ()) if args and answers(args[0], n)), None)
    return MISSING if name is None else asked(args[0], name, *args[1:])
