"""Metrics of yes and no: predictions are probabilities of yes, which is said from 0.5 on.

>>> precision, recall = Precision(), Recall()
>>> for metric in (precision, recall):
...     metric.update([0.1, 0.5, 0.6, 0.7, 0.2], [0, 1, 1, 0, 1])
>>> round(precision.accumulate(), 4), round(recall.accumulate(), 4)
(0.6667, 0.6667)
"""

from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.metric.metric import Metric, paired


class _Binary(Metric):
    """A metric that counts samples by what was said and what is so."""

    def __init__(self, name: str) -> None:
        expect(type(self).__name__, "name", name, str, "a str")
        self._name = name
        self.reset()

    def reset(self) -> None:
        self.tp = self.fp = self.fn = 0

    def update(self, preds: Any, labels: Any) -> None:
        """Counts a batch: probabilities, one a sample, and labels 0 or 1."""
        given, wanted = paired(f"{type(self).__name__}.update", preds, labels)
        said, so = np.floor(given.reshape(len(wanted), -1)[:, :1].reshape(-1) + 0.5) == 1, wanted == 1
        self.tp += int((said & so).sum())
        self.fp += int((said & ~so).sum())
        self.fn += int((~said & so).sum())

    def name(self) -> str:
        return self._name


class Precision(_Binary):
    """The part of those said to be 1 that are."""

    def __init__(self, name: str = "precision", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def accumulate(self) -> float:
        said = self.tp + self.fp
        return self.tp / said if said else 0.0


class Recall(_Binary):
    """The part of those that are 1 that were said to be."""

    def __init__(self, name: str = "recall", *args: Any, **kwargs: Any) -> None:
        super().__init__(name)

    def accumulate(self) -> float:
        so = self.tp + self.fn
        return self.tp / so if so else 0.0
