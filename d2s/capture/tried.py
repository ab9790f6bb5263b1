"""Steps of Python's whose exceptions the function may catch: a run says whether one raises and what, and that path raises it.

In: a step inside a `try` or `with`. Out: what it finds; in front of that stands a question, whose one arm raises. What is no
exception of a known class with one text ends the run with a coded error instead: nothing that is caught eagerly is let through.

>>> _outcome("int", KINDS, int, "four")
(1, "invalid literal for int() with base 10: 'four'", None)
"""

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from d2s.capture import steps
from d2s.capture.branch import branch
from d2s.capture.symbolic import Tracer, capturing
from d2s.errors import CaptureError

OF_NUMBERS = (ValueError, OverflowError, ZeroDivisionError, TypeError)  # what functions of numbers raise
KINDS = (*OF_NUMBERS, IndexError, KeyError, FloatingPointError, np.linalg.LinAlgError)


def tried(
    tracer: Tracer,
    name: str,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    example: Any,
    number: bool = False,
    kinds: tuple[type[Exception], ...] = KINDS,
) -> Any:
    """What a step finds, or raises."""
    outcome = steps.ask(tracer, name, partial(_outcome, name, kinds, function), args, kwargs, (0, "", example))
    branch(tracer, steps.ask(tracer, "raised", _is, (outcome, None), {}, False, True), (partial(_raised, kinds, outcome), list))
    return steps.ask(tracer, name, operator.getitem, (outcome, 2), {}, example, number=number)


def _raised(kinds: tuple[type[Exception], ...], outcome: Any) -> list[Any]:
    """The path of a step that raised: which kind of exception is a question for each, as handlers tell them apart."""
    tracer = capturing()
    assert tracer is not None
    said = steps.ask(tracer, "text", operator.getitem, (outcome, 1), {}, "")
    for k, error in enumerate(kinds[:-1], 1):
        test = steps.ask(tracer, error.__name__, _is, (outcome, k), {}, False, True)
        branch(tracer, test, (partial(_raise, error, said), list))
    return _raise(kinds[-1], said)


def _is(outcome: tuple[int, str, Any], kind: int | None) -> bool:
    """Whether a step raised something of a kind, or anything."""
    return outcome[0] > 0 if kind is None else outcome[0] == kind


def _raise(error: type[Exception], said: Any) -> list[Any]:
    raise error(said)


def _outcome(name: str, kinds: tuple[type[Exception], ...], function: Any, *args: Any, **kwargs: Any) -> tuple[int, str, Any]:
    try:
        return 0, "", function(*args, **kwargs)
    except Exception as error:
        if type(error) in kinds and len(error.args) == 1 and type(error.args[0]) is str:
            return kinds.index(type(error)) + 1, error.args[0], None
        message = f"'{name}' raised {type(error).__name__} inside a `try` or `with`, which this graph cannot catch: {error}"
        raise CaptureError("D2S1003", message, hint="put the `try` around the call") from error


steps.caught_by(tried)
