"""Objects that a captured function makes: of the user's classes, whose code is rewritten, and layers without weights.

In: `call`, which says what a function becomes, a class, and what it is called with. Out: the object.
"""

import functools
import types
from collections.abc import Callable
from typing import Any

from d2s.capture.containers import new_object
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.users_code import refuse_call
from d2s.convert.attributes import store_plainly
from d2s.convert.classes import kind_of
from d2s.convert.library import is_plain
from d2s.convert.loads import guard_attribute
from d2s.convert.methods import is_users
from d2s.convert.objects import initial, is_made
from d2s.ops.dispatch import handlers, handling
from d2s.runtime import random_state

Call = Callable[[Any], Callable[..., Any]]


def make(call: Call, tracer: Tracer, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An object of a class of the user's."""
    guard_attribute(tracer, cls, "__init__")
    new = cls.__new__
    if isinstance(new, types.FunctionType) and is_users(new):
        return _new(call, tracer, cls, *args, **kwargs)
    if getattr(cls, "__abstractmethods__", None):
        cls()  # Python complains
    fields = initial(cls, args, kwargs, call)
    made = tracer.root.heap.made(new_object(cls, fields or {}))
    if fields is None:
        call(cls.__init__)(made, *args, **kwargs)
    elif hasattr(made, "__post_init__"):
        call(made.__post_init__)()
    return made


def new_class(cls: Any) -> Any:
    """A class that the captured function defines: each call has one of its own, and so none may change it."""
    tracer = capturing()
    if tracer:
        tracer.root.defined[id(cls)] = cls
    return cls


def _new(call: Call, tracer: Tracer, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """An object that the `__new__` of its class makes, or finds."""
    made = call(cls.__new__)(cls, *args, **kwargs)
    if issubclass(kind_of(made), cls) and cls.__init__ is not object.__init__:
        call(cls.__init__)(made, *args, **kwargs)
    return made


def of_object_itself(call: Call, tracer: Tracer, function: Any) -> Callable[..., Any] | None:
    """What the methods of `object` and `type` do that a class of the user's calls when it has its own."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if function is object.__setattr__:
        return lambda of, attribute, value: store_plainly(tracer, value, of, attribute)
    if isinstance(function, types.BuiltinMethodType) and owner is object and name == "__new__":
        return lambda cls, *args, **kwargs: tracer.root.heap.made(new_object(cls, {}))
    if not isinstance(function, types.MethodWrapperType):
        return None
    if name == "__setattr__":
        return lambda attribute, value: store_plainly(tracer, value, owner, attribute)
    if name == "__init__" and function.__objclass__ is object:  # type: ignore[attr-defined]
        return lambda: None
    if name == "__call__" and is_made(owner):
        return functools.partial(make, call, tracer, owner)
    return None


def layer(cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A layer of ours without weights is what it is given: one that a capture makes is like that of each call."""
    if not is_plain([*args, *kwargs.values()]):
        refuse_call(cls)
    with random_state.apart(0), handling(handlers.base):
        made = cls(*args, **kwargs)
    return refuse_call(cls) if [*made.parameters(), *made.buffers(), *made.sublayers()] else made


def member(kind: Any, *args: Any) -> Any:
    return kind(*args) if is_plain(args) else refuse_call(kind)
