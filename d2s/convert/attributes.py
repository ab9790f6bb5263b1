"""Stores to attributes: noted at capture, written by each call.

>>> import types
>>> box = types.SimpleNamespace()
>>> set_attribute(1, box, "n")
>>> box.n
1
"""

import dataclasses
import inspect
import types
from typing import Any

from d2s.capture.branch import switch
from d2s.capture.forms import OneOf
from d2s.capture.guards import MISSING
from d2s.capture.heap import UNREAD, Place
from d2s.capture.reads import changing
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.training import set_grad, set_stop_gradient
from d2s.capture.undefined import Undefined
from d2s.capture.users_code import in_library, refuse
from d2s.convert.calls import call
from d2s.convert.loads import attribute, guard_attribute, read_attribute
from d2s.eager.tensor import Tensor

_OUTSIDE = "return the new value and store it outside the captured function"


def get_attribute(owner: Any, name: str) -> Any:
    """An attribute; a property of the user's is a call of its function."""
    own, tracer = getattr(type(owner), name, None), capturing()
    if tracer and isinstance(own, property) and not isinstance(owner, Tensor) and _is_users(own.fget):
        guard_attribute(tracer, type(owner), name)
        return call(own.fget)(owner)
    return attribute(owner, name)


def _is_users(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and not in_library(function.__code__.co_filename)


def set_attribute(value: Any, owner: Any, name: str) -> None:
    tracer = capturing()
    if tracer is None:
        setattr(owner, name, value)
    elif isinstance(owner, OneOf):
        switch(tracer, owner, lambda one: list(filter(None, [set_attribute(value, one, name)])))  # type: ignore[func-returns-value]
    else:
        _store(tracer, value, owner, name)


def delete_attribute(owner: Any, name: str) -> None:
    tracer = capturing()
    if tracer is None:
        delattr(owner, name)
        return
    attribute(owner, name)  # which complains if there is none
    if tracer.root.heap.is_record(owner):
        changing(tracer, owner)
        (BaseException if isinstance(owner, BaseException) else object).__delattr__(owner, name)
        return
    error = AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
    set_attribute(Undefined(name, error=error), owner, name)


def _store(tracer: Tracer, value: Any, owner: Any, name: str) -> None:
    if isinstance(owner, Tensor | SymbolicTensor) and name == "grad":
        set_grad(tracer.symbol_of(owner), tracer.symbol_of(value))  # type: ignore[arg-type]
        return
    if isinstance(owner, Tensor | SymbolicTensor) and name == "stop_gradient" and type(value) is bool:
        set_stop_gradient(tracer.lift(owner) if isinstance(owner, Tensor) else owner, value)
        return
    if isinstance(owner, Tensor | SymbolicTensor):
        refuse("D2S1003", f"a store to the attribute '{name}' of a tensor", _OUTSIDE)
    own = inspect.getattr_static(type(owner), name, None)
    if isinstance(own, property) and own.fset is not None:
        call(own.fset)(owner, value)
        return
    if _is_frozen(owner):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    slot = isinstance(own, types.MemberDescriptorType)
    if not slot and not hasattr(owner, "__dict__"):
        raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
    if type(owner).__setattr__ not in _PLAIN | _stores_as_is(owner) or (hasattr(type(own), "__set__") and not slot):
        refuse(
            "D2S1003", f"a store to the attribute '{name}' of a {type(owner).__name__}, whose class does it itself", _OUTSIDE
        )
    if hasattr(value, "captured_as") or (isinstance(value, Tensor) and type(value) is not Tensor):
        refuse("D2S1003", f"a {type(value).__name__} is stored as '{name}'", "set layers and parameters in __init__")
    if tracer.root.heap.is_record(owner):
        changing(tracer, owner)
        (BaseException if isinstance(owner, BaseException) else object).__setattr__(owner, name, value)
        return
    place = tracer.root.heap.place(("attribute", id(owner), name), lambda: _place(tracer, owner, name))
    tracer.root.heap.set(place, value)


_PLAIN = {object.__setattr__, BaseException.__setattr__, type.__setattr__, types.ModuleType.__setattr__}


def _stores_as_is(owner: Any) -> set[Any]:
    """The way that classes of ours store attributes, of which a call makes use."""
    return {kind.__setattr__ for kind in type(owner).__mro__ if kind.__module__ == "d2s.nn.layer"}


def _is_frozen(owner: Any) -> bool:
    return dataclasses.is_dataclass(owner) and not isinstance(owner, type) and owner.__dataclass_params__.frozen  # type: ignore[attr-defined]


def _place(tracer: Tracer, owner: Any, name: str) -> Place:
    def read() -> Any:
        value = getattr(owner, name, MISSING)
        found = read_attribute(tracer, owner, name, value)
        error = AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")
        return Undefined(name, error=error) if found is MISSING else found

    return Place(UNREAD, None, ("attribute", owner, name), read)
