"""Iterators of Python's library whose functions decide how far they go, written as generators that a capture follows.

In: what `itertools.takewhile`, `dropwhile` and `iter` with a value at its end are called with. Out: the items they give.

>>> list(taken_while(lambda n: n < 3, [1, 2, 3, 1])), list(dropped_while(lambda n: n < 3, [1, 2, 3, 1]))
([1, 2], [3, 1])
>>> parts = [1, 2, 0, 3]
>>> list(until(lambda: parts.pop(0), 0))
[1, 2]
"""

from collections.abc import Callable, Iterator
from typing import Any


def taken_while(test: Callable[[Any], Any], items: Any) -> Iterator[Any]:
    for item in items:
        if not test(item):
            return
        yield item


def dropped_while(test: Callable[[Any], Any], items: Any) -> Iterator[Any]:
    dropping = True
    for item in items:
        if dropping and test(item):
            continue
        dropping = False
        yield item


def until(function: Callable[[], Any], end: Any) -> Iterator[Any]:
    while True:
        item = function()
        if item == end:
            return
        yield item
