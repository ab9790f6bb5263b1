"""The layer of products: each output is a sum over pairs of numbers of two inputs.

>>> Bilinear(2, 3, 4)(d2s.ones([5, 2]), d2s.ones([5, 3])).shape
[5, 4]
"""

from typing import Any

from d2s.errors import ShapeError
from d2s.nn.layer import Layer
from d2s.ops.arrange import transpose
from d2s.ops.matmul import matmul
from d2s.ops.reduce import sum
from d2s.ops.shapes import tensor_type, whole_number


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x1 @ weight[k] @ x2, for each output k; the weight is [outputs, numbers of x1, numbers of x2].

    >>> x = d2s.to_tensor([[1.0, 2.0]])
    >>> d2s.nn.functional.bilinear(x, x, d2s.ones([1, 2, 2])).tolist()
    [[9.0]]
    """
    shapes = [tensor_type(t, "bilinear", n).shape for t, n in ((x1, "x1"), (x2, "x2"), (weight, "weight"))]
    if [len(s) for s in shapes] != [2, 2, 3]:
        listed = ", ".join(str(list(s)) for s in shapes)
        raise ShapeError("D2S0002", f"bilinear(): the shapes are {listed}, expected [batch, n], [batch, m], [outputs, n, m]")
    found = transpose(sum(matmul(x1, weight) * x2, -1), (1, 0))
    return found if bias is None else found + bias


class Bilinear(Layer):
    """`functional.bilinear` with a weight and a bias of its own.

    >>> d2s.nn.Bilinear(2, 3, 4)
    Bilinear(in1_features=2, in2_features=3, out_features=4, dtype=float32)
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        sizes = [whole_number(n, "Bilinear", "features") for n in (out_features, in1_features, in2_features)]
        self.weight: Any = self.create_parameter(sizes, weight_attr)
        self.bias = self.create_parameter([1, sizes[0]], bias_attr, is_bias=True)
        self._name = name

    def forward(self, x1: Any, x2: Any) -> Any:
        return bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        outputs, first, second = self.weight.shape
        named = f", name={self._name}" if self._name else ""
        shown = f"in1_features={first}, in2_features={second}, out_features={outputs}"
        return f"{shown}, dtype={self.weight.dtype.name}{named}"
