"""What calls become: user functions are rewritten and called, ops recorded; what would act at capture only is refused.

>>> call(len)([1, 2])
2
"""

import contextlib
import dataclasses
import functools
import inspect
import itertools
import logging
import operator
import types
from collections.abc import Callable
from typing import Any, NoReturn

from d2s.autodiff.mode import Switch
from d2s.capture.alternatives import each, table
from d2s.capture.branch import possible
from d2s.capture.by_path import opened
from d2s.capture.containers import STAND_INS, by_path, new_object, plain_kind, stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.guards import MISSING
from d2s.capture.kinds import GIVEN
from d2s.capture.reads import changing
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.taping import switched
from d2s.capture.training import backward_of, grad_of
from d2s.capture.tree import flatten, rebuild
from d2s.capture.undefined import Undefined, load
from d2s.capture.users_code import in_library, in_package, in_standard_library, refuse
from d2s.convert.exceptions import of_exception
from d2s.convert.generators import Entering, Suspended, manager_of
from d2s.convert.growing import joined_by
from d2s.convert.library import greatest, is_plain, of_named_tuple, reduced, replaced
from d2s.convert.loads import attribute, guard_attribute, guard_content, guard_fields, items_of, refuse_consumption
from d2s.convert.logical import all_, any_
from d2s.convert.names import guard_names
from d2s.convert.objects import initial, is_users
from d2s.convert.operators import ASKING, getter
from d2s.convert.pure import HIGHER, LOOKING, OF_GROWN, READING, is_pure
from d2s.convert.recipes import count_, enumerate_, range_, reversed_, zip_
from d2s.convert.recursion import entered
from d2s.convert.steps import of_symbols, step_of, to_tensor_of
from d2s.convert.stores import CHANGING
from d2s.eager.gradients import backward, grad
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import D2SError
from d2s.ops import Op
from d2s.ops.dispatch import handlers, handling
from d2s.ops.operators import Operators
from d2s.runtime import launch, random_state

RECORDED: dict[Any, Callable[..., Any]] = {}  # functions of d2s's own that act, and how a capture records what they do
IGNORED: set[str] = set()  # modules whose functions run as they are


def call(function: Any) -> Callable[..., Any]:
    """What is called instead of `function`."""
    tracer = capturing()
    if tracer is None:
        return function  # type: ignore[no-any-return]
    if isinstance(function, OneOf):
        return lambda *args, **kwargs: each(function, lambda one: call(one)(*args, **kwargs))
    if isinstance(function, type) and issubclass(function, D2SError):
        return function  # d2s's own complaints, from its functions that are captured
    if isinstance(function, Op) or isinstance(getattr(function, "__self__", None), Operators):
        return functools.partial(_of_ops, function)
    step = step_of(tracer, function)
    if step is not None:
        return step
    captured_as = getattr(type(function), "captured_as", None)  # layers, and functions made static
    if captured_as:
        tracer.guard(
            (id(function), "captured"),
            type(function).__name__,
            lambda: captured_as(function),
            source=("captured", function, None),
        )
        return call(captured_as(function))
    if isinstance(function, functools.partial):
        return functools.partial(call(function.func), *function.args, **function.keywords)
    changes = getattr(function, "__self__", None)
    if isinstance(changes, list | dict | set) and function.__name__ in CHANGING:
        return functools.partial(_change, tracer, function)
    if isinstance(changes, STAND_INS) and function.__name__ in READING:
        return functools.partial(_of_each, function)
    if isinstance(changes, STAND_INS):
        _refused(getattr(plain_kind(changes), function.__name__))
    if isinstance(function, types.MethodType):
        of_tuple = of_named_tuple(function)
        return of_tuple or functools.partial(call(function.__func__), function.__self__)
    seeing = next((special for known, special in _SEEING if known is function), None)
    if seeing:
        return functools.partial(_begun, functools.partial(seeing, tracer))
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return getter(function)
    of_exceptions = of_exception(tracer, call, function)
    if of_exceptions is not None:
        return of_exceptions
    if is_pure(function):
        return functools.partial(_call_pure, tracer, function)
    if any(function is known for known in HIGHER):
        return functools.partial(_call_higher, tracer, function)
    if isinstance(function, types.FunctionType) and (
        getattr(function, "d2s_not_to_static", False) or function.__module__ in IGNORED
    ):
        guard_names(tracer, function)
        return functools.partial(_given, tracer, function)
    if isinstance(function, types.FunctionType):
        record = RECORDED.get(function)
        return functools.partial(record, tracer) if record else _call_user(tracer, function)
    if is_users(function):
        return functools.partial(_make, tracer, function)
    if isinstance(function, type) and hasattr(function, "captured_as") and in_library(inspect.getfile(function)):
        return functools.partial(_layer, function)
    if isinstance(function, functools._lru_cache_wrapper):
        return functools.partial(_cached, tracer, function)
    own = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(own, types.FunctionType) and not isinstance(function, type):
        return call(types.MethodType(own, function))
    return _refused(function)


def _make(tracer: Tracer, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An object of a class of the user's."""
    guard_attribute(tracer, cls, "__init__")
    fields = initial(cls, args, kwargs, call)
    made = tracer.root.heap.made(new_object(cls, {name: stand_in(value) for name, value in (fields or {}).items()}))
    if fields is None:
        call(cls.__init__)(made, *args, **kwargs)
    elif hasattr(made, "__post_init__"):
        call(made.__post_init__)()
    return made


def _layer(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A layer of ours without weights is what it is given: one that a capture makes is like that of each call."""
    if not is_plain([*args, *kwargs.values()]):
        _refused(cls)
    with random_state.apart(0), handling(handlers.base):
        made = cls(*args, **kwargs)
    return _refused(cls) if [*made.parameters(), *made.buffers(), *made.sublayers()] else made


def _cached(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of constants, what it has found for them once and for all."""
    return _given(tracer, function, *args, **kwargs) if is_plain([*args, *kwargs.values()]) else _refused(function)


def _call_user(tracer: Tracer, function: types.FunctionType) -> Callable[..., Any]:
    if in_standard_library(function.__code__.co_filename):
        return _managing(tracer, function)
    if (function.__module__ or "").startswith("d2s.ops."):
        return functools.partial(_of_ops, function)  # made of ops, without a decision on a tensor's value
    if not in_package(function.__code__.co_filename):
        guard_names(tracer, function)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return lambda *args, **kwargs: tracer.begun(Suspended(function, args, kwargs))
    return functools.partial(entered, function)


def _managing(tracer: Tracer, function: types.FunctionType) -> Callable[..., Any]:
    """Of the standard library's functions, those that make managers of the user's generators."""
    wrapped = manager_of(function)
    if wrapped is None:
        _refused(function)
    guard_names(tracer, wrapped)
    return lambda *args, **kwargs: Entering(wrapped, args, kwargs)


def _given(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function gives that runs as it is: nobody knows where its containers come from."""
    result = _of_each(function, *args, **kwargs)
    tracer.give(result)
    return result


def _begun(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call gives; if that is an iterator, it goes on on this path only."""
    tracer, result = capturing(), function(*args, **kwargs)
    return tracer.begun(result) if tracer and hasattr(result, "__next__") else result


def _refused(function: Any) -> NoReturn:
    name = getattr(function, "__qualname__", type(function).__name__)
    message = f"'{name}' is called: what it does would happen once, when the function is captured, and not at each call"
    refuse("D2S1004", message, "call it outside of the captured function")


def _call_pure(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    tracer = capturing() or tracer  # of an alternative: the path where a value is that
    if args and is_grown(args[0]) and function in OF_GROWN:
        return asked(args[0], OF_GROWN[function], *args[1:], **kwargs)
    if function in (list, dict) and len(args) == 1 and by_path(args[0]) and plain_kind(args[0]) is function:
        return args[0].copy()
    args = tuple(map(opened, args)) if function in LOOKING else args
    if _several(args, kwargs):
        return _of_each(functools.partial(_call_pure, tracer, function), *args, **kwargs)
    found = of_symbols(tracer, function, args, kwargs)
    if found is not MISSING:
        return found
    guard_content(tracer, getattr(function, "__self__", None))
    if getattr(function, "__name__", "") in ("index", "count"):
        guard_fields(tracer, (function.__self__, args))
    args = tuple(items_of(tracer, value) for value in args)
    for value in (*args, *kwargs.values()):
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if _acts(value) or not (
            callable(value) or isinstance(value, (SymbolicTensor, Tensor, *GIVEN)) or hasattr(value, "__next__")
        ):
            _refused(value)
    found = _begun(function, *(tracer.lift(a) if isinstance(a, Tensor) else a for a in args), **kwargs)
    return tracer.root.heap.made(stand_in(found)) if function in (list, dict, set) else found


def _call_higher(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of functions that call others: these are the user's, rewritten."""
    tracer = capturing() or tracer
    args = tuple(map(opened, args))
    if _several(args, kwargs):
        return _of_each(functools.partial(_call_higher, tracer, function), *args, **kwargs)
    kwargs = {name: call(value) if _acts(value) else value for name, value in kwargs.items()}
    for value in args:
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
    found = _begun(function, *(call(value) if _acts(value) else value for value in args), **kwargs)
    return tracer.root.heap.made(stand_in(found)) if function is sorted else found


def _greatest(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`min` and `max`."""
    args = tuple(map(opened, args)) if len(args) == 1 else args
    if len(args) == 1 and isinstance(args[0], OneOf):
        return each(args[0], lambda one: _greatest(function, one, **kwargs))
    return greatest(call, function, *args, **kwargs)


def _change(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of a container; what it is given is read to the end now."""
    for value in args:
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if function.__name__ not in ("append", "insert", "setdefault") and isinstance(value, SymbolicTensor | Tensor | OneOf):
            refuse("D2S1003", f"'{function.__name__}' of a {type(function.__self__).__name__} with a tensor", "use append")
    if function.__name__ not in ("append", "extend", "update", "add"):
        guard_content(tracer, function.__self__)
    if function.__name__ == "remove":
        guard_fields(tracer, (function.__self__, args))
    changing(tracer, function.__self__)
    return function(*args, **kwargs)


def _acts(value: Any) -> bool:
    """Whether a pure function that calls this would do more than it shows."""
    return callable(value) and not isinstance(value, type) and not is_pure(value) and not isinstance(value, Operators)


def _several(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    return any(isinstance(v, OneOf) for v in (*args, *kwargs.values()))


def _of_ops(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same of ops and what is made of them, which take the items of a list."""
    if any(map(is_grown, (*args, *kwargs.values()))):
        return joined_by(function, args, kwargs)
    return _of_each(function, *map(opened, args), **{name: opened(value) for name, value in kwargs.items()})


def _of_each(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The call for each alternative of arguments that are one of several."""
    leaves, skeleton = flatten([args, kwargs])
    place = next((n for n, value in enumerate(leaves) if isinstance(value, OneOf)), None)
    if place is None:
        return function(*args, **kwargs)

    def of(one: Any) -> Any:
        args, kwargs = rebuild(skeleton, [*leaves[:place], one, *leaves[place + 1 :]])
        return _of_each(function, *args, **kwargs)

    return each(leaves[place], of)


def _isinstance(tracer: Tracer, value: Any, kind: Any) -> Any:
    if isinstance(value, OneOf):
        return table(tracer, value, {k: _isinstance(tracer, value.alternatives[k], kind) for k in possible(tracer, value)})
    return issubclass(kind_of(value), kind)


def _callable(tracer: Tracer, value: Any) -> Any:
    return _of_each(lambda one: "__call__" in dir(kind_of(one)), value)


def _type(tracer: Tracer, value: Any) -> Any:
    if isinstance(value, OneOf):
        return each(value, kind_of)
    return kind_of(value)


def kind_of(value: Any) -> Any:
    """The class of a value, as the user's code would see it eagerly."""
    if isinstance(value, Undefined):
        load(value, value.name)
    if isinstance(value, Later):
        if value.example is MISSING:
            refuse("D2S1004", "the class of an object that only a run will have", "convert it: float(...), int(...), str(...)")
        return type(value.example)
    if isinstance(value, Suspended):
        return types.GeneratorType
    if not isinstance(value, SymbolicTensor):
        return plain_kind(value)
    return {"b": bool, "i": int, "f": float}[value.dtype.kind] if value.value.type.python else Tensor


def _getattr(tracer: Tracer, owner: Any, name: str, *default: Any) -> Any:
    try:
        return attribute(owner, name)
    except AttributeError:
        if ("attribute", id(owner), name) not in tracer.root.heap.places:
            guard_attribute(tracer, owner, name)
        if default:
            return default[0]
        raise


def _hasattr(tracer: Tracer, owner: Any, name: str) -> bool:
    return _getattr(tracer, owner, name, MISSING) is not MISSING


def _next(tracer: Tracer, iterator: Any, *default: Any) -> Any:
    refuse_consumption(tracer, iterator)
    return next(iterator, *default)


def _partial(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    return functools.partial(function, *args, **kwargs)


def _to_tensor(tracer: Tracer, data: Any, dtype: Any = None, stop_gradient: bool = True) -> Any:
    """A number becomes a constant of the graph, other data a tensor made once: it is not data of the call."""
    if isinstance(data, Later) or (isinstance(data, SymbolicTensor) and data.value.type.python):
        return to_tensor_of(tracer, data, dtype)
    if isinstance(data, SymbolicTensor | Tensor) or not stop_gradient:
        message = "to_tensor() of a tensor, or of one that wants a gradient"
        refuse("D2S1003", message, "make it outside of the captured function")
    if not all(isinstance(leaf, bool | int | float) for leaf in flatten(data)[0]):
        refuse(
            "D2S1003", f"to_tensor() of a {type(data).__name__}: a change of it would not be seen", "make the tensor outside"
        )
    guard_content(tracer, data)
    tensor = to_tensor(data, dtype)
    if isinstance(data, int | float):
        return tracer.constant(tensor.item(), launch.type_of(tensor.array))
    tracer.root.made[id(tensor)] = tensor
    return tensor


def _asking(asks: Callable[..., Any], tracer: Tracer, *args: Any) -> Any:
    return asks(*args)


_SEEING: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (isinstance, _isinstance),
    (type, _type),
    (callable, _callable),
    (getattr, _getattr),
    (hasattr, _hasattr),
    (to_tensor, _to_tensor),
    (Switch, switched),
    (grad, grad_of),
    (backward, backward_of),
    (super, lambda tracer, *args: super(*args)),
    (next, _next),
    (any, any_),
    (all, all_),
    (functools.partial, _partial),
    *((known, functools.partial(_asking, asks)) for known, asks in ASKING),
    (operator.itemgetter, lambda tracer, *keys: operator.itemgetter(*keys)),
    (operator.attrgetter, lambda tracer, *names: operator.attrgetter(*names)),
    (contextlib.nullcontext, lambda tracer, *result: contextlib.nullcontext(*result)),
    (logging.getLogger, lambda tracer, *names: logging.getLogger(*names)),
    (contextlib.suppress, lambda tracer, *kinds: contextlib.suppress(*kinds)),
    (itertools.count, count_),
    (min, lambda tracer, *args, **kwargs: _greatest(min, *args, **kwargs)),
    (max, lambda tracer, *args, **kwargs: _greatest(max, *args, **kwargs)),
    (functools.reduce, lambda tracer, *args: reduced(call, *args)),
    (dataclasses.replace, lambda tracer, record, **changes: replaced(call, record, **changes)),
    (range, range_),
    (enumerate, enumerate_),
    (zip, zip_),
    (reversed, reversed_),
)
