"""Objects of Python's library that call what the user has written: made of Python that a capture follows.

In: what their classes and functions are called with. Out: objects whose methods are rewritten like the user's own.

>>> descending = Key(lambda a, b: b - a)
>>> sorted([1, 3, 2], key=descending)
[3, 2, 1]
>>> ends = []
>>> with ExitStack() as stack:
...     stack.callback(ends.append, 1) is ends.append
...     stack.callback(ends.append, 2) is ends.append
False
False
>>> ends
[2, 1]
"""

import contextlib
import functools
from collections.abc import Callable
from typing import Any


class Key:
    """What `functools.cmp_to_key` makes of a function that compares."""

    def __init__(self, compare: Callable[[Any, Any], Any]) -> None:
        self.compare = compare

    def __call__(self, value: Any) -> "Compared":
        return Compared(self.compare, value)


class Compared:
    """A value in the order that a function says."""

    def __init__(self, compare: Callable[[Any, Any], Any], value: Any) -> None:
        self.compare, self.obj = compare, value

    def __lt__(self, other: "Compared") -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: "Compared") -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other: "Compared") -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: "Compared") -> Any:
        return self.compare(self.obj, other.obj) >= 0

    def __eq__(self, other: object) -> Any:
        return self.compare(self.obj, other.obj) == 0  # type: ignore[attr-defined]

    __hash__ = None  # type: ignore[assignment]


class Remembering:
    """What `functools.lru_cache` makes of a function that is defined inside, at each call anew."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function, self.__name__ = function, function.__name__
        self.found: dict[Any, Any] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = args, tuple(kwargs.items())
        if given not in self.found:
            self.found[given] = self.function(*args, **kwargs)
        return self.found[given]

    def cache_clear(self) -> None:
        self.found.clear()


class ExitStack:
    """A `contextlib.ExitStack`."""

    def __init__(self) -> None:
        self.ends: list[Any] = []

    def enter_context(self, manager: Any) -> Any:
        if isinstance(manager, contextlib.nullcontext):
            return manager.enter_result
        if isinstance(manager, contextlib.suppress):
            kinds: Any = manager._exceptions  # type: ignore[attr-defined]
            self.ends.append(lambda kind, error, trace: kind is not None and issubclass(kind, kinds))
            return None
        found = manager.__enter__()
        self.ends.append(manager.__exit__)
        return found

    def push(self, manager: Any) -> Any:
        self.ends.append(manager.__exit__ if hasattr(manager, "__exit__") else manager)
        return manager

    def callback(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        def end(kind: Any, error: Any, trace: Any) -> None:
            function(*args, **kwargs)

        self.ends.append(end)
        return function

    def pop_all(self) -> "ExitStack":
        made = ExitStack()
        made.ends, self.ends = self.ends, []
        return made

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __enter__(self) -> "ExitStack":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        """Each end is told of what the one before it let through, or raised itself."""
        pending = error
        while self.ends:
            end = self.ends.pop()
            try:
                if end(None if pending is None else type(pending), pending, None):
                    pending = None
            except BaseException as raised:
                pending = raised
        if pending is not None and pending is not error:
            raise pending
        return error is not None and pending is None


class Closing:
    """A `contextlib.closing`."""

    def __init__(self, thing: Any) -> None:
        self.thing = thing

    def __enter__(self) -> Any:
        return self.thing

    def __exit__(self, *_: Any) -> None:
        self.thing.close()


class PyLayerContext:
    """What a PyLayer's forward leaves to its backward."""

    def __init__(self) -> None:
        self.saved: tuple[Any, ...] = ()
        self.constant: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved = tensors

    def saved_tensor(self) -> tuple[Any, ...]:
        return self.saved

    def mark_not_inplace(self, *tensors: Any) -> None:
        """Results of a graph have memory of their own."""

    def mark_non_differentiable(self, *tensors: Any) -> None:
        self.constant = (*self.constant, *tensors)

    def set_materialize_grads(self, value: bool) -> None:
        """There is one result with a gradient, and its backward is asked where that has one."""


MADE_HERE = (Key, Compared, Remembering, ExitStack, Closing, PyLayerContext)
LIBRARY_OBJECTS: dict[Any, Any] = {functools.cmp_to_key: Key, contextlib.ExitStack: ExitStack, contextlib.closing: Closing}
