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

from d2s import unique_name
from d2s.compat.runs import READERS, EOFException
from d2s.dataset.batch import batch
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError
from d2s.io import DataLoader as OfDatasets
from d2s.static.program import Program, data, default_main_program, in_dynamic_mode


class GeneratorLoader:
    """Gives batches of what a generator gives."""

    def __init__(
        self, feed_list: Sequence[Any] | None, return_list: bool, drop_last: bool = True, iterable: bool = True
    ) -> None:
        self._variables, self._listed, self._drop_last = list(feed_list or []), return_list, drop_last
        self._batches: Callable[[], Iterable[Any]] | None = None
        self._going: Iterator[Any] | None = None
        self._is_part = not iterable and not in_dynamic_mode()
        if self._is_part:
            default_main_program().notes.setdefault(READERS, []).append(self)

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

    # --- as a part of a program, whose runs it feeds

    @property
    def variables(self) -> list[Any]:
        """What stands for a batch in a program."""
        return self._variables

    def start(self) -> None:
        """From the first batch on."""
        if not self._is_part:
            raise ArgumentError(
                "D2S0004", "start(): a loader is iterated over", hint="`for data in loader():`, or made with iterable=False"
            )
        self._going = iter(self)

    def reset(self) -> None:
        """To be started again."""
        self._going = None

    def batch_for(self, program: Program, feed: dict[str, Any]) -> dict[str, Any]:
        """The next batch for a run, as far as its program asks for it and it is not fed."""
        wanted = {v.name for v in self._variables} & set(program.feeds()) - feed.keys()
        if not wanted:
            return {}
        if self._going is None:
            raise ArgumentError("D2S0004", f"the reader of {', '.join(sorted(wanted))} is not started", hint="reader.start()")
        for batch_ in self._going:
            found = batch_ if isinstance(batch_, list) else [batch_]
            named = found[0] if isinstance(found[0], dict) else dict(zip((v.name for v in self._variables), found, strict=True))
            return {name: named[name] for name in wanted}
        self._going = None
        raise EOFException("There is no next data.")


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
    return GeneratorLoader(feed_list, return_list, drop_last, iterable)


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
    return GeneratorLoader(feed_list, return_list, True, iterable)


# --- `fluid.layers`: readers that are part of a program -----------------------------------------------------------------------


def py_reader(
    capacity: int,
    shapes: Sequence[Sequence[int]],
    dtypes: Sequence[Any],
    lod_levels: Any = None,
    name: str | None = None,
    use_double_buffer: bool = True,
) -> GeneratorLoader:
    """A reader of batches of these shapes and dtypes."""
    first = name or unique_name.generate("py_reader")
    kinds = zip(shapes, dtypes, strict=True)
    return create_py_reader_by_data(capacity, [data(f"{first}_{n}", shape, of) for n, (shape, of) in enumerate(kinds)])


def create_py_reader_by_data(
    capacity: int, feed_list: Sequence[Any], name: str | None = None, use_double_buffer: bool = True
) -> GeneratorLoader:
    """A reader of batches for variables there are."""
    return GeneratorLoader(feed_list, False, True, False)


def read_file(reader: GeneratorLoader) -> Any:
    """The variables that stand for a batch of a reader."""
    found = reader.variables
    return found[0] if len(found) == 1 else found


def double_buffer(reader: GeneratorLoader, place: Any = None, name: str | None = None) -> GeneratorLoader:
    """The reader, which reads as a run asks."""
    return reader
