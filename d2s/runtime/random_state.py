"""The one stream of random numbers of a process: a seed, and a counter that each draw moves on by the blocks it takes.

In: a number of blocks. Out: the seed and the first block; no two draws get the same one, in however many threads. Draws take
their blocks in the order in which they are called, and a seed starts at block 0: same seed, same calls, same numbers.

>>> state = get_rng_state()
>>> x = d2s.randn([3])
>>> set_rng_state(state)
>>> (d2s.randn([3]) == x).numpy().tolist()
[True, True, True]
"""

import contextlib
import dataclasses
import operator
import os
import threading
from collections.abc import Iterator
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops import draw
from d2s.place import usable


@dataclasses.dataclass(frozen=True, slots=True)
class RandomState:
    """Where a stream is: what `get_rng_state` returns, to be kept, pickled and handed back."""

    seed: int
    counter: int = 0


class _Stream:
    def __init__(self) -> None:
        self.state = RandomState(0)
        self.lock = threading.RLock()

    def __call__(self, blocks: int) -> tuple[int, int]:
        with self.lock:
            at = self.state
            self.state = RandomState(at.seed, (at.counter + blocks) % (1 << 64))
        return at.seed, at.counter

    def renew(self) -> None:
        """In a forked child: the thread that held the lock may not be there."""
        self.lock = threading.RLock()


_stream = _Stream()
draw.install(_stream)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stream.renew)


@contextlib.contextmanager
def held() -> Iterator[tuple[int, int]]:
    """Where the stream is, for a run that draws itself, as signed 64 bits; other threads draw behind it.

    >>> with held() as (seed, counter):
    ...     move_to(counter + 1)
    """
    with _stream.lock:
        yield _signed(_stream.state.seed), _signed(_stream.state.counter)


def move_to(counter: int) -> None:
    """The counter from here on, as a signed number."""
    with _stream.lock:
        _stream.state = RandomState(_stream.state.seed, counter % (1 << 64))


def start_from(seed: int) -> None:
    """The seed from here on, as a signed number; the counter stays where it is."""
    with _stream.lock:
        _stream.state = RandomState(seed % (1 << 64), _stream.state.counter)


def _signed(number: int) -> int:
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


@draw.moving
def seed(seed: int) -> None:
    """Starts the random numbers of the process anew.

    >>> d2s.seed(1)
    """
    set_rng_state(RandomState(usable_seed(seed)))


def usable_seed(seed: Any) -> int:
    """A user's seed as an int.

    >>> usable_seed(-1)
    Traceback (most recent call last):
    d2s.errors.ArgumentError: [D2S0004] seed(): a seed is an int from 0 to 2**64 - 1, not -1
    """
    try:
        start = operator.index(seed)
    except TypeError:
        raise DTypeError("D2S0001", f"seed() expects an int, got {type(seed).__name__}") from None
    if not 0 <= start < 1 << 64:
        raise ArgumentError("D2S0004", f"seed(): a seed is an int from 0 to 2**64 - 1, not {brief(start)}")
    return start


def take(blocks: int) -> tuple[int, int]:
    """Blocks for what draws in Python: the seed, and the counter of the first of them.

    >>> d2s.seed(1)
    >>> take(2), take(1)
    ((1, 0), (1, 2))
    """
    return _stream(blocks)


@contextlib.contextmanager
def apart(number: int) -> Iterator[None]:
    """Has the draws of a `with` block read a stream of their own, which starts at block 0 of a seed.

    >>> d2s.seed(1)
    >>> with apart(2):
    ...     take(1)
    (2, 0)
    >>> take(1)
    (1, 0)
    """
    before = _stream.state
    _stream.state = RandomState(number)
    try:
        yield
    finally:
        _stream.state = before


@draw.moving
def get_rng_state(device: Any = None) -> RandomState:
    """Where the stream is now; it is the only one, also of any device.

    >>> d2s.seed(1)
    >>> d2s.get_rng_state()
    RandomState(seed=1, counter=0)
    """
    usable(device, "get_rng_state")
    return _stream.state


@draw.moving
def set_rng_state(state_list: RandomState, device: Any = None) -> None:
    """Goes back to a place of a stream.

    >>> d2s.set_rng_state(d2s.get_rng_state())
    """
    usable(device, "set_rng_state")
    expect("set_rng_state", "state_list", state_list, RandomState, "what get_rng_state() returned")
    with _stream.lock:
        _stream.state = state_list
