"""Calls that are all the graph's, for those who compare it with eager code.

In: a `with` block. Out: whether this is in one.

>>> with staying():
...     stays()
True
"""

import contextlib
from collections.abc import Iterator

_staying = list[None]()  # not empty while every call is the graph's


@contextlib.contextmanager
def staying() -> Iterator[None]:
    """No call in a `with` block is left to eager code."""
    _staying.append(None)
    try:
        yield
    finally:
        _staying.pop()


def stays() -> bool:
    """Whether this is such a block."""
    return bool(_staying)
