"""Methods of the user's classes that Python calls for its operators and functions: a capture calls them rewritten.

In: operands. Out: what Python's rules for its operators make of them, where a method of the user's answers; plain values are
Python's own business.

>>> class Money:
...     def __init__(self, cents):
...         self.cents = cents
...     def __radd__(self, other):
...         return other + self.cents
>>> answers(Money(1), "__radd__"), answers(Money(1), "__add__"), resolved(2, "+", Money(1))
(True, False, 3)
"""

import contextlib
import enum
import functools
import inspect
import os
import types
from collections.abc import Callable, Iterator
from typing import Any

from d2s.capture import by_path
from d2s.capture.containers import STAND_INS, STANDING, plain_kind
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import in_library, in_package, is_generated
from d2s.convert.generators import Suspended
from d2s.convert.names import guard_names
from d2s.convert.recursion import entered
from d2s.eager.tensor import Tensor

PLAIN = {int, float, bool, str, bytes, type(None), complex, SymbolicTensor, Tensor}  # whose operators are never the user's
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "@": "matmul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow"}
ARITHMETIC |= {"<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor", "divmod": "divmod"}
ORDER = {"<": ("lt", "gt"), "<=": ("le", "ge"), ">": ("gt", "lt"), ">=": ("ge", "le"), "==": ("eq", "eq"), "!=": ("ne", "ne")}
METHODS = {sign: (f"__{name}__", f"__r{name}__") for sign, name in ARITHMETIC.items()}
METHODS |= {sign: (f"__{name}__", f"__{other}__") for sign, (name, other) in ORDER.items()}
_OURS = tuple(os.path.join(os.path.dirname(__file__), name) for name in ("collected.py", "library_objects.py", "views.py"))
_FOLLOWED = (functools.__file__, *_OURS)  # what makes operators of the user's, and objects of Python's library


def method_of(value: Any, name: str) -> types.FunctionType | None:
    """The function of the user's class that Python calls for `name`; None where Python's own answers."""
    found = getattr(type(value), name, None)
    return found if isinstance(found, types.FunctionType) and is_users(found) else None


def is_users(function: types.FunctionType) -> bool:
    """Whether the user wrote a function, or Python's library made it of what the user wrote."""
    return is_followed(function) or not (in_library(function.__code__.co_filename) or is_generated(function))


def is_followed(function: types.FunctionType) -> bool:
    """Whether it makes an operator of one of the user's, as `functools.total_ordering` does."""
    return function.__code__.co_filename in _FOLLOWED and function.__name__.startswith("__")


def answers(value: Any, *names: str) -> bool:
    """Whether one of these methods is the user's."""
    return type(value) not in PLAIN and any(method_of(value, name) for name in names)


def follow(tracer: Tracer | None, function: Any) -> Callable[..., Any]:
    """What a function of the user's becomes when it is called."""
    if tracer is None:
        return function  # type: ignore[no-any-return]
    if not in_package(function.__code__.co_filename):
        guard_names(tracer, function)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return lambda *args, **kwargs: tracer.begun(Suspended(function, args, kwargs))
    return functools.partial(entered, function)


def asked(value: Any, name: str, *args: Any) -> Any:
    """What a method of the user's says; NotImplemented where there is none."""
    tracer, function = capturing(), method_of(value, name)
    if function is None:
        plain = getattr(type(value), name, None)
        return NotImplemented if plain is None else plain(value, *args)
    if tracer:
        guard_method(tracer, type(value), name)
    return follow(tracer, function)(value, *args)


def guard_method(tracer: Tracer, cls: type, name: str) -> None:
    """A class may be given another method at any time."""
    tracer.guard((id(cls), "method", name), f"{cls.__name__}.{name}", lambda: getattr(cls, name, None))


def resolved(x: Any, sign: str, y: Any) -> Any:
    """What an operator gives, by Python's rules of whose method is asked first."""
    name, reflected = METHODS[sign]
    for owner, method, other in _order(x, name, y, reflected, sign in ORDER):
        found = asked(owner, method, other)
        if found is not NotImplemented:
            return found
    if sign in ("==", "!="):
        return (x is y) is (sign == "==")
    raise TypeError(_unsupported(x, sign, y))


def _order(x: Any, name: str, y: Any, reflected: str, compares: bool) -> Iterator[tuple[Any, str, Any]]:
    """Whose method is asked first: that of the class that knows more, then the left one's."""
    left, right = type(x), type(y)
    above = (
        left is not right and issubclass(right, left) and getattr(right, reflected, None) is not getattr(left, reflected, None)
    )
    if above:
        yield y, reflected, x
    yield x, name, y
    if not above and (compares or left is not right):
        yield y, reflected, x


def _unsupported(x: Any, sign: str, y: Any) -> str:
    kinds = [_kind_of(value) for value in (x, y)]
    if sign in ORDER:
        return f"'{sign}' not supported between instances of '{kinds[0]}' and '{kinds[1]}'"
    shown = {"divmod": "divmod()", "**": "** or pow()"}.get(sign, sign)
    return f"unsupported operand type(s) for {shown}: '{kinds[0]}' and '{kinds[1]}'"


def _kind_of(value: Any) -> str:
    if isinstance(value, SymbolicTensor):
        return {"b": "bool", "i": "int", "f": "float"}[value.dtype.kind] if value.value.type.python else "Tensor"
    name: str = plain_kind(value).__name__
    return name


class Walking:
    """An iterator of the user's: an object whose class has `__next__`."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner

    def __iter__(self) -> "Walking":
        return self

    def __next__(self) -> Any:
        return asked(self.owner, "__next__")


def walked(value: Any) -> Any:
    """What Python's functions iterate over instead of an object of the user's."""
    if type(value) in PLAIN or isinstance(value, type):
        return list(value) if isinstance(value, enum.EnumMeta) else value
    if type(value) in STANDING and not isinstance(value, STAND_INS):
        return getattr(value, "walked", value.content)
    if method_of(value, "__iter__"):
        found = asked(value, "__iter__")
        return Walking(found) if answers(found, "__next__") else found
    if answers(value, "__next__"):
        return Walking(value)
    by_place = answers(value, "__getitem__") and not hasattr(type(value), "__iter__")
    return _by_places(value) if by_place else value


def _by_places(value: Any) -> Iterator[Any]:
    place = 0
    with contextlib.suppress(IndexError):
        while True:
            yield asked(value, "__getitem__", place)
            place += 1


def length(value: Any) -> Any:
    """`len` of an object whose class says what that is."""
    found = asked(value, "__len__")
    if type(found) is int and found < 0:
        raise ValueError("__len__() should return >= 0")
    return found


def truth_asked(value: Any) -> Any:
    """What stands for a value where its truth is asked."""
    if type(value) in PLAIN or not capturing():
        return value
    if answers(value, "__bool__"):
        found = asked(value, "__bool__")
        if not isinstance(found, SymbolicTensor | OneOf) and type(found) is not bool:
            raise TypeError(f"__bool__ should return bool, returned {plain_kind(found).__name__}")
        return found
    return length(value) != 0 if answers(value, "__len__") else by_path.truth_asked(value)
