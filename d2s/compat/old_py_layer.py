"""`fluid.PyLayer`: functions in NumPy, with a backward that is given inputs, outputs and their gradients.

>>> class Tanh(PyLayer):
...     @staticmethod
...     def forward(inputs):
...         return np.tanh(inputs[0])
...
...     @staticmethod
...     def backward(inputs):
...         inp, out, dout = inputs
...         return np.array(dout) * (1 - np.square(np.array(out)))
>>> x = d2s.to_tensor([0.0], stop_gradient=False)
>>> out = Tanh()(x)[0]
>>> out.backward()
>>> x.grad.tolist()
[1.0]
"""

from typing import Any

import numpy as np

from d2s.eager import py_layer
from d2s.eager.tensor import Tensor, to_tensor


class PyLayer:
    """A function in NumPy: subclasses define `forward(inputs)` and `backward(inputs + outputs + gradients)`, both static."""

    @staticmethod
    def forward(*inputs: Any) -> Any:
        raise NotImplementedError("a PyLayer defines forward()")

    @staticmethod
    def backward(*inputs: Any) -> Any:
        raise NotImplementedError("a PyLayer defines backward()")

    def __call__(self, *inputs: Any) -> list[Tensor]:
        given = list(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], list | tuple) else list(inputs)
        found = _function(type(self)).apply(*given)
        return list(found) if isinstance(found, tuple) else [found]


def _function(kind: type[PyLayer]) -> Any:
    """The same as a function whose gradient d2s knows."""

    class Function(py_layer.PyLayer):
        @staticmethod
        def forward(ctx: Any, *inputs: Tensor) -> Any:
            results = _listed(kind.forward([x.numpy() for x in inputs]))
            ctx.arrays = [x.numpy() for x in inputs] + results
            made = tuple(to_tensor(np.asarray(r)) for r in results)
            return made if len(made) > 1 else made[0]

        @staticmethod
        def backward(ctx: Any, *gradients: Tensor) -> Any:
            results = _listed(kind.backward([*ctx.arrays, *(g.numpy() for g in gradients)]))
            made = tuple(to_tensor(np.asarray(r)) for r in results)
            return made if len(made) > 1 else made[0]

    return Function


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
