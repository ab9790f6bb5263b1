"""Exceptions that a captured function makes and changes: objects of its own, so they may be given what a run finds.

In: an exception's class, or a method that an exception has of Python's. Out: what is called instead at capture. Where a path
ends with such an exception, the run makes its own (`capture.raised`).

>>> from d2s.ops.dispatch import handling
>>> tracer = Tracer("f")
>>> with handling(tracer):
...     error = of_exception(lambda function: function, tracer, KeyError)("a")
>>> error, tracer.heap.is_record(error)
(KeyError('a'), True)
"""

import functools
import types
from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.containers import stand_in
from d2s.capture.forms import OneOf
from d2s.capture.reads import changing
from d2s.capture.symbolic import Tracer, capturing
from d2s.convert.loads import guard_attribute
from d2s.convert.objects import initial

Call = Callable[[Any], Callable[..., Any]]


def of_exception(call: Call, tracer: Tracer, function: Any) -> Callable[..., Any] | None:
    """What is called instead of an exception's class, or of what Python's own exceptions have; None for all else."""
    if isinstance(function, type) and issubclass(function, BaseException):
        return None if isinstance(function.__new__, types.FunctionType) else functools.partial(_made, tracer, call, function)
    if isinstance(getattr(function, "__self__", None), BaseException) and function.__name__ in _CHANGING:
        return functools.partial(_changed, tracer, function)
    if isinstance(function, types.WrapperDescriptorType) and issubclass(function.__objclass__, BaseException):
        return lambda error, *args: call(function.__get__(error))(*args)
    return None


_CHANGING = ("__init__", "add_note", "with_traceback")


def _made(tracer: Tracer, call: Call, cls: Any, *args: Any, **kwargs: Any) -> Any:
    """A new exception; what it is given may be symbols."""
    guard_attribute(tracer, cls, "__init__")
    if not isinstance(cls.__init__, types.FunctionType):
        return tracer.root.heap.made(cls(*args, **kwargs))
    made = tracer.root.heap.made(cls.__new__(cls, *args, **kwargs))
    fields = initial(cls, args, kwargs, call)
    if fields is None:
        call(cls.__init__)(made, *args, **kwargs)
    else:
        vars(made).update(fields)
    return made


def _changed(tracer: Tracer, function: Any, *args: Any) -> Any:
    """What its own class does to an exception, as in `super().__init__(text)`."""
    error = function.__self__
    changing(tracer, error)
    if function.__name__ == "add_note":
        notes = [*getattr(error, "__notes__", ()), *args]
        error.__notes__ = tracer.root.heap.made(stand_in(notes))
        return None
    return function(*args)


def raised(call: Call, error: Any, *cause: Any) -> Any:
    """What `raise error`, or `raise error from cause`, raises."""
    tracer = capturing()
    if isinstance(error, OneOf):
        return each(error, lambda one: _throw(raised(call, one, *cause)))
    if cause and isinstance(cause[0], OneOf):
        return each(cause[0], lambda one: _throw(raised(call, error, one)))
    found = [call(e)() if isinstance(e, type) and issubclass(e, BaseException) else e for e in (error, *cause)]
    if cause:
        if tracer and isinstance(found[0], BaseException):
            changing(tracer, found[0])
        found[0].__cause__ = found[1]
    return found[0]


def _throw(error: Any) -> Any:
    raise error


def note(error: BaseException) -> None:
    """A handler is going to have an exception, which may be of Python's making."""
    tracer = capturing()
    if tracer and not tracer.root.heap.has(error):
        tracer.root.heap.made(error)
