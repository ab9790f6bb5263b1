"""Variables that have no value, or none that a graph can hold.

>>> load(Undefined("y", "'y' is a str or None, by the path taken"), "y")
Traceback (most recent call last):
d2s.errors.CaptureError: [D2S1002] 'y' is a str or None, by the path taken
  way out: give 'y' a value of one kind on every path
"""

import sys
from collections.abc import Iterable
from typing import Any

from d2s.capture.containers import is_container
from d2s.capture.heap import Place
from d2s.capture.users_code import user_line
from d2s.errors import CaptureError

_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift", "rshift", "and", "xor", "or")
_COMPARED = ("eq", "ne", "lt", "le", "gt", "ge", "contains", "hash", "bool", "len", "neg", "pos", "abs", "invert")
_TURNED = ("int", "float", "complex", "index", "round", "trunc", "floor", "ceil", "str", "repr", "format", "bytes", "reversed")
_LOOKED_INTO = ("iter", "next", "call", "getitem", "setitem", "delitem", "getattr", "enter", "exit")


class Undefined:
    """The value of a variable that has none (or, with `why`, none that a graph can hold). Every use of it is refused."""

    def __init__(self, name: str, why: str = "", error: Exception | None = None) -> None:
        self.name, self.why, self.where = name, why, user_line() if why else ""
        self.error = error  # what reading it raises, if it is no variable


def lacking(owner: Any, name: str) -> Undefined:
    """What an object has in the place of an attribute that it lacks on this path."""
    return Undefined(name, error=AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'"))


def with_names(owner: Any, held: Any, names: Iterable[str]) -> Any:
    """The attributes that an object has, with these names, if it is one whose class has none of them."""
    if not _is_object(owner) or any(hasattr(type(owner), name) for name in names):
        return held
    return held | {name: lacking(owner, name) for name in names}


def _is_object(owner: Any) -> bool:
    return not isinstance(owner, BaseException | Place) and not is_container(owner)


def with_all_names(owner: Any, one: Any, other: Any) -> tuple[Any, Any]:
    """The attributes that two paths leave an object: what only one has, the other lacks."""
    if not _is_object(owner) or list(one) == list(other):
        return one, other
    one = with_names(owner, one, [name for name in other if name not in one])
    other = with_names(owner, other, [name for name in one if name not in other])
    return one, {name: other[name] for name in one} if one.keys() == other.keys() else other


def _used(self: Undefined, *_: Any) -> Any:
    return load(self, self.__dict__.get("name", "?"))


for _name in (*_COMPARED, *_TURNED, *_LOOKED_INTO, *(sign + name for name in _BINARY for sign in ("", "r", "i"))):
    setattr(Undefined, f"__{_name}__", _used)


def load(value: Any, name: str, where: str = "") -> Any:
    """A variable that may have no value here (`where`, if that is not the line that runs)."""
    if not isinstance(value, Undefined):
        return value
    if value.why:
        way_out = f"give '{name}' a value of one kind on every path"
        raise CaptureError("D2S1002", value.why, where=where or user_line(), hint=way_out)
    if value.error is not None:
        raise value.error
    if sys.version_info >= (3, 11):
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
    raise UnboundLocalError(f"local variable '{name}' referenced before assignment")
