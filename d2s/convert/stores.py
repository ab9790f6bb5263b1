"""Stores and changes of containers and of parts of tensors. What was there before is written by each call.

>>> x = [1, 2]
>>> set_item(3, x, 0)
>>> x
[3, 2]
"""

import functools
import operator
from typing import Any

import numpy as np

from d2s.capture import growing
from d2s.capture.answers import question_of
from d2s.capture.branch import branch, refuse_unheld, switch
from d2s.capture.by_path import is_number
from d2s.capture.containers import by_path, plain_kind, stand_in
from d2s.capture.forms import Later, OneOf
from d2s.capture.growing import is_grown
from d2s.capture.in_place import ChangesInPlace
from d2s.capture.reads import changing
from d2s.capture.steps import changed, number_of, tell
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.tree import flatten
from d2s.capture.users_code import refuse, user_line
from d2s.convert.growing import in_graph
from d2s.convert.loads import guard_content, place_in, set_part
from d2s.convert.methods import answers, asked
from d2s.convert.steps import to_tensor_of
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import CaptureError
from d2s.ops import OPS

_OUTSIDE = "return the new value and store it outside the captured function"
_TYPED = Tensor | SymbolicTensor | np.generic
PLACES = 64  # of a list, that a value may go to by what a run finds
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
    "move_to_end",
    "subtract",
    "add",
    "discard",
    "sort",
    "intersection_update",
    "difference_update",
    "symmetric_difference_update",
}


class Several:
    """Stands for all that a star takes apart, where the path decides what that is."""

    def __init__(self, value: OneOf) -> None:
        self.value = value


def made(container: Any) -> Any:
    """A list, dict, set or generator that the function's text makes."""
    tracer = capturing()
    if tracer and isinstance(container, dict) and any(isinstance(key, OneOf | Several) for key in dict.keys(container)):
        return _of_pairs(tracer, dict.items(container))
    if tracer and hasattr(type(container), "__next__"):
        return tracer.begun(container)
    return tracer.root.heap.made(stand_in(with_known_keys(container))) if tracer else container


def _of_pairs(tracer: Tracer, pairs: Any) -> Any:
    """A dict whose keys depend on the path."""
    found = tracer.root.heap.made(stand_in({}))
    for key, value in pairs:
        if isinstance(key, Several):
            found.update(key.value)
        else:
            set_item(value, found, key)
    return found


def with_known_keys(container: Any) -> Any:
    """A dict or a set as it is: its keys are found by what is known of them."""
    keys = container if isinstance(container, dict | set) and not by_path(container) else ()
    if any(isinstance(part, OneOf | Later) or is_number(part) for key in keys for part in flatten(key)[0]):
        kind = type(container).__name__
        refuse(
            "D2S1001", f"a {kind} with a key that only a run will tell", "keep pairs in a list, or ask for each key in an `if`"
        )
    return container


def delete_item(owner: Any, key: Any) -> None:
    tracer = capturing()
    if tracer and isinstance(owner, OneOf):
        switch(tracer, owner, lambda one: list(filter(None, [delete_item(one, key)])))  # type: ignore[func-returns-value]
        return
    if isinstance(owner, Later):
        assert tracer is not None
        changed("delitem", operator.delitem, owner, key)
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


def _at(owner: Any, k: int) -> list[Any]:
    return [owner[k]]


def _set_at(tracer: Tracer, value: Any, owner: Any, key: SymbolicTensor) -> None:
    """Has each place of a list hold what it held, or at the place that only a run knows the value."""
    place = place_in(tracer, owner, key, "assignment ")
    changing(tracer, owner)
    for k in range(len(owner)):
        owner[k] = branch(tracer, OPS["equal"](place, k), (lambda: [value], functools.partial(_at, owner, k)))[0]


def _numbers(owner: Any) -> list[Any]:
    """The keys that a number of run time may be equal to."""
    return [] if by_path(owner) or len(owner) > PLACES else [k for k in dict.keys(owner) if type(k) in (bool, int, float)]


def _set_by_key(tracer: Tracer, value: Any, owner: Any, key: SymbolicTensor) -> None:
    """Has each number that is a key hold what it held, or, if it is the one that a run finds, the value."""
    guard_content(tracer, owner)
    tests = {k: OPS["equal"](key, k) for k in _numbers(owner)}
    where, known = user_line(), functools.reduce(OPS["bitwise_or"], tests.values())

    def complain() -> list[Any]:
        tell(capturing() or tracer, "key", _refuse_key, (key, where), {})
        return []

    branch(tracer, known, (list, complain))
    changing(tracer, owner)
    for k, test in tests.items():
        owner[k] = branch(tracer, test, (lambda: [value], functools.partial(_at, owner, k)))[0]


def _is_outside(tracer: Tracer, owner: Any) -> bool:
    """Whether it is a dict that was there before, and no argument."""
    return type(owner) is dict and not tracer.root.heap.has(owner) and not by_path(owner)


def _store_pair(tracer: Tracer, value: Any, owner: Any, key: Any) -> None:
    """Has a call store an item where nobody asks what is there."""
    if not is_number(key):
        with_known_keys({key})
    pairs = tracer.root.tails[id(owner)][1]
    changing(tracer, pairs)
    pairs.append((key, value))


def _refuse_new_key(tracer: Tracer, owner: Any, key: SymbolicTensor) -> None:
    """A key of each call's own: where the capture can, it is stored behind the run, or is one that the capture knows."""
    answers = tracer.root.answers
    if answers is not None and (not answers.unheld or _is_told(tracer, key)):
        message = f"a {type(owner).__name__} gets an item by a key that only a run will tell"
        refuse_unheld(owner, message, "give the dict all keys first, or keep pairs in a list")


def _is_told(tracer: Tracer, key: SymbolicTensor) -> bool:
    """Whether a call knows a number before it runs: then there is a capture for each."""
    return key.recorder is tracer.root and question_of(tracer.root, key) is not None


def _refuse_key(key: Any, where: str) -> None:
    message = f"a dict gets an item by the new key {key!r}, which this run has found: a graph has the keys it knows at capture"
    raise CaptureError("D2S1001", message, where=where, hint="give the dict all keys first")


def _as_numbers(value: Any) -> Any:
    """What is assigned to a part of a tensor: of a list or an array the tensor that NumPy's array of it would be."""
    if isinstance(value, Later):
        return in_graph(_array)(value, None) if isinstance(value.example, np.ndarray | np.generic) else number_of(value)
    if isinstance(value, range):
        value = list(value)
    if plain_kind(value) not in (list, tuple, np.ndarray):
        return value
    leaves = flatten(value)[0]
    floats = any(isinstance(leaf, float) or (isinstance(leaf, _TYPED) and leaf.dtype.kind == "f") for leaf in leaves)
    return in_graph(_array)(value, "float64" if floats else None)


def _array(values: Any, of: Any) -> Any:
    return to_tensor(values, of)


def _set_value(symbol: SymbolicTensor, value: Any) -> None:
    """`x.set_value(value)`, which may be an array that only a run has."""
    tracer = capturing()
    made = to_tensor_of(tracer, value, symbol.dtype) if tracer and isinstance(value, Later) else value
    ChangesInPlace.set_value(symbol, made)


SymbolicTensor.set_value = _set_value  # type: ignore[assignment, method-assign]


def set_item(value: Any, owner: Any, key: Any) -> None:
    tracer = capturing()
    if tracer:
        if isinstance(owner, OneOf):
            switch(tracer, owner, lambda one: list(filter(None, [set_item(value, one, key)])))  # type: ignore[func-returns-value]
            return
        if isinstance(owner, Later):
            changed("setitem", operator.setitem, owner, key, value)
            return
        if isinstance(owner, Tensor | SymbolicTensor):
            value = _as_numbers(value)
            if isinstance(value, OneOf):
                switch(tracer, value, lambda one: list(filter(None, [set_item(one, owner, key)])))  # type: ignore[func-returns-value]
            else:
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
        if is_number(key) and key.dtype.kind == "b" and isinstance(owner, dict):
            key = OneOf(OPS["cast"](key, "int64", python=True), [False, True])
        if isinstance(key, OneOf):
            switch(tracer, key, lambda one: list(filter(None, [set_item(value, owner, one)])))  # type: ignore[func-returns-value]
            return
        if isinstance(owner, dict) and id(owner) in tracer.root.tails:
            _store_pair(tracer, value, owner, key)
            return
        if isinstance(owner, list):
            guard_content(tracer, owner)
        if is_number(key) and _is_outside(tracer, owner):
            _refuse_new_key(tracer, owner, key)
        if isinstance(key, SymbolicTensor) and isinstance(owner, list) and len(owner) <= PLACES and not by_path(owner):
            _set_at(tracer, value, owner, key)
            return
        if is_number(key) and isinstance(owner, dict) and _numbers(owner):
            _set_by_key(tracer, value, owner, key)
            return
        if isinstance(key, SymbolicTensor):
            message = f"a {type(owner).__name__} stored into at an index that only a run will tell"
            refuse("D2S1001", message, "keep pairs in a list, or ask for each key in an `if`")
        changing(tracer, owner)
    owner[key] = value
