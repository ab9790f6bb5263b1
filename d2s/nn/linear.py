"""The affine layer.

>>> d2s.nn.Linear(2, 3)(d2s.to_tensor([[0.0, 0.0]])).shape
[1, 3]
"""

from typing import Any

from d2s.nn.layer import Layer
from d2s.ops import linalg
from d2s.ops.math import add
from d2s.ops.operators import Operators


def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """`x @ weight + bias`; one kernel where the bias is a vector of the weight's columns.

    >>> d2s.nn.functional.linear(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([[3.0], [4.0]]), d2s.to_tensor([0.5])).tolist()
    [11.5]
    """
    if bias is None:
        return linalg.matmul(x, weight)
    tensors = isinstance(weight, Operators) and isinstance(bias, Operators)
    if tensors and weight.shape[1:] == bias.shape:
        return linalg.linear(x, weight, bias)
    return add(linalg.matmul(x, weight), bias)


class Linear(Layer):
    """`x @ weight + bias`; the weight is [in_features, out_features], uniform after Xavier at first, the bias zero.

    >>> d2s.nn.Linear(2, 3, bias_attr=False)
    Linear(in_features=2, out_features=3, dtype=float32)
    """

    def __init__(
        self, in_features: int, out_features: int, weight_attr: Any = None, bias_attr: Any = None, name: str | None = None
    ) -> None:
        super().__init__()
        self.weight: Any = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)
        self.name = name

    def forward(self, input: Any) -> Any:
        return linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        named = f", name={self.name}" if self.name else ""
        shape = f"in_features={self.weight.shape[0]}, out_features={self.weight.shape[1]}"
        return f"{shape}, dtype={self.weight.dtype.name}{named}"
