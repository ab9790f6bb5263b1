"""Objects of the user's classes that a captured function makes: they are their attributes, where the class is no more than its
methods.

In: a class. Out: whether its objects are no more than their attributes; and the attributes that a dataclass gives a new one.

>>> import dataclasses
>>> @dataclasses.dataclass
... class Point:
...     x: float
...     y: float = 0.0
>>> initial(Point, (1.0,), {}, lambda factory: factory)
{'x': 1.0, 'y': 0.0}
"""

import abc
import dataclasses
import enum
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from d2s.capture.containers import STANDING, attributes
from d2s.capture.users_code import in_library, is_generated
from d2s.convert.library_objects import MADE_HERE
from d2s.convert.methods import answers

_HARMLESS = (object, abc.ABC, typing.Generic, typing.Protocol)
_ASKED = {"__getattribute__", "__del__"}
_PLAIN: tuple[Any, ...] = (types.FunctionType, property, classmethod, staticmethod, types.MemberDescriptorType)
_PLAIN += (types.GetSetDescriptorType, functools.cached_property, functools.partialmethod)
_INIT = dataclasses._FIELD_INITVAR  # type: ignore[attr-defined]


def is_made(cls: Any) -> bool:
    """Whether a graph can make objects of a class: Python asks nothing of them that the class answers in code of its own."""
    if not isinstance(cls, type) or isinstance(cls, enum.EnumMeta):
        return False
    ours = cls in STANDING or cls in MADE_HERE
    return ours or all(kind in _HARMLESS or _is_plain(kind) for kind in cls.__mro__)


def _is_plain(kind: type) -> bool:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if kind.__module__ == "builtins" or (file and in_library(file)):
        return False
    written = {name for name, of in vars(kind).items() if isinstance(of, types.FunctionType) and not _is_generated(of)}
    plain = all(
        isinstance(of, _PLAIN) or not hasattr(type(of), "__get__") or answers(of, "__get__") for of in vars(kind).values()
    )
    return plain and not written & _ASKED and not any(f._field_type is _INIT for f in _fields(kind))


def _fields(kind: type) -> Iterable[Any]:
    return getattr(kind, "__dataclass_fields__", {}).values()


def _is_generated(function: types.FunctionType) -> bool:
    """Whether a decorator such as `dataclass` wrote it."""
    return is_generated(function) or in_library(function.__code__.co_filename)


def initial(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Callable[[Any], Any]) -> dict[str, Any] | None:
    """The attributes that the `__init__` of a dataclass gives; None of a class with an `__init__` of the user's."""
    if cls.__init__ is object.__init__:
        return attributes(cls(*args, **kwargs))  # none; or Python complains of the arguments
    init: Any = cls.__init__
    if not dataclasses.is_dataclass(cls) or not _is_generated(init):
        return None
    try:
        bound = inspect.signature(init).bind(None, *args, **kwargs).arguments
    except TypeError:
        made: Any = object.__new__(cls)  # type: ignore[arg-type]
        init(made, *args, **kwargs)  # Python complains in its own words
        raise
    found = {}
    for field in dataclasses.fields(cls):
        if field.init and field.name in bound:
            found[field.name] = bound[field.name]
        elif field.default_factory is not dataclasses.MISSING:
            found[field.name] = call(field.default_factory)()
        elif field.default is not dataclasses.MISSING:
            found[field.name] = field.default
    return found
