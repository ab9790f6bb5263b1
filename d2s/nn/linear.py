"""The affine layer.

>>> d2s.nn.Linear(2, 3)(d2s.to_tensor([[0.0, 0.0]])).shape
[1, 3]
"""

import math
from typing import Any

from d2s.nn.layer import Layer
from d2s.ops.linalg import matmul


class Linear(Layer):
    """`x @ weight + bias`; the weight is [in_features, out_features], uniform after Xavier at first, the bias zero."""

    def __init__(self, in_features: int, out_features: int) -> None:
        super().__init__()
        self.weight = self.create_parameter([in_features, out_features], math.sqrt(6 / (in_features + out_features)))
        self.bias = self.create_parameter([out_features])

    def forward(self, x: Any) -> Any:
        return matmul(x, self.weight) + self.bias
