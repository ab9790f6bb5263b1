"""Functions of Python's that only compute: called at capture of what is known there, of one of several values for each of them.

In: a function and what it is called with. Out: what it gives; of what only a run knows, what a step finds there.

>>> from d2s.capture.symbolic import Tracer
>>> from d2s.ops.dispatch import handling
>>> import textwrap
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     pure(tracer, len, [1, 2]), of_module(tracer, textwrap.dedent, " a")
(2, 'a')
"""

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.capture.alternatives import of_each
from d2s.capture.by_path import opened, seen_through
from d2s.capture.containers import attributes, by_path, plain_kind
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.guards import MISSING
from d2s.capture.kinds import GIVEN
from d2s.capture.reads import is_counted_alone, length
from d2s.capture.steps import attempted, number_of
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import containers, flatten
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import refuse, refuse_call
from d2s.convert.growing import joined_by
from d2s.convert.library import is_plain
from d2s.convert.loads import guard_attribute, guard_content, items_of, iterate, refuse_consumption, spread, spread_named
from d2s.convert.of_objects import OF_OBJECTS, of_object
from d2s.convert.operators import binary
from d2s.convert.pure import LOOKING, OF_GROWN, TAKING, WALKING, is_pure
from d2s.convert.recipes import Recipe, counted, iter_, zip_
from d2s.convert.steps import of_symbols
from d2s.convert.stores import made, with_known_keys
from d2s.convert.taking import counted_by_run, generated, settled
from d2s.eager.tensor import Tensor
from d2s.ops.operators import Operators
from d2s.runtime import modes

Call = Callable[[Any], Callable[..., Any]]


def pure(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function whose result depends on its arguments alone."""
    tracer = capturing() or tracer  # of an alternative: the path where a value is that
    asked_of = of_object(function, *args) if args and function in OF_OBJECTS else MISSING
    if asked_of is not MISSING:
        return asked_of
    if function == itertools.chain.from_iterable:
        return pure(tracer, itertools.chain, *iterate(args[0]))
    if function is iter and len(args) == 1 and isinstance(args[0], Recipe | Tensor | SymbolicTensor):
        return iter_(tracer, args[0])
    if function is pow and len(args) == 2 and not kwargs:
        return binary(args[0], "**", args[1])
    args = _taken(function, args)
    if args and is_grown(args[0]) and function in OF_GROWN:
        return asked(args[0], OF_GROWN[function], *args[1:], **kwargs)
    if args and is_grown(args[0]) and function in (tuple, set, frozenset):
        message = f"a {function.__name__} of as many items as only a run will tell"
        refuse("D2S1001", message, "keep them in a list, which may grow: list(...)")
    if function in (list, dict) and len(args) == 1 and by_path(args[0]) and plain_kind(args[0]) is function:
        found = args[0].copy()
        if kwargs:
            found.update(kwargs)
        return found
    if function not in (str, repr, format) or all(seen_through(value) is value for value in args):  # texts are of real ones
        args = tuple(map(opened if function in LOOKING else seen_through, args))
    if several(args, kwargs):
        return of_each(functools.partial(pure, tracer, function), *args, **kwargs)
    found = of_symbols(tracer, function, args, kwargs)
    return _at_capture(tracer, function, args, kwargs) if found is MISSING else found


def _taken(function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a function is given that goes over all items of it."""
    joins = getattr(function, "__name__", "") == "join"
    args = tuple(map(spread_named, args)) if function is dict else args
    args = tuple(map(settled, args)) if function in TAKING or joins else args
    args = (list(iterate(args[0])),) if joins and hasattr(type(args[0]), "__next__") else args
    args = tuple(map(opened, args)) if joins else args
    return tuple(map(spread, args)) if function in WALKING or joins else args


def _at_capture(tracer: Tracer, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What is known now, which the capture depends on."""
    if function is len and isinstance(args[0], Recipe) and not callable(args[0].length):
        return counted(args[0])
    if function is len and len(args) == 1 and is_counted_alone(tracer, args[0]):
        return length(tracer, args[0])
    guard_content(tracer, getattr(function, "__self__", None))
    args = tuple(items_of(tracer, value) for value in args)
    for value in (*args, *kwargs.values()):
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        _refuse_taken_by_run(function, value)
        if acts(value) or not (
            callable(value) or isinstance(value, (SymbolicTensor, Tensor, *GIVEN)) or hasattr(type(value), "__next__")
        ):
            refuse_call(value)
    found = begun(function, *(tracer.lift(a) if isinstance(a, Tensor) else a for a in args), **kwargs)
    if isinstance(found, frozenset):
        return with_known_keys(found)
    return made(found) if type(found) in (list, dict, set) else found


def _refuse_taken_by_run(function: Any, value: Any) -> None:
    if isinstance(value, Recipe):
        refuse("D2S1003", f"{function.__name__}() of this {value.kind}, whose items a run takes", "loop over it with a `for`")


def higher(call: Call, tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function that calls others: these are the user's, rewritten."""
    tracer = capturing() or tracer
    args = tuple(map(opened, args))
    if function is map and (several(args, kwargs) or any(map(counted_by_run, args))):
        return _mapped(call, tracer, *args)
    if several(args, kwargs):
        return of_each(functools.partial(higher, call, tracer, function), *args, **kwargs)
    kwargs = {name: call(value) if acts(value) else value for name, value in kwargs.items()}
    args = tuple(map(spread, args))
    for value in (*args, *kwargs.values()):
        guard_content(tracer, value)
        refuse_consumption(tracer, value)
        _refuse_taken_by_run(function, value)
    return begun(function, *(call(value) if acts(value) else value for value in args), **kwargs)


def _mapped(call: Call, tracer: Tracer, function: Any, *iterables: Any) -> Any:
    """`map` over what is one of several: each item when it is asked for."""
    if len(iterables) == 1:
        return generated(iterables[0], lambda item: (True, lambda: call(function)(item), False))
    return generated(zip_(tracer, *iterables), lambda items: (True, lambda: call(function)(*items), False))


def of_module(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """A function of a module of Python's library that only computes."""
    leaves = flatten([args, kwargs])[0]
    if any(isinstance(leaf, SymbolicTensor | Later) for leaf in leaves):
        return attempted(function.__name__, function, *args, **kwargs)
    if any(isinstance(leaf, OneOf) for leaf in leaves):
        return of_each(functools.partial(of_module, tracer, function), *args, **kwargs)
    if not all(is_plain([leaf]) or isinstance(leaf, re.Pattern) for leaf in leaves):
        refuse_call(function)
    for container in containers([args, kwargs]):
        guard_content(tracer, container)
    found = function(*args, **kwargs)
    return made(found) if type(found) in (list, dict, set) else found


def of_ops(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """An op or what is made of ops, which take the items of a list."""
    if any(map(is_grown, (*args, *kwargs.values()))):
        return joined_by(function, args, kwargs)
    args = tuple(with_numbers(opened(value)) for value in args)
    kwargs = {name: with_numbers(opened(value)) for name, value in kwargs.items()}
    each_of = functools.partial(of_ops, function) if several(args, kwargs) else function  # an alternative may depend on it, too
    return of_each(each_of, *args, **kwargs)


def with_numbers(value: Any) -> Any:
    """What an op is given: numbers of NumPy's and of steps, which a run has as objects, as its numbers."""
    if isinstance(value, Later):
        return number_of(value) if isinstance(value.example, np.generic | bool | int | float) else value
    holds = plain_kind(value) in (list, tuple) and any(isinstance(part, Later) for part in value)
    return plain_kind(value)(map(with_numbers, value)) if holds else value


def given(tracer: Tracer, function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function gives that runs as it is: nobody knows where its containers come from."""
    for leaf in flatten([args, kwargs])[0]:
        if tracer.root.heap.is_record(leaf) and any(isinstance(v, OneOf | Undefined) for v in attributes(leaf).values()):
            message = f"a {type(leaf).__name__} whose attributes depend on the path is given to '{function.__name__}'"
            refuse("D2S1004", f"{message}, which is not rewritten", "give it the values")
    with modes.not_rewritten(lambda layer: guard_attribute(tracer, layer, "training")):
        result = of_each(function, *args, **kwargs)
    tracer.give(result)
    return result


def begun(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a call gives; if that is an iterator, it goes on on this path only."""
    tracer, result = capturing(), function(*args, **kwargs)
    return tracer.begun(result) if tracer and hasattr(type(result), "__next__") else result


def acts(value: Any) -> bool:
    """Whether a pure function that calls this would do more than it shows."""
    return callable(value) and not isinstance(value, type) and not is_pure(value) and not isinstance(value, Operators)


def several(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument is one of several values."""
    return any(isinstance(v, OneOf) for v in (*args, *kwargs.values()))
