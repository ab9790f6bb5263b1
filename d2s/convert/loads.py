"""What reads become: attributes, subscripts and names that the capture depends on are guarded, tensors are not looked into.

>>> import types
>>> attribute(types.SimpleNamespace(flag=True), "flag")
True
"""

import functools
import sys
import types
from collections.abc import Iterable
from typing import Any

from d2s.capture.guards import MISSING
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing, refuse
from d2s.eager.tensor import Tensor
from d2s.ops import Op

_ITERATORS: tuple[type, ...] = (
    types.GeneratorType,
    zip,
    enumerate,
    map,
    filter,
    type(reversed([])),
    type({}.items()),
    type({}.keys()),
    type({}.values()),
)
_PLAIN_ITERABLES = (list, tuple, dict, set, frozenset, range, str)


class Undefined:
    """The value of a variable that has none (or, with `why`, none that a graph can hold)."""

    def __init__(self, name: str, why: str = "") -> None:
        self.name, self.why = name, why

    def _used(self, *_: Any) -> Any:
        """A closure reads a variable as it is: what is there must not pass for a value."""
        return load(self, self.name)

    __bool__ = __call__ = __iter__ = __len__ = __getitem__ = __getattr__ = __add__ = __radd__ = __sub__ = __rsub__ = _used
    __mul__ = __rmul__ = __matmul__ = __rmatmul__ = __neg__ = __lt__ = __le__ = __gt__ = __ge__ = __str__ = _used


def load(value: Any, name: str) -> Any:
    """A variable that may have no value here."""
    if not isinstance(value, Undefined):
        return value
    if value.why:
        refuse("D2S1002", value.why, f"give '{name}' a value of one kind on every path")
    if sys.version_info >= (3, 11):
        raise UnboundLocalError(f"cannot access local variable '{name}' where it is not associated with a value")
    raise UnboundLocalError(f"local variable '{name}' referenced before assignment")


def attribute(owner: Any, name: str) -> Any:
    tracer = capturing()
    if tracer and isinstance(owner, Tensor):
        owner = tracer.lift(owner)
    value = getattr(owner, name)
    if tracer and not isinstance(owner, SymbolicTensor | str) and not _ours(owner):
        described = f"{getattr(owner, '__name__', type(owner).__name__)}.{name}"
        tracer.guard((id(owner), "attribute", name), described, lambda: getattr(owner, name, MISSING))
    return value


def item(owner: Any, key: Any) -> Any:
    tracer = capturing()
    if tracer and isinstance(owner, Tensor | SymbolicTensor):
        refuse("D2S1003", "indexing of a tensor is not part of graphs yet")
    if tracer and isinstance(key, SymbolicTensor):
        refuse("D2S1001", f"a {type(owner).__name__} indexed by {key!r}: which item that is only a run will tell")
    value = owner[key]
    if tracer and not isinstance(owner, tuple | str):
        tracer.guard((id(owner), "item", repr(key)), f"[{key!r}]", lambda: owner[key])
    return value


def iterate(iterable: Any) -> Iterable[Any]:
    tracer = capturing()
    if tracer and isinstance(iterable, Tensor | SymbolicTensor):
        refuse("D2S1003", "a `for` over a tensor is not part of graphs yet", "count with a tensor and use `while`")
    if tracer and not isinstance(iterable, (*_ITERATORS, *_PLAIN_ITERABLES)):
        refuse(
            "D2S1003",
            f"a `for` over a {type(iterable).__name__}: what iterating it does is not known",
            "loop over a list of it",
        )
    guard_content(tracer, iterable)
    result: Iterable[Any] = iterable
    return result


def guard_content(tracer: Tracer | None, value: Any) -> None:
    """A container's content becomes part of what the capture depends on."""
    if tracer and type(value) in (list, dict, set):
        tracer.guard((id(value), "content"), f"a {type(value).__name__}", lambda: value)


def guard_names(tracer: Tracer, function: types.FunctionType) -> None:
    """The globals and the closure a function reads become part of what the capture depends on."""
    scope = function.__globals__
    for name in _global_names(function.__code__):
        if name in scope and not _ours(scope[name]):
            tracer.guard((id(scope), "global", name), f"'{name}'", functools.partial(scope.get, name, MISSING))
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        tracer.guard((id(cell), "closure"), f"'{name}'", functools.partial(getattr, cell, "cell_contents"))


def _global_names(code: types.CodeType) -> set[str]:
    inner = (_global_names(c) for c in code.co_consts if isinstance(c, types.CodeType))
    return set(code.co_names).union(*inner)


def _ours(value: Any) -> bool:
    """What no program changes: this package's own modules and ops."""
    return isinstance(value, Op) or (isinstance(value, types.ModuleType) and value.__name__.split(".")[0] == "d2s")
