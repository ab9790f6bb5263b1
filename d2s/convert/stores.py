"""Stores and changes: what the captured function has made may change, what it was given may not yet.

>>> x = [1, 2]
>>> set_item(3, x, 0)
>>> x
[3, 2]
"""

import operator
from collections.abc import Callable
from typing import Any

from d2s.capture.branch import switch
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing, refuse
from d2s.convert.loads import operand
from d2s.eager.tensor import Tensor

_OUTSIDE = "return the new value and store it outside the captured function"
_APPLY: dict[str, Callable[[Any, Any], Any]] = {"+": operator.iadd, "-": operator.isub, "*": operator.imul}
_APPLY |= {"@": operator.imatmul, "/": operator.itruediv, "//": operator.ifloordiv, "%": operator.imod, "**": operator.ipow}
_APPLY |= {"<<": operator.ilshift, ">>": operator.irshift, "&": operator.iand, "|": operator.ior, "^": operator.ixor}
CHANGING = {
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "reverse",
    "update",
    "setdefault",
    "popitem",
    "add",
    "discard",
}


def made(container: Any) -> Any:
    """A list, dict, set or generator that the function's text makes."""
    tracer = capturing()
    if tracer and hasattr(container, "__next__"):
        return tracer.begun(container)
    return tracer.root.heap.made(container) if tracer else container


def changed(value: Any, by: Any, sign: str) -> Any:
    """What an augmented assignment stores."""
    return _APPLY[sign](value, operand(value, by))


def set_item(value: Any, owner: Any, key: Any) -> None:
    tracer = capturing()
    if tracer:
        if isinstance(owner, OneOf):
            switch(tracer, owner, lambda one: list(filter(None, [set_item(value, one, key)])))  # type: ignore[func-returns-value]
            return
        if isinstance(owner, Tensor | SymbolicTensor):
            refuse("D2S1003", "a store to an item of a tensor: a graph cannot change tensors yet", "use d2s.where")
        if isinstance(key, SymbolicTensor | OneOf):
            refuse("D2S1001", f"a {type(owner).__name__} stored into at an index that only a run will tell")
        changing(tracer, owner)
    owner[key] = value


def set_attribute(value: Any, owner: Any, name: str) -> None:
    if capturing():
        refuse("D2S1003", f"a store to the attribute '{name}': a graph cannot change objects yet", _OUTSIDE)
    setattr(owner, name, value)


def changing(tracer: Tracer, owner: Any) -> None:
    """Allows a change of what this capture has made."""
    if not tracer.root.heap.has(owner):
        kind = type(owner).__name__
        refuse("D2S1003", f"a {kind} is changed that was there before: a graph cannot change objects yet", _OUTSIDE)
    tracer.root.heap.changing(owner)
