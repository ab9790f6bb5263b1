"""Operators as rewritten code asks for them, and what stands for functions of Python's `operator`: the same questions.

In: operands. Out: Python's result, or that of the user's method, rewritten.

>>> binary(2, "+", 3), unary("-", 2), changed([1], [2], "+")
(5, -2, [1, 2])
>>> getter(operator.itemgetter(1))([1, 2]), getter(operator.attrgetter("real", "imag"))(3)
(2, (3, 0))
"""

import array
import collections
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.capture.alternatives import each
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import by_path, plain_kind
from d2s.capture.forms import OneOf
from d2s.capture.reads import refuse_handed
from d2s.capture.steps import attempted
from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.capture.users_code import refuse
from d2s.convert.attributes import get_attribute
from d2s.convert.loads import field_values, is_, item, operand
from d2s.convert.logical import equal, if_exp, in_, is_not, meets_numpys, not_, not_equal
from d2s.convert.methods import ARITHMETIC, METHODS, ORDER, PLAIN, answers, asked, resolved
from d2s.convert.steps import bitwise, inverted, power, repeated
from d2s.eager.tensor import Tensor

_PYTHONS: dict[str, Callable[[Any, Any], Any]] = {"&": operator.and_, "|": operator.or_, "divmod": divmod}
_PYTHONS |= {sign: getattr(operator, name) for sign, name in ARITHMETIC.items() if sign not in _PYTHONS}
_PYTHONS |= {sign: getattr(operator, name) for sign, (name, _) in ORDER.items()}
_PYTHONS["**"] = power
_PYTHONS["*"] = repeated
_PYTHONS |= {sign: functools.partial(bitwise, _PYTHONS[sign]) for sign in ("&", "|", "^", "<<", ">>")}
_IN_PLACE = {sign: getattr(operator, f"i{name}") for sign, name in ARITHMETIC.items() if hasattr(operator, f"i{name}")}
_UNARY: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "-": ("__neg__", operator.neg),
    "+": ("__pos__", operator.pos),
    "~": ("__invert__", inverted),
}
_UNARY["abs"] = "__abs__", abs


def binary(x: Any, sign: str, y: Any) -> Any:
    """`x + y`, and all others between two operands but `==` and `!=`."""
    if type(x) in PLAIN and type(y) in PLAIN:
        return _PYTHONS[sign](x, y)
    if isinstance(x, OneOf):
        return each(x, lambda one: binary(one, sign, y))
    if isinstance(y, OneOf):
        return each(y, lambda one: binary(x, sign, one))
    if by_path(y) and plain_kind(y) is set:  # which Python would look into
        return gathered(each(opened(y), lambda one: binary(x, sign, one)))
    name, reflected = METHODS[sign]
    if answers(x, name) or answers(y, reflected):
        return resolved(x, sign, y)
    refuse_handed(x)
    refuse_handed(y)
    if meets_numpys(x, y) or _complains(_PYTHONS[sign], x, y):
        return attempted(name.strip("_"), _PYTHONS[sign], x, y)
    pairs = _in_order(x, y, name) if sign in ORDER else None
    return _PYTHONS[sign](x, y) if pairs is None else _first_unlike(*pairs, sign, 0)


def _in_order(x: Any, y: Any, name: str) -> tuple[Any, Any] | None:
    """The sequences by which two values are in order, if Python cannot compare them alone."""
    if capturing() and type(x) is type(y) and (fields := field_values(x, name)) is not None:
        return fields, field_values(y, name)
    kinds = {plain_kind(value) for value in (x, y)}
    asks = kinds in ({list}, {tuple}) and any(type(part) not in PLAIN or isinstance(part, _SYMBOLS) for part in (*x, *y))
    return (x, y) if asks else None


_SYMBOLS = SymbolicTensor | Tensor


def _first_unlike(x: Any, y: Any, sign: str, place: int) -> Any:
    if place == min(len(x), len(y)):
        return _PYTHONS[sign](len(x), len(y))
    left, right = x[place], y[place]
    same = left is right or equal(left, right)
    return if_exp(same, lambda: _first_unlike(x, y, sign, place + 1), lambda: binary(left, sign, right))


def unary(sign: str, x: Any) -> Any:
    """`-x`, `+x` and `~x`."""
    if isinstance(x, OneOf):
        return each(x, lambda one: unary(sign, one))
    refuse_handed(x)
    name, plain = _UNARY[sign]
    if _complains(plain, x):
        return attempted(name.strip("_"), plain, x)
    return asked(x, name) if answers(x, name) else plain(x)


def _complains(function: Callable[..., Any], *of: Any) -> bool:
    """Whether NumPy complains of what it computes of constants: it does so in each run."""
    if not any(isinstance(x, np.generic) for x in of) or not all(isinstance(x, _NUMBERS) for x in of):
        return False
    try:
        with np.errstate(all="raise"):
            function(*of)
    except FloatingPointError:
        return capturing() is not None
    except Exception:  # which is the user's
        return False
    return False


_NUMBERS = bool | int | float | complex | np.generic


def changed(x: Any, y: Any, sign: str) -> Any:
    """What `x += y` stores."""
    if isinstance(x, OneOf) and capturing():
        return each(x, lambda one: changed(one, y, sign))
    (name, reflected), in_place = METHODS[sign], f"__i{METHODS[sign][0][2:]}"
    if answers(x, in_place):
        found = asked(x, in_place, y)
        return binary(x, sign, y) if found is NotImplemented else found
    if plain_kind(x) not in (list, dict, set) and (answers(x, name) or answers(y, reflected)):
        return resolved(x, sign, y)
    if sign in ("**", "&", "|", "^", "<<", ">>") and type(x) in PLAIN and type(y) in PLAIN:
        return _PYTHONS[sign](x, y)
    if isinstance(x, np.generic) or meets_numpys(x, y):
        return binary(x, sign, y)
    taken = operand(x, y)
    if sign == "+" and plain_kind(x) is list:
        return type(x).__iadd__(x, taken)  # Python's `+=` would first ask a list of the capture for its own addition
    if isinstance(x, _ACTING) and capturing():
        message = f"a change in place of a {type(x).__name__} that is from outside"
        refuse("D2S1003", message, "make a new one, or change it outside of the captured function")
    return _IN_PLACE[sign](x, taken)


_ACTING = (np.ndarray, collections.deque, collections.Counter, bytearray, array.array)  # a capture follows no changes of these


def index_of(x: Any) -> Any:
    """`operator.index(x)`."""
    if isinstance(x, OneOf):
        return each(x, index_of)
    is_int = isinstance(x, SymbolicTensor) and x.value.type.python and x.dtype.kind == "i"
    return x if is_int else asked(x, "__index__") if answers(x, "__index__") else operator.index(x)


_SIGNS = {name: sign for sign, name in ARITHMETIC.items() if sign not in ("&", "|", "divmod")} | {"and_": "&", "or_": "|"}
_SIGNS |= {name: sign for sign, (name, _) in ORDER.items() if sign not in ("==", "!=")}
ASKING: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (operator.eq, equal),
    (operator.ne, not_equal),
    (operator.is_, is_),
    (operator.is_not, is_not),
    (operator.not_, not_),
    (operator.truth, lambda x: not_(not_(x))),
    (operator.contains, lambda container, value: in_(value, container)),
    (operator.getitem, item),
    (operator.index, index_of),
    (operator.neg, functools.partial(unary, "-")),
    (operator.pos, functools.partial(unary, "+")),
    (operator.invert, functools.partial(unary, "~")),
    (operator.abs, functools.partial(unary, "abs")),
    (abs, functools.partial(unary, "abs")),
    *((getattr(operator, name), lambda x, y, sign=sign: binary(x, sign, y)) for name, sign in _SIGNS.items()),
)


def getter(found: Any) -> Callable[[Any], Any]:
    """What an `operator.itemgetter` or `operator.attrgetter` does."""
    keys: tuple[Any, ...] = found.__reduce__()[1]
    read = item if isinstance(found, operator.itemgetter) else _attributes
    return lambda owner: read(owner, keys[0]) if len(keys) == 1 else tuple(read(owner, key) for key in keys)


def method_called(found: Any) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The method that an `operator.methodcaller` calls, and with what.

    >>> method_called(operator.methodcaller("split", ",", maxsplit=1))
    ('split', (',',), {'maxsplit': 1})
    """
    made, given = found.__reduce__()
    named = made.keywords if isinstance(made, functools.partial) else {}
    name, *args = (*made.args, *given) if isinstance(made, functools.partial) else given
    return name, tuple(args), named


def _attributes(owner: Any, path: str) -> Any:
    return functools.reduce(get_attribute, path.split("."), owner)
