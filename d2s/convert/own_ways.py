"""Functions of Python's library that a capture does in a way of its own: they compare, take all items, or call others.

In: `call`, which says what a function becomes, and a function. Out: what is called instead of it at capture.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     own_way(lambda function: function, tracer, sorted)([2, 1]), own_way(lambda function: function, tracer, len)
([1, 2], None)
"""

import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import logging
import operator
import types
import typing
from collections.abc import Callable
from typing import Any

from d2s.autodiff.mode import Lasting, Switch
from d2s.capture.alternatives import each, of_each
from d2s.capture.by_path import gathered, opened
from d2s.capture.containers import by_path, new_object, plain_kind, stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.taping import lasting, switched
from d2s.capture.training import backward_of, grad_of
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import refuse, refuse_call
from d2s.convert.attributes import delete_attribute, get_attribute, set_attribute
from d2s.convert.classes import callable_, getattr_, hasattr_, isinstance_, type_
from d2s.convert.collected import COLLECTED
from d2s.convert.computing import begun, pure
from d2s.convert.copies import as_dict, as_tuple, deeply, once
from d2s.convert.generators import Suspended
from d2s.convert.library import greatest, in_order, reduced, replaced, summed
from d2s.convert.library_objects import LIBRARY_OBJECTS
from d2s.convert.loads import gone_over, items_of, iterate, known, refuse_consumption
from d2s.convert.logical import not_
from d2s.convert.making import make
from d2s.convert.methods import answers, walked
from d2s.convert.operators import ASKING, binary
from d2s.convert.recipes import count_, enumerate_, range_, repeat_, reversed_, zip_
from d2s.convert.stores import set_item
from d2s.convert.taken_on import dropped_while, taken_while, until
from d2s.convert.taking import every, folded, generated, next_of, settled, some
from d2s.convert.to_tensor import made_of
from d2s.eager.gradients import backward, grad
from d2s.eager.tensor import Tensor, to_tensor

Call = Callable[[Any], Callable[..., Any]]


def _without(call: Call, tracer: Tracer, function: Any, iterable: Any) -> Any:
    test = call(function) if function is not None else lambda item: item
    return generated(iterable, lambda item: (not_(test(item)), lambda: item, False))


def _generated_by(function: Any) -> Callable[..., Any]:
    """What a function of Python's library gives, as a generator that is followed."""
    return lambda call, tracer, *args: tracer.begun(Suspended(function, args, {}))


def _iterator(call: Call, tracer: Tracer, *args: Any) -> Any:
    return _generated_by(until)(call, tracer, *args) if len(args) == 2 else pure(tracer, iter, *args)


def _collected(of: Any, call: Call, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    return make(call, tracer, of, *args, **kwargs)


def _namespace(call: Call, tracer: Tracer, **attributes: Any) -> Any:
    return tracer.root.heap.made(new_object(types.SimpleNamespace, attributes))


def _filter(call: Call, tracer: Tracer, function: Any, iterable: Any) -> Any:
    test = call(function) if function is not None else lambda item: item
    return generated(iterable, lambda item: (test(item), lambda: item, False))


def _sorted(call: Call, tracer: Tracer, iterable: Any, **kwargs: Any) -> Any:
    several = opened(settled(iterable))
    if isinstance(several, OneOf):
        return gathered(each(several, lambda one: _sorted(call, tracer, one, **kwargs)))
    if is_grown(several):
        return asked(several, "sorted", kwargs.get("key"), bool(kwargs.get("reverse")))
    return tracer.root.heap.made(stand_in(in_order(call, several, **kwargs)))


def _sum(call: Call, tracer: Tracer, iterable: Any, start: Any = 0) -> Any:
    total = folded(lambda total, item: binary(total, "+", item), iterable, start)
    if total is not None:
        return total
    iterable = settled(iterable)
    if is_grown(iterable):
        return asked(iterable, "sum", start)
    return of_each(summed, opened(iterable), start)


def _reduced(call: Call, tracer: Tracer, function: Any, iterable: Any, *first: Any) -> Any:
    total = folded(call(function), iterable, first[0]) if first else None
    return reduced(call, function, settled(iterable), *first) if total is None else total


def _greatest(function: Any, call: Call, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    """`min` and `max`."""
    args = (opened(settled(args[0])),) if len(args) == 1 else args
    if len(args) == 1 and isinstance(args[0], OneOf):
        return each(args[0], lambda one: _greatest(function, call, tracer, one, **kwargs))
    return greatest(call, function, *args, **kwargs)


def _next(call: Call, tracer: Tracer, iterator: Any, *default: Any) -> Any:
    refuse_consumption(tracer, iterator)
    return next_of(tracer, walked(iterator) if answers(iterator, "__next__") else iterator, *default)


def _by_place(tracer: Tracer, value: Any) -> Any:
    """Of a list of layers its layers, unless the user says what is in it."""
    return value if answers(value, "__reversed__", "__getitem__", "__len__", "__iter__") else items_of(tracer, value)


def _asking(asks: Callable[..., Any], call: Call, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    return asks(*args, **kwargs)


def _told(asks: Callable[..., Any], call: Call, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    return asks(tracer, *args, **kwargs)


def _calling(does: Callable[..., Any], call: Call, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
    return does(call, *args, **kwargs)


def _tee(call: Call, tracer: Tracer, iterable: Any, n: Any = 2) -> Any:
    return tuple(map(tracer.begun, itertools.tee(iter(iterate(iterable)), n)))


def _names(call: Call, tracer: Tracer, owner: Any) -> Any:
    """`dir(owner)`, by what the function has changed of it."""
    if isinstance(owner, SymbolicTensor | Later | OneOf) or answers(owner, "__dir__"):
        refuse_call(dir)
    if not tracer.root.heap.has(owner):
        tracer.guard((id(owner), "names"), f"dir() of a {type(owner).__name__}", lambda: " ".join(dir(owner)))
    places = {key[2]: known(place) for key, place in tracer.root.heap.places.items() if key[:2] == ("attribute", id(owner))}
    found = {*dir(owner), *places} - {name for name, held in places.items() if isinstance(held, Undefined)}
    return tracer.root.heap.made(stand_in(sorted(found)))


def _wrapper(call: Call, tracer: Tracer, wrapper: Any, wrapped: Any, *names: Any, **named: Any) -> Any:
    """`functools.update_wrapper`: an object of the function's is given attributes as by its own text."""
    if not tracer.root.heap.is_record(wrapper):
        return functools.update_wrapper(wrapper, wrapped, *names, **named)
    if names or named:
        refuse_call(functools.update_wrapper)
    for name in functools.WRAPPER_ASSIGNMENTS:
        if hasattr(wrapped, name):
            set_attribute(getattr(wrapped, name), wrapper, name)
    set_attribute(wrapped, wrapper, "__wrapped__")
    return wrapper


def _repeat(call: Call, tracer: Tracer, value: Any, *times: Any) -> Any:
    by_run = any(isinstance(n, SymbolicTensor | Tensor) for n in times)
    return repeat_(tracer, value, *times) if by_run else pure(tracer, itertools.repeat, value, *times)


def _islice(call: Call, tracer: Tracer, iterable: Any, *bounds: Any) -> Any:
    if any(isinstance(bound, SymbolicTensor | Tensor) for bound in bounds):
        message = "islice() of as many items as only a run will tell"
        refuse("D2S1001", message, "take them from a list: parts[:n], or leave a `for` by `break`")
    return pure(tracer, itertools.islice, iterable, *bounds)


def _of_heap(function: Any, call: Call, tracer: Tracer, heap: Any, *args: Any) -> Any:
    """A function of `heapq` that changes a list: Python compares the items, the list is given the order they have then."""
    if plain_kind(heap) is not list or by_path(heap) or is_grown(heap):
        refuse_call(function)
    items = list(iterate(heap))
    found = function(items, *args)
    set_item(items, heap, slice(None))
    return found


_HEAPS = (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop, heapq.heapreplace)
_AS_IT_IS: tuple[Any, ...] = (functools.partial, operator.itemgetter, operator.attrgetter, operator.methodcaller)
_AS_IT_IS += (contextlib.nullcontext, contextlib.suppress, logging.getLogger, collections.namedtuple, super)
_AS_IT_IS += (dataclasses.fields, dataclasses.is_dataclass, dataclasses.dataclass, functools.wraps)
_TOLD: dict[Any, Callable[..., Any]] = {  # by a tracer
    isinstance: isinstance_,
    type: type_,
    callable: callable_,
    getattr: getattr_,
    hasattr: hasattr_,
    Switch: switched,
    Lasting: lasting,
    grad: grad_of,
    backward: backward_of,
    any: some,
    all: every,
    itertools.count: count_,
    range: range_,
    enumerate: lambda tracer, iterable, *start, **named: enumerate_(tracer, gone_over(iterable), *start, **named),
    zip: lambda tracer, *iterables, **how: zip_(tracer, *map(gone_over, iterables), **how),
    reversed: lambda tracer, iterable: reversed_(tracer, _by_place(tracer, iterable)),
}
_CALLING: dict[Any, Callable[..., Any]] = {  # what the user has written
    copy.copy: once,
    copy.deepcopy: deeply,
    dataclasses.asdict: as_dict,
    dataclasses.astuple: as_tuple,
    dataclasses.replace: replaced,
}
_PLAINLY: dict[Any, Callable[..., Any]] = {  # functions of these arguments alone
    **dict(ASKING),
    **{function: function for function in _AS_IT_IS},
    setattr: lambda owner, name, value: set_attribute(value, owner, name),
    delattr: delete_attribute,
    typing.cast: lambda kind, value: value,
    vars: lambda owner: get_attribute(owner, "__dict__"),
}
_OWN_WAYS: dict[Any, Callable[..., Any]] = {
    **{function: functools.partial(_told, way) for function, way in _TOLD.items()},
    **{function: functools.partial(_calling, way) for function, way in _CALLING.items()},
    **{function: functools.partial(_asking, way) for function, way in _PLAINLY.items()},
    **{function: functools.partial(_of_heap, function) for function in _HEAPS},
    **{kind: functools.partial(_collected, of) for kind, of in (COLLECTED | LIBRARY_OBJECTS).items()},
    to_tensor: made_of,
    next: _next,
    itertools.tee: _tee,
    itertools.repeat: _repeat,
    itertools.islice: _islice,
    dir: _names,
    sorted: _sorted,
    sum: _sum,
    min: functools.partial(_greatest, min),
    max: functools.partial(_greatest, max),
    functools.reduce: _reduced,
    functools.update_wrapper: _wrapper,
    filter: _filter,
    itertools.filterfalse: _without,
    itertools.takewhile: _generated_by(taken_while),
    itertools.dropwhile: _generated_by(dropped_while),
    iter: _iterator,
    types.SimpleNamespace: _namespace,
}


def own_way(call: Call, tracer: Tracer, function: Any) -> Callable[..., Any] | None:
    """What is called instead of a function of Python's library; None of all others."""
    way = _BY_ID.get(id(function))
    return way and functools.partial(begun, functools.partial(way, call, tracer))


_BY_ID = {id(function): way for function, way in _OWN_WAYS.items()}  # a hash may be the user's, who is not to be asked
