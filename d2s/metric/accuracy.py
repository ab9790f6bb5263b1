"""How often the right class is among the k most probable.

>>> scores, label = d2s.to_tensor([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]]), d2s.to_tensor([[2], [1]])
>>> accuracy(scores, label).item(), accuracy(scores, label, k=2).item()
(0.5, 1.0)
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.errors import ArgumentError, ShapeError, brief
from d2s.metric.metric import Metric, counted
from d2s.ops.argmax import argmax
from d2s.ops.compare import cast, equal
from d2s.ops.reduce import mean, sum
from d2s.ops.shape import reshape
from d2s.ops.shapes import tensor_type
from d2s.ops.sort import topk as greatest


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None, name: str | None = None) -> Any:
    """The part of samples whose class is among the k with the greatest scores; scores are [samples, classes].

    `correct` and `total`, tensors of one int, are given how many were right, and how many there were.

    >>> d2s.metric.accuracy(d2s.to_tensor([[0.1, 0.9]]), d2s.to_tensor([[1]])).item()
    1.0
    """
    if len(tensor_type(input, "accuracy", "input").shape) != 2:
        raise ShapeError("D2S0002", f"accuracy(): 'input' has shape {list(input.shape)}, expected [samples, classes]")
    tensor_type(label, "accuracy", "label")
    found = sum(_found(input, label, k), axis=1)
    for argument, given in (("correct", correct), ("total", total)):
        if given is not None:
            tensor_type(given, "accuracy", argument)
    if correct is not None:
        correct.set_value(cast(reshape(sum(found), correct.shape), correct.dtype))
    if total is not None:
        total.set_value(np.full(total.shape, found.shape[0], total.dtype.numpy))
    return mean(found)


def _found(scores: Any, label: Any, k: int) -> Any:
    """1.0 at the place among the k greatest where the right class stands."""
    of, have = (
        tensor_type(scores, "accuracy", "input").shape,
        tensor_type(label, "accuracy", "label").shape,
    )  # also open extents
    classes = of[-1] if of else 0
    if of and isinstance(classes, int) and isinstance(k, int) and k > classes:
        raise ArgumentError("D2S0004", f"accuracy among the {k} most probable of {classes} classes")
    if not have or not of:
        raise ShapeError("D2S0002", f"accuracy of scores {list(of)} and labels {list(have)}: one of them is 0-D")
    if len(have) == 1:
        label = reshape(label, [-1, 1])
    elif have[-1] != 1:
        label = argmax(label, axis=-1, keepdim=True)  # one-hot, or probabilities
    return cast(equal(greatest(scores, k)[1], cast(label, "int64")), "float32")


class Accuracy(Metric):
    """The accuracy among the `topk` most probable classes, for each number in it.

    >>> accuracy = d2s.metric.Accuracy(topk=(1, 2))
    >>> accuracy.name()
    ['acc_top1', 'acc_top2']
    """

    total: list[float]
    count: list[int]

    def __init__(self, topk: Sequence[int] = (1,), name: str | None = None, *args: Any, **kwargs: Any) -> None:
        expect("Accuracy", "name", name, str | None, "a str")
        numbers = [topk] if isinstance(topk, int) else topk
        whole = isinstance(numbers, list | tuple) and numbers
        if not whole or not all(isinstance(k, int) and not isinstance(k, bool) and k > 0 for k in numbers):
            raise ArgumentError("D2S0004", f"Accuracy(): 'topk' is {brief(topk)}, expected a list of ints above 0")
        self.topk, self.maxk = tuple(numbers), max(numbers)
        first = name or "acc"
        self._names = [f"{first}_top{k}" for k in self.topk] if len(self.topk) > 1 else [first]
        self.reset()

    def compute(self, pred: Any, label: Any, *args: Any) -> Any:
        """1.0 where the right class stands among the greatest scores, which lie along the last axis.

        Labels are classes, one-hot or probabilities.

        >>> d2s.metric.Accuracy().compute(d2s.to_tensor([[0.2, 0.8]]), d2s.to_tensor([1])).tolist()
        [[1.0]]
        """
        tensor_type(pred, "Accuracy.compute", "pred")
        tensor_type(label, "Accuracy.compute", "label")
        return _found(pred, label, self.maxk)

    def update(self, correct: Any, *args: Any) -> Any:
        """Counts what `compute` found; says the accuracy of this batch."""
        found = counted("Accuracy.update", "correct", correct)
        if not found.ndim or found.shape[-1] < self.maxk:
            raise ArgumentError("D2S0004", f"Accuracy.update(): 'correct' has shape {list(found.shape)}, see compute()")
        samples = int(np.prod(found.shape[:-1]))
        right = [float(found[..., :k].sum()) for k in self.topk]
        self.total = [a + b for a, b in zip(self.total, right, strict=True)]
        self.count = [n + samples for n in self.count]
        return self._said([r / samples if samples else 0.0 for r in right])

    def reset(self) -> None:
        self.total, self.count = [0.0] * len(self.topk), [0] * len(self.topk)

    def accumulate(self) -> Any:
        """The accuracy over all batches: a number, or one for each of `topk`."""
        return self._said([t / n if n else 0.0 for t, n in zip(self.total, self.count, strict=True)])

    def _said(self, numbers: list[float]) -> Any:
        return numbers[0] if len(numbers) == 1 else numbers

    def name(self) -> list[str]:
        return self._names
