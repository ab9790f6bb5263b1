"""What a capture may look into: one table of types, and what is known of their values.

In: nothing. Out: tuples of types, one for each word of the table.

* `constant`: never changes, and is told by type and spelling; a value that is one of several may be one of these without a node
* `compared`: what is read from outside is guarded by value; floats are not, for nan is not nan
* `leaving`: may be returned and stored as it is
* `computing`: its methods only compute
* `given`: functions that only compute may be given it at capture
* `content`: what is read from outside is guarded by what it holds
* `iterated`: a `for` may run over it

>>> int in CONSTANT, list in CONSTANT, list in CONTENT, float in COMPARED
(True, False, True, False)
"""

import collections
import functools
import itertools
import os
import re
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from d2s.place import CPUPlace, CUDAPlace, Place
from d2s.types import DType

WORDS = ("constant", "compared", "leaving", "computing", "given", "content", "iterated")
_STEPPING = (
    "chain islice accumulate zip_longest product repeat cycle permutations combinations pairwise compress groupby starmap"
)
_TABLE: dict[type, str] = {
    type(None): "constant compared leaving given",
    bool: "constant compared leaving given",
    int: "constant compared leaving computing given",
    float: "constant leaving computing given",
    complex: "leaving computing given",
    str: "constant compared leaving computing given iterated",
    bytes: "constant compared leaving computing given",
    type(Ellipsis): "leaving",
    type(NotImplemented): "leaving",
    type: "leaving",
    DType: "leaving computing given",
    **dict.fromkeys((Place, CPUPlace, CUDAPlace), "leaving computing given"),
    np.generic: "computing given",
    np.dtype: "given",
    re.Pattern: "computing given",
    re.Match: "computing given",
    range: "compared leaving computing given iterated",
    slice: "leaving computing given",
    BaseException: "given",
    tuple: "computing given content iterated",
    frozenset: "computing given content iterated",
    list: "given content iterated",
    dict: "given content iterated",
    set: "given content iterated",
    collections.deque: "content",
    type({}.items()): "given content iterated",
    type({}.keys()): "given content iterated",
    type({}.values()): "given content iterated",
    types.GeneratorType: "iterated",
    **dict.fromkeys((zip, enumerate, map, filter, type(reversed([])), type(reversed({}))), "iterated"),
    type(next(itertools.groupby("a"))[1]): "iterated",
    type(itertools.tee("")[0]): "iterated",
    **dict.fromkeys((type(iter(kind())) for kind in (list, tuple, dict, set, str)), "iterated"),
    **dict.fromkeys(map(type, (iter(range(0)), iter(range(1 << 70)), iter({}.values()), iter({}.items()))), "iterated"),
    **dict.fromkeys((getattr(itertools, name) for name in _STEPPING.split()), "iterated"),
}


def _of(word: str) -> tuple[Any, ...]:
    return tuple(kind for kind, words in _TABLE.items() if word in words.split())


NUMPYS_NUMBERS = (np.number, np.bool_)  # which never change, either
_AROUND: dict[type, Callable[[Any], Any]] = {
    collections.UserDict: lambda value: value.data,
    collections.UserList: lambda value: value.data,
    collections.ChainMap: lambda value: value.maps,
    types.MappingProxyType: lambda value: tuple(value.items()),
    type(os.environ): lambda value: value._data,
}
AROUND = tuple(_AROUND)


def held_by(value: Any) -> Any:
    """The container that an object of Python's library is made around, by which it is guarded; None of all else.

    >>> held_by(collections.UserDict(a=1)), held_by({})
    ({'a': 1}, None)
    """
    opened = opener(type(value))
    return None if opened is None else opened(value)


@functools.lru_cache(maxsize=4096)
def _opener(kind: Any) -> Callable[[Any], Any] | None:
    return next((of for around, of in _AROUND.items() if issubclass(kind, around)), None)


opener: Callable[[type], Callable[[Any], Any] | None] = (
    _opener  # how to get at that container, by class; abstract ones are slow
)


def parts_of(value: Any) -> Iterable[Any]:
    """What stands in a value by which it is guarded: items, what functions and methods have bound.

    >>> list(parts_of({"a": [1]})), list(parts_of(functools.partial(print, [1])))
    ([[1]], [<built-in function print>, [1]])
    """
    if isinstance(value, CONTENT):
        return value.values() if isinstance(value, dict) else list.__iter__(value) if isinstance(value, list) else value
    if isinstance(value, functools.partial):
        return value.func, *value.args, *value.keywords.values()
    if isinstance(value, types.FunctionType):
        return *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()
    if isinstance(value, types.MethodType):
        return (value.__func__,)
    if isinstance(value, types.BuiltinMethodType | types.MethodWrapperType):
        return (value.__self__,)
    around = held_by(value)
    return () if around is None else (around,)


CONSTANT, COMPARED, LEAVING, COMPUTING, GIVEN, CONTENT, ITERATED = map(_of, WORDS)
