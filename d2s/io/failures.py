"""Exceptions of workers on their way to the process that is training.

In: an exception that is being handled. Out: the same exception there, with the worker's traceback as its cause. What cannot be
pickled becomes a WorkerError.

>>> try:
...     int("x")
... except ValueError as error:
...     sent = packed(error)
>>> found = unpacked(sent, "worker 0")
>>> found
ValueError("invalid literal for int() with base 10: 'x'")
>>> print(found.__cause__)  # doctest: +ELLIPSIS
in worker 0:
Traceback (most recent call last):
  ...
"""

import pickle
import traceback
from typing import NamedTuple

from d2s.errors import WorkerError


class Failure(NamedTuple):
    """An exception pickled, or nothing; what it says; and the text of its traceback."""

    pickled: bytes
    said: str
    trace: str


class WorkerTraceback(Exception):
    """The text of a traceback of another process."""


def packed(error: BaseException) -> Failure:
    """An exception as what can be sent."""
    trace = "".join(traceback.format_exception(error))
    return Failure(_pickled(error), f"{type(error).__name__}: {error}", trace)


def _pickled(error: BaseException) -> bytes:
    try:
        found = pickle.dumps(error)
        return found if type(pickle.loads(found)) is type(error) else b""
    except Exception:  # whatever the user's class raises
        return b""


def unpacked(failure: Failure, worker: str) -> BaseException:
    """The exception, to be raised."""
    error = pickle.loads(failure.pickled) if failure.pickled else WorkerError("D2S4001", f"{worker}: {failure.said}")
    error.__cause__ = WorkerTraceback(f"in {worker}:\n{failure.trace}")
    return error  # type: ignore[no-any-return]
