"""From what a batch is to hold - indices, or how many samples - to the batch, in this process or in a worker.

>>> fetch = of_map([10, 20, 30], default_collate_fn)
>>> fetch([2, 0])
array([30, 10])
>>> fetch = of_stream(iter("abc"), default_collate_fn, drop_last=False)
>>> fetch(2), fetch(2), fetch(2) is END
(['a', 'b'], ['c'], True)
"""

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from d2s.eager.tensor import Tensor
from d2s.io.collate import default_collate_fn
from d2s.io.dataset import IterableDataset, TensorDataset

Fetch = Callable[[Any], Any]  # of a list of indices, of one, of a number of samples, or of None, for one sample
END = object()  # what is fetched from a stream that has ended


def of_dataset(dataset: Any, collate: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """How batches of a dataset are made. The samples of an iterable one start anew."""
    if isinstance(dataset, IterableDataset):
        return of_stream(iter(dataset), collate, drop_last)
    whole_rows = isinstance(dataset, TensorDataset) and type(dataset).__getitem__ is TensorDataset.__getitem__
    if whole_rows and collate is default_collate_fn and all(tensor.stop_gradient for tensor in dataset.tensors):
        return of_rows([tensor.array for tensor in dataset.tensors])
    return of_map(dataset, collate)


def of_map(dataset: Any, collate: Callable[[Any], Any]) -> Fetch:
    """Samples by index."""
    return lambda wanted: collate([dataset[index] for index in wanted] if isinstance(wanted, list) else dataset[wanted])


def of_rows(arrays: list[Any]) -> Fetch:
    """Rows of arrays, all of a batch at once: the same values as one by one."""
    return lambda wanted: [Tensor(array[wanted]) for array in arrays]


def of_stream(samples: Iterator[Any], collate: Callable[[Any], Any], drop_last: bool) -> Fetch:
    """The next samples of an iterable dataset, or END."""

    def fetch(wanted: int | None) -> Any:
        held = list(itertools.islice(samples, 1 if wanted is None else wanted))
        if not held or (wanted is not None and drop_last and len(held) < wanted):
            return END
        return collate(held[0] if wanted is None else held)

    return fetch
