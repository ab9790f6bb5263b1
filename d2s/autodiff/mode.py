"""Whether eager code makes a tape: a switch of each thread, in blocks, for functions, or until further notice.

>>> w = d2s.to_tensor([1.0], stop_gradient=False)
>>> with no_grad():
...     (w * 2.0).stop_gradient
True
"""

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from types import TracebackType
from typing import Any, TypeVar, overload

from d2s.arguments import expect
from d2s.errors import DTypeError

F = TypeVar("F", bound=Callable[..., Any])


class _Mode(threading.local):
    recording = True


mode = _Mode()


def recording() -> bool:
    """Whether eager results remember how they were made."""
    return mode.recording


class Switch:
    """The mode in a `with` block, or while a function it decorates runs: a generator's own steps, not what is between them."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def __enter__(self) -> None:
        self.before.append(mode.recording)
        mode.recording = self.on

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        mode.recording = self.before.pop()

    def __call__(self, function: F) -> F:
        expect("no_grad" if not self.on else "enable_grad", "func", function, Callable, "a function")
        if inspect.isgeneratorfunction(function):
            return _stepwise(function, self.on)  # type: ignore[return-value]

        @functools.wraps(function)
        def switched(*args: Any, **kwargs: Any) -> Any:
            with Switch(self.on):
                return function(*args, **kwargs)

        return switched  # type: ignore[return-value]


def _stepwise(function: Callable[..., Any], on: bool) -> Callable[..., Any]:
    """The generator function, each step of it in the mode; what is sent and thrown in arrives, what it returns is returned."""

    @functools.wraps(function)
    def switched(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
        with Switch(on):
            inside = function(*args, **kwargs)
        step, given = inside.send, None
        try:
            while True:
                with Switch(on):
                    found = step(given)
                step, given = inside.send, None
                try:
                    given = yield found
                except GeneratorExit:
                    raise
                except BaseException as error:
                    step, given = inside.throw, error
        except StopIteration as end:
            return end.value
        finally:
            with Switch(on):
                inside.close()

    return switched


@overload
def no_grad(func: None = None) -> Switch: ...
@overload
def no_grad(func: F) -> F: ...
def no_grad(func: Any = None) -> Any:
    """Eager code in this block, or in the function decorated, makes no tape.

    >>> @no_grad
    ... def doubled(x):
    ...     return x * 2.0
    >>> doubled(d2s.to_tensor([1.0], stop_gradient=False)).stop_gradient
    True
    """
    return Switch(False) if func is None else Switch(False)(func)


@overload
def enable_grad(func: None = None) -> Switch: ...
@overload
def enable_grad(func: F) -> F: ...
def enable_grad(func: Any = None) -> Any:
    """Eager code in this block, or in the function decorated, makes a tape, also inside of `no_grad`.

    >>> with no_grad(), enable_grad():
    ...     is_grad_enabled()
    True
    """
    return Switch(True) if func is None else Switch(True)(func)


class Lasting(Switch):
    """Switches when it is made; a `with` block around it ends that."""

    def __init__(self, on: bool) -> None:
        super().__init__(on)
        self.first = mode.recording
        mode.recording = on

    def __enter__(self) -> None:
        self.before.append(self.first)
        mode.recording = self.on

    def __call__(self, function: F) -> F:
        mode.recording = self.first
        return super().__call__(function)


def set_grad_enabled(mode: bool) -> Switch:
    """Switches the tape on or off from here on, or for a `with` block.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    >>> is_grad_enabled()
    True
    """
    if not isinstance(mode, bool):
        raise DTypeError("D2S0001", f"set_grad_enabled(): 'mode' expects a bool, got {type(mode).__name__}")
    return Lasting(mode)


def is_grad_enabled() -> bool:
    """Whether eager code makes a tape here.

    >>> is_grad_enabled()
    True
    """
    return recording()
