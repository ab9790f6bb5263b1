"""Plain gradient descent. In: parameters with gradients. Out: parameters with new values.

>>> p = d2s.nn.Parameter(d2s.to_tensor([1.0]).array, stop_gradient=False)
>>> (p * 2.0).sum().backward()
>>> SGD(0.25, parameters=[p]).step()
>>> p.numpy().tolist()
[0.5]
"""

from collections.abc import Sequence

from d2s.autodiff.tape import no_grad
from d2s.nn.layer import Parameter


class SGD:
    """`p = p - learning_rate * p.grad`."""

    def __init__(self, learning_rate: float = 0.001, parameters: Sequence[Parameter] = ()) -> None:
        self.learning_rate, self.parameters = learning_rate, list(parameters)

    def step(self) -> None:
        with no_grad():
            for p in self.parameters:
                if p.grad is not None:
                    p.set_value(p - p.grad * self.learning_rate)

    def clear_grad(self) -> None:
        for p in self.parameters:
            p.clear_grad()
