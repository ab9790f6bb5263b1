"""`copy.copy`, `copy.deepcopy`, `dataclasses.asdict` and `astuple`: containers and objects are made again.

In: `call`, which says what a function becomes, and a value. Out: its copy.

>>> first = [1, [2]]
>>> second = deeply(lambda function: function, first)
>>> second[1].append(3)
>>> first, second
([1, [2]], [1, [2, 3]])
"""

import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.containers import attributes, new_object, plain_kind, stand_in
from d2s.capture.forms import OneOf
from d2s.capture.kinds import CONSTANT
from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.capture.training import set_stop_gradient
from d2s.capture.users_code import refuse, refuse_call
from d2s.convert.attributes import get_attribute
from d2s.convert.loads import guard_content
from d2s.convert.methods import answers, asked
from d2s.convert.objects import is_made
from d2s.eager.tensor import Tensor

Call = Callable[[Any], Callable[..., Any]]
_HOLDING = (types.MethodType, functools.partial)  # callables that hold what a deep copy copies
_WHOLE = (*CONSTANT, complex, range, slice, type(Ellipsis))


def once(call: Call, value: Any) -> Any:
    """`copy.copy`."""
    if answers(value, "__copy__"):
        return asked(value, "__copy__")
    return value if type(value) in (tuple, frozenset) else _again(value, lambda part: part, "copy")


def deeply(call: Call, value: Any, memo: Any = None) -> Any:
    """`copy.deepcopy`."""
    done: dict[int, Any] = {}

    def copied(part: Any) -> Any:
        if id(part) not in done:
            done[id(part)] = (
                part,
                (asked(part, "__deepcopy__", {}) if answers(part, "__deepcopy__") else _again(part, copied, "deepcopy", done)),
            )
        return done[id(part)][1]

    return copied(value)


def _again(value: Any, copied: Callable[[Any], Any], name: str, done: Any = None) -> Any:
    """A value with copies of its parts."""
    tracer, kind = capturing(), plain_kind(value)
    if kind in _WHOLE and not isinstance(value, SymbolicTensor):
        return value
    if isinstance(value, SymbolicTensor) and value.value.type.python:
        return value
    if isinstance(value, OneOf):
        return each(value, lambda one: _again(one, copied, name, done))
    if isinstance(value, SymbolicTensor | Tensor):
        if type(value) not in (SymbolicTensor, Tensor):
            refuse("D2S1003", f"{name}() of a {type(value).__name__}", "x.clone(), or x.detach().clone()")
        return leaf(tracer, value, value.stop_gradient)
    guard_content(tracer, value)
    if kind in (tuple, frozenset) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        parts = [copied(part) for part in value]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if kind in (list, dict, set):
        made = tracer.root.heap.made(stand_in(kind())) if tracer else kind()
        _note(done, value, made)
        parts = value.items() if kind is dict else value
        (made.update if kind is not list else made.extend)(
            [(k, copied(v)) for k, v in parts] if kind is dict else map(copied, parts)
        )
        return made
    return _object(value, copied, name, done)


def leaf(tracer: Any, value: Any, stop_gradient: bool) -> Any:
    """A tensor of the same values without a history."""
    made = tracer.symbol_of(value).detach().clone()
    if not stop_gradient:
        set_stop_gradient(made, False)
    return made


def _object(value: Any, copied: Callable[[Any], Any], name: str, done: Any) -> Any:
    tracer, kind = capturing(), type(value)
    if _is_layer(kind) or (done is not None and isinstance(value, _HOLDING)):
        refuse("D2S1003", f"{name}() of a {kind.__name__}", "make the copy outside of the captured function")
    if callable(value) and not is_made(kind):
        return value
    if not is_made(kind) or tracer is None:
        refuse_call(kind)
    made = tracer.root.heap.made(new_object(kind, {}))
    _note(done, value, made)
    for attribute in attributes(value):
        object.__setattr__(made, attribute, copied(get_attribute(value, attribute)))
    return made


def _is_layer(kind: type) -> bool:
    return any(base.__module__ == "d2s.nn.layer" for base in kind.__mro__)


def _note(done: Any, value: Any, made: Any) -> None:
    if done is not None:
        done[id(value)] = value, made


def as_dict(call: Call, record: Any, *, dict_factory: Any = dict) -> Any:
    """`dataclasses.asdict`."""
    return _fields_of(record, lambda pairs: call(dict_factory)(pairs), lambda part: _inner(call, part, dict_factory, None))


def as_tuple(call: Call, record: Any, *, tuple_factory: Any = tuple) -> Any:
    """`dataclasses.astuple`."""
    return _fields_of(
        record,
        lambda pairs: call(tuple_factory)([part for _, part in pairs]),
        lambda part: _inner(call, part, None, tuple_factory),
    )


def _fields_of(record: Any, made: Callable[[Any], Any], inner: Callable[[Any], Any]) -> Any:
    if not dataclasses.is_dataclass(record) or isinstance(record, type):
        raise TypeError("asdict() should be called on dataclass instances")
    return made([(field.name, inner(get_attribute(record, field.name))) for field in dataclasses.fields(record)])


def _inner(call: Call, part: Any, dict_factory: Any, tuple_factory: Any) -> Any:
    if dataclasses.is_dataclass(part) and not isinstance(part, type):
        if dict_factory is not None:
            return as_dict(call, part, dict_factory=dict_factory)
        return as_tuple(call, part, tuple_factory=tuple_factory)
    if plain_kind(part) in (list, tuple, dict):
        return _again(part, lambda one: _inner(call, one, dict_factory, tuple_factory), "asdict")
    return deeply(call, part)
