"""Training without a loop of one's own, and what a model is made of.

>>> model = Model(d2s.nn.Linear(4, 3))
>>> model.prepare(d2s.optimizer.SGD(0.1, model.parameters()), d2s.nn.CrossEntropyLoss(), d2s.metric.Accuracy())
>>> batches = [(d2s.rand([8, 4]), d2s.randint(0, 3, [8, 1])) for _ in range(5)]
>>> model.fit(batches, epochs=2, verbose=0)
>>> sorted(model.evaluate(batches, verbose=0))
['acc', 'loss']
"""

from d2s import callbacks
from d2s.hapi.model import Model
from d2s.hapi.operations import flops
from d2s.hapi.summary import summary

__all__ = ["Model", "callbacks", "flops", "summary"]
