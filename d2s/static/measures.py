"""Measures of a declared model: how many it gets right, and how well its scores tell two classes apart.

In: scores and labels. Out: variables.

>>> accuracy(d2s.to_tensor([[0.1, 0.9], [0.8, 0.2]]), d2s.to_tensor([[1], [1]])).item()
0.5
"""

from typing import Any

import numpy as np

from d2s import memory
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, brief
from d2s.nn.initializer import Constant, begin
from d2s.ops.compare import cast, equal
from d2s.ops.reduce import max, mean
from d2s.ops.shape import reshape
from d2s.ops.shapes import whole_number
from d2s.ops.sort import topk
from d2s.place import CPUPlace
from d2s.static.program import declaring
from d2s.types import Type, float64

_MOST_PLACES = 1 << 16  # more are a mistake


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the k classes with the highest scores."""
    _, found = topk(input, k)
    hits = equal(found, reshape(cast(label, found.dtype), [-1, 1]))
    return mean(max(cast(hits, "float32"), axis=-1))


def auc(
    input: Any,
    label: Any,
    curve: str = "ROC",
    num_thresholds: int = 4095,
    topk: int = 1,
    slide_steps: int = 1,
    ins_tag_weight: Any = None,
) -> tuple[Any, Any, list[Tensor]]:
    """The area under the curve of all rows seen so far, that of this run's, and the counts behind the first.

    `input` holds, for each row, the probability of class 0 and of class 1.
    """
    size = whole_number(num_thresholds, "auc", "num_thresholds") + 1
    if size < 2:
        raise ArgumentError("D2S0004", f"auc(): 'num_thresholds' is {brief(num_thresholds)}, expected 1 or more")
    memory.check("auc", [2 * size], np.dtype(np.int64))
    recording = declaring("auc")
    counts = [Tensor(np.zeros(size, np.int64)) for _ in range(2)]
    for count, name in zip(counts, ("positive", "negative"), strict=True):
        count.name = f"auc_{name}_{id(count)}"
        begin(count, Constant(0.0))

    def seen(scores: Tensor, labels: Tensor) -> list[np.ndarray]:
        places = np.clip((scores.array[:, -1] * num_thresholds).astype(np.int64), 0, num_thresholds)
        right = labels.array.reshape(-1) > 0
        now = [np.bincount(places[right == truth], minlength=num_thresholds + 1) for truth in (True, False)]
        for count, new in zip(counts, now, strict=True):
            count.set_value(count.array + new)
        return [np.array(_area(*(c.array for c in counts))), np.array(_area(*now))]

    found = recording.host(seen, [input, label], [Type(float64)] * 2)
    return found[0], found[1], counts


def _area(positive: np.ndarray, negative: np.ndarray) -> float:
    """The share of pairs of a positive and a negative row that scores put in order; half of those they do not tell apart."""
    behind = np.cumsum(negative) - negative
    pairs = float(positive.sum()) * float(negative.sum())
    return float((positive * (behind + negative / 2)).sum() / pairs) if pairs else 0.0


def cpu_places(device_count: int | None = None) -> list[Any]:
    """So many places of the CPU."""
    count = 1 if device_count is None else whole_number(device_count, "cpu_places", "device_count")
    if not 0 <= count <= _MOST_PLACES:
        message = f"cpu_places(): 'device_count' is {brief(device_count)}, expected one from 0 to {_MOST_PLACES}"
        raise ArgumentError("D2S0004", message)
    return [CPUPlace()] * count
