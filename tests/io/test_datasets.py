"""Datasets made of datasets."""

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError
from d2s.io import ChainDataset, ComposeDataset, ConcatDataset, IterableDataset, Subset, TensorDataset, random_split


class Count(IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return iter(range(self.n))


def test_concat_finds_the_dataset_of_an_index():
    both = ConcatDataset([range(3), [], range(10, 14)])
    assert [both[k] for k in range(len(both))] == [0, 1, 2, 10, 11, 12, 13]
    assert (both[-1], both.cumulative_sizes) == (13, [3, 3, 7])
    for index in (7, -8):
        with pytest.raises(IndexError, match="7 samples"):
            both[index]


def test_chain_and_compose():
    assert list(ChainDataset([Count(2), Count(3)])) == [0, 1, 0, 1, 2]
    assert ComposeDataset([[(1, 2), (3, 4)], "ab"])[1] == (3, 4, "b")


def test_tensor_dataset_keeps_gradients():
    x = d2s.to_tensor([[1.0], [2.0]], stop_gradient=False)
    (row,) = TensorDataset([x])[1]
    row.sum().backward()
    assert x.grad.tolist() == [[0.0], [1.0]]


def test_random_split_divides():
    d2s.seed(2)
    parts = random_split(range(10), [7, 3])
    assert [len(part) for part in parts] == [7, 3]
    assert sorted(index for part in parts for index in part.indices) == list(range(10))
    assert [len(part) for part in random_split(range(10), [0.5, 0.3, 0.2])] == [5, 3, 2]
    assert [len(part) for part in random_split(range(11), [0.5, 0.3, 0.2])] == [6, 3, 2]
    fixed = random_split(range(4), [4], np.random.default_rng(0))[0]
    assert fixed.indices == np.random.default_rng(0).permutation(4).tolist()
    assert [Subset(fixed, [2])[0]] == fixed.indices[2:3]


WRONG = {
    "rows": lambda: TensorDataset([d2s.zeros([2]), d2s.zeros([3])]),
    "a number": lambda: TensorDataset([d2s.to_tensor(1.0)]),
    "arrays": lambda: TensorDataset([np.zeros(2)]),
    "nothing": lambda: ConcatDataset([]),
    "a stream": lambda: ConcatDataset([Count(2)]),
    "a dataset": lambda: ChainDataset([range(2)]),
    "lengths": lambda: ComposeDataset(["ab", "abc"]),
    "sum": lambda: random_split(range(10), [3, 3]),
    "shares": lambda: random_split(range(10), [0.5, 0.4]),
    "below zero": lambda: random_split(range(10), [11, -1]),
    "index of a stream": lambda: Count(1)[0],
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_told(case):
    with pytest.raises(D2SError):
        WRONG[case]()
