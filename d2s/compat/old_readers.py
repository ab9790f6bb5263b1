"""`fluid.io`'s loaders of what generators give: samples, lists of samples, or whole batches.

In: a generator. Out: batches - lists of tensors where code computes at once, else dicts of arrays to feed a program.

>>> loader = DataLoader.from_generator(capacity=2, return_list=True)
>>> _ = loader.set_sample_generator(lambda: (([float(n)], n) for n in range(5)), batch_size=2)
>>> [labels.tolist() for _, labels in loader()]
[[0, 1], [2, 3]]
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.dataset.batch import batch
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError
from d2s.io import DataLoader as OfDatasets
from d2s.static.program import in_dynamic_mode


class GeneratorLoader:
    """Gives batches of what a generator gives."""

    def __init__(self, feed_list: Sequence[Any] | None, return_list: bool, drop_last: bool = True) -> None:
        self._variables, self._listed, self._drop_last = list(feed_list or []), return_list, drop_last
        self._batches: Callable[[], Iterable[Any]] | None = None

    def set_sample_generator(
        self, reader: Callable[[], Iterator[Any]], batch_size: int, drop_last: bool = True, places: Any = None
    ) -> "GeneratorLoader":
        """`reader` gives samples."""
        return self.set_sample_list_generator(batch(reader, batch_size, drop_last))

    def set_sample_list_generator(self, reader: Callable[[], Iterable[Any]], places: Any = None) -> "GeneratorLoader":
        """`reader` gives lists of samples."""

        def batches() -> Iterator[Any]:
            for rows in reader():
                columns = zip(*(row if isinstance(row, list | tuple) else (row,) for row in rows), strict=True)
                yield [np.stack([np.asarray(part) for part in column]) for column in columns]

        return self.set_batch_generator(batches)

    def set_batch_generator(self, reader: Callable[[], Iterable[Any]], places: Any = None) -> "GeneratorLoader":
        """`reader` gives batches."""
        self._batches = reader
        return self

    decorate_sample_generator = set_sample_generator
    decorate_sample_list_generator = decorate_paddle_reader = set_sample_list_generator
    decorate_batch_generator = decorate_tensor_provider = set_batch_generator

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        if self._batches is None:
            raise ArgumentError("D2S0004", "a loader has no generator yet", hint="set_sample_generator() first")
        eager = in_dynamic_mode()
        for parts in self._batches():
            listed = list(parts) if isinstance(parts, list | tuple) else [parts]
            yield self._in_tensors(listed) if eager or self._listed else [self._fed(listed)]

    def _in_tensors(self, parts: list[Any]) -> list[Tensor]:
        wanted = [v.dtype for v in self._variables] or [None] * len(parts)
        return [to_tensor(part, dtype) for part, dtype in zip(parts, wanted, strict=True)]

    def _fed(self, parts: list[Any]) -> dict[str, np.ndarray]:
        pairs = zip(self._variables, parts, strict=True)
        return {v.name: _shaped(np.asarray(part, v.dtype.name), v.shape) for v, part in pairs}

    def start(self) -> None:
        """Of a loader that is part of a program: d2s has none."""
        raise ArgumentError("D2S0004", "start(): a loader is iterated over", hint="iterable=True, and `for data in loader():`")

    reset = start


def _shaped(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
    wanted = [len(array), *shape[1:]]
    return array.reshape(wanted) if all(isinstance(d, int) and d >= 0 for d in wanted) else array


def from_generator(
    feed_list: Sequence[Any] | None = None,
    capacity: int | None = None,
    use_double_buffer: bool = True,
    iterable: bool = True,
    return_list: bool = False,
    use_multiprocess: bool = False,
    drop_last: bool = True,
) -> GeneratorLoader:
    """A loader that is told its generator next."""
    return GeneratorLoader(feed_list, return_list, drop_last)


class DataLoader(OfDatasets):
    """A loader of a dataset, or `from_generator`."""

    from_generator = staticmethod(from_generator)


def PyReader(
    feed_list: Sequence[Any] | None = None,
    capacity: int | None = None,
    use_double_buffer: bool = True,
    iterable: bool = True,
    return_list: bool = False,
) -> GeneratorLoader:
    """The same, under the name it had first."""
    return GeneratorLoader(feed_list, return_list)
