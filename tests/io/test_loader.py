"""DataLoader in one process: what batches hold, in which order, and what is refused."""

import collections

import numpy as np
import pytest

import d2s
from d2s.errors import D2SError
from d2s.io import BatchSampler, DataLoader, Dataset, IterableDataset, TensorDataset

Pair = collections.namedtuple("Pair", "a b")


class Made(Dataset):
    """Samples that a function makes of their index."""

    def __init__(self, make, n=4):
        self.make, self.n = make, n

    def __getitem__(self, index):
        return self.make(index)

    def __len__(self):
        return self.n


class Count(IterableDataset):
    def __iter__(self):
        return iter(range(5))


def shown(value):
    """A batch as Paddle's is noted below."""
    if isinstance(value, d2s.Tensor):
        return f"{value.dtype.name}{value.shape}"
    if isinstance(value, dict):
        return {key: shown(held) for key, held in value.items()}
    return [shown(held) for held in value] if type(value) is list else value


def f32(index):
    return np.full(2, index, "float32")


BY_PADDLE = {  # samples, and the batches of two that Paddle 3.3 makes of them
    "array": (f32, "float32[2, 2]"),
    "int": (lambda i: i, "int64[2]"),
    "float": (lambda i: 1.5, "float64[2]"),
    "bool": (lambda i: True, "bool[2]"),
    "tuple": (lambda i: (f32(i), i), ["float32[2, 2]", "int64[2]"]),
    "list": (lambda i: [f32(i), i], ["float32[2, 2]", "int64[2]"]),
    "dict": (lambda i: {"a": np.zeros(2), "b": i}, {"a": "float64[2, 2]", "b": "int64[2]"}),
    "namedtuple": (lambda i: Pair(f32(i), i), ["float32[2, 2]", "int64[2]"]),
    "tensors": (lambda i: (d2s.ones([2]), np.int32(3)), ["float32[2, 2]", "int32[2]"]),
    "a number of NumPy's": (lambda i: np.float32(1), "float32[2]"),
    "a nest": (
        lambda i: (np.zeros(2), {"x": [i, "s"]}, (1.0, 2)),
        ["float64[2, 2]", {"x": ["int64[2]", ["s", "s"]]}, ["float64[2]", "int64[2]"]],
    ),
}


@pytest.mark.parametrize("case", list(BY_PADDLE))
def test_batches_are_made_as_paddles(case):
    make, wanted = BY_PADDLE[case]
    assert shown(next(iter(DataLoader(Made(make), batch_size=2)))) == wanted


@pytest.mark.parametrize(("make", "wanted"), [(f32, "float32[2]"), (lambda i: (f32(i), i), ["float32[2]", 0]), (int, 0)])
def test_without_batches_samples_come_as_they_are(make, wanted):
    assert shown(next(iter(DataLoader(Made(make), batch_size=None)))) == wanted


def test_a_collate_fn_says_what_a_batch_is():
    held = np.zeros(2)
    found = next(DataLoader(Made(f32), collate_fn=lambda batch: {"n": 3, "s": "x", "a": held, "l": (1, None)})())
    assert shown(found) == {"n": 3, "s": "x", "a": "float64[2]", "l": [1, None]}
    found["a"].fill_(1.0)
    assert held.tolist() == [0, 0]


def test_values_and_order():
    loader = DataLoader(Made(lambda i: (f32(i), i), 5), batch_size=2)
    assert [(x.tolist(), y.tolist()) for x, y in loader] == [
        ([[0, 0], [1, 1]], [0, 1]),
        ([[2, 2], [3, 3]], [2, 3]),
        ([[4, 4]], [4]),
    ]
    assert (len(loader), len(DataLoader(Made(f32, 5), batch_size=2, drop_last=True))) == (3, 2)


def orders(seed, **more):
    d2s.seed(seed)
    loader = DataLoader(Made(int, 20), batch_size=20, shuffle=True, **more)
    return [next(iter(loader)).tolist() for _ in range(2)]


def test_shuffles_follow_from_the_seed():
    assert orders(1) == orders(1) != orders(2)
    assert orders(1)[0] != orders(1)[1]


def test_draws_of_a_dataset_follow_from_the_seed_and_the_batch():
    def drawn(seed, size, skip=0):
        d2s.seed(seed)
        loader = DataLoader(Made(lambda i: d2s.rand([2]), 4), batch_size=size)
        return [batch.tolist() for _, batch in zip(range(4), loader, strict=False)]

    assert drawn(3, 2) == drawn(3, 2) != drawn(4, 2)
    assert drawn(3, 1)[0] != drawn(3, 1)[1]


def test_draws_of_a_dataset_leave_the_training_alone():
    d2s.seed(3)
    for _ in DataLoader(Made(lambda i: d2s.rand([2])), batch_size=2):
        pass
    here = d2s.get_rng_state().counter
    d2s.seed(3)
    for _ in DataLoader(Made(int), batch_size=2):
        pass
    assert d2s.get_rng_state().counter == here


def test_rows_of_tensors_are_taken_at_once_and_equal_those_taken_one_by_one():
    x, y = d2s.to_tensor(np.arange(12.0).reshape(6, 2)), d2s.arange(6)
    for size in (4, 1):
        at_once = list(DataLoader(TensorDataset([x, y]), batch_size=size))
        one_by_one = list(DataLoader(Made(lambda i: (x[i], y[i]), 6), batch_size=size))
        assert [[t.tolist() for t in batch] for batch in at_once] == [[t.tolist() for t in batch] for batch in one_by_one]
    at_once[0][0].fill_(9.0)
    assert x[0].tolist() == [0.0, 1.0]


def test_gradients_of_samples_are_kept():
    x = d2s.to_tensor([[1.0], [2.0]], stop_gradient=False)
    (batch,) = next(iter(DataLoader(TensorDataset([x]), batch_size=2)))
    batch.sum().backward()
    assert x.grad.tolist() == [[1.0], [1.0]]


def test_streams():
    assert [batch.tolist() for batch in DataLoader(Count(), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [batch.tolist() for batch in DataLoader(Count(), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(DataLoader(Count(), batch_size=None)) == [0, 1, 2, 3, 4]


def test_names():
    loader = DataLoader(Made(lambda i: (f32(i), i)), feed_list=["x", "y"], return_list=False)
    assert shown(next(iter(loader))) == {"x": "float32[1, 2]", "y": "int64[1]"}


def test_a_batch_sampler():
    loader = DataLoader(Made(int, 9), batch_sampler=BatchSampler(sampler=[8, 1, 3], batch_size=2))
    assert [batch.tolist() for batch in loader] == [[8, 1], [3]]
    assert [batch.tolist() for batch in DataLoader(Made(int, 9), batch_sampler=[[8, 1], (3,)])] == [[8, 1], [3]]


def test_places():
    assert len(DataLoader(Made(int), places=[d2s.CPUPlace()])) == 4
    with pytest.raises(D2SError, match="GPU"):
        DataLoader(Made(int), places=d2s.CUDAPlace(0))


UNEVEN = {
    "shapes": (lambda i: np.zeros(i + 1), r"sample 0 .* shape \[1\], sample 1 has \[2\]"),
    "kinds": (lambda i: np.zeros(2) if i else 3, "sample 1 a ndarray"),
    "fields": (lambda i: (1,) * (i + 1), "1 fields, sample 1"),
    "keys": (lambda i: {i: 1}, "key 0, sample 1"),
    "nothing": (lambda i: None, "NoneType"),
    "dtype": (lambda i: np.zeros(2, "complex64"), "complex64"),
}


@pytest.mark.parametrize("case", list(UNEVEN))
def test_samples_that_make_no_batch(case):
    make, message = UNEVEN[case]
    with pytest.raises((D2SError, TypeError, ValueError), match=message):
        next(iter(DataLoader(Made(make), batch_size=2)))


WRONG = {
    "both": lambda: DataLoader(Made(int), batch_size=2, batch_sampler=BatchSampler(range(2))),
    "a shuffled stream": lambda: DataLoader(Count(), shuffle=True),
    "batches of a stream": lambda: DataLoader(Count(), batch_sampler=[[1]]),
    "length of a stream": lambda: len(DataLoader(Count())),
    "workers": lambda: DataLoader(Made(int), num_workers=-1),
    "timeout": lambda: DataLoader(Made(int), timeout=-1),
    "batch size": lambda: DataLoader(Made(int), batch_size=0),
    "prefetch": lambda: DataLoader(Made(int), prefetch_factor=0),
    "names": lambda: DataLoader(Made(int), return_list=False),
    "too many names": lambda: next(iter(DataLoader(Made(int), return_list=False, feed_list=["x", "y"]))),
    "collate_fn": lambda: DataLoader(Made(int), collate_fn=3),
    "no dataset": lambda: DataLoader(3),
}


@pytest.mark.parametrize("case", list(WRONG))
def test_what_is_wrong_is_told(case):
    with pytest.raises(D2SError):
        WRONG[case]()
