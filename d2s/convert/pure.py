"""Functions of Python that a capture calls as they are: they only compute.

>>> is_pure(len), is_pure(print), is_pure({}.get)
(True, False, True)
"""

import itertools
import math
import operator
import types
from typing import Any

import numpy as np

from d2s.capture.kinds import COMPUTING
from d2s.limits import finfo, iinfo
from d2s.place import CPUPlace, CUDAPlace

_PURE = {
    len,
    sum,
    format,
    round,
    pow,
    divmod,
    iter,
    hash,
    slice,
    ord,
    chr,
    hex,
    bin,
    oct,
    ascii,
    bytes,
    operator.concat,
    dict.fromkeys,
}
_PURE |= {str.maketrans, bytes.fromhex, int.from_bytes, float.fromhex, itertools.chain.from_iterable}
_PURE |= {CPUPlace, CUDAPlace, finfo, iinfo, np.finfo, np.iinfo}
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
    bool,
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
HIGHER: tuple[Any, ...] = (map, itertools.accumulate, itertools.starmap, itertools.groupby)
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
READING |= {"issuperset", "isdisjoint", "symmetric_difference", "most_common", "total"}


MODULES = {"re", "json", "bisect", "statistics", "textwrap", "fractions", "posixpath", "fnmatch", "html"}  # that only compute
_ACTING = {"exists", "isfile", "isdir", "islink", "getsize", "getmtime", "realpath", "abspath", "expanduser", "expandvars"}
_ACTING |= {"dump", "load", "insort", "insort_left", "insort_right", "filter", "samefile", "lexists", "ismount", "relpath"}


def in_pure_module(function: Any) -> bool:
    """Whether it is of a module of Python's library that only computes.

    >>> import json, os.path
    >>> in_pure_module(json.dumps), in_pure_module(json.dump), in_pure_module(os.path.join), in_pure_module(os.path.exists)
    (True, False, True, False)
    """
    module = (getattr(function, "__module__", None) or "").strip("_").partition(".")[0]
    named = isinstance(function, types.FunctionType | types.BuiltinFunctionType)
    return named and module in MODULES and function.__name__ not in _ACTING


def is_pure(function: Any) -> bool:
    """Whether what a call gives depends on its arguments alone, and it does nothing else."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type) and function in _PURE:
        return True
    if isinstance(function, types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
        reading = isinstance(owner, dict | list | set) and function.__name__ in READING
        return reading or isinstance(owner, COMPUTING)
    if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
        return True
    try:
        return function in _PURE
    except TypeError:
        return False
