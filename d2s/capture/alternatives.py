"""What is done to a value that is one of several is done to each of them.

In: `OneOf` values in Python's own operators. Out: the results, joined.

>>> from d2s.capture.forms import TAG
>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> tag = tracer.input(TAG, "tag")
>>> with handling(tracer):
...     longer = OneOf(tag, ["a", "b"]) + "c"
>>> longer.alternatives
('ac', 'bc')
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.capture.branch import possible, switch, test_of
from d2s.capture.forms import OneOf, same
from d2s.capture.kinds import CONSTANT
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import flatten, rebuild
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import refuse


def each(value: OneOf, ask: Callable[[Any], Any]) -> Any:
    """What `ask` makes of the alternative a run has; constants of constants need no node of the graph."""
    tracer = capturing()
    assert tracer is not None
    here = possible(tracer, value)
    if all(type(value.alternatives[k]) in CONSTANT for k in here):
        with tracer.root.heap.path(object()) as changes:  # what it makes is nobody else's
            try:
                found = {k: ask(value.alternatives[k]) for k in here}
            except Exception:  # only some runs come there
                found = {}
        if found and not changes and all(type(v) in CONSTANT for v in found.values()):
            return table(tracer, value, found)
    return switch(tracer, value, lambda one: [ask(one)])[0]


def of_each(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The call for each alternative of arguments that are one of several."""
    leaves, skeleton = flatten([args, kwargs])
    place = next((n for n, value in enumerate(leaves) if isinstance(value, OneOf)), None)
    if place is None:
        return function(*args, **kwargs)

    def of(one: Any) -> Any:
        args, kwargs = rebuild(skeleton, [*leaves[:place], one, *leaves[place + 1 :]])
        return of_each(function, *args, **kwargs)

    return each(leaves[place], of)


def whole_by_path(value: Any) -> Any:
    """An int of NumPy's as Python's own, be it one of several by the path."""
    several = value.alternatives if isinstance(value, OneOf) else (value,)
    if not any(isinstance(one, np.integer) for one in several) or not all(isinstance(one, int | np.integer) for one in several):
        return value
    return each(value, int) if isinstance(value, OneOf) else int(value)


def told(tracer: Tracer, value: OneOf, ask: Callable[[Any], Any]) -> Any:
    """What `ask` tells at capture of the alternative a run has; of one that is no value, a run that comes there raises."""
    here = possible(tracer, value)
    if any(isinstance(value.alternatives[k], Undefined) for k in here):
        return switch(tracer, value, lambda one: [ask(one)])[0]
    return table(tracer, value, {k: ask(value.alternatives[k]) for k in here})


def table(tracer: Tracer, value: OneOf, found: dict[int, Any]) -> Any:
    """One constant for each alternative that can be meant here."""
    first, *others = found.values()
    if all(same(first, v) for v in others):
        return first
    if all(type(v) is bool for v in found.values()):
        return test_of(tracer, value, {k for k, v in found.items() if v})
    return OneOf(value.tag, [found.get(k, Undefined("this value")) for k in range(len(value.alternatives))])


def _left(function: Callable[..., Any]) -> Any:
    def method(self: OneOf, *others: Any) -> Any:
        return each(self, lambda one: function(one, *others))

    return method


def _right(function: Callable[..., Any]) -> Any:
    def method(self: OneOf, other: Any) -> Any:
        return each(self, lambda one: function(other, one))

    return method


def _unknown(what: str) -> Any:
    def method(self: OneOf, *_: Any) -> Any:
        names = dict.fromkeys("Tensor" if isinstance(v, SymbolicTensor) else type(v).__name__ for v in self.alternatives)
        kinds = f"a {' or '.join(names)}" if len(names) > 1 else f"one of several {next(iter(names))}s"
        refuse("D2S1001", f"{what} of a value that is {kinds}, by the path a run takes", "give it one kind on every path")

    return method


_BINARY = ("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and_", "xor", "or_")
for _name in _BINARY:
    setattr(OneOf, f"__{_name.strip('_')}__", _left(getattr(operator, _name)))
    setattr(OneOf, f"__r{_name.strip('_')}__", _right(getattr(operator, _name)))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "pos", "abs", "invert"):
    setattr(OneOf, f"__{_name}__", _left(getattr(operator, _name)))
for _name in (
    "bool",
    "len",
    "iter",
    "index",
    "int",
    "float",
    "str",
    "repr",
    "format",
    "contains",
    "call",
    "getitem",
    "setitem",
):
    setattr(OneOf, f"__{_name}__", _unknown(f"__{_name}__"))
OneOf.__hash__ = object.__hash__  # type: ignore[method-assign]
