"""Stores and changes of containers and of parts of tensors. What was there before is written by each call.

>>> x = [1, 2]
>>> set_item(3, x, 0)
>>> x
[3, 2]
"""

import operator
from typing import Any

from d2s.capture import growing
from d2s.capture.branch import switch
from d2s.capture.containers import by_path, stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import is_grown
from d2s.capture.reads import changing
from d2s.capture.steps import tell
from d2s.capture.symbolic import SymbolicTensor, capturing
from d2s.capture.users_code import refuse
from d2s.convert.loads import guard_content, iterate, set_part
from d2s.convert.methods import answers, asked
from d2s.eager.tensor import Tensor

_OUTSIDE = "return the new value and store it outside the captured function"
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
    "sort",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
}


def made(container: Any) -> Any:
    """A list, dict, set or generator that the function's text makes."""
    tracer = capturing()
    if tracer and hasattr(type(container), "__next__"):
        return tracer.begun(container)
    return tracer.root.heap.made(stand_in(container)) if tracer else container


def put_together(*parts: tuple[bool, Any]) -> Any:
    """`[a, *b]`: its parts, and whether they have a star."""
    found = made([])
    for starred, value in parts:
        if starred:
            found.extend(value if by_path(value) else list(iterate(value)))
        else:
            found.append(value)
    return found


def delete_item(owner: Any, key: Any) -> None:
    tracer = capturing()
    if tracer and isinstance(owner, OneOf):
        switch(tracer, owner, lambda one: list(filter(None, [delete_item(one, key)])))  # type: ignore[func-returns-value]
        return
    if isinstance(owner, Later):
        assert tracer is not None
        tell(tracer, "delitem", operator.delitem, (owner, key), {})
        return
    if is_grown(owner):
        growing.asked(owner, "__delitem__", key)
        return
    if answers(owner, "__delitem__"):
        asked(owner, "__delitem__", key)
        return
    if tracer:
        if not isinstance(owner, list | dict) or isinstance(key, SymbolicTensor | OneOf):
            refuse("D2S1003", f"`del` of an item of a {type(owner).__name__}", "take items of lists and dicts, by known places")
        guard_content(tracer, owner)
        changing(tracer, owner)
    del owner[key]


def set_item(value: Any, owner: Any, key: Any) -> None:
    tracer = capturing()
    if tracer:
        if isinstance(owner, OneOf):
            switch(tracer, owner, lambda one: list(filter(None, [set_item(value, one, key)])))  # type: ignore[func-returns-value]
            return
        if isinstance(owner, Later):
            tell(tracer, "setitem", operator.setitem, (owner, key, value), {})
            return
        if isinstance(owner, Tensor | SymbolicTensor):
            set_part(tracer, owner, key, value)
            return
        if answers(owner, "__setitem__"):
            asked(owner, "__setitem__", key, value)
            return
        if not isinstance(owner, list | dict | set):
            refuse("D2S1003", f"a store to an item of a {type(owner).__name__}", _OUTSIDE)
        if is_grown(owner) and not isinstance(key, OneOf):
            changing(tracer, owner)
            growing.asked(owner, "__setitem__", key, value)
            return
        if isinstance(key, SymbolicTensor | OneOf):
            refuse("D2S1001", f"a {type(owner).__name__} stored into at an index that only a run will tell")
        if isinstance(owner, list):
            guard_content(tracer, owner)
        changing(tracer, owner)
    owner[key] = value
