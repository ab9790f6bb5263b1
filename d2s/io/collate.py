"""From samples to a batch: what is at the same place in each sample becomes one array, list or dict of these.

In: samples, nested as they like. Out: `default_collate_fn` stacks their leaves; `in_tensors` makes the arrays tensors.

>>> batch = default_collate_fn([({"x": np.ones(2)}, 3, "a"), ({"x": np.zeros(2)}, 4, "b")])
>>> batch
[{'x': array([[1., 1.],
       [0., 0.]])}, array([3, 4]), ['a', 'b']]
>>> in_tensors(batch)[1].dtype
d2s.int64
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import DTypeError, ShapeError
from d2s.ops.join import stack
from d2s.types import NUMBERS, dtype

HINT = "give the DataLoader a collate_fn that makes a batch of such samples"


def default_collate_fn(batch: list[Any]) -> Any:
    """Samples as one: arrays, tensors and numbers are stacked, strings listed, dicts and sequences collated field by field."""
    if not isinstance(batch, list | tuple) or not batch:
        raise DTypeError("D2S0001", f"default_collate_fn() expects a list of samples, got {type(batch).__name__}")
    sample = batch[0]
    if isinstance(sample, np.ndarray):
        return _stacked(batch)
    if isinstance(sample, Tensor):
        return _stacked_tensors(batch)
    if isinstance(sample, str | bytes):
        return list(batch)
    if isinstance(sample, NUMBERS):
        return _numbers(batch)
    if isinstance(sample, Mapping):
        return {key: default_collate_fn(_field(batch, key)) for key in sample}
    if isinstance(sample, Sequence):
        return [default_collate_fn(list(field)) for field in _fields(batch)]
    message = (
        f"samples hold a {type(sample).__name__}, expected arrays, tensors, numbers, strings, and dicts and lists of these"
    )
    raise DTypeError("D2S0001", message, hint=HINT)


def default_convert_fn(batch: Any) -> Any:
    """A sample that is not to be collated, with lists for all sequences.

    >>> default_convert_fn((1, {"a": (2.0, "text")}))
    [1, {'a': [2.0, 'text']}]
    """
    return mapped(lambda leaf: leaf, batch)


def in_tensors(batch: Any) -> Any:
    """A batch whose arrays are tensors; these get the memory of the arrays."""
    return mapped(lambda leaf: _tensor(leaf) if isinstance(leaf, np.ndarray) else leaf, batch)


def in_own_tensors(batch: Any) -> Any:
    """The same for arrays that somebody may still hold: the tensors have memory of their own."""
    return mapped(lambda leaf: _tensor(leaf.copy()) if isinstance(leaf, np.ndarray) else leaf, batch)


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """A nest with its leaves changed; sequences become lists, mappings dicts."""
    if isinstance(value, str | bytes | np.ndarray | Tensor):
        return change(value)
    if isinstance(value, Mapping):
        return {key: mapped(change, held) for key, held in value.items()}
    if isinstance(value, Sequence):
        return [mapped(change, held) for held in value]
    return change(value)


def _tensor(array: np.ndarray) -> Tensor:
    dtype(array.dtype)  # which refuses what no tensor holds
    return Tensor(array if array.flags.writeable else array.copy())


def _numbers(batch: Sequence[Any]) -> np.ndarray:
    other = next((k for k, number in enumerate(batch) if not isinstance(number, NUMBERS)), None)
    if other is not None:
        message = f"sample 0 of a batch has a number, sample {other} a {type(batch[other]).__name__}"
        raise ShapeError("D2S0002", message, hint=HINT)
    return np.array(batch)


def _stacked(batch: Sequence[Any]) -> np.ndarray:
    shape = batch[0].shape
    if any(not isinstance(array, np.ndarray) or array.shape != shape for array in batch):
        found = [list(array.shape) if isinstance(array, np.ndarray) else type(array).__name__ for array in batch]
        other = next(k for k, one in enumerate(found) if one != found[0])
        message = f"sample 0 of a batch has an array of shape {found[0]}, sample {other} has {found[other]}"
        raise ShapeError("D2S0002", message, hint=HINT)
    if not shape:
        return np.array(batch)
    return np.concatenate(batch).reshape(len(batch), *shape)  # several times as fast as np.stack


def _stacked_tensors(batch: Sequence[Any]) -> Any:
    if all(isinstance(tensor, Tensor) and tensor.stop_gradient for tensor in batch):
        return Tensor(_stacked([tensor.array for tensor in batch]))
    return stack(batch)


def _field(batch: Sequence[Any], key: Any) -> list[Any]:
    other = next((k for k, sample in enumerate(batch) if not isinstance(sample, Mapping) or key not in sample), None)
    if other is not None:
        raise ShapeError("D2S0002", f"sample 0 of a batch has the key {key!r}, sample {other} has not", hint=HINT)
    return [sample[key] for sample in batch]


def _fields(batch: Sequence[Any]) -> Any:
    count = len(batch[0])
    other = next((k for k, s in enumerate(batch) if not isinstance(s, Sequence) or len(s) != count), None)
    if other is not None:
        raise ShapeError("D2S0002", f"sample 0 of a batch has {count} fields, sample {other} has not as many", hint=HINT)
    return zip(*batch, strict=True)
