"""Optimizers.

>>> layer = d2s.nn.Linear(2, 1)
>>> layer(d2s.to_tensor([[1.0, 1.0]])).sum().backward()
>>> d2s.optimizer.SGD(0.1, parameters=layer.parameters()).step()
"""

from d2s.optimizer import lr
from d2s.optimizer.adam import Adam, Adamax, AdamW
from d2s.optimizer.adaptive import Adadelta, Adagrad, RMSProp
from d2s.optimizer.descent import SGD, Momentum
from d2s.optimizer.lamb import Lamb
from d2s.optimizer.lbfgs import LBFGS
from d2s.optimizer.optimizer import Optimizer

__all__ = ["LBFGS", "SGD", "Adadelta", "Adagrad", "Adam", "AdamW", "Adamax", "Lamb", "Momentum", "Optimizer", "RMSProp", "lr"]
