"""In which order a dataset's samples are taken: samplers yield indices, all drawn from the stream that `d2s.seed` starts.

>>> d2s.seed(3)
>>> order = list(d2s.io.RandomSampler(range(5)))
>>> d2s.seed(3)
>>> list(d2s.io.RandomSampler(range(5))) == order, sorted(order)
(True, [0, 1, 2, 3, 4])
"""

from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from d2s import memory
from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.io import draws


class Sampler:
    """Yields indices: a subclass says `__iter__`, and `__len__` where it is known."""

    def __init__(self, data_source: Sized | None = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")


class SequenceSampler(Sampler):
    """0, 1, 2 … up to the dataset's length.

    >>> list(d2s.io.SequenceSampler("abc"))
    [0, 1, 2]
    """

    def __init__(self, data_source: Sized) -> None:
        expect("SequenceSampler", "data_source", data_source, Sized, "what has a length")
        self.data_source: Sized = data_source

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """Indices in random order, or drawn again and again (`replacement`); `generator` may be an iterator that yields them."""

    def __init__(
        self, data_source: Sized, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        expect("RandomSampler", "data_source", data_source, Sized, "what has a length")
        expect("RandomSampler", "replacement", replacement, bool, "a bool")
        self.data_source: Sized = data_source
        self.replacement, self.generator = replacement, generator
        self._num_samples = None if num_samples is None else positive("RandomSampler", "num_samples", num_samples)

    @property
    def num_samples(self) -> int:
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        if isinstance(self.generator, Iterator):
            return (index for _, index in zip(range(self.num_samples), self.generator, strict=False))
        memory.check("RandomSampler", (max(len(self.data_source), self.num_samples),), np.dtype(np.int64))
        source = self.generator if isinstance(self.generator, np.random.Generator) else draws.generator()
        if self.replacement:
            return iter(source.integers(len(self.data_source), size=self.num_samples).tolist())
        return iter(source.permutation(len(self.data_source))[: self.num_samples].tolist())

    def __len__(self) -> int:
        return self.num_samples if self.replacement else min(self.num_samples, len(self.data_source))


class WeightedRandomSampler(Sampler):
    """Indices drawn in proportion to weights.

    >>> list(d2s.io.WeightedRandomSampler([0.0, 1.0], 3))
    [1, 1, 1]
    """

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        expect("WeightedRandomSampler", "replacement", replacement, bool, "a bool")
        self.weights = _weights(weights)
        self.num_samples = positive("WeightedRandomSampler", "num_samples", num_samples)
        self.replacement = replacement
        able = np.count_nonzero(self.weights)
        if able < (1 if replacement else num_samples):
            message = f"WeightedRandomSampler(): {able} weights are above 0, {num_samples} samples are to be drawn"
            raise ArgumentError("D2S0004", message)

    def __iter__(self) -> Iterator[int]:
        memory.check("WeightedRandomSampler", (self.num_samples,), np.dtype(np.int64))
        shares = self.weights / self.weights.sum()
        drawn = draws.generator().choice(len(shares), self.num_samples, replace=self.replacement, p=shares)
        return iter(drawn.tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some indices, in random order.

    >>> sorted(d2s.io.SubsetRandomSampler([7, 3]))
    [3, 7]
    """

    def __init__(self, indices: Sequence[int]) -> None:
        expect("SubsetRandomSampler", "indices", indices, Sequence | np.ndarray, "a list of indices")
        if isinstance(indices, np.ndarray) and indices.ndim != 1:
            raise ArgumentError("D2S0004", f"SubsetRandomSampler(): 'indices' has {indices.ndim} axes, expected 1")
        if not len(indices):
            raise ArgumentError("D2S0004", "SubsetRandomSampler(): 'indices' is empty")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        memory.check("SubsetRandomSampler", (len(self.indices),), np.dtype(np.int64))
        return (self.indices[at] for at in draws.generator().permutation(len(self.indices)).tolist())

    def __len__(self) -> int:
        return len(self.indices)


def positive(function: str, name: str, value: Any, least: int = 1) -> int:
    """An int that is not below `least`."""
    expect(function, name, value, int | np.integer, "an int")
    if isinstance(value, bool) or value < least:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is {brief(value)}, expected an int from {least} on")
    return int(value)


def _weights(given: Any) -> np.ndarray:
    expect("WeightedRandomSampler", "weights", given, Iterable, "numbers")
    if isinstance(given, Sized) and not isinstance(given, Tensor):
        memory.check("WeightedRandomSampler", (len(given),), np.dtype(np.float64))
    try:
        found = np.asarray(given.array if isinstance(given, Tensor) else given, np.float64)
    except (TypeError, ValueError, OverflowError, MemoryError):
        found = np.zeros([0])
    if found.ndim != 1 or not found.size or not np.isfinite(found).all() or (found < 0).any():
        message = f"WeightedRandomSampler(): 'weights' is {brief(given)}, expected a row of numbers from 0 on"
        raise ArgumentError("D2S0004", message)
    return found
