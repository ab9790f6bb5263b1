"""Functions of Python that a capture calls as they are: they only compute.

>>> is_pure(len), is_pure(print), is_pure({}.get)
(True, False, True)
"""

import itertools
import math
import operator
import types
from typing import Any

from d2s.capture.kinds import COMPUTING

_PURE = {len, sum, round, pow, divmod, iter, hash, slice, ord, chr, hex, bin, oct, ascii, bytes, operator.concat, dict.fromkeys}
_PURE |= {str.maketrans, bytes.fromhex, int.from_bytes, float.fromhex, itertools.chain.from_iterable}
_PURE |= {int, float, bool, complex, str, repr, tuple, list, dict, set, frozenset, issubclass}
_PURE |= {
    itertools.chain,
    itertools.chain.from_iterable,
    itertools.islice,
    itertools.zip_longest,
    itertools.product,
    itertools.repeat,
}
_PURE |= {itertools.permutations, itertools.combinations, itertools.cycle, itertools.pairwise, itertools.compress}
_PURE |= {value for value in vars(math).values() if callable(value)}
LOOKING = {
    len,
    sum,
    tuple,
    list,
    dict,
    set,
    frozenset,
    iter,
    str,
    repr,
    itertools.chain,
    itertools.accumulate,
}  # into arguments
OF_GROWN = {len: "__len__", bool: "__bool__", sum: "sum", list: "copy"}
TAKING = {tuple, list, dict, set, frozenset}  # all items of what they are given
HIGHER: tuple[Any, ...] = (map, itertools.accumulate, itertools.starmap, itertools.takewhile, itertools.dropwhile)
HIGHER += (itertools.filterfalse, itertools.groupby)
WALKING = {
    sum,
    tuple,
    list,
    dict,
    set,
    frozenset,
    iter,
    *(f for f in vars(itertools).values() if callable(f)),
}  # over what they are given
READING = {"get", "items", "keys", "values", "index", "count", "copy", "union", "intersection", "difference", "issubset"}
READING |= {"issuperset", "isdisjoint", "symmetric_difference"}


def is_pure(function: Any) -> bool:
    """Whether what a call gives depends on its arguments alone, and it does nothing else."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
        reading = isinstance(owner, dict | list | set) and function.__name__ in READING
        return reading or isinstance(owner, COMPUTING)
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return True
    try:
        return function in _PURE
    except TypeError:
        return False
