"""Optimizers.

>>> layer = d2s.nn.Linear(2, 1)
>>> layer(d2s.to_tensor([[1.0, 1.0]])).sum().backward()
>>> d2s.optimizer.SGD(0.1, parameters=layer.parameters()).step()
"""

from d2s.optimizer.sgd import SGD

__all__ = ["SGD"]
