"""What lists and dicts are asked, and how they change, where what they hold depends on the path a run takes.

In: methods of `List` and `Dict`. Out: the same of each content they can have, joined; a change gives them contents by the path.

>>> from d2s.capture.containers import List
>>> from d2s.capture.forms import TAG
>>> from d2s.ops.dispatch import handling
>>> tracer, parts = Tracer("f"), List()
>>> parts.held = OneOf(tracer.input(TAG, "tag"), [(1,), (1, 2)])
>>> with handling(tracer):
...     parts.append(3)
...     opened(parts).alternatives, parts[-1]
(([1, 3], [1, 2, 3]), 3)
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from d2s.capture.alternatives import each
from d2s.capture.branch import switch
from d2s.capture.containers import STAND_INS, STANDING, Dict, List, Set, by_path, contents, is_container, plain_kind, stand_in
from d2s.capture.forms import OneOf
from d2s.capture.growing import asked, grow, is_grown
from d2s.capture.kinds import CONSTANT
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.eager.tensor import Tensor

_TAKEN = "only a run will tell how many items it has"


def truth_asked(value: Any) -> Any:
    """What stands for a value where its truth is asked: of a list whose length only a run will tell, whether it has items."""
    return value.held.length != 0 if is_grown(value) else opened(value)


def opened(value: Any) -> Any:
    """Of a container whose content depends on the path, one of several containers; anything else as it is."""
    value = seen_through(value)
    if not by_path(value) or is_grown(value):
        return value
    kind = type(value)
    return OneOf(value.held.tag, [kind(one) for one in value.held.alternatives])


def seen_through(value: Any) -> Any:
    """Of what a dict of the function shows of itself, Python's own view; or one of several, by the path."""
    return value.content if type(value) in STANDING and type(value) not in STAND_INS and "owner" in vars(value) else value


def gathered(value: Any) -> Any:
    """Of one of several lists or dicts that were made just now, one whose content depends on the path."""
    kinds = {plain_kind(one) for one in value.alternatives} if isinstance(value, OneOf) else set()
    if kinds not in ({list}, {dict}, {set}):
        return value
    made = stand_in(kinds.pop()())
    made.held = OneOf(value.tag, [contents(one) for one in value.alternatives])
    return _tracer().root.heap.made(made)


def _tracer() -> Tracer:
    tracer = capturing()
    assert tracer is not None
    return tracer


def _asked(plain: Callable[..., Any]) -> Any:
    makes, name = plain.__name__ in _MAKING, plain.__name__.replace("<lambda>", "__radd__")
    takes_items = name not in ("index", "count", "get")  # these are given a value as it is, whatever it is

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if name in ("__mul__", "__rmul__") and isinstance(args[0], SymbolicTensor) and _never_changes(self):
            return asked(grow(List(self), []), name, *args)
        if is_grown(self) or (takes_items and any(map(is_grown, args))):
            return asked(self, name, *args, **kwargs)
        if by_path(self):
            found = each(opened(self), lambda one: method(one, *args, **kwargs))
            return gathered(found) if makes or (args and isinstance(args[0], slice)) else found
        place = next((k for k, value in enumerate(args) if by_path(value)), None) if takes_items else None
        if place is not None:
            found = each(opened(args[place]), lambda one: method(self, *args[:place], one, *args[place + 1 :]))
            return gathered(found) if makes else found
        found = plain(self, *args, **kwargs)
        new = makes or (args and isinstance(args[0], slice))
        return _tracer().root.heap.made(stand_in(found)) if new and is_container(found) else found

    method.__name__ = plain.__name__
    return method


def _never_changes(owner: Any) -> bool:
    """Whether a list holds only what may be in it several times: no containers and objects, which may change."""
    held = () if by_path(owner) or not isinstance(owner, List) else contents(owner)
    return bool(held) and all(map(_is_constant, held))


def _is_constant(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    return isinstance(value, SymbolicTensor | Tensor) or type(value) in CONSTANT


def is_number(value: Any) -> bool:
    """Whether it is a Python number of run time."""
    return isinstance(value, SymbolicTensor) and value.value.type.python


def _viewed(plain: Callable[..., Any]) -> Any:
    def method(self: Any) -> Any:
        if not by_path(self):
            return plain(self)
        return OneOf(self.held.tag, [tuple(plain(one)) for one in self.held.alternatives])

    method.__name__ = plain.__name__
    return method


def _refused(plain: Callable[..., Any], what: str) -> Any:
    """What Python must be answered with a value of its own."""

    def method(self: Any, *args: Any) -> Any:
        if by_path(self):
            refuse("D2S1001", f"{what} of a {plain_kind(self).__name__}: {_TAKEN}", "loop over it, or index it")
        return plain(self, *args)

    method.__name__ = plain.__name__
    return method


_OPERATORS_OF_SETS = ("__ior__", "__iand__", "__isub__", "__ixor__")


def _changed(plain: Callable[..., Any]) -> Any:
    takes_items = plain.__name__.endswith("update") or plain.__name__ in ("extend", "__iadd__", *_OPERATORS_OF_SETS)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if takes_items or (plain.__name__ == "__setitem__" and isinstance(args[0], slice)):
            args = tuple(map(opened, args))  # what is in them is taken; anything else is kept as the object it is
        else:
            args = tuple(map(_Whole, args))
        if is_grown(self) or any(map(is_grown, args)):
            return asked(self, plain.__name__, *map(_itself, args), **kwargs)
        if not by_path(self) and not any(isinstance(value, OneOf) for value in args):
            return plain(self, *map(_itself, args), **kwargs)
        return _change_of_each(self, plain, args, kwargs)

    method.__name__ = plain.__name__
    return method


class _Whole(NamedTuple):
    """An argument that a change is given as it is, whatever it is."""

    value: Any


def _itself(value: Any) -> Any:
    return value.value if isinstance(value, _Whole) else value


def _change_of_each(owner: Any, plain: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    kind, returned = type(owner), []

    def change(values: tuple[Any, ...], chosen: tuple[Any, ...] = ()) -> list[Any]:
        if not values:
            made = kind(chosen[0])
            result = plain(made, *map(_itself, chosen[1:]), **kwargs)
            returned.append(result is made)
            return [contents(made), None if result is made else result]
        first, *others = values
        if not isinstance(first, OneOf):
            return change(tuple(others), (*chosen, first))
        return switch(_tracer(), first, lambda one: change(tuple(others), (*chosen, one)))

    heap = _tracer().root.heap
    held, result = change((contents(owner), *args))
    heap.set(owner, held)
    return owner if all(returned) else result


def _walked(plain: Callable[..., Any]) -> Any:
    """A list is walked as it is at each step."""

    def method(self: Any) -> Iterator[Any]:
        if by_path(self):
            refuse("D2S1001", f"taking apart a {plain_kind(self).__name__}: {_TAKEN}", "loop over it, or index it")
        return _items(self)

    method.__name__ = plain.__name__
    return method


def _items(owner: Any) -> Iterator[Any]:
    place = 0
    while True:
        if by_path(owner):
            refuse("D2S1003", "a list changes on some paths while a loop goes over it", "loop over a copy of it")
        if place >= list.__len__(owner):
            return
        yield list.__getitem__(owner, place)
        place += 1


def steps(owner: Any, item: Callable[[Any], Any] = lambda key: key) -> Iterator[Any]:
    """Goes over a dict or a set as Python does, and finds what changes it meanwhile; `item` is what is given of a key."""
    kind = dict if isinstance(owner, Dict) else set
    keys = tuple(kind.__iter__(owner))
    for key in keys:
        _unchanged(owner, len(keys), kind.__contains__(owner, key))
        yield item(key)
    _unchanged(owner, len(keys), all(kind.__contains__(owner, key) for key in keys))


def _unchanged(owner: Any, count: int, same: bool) -> None:
    name = plain_kind(owner).__name__
    if not by_path(owner) and len(owner) != count:
        raise RuntimeError(f"{'dictionary' if name == 'dict' else 'Set'} changed size during iteration")
    if by_path(owner) or not same:
        what = "changes on some paths" if by_path(owner) else "is given other keys"
        refuse("D2S1003", f"a {name} {what} while a loop goes over it", "loop over a copy of it: list(...)")


def _stepped(plain: Callable[..., Any]) -> Any:
    started = _refused(plain, "iteration")

    def method(self: Any) -> Iterator[Any]:
        started(self)
        return steps(self)

    method.__name__ = plain.__name__
    return method


_OF_SETS = ("or", "ror", "and", "rand", "sub", "rsub", "xor", "rxor")
_NEW_SETS = ("union", "intersection", "difference", "symmetric_difference")
_SHARED = ("getitem", "contains", "eq", "ne", "lt", "le", "gt", "ge", "add", "mul", "rmul", *_OF_SETS)
_MAKING = ("__add__", "__mul__", "__rmul__", "copy", "<lambda>", *(f"__{name}__" for name in _OF_SETS), *_NEW_SETS)
_METHODS = ("index", "count", "copy", "get", "issubset", "issuperset", "isdisjoint", *_NEW_SETS)
_CHANGES: tuple[str, ...] = (
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
)
_CHANGES += ("add", "discard", "intersection_update", "difference_update", "symmetric_difference_update")
_CHANGES += ("__setitem__", "__delitem__", "__iadd__", "__imul__", *_OPERATORS_OF_SETS)
for _kind in STAND_INS:
    _base = _kind.__mro__[1]
    for _name in (*(f"__{name}__" for name in _SHARED), *_METHODS):
        if hasattr(_base, _name):
            setattr(_kind, _name, _asked(getattr(_base, _name)))
    for _name in ("items", "keys", "values"):
        if hasattr(_base, _name):
            setattr(_kind, _name, _viewed(getattr(_base, _name)))
    for _name in _CHANGES:
        if hasattr(_base, _name):
            setattr(_kind, _name, _changed(getattr(_base, _name)))
    for _name in ("__len__", "__bool__", "__repr__", "__reversed__", "sort"):
        if hasattr(_base, _name):
            setattr(_kind, _name, _refused(getattr(_base, _name), _name.strip("_")))
    _kind.__hash__ = None  # type: ignore[assignment]
List.__iter__ = _walked(list.__iter__)  # type: ignore[method-assign]
Dict.__iter__ = _stepped(dict.__iter__)  # type: ignore[method-assign]
Set.__iter__ = _stepped(set.__iter__)  # type: ignore[method-assign]
List.__radd__ = _asked(  # type: ignore[attr-defined]
    lambda self, other: list(other) + list(self) if isinstance(other, list) else NotImplemented
)
