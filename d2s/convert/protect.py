"""`try` and `with`: Python's own, also where a tensor decides whether something is raised.

In: body, handlers and ends as functions that set the caller's variables. Out: the variables set.

While capturing, an arm of an `if` on a tensor that raises makes a *fork* (`convert.forking`): what was recorded so far stays,
and the statement is run again once for either answer to the question, each in an arm of its own. There it is a Python
exception, that goes through the user's calls to the handlers. What is run again gives the symbols it gave before, and
records nothing.

>>> found = []
>>> def handle(raised):
...     found.append(type(raised).__name__)
>>> protected(lambda: 1 / 0, handle, lambda: None, lambda: found.append("end"), lambda: (), lambda values: None, ())
>>> found
['ZeroDivisionError', 'end']
"""

import contextlib
import types
from collections.abc import Callable, Sequence
from typing import Any

from d2s.capture.branch import is_internal, refuse_stand_in
from d2s.capture.forms import Later
from d2s.capture.steps import LOCKS, ask, tell
from d2s.capture.symbolic import capturing
from d2s.capture.taping import Taping
from d2s.capture.users_code import refuse
from d2s.convert import exceptions
from d2s.convert.calls import call
from d2s.convert.forking import forking
from d2s.convert.generators import Entering
from d2s.convert.if_else import Get, Set, if_else
from d2s.convert.methods import is_users
from d2s.errors import CaptureError, D2SError

Part = Callable[[], None]


def catches(raised: BaseException, kind: Any) -> bool:
    """Whether `except kind` catches an exception."""
    try:
        raise raised
    except kind:
        if isinstance(raised, D2SError):
            raised.forget_line()
        return True
    except BaseException as other:
        if other is not raised:
            raise
        return False


def raised(error: Any, *cause: Any) -> Any:
    """What a `raise` raises."""
    return exceptions.raised(call, error, *cause)


def protected(body: Part, handle: Callable[[Any], None], otherwise: Part, finish: Part, get: Get, set: Set, names: Any) -> None:
    def run() -> None:
        try:
            _handled(body, handle, otherwise)
        except BaseException as error:
            if not is_internal(error):
                _refuse_of_capture(error)
                finish()
            raise
        finish()

    forking(run, get, set)


def within(manager: Callable[[], Any], body: Callable[[Any], None], get: Get, set: Set, names: Sequence[str]) -> None:
    if capturing() is None:
        with manager() as entered:
            body(entered)
        return
    made = manager()
    if isinstance(made, contextlib.nullcontext):  # these neither catch nor see what is raised in them
        body(made.enter_result)
        return
    if isinstance(made, Taping):
        with made:
            body(None)
        return

    def run() -> None:
        tracer = capturing()
        assert tracer is not None
        if isinstance(made, Entering):
            made.run(tracer, body, get, set)
        else:
            _managed(made, body)

    forking(run, get, set)


def _handled(body: Part, handle: Callable[[Any], Any], otherwise: Part) -> None:
    try:
        body()
    except BaseException as error:
        if is_internal(error):
            raise
        _refuse_of_capture(error)
        exceptions.note(error)
        handle(error)
    else:
        otherwise()


def _refuse_of_capture(error: BaseException) -> None:
    """Ends a capture at what eager code would not have raised, and so neither caught nor left by a `finally`."""
    if isinstance(error, Exception) and capturing() is not None:
        refuse_stand_in(error)


def _managed(manager: Any, body: Callable[[Any], None]) -> None:
    """A `with` that is captured: entering and leaving are the user's functions, rewritten."""
    if isinstance(manager, contextlib.suppress):
        _handled(lambda: body(None), lambda error: _suppressed(manager, error), lambda: None)
        return
    if isinstance(manager, (Later, *LOCKS)):
        _of_run(manager, body)
        return
    enter, leave = (getattr(type(manager), name, None) for name in ("__enter__", "__exit__"))
    if not all(isinstance(m, types.FunctionType) and is_users(m) for m in (enter, leave)):
        message = f"`with` of a {type(manager).__name__}: it would be entered at capture only, and not at each call"
        refuse("D2S1004", message, "put the `with` around the call of the function")
    entered = call(enter)(manager)

    def handle(error: BaseException) -> None:
        def let_through() -> None:
            raise error

        swallowed = call(leave)(manager, type(error), error, error.__traceback__)
        if_else(swallowed, lambda: None, let_through, lambda: (), lambda values: None, ())

    _handled(lambda: body(entered), handle, lambda: call(leave)(manager, None, None, None))


def _of_run(manager: Any, body: Callable[[Any], None]) -> None:
    """A `with` of an object that only a run has, or of a lock: each run enters and leaves it."""
    tracer = capturing()
    assert tracer is not None

    def leave(error: BaseException) -> None:
        tell(capturing() or tracer, "exit", _left, (manager, error), {})
        raise error

    entered = ask(tracer, "enter", _entered, (manager,), {}, getattr(manager, "example", True))
    _handled(lambda: body(entered), leave, lambda: tell(capturing() or tracer, "exit", _left, (manager, None), {}))


def _entered(manager: Any) -> Any:
    return type(manager).__enter__(manager)


def _left(manager: Any, error: BaseException | None) -> None:
    if type(manager).__exit__(manager, error and type(error), error, None) and error is not None:
        message = f"a {type(manager).__name__} swallows a {type(error).__name__}, which this graph raises behind it"
        raise CaptureError("D2S1003", message, hint="put the `with` around the call of the function")


def _suppressed(manager: Any, error: BaseException) -> None:
    if not manager.__exit__(type(error), error, None):
        raise error
