"""Where samples come from: by index (`Dataset`), or one after the other (`IterableDataset`), and what is made of several.

>>> class Squares(d2s.io.Dataset):
...     def __getitem__(self, index):
...         return index * index
...
...     def __len__(self):
...         return 4
>>> both = d2s.io.ConcatDataset([Squares(), Squares()])
>>> len(both), both[5], d2s.io.Subset(both, [3, 2])[0]
(8, 1, 9)
"""

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence, Sized
from typing import Any

import numpy as np

from d2s import memory
from d2s.arguments import expect
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError, brief
from d2s.io import draws


class Dataset:
    """Samples by index: a subclass says `__getitem__`, and `__len__`.

    >>> class Squares(d2s.io.Dataset):
    ...     def __getitem__(self, index):
    ...         return float(index**2)
    ...
    ...     def __len__(self):
    ...         return 4
    >>> [batch.tolist() for batch in d2s.io.DataLoader(Squares(), batch_size=2)]
    [[0.0, 1.0], [4.0, 9.0]]
    """

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} has no __len__")


class IterableDataset(Dataset):
    """Samples one after the other: a subclass says `__iter__`, and asks `get_worker_info()` which part of them is its own."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} has no __iter__")

    def __getitem__(self, idx: Any) -> Any:
        raise DTypeError("D2S0001", f"{type(self).__name__} is an IterableDataset: its samples have no index")

    def __len__(self) -> int:
        raise DTypeError("D2S0001", f"{type(self).__name__} is an IterableDataset: how many samples it has is not known")


class TensorDataset(Dataset):
    """Samples made of the rows of tensors.

    >>> dataset = d2s.io.TensorDataset([d2s.to_tensor([[1.0], [2.0]]), d2s.to_tensor([3, 4])])
    >>> [part.tolist() for part in dataset[1]]
    [[2.0], 4]
    """

    def __init__(self, tensors: Sequence[Tensor]) -> None:
        self.tensors = _members("TensorDataset", "tensors", tensors, Tensor, "Tensors")
        if any(not t.ndim or t.shape[0] != self.tensors[0].shape[0] for t in self.tensors):
            shapes = ", ".join(str(t.shape) for t in self.tensors)
            raise ShapeError("D2S0002", f"TensorDataset(): 'tensors' have shapes {shapes}, expected as many rows in each")

    def __getitem__(self, idx: Any) -> tuple[Tensor, ...]:
        return tuple(tensor[idx] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0]


class ComposeDataset(Dataset):
    """Samples that are the fields of several datasets' samples, side by side.

    >>> digits = d2s.io.TensorDataset([d2s.to_tensor([1, 2])])
    >>> len(d2s.io.ComposeDataset([digits, digits])[0])
    2
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        self.datasets = _members("ComposeDataset", "datasets", datasets, object, "datasets")
        lengths = [_length("ComposeDataset", dataset) for dataset in self.datasets]
        if len(set(lengths)) > 1:
            raise ShapeError("D2S0002", f"ComposeDataset(): the datasets have {lengths} samples, expected as many in each")

    def __getitem__(self, idx: Any) -> tuple[Any, ...]:
        samples = (dataset[idx] for dataset in self.datasets)
        return tuple(itertools.chain.from_iterable(s if isinstance(s, list | tuple) else (s,) for s in samples))

    def __len__(self) -> int:
        return len(self.datasets[0])


class ChainDataset(IterableDataset):
    """The samples of several iterable datasets, one dataset after the other."""

    def __init__(self, datasets: Sequence[IterableDataset]) -> None:
        self.datasets = _members("ChainDataset", "datasets", datasets, IterableDataset, "IterableDatasets")

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """The samples of several datasets, behind one another."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _members("ConcatDataset", "datasets", datasets, object, "datasets")
        self.cumulative_sizes = list(itertools.accumulate(_length("ConcatDataset", dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        at = idx + len(self) if idx < 0 else idx
        if not 0 <= at < len(self):
            raise IndexRangeError("D2S0007", f"ConcatDataset: index {brief(idx)} of {len(self)} samples")
        which = bisect.bisect_right(self.cumulative_sizes, at)
        return self.datasets[which][at - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """The samples of a dataset that some indices name, in their order."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        if not hasattr(type(dataset), "__getitem__"):
            raise DTypeError("D2S0001", f"Subset(): 'dataset' expects what has items by place, got {type(dataset).__name__}")
        expect("Subset", "indices", indices, Sequence | np.ndarray | Tensor, "a sequence of places")
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: int) -> Any:
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Dataset, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """Divides a dataset by chance into parts of some lengths, or of some shares that add up to 1.

    >>> d2s.seed(0)
    >>> [len(part) for part in d2s.io.random_split(range(10), [0.35, 0.65])]
    [4, 6]
    """
    total = _length("random_split", dataset)
    sizes = _sizes(total, _members("random_split", "lengths", lengths, int | float | np.number, "numbers"))
    memory.check("random_split", (total,), np.dtype(np.int64))
    order = (generator if isinstance(generator, np.random.Generator) else draws.generator()).permutation(total).tolist()
    ends = list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end]) for size, end in zip(sizes, ends, strict=True)]


def _sizes(total: int, lengths: list[Any]) -> list[int]:
    shares = any(isinstance(n, float | np.floating) for n in lengths)
    if any(not 0 <= n <= total for n in lengths) or (not shares and sum(lengths) != total):
        raise ArgumentError("D2S0004", f"random_split(): 'lengths' is {brief(lengths)}, expected ints with the sum {total}")
    if not shares:
        return [int(n) for n in lengths]
    if not math.isclose(sum(lengths), 1):
        raise ArgumentError("D2S0004", f"random_split(): 'lengths' is {brief(lengths)}, expected shares with the sum 1")
    sizes = [math.floor(total * share) for share in lengths]
    left = total - sum(sizes)
    return [size + (left - k + len(sizes) - 1) // len(sizes) for k, size in enumerate(sizes)]


def _members(function: str, name: str, values: Any, kind: Any, words: str) -> list[Any]:
    """What a list holds, which is something, and of one kind."""
    if not isinstance(values, list | tuple | Iterator):
        raise DTypeError("D2S0001", f"{function}(): '{name}' expects a list of {words}, got {type(values).__name__}")
    held = list(values)
    if not held:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is empty")
    for other in held:
        if not isinstance(other, kind):
            got = type(other).__name__
            raise DTypeError("D2S0001", f"{function}(): '{name}' expects a list of {words}, got one with a {got}")
    return held


def _length(function: str, dataset: Any) -> int:
    if isinstance(dataset, IterableDataset | type) or not isinstance(dataset, Sized):
        raise DTypeError("D2S0001", f"{function}() expects a dataset that has a length, got {type(dataset).__name__}")
    try:
        return len(dataset)
    except (TypeError, OverflowError):  # as NumPy's arrays of no axis have
        raise DTypeError("D2S0001", f"{function}() expects a dataset that has a length, got {brief(dataset)}") from None
