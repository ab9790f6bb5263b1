"""Structures of arguments and results: nested tuples, lists and dicts with leaves.

In: a structure. Out: its leaves in order and a skeleton to rebuild it from others.

>>> leaves, skeleton = flatten({"a": [1, (2, 3)]})
>>> leaves, rebuild(skeleton, [x * 10 for x in leaves])
([1, 2, 3], {'a': [10, (20, 30)]})
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from d2s.capture.containers import by_path, plain_kind
from d2s.errors import DTypeError, brief
from d2s.exact import Exactly

Skeleton = Any  # None for a leaf, else (type, keys, children)


def flatten(structure: Any) -> tuple[list[Any], Skeleton]:
    """The leaves, and the skeleton, which is hashable."""
    try:
        return _flattened(structure)
    except RecursionError:
        raise DTypeError("D2S0001", f"{brief(structure)} holds itself, or is nested too deeply") from None


def _flattened(structure: Any) -> tuple[list[Any], Skeleton]:
    kind = plain_kind(structure)
    if by_path(structure):
        return [structure], None
    if kind is dict:
        keys, parts = tuple(map(Exactly, structure)), list(structure.values())
    elif kind in (list, tuple) or (isinstance(structure, tuple) and hasattr(structure, "_fields")):
        keys, parts = (), list(structure)
    else:
        return [structure], None
    found = [_flattened(part) for part in parts]
    return [leaf for leaves, _ in found for leaf in leaves], (kind, keys, tuple(s for _, s in found))


def containers(structure: Any) -> list[Any]:
    """The lists, dicts and tuples of a structure, outer before inner."""
    if by_path(structure):
        return [structure]
    kind = plain_kind(structure)
    parts = structure.values() if kind is dict else structure if isinstance(structure, list | tuple) else None
    return [] if parts is None else [structure, *(c for part in parts for c in containers(part))]


def changeable(structure: Any) -> list[Any]:
    """The lists and dicts of a structure.

    >>> changeable(([1], {"a": (2, [3])}))
    [[1], {'a': (2, [3])}, [3]]
    """
    return [container for container in containers(structure) if not isinstance(container, tuple)]


def rebuild(skeleton: Skeleton, leaves: Iterable[Any], made: Callable[[Any], Any] = lambda container: container) -> Any:
    """The structure of a skeleton with these leaves; each container is what `made` makes of it."""
    return _rebuild(skeleton, iter(leaves), made)


def _rebuild(skeleton: Skeleton, leaves: Iterator[Any], made: Callable[[Any], Any]) -> Any:
    if skeleton is None:
        return next(leaves)
    kind, keys, children = skeleton
    parts = [_rebuild(child, leaves, made) for child in children]
    if kind is dict:
        return made(dict(zip((k.value for k in keys), parts, strict=True)))
    return made(kind(*parts) if hasattr(kind, "_fields") else kind(parts))
