"""Which samples make a batch: batch samplers yield lists of indices.

>>> list(d2s.io.BatchSampler(range(5), batch_size=2)), len(d2s.io.BatchSampler(range(5), batch_size=2, drop_last=True))
([[0, 1], [2, 3], [4]], 2)
"""

import itertools
import os
from collections.abc import Iterable, Iterator, Sized
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.errors import ArgumentError, brief
from d2s.io.dataset import IterableDataset
from d2s.io.sampler import RandomSampler, Sampler, SequenceSampler, positive


class BatchSampler(Sampler):
    """Batches of the indices of a dataset, or of those a sampler yields."""

    def __init__(
        self, dataset: Any = None, sampler: Any = None, shuffle: bool = False, batch_size: int = 1, drop_last: bool = False
    ) -> None:
        expect("BatchSampler", "shuffle", shuffle, bool | int, "a bool")
        if (dataset is None) == (sampler is None):
            raise ArgumentError("D2S0004", "BatchSampler() takes one of 'dataset' and 'sampler'")
        self.sampler: Any = _order(dataset, bool(shuffle)) if sampler is None else sampler
        expect("BatchSampler", "sampler", self.sampler, Iterable, "a Sampler")
        self.batch_size = positive("BatchSampler", "batch_size", batch_size)
        expect("BatchSampler", "drop_last", drop_last, bool | int, "a bool")
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        return batches(len(self.sampler), self.batch_size, self.drop_last)


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes that share a dataset, all of which get as many samples.

    The order of an epoch depends on its number only, so that the processes agree: `set_epoch(n)` before each.

    >>> list(d2s.io.DistributedBatchSampler(range(10), 3, num_replicas=2, rank=1))
    [[3, 4, 5], [8, 9]]
    """

    def __init__(
        self,
        dataset: Sized,
        batch_size: int,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = False,
        drop_last: bool = False,
    ) -> None:
        expect("DistributedBatchSampler", "dataset", dataset, Sized, "a dataset that has a length")
        if num_replicas is None:
            num_replicas = int(os.environ.get("PADDLE_TRAINERS_NUM", "1"))
        if rank is None:
            rank = int(os.environ.get("PADDLE_TRAINER_ID", "0"))
        self.dataset = dataset
        self.batch_size = positive("DistributedBatchSampler", "batch_size", batch_size)
        self.nranks = positive("DistributedBatchSampler", "num_replicas", num_replicas)
        self.local_rank = positive("DistributedBatchSampler", "rank", rank, 0)
        if self.local_rank >= self.nranks:
            raise ArgumentError("D2S0004", f"DistributedBatchSampler(): rank {brief(rank)} of {brief(num_replicas)} processes")
        self.shuffle, self.drop_last, self.epoch = bool(shuffle), bool(drop_last), 0
        self.num_samples = -(-len(dataset) // self.nranks)
        self.total_size = self.num_samples * self.nranks

    def __iter__(self) -> Iterator[list[int]]:
        own = self._own(self._order())
        for at in range(0, len(own), self.batch_size):
            if not self.drop_last or at + self.batch_size <= len(own):
                yield own[at : at + self.batch_size]

    def __len__(self) -> int:
        return batches(self.num_samples, self.batch_size, self.drop_last)

    def set_epoch(self, epoch: int) -> None:
        """Which order the next epoch has; without it, each epoch has the one behind that of the epoch before."""
        self.epoch = positive("set_epoch", "epoch", epoch, 0)

    def _order(self) -> list[int]:
        order = np.arange(len(self.dataset))
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(order)
            self.epoch += 1
        return np.resize(order, self.total_size).tolist() if len(order) else []

    def _own(self, order: list[int]) -> list[int]:
        """Whole batches go to the processes in turn, and of what is left each gets an equal part."""
        whole = self.total_size - self.total_size % (self.batch_size * self.nranks)
        left = (self.total_size - whole) // self.nranks
        starts = range(self.local_rank * self.batch_size, whole, self.batch_size * self.nranks)
        own = [index for start in starts for index in order[start : start + self.batch_size]]
        return own + order[whole + left * self.local_rank : whole + left * (self.local_rank + 1)]


def batches(samples: int, batch_size: int, drop_last: bool) -> int:
    """How many batches samples make."""
    return samples // batch_size if drop_last else -(-samples // batch_size)


def _order(dataset: Any, shuffle: bool) -> Sampler:
    if isinstance(dataset, IterableDataset):
        raise ArgumentError("D2S0004", "BatchSampler(): the samples of an IterableDataset have no index")
    return RandomSampler(dataset) if shuffle else SequenceSampler(dataset)
