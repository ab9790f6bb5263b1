"""What every metric is: counts that batches are added to, and a number made of them.

In: per batch, what the model said and the labels. `compute` runs on tensors, `update` counts what it found, on arrays;
`accumulate` says the number so far, `reset` begins anew.

>>> class Seen(Metric):
...     def reset(self):
...         self.batches = 0
...
...     def update(self, *found):
...         self.batches += 1
...
...     def accumulate(self):
...         return self.batches
...
...     def name(self):
...         return "seen"
>>> seen = Seen()
>>> seen.reset(), seen.update(), seen.accumulate()
(None, None, 1)
"""

import abc
from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError


class Metric(abc.ABC):
    """The base of metrics: a subclass says its name and how it resets, updates and accumulates."""

    @abc.abstractmethod
    def reset(self) -> None:
        """Forgets all batches."""

    @abc.abstractmethod
    def update(self, *args: Any) -> Any:
        """Counts a batch: what `compute` returned, as arrays."""

    @abc.abstractmethod
    def accumulate(self) -> Any:
        """The number, or a list of them, over all batches since the last reset."""

    @abc.abstractmethod
    def name(self) -> Any:
        """A name, or a list of them, for what `accumulate` says."""

    def compute(self, *args: Any) -> Any:
        """What of predictions and labels `update` is to see; all of it, where a subclass does not say."""
        return args


def counted(function: str, name: str, value: Any) -> np.ndarray:
    """A tensor, an array or a list of numbers as an array."""
    try:
        found = value.array if isinstance(value, Tensor) else np.asarray(value)
    except (ValueError, OverflowError, MemoryError) as error:
        raise ArgumentError("D2S0004", f"{function}(): '{name}' is no array: {error}") from None
    if found.dtype.kind not in "biuf":
        raise DTypeError(
            "D2S0001", f"{function}(): '{name}' expects a Tensor or an array of numbers, got {type(value).__name__}"
        )
    return found


def paired(function: str, preds: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Predictions, one row a sample, and as many labels."""
    given, wanted = counted(function, "preds", preds), counted(function, "labels", labels).reshape(-1)
    if not given.ndim or len(given) != len(wanted):
        message = f"{function}(): predictions of shape {list(given.shape)} for {len(wanted)} labels"
        raise ArgumentError("D2S0004", message)
    return given, wanted
