"""Generators of the user's: a `for` runs one turned inside out, its body in the place of each `yield`; and so does a `with`.

So what decides whether something is yielded may be a tensor, and what the body changes is joined where the generator's own
paths join. Whatever else takes a generator's items, Python advances it.

>>> def pairs(n):
...     yield n
...     yield n + 1
>>> list(Suspended(pairs, (1,), {}))
[1, 2]
"""

import contextlib
import inspect
import types
from collections.abc import Callable
from typing import Any

from d2s.ast_transforms import Converted
from d2s.ast_transforms.inverted import EMIT
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.users_code import in_library, refuse
from d2s.capture.variables import Shared
from d2s.convert.conversion import converted

Get = Callable[[], tuple[Any, ...]]
Set = Callable[[tuple[Any, ...]], None]
_MANAGED = contextlib.contextmanager(lambda: iter(())).__code__  # of what `@contextmanager` makes


class Suspended:
    """A generator that nobody has advanced yet."""

    def __init__(self, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        function(*args, **kwargs).close()  # complains of arguments that do not fit
        self.function, self.args, self.kwargs = function, args, kwargs
        self._generator: Any = None

    def __iter__(self) -> "Suspended":
        return self

    def __next__(self) -> Any:
        return next(self.begun())

    def begun(self) -> Any:
        """The generator itself, which from now on Python advances."""
        if self._generator is None:
            self._generator = converted(self.function).function(*self.args, **self.kwargs)
            tracer = capturing()
            if tracer and id(self) in tracer.root.iterators:
                tracer.root.iterators[id(self._generator)] = self._generator, tracer.root.iterators[id(self)][1]
        return self._generator

    def inverted(self, leaves: bool) -> Converted | None:
        """The function to run in place of the generator; None where that is not possible (any more)."""
        if self._generator is not None:
            return None
        made = converted(self.function, "leaving" if leaves else "staying")
        return None if made.function.__code__.co_flags & inspect.CO_GENERATOR else made

    def __getattr__(self, name: str) -> Any:
        return getattr(self.begun(), name)


Suspended.__name__ = Suspended.__qualname__ = "generator"


class _Closed(GeneratorExit):
    """The body of a loop over a generator has raised: that ends the generator, which does not see what was raised."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def emit(body: Callable[[Any], Any], value: Any) -> Any:
    """What a generator does that is turned inside out, in the place of `yield value`."""
    return body(value)


def looped(
    tracer: Tracer, generator: Suspended, body: Callable[[Any], None], stop: Callable[[], Any] | None, get: Get, set: Set
) -> bool:
    """Runs a `for` over a generator turned inside out, if that is possible."""
    run = generator.inverted(stop is not None)
    if run is None:
        return False
    change = _shared(tracer, get, set)

    def trip(item: Any) -> Any:
        change()
        try:
            body(item)
        except Exception as error:
            if not run.protects:
                raise
            if capturing() is not tracer:
                hint = "yield behind the `try`, or make a list of the items first"
                refuse("D2S1003", "the body of a loop raises, and its generator yields inside a `try`, by a tensor", hint)
            raise _Closed(error) from error
        return stop() if stop else False

    try:
        run.function(*generator.args, **generator.kwargs, **{EMIT: trip})
    except _Closed as closed:
        raise closed.error from closed.error.__cause__
    return True


class Entering:
    """What a call of a function gives that `contextlib.contextmanager` made of a generator."""

    def __init__(self, function: types.FunctionType, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.generator = Suspended(function, args, kwargs)

    def run(self, tracer: Tracer, body: Callable[[Any], None], get: Get, set: Set) -> None:
        """The `with` statement: what its body raises the generator sees at its `yield`."""
        run = self.generator.inverted(False)
        name = self.generator.function.__name__
        if run is None:
            refuse("D2S1004", f"`with` of '{name}', whose `yield` is part of an expression", "assign its value to a variable")
        change = _shared(tracer, get, set)
        entered: list[Any] = []
        left: list[Any] = []

        def inside(value: Any) -> None:
            entered.append(capturing())
            if capturing() in left:
                raise RuntimeError("generator didn't stop")
            change()
            body(value)
            left.append(capturing())

        run.function(*self.generator.args, **self.generator.kwargs, **{EMIT: inside})
        if not entered:
            raise RuntimeError("generator didn't yield")

    def __enter__(self) -> Any:
        """What Python enters, step by step: of `ExitStack`, whose body is not known here."""
        self.home, self.going = capturing(), self.generator.begun()
        for value in self.going:
            return value
        raise RuntimeError("generator didn't yield")

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> bool:
        if capturing() is not self.home:
            message = f"'{self.generator.function.__name__}' is entered by an ExitStack and left on some paths only"
            refuse("D2S1003", message, "enter it by a `with` statement")
        try:
            if error is None:
                next(self.going)
            else:
                self.going.throw(error)
        except StopIteration:
            return error is not None
        except BaseException as raised:
            if raised is not error:
                raise
            return False
        raise RuntimeError("generator didn't stop")


def manager_of(function: types.FunctionType) -> types.FunctionType | None:
    """The generator function of the user's behind what `contextlib.contextmanager` made of it."""
    wrapped = getattr(function, "__wrapped__", None)
    if function.__code__ is not _MANAGED or not isinstance(wrapped, types.FunctionType):
        return None
    code = wrapped.__code__
    return None if in_library(code.co_filename) or not code.co_flags & inspect.CO_GENERATOR else wrapped


def _shared(tracer: Tracer, get: Get, set: Set) -> Callable[[], None]:
    """The variables of a statement as places, for what runs its body without knowing them; a call says that they change."""
    heap = tracer.root.heap
    places = [Shared(get, set, k, heap.here()) for k in range(len(get()))]

    def change() -> None:
        for place in places:
            heap.changing(place)

    return change
