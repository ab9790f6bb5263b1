"""Readers made of readers: a reader is a function that gives an iterator of samples.

In: readers, numbers, functions. Out: readers; nothing is read before their samples are asked for.

>>> list(chain(firstn(lambda: range(9), 2), lambda: "ab")())
[0, 1, 'a', 'b']
"""

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from d2s.errors import ArgumentError, DTypeError
from d2s.io.sampler import positive

Reader = Callable[[], Iterable[Any]]


def _readers(function: str, given: tuple[Any, ...]) -> tuple[Reader, ...]:
    for one in given:
        if not callable(one):
            raise DTypeError("D2S0001", f"{function}(): a reader is a function, got {type(one).__name__}")
    return given


def shuffle(reader: Reader, buf_size: int) -> Reader:
    """The samples in another order: so many are taken in, mixed and given.

    >>> sorted(shuffle(lambda: range(5), 3)())
    [0, 1, 2, 3, 4]
    """
    _readers("shuffle", (reader,))
    size = positive("shuffle", "buf_size", buf_size)

    def mixed() -> Iterator[Any]:
        samples = iter(reader())
        while held := list(itertools.islice(samples, size)):
            random.shuffle(held)
            yield from held

    return mixed


def buffered(reader: Reader, size: int) -> Reader:
    """The same samples; they are cheap to read, so that none is read ahead.

    >>> list(buffered(lambda: range(3), 2)())
    [0, 1, 2]
    """
    _readers("buffered", (reader,))
    positive("buffered", "size", size)
    return reader


def cache(reader: Reader) -> Reader:
    """The same samples, read once and kept.

    >>> list(cache(lambda: iter("ab"))())
    ['a', 'b']
    """
    _readers("cache", (reader,))
    kept: list[list[Any]] = []

    def held() -> Iterator[Any]:
        if not kept:
            kept.append(list(reader()))
        return iter(kept[0])

    return held


def map_readers(func: Callable[..., Any], *readers: Reader) -> Reader:
    """What a function gives for a sample of each reader.

    >>> list(map_readers(lambda a, b: a + b, lambda: [1, 2], lambda: [10, 20])())
    [11, 22]
    """
    _readers("map_readers", (func, *readers))
    return lambda: map(func, *(reader() for reader in readers))


def xmap_readers(
    mapper: Callable[[Any], Any], reader: Reader, process_num: int, buffer_size: int, order: bool = False
) -> Reader:
    """What a function gives for each sample, in the order they come.

    >>> list(xmap_readers(lambda n: n * 2, lambda: [1, 2], 1, 1)())
    [2, 4]
    """
    positive("xmap_readers", "process_num", process_num)
    positive("xmap_readers", "buffer_size", buffer_size)
    return map_readers(mapper, reader)


def chain(*readers: Reader) -> Reader:
    """The samples of one reader behind those of another."""
    _readers("chain", readers)
    return lambda: itertools.chain.from_iterable(reader() for reader in readers)


def compose(*readers: Reader, check_alignment: bool = True) -> Reader:
    """Samples of several readers side by side, as one tuple; tuples among them become part of it.

    >>> list(compose(lambda: [1, 2], lambda: [(3, 4), (5, 6)])())
    [(1, 3, 4), (2, 5, 6)]
    """
    _readers("compose", readers)

    def side_by_side() -> Iterator[Any]:
        for parts in itertools.zip_longest(*(reader() for reader in readers), fillvalue=_GONE):
            if any(part is _GONE for part in parts):
                if check_alignment:
                    raise ArgumentError("D2S0004", "compose(): one reader has fewer samples than another")
                return
            yield tuple(itertools.chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in parts))

    return side_by_side


_GONE = object()


def firstn(reader: Reader, n: int) -> Reader:
    """The first samples."""
    _readers("firstn", (reader,))
    count = positive("firstn", "n", n)
    return lambda: itertools.islice(reader(), count)
