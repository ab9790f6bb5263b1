"""From a reader of samples to a reader of batches.

>>> batches = d2s.batch(lambda: iter(range(5)), batch_size=2)
>>> list(batches())
[[0, 1], [2, 3], [4]]
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from d2s.errors import DTypeError
from d2s.io.sampler import positive


def batch(reader: Callable[[], Iterator[Any]], batch_size: int, drop_last: bool = False) -> Callable[[], Iterator[list[Any]]]:
    """A reader of lists of `batch_size` samples; with `drop_last`, without a last one that is shorter.

    >>> list(d2s.batch(lambda: iter("abc"), 2, drop_last=True)())
    [['a', 'b']]
    """
    if not callable(reader):
        raise DTypeError("D2S0001", f"batch(): 'reader' expects a function, got {type(reader).__name__}")
    size = positive("batch", "batch_size", batch_size)

    def batches() -> Iterator[list[Any]]:
        samples = iter(reader())
        while held := list(itertools.islice(samples, size)):
            if len(held) == size or not drop_last:
                yield held

    return batches
