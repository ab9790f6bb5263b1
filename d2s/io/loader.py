"""Batches of a dataset: which samples, in which order, by whom they are fetched, and as what they come.

In: a dataset and how it is divided. Out: an iterator of batches whose arrays are tensors.

The same seed gives the same batches, whatever fetches them: the order is drawn when an iteration starts, and what a dataset
draws for a batch (with `d2s.rand`, `d2s.vision.transforms` …) comes from a stream of the batch's own. Workers also seed
`random` and `numpy.random`.

>>> class Squares(d2s.io.Dataset):
...     def __getitem__(self, index):
...         return np.float32(index), index * index
...
...     def __len__(self):
...         return 5
>>> for x, y in d2s.io.DataLoader(Squares(), batch_size=2):
...     print(x.tolist(), y.tolist())
[0.0, 1.0] [0, 1]
[2.0, 3.0] [4, 9]
[4.0] [16]
"""

import itertools
import numbers
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.io import draws
from d2s.io.batch_sampler import BatchSampler
from d2s.io.blocks import POSSIBLE
from d2s.io.collate import default_collate_fn, default_convert_fn, in_own_tensors, in_tensors
from d2s.io.crew import Crew
from d2s.io.dataset import IterableDataset
from d2s.io.fetch import END, of_dataset
from d2s.io.sampler import RandomSampler, SequenceSampler, positive
from d2s.io.worker import Job, batch_seed
from d2s.place import usable
from d2s.runtime.random_state import apart

MOST = 1024  # workers


class DataLoader:
    """Iterates over the batches of a dataset; each iteration starts anew. `loader()` is `iter(loader)`.

    Batches are lists (dicts where samples are) of tensors; with `return_list=False`, dicts by the names in `feed_list`.
    `batch_size=None` gives sample by sample. With `num_workers`, that many processes fetch, `prefetch_factor` batches ahead
    each, and hand arrays over in shared memory; batches come in the same order as without. `use_buffer_reader` and
    `reader_buffer_size` are taken and change nothing: there is no other device to copy to.

    >>> data = d2s.io.TensorDataset([d2s.arange(5), d2s.arange(5) * 10])
    >>> [(x.tolist(), y.tolist()) for x, y in DataLoader(data, batch_size=2, drop_last=True)]
    [([0, 1], [0, 10]), ([2, 3], [20, 30])]
    """

    def __init__(
        self,
        dataset: Any,
        feed_list: Any = None,
        places: Any = None,
        return_list: bool = True,
        batch_sampler: Any = None,
        batch_size: int | None = 1,
        shuffle: bool = False,
        drop_last: bool = False,
        collate_fn: Callable[[Any], Any] | None = None,
        num_workers: int = 0,
        use_buffer_reader: bool = True,
        reader_buffer_size: int = 2,
        prefetch_factor: int = 2,
        use_shared_memory: bool = True,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        persistent_workers: bool = False,
    ) -> None:
        for place in places if isinstance(places, list | tuple) else [places]:
            usable(place, "DataLoader")
        positive("DataLoader", "reader_buffer_size", reader_buffer_size)
        self.dataset, self.return_list = dataset, bool(return_list)
        self.names = None if return_list else _names(feed_list)
        self.feed_list = feed_list
        self.batch_sampler = _batch_sampler(dataset, batch_sampler, batch_size, shuffle, drop_last)
        self.batch_size = batch_size if batch_sampler is None else None
        self.shuffle, self.drop_last = bool(shuffle), bool(drop_last)
        self.collate_fn = _callable("collate_fn", collate_fn) or (
            default_convert_fn if self.batch_sampler is None and batch_size is None else default_collate_fn
        )
        self.num_workers = positive("DataLoader", "num_workers", num_workers, 0)
        if self.num_workers > MOST:
            raise ArgumentError("D2S0004", f"DataLoader(): 'num_workers' is {brief(num_workers)}, expected {MOST} at most")
        self.prefetch_factor = positive("DataLoader", "prefetch_factor", prefetch_factor)
        self.use_shared_memory, self.use_buffer_reader = bool(use_shared_memory), bool(use_buffer_reader)
        self.timeout = _seconds(timeout)
        self.worker_init_fn = _callable("worker_init_fn", worker_init_fn)
        self.persistent_workers = bool(persistent_workers)
        self._crew: Crew | None = None

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            raise DTypeError("D2S0001", "an IterableDataset does not say how many samples it has, nor its DataLoader how many")
        return len(self.dataset if self.batch_sampler is None else self.batch_sampler)

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        seed = draws.word()
        batches = self._by_workers(seed) if self.num_workers else self._fetched(seed)
        return map(self._named, batches) if self.names else batches

    def _by_workers(self, seed: int) -> Iterator[Any]:
        crew = self._crew
        if crew is None or not crew.members:
            crew = Crew(self._job(seed), self.prefetch_factor, self.timeout, self.persistent_workers)
            self._crew = crew if self.persistent_workers else None
        return map(in_tensors, crew.batches(iter(self._wanted()), seed))

    def _job(self, seed: int) -> Job:
        shares = self.use_shared_memory and POSSIBLE
        return Job(self.dataset, self.collate_fn, self.drop_last, self.worker_init_fn, shares, self.num_workers, seed)

    def _fetched(self, seed: int) -> Iterator[Any]:
        """Batches fetched by this process."""
        finished = in_tensors if self.collate_fn is default_collate_fn else in_own_tensors
        with apart(seed):
            fetch = of_dataset(self.dataset, self.collate_fn, self.drop_last)
        for number, wanted in enumerate(self._wanted()):
            with apart(batch_seed(seed, number)):
                batch = fetch(wanted)
            if batch is END:
                return
            yield finished(batch)

    def _wanted(self) -> Iterable[Any]:
        """What each batch is to hold: what `fetch` takes."""
        if isinstance(self.dataset, IterableDataset):
            return itertools.repeat(self.batch_size)
        if self.batch_sampler is None:
            return RandomSampler(self.dataset) if self.shuffle else SequenceSampler(self.dataset)
        return map(list, self.batch_sampler)

    def _named(self, batch: Any) -> dict[str, Any]:
        assert self.names is not None
        fields = batch if isinstance(batch, list) else [batch]
        if len(fields) != len(self.names):
            raise ArgumentError(
                "D2S0004", f"DataLoader: samples have {len(fields)} fields, 'feed_list' {len(self.names)} names"
            )
        return dict(zip(self.names, fields, strict=True))


def _batch_sampler(dataset: Any, given: Any, batch_size: Any, shuffle: Any, drop_last: Any) -> Any:
    """What yields lists of indices; None where batches are none, or of a stream."""
    streams = isinstance(dataset, IterableDataset)
    if streams and (shuffle or given is not None):
        raise ArgumentError("D2S0004", "DataLoader(): an IterableDataset has no order: no 'shuffle', no 'batch_sampler'")
    if not streams and not (hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")):
        raise DTypeError("D2S0001", f"DataLoader(): 'dataset' expects a Dataset, got {type(dataset).__name__}")
    if given is not None:
        if batch_size != 1 or shuffle or drop_last:
            raise ArgumentError("D2S0004", "DataLoader(): 'batch_sampler' says it all: no 'batch_size', 'shuffle', 'drop_last'")
        expect("DataLoader", "batch_sampler", given, Iterable, "a BatchSampler")
        return given
    if batch_size is not None:
        batch_size = positive("DataLoader", "batch_size", batch_size)
    return None if streams or batch_size is None else BatchSampler(dataset, None, shuffle, batch_size, drop_last)


def _names(feed_list: Any) -> list[str]:
    if not isinstance(feed_list, list | tuple) or not feed_list:
        raise ArgumentError("D2S0004", "DataLoader(): return_list=False needs a 'feed_list' of what has names")
    return [one if isinstance(one, str) else str(getattr(one, "name", None) or brief(one)) for one in feed_list]


def _callable(name: str, given: Any) -> Any:
    if given is not None and not callable(given):
        raise DTypeError("D2S0001", f"DataLoader(): '{name}' expects a function, got {type(given).__name__}")
    return given


def _seconds(timeout: Any) -> float:
    expect("DataLoader", "timeout", timeout, numbers.Real, "a number of seconds")
    if not 0 <= timeout < 1e9:
        raise ArgumentError("D2S0004", f"DataLoader(): 'timeout' is {brief(timeout)}, expected seconds; 0 waits for ever")
    return float(timeout)
