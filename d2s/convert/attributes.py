"""Stores to attributes: noted at capture, written by each call.

>>> import types
>>> box = types.SimpleNamespace()
>>> set_attribute(1, box, "n")
>>> box.n
1
"""

import dataclasses
import functools
import inspect
import types
from typing import Any, NamedTuple

from d2s.capture.alternatives import each
from d2s.capture.branch import branch, switch
from d2s.capture.containers import stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD, Place
from d2s.capture.reads import changing
from d2s.capture.steps import changed
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.training import set_grad, set_stop_gradient
from d2s.capture.undefined import Undefined, lacking
from d2s.capture.users_code import refuse
from d2s.convert.loads import attribute, guard_attribute, known, read_attribute
from d2s.convert.methods import answers, asked, follow, is_users, method_of
from d2s.eager.tensor import Tensor
from d2s.runtime import modes
from d2s.types import Type, bool_

_HANDLED = "catch what is raised outside of the captured function"
_OUTSIDE = "return the new value and store it outside the captured function"


def get_attribute(owner: Any, name: str) -> Any:
    """An attribute; where the user's class computes it, that is a call of the user's function."""
    tracer = capturing()
    if tracer and isinstance(owner, OneOf):
        return each(owner, lambda one: get_attribute(one, name))
    if tracer is None or isinstance(owner, _NO_OBJECTS) or ("attribute", id(owner), name) in tracer.root.heap.places:
        return attribute(owner, name)
    if isinstance(owner, types.TracebackType | types.FrameType):
        refuse("D2S1003", f"'{name}' of a {type(owner).__name__}: it is the capture's, a run has its own", _HANDLED)
    if name == "__dict__" and not isinstance(owner, type | types.ModuleType):
        return _all_of(tracer, owner)
    found = _computed(tracer, owner, name)
    return attribute(owner, name) if found is MISSING else found


class DispatchedMethod(NamedTuple):
    """A method of a `functools.singledispatchmethod`: which function it is the first argument tells."""

    made: Any
    instance: Any
    kind: type


_NO_OBJECTS = (SymbolicTensor, Tensor, Later, types.ModuleType, str, list, dict, int, float)


def _all_of(tracer: Tracer, owner: Any) -> Any:
    """`vars(owner)`: a dict of its own."""
    if not tracer.root.heap.has(owner):
        tracer.guard((id(owner), "vars"), f"vars() of a {type(owner).__name__}", lambda: tuple(vars(owner)))
    places = {key[2]: known(place) for key, place in tracer.root.heap.places.items() if key[:2] == ("attribute", id(owner))}
    held = vars(owner) | places
    by_path = [one for value in held.values() if isinstance(value, OneOf) for one in value.alternatives]
    if any(isinstance(one, Undefined) for one in by_path):
        refuse("D2S1002", f"vars() of a {type(owner).__name__} that has some attributes on some paths only", "ask hasattr()")
    names = [name for name, value in held.items() if not isinstance(value, Undefined)]
    made = tracer.root.heap.made(stand_in({name: get_attribute(owner, name) for name in names}))
    tracer.root.twins[id(made)] = ""  # a change of it would be one of the object
    return made


def _computed(tracer: Tracer, owner: Any, name: str) -> Any:
    """What a property, another descriptor or `__getattr__` says; MISSING where there is none of the user's."""
    kinds, instance = _where(owner)
    own = next((vars(kind)[name] for kind in kinds if name in vars(kind)), MISSING)
    if own is MISSING:
        if isinstance(owner, super) or not method_of(owner, "__getattr__") or _has(owner, name):
            return MISSING
        _guard_lacking(tracer, owner, name)
        return asked(owner, "__getattr__", name)
    getter = _getter(own) if instance is not None else None
    if getter is not None:
        guard_attribute(tracer, kinds[0], name)
        return follow(tracer, getter)(instance)
    if isinstance(own, functools.cached_property) and instance is not None:
        return _cached(tracer, own, instance, name)
    if isinstance(own, functools.singledispatchmethod):
        guard_attribute(tracer, own, "dispatcher")
        return DispatchedMethod(own, instance, kinds[0])
    if isinstance(own, functools.partialmethod):
        tracer.guard((id(own), "partialmethod"), name, lambda: vars(kinds[0]).get(name, own))
        return own.__get__(instance, kinds[0])
    if answers(own, "__get__") and (answers(own, "__set__") or name not in getattr(instance, "__dict__", ())):
        guard_attribute(tracer, kinds[0], name)
        return asked(own, "__get__", instance, kinds[0])
    return MISSING


def _getter(own: Any) -> Any:
    """The function of a property, if it is the user's, or one of ours that is captured like that."""
    if not isinstance(own, property):
        return None
    return own.captured_as() if hasattr(own, "captured_as") else own.fget if _is_users(own.fget) else None


def _where(owner: Any) -> tuple[tuple[type, ...], Any]:
    """The classes whose attributes an object has, and the object; of `super()`, those behind its class."""
    if isinstance(owner, super):
        through: Any = owner
        kinds, instance = through.__self_class__.__mro__, through.__self__
        return kinds[kinds.index(through.__thisclass__) + 1 :], None if isinstance(instance, type) else instance
    return (owner.__mro__, None) if isinstance(owner, type) else (type(owner).__mro__, owner)


def _cached(tracer: Tracer, own: Any, instance: Any, name: str) -> Any:
    """What a `cached_property` keeps in the object, once it is there."""
    if not tracer.root.heap.is_record(instance):
        tracer.guard((id(instance), "cached", name), name, lambda: name in vars(instance))
        if name in vars(instance):  # a guard that asks the object would have it computed
            described, source = f"{type(instance).__name__}.{name}", ("found", vars(instance), name)
            key = id(instance), "attribute", name
            tracer.guard(key, described, lambda: vars(instance).get(name, MISSING), source=source)
    if name not in vars(instance):
        set_attribute(follow(tracer, own.func)(instance), instance, name)
    return attribute(instance, name)


def _has(owner: Any, name: str) -> bool:
    return name in getattr(owner, "__dict__", ()) or inspect.getattr_static(owner, name, MISSING) is not MISSING


def _guard_lacking(tracer: Tracer, owner: Any, name: str) -> None:
    """What `__getattr__` is asked for, neither the object nor its class has."""
    held = getattr(owner, "__dict__", None)
    if held is not None and not tracer.root.heap.has(owner):
        key, described = (id(owner), "lacks", name), f"{type(owner).__name__}.{name}"
        tracer.guard(key, described, lambda: vars(owner).get(name, MISSING), source=("found", held, name))
        guard_attribute(tracer, type(owner), name)


def _is_users(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and is_users(function)


def set_attribute(value: Any, owner: Any, name: Any) -> None:
    tracer = capturing()
    if tracer is None:
        setattr(owner, name, value)
    elif isinstance(owner, OneOf):
        switch(tracer, owner, lambda one: list(filter(None, [set_attribute(value, one, name)])))  # type: ignore[func-returns-value]
    elif isinstance(name, OneOf):
        switch(tracer, name, lambda one: list(filter(None, [set_attribute(value, owner, one)])))  # type: ignore[func-returns-value]
    elif isinstance(owner, Later):
        changed("setattr", setattr, owner, _known(name), value)
    else:
        _store(tracer, value, owner, _known(name))


def delete_attribute(owner: Any, name: Any) -> None:
    tracer = capturing()
    if tracer is None:
        delattr(owner, name)
        return
    if isinstance(owner, OneOf):
        switch(tracer, owner, lambda one: list(filter(None, [delete_attribute(one, name)])))  # type: ignore[func-returns-value]
        return
    if isinstance(name, OneOf):
        switch(tracer, name, lambda one: list(filter(None, [delete_attribute(owner, one)])))  # type: ignore[func-returns-value]
        return
    name = _known(name)
    own = inspect.getattr_static(type(owner), name, None)
    if isinstance(own, property) and own.fdel is not None:
        follow(tracer, own.fdel)(owner)
        return
    if answers(owner, "__delattr__") or answers(own, "__delete__"):
        asked(*(owner, "__delattr__", name) if answers(owner, "__delattr__") else (own, "__delete__", owner))
        return
    attribute(owner, name)  # which complains if there is none
    if tracer.root.heap.is_record(owner):
        changing(tracer, owner)
        if isinstance(owner, BaseException) or hasattr(type(owner), name):  # behind which is what the class has
            (BaseException if isinstance(owner, BaseException) else object).__delattr__(owner, name)
        else:
            object.__setattr__(owner, name, lacking(owner, name))
        return
    if _is_shared(owner, name):
        refuse("D2S1003", f"the attribute '{name}' of a {type(owner).__name__} is deleted, whose class has one, too", _OUTSIDE)
    set_attribute(lacking(owner, name), owner, name)


def _known(name: Any) -> str:
    """The name of an attribute that is stored or deleted."""
    if isinstance(name, Later):
        refuse("D2S1003", "an attribute is stored whose name only a run will tell", "keep the values in a dict")
    if not isinstance(name, str):
        raise TypeError(f"attribute name must be string, not '{type(name).__name__}'")
    return name


def _store(tracer: Tracer, value: Any, owner: Any, name: str) -> None:
    if isinstance(owner, Tensor | SymbolicTensor) and name == "grad":
        set_grad(tracer.symbol_of(owner), tracer.symbol_of(value))  # type: ignore[arg-type]
        return
    if isinstance(owner, Tensor | SymbolicTensor) and name == "stop_gradient" and _is_bool(value):
        _set_stop_gradient(tracer, tracer.lift(owner) if isinstance(owner, Tensor) else owner, value)
        return
    if isinstance(owner, Tensor | SymbolicTensor):
        refuse("D2S1003", f"a store to the attribute '{name}' of a tensor", _OUTSIDE)
    own = inspect.getattr_static(type(owner), name, None)
    if isinstance(own, property) and own.fset is not None:
        follow(tracer, own.fset)(owner, value)
    elif answers(owner, "__setattr__"):
        asked(owner, "__setattr__", name, value)
    elif _is_frozen(owner):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    else:
        store_plainly(tracer, value, owner, name)


def _is_bool(value: Any) -> bool:
    return type(value) is bool or (isinstance(value, SymbolicTensor) and value.value.type == Type(bool_, python=True))


def _set_stop_gradient(tracer: Tracer, symbol: SymbolicTensor, stops: Any) -> None:
    """Where only a call knows whether it stops, as on the paths of an `if`."""

    def arm(answer: bool) -> list[Any]:
        set_stop_gradient(symbol, answer)
        return []

    if type(stops) is bool:
        set_stop_gradient(symbol, stops)
    else:
        branch(tracer, stops, [functools.partial(arm, answer) for answer in (True, False)])


def store_plainly(tracer: Tracer, value: Any, owner: Any, name: str) -> None:
    """What `object.__setattr__` does."""
    own = next((vars(kind)[name] for kind in type(owner).__mro__ if name in vars(kind)), None)
    if answers(own, "__set__"):
        asked(own, "__set__", owner, value)
        return
    slot = isinstance(own, types.MemberDescriptorType)
    if not slot and not hasattr(owner, "__dict__"):
        raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
    as_is = type(owner).__setattr__ in _PLAIN | _stores_as_is(owner) or answers(owner, "__setattr__") or _is_frozen(owner)
    if not as_is or (hasattr(type(own), "__set__") and not slot):
        refuse(
            "D2S1003", f"a store to the attribute '{name}' of a {type(owner).__name__}, whose class does it itself", _OUTSIDE
        )
    if id(owner) in tracer.root.defined:
        refuse("D2S1003", f"a store to the attribute '{name}' of a class that the function defines", "define it outside")
    if hasattr(type(value), "captured_as") or (isinstance(value, Tensor) and type(value) is not Tensor):
        refuse("D2S1003", f"a {type(value).__name__} is stored as '{name}'", "set layers and parameters in __init__")
    if tracer.root.heap.is_record(owner):
        changing(tracer, owner)
        (BaseException if isinstance(owner, BaseException) else object).__setattr__(owner, name, value)
        return
    place = tracer.root.heap.place(("attribute", id(owner), name), lambda: _place(tracer, owner, name))
    tracer.root.heap.set(place, value)


_PLAIN = {
    object.__setattr__,
    BaseException.__setattr__,
    type.__setattr__,
    types.ModuleType.__setattr__,
    types.SimpleNamespace.__setattr__,
}


def _stores_as_is(owner: Any) -> set[Any]:
    """The way that classes of ours store attributes, of which a call makes use."""
    return {kind.__setattr__ for kind in type(owner).__mro__ if kind.__module__ == "d2s.nn.layer"}


def _is_frozen(owner: Any) -> bool:
    return dataclasses.is_dataclass(owner) and not isinstance(owner, type) and owner.__dataclass_params__.frozen  # type: ignore[attr-defined]


def _place(tracer: Tracer, owner: Any, name: str) -> Place:
    def read() -> Any:
        hooked = method_of(owner, "__getattr__") and not _has(owner, name)
        value = MISSING if hooked else modes.read(owner, name, MISSING)
        found = read_attribute(tracer, owner, name, value)
        error = AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
        return Undefined(name, error=error) if found is MISSING else found

    shared = _is_shared(owner, name)
    if shared:
        key, described = (id(owner), "own", name), f"{type(owner).__name__}.{name}"
        tracer.guard(key, described, lambda: name in vars(owner))
    place = Place(UNREAD, None, ("attribute", owner, name), read, empty=shared and name not in vars(owner))
    key = (id(owner), "attribute", name)
    return place.known() if key in tracer.root.guards or key in tracer.root.inputs else place


def _is_shared(owner: Any, name: str) -> bool:
    """Whether an object that lacks an attribute has that of its class, or a class that of those it is made of."""
    kinds = owner.__mro__[1:] if isinstance(owner, type) else type(owner).__mro__
    behind = next((vars(kind)[name] for kind in kinds if name in vars(kind)), MISSING)
    return behind is not MISSING and not hasattr(type(behind), "__set__")
