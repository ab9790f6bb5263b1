"""A weight divided by its largest singular value, which is found by powers.

>>> weight = SpectralNorm([2, 2], power_iters=20)(d2s.to_tensor([[4.0, 0.0], [0.0, 1.0]]))
>>> print(weight.numpy().round(2))
[[1.   0.  ]
 [0.   0.25]]
"""

from collections.abc import Sequence
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError
from d2s.nn.initializer import Normal
from d2s.nn.layer import Layer
from d2s.ops.arrange import transpose
from d2s.ops.exponential import sqrt
from d2s.ops.math import square
from d2s.ops.matmul import matmul
from d2s.ops.reduce import sum
from d2s.ops.shape import flatten
from d2s.ops.shapes import fitting, one_axis, tensor_type, whole_number, whole_numbers
from d2s.ops.unlearnt import unlearnt

MOST = 1_000_000  # iterations


class SpectralNorm(Layer):
    """Weights of a shape divided by their largest singular value, as a matrix of axis `dim` by all others.

    >>> list(d2s.nn.SpectralNorm([2, 3]).state_dict())
    ['weight_u', 'weight_v']
    """

    def __init__(
        self,
        weight_shape: Sequence[int],
        dim: int = 0,
        power_iters: int = 1,
        eps: float = 1e-12,
        dtype: Any = "float32",
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype)
        self._shape = whole_numbers(weight_shape, "SpectralNorm", "weight_shape")
        self._dim = one_axis(dim, len(self._shape), "SpectralNorm")
        self._power_iters = whole_number(power_iters, "SpectralNorm", "power_iters")
        self._epsilon = number("SpectralNorm", "eps", eps)
        rows, whole = self._shape[self._dim], 1
        for n in self._shape:
            whole *= n
        if not 0 <= self._power_iters <= MOST or whole < 1:
            message = f"SpectralNorm(): 'weight_shape' is {list(self._shape)}, 'power_iters' is {power_iters}"
            raise ArgumentError("D2S0004", f"{message}, expected numbers from 1, and 0 to {MOST}")
        for part, count in (("weight_u", rows), ("weight_v", whole // rows)):
            found: Any = self.create_parameter([count], None, None, False, Normal(0.0, 1.0))
            found.stop_gradient = True
            setattr(self, part, found)

    def forward(self, x: Any) -> Any:
        shape = tensor_type(x, "SpectralNorm", "x").shape
        if fitting("SpectralNorm", "x", shape, self._shape):
            x = x.reshape(self._shape)  # a run finds whether it is that
        axes = (self._dim, *(k for k in range(len(shape)) if k != self._dim))
        matrix = flatten(transpose(x, axes), 1) if len(shape) > 1 else x.reshape([-1, 1])
        fixed, u, v = unlearnt(matrix), self.weight_u, self.weight_v
        for _ in range(self._power_iters):
            v = self._unit(matmul(fixed, u, True))
            u = self._unit(matmul(fixed, v))
        return x / sum(matmul(matrix, v) * u)

    def _unit(self, vector: Any) -> Any:
        return vector / (sqrt(sum(square(vector))) + self._epsilon)
