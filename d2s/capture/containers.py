"""Lists and dicts of the captured function: Python's own, until what they hold depends on the path a run takes.

In: a list or dict as it is made. Out: one that can also hold what no Python container can, in `held`; what it is asked then is
answered by `capture.by_path`. To the user's code it is a list or a dict.

>>> parts = stand_in([1, 2])
>>> parts, type(parts) is list, parts.held
([1, 2], False, None)
"""

from typing import Any


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


STAND_INS = (List, Dict)
List.__name__, Dict.__name__ = "list", "dict"  # what messages call them


def stand_in(container: Any) -> Any:
    """A list or a dict that was just made, as the capture holds it; anything else as it is."""
    kind = type(container)
    return List(container) if kind is list else Dict(container) if kind is dict else container


def plain_kind(container: Any) -> Any:
    """The class of a value as the user's code knows it."""
    kind = type(container)
    return list if kind is List else dict if kind is Dict else kind


def by_path(value: Any) -> bool:
    """Whether what a container holds depends on the path."""
    return isinstance(value, STAND_INS) and value.held is not None


def contents(container: Any) -> Any:
    """What a container holds, as something that does not change."""
    if by_path(container):
        return container.held
    if isinstance(container, list):
        return tuple(list.__iter__(container))
    if isinstance(container, dict):
        return dict(zip(dict.keys(container), dict.values(container), strict=True))
    return set(container)


def restore(container: Any, held: Any) -> None:
    """Has a container hold something else."""
    if isinstance(container, STAND_INS):
        container.held = None
    kind: Any = list if isinstance(container, list) else dict if isinstance(container, dict) else set
    kind.clear(container)
    if not isinstance(held, tuple | list | dict | set):
        container.held = held
    elif kind is list:
        list.extend(container, held)
    else:
        kind.update(container, held)
