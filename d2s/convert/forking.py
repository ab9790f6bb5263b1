"""Runs of a statement around which something is caught: where an arm raises, once more for each answer to the arm's question.

In: the statement as a function, and how to read and set the variables it changes. Out: the variables set.

>>> found = []
>>> forking(lambda: found.append(1), lambda: (), lambda values: None)
>>> found
[1]
"""

from collections.abc import Callable
from typing import Any

from d2s.capture.branch import branch, is_internal
from d2s.capture.foreseen import settle_all
from d2s.capture.fork import Attempt, Forked
from d2s.capture.heap import Known
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.convert.if_else import Get, Set

RUNS = 3000  # of protected statements in one capture, which takes some seconds then: loops in loops are captured many times


def forking(run: Callable[[], None], get: Get, set: Set, ends_trip: bool = False) -> None:
    """Runs a protected statement, on each side of a fork again. `ends_trip`: it is a trip of a loop, which hands on all."""
    tracer = capturing()
    if tracer is None:
        run()
        return
    settle_all(tracer)
    before = get()

    def arm() -> list[Any]:
        set(before)
        run()
        return list(get())

    attempt = Attempt(tracer)
    attempt.ends_trip, attempt.around = ends_trip, [(run, run.asked) for run in tracer.root.attempts]
    set(tuple(_attempt(tracer, arm, attempt)))


def _attempt(tracer: Tracer, arm: Callable[[], list[Any]], attempt: Attempt) -> list[Any]:
    heap, failure, forked = tracer.root.heap, None, None
    tracer.root.tried += 1
    if tracer.root.tried > RUNS:
        message = "something is raised on so many paths of loops in loops, inside a `try` or `with`, that no end is seen"
        refuse("D2S1003", message, "put the `try` into the inner loop")
    known, done, overwritten = heap.known(), _done(tracer), dict(tracer.root.overwritten)
    try:
        with attempt, heap.path(attempt) as changes:
            try:
                values = arm()
            except BaseException as error:
                if is_internal(error):
                    raise
                failure = error  # what it changed stays changed
    except Forked as found:
        forked = found
    if forked:
        if _done(tracer) != done:
            message = "something is raised behind a gradient or a step on some paths, inside a `try` or `with`"
            refuse("D2S1003", message, "raise it before these, or put the `try` around the call")
        tracer.root.overwritten = overwritten  # what is changed behind the question is so on paths only
        return _both_sides(tracer, arm, attempt, forked, known)
    attempt.refuse_faults()
    for container, held in changes.values():
        heap.set(container, held)
    if failure is not None:
        raise failure
    return values


def _done(tracer: Tracer) -> Any:
    """What gradients and steps have done so far."""
    training = tracer.root.training
    return training.done if training is not None and any(training.done) else None


def _both_sides(tracer: Tracer, arm: Callable[[], list[Any]], attempt: Attempt, fork: Forked, known: Known) -> list[Any]:
    if fork.test is None:
        message = "something is raised in a function that calls itself, inside a `try` or `with`: a graph cannot catch it there"
        refuse("D2S1003", message, "put the `try` into the function")
    then, otherwise = (attempt.decided(fork.place, side) for side in (True, False))
    return branch(tracer, fork.test, (lambda: _again(arm, then, known), lambda: _again(arm, otherwise, known)))


def _again(arm: Callable[[], list[Any]], attempt: Attempt, known: Known) -> list[Any]:
    tracer = capturing()
    assert tracer is not None
    tracer.root.heap.forget(known)
    return _attempt(tracer, arm, attempt.on(tracer))
