"""Lists, dicts and sets the captured function makes: they may change, also on some paths only.

In: containers as they are made, and every change of one. Out: what a path changed, undone when the path ends, so that the
others find them as they were; `branch` and loops join the contents.

>>> heap, made = Heap(), [1]
>>> heap.made(made)
[1]
>>> with heap.path() as changes:
...     heap.changing(made)
...     made.append(2)
>>> made, list(changes.values())
([1], [([1], (1, 2))])
"""

import contextlib
from collections.abc import Iterator
from typing import Any

Changes = dict[int, tuple[Any, Any]]  # by id: a container, and what it held at the end of the path


class Heap:
    """The containers of one capture. They are kept: an id stays that of its object."""

    def __init__(self) -> None:
        self._made: dict[int, Any] = {}
        self._paths: list[dict[int, tuple[Any, Any]]] = []  # for each path gone into: what containers held before

    def made(self, container: Any) -> Any:
        """A container that was made just now."""
        self._made[id(container)] = container
        return container

    def has(self, value: Any) -> bool:
        return id(value) in self._made

    def changing(self, container: Any) -> None:
        """Notes what a container holds before a change."""
        if self._paths:
            self._paths[-1].setdefault(id(container), (container, contents(container)))

    @contextlib.contextmanager
    def path(self) -> Iterator[Changes]:
        """A path of its own: what it changes is told at its end, and undone."""
        changes: Changes = {}
        self._paths.append({})
        try:
            yield changes
        finally:
            for key, (container, before) in self._paths.pop().items():
                changes[key] = container, contents(container)
                restore(container, before)

    def set(self, container: Any, held: Any) -> None:
        """Gives a container other contents."""
        self.changing(container)
        restore(container, held)


def contents(container: Any) -> Any:
    """What a container holds, as something that does not change."""
    return (
        tuple(container) if isinstance(container, list) else dict(container) if isinstance(container, dict) else set(container)
    )


def restore(container: Any, held: Any) -> None:
    container.clear()
    container.extend(held) if isinstance(container, list) else container.update(held)
