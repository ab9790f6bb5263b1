"""What a value is and has, as the user's code would see it eagerly: `isinstance`, `type`, `callable`, `getattr`, `hasattr`.

>>> kind_of([1]), kind_of(2.5)
(<class 'list'>, <class 'float'>)
"""

import types
from typing import Any

from d2s.capture.alternatives import each, table, told
from d2s.capture.branch import possible, switch
from d2s.capture.containers import attributes, plain_kind
from d2s.capture.forms import Later, OneOf
from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.undefined import Undefined, load
from d2s.capture.users_code import refuse
from d2s.convert.attributes import get_attribute
from d2s.convert.generators import Suspended
from d2s.convert.kept import Kept
from d2s.convert.loads import guard_attribute, known, place_of
from d2s.convert.recipes import Recipe, class_of
from d2s.eager.tensor import Tensor


def isinstance_(tracer: Tracer, value: Any, kind: Any) -> Any:
    if isinstance(value, OneOf):
        return told(tracer, value, lambda one: isinstance_(tracer, one, kind))
    return issubclass(kind_of(value), kind)


def callable_(tracer: Tracer, value: Any) -> Any:
    return each(value, _is_callable) if isinstance(value, OneOf) else _is_callable(value)


def _is_callable(value: Any) -> bool:
    return "__call__" in dir(kind_of(value))


def type_(tracer: Tracer, value: Any) -> Any:
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
    if isinstance(value, Suspended | Kept):
        return types.GeneratorType
    if isinstance(value, Recipe):
        return class_of(value)
    if not isinstance(value, SymbolicTensor):
        return plain_kind(value)
    return {"b": bool, "i": int, "f": float}[value.dtype.kind] if value.value.type.python else Tensor


def getattr_(tracer: Tracer, owner: Any, name: Any, *default: Any) -> Any:
    if isinstance(name, OneOf):
        return switch(tracer, name, lambda one: [getattr_(tracer, owner, one, *default)])[0]
    if isinstance(owner, OneOf) and default:
        return switch(tracer, owner, lambda one: [getattr_(tracer, one, name, *default)])[0]
    place = place_of(tracer, owner, name) if default else None
    own = known(place) if place else attributes(owner).get(name) if tracer.root.heap.is_record(owner) else None
    if default and isinstance(own, OneOf) and any(isinstance(one, Undefined) for one in own.alternatives):
        return switch(tracer, own, lambda one: [default[0] if isinstance(one, Undefined) else one])[0]
    try:
        return get_attribute(owner, name)
    except AttributeError:
        if ("attribute", id(owner), name) not in tracer.root.heap.places:
            guard_attribute(tracer, owner, name)
        if default:
            return default[0]
        raise


def hasattr_(tracer: Tracer, owner: Any, name: str) -> Any:
    found = getattr_(tracer, owner, name, MISSING)
    if isinstance(found, OneOf) and any(one is MISSING for one in found.alternatives):
        return table(tracer, found, {k: found.alternatives[k] is not MISSING for k in possible(tracer, found)})
    return found is not MISSING
