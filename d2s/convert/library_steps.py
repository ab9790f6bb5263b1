"""Functions and classes of Python's library that nothing here knows more of: each run calls them, in Python's order.

In: a function of the standard library and what it is called with: constants, numbers of run time, what other steps have found.
Out: a step of the run, which finds an object that only the run has. Given anything else it is refused: it may act on that.

>>> import datetime, inspect, os
>>> is_step(os.getpid), is_step(datetime.datetime.now), is_step(inspect.stack), is_step(eval), is_step(is_step)
(True, True, False, False, False)
"""

import builtins
import functools
import io
import sys
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.alternatives import of_each
from d2s.capture.examples import computed
from d2s.capture.forms import Later, OneOf
from d2s.capture.guards import MISSING
from d2s.capture.steps import taken
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.tree import flatten
from d2s.capture.users_code import refuse_call
from d2s.convert.library import is_plain

# what these make is called, and those look at what runs
_LOOKING = {"inspect", "traceback", "sys", "gc", "ctypes", "weakref", "importlib", "dis", "pdb", "bdb", "code"}
_CALLED = {"typing", "types", "abc", "enum", "dataclasses", "functools", "contextvars", "threading", "asyncio", "__future__"}
_MODULES = set(sys.stdlib_module_names) - _LOOKING - _CALLED - {"builtins"}
_BUILTINS = (open, input, bytearray)
_VALUES = {"datetime", "decimal", "fractions", "pathlib", "string", "uuid"}  # modules whose classes make values
_TEXTS = (io.StringIO, io.BytesIO)


def is_step(function: Any) -> bool:
    """Whether a run may call it where it stands."""
    if any(function is known for known in _BUILTINS):
        return True
    owner = getattr(function, "__self__", None)
    of = owner if isinstance(owner, type) else function
    module = getattr(of, "__module__", None) or getattr(owner, "__name__", "")
    return callable(function) and str(module).lstrip("_").partition(".")[0] in _MODULES and owner is not builtins


def library_step(tracer: Tracer, function: Any) -> Callable[..., Any] | None:
    """What is called instead of a function of the standard library; None of all others."""
    if isinstance(function, type) and issubclass(function, BaseException):
        return None
    return functools.partial(_taken, function) if is_step(function) else None


def _taken(function: Any, *args: Any, **kwargs: Any) -> Any:
    leaves = flatten([args, kwargs])[0]
    if any(isinstance(leaf, OneOf) for leaf in leaves):
        return of_each(functools.partial(_taken, function), *args, **kwargs)
    if not _may_be_given([*args, *kwargs.values()]):
        refuse_call(function)
    makes = isinstance(function, type) and (function in _TEXTS or function.__module__.lstrip("_") in _VALUES)
    example = computed(function, args, kwargs) if makes else MISSING
    return taken(function.__name__, function, args, kwargs, example)


def _may_be_given(values: Sequence[Any]) -> bool:
    """Whether nothing can be done to these values that the capture would not see."""
    return all(
        isinstance(v, Later)
        or is_plain([v])
        or (isinstance(v, SymbolicTensor) and v.value.type.python)
        or (type(v) is tuple and _may_be_given(v))
        or (isinstance(v, type) and is_step(v))
        for v in values
    )
