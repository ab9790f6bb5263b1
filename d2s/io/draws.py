"""Random numbers for code in Python - orders of samples, augmentations - from the stream that `d2s.seed` starts.

A number takes one block of the stream, and is the block's place scrambled (splitmix64), so that none costs more than its
arithmetic. What needs many numbers at once takes one for the seed of a NumPy generator.

>>> d2s.seed(1)
>>> first = uniform()
>>> d2s.seed(1)
>>> uniform() == first, 0 <= first < 1, 0 <= below(10) < 10
(True, True, True)
"""

import numpy as np

from d2s.runtime.random_state import take

_WORD = (1 << 64) - 1


def scrambled(word: int) -> int:
    """A word of 64 bits, each of whose bits depends on every bit of `word`.

    >>> scrambled(1) ^ scrambled(2) != 3
    True
    """
    word = (word + 0x9E3779B97F4A7C15) & _WORD
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & _WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & _WORD
    return word ^ word >> 31


def word() -> int:
    """64 random bits."""
    seed, at = take(1)
    return scrambled(scrambled(seed) ^ at)


def uniform(low: float = 0.0, high: float = 1.0) -> float:
    """A float from low to high."""
    return low + (high - low) * ((word() >> 11) * 2.0**-53)


def below(count: int) -> int:
    """An int from 0 to count - 1."""
    return word() * count >> 64


def generator() -> "np.random.Generator":  # quoted: NumPy loads its generators when they are first named
    """A generator of NumPy's that starts where the stream is."""
    return np.random.Generator(np.random.PCG64(word()))
