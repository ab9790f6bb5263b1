"""Loops whose trips raise what is caught around them: such a trip is the last, and what it raised is raised behind the loop.

In: the parts of a loop. Out: parts of which none raises; the test is asked at the end of each trip, so that it may raise, too.

>>> done = []
>>> def trip():
...     done.append(1 / (2 - len(done)))
>>> loop = Raising(lambda: True, trip, lambda: (), lambda values: None)
>>> loop.begin()
>>> while loop.more:
...     loop.trip()
>>> done, loop.error
([0.5, 1.0], ZeroDivisionError('division by zero'))
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.alternatives import each
from d2s.capture.branch import is_internal, test_of
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import capturing
from d2s.convert.exceptions import note
from d2s.convert.forking import forking
from d2s.convert.if_else import Get, Set, if_else, truth_of


class Raising:
    """A loop that a trip may end by raising; `more` says whether it goes on, `error` is what was raised."""

    def __init__(self, test: Callable[[], Any], body: Callable[[], None], get: Get, set: Set) -> None:
        self._test, self._body, self._get, self._set = test, body, get, set
        self.more: Any = None
        self.error: Any = None

    def begin(self) -> None:
        """Asks whether there is a first trip."""
        self.more = truth_of(self._test())

    def trip(self) -> None:
        forking(self._trip, self.get, self.set, ends_trip=True)

    def _trip(self) -> None:
        try:
            self._body()
            self.more = truth_of(self._test())
        except _Several as found:
            self.more, self.error = False, found.error
        except BaseException as error:
            if is_internal(error):
                raise
            note(error)
            self.more, self.error = False, error

    def get(self) -> tuple[Any, ...]:
        return self.more, self.error, *self._get()

    def set(self, values: tuple[Any, ...]) -> None:
        self.more, self.error, *others = values
        self._set(tuple(others))

    def end(self) -> None:
        """Raises what a trip has raised."""
        if isinstance(self.error, OneOf):
            _raise_one_of(self.error)
        elif self.error is not None:
            raise self.error


class _Several(Exception):
    """One of several exceptions, for a loop around, which takes it as it is: so there is one question instead of several."""

    def __init__(self, error: OneOf) -> None:
        super().__init__()
        self.error = error


def _raise_one_of(error: OneOf) -> None:
    tracer = capturing()
    assert tracer is not None
    if tracer.root.attempts[-1].ends_trip:
        test = test_of(tracer, error, {k for k, one in enumerate(error.alternatives) if one is not None})
        if_else(test, lambda: _raise(_Several(error)), lambda: None, lambda: (), lambda values: None, ())
    else:
        each(error, _raise)


def _raise(error: Any) -> None:
    if error is not None:
        raise error
