"""Lists and dicts of the captured function: Python's own, until what they hold depends on the path a run takes; and objects of
the user's classes that it makes, which hold their attributes as a dict holds its items.

In: a list or dict as it is made. Out: one that can also hold what no Python container can, in `held`; what it is asked then is
answered by `capture.by_path`. To the user's code it is a list or a dict.

>>> parts = stand_in([1, 2])
>>> parts, type(parts) is list, parts.held
([1, 2], False, None)
"""

import collections
import operator
from collections.abc import Collection
from typing import Any

from d2s.errors import another


class List(list):  # type: ignore[type-arg]
    """A list of the captured function; with `held`, its own items are none, and mean nothing."""

    __slots__ = ("held",)
    __class__ = property(lambda self: list)  # type: ignore[assignment]

    def __init__(self, items: Any = ()) -> None:
        list.__init__(self, items)
        self.held: Any = None


class Dict(dict):  # type: ignore[type-arg]
    """A dict of the captured function."""

    __slots__ = ("held",)
    __class__ = property(lambda self: dict)  # type: ignore[assignment]

    def __init__(self, items: Any = ()) -> None:
        dict.__init__(self, items)
        self.held: Any = None


class Set(set):  # type: ignore[type-arg]
    """A set of the captured function."""

    __slots__ = ("held",)
    __class__ = property(lambda self: set)  # type: ignore[assignment]

    def __init__(self, items: Any = ()) -> None:
        set.__init__(self, items)
        self.held: Any = None


STAND_INS = (List, Dict, Set)
List.__name__, Dict.__name__, Set.__name__ = "list", "dict", "set"  # what messages call them
# classes of the capture, and what the user's code knows their objects as
STANDING: dict[type, Any] = {
    List: list,
    Dict: dict,
    Set: set,
}
REAL: dict[Any, Any] = {}  # classes whose objects are others in a capture: what makes one of the attributes these have


def stand_in(container: Any) -> Any:
    """A list, a dict or a set that was just made, as the capture holds it; anything else as it is."""
    found = next((made for made in STAND_INS if type(container) is STANDING[made]), None)
    return container if found is None else found(container)


def plain_kind(container: Any) -> Any:
    """The class of a value as the user's code knows it."""
    kind = type(container)
    return STANDING.get(kind, kind)


def by_path(value: Any) -> bool:
    """Whether what a container holds depends on the path."""
    return isinstance(value, STAND_INS) and value.held is not None


def is_container(value: Any) -> bool:
    return isinstance(value, list | dict | set)


def new_object(cls: type, attributes: dict[str, Any]) -> Any:
    """An object with these attributes, without what its class does when it makes one."""
    if issubclass(cls, BaseException):
        made: Any = another(cls, _arguments(attributes), {})
        restore(made, attributes)
        return made
    made = cls.__new__(cls) if cls.__module__ == "types" else object.__new__(cls)
    give(made, attributes)
    return made


def give(owner: Any, attributes: dict[str, Any]) -> None:
    """Has an object these attributes besides, without asking its class."""
    put = object.__setattr__
    for name in attributes:
        put(owner, name, attributes[name])


def attributes(owner: Any) -> dict[str, Any]:
    """The attributes an object has of its own, those in slots included."""
    slots = [name for kind in type(owner).__mro__ for name in _slots(kind) if hasattr(owner, name)]
    found = {name: getattr(owner, name) for name in slots} | dict(getattr(owner, "__dict__", {}))
    if not isinstance(owner, BaseException):
        return found
    found |= {f"{_ARGUMENT}{k}": value for k, value in enumerate(owner.args)}
    return found | ({"__cause__": owner.__cause__} if owner.__suppress_context__ else {})


def _slots(kind: type) -> list[str]:
    """The attributes that a class has places for, by the names that objects know them by."""
    declared = vars(kind).get("__slots__", ())
    names = (declared,) if isinstance(declared, str) else declared
    hidden = f"_{kind.__name__.lstrip('_')}"
    private = (name.startswith("__") and not name.endswith("__") for name in names)
    return [hidden + name if own else name for name, own in zip(names, private, strict=True) if name not in _NO_PLACES]


_NO_PLACES = ("__dict__", "__weakref__")


_ARGUMENT = "args "  # of an exception, in front of the number


def _arguments(held: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(value for name, value in held.items() if name.startswith(_ARGUMENT))


def _restore_exception(error: BaseException, held: dict[str, Any]) -> None:
    error.args = _arguments(held)
    vars(error).clear()
    error.__cause__ = held.get("__cause__")
    error.__suppress_context__ = "__cause__" in held
    vars(error).update({k: v for k, v in held.items() if k != "__cause__" and not k.startswith(_ARGUMENT)})


def base_of(container: Any) -> Any:
    """Python's class whose methods say and change what a container holds, whatever classes made of it add to that."""
    return next(kind for kind in (list, collections.OrderedDict, dict, set) if isinstance(container, kind))


def contents(container: Any) -> Any:
    """What a container holds, or an object, as something that does not change."""
    if not is_container(container):
        return attributes(container)
    if by_path(container):
        return container.held
    if isinstance(container, list):
        return tuple(list.__iter__(container))
    if isinstance(container, dict):
        kind = base_of(container)
        return dict(zip(kind.keys(container), kind.values(container), strict=True))
    return frozenset(set.__iter__(container))


def _goes_on(container: Any, held: Any) -> bool:
    """Whether a dict or a set has the same keys, so that iterators of Python find them where they were."""
    if isinstance(container, dict) and isinstance(held, dict):
        return _same_keys(container.keys() if type(container) is dict else base_of(container).keys(container), held)
    return isinstance(container, set) and set.__eq__(container, held) is True


def _same_keys(keys: Collection[Any], held: Collection[Any]) -> bool:
    return len(keys) == len(held) and all(map(operator.is_, keys, held))


def restore(container: Any, held: Any) -> None:
    """Has a container, or an object, hold something else."""
    if type(container) is list and type(held) is list:
        container[:] = held
        return
    if type(container) is dict and type(held) is dict:
        if not _same_keys(container, held):
            container.clear()
        container.update(held)
        return
    if isinstance(container, BaseException):
        _restore_exception(container, held)
        return
    if not is_container(container):
        for name in attributes(container):
            object.__delattr__(container, name)
        give(container, held)
        return
    if isinstance(container, STAND_INS):
        container.held = None
    kind: Any = type(container) if type(container) in (list, dict) else base_of(container)
    if not _goes_on(container, held):
        kind.clear(container)
    if not isinstance(held, tuple | list | dict | set | frozenset):
        container.held = held
    elif kind is list:
        list.extend(container, held)
    else:
        kind.update(container, held)
