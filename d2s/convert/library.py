"""Functions of Python's library that compare, call others or make objects of the user's classes, as a capture does them.

In: `call`, which says what a function becomes, and the arguments. Out: what the function gives; where a tensor decides which of
several values that is, that value by the path.

>>> greatest(lambda function: function, max, [3, -4, 4], key=abs)
-4
>>> reduced(lambda function: function, min, [3, 1, 2])
1
"""

import dataclasses
import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.forms import KINDS, Later, OneOf
from d2s.capture.growing import asked, is_grown
from d2s.capture.guards import MISSING
from d2s.capture.steps import ask
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import flatten
from d2s.capture.users_code import refuse
from d2s.convert.classes import kind_of
from d2s.convert.if_else import truth_of
from d2s.convert.loads import attribute, item, iterate
from d2s.convert.logical import equal, if_exp
from d2s.convert.operators import binary
from d2s.eager.tensor import Tensor
from d2s.errors import CaptureError
from d2s.ops.dispatch import handling

Call = Callable[[Any], Callable[..., Any]]


def greatest(call: Call, function: Any, *args: Any, key: Any = None, default: Any = MISSING) -> Any:
    """`max` or `min`: the first of the values none is greater, or less, than."""
    if len(args) == 1 and is_grown(args[0]):
        return asked(args[0], function.__name__, key, default)
    values = list(iterate(args[0])) if len(args) == 1 else list(args)
    if not values or (len(args) > 1 and default is not MISSING):
        return function(*args, **{} if default is MISSING else {"default": default})
    pairs = [(value, value if key is None else call(key)(value)) for value in values]
    found = pairs[0]
    for pair in pairs[1:]:
        found = _better(function, found, pair)
    return found[0]


def _better(function: Any, found: tuple[Any, Any], pair: tuple[Any, Any]) -> tuple[Any, Any]:
    test = binary(pair[1], ">" if function is max else "<", found[1])
    chosen: tuple[Any, Any] = if_exp(test, lambda: pair, lambda: found)
    return chosen


def reduced(call: Call, function: Any, iterable: Any, *initial: Any) -> Any:
    """`functools.reduce`."""
    values = [*initial, *iterate(iterable)]
    if not values:
        raise TypeError("reduce() of empty iterable with no initial value")
    found = values[0]
    for value in values[1:]:
        found = call(function)(found, value)
    return found


def summed(iterable: Any, start: Any = 0) -> Any:
    """`sum`."""
    return functools.reduce(lambda found, value: binary(found, "+", value), iterate(iterable), start)


class _Ordered:
    """A value in the order that its class says, where only Python is asked."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: "_Ordered") -> bool:
        return bool(binary(self.value, "<", other.value))


def in_order(call: Call, iterable: Any, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """`sorted`."""
    values = list(iterate(iterable))
    keys = [value if key is None else call(key)(value) for value in values]
    if any(isinstance(leaf, SymbolicTensor | Later | Tensor) for leaf in flatten(keys)[0]):
        places = _known_order(keys, reverse)
        return _ordered_by_run(values, keys, reverse) if places is None else [values[k] for k in places]
    alone = is_plain(keys)
    places = sorted(range(len(values)), key=lambda k: keys[k] if alone else _Ordered(keys[k]), reverse=reverse)
    return [values[k] for k in places]


def _known_order(keys: list[Any], reverse: Any) -> list[int] | None:
    """The order of keys that Python can tell apart though there are tensors in them; what says so is thrown away."""
    tracer = capturing()
    assert tracer is not None
    region: Any = tracer.region("test")
    try:
        with handling(region), tracer.root.heap.path(region):
            return sorted(range(len(keys)), key=lambda k: _Ordered(keys[k]), reverse=reverse)
    except CaptureError:
        return None


def _ordered_by_run(values: list[Any], keys: list[Any], reverse: Any) -> list[Any]:
    """In a run Python's own `sorted` says where what belongs."""
    if len(values) > KINDS:
        message = f"more than {KINDS} values are sorted by what only a run will tell"
        refuse("D2S1003", message, "d2s.sort or d2s.argsort a tensor")
    tracer = capturing()
    assert tracer is not None
    order = ask(tracer, "sorted", _places_in_order, (keys, reverse), {}, [0])
    places = [ask(tracer, "place", operator.getitem, (order, k), {}, 0, True) for k in range(len(values))]
    return [picked(tracer, values, place) for place in places]


def picked(tracer: Tracer, values: list[Any], place: Any) -> Any:
    """The value at a place that a run finds."""
    kinds = {kind_of(value) for value in values}
    if kinds in ({int}, {float}, {bool}):
        return ask(tracer, "pick", operator.getitem, (values, place), {}, kinds.pop()(), True)
    return item(values, place)


def _places_in_order(keys: list[Any], reverse: bool) -> list[int]:
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def places_of(values: Sequence[Any], wanted: Any) -> list[int]:
    """Where a list or tuple holds something equal: what `index`, `count` and `remove` look for."""
    return [k for k, value in enumerate(values) if value is wanted or _surely(equal(value, wanted))]


def _surely(test: Any) -> bool:
    test = truth_of(test)
    if isinstance(test, SymbolicTensor | OneOf):
        refuse("D2S1001", "which items of a list are equal to a value only a run will tell", "loop over the list with an `if`")
    return bool(test)


def replaced(call: Call, record: Any, **changes: Any) -> Any:
    """`dataclasses.replace`."""
    if isinstance(record, OneOf):
        return each(record, lambda one: replaced(call, one, **changes))
    for field in dataclasses.fields(record):
        if field.init:
            changes.setdefault(field.name, attribute(record, field.name))
        elif field.name in changes:
            raise ValueError(f"field {field.name} is declared with init=False, it cannot be specified with replace()")
    return call(type(record))(**changes)


def of_named_tuple(function: Any) -> Callable[..., Any] | None:
    """What `_replace` and `_asdict` of a named tuple do; None for all else."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if name == "_make" and isinstance(owner, type) and issubclass(owner, tuple):
        return lambda items: owner(*iterate(items))
    if not isinstance(owner, tuple) or not hasattr(owner, "_fields") or name not in ("_replace", "_asdict"):
        return None
    held = dict(zip(owner._fields, owner, strict=True))
    return (lambda: held) if name == "_asdict" else lambda **changes: _made_again(type(owner), held, changes)


def _made_again(kind: Any, held: dict[str, Any], changes: dict[str, Any]) -> Any:
    unknown = list(changes.keys() - held.keys())
    if unknown:
        raise ValueError(f"Got unexpected field names: {unknown!r}")
    return kind(**held | changes)


def is_plain(values: Sequence[Any]) -> bool:
    """Whether values are constants that never change."""
    return all(type(v) in (bool, int, float, str, bytes, type(None)) or (type(v) is tuple and is_plain(v)) for v in values)
