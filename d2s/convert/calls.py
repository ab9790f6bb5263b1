"""What calls become: user functions are rewritten and called, ops recorded; what would act at capture only is refused.

>>> call(len)([1, 2])
2
"""

import enum
import functools
import inspect
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

from d2s.arguments import unlabelled
from d2s.capture.alternatives import each, of_each
from d2s.capture.containers import STAND_INS, plain_kind
from d2s.capture.forms import OneOf
from d2s.capture.hooks import calling
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.users_code import in_library, in_standard_library, refuse_call
from d2s.convert.attributes import DispatchedMethod, get_attribute
from d2s.convert.classes import kind_of
from d2s.convert.computing import given, higher, of_module, of_ops, pure, with_numbers
from d2s.convert.container_methods import advance, change, read
from d2s.convert.draws import draws
from d2s.convert.exceptions import of_exception
from d2s.convert.generators import Entering, manager_of
from d2s.convert.library import is_plain, of_named_tuple
from d2s.convert.library_objects import Remembering
from d2s.convert.library_steps import library_step
from d2s.convert.making import layer, make, member, of_object_itself
from d2s.convert.methods import answers, follow, guard_method, is_followed, method_of
from d2s.convert.names import guard_names
from d2s.convert.numbers_found import clipped, complaint, in_brief, normals, spread, spread_in_place, trials
from d2s.convert.objects import is_made
from d2s.convert.operators import getter, method_called
from d2s.convert.own_gradients import applied
from d2s.convert.own_ways import own_way
from d2s.convert.pure import HIGHER, READING, in_pure_module, is_pure
from d2s.convert.seeds import begin_anew
from d2s.convert.sizes_found import most, parts, smallest
from d2s.convert.steps import step_of
from d2s.convert.stores import CHANGING
from d2s.eager import in_place_forms
from d2s.eager.py_layer import PyLayer
from d2s.errors import D2SError, brief
from d2s.ops import Op
from d2s.ops.draw import Draw
from d2s.ops.extremes import clip
from d2s.ops.operators import Operators
from d2s.ops.random import normal, uniform
from d2s.ops.slicing import split
from d2s.ops.sort import kthvalue, topk
from d2s.runtime import random_state

Becomes = Callable[..., Any] | None
RECORDED: dict[Any, Callable[..., Any]] = {  # functions of d2s's own that act, and how a capture records what they do
    random_state.seed: begin_anew,
    split: parts,
    topk: most,
    kthvalue: smallest,
    clip: clipped,
    normal: normals,
    uniform: spread,
    in_place_forms.uniform: spread_in_place,
    in_place_forms.geometric: trials,
    brief: in_brief,
    PyLayer.apply.__func__: lambda tracer, cls, *args, **kwargs: applied(call, tracer, cls, *args, **kwargs),  # type: ignore[attr-defined]
    Entering.__enter__: lambda tracer, manager: manager.__enter__(),
    Entering.__exit__: lambda tracer, manager, *raised: of_each(manager.__exit__, *raised),
}
IGNORED: set[str] = set()  # modules whose functions run as they are
_DISPATCHED = functools.singledispatch(lambda value: None).__code__  # type: ignore[attr-defined]  # of what `singledispatch` makes


def call(function: Any) -> Callable[..., Any]:
    """What is called instead of `function`."""
    tracer = capturing()
    if tracer is None:
        return function  # type: ignore[no-any-return]
    for becomes in _IN_TURN:
        found = becomes(tracer, function)
        if found is not None:
            return found
    return refuse_call(function)


def decorator(function: Any) -> Callable[..., Any]:
    """What decorates a function or a class that is defined inside: of the user's functions, as any call of them."""
    tracer = capturing()
    if tracer and any(function is known for known in (functools.lru_cache, functools.cache)):
        return functools.partial(make, call, tracer, Remembering)
    written = getattr(function, "__func__", function)
    users = isinstance(written, types.FunctionType) and not in_library(written.__code__.co_filename)
    users = users or is_made(function) or answers(function, "__call__")
    return call(function) if users else function  # type: ignore[no-any-return]


def _one_of_several(tracer: Tracer, function: Any) -> Becomes:
    if not isinstance(function, OneOf):
        return None
    return lambda *args, **kwargs: each(function, lambda one: call(one)(*args, **kwargs))


def _object_that_is_called(tracer: Tracer, function: Any) -> Becomes:
    """An object of a class of the user's with a `__call__` that Python finds by its name."""
    own = None if hasattr(type(function), "captured_as") else method_of(function, "__call__")
    return own and _bound(tracer, function, own)


def _complaint(tracer: Tracer, function: Any) -> Becomes:
    """d2s's own, from its functions that are captured."""
    is_one = isinstance(function, type) and issubclass(function, D2SError)
    return functools.partial(complaint, function) if is_one else None


def _op(tracer: Tracer, function: Any) -> Becomes:
    if isinstance(function, Op) and function in RECORDED:
        return _recorded(tracer, function, RECORDED[function])
    if isinstance(function, types.MethodType) and isinstance(function.__self__, Operators):
        method: Any = function.__func__
        recorded = RECORDED.get(method) or RECORDED.get(getattr(method, "__wrapped__", None))
        if recorded:
            found = functools.partial(_recorded(tracer, inspect.unwrap(method), recorded), function.__self__)
            takes = getattr(method, "takes", None)  # of an in-place form
            return (lambda *args, **kwargs: takes(function.__self__, found(*args, **kwargs))) if takes else found
    is_op = isinstance(function, Op) or isinstance(getattr(function, "__self__", None), Operators)
    return functools.partial(of_ops, function) if is_op else None


def _recorded(tracer: Tracer, function: Any, record: Callable[..., Any]) -> Callable[..., Any]:
    """A function's call as a capture records it; of arguments that it has not, the function itself complains."""
    parameters = inspect.signature(record)

    def recorded(*args: Any, **kwargs: Any) -> Any:
        if "name" in kwargs and not isinstance(function, Draw):
            kwargs = unlabelled(kwargs)
        try:
            parameters.bind(tracer, *args, **kwargs)
        except TypeError:
            return of_ops(function, *args, **kwargs)
        return record(tracer, *map(with_numbers, args), **{name: with_numbers(value) for name, value in kwargs.items()})

    return recorded


def _captured(tracer: Tracer, function: Any) -> Becomes:
    """A layer, or a function made static."""
    captured_as = getattr(type(function), "captured_as", None)
    if not captured_as:
        return None
    source = "captured", function, None
    tracer.guard((id(function), "captured"), type(function).__name__, lambda: captured_as(function), source=source)
    return call(captured_as(function))


def _partial(tracer: Tracer, function: Any) -> Becomes:
    if not isinstance(function, functools.partial):
        return None
    return functools.partial(call(function.func), *function.args, **function.keywords)


def _method_of_container(tracer: Tracer, function: Any) -> Becomes:
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, list | dict | set) and name in CHANGING:
        return functools.partial(change, call, tracer, function)
    if isinstance(owner, list | dict | set | tuple) and name in READING:
        return functools.partial(read, tracer, function)
    if isinstance(owner, types.GeneratorType) and name in ("send", "throw", "close"):
        return functools.partial(advance, tracer, function)
    return refuse_call(getattr(plain_kind(owner), name)) if _is_unknown(tracer, function) else None


def _is_unknown(tracer: Tracer, function: Any) -> bool:
    """Whether it is a method that containers of the capture have, and nobody knows."""
    return isinstance(getattr(function, "__self__", None), STAND_INS) and not of_object_itself(call, tracer, function)


def _method(tracer: Tracer, function: Any) -> Becomes:
    if not isinstance(function, types.MethodType):
        return None
    return of_named_tuple(function) or functools.partial(call(function.__func__), function.__self__)


def _made_by_operator(tracer: Tracer, function: Any) -> Becomes:
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return getter(function)
    if not isinstance(function, operator.methodcaller):
        return None
    name, args, kwargs = method_called(function)
    return lambda owner: call(get_attribute(owner, name))(*args, **kwargs)


def _dispatching(tracer: Tracer, function: Any) -> Becomes:
    if isinstance(function, DispatchedMethod):
        return functools.partial(_dispatched_method, tracer, function)
    made = isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHED
    return functools.partial(_dispatched, tracer, function) if made else None


def _only_typed(tracer: Tracer, function: Any) -> Becomes:
    """`TypedDict`s and `list[int]`: what they are of is not asked."""
    if typing.is_typeddict(function):
        return call(dict)
    of = typing.get_origin(function)
    return call(of) if isinstance(of, type) else None


def _computing(tracer: Tracer, function: Any) -> Becomes:
    """What only computes, and what calls what it is given."""
    if is_pure(function):
        return functools.partial(pure, tracer, function)
    if any(function is known for known in HIGHER):
        return functools.partial(higher, call, tracer, function)
    return functools.partial(of_module, tracer, function) if in_pure_module(function) else None


def _left_as_it_is(tracer: Tracer, function: Any) -> Becomes:
    """What the user wants not to be rewritten."""
    left = getattr(function, "d2s_not_to_static", False) or getattr(function, "__module__", None) in IGNORED
    if not left or not isinstance(function, types.FunctionType):
        return None
    guard_names(tracer, function)
    return functools.partial(given, tracer, function)


def _written(tracer: Tracer, function: Any) -> Becomes:
    """A function with a text."""
    if not isinstance(function, types.FunctionType):
        return None
    if function in RECORDED:
        return _recorded(tracer, function, RECORDED[function])
    if in_standard_library(function.__code__.co_filename) and not is_followed(function):
        return _managing(tracer, function) or library_step(tracer, function) or refuse_call(function)
    if (function.__module__ or "").startswith("d2s.ops."):
        return functools.partial(of_ops, function)  # made of ops, without a decision on a tensor's value
    return follow(tracer, function)


def _making(tracer: Tracer, function: Any) -> Becomes:
    """A class of the user's, an enum, a layer without weights."""
    if is_made(function):
        return functools.partial(make, call, tracer, function)
    if isinstance(function, enum.EnumMeta):
        return functools.partial(member, function)
    if isinstance(function, type) and hasattr(function, "captured_as") and in_library(inspect.getfile(function)):
        return functools.partial(layer, function)
    return None


def _keeping(tracer: Tracer, function: Any) -> Becomes:
    return functools.partial(_cached, tracer, function) if isinstance(function, functools._lru_cache_wrapper) else None


def _object_of_a_library(tracer: Tracer, function: Any) -> Becomes:
    """An object whose class has a `__call__`, whoever wrote it."""
    own = inspect.getattr_static(type(function), "__call__", None)
    return _bound(tracer, function, own) if isinstance(own, types.FunctionType) and not isinstance(function, type) else None


# Who comes first takes what those behind would take for something else.
_IN_TURN: tuple[Callable[[Tracer, Any], Becomes], ...] = (
    _one_of_several,
    _object_that_is_called,
    _complaint,
    _op,
    draws,
    step_of,
    _captured,
    _partial,
    _method_of_container,
    functools.partial(of_object_itself, call),
    _method,
    functools.partial(own_way, call),
    _made_by_operator,
    _dispatching,
    _only_typed,
    functools.partial(of_exception, call),
    _computing,
    _left_as_it_is,
    _written,
    _making,
    _keeping,
    _object_of_a_library,
    library_step,
)


def _bound(tracer: Tracer, owner: Any, function: types.FunctionType) -> Callable[..., Any]:
    guard_method(tracer, type(owner), "__call__")
    return call(types.MethodType(function, owner))


def _dispatched(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function made by `functools.singledispatch`."""
    kind = kind_of(args[0]) if args else type
    tracer.guard((id(function), "dispatch", kind), function.__name__, lambda: function.dispatch(kind))
    return call(function.dispatch(kind) if args else function.__wrapped__)(*args, **kwargs)


def _dispatched_method(tracer: Tracer, method: DispatchedMethod, *args: Any, **kwargs: Any) -> Any:
    """A method made by `functools.singledispatchmethod`."""
    dispatch, kind = method.made.dispatcher.dispatch, kind_of(args[0]) if args else type
    tracer.guard((id(method.made), "dispatch", kind), kind.__name__, lambda: dispatch(kind))
    return call(dispatch(kind).__get__(method.instance, method.kind))(*args, **kwargs)


def _cached(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of constants, what it has found for them; a cache that is cleared finds anew, so each call asks it."""
    if function.cache_parameters()["maxsize"] == 0 or not is_plain([*args, *kwargs.values()]):
        refuse_call(function)
    key = id(function), "cached", repr((args, kwargs))
    tracer.guard(key, f"{function.__name__}()", functools.partial(function, *args, **kwargs))
    return given(tracer, function, *args, **kwargs)


def _managing(tracer: Tracer, function: types.FunctionType) -> Becomes:
    """Of the standard library's functions, those that make managers of the user's generators."""
    wrapped = manager_of(function)
    if wrapped is None:
        return None
    guard_names(tracer, wrapped)
    return lambda *args, **kwargs: Entering(wrapped, args, kwargs)


calling.through = call
