"""What calls become: user functions are rewritten and called, ops recorded; what would act at capture only is refused.

>>> call(len)([1, 2])
2
"""

import functools
import math
import os
import sys
import sysconfig
import types
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from d2s.ast_transforms import Converted, convert_function
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing, refuse
from d2s.convert.loads import guard_content, guard_names
from d2s.eager.tensor import Tensor, to_tensor
from d2s.ops import Op
from d2s.ops.operators import Operators
from d2s.runtime import launch
from d2s.types import DType

_PURE = {
    len,
    abs,
    min,
    max,
    sum,
    range,
    enumerate,
    zip,
    reversed,
    sorted,
    any,
    all,
    round,
    divmod,
    pow,
    map,
    filter,
    iter,
    hash,
}
_PURE |= {
    int,
    float,
    bool,
    complex,
    str,
    repr,
    tuple,
    list,
    dict,
    set,
    frozenset,
    slice,
    type,
    issubclass,
    callable,
    hasattr,
    getattr,
}
_PURE |= {value for value in vars(math).values() if callable(value)}
_READING = {
    "get",
    "items",
    "keys",
    "values",
    "index",
    "count",
    "copy",
    "union",
    "intersection",
    "difference",
    "issubset",
}
_IMMUTABLE = (str, bytes, int, float, complex, tuple, range, frozenset, DType)
_LIBRARY = tuple({os.path.realpath(p) + os.sep for key, p in sysconfig.get_paths().items() if "lib" in key})
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_converted: "weakref.WeakKeyDictionary[types.FunctionType, Converted]" = weakref.WeakKeyDictionary()


def call(function: Any) -> Callable[..., Any]:
    """What is called instead of `function`."""
    tracer = capturing()
    if tracer is None:
        return function
    if isinstance(function, Op) or isinstance(getattr(function, "__self__", None), Operators):
        return function
    captured_as = getattr(type(function), "captured_as", None)  # layers, and functions made static
    if captured_as:
        return call(captured_as(function))
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        return functools.partial(call(function.__func__), function.__self__)
    if function is isinstance or function is to_tensor:
        return functools.partial(_SEEING[function], tracer)
    if _is_pure(function):
        return functools.partial(_call_pure, tracer, function)
    if isinstance(function, types.FunctionType) and not _library(function):
        guard_names(tracer, function)
        return converted(function).function
    return _refused(function)


def _refused(function: Any) -> NoReturn:
    name = getattr(function, "__qualname__", type(function).__name__)
    message = f"'{name}' is called: what it does would happen once, when the function is captured, and not at each call"
    refuse("D2S1004", message, "call it outside of the captured function")


def converted(function: types.FunctionType) -> Converted:
    """The rewritten function, made once."""
    if function not in _converted:
        _converted[function] = convert_function(function, sys.modules[__package__])
    return _converted[function]


def _library(function: types.FunctionType) -> bool:
    path = os.path.realpath(function.__code__.co_filename)
    return path.startswith(_LIBRARY) and not path.startswith(_OWN)


def _is_pure(function: Any) -> bool:
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
        reading = isinstance(owner, dict | list | set) and function.__name__ in _READING
        return reading or isinstance(owner, _IMMUTABLE)
    try:
        return function in _PURE
    except TypeError:
        return False


def _call_pure(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    guard_content(tracer, getattr(function, "__self__", None))
    for value in args:
        guard_content(tracer, value)
    return function(*(tracer.lift(a) if isinstance(a, Tensor) else a for a in args), **kwargs)


def _isinstance(tracer: Tracer, value: Any, kind: Any) -> bool:
    """What the user's code would see eagerly."""
    if not isinstance(value, SymbolicTensor):
        return isinstance(value, kind)
    seen = {"b": bool, "i": int, "f": float}[value.dtype.kind] if value.value.type.python else Tensor
    return issubclass(seen, kind)


def _to_tensor(tracer: Tracer, data: Any, dtype: Any = None, stop_gradient: bool = True) -> Any:
    """A number becomes a constant of the graph, other data a tensor made once: it is not data of the call."""
    if isinstance(data, SymbolicTensor | Tensor) or not stop_gradient:
        refuse(
            "D2S1003",
            "to_tensor() of a tensor, or of one that wants a gradient",
            "make it outside of the captured function",
        )
    guard_content(tracer, data)
    tensor = to_tensor(data, dtype)
    return tracer.constant(tensor.item(), launch.type_of(tensor.array)) if isinstance(data, int | float) else tensor


_SEEING: dict[Any, Any] = {isinstance: _isinstance, to_tensor: _to_tensor}
