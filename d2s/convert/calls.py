"""What calls become: user functions are rewritten and called, ops recorded; what would act at capture only is refused.

>>> call(len)([1, 2])
2
"""

import collections
import contextlib
import copy
import dataclasses
import enum
import functools
import heapq
import inspect
import itertools
import logging
import operator
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from d2s.autodiff.mode import Switch
from d2s.capture.alternatives import each
from d2s.capture.branch import switch
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import STAND_INS, by_path, new_object, plain_kind, stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.guards import MISSING
from d2s.capture.kinds import GIVEN
from d2s.capture.reads import changing
from d2s.capture.steps import attempted
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.taping import switched
from d2s.capture.training import backward_of, grad_of
from d2s.capture.tree import containers, flatten, rebuild
from d2s.capture.users_code import in_library, in_standard_library, refuse, refuse_call
from d2s.convert.attributes import delete_attribute, get_attribute, set_attribute
from d2s.convert.classes import callable_, getattr_, hasattr_, isinstance_, kind_of, type_
from d2s.convert.collected import COLLECTED
from d2s.convert.copies import as_dict, as_tuple, deeply, once
from d2s.convert.exceptions import of_exception
from d2s.convert.generators import Entering, Suspended, manager_of
from d2s.convert.growing import joined_by
from d2s.convert.library import greatest, in_order, is_plain, of_named_tuple, places_of, reduced, replaced, summed
from d2s.convert.loads import by_key, guard_content, items_of, iterate, refuse_consumption
from d2s.convert.logical import not_
from d2s.convert.making import layer, make, member, of_object_itself
from d2s.convert.methods import answers, follow, guard_method, is_followed, method_of, walked
from d2s.convert.names import guard_names
from d2s.convert.objects import is_made
from d2s.convert.of_objects import OF_OBJECTS, of_object
from d2s.convert.operators import ASKING, binary, getter, method_called
from d2s.convert.pure import HIGHER, LOOKING, OF_GROWN, READING, TAKING, WALKING, in_pure_module, is_pure
from d2s.convert.recipes import Recipe, count_, enumerate_, range_, reversed_, zip_
from d2s.convert.seeds import begin_anew
from d2s.convert.steps import of_symbols, step_of, to_tensor_of
from d2s.convert.stores import CHANGING, made, set_item, with_known_keys
from d2s.convert.taken_on import dropped_while, taken_while, until
from d2s.convert.taking import every, folded, generated, settled, some
from d2s.eager.gradients import backward, grad
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import D2SError
from d2s.ops import Op
from d2s.ops.operators import Operators
from d2s.runtime import launch, random_state

RECORDED: dict[Any, Callable[..., Any]] = {  # functions of d2s's own that act, and how a capture records what they do
    random_state.seed: begin_anew
}
IGNORED: set[str] = set()  # modules whose functions run as they are
_DISPATCHED = functools.singledispatch(lambda value: None).__code__  # type: ignore[attr-defined]  # of what `singledispatch` makes


def call(function: Any) -> Callable[..., Any]:
    """What is called instead of `function`."""
    tracer = capturing()
    if tracer is None:
        return function  # type: ignore[no-any-return]
    if isinstance(function, OneOf):
        return lambda *args, **kwargs: each(function, lambda one: call(one)(*args, **kwargs))
    if not hasattr(type(function), "captured_as") and (own := method_of(function, "__call__")):
        guard_method(tracer, type(function), "__call__")
        return call(types.MethodType(own, function))
    if isinstance(function, type) and issubclass(function, D2SError):
        return function  # d2s's own complaints, from its functions that are captured
    if isinstance(function, Op) and function in RECORDED:
        return functools.partial(RECORDED[function], tracer)
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
    of_itself = of_object_itself(call, tracer, function)
    if of_itself:
        return of_itself
    if isinstance(changes, types.GeneratorType) and function.__name__ in ("send", "throw", "close"):
        return functools.partial(_advance, tracer, function)
    if isinstance(changes, STAND_INS):
        refuse_call(getattr(plain_kind(changes), function.__name__))
    if isinstance(function, types.MethodType):
        of_tuple = of_named_tuple(function)
        return of_tuple or functools.partial(call(function.__func__), function.__self__)
    seeing = next((special for known, special in _SEEING if known is function), None)
    if seeing:
        return functools.partial(_begun, functools.partial(seeing, tracer))
    if isinstance(function, operator.itemgetter | operator.attrgetter):
        return getter(function)
    if isinstance(function, operator.methodcaller):
        name, args, kwargs = method_called(function)
        return lambda owner: call(get_attribute(owner, name))(*args, **kwargs)
    if isinstance(function, types.FunctionType) and function.__code__ is _DISPATCHED:
        return functools.partial(_dispatched, tracer, function)
    if typing.is_typeddict(function):
        return call(dict)
    if isinstance(typing.get_origin(function), type):
        return call(typing.get_origin(function))
    of_exceptions = of_exception(tracer, call, function)
    if of_exceptions is not None:
        return of_exceptions
    if is_pure(function):
        return functools.partial(_call_pure, tracer, function)
    if any(function is known for known in HIGHER):
        return functools.partial(_call_higher, tracer, function)
    if in_pure_module(function):
        return functools.partial(_computed, tracer, function)
    if isinstance(function, types.FunctionType) and (
        getattr(function, "d2s_not_to_static", False) or function.__module__ in IGNORED
    ):
        guard_names(tracer, function)
        return functools.partial(_given, tracer, function)
    if isinstance(function, types.FunctionType):
        record = RECORDED.get(function)
        return functools.partial(record, tracer) if record else _call_user(tracer, function)
    if is_made(function):
        return functools.partial(make, call, tracer, function)
    if isinstance(function, enum.EnumMeta):
        return functools.partial(member, function)
    if isinstance(function, type) and hasattr(function, "captured_as") and in_library(inspect.getfile(function)):
        return functools.partial(layer, function)
    if isinstance(function, functools._lru_cache_wrapper):
        return functools.partial(_cached, tracer, function)
    own = inspect.getattr_static(type(function), "__call__", None)
    if isinstance(own, types.FunctionType) and not isinstance(function, type):
        guard_method(tracer, type(function), "__call__")
        return call(types.MethodType(own, function))
    return refuse_call(function)


def _dispatched(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function made by `functools.singledispatch`."""
    kind = kind_of(args[0]) if args else type
    tracer.guard((id(function), "dispatch", kind), function.__name__, lambda: function.dispatch(kind))
    return call(function.dispatch(kind) if args else function.__wrapped__)(*args, **kwargs)


def _cached(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of constants, what it has found for them once and for all."""
    return _given(tracer, function, *args, **kwargs) if is_plain([*args, *kwargs.values()]) else refuse_call(function)


def _computed(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of a function of Python's library that only computes: at capture of what is known there, else by a step."""
    leaves = flatten([args, kwargs])[0]
    if any(isinstance(leaf, SymbolicTensor | Later) for leaf in leaves):
        return attempted(function.__name__, function, *args, **kwargs)
    if any(isinstance(leaf, OneOf) for leaf in leaves):
        return _of_each(functools.partial(_computed, tracer, function), *args, **kwargs)
    if not all(is_plain([leaf]) or isinstance(leaf, re.Pattern) for leaf in leaves):
        refuse_call(function)
    for container in containers([args, kwargs]):
        guard_content(tracer, container)
    found = function(*args, **kwargs)
    return made(found) if type(found) in (list, dict, set) else found


def _call_user(tracer: Tracer, function: types.FunctionType) -> Callable[..., Any]:
    if in_standard_library(function.__code__.co_filename) and not is_followed(function):
        return _managing(tracer, function)
    if (function.__module__ or "").startswith("d2s.ops."):
        return functools.partial(_of_ops, function)  # made of ops, without a decision on a tensor's value
    return follow(tracer, function)


def _managing(tracer: Tracer, function: types.FunctionType) -> Callable[..., Any]:
    """Of the standard library's functions, those that make managers of the user's generators."""
    wrapped = manager_of(function)
    if wrapped is None:
        refuse_call(function)
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
    return tracer.begun(result) if tracer and hasattr(type(result), "__next__") else result


def _call_pure(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    tracer = capturing() or tracer  # of an alternative: the path where a value is that
    asked_of = of_object(function, *args) if args and function in OF_OBJECTS else MISSING
    if asked_of is not MISSING:
        return asked_of
    if function == itertools.chain.from_iterable:
        return _call_pure(tracer, itertools.chain, *iterate(args[0]))
    if function is pow and len(args) == 2 and not kwargs:
        return binary(args[0], "**", args[1])
    joins = getattr(function, "__name__", "") == "join"
    args = tuple(map(settled, args)) if function in TAKING or joins else args
    args = (list(iterate(args[0])),) if joins and hasattr(type(args[0]), "__next__") else args
    args = tuple(map(walked, args)) if function in WALKING or getattr(function, "__name__", "") == "join" else args
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
    if function is len and isinstance(args[0], Recipe) and not callable(args[0].length):
        return args[0].length
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    guard_content(tracer, owner)
    if name == "get" and isinstance(owner, dict) and isinstance(args[0], SymbolicTensor) and args[0].value.type.python:
        return by_key(tracer, owner, args[0], *(args[1:] or (None,)))
    if (
        name in ("index", "count")
        and isinstance(owner, list | tuple)
        and len(args) == 1
        and (found_at := places_of(owner, *args))
    ):
        return found_at[0] if name == "index" else len(found_at)
    args = tuple(items_of(tracer, value) for value in args)
    for value in (*args, *kwargs.values()):
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if _acts(value) or not (
            callable(value) or isinstance(value, (SymbolicTensor, Tensor, *GIVEN)) or hasattr(type(value), "__next__")
        ):
            refuse_call(value)
    found = _begun(function, *(tracer.lift(a) if isinstance(a, Tensor) else a for a in args), **kwargs)
    return made(found) if type(found) in (list, dict, set) else found


def _call_higher(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of functions that call others: these are the user's, rewritten."""
    tracer = capturing() or tracer
    args = tuple(map(opened, args))
    if _several(args, kwargs):
        return _of_each(functools.partial(_call_higher, tracer, function), *args, **kwargs)
    kwargs = {name: call(value) if _acts(value) else value for name, value in kwargs.items()}
    args = tuple(map(walked, args))
    for value in args:
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
    return _begun(function, *(call(value) if _acts(value) else value for value in args), **kwargs)


def _without(tracer: Tracer, function: Any, iterable: Any) -> Any:
    test = call(function) if function is not None else lambda item: item
    return generated(iterable, lambda item: (not_(test(item)), lambda: item, False))


def _generated_by(function: Any) -> Callable[..., Any]:
    """What a function of Python's library gives, as a generator that is followed."""
    return lambda tracer, *args: tracer.begun(Suspended(function, args, {}))


def _iterator(tracer: Tracer, *args: Any) -> Any:
    return _generated_by(until)(tracer, *args) if len(args) == 2 else _call_pure(tracer, iter, *args)


def _collected(of: Any, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    return make(call, tracer, of, *args, **kwargs)


def _namespace(tracer: Tracer, **attributes: Any) -> Any:
    return tracer.root.heap.made(new_object(types.SimpleNamespace, attributes))


def _filter(tracer: Tracer, function: Any, iterable: Any) -> Any:
    test = call(function) if function is not None else lambda item: item
    return generated(iterable, lambda item: (test(item), lambda: item, False))


def _sorted(tracer: Tracer, iterable: Any, **kwargs: Any) -> Any:
    several = opened(settled(iterable))
    if isinstance(several, OneOf):
        return gathered(each(several, lambda one: _sorted(tracer, one, **kwargs)))
    return tracer.root.heap.made(stand_in(in_order(call, several, **kwargs)))


def _sum(tracer: Tracer, iterable: Any, start: Any = 0) -> Any:
    total = folded(lambda total, item: binary(total, "+", item), iterable, start)
    if total is not None:
        return total
    iterable = settled(iterable)
    if is_grown(iterable):
        return asked(iterable, "sum", start)
    return _of_each(summed, opened(iterable), start)


def _reduced(tracer: Tracer, function: Any, iterable: Any, *first: Any) -> Any:
    total = folded(call(function), iterable, first[0]) if first else None
    return reduced(call, function, settled(iterable), *first) if total is None else total


def _greatest(function: Any, *args: Any, **kwargs: Any) -> Any:
    """`min` and `max`."""
    args = (opened(settled(args[0])),) if len(args) == 1 else args
    if len(args) == 1 and isinstance(args[0], OneOf):
        return each(args[0], lambda one: _greatest(function, one, **kwargs))
    return greatest(call, function, *args, **kwargs)


def _change(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """Of a container; what it is given is read to the end now."""
    if function.__name__ in ("setdefault", "pop") and args and isinstance(args[0], OneOf):
        return switch(tracer, args[0], lambda one: [_change(capturing() or tracer, function, one, *args[1:])])[0]
    for value in args:
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        if function.__name__ not in ("append", "insert", "setdefault") and isinstance(value, SymbolicTensor | Tensor | OneOf):
            refuse("D2S1003", f"'{function.__name__}' of a {type(function.__self__).__name__} with a tensor", "use append")
    if function.__name__ not in ("append", "extend", "update", "add"):
        guard_content(tracer, function.__self__)
    changing(tracer, function.__self__)
    if function.__name__ in ("add", "setdefault"):
        with_known_keys({args[0]})
    if function.__name__ == "sort":
        function.__self__[:] = in_order(call, list(function.__self__), **kwargs)
        return None
    if function.__name__ == "remove" and isinstance(function.__self__, list) and not by_path(function.__self__):
        found = places_of(function.__self__, *args)
        if found:
            del function.__self__[found[0]]
            return None
    return function(*map(walked, args) if function.__name__ in ("extend", "update") else args, **kwargs)


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


def _next(tracer: Tracer, iterator: Any, *default: Any) -> Any:
    refuse_consumption(tracer, iterator)
    return next(walked(iterator) if answers(iterator, "__next__") else iterator, *default)


def _advance(tracer: Tracer, function: Any, *args: Any) -> Any:
    refuse_consumption(tracer, function.__self__)
    return function(*args)


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


def _of_heap(function: Any, tracer: Tracer, heap: Any, *args: Any) -> Any:
    """A function of `heapq` that changes a list: Python compares the items, the list is given the order they have then."""
    if plain_kind(heap) is not list or by_path(heap) or is_grown(heap):
        refuse_call(function)
    items = list(iterate(heap))
    found = function(items, *args)
    set_item(items, heap, slice(None))
    return found


_HEAPS = (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace)
_SEEING: tuple[tuple[Any, Callable[..., Any]], ...] = (
    (isinstance, isinstance_),
    (type, type_),
    (callable, callable_),
    (getattr, getattr_),
    (hasattr, hasattr_),
    (setattr, lambda tracer, owner, name, value: set_attribute(value, owner, name)),
    (delattr, lambda tracer, owner, name: delete_attribute(owner, name)),
    (vars, lambda tracer, owner: get_attribute(owner, "__dict__")),
    (to_tensor, _to_tensor),
    (Switch, switched),
    (grad, grad_of),
    (backward, backward_of),
    (super, lambda tracer, *args: super(*args)),
    (next, _next),
    (sorted, _sorted),
    (sum, _sum),
    (any, some),
    (all, every),
    (functools.partial, _partial),
    *((known, functools.partial(_asking, asks)) for known, asks in ASKING),
    (operator.itemgetter, lambda tracer, *keys: operator.itemgetter(*keys)),
    (operator.attrgetter, lambda tracer, *names: operator.attrgetter(*names)),
    (operator.methodcaller, lambda tracer, *args, **kwargs: operator.methodcaller(*args, **kwargs)),
    (contextlib.nullcontext, lambda tracer, *result: contextlib.nullcontext(*result)),
    (logging.getLogger, lambda tracer, *names: logging.getLogger(*names)),
    (contextlib.suppress, lambda tracer, *kinds: contextlib.suppress(*kinds)),
    (itertools.count, count_),
    (min, lambda tracer, *args, **kwargs: _greatest(min, *args, **kwargs)),
    (max, lambda tracer, *args, **kwargs: _greatest(max, *args, **kwargs)),
    (functools.reduce, _reduced),
    (copy.copy, lambda tracer, value: once(call, value)),
    (copy.deepcopy, lambda tracer, value, memo=None: deeply(call, value, memo)),
    (dataclasses.asdict, lambda tracer, record, **how: as_dict(call, record, **how)),
    (dataclasses.astuple, lambda tracer, record, **how: as_tuple(call, record, **how)),
    (dataclasses.fields, lambda tracer, record: dataclasses.fields(record)),
    (dataclasses.is_dataclass, lambda tracer, record: dataclasses.is_dataclass(record)),
    (dataclasses.replace, lambda tracer, record, **changes: replaced(call, record, **changes)),
    *((known, functools.partial(_of_heap, known)) for known in _HEAPS),
    (filter, _filter),
    (itertools.filterfalse, _without),
    (itertools.takewhile, _generated_by(taken_while)),
    (itertools.dropwhile, _generated_by(dropped_while)),
    (iter, _iterator),
    (range, range_),
    *((kind, functools.partial(_collected, of)) for kind, of in COLLECTED.items()),
    (collections.namedtuple, lambda tracer, *args, **kwargs: collections.namedtuple(*args, **kwargs)),
    (types.SimpleNamespace, _namespace),
    (enumerate, enumerate_),
    (zip, zip_),
    (reversed, reversed_),
)
