"""A limit to what one program may take, by which one that never ends is a failure like any other.

In: nothing. Out: a `with` block that ends in `TooLong` behind 30 s of the processor's time.

>>> with limited():
...     pass
"""

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

SECONDS = 30


class TooLong(BaseException):
    """Not one that a comparison takes for the program's own."""


def _end(*_: Any) -> None:
    raise TooLong(f"still running after {SECONDS} s of the processor's time")


@contextlib.contextmanager
def limited() -> Iterator[None]:
    signal.signal(signal.SIGPROF, _end)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
