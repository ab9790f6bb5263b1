"""The area under the curve that a threshold draws as it falls from 1 to 0.

Probabilities are counted in bins, so that no batch is kept.

>>> auc = Auc()
>>> auc.update([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7], [0.8, 0.2]], [[0], [0], [1], [1]])
>>> auc.accumulate()
0.75
"""

from typing import Any

import numpy as np

from d2s.arguments import expect
from d2s.errors import ArgumentError, brief
from d2s.metric.metric import Metric, paired


class Auc(Metric):
    """The area under the curve: "ROC", true against false alarms, or "PR", precision against recall.

    >>> d2s.metric.Auc(curve="PR").name()
    'auc'
    """

    def __init__(self, curve: str = "ROC", num_thresholds: int = 4095, name: str = "auc", *args: Any, **kwargs: Any) -> None:
        expect("Auc", "num_thresholds", num_thresholds, int, "an int")
        expect("Auc", "name", name, str, "a str")
        if not isinstance(curve, str) or curve not in ("ROC", "PR") or not 0 < num_thresholds < 1 << 24:
            given = f"'curve' is {brief(curve)}, 'num_thresholds' {brief(num_thresholds)}"
            raise ArgumentError("D2S0004", f"Auc(): {given}; expected 'ROC' or 'PR', and above 0")
        self._curve, self._num_thresholds, self._name = curve, num_thresholds, name
        self.reset()

    def reset(self) -> None:
        self._stat_pos, self._stat_neg = np.zeros((2, self._num_thresholds + 1))

    def update(self, preds: Any, labels: Any) -> None:
        """Counts a batch: probabilities of 0 and 1, [samples, 2], or of 1 alone; and labels."""
        given, wanted = paired("Auc.update", preds, labels)
        probable = given.reshape(len(wanted), -1)[:, -1].astype("float64") if len(wanted) else np.zeros(0)
        if not ((probable >= 0) & (probable <= 1)).all():
            raise ArgumentError("D2S0004", "Auc.update(): 'preds' holds what is no probability: 0 to 1 is")
        bins, so = (probable * self._num_thresholds).astype("int64"), wanted != 0
        self._stat_pos += np.bincount(bins[so], minlength=self._num_thresholds + 1)
        self._stat_neg += np.bincount(bins[~so], minlength=self._num_thresholds + 1)

    def accumulate(self) -> float:
        """The area; 0 where there are not both kinds of samples."""
        right, wrong = (np.concatenate([[0.0], np.cumsum(s[::-1])]) for s in (self._stat_pos, self._stat_neg))
        if not right[-1] or not wrong[-1]:
            return 0.0
        if self._curve == "ROC":
            return _area(wrong / wrong[-1], right / right[-1])
        said = np.flatnonzero(right + wrong)
        precision = right[said] / (right[said] + wrong[said])
        return _area(np.concatenate([[0.0], right[said] / right[-1]]), np.concatenate([precision[:1], precision]))

    def name(self) -> str:
        return self._name


def _area(x: np.ndarray, y: np.ndarray) -> float:
    """The area below the line through points, by trapezoids."""
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2).sum())
