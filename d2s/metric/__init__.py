"""How good predictions are, counted over many batches.

>>> accuracy = Accuracy()
>>> _ = accuracy.update(accuracy.compute(d2s.to_tensor([[0.1, 0.9], [0.8, 0.2]]), d2s.to_tensor([[1], [1]])))
>>> accuracy.name(), accuracy.accumulate()
(['acc'], 0.5)
"""

from d2s.metric.accuracy import Accuracy, accuracy
from d2s.metric.auc import Auc
from d2s.metric.binary import Precision, Recall
from d2s.metric.metric import Metric

__all__ = ["Accuracy", "Auc", "Metric", "Precision", "Recall", "accuracy"]
