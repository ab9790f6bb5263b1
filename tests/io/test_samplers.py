"""Samplers and batch samplers: orders that follow from the seed, batches as Paddle divides them."""

import itertools

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError
from d2s.io import (
    BatchSampler,
    DistributedBatchSampler,
    RandomSampler,
    SequenceSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def test_a_random_order_holds_every_index_once_and_follows_from_the_seed():
    d2s.seed(5)
    first, second = list(RandomSampler(range(50))), list(RandomSampler(range(50)))
    d2s.seed(5)
    assert sorted(first) == list(range(50)) == sorted(second)
    assert first != second
    assert (list(RandomSampler(range(50))), list(RandomSampler(range(50)))) == (first, second)


def test_fewer_or_repeated_draws():
    some = RandomSampler(range(10), num_samples=3)
    assert len(list(some)) == len(some) == 3
    again = RandomSampler(range(3), replacement=True, num_samples=500)
    assert len(again) == 500
    assert set(again) == {0, 1, 2}
    assert list(RandomSampler(range(9), generator=iter([3, 1]))) == [3, 1]
    assert list(RandomSampler(range(9), generator=np.random.default_rng(0))) == np.random.default_rng(0).permutation(9).tolist()


def test_weights_are_shares():
    d2s.seed(1)
    counts = np.bincount(list(WeightedRandomSampler([1.0, 0.0, 3.0], 4000)), minlength=3)
    assert counts[1] == 0
    assert abs(counts[0] - 1000) < 120
    assert sorted(WeightedRandomSampler(d2s.to_tensor([1.0, 0.0, 3.0]), 2, replacement=False)) == [0, 2]


def test_a_subset_in_random_order():
    assert sorted(SubsetRandomSampler([5, 2, 9])) == [2, 5, 9]


@pytest.mark.parametrize("drop_last", [False, True])
def test_batches(drop_last):
    sampler = BatchSampler(sampler=SequenceSampler(range(7)), batch_size=3, drop_last=drop_last)
    assert list(sampler) == [[0, 1, 2], [3, 4, 5], [6]][: len(sampler)]
    assert len(sampler) == (2 if drop_last else 3)


BY_PADDLE = [  # samples, batch size, processes, rank, drop_last: the batches of Paddle 3.3
    (10, 3, 2, 1, False, [[3, 4, 5], [8, 9]]),
    (10, 3, 2, 1, True, [[3, 4, 5]]),
    (11, 3, 2, 1, False, [[3, 4, 5], [9, 10, 0]]),
]


@pytest.mark.parametrize("n", range(len(BY_PADDLE)))
def test_parts_of_several_processes(n):
    samples, size, nranks, rank, drop_last, wanted = BY_PADDLE[n]
    sampler = DistributedBatchSampler(range(samples), size, num_replicas=nranks, rank=rank, drop_last=drop_last)
    assert list(sampler) == wanted
    assert len(sampler) == len(wanted)


def test_the_shuffled_parts_are_paddles_and_change_with_the_epoch():
    sampler = DistributedBatchSampler(range(10), 3, num_replicas=2, rank=0, shuffle=True)
    sampler.set_epoch(3)
    assert list(sampler) == [[5, 4, 1], [7, 0]]
    assert list(sampler) == [[3, 8, 4], [0, 1]]
    assert sampler.epoch == 5


@pytest.mark.parametrize(("samples", "size", "nranks"), [(1, 3, 4), (17, 4, 3), (12, 2, 3), (0, 1, 2)])
def test_the_parts_cover_everything_and_are_equally_large(samples, size, nranks):
    parts = [list(itertools.chain(*DistributedBatchSampler(range(samples), size, nranks, rank))) for rank in range(nranks)]
    assert len({len(part) for part in parts}) == 1
    assert set(itertools.chain(*parts)) == set(range(samples))


WRONG = {
    "both": lambda: BatchSampler(range(3), SequenceSampler(range(3))),
    "neither": lambda: BatchSampler(),
    "an empty batch": lambda: BatchSampler(range(3), batch_size=0),
    "a stream": lambda: BatchSampler(d2s.io.ChainDataset([d2s.io.IterableDataset()])),
    "rank": lambda: DistributedBatchSampler(range(3), 1, 2, 2),
    "no samples": lambda: RandomSampler(range(3), num_samples=0),
    "no length": lambda: RandomSampler(iter([])),
    "negative weight": lambda: WeightedRandomSampler([-1.0], 1),
    "too few weights": lambda: WeightedRandomSampler([1.0, 0.0], 2, replacement=False),
    "weights without end": lambda: WeightedRandomSampler(range(10**15), 1),
    "a weight that is no float": lambda: WeightedRandomSampler([10**400], 1),
    "a rank of many digits": lambda: DistributedBatchSampler(range(3), 1, 2, 10**5000),
    "no indices": lambda: SubsetRandomSampler([]),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_told(case):
    with pytest.raises(D2SError):
        WRONG[case]()
