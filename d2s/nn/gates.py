"""Activations that learn, choose, or meet another half of their input: PReLU, maxout, gates, draws of classes.

>>> glu(d2s.to_tensor([3.0, 0.0])).tolist()
[1.5]
"""

from typing import Any

from d2s.arguments import number, one_of
from d2s.errors import ArgumentError, ShapeError
from d2s.nn.initializer import Constant
from d2s.nn.layer import Layer
from d2s.ops.along_axis import put_along_axis
from d2s.ops.argmax import argmax
from d2s.ops.compare import greater_than, where
from d2s.ops.create import zeros_like
from d2s.ops.exponential import log, sigmoid
from d2s.ops.math import neg
from d2s.ops.random import uniform
from d2s.ops.reduce import max
from d2s.ops.rows import sizes
from d2s.ops.shape import reshape, unflatten, unsqueeze
from d2s.ops.shapes import one_axis, tensor_type, tensors, uncountable, unnamed, whole_number
from d2s.ops.slicing import split
from d2s.ops.softmax import softmax_
from d2s.ops.unlearnt import unlearnt

FORMATS = ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC")


def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The value where it is above zero, else a share of it that is learnt: one for all, or one for each channel.

    >>> d2s.nn.functional.prelu(d2s.to_tensor([-2.0, 2.0]), d2s.to_tensor([0.25])).tolist()
    [-0.5, 2.0]
    """
    rank, shares = len(tensor_type(x, "prelu", "x").shape), tensor_type(weight, "prelu", "weight").shape
    if len(shares) != 1 or (shares[0] != 1 and rank < 2):
        raise ShapeError("D2S0002", f"prelu(): 'weight' has shape {list(shares)}, expected [1] or the channels of 'x'")
    one_of("prelu", "data_format", data_format, FORMATS)
    if shares[0] != 1:
        channel = rank - 1 if data_format != "NC" and data_format.endswith("C") else 1
        weight = reshape(weight, [-1 if axis == channel else 1 for axis in range(rank)])
    return where(greater_than(x, 0.0), x, x * weight)


def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The greatest of so many neighbouring channels.

    >>> d2s.nn.functional.maxout(d2s.to_tensor([[1.0, 5.0, 3.0, 4.0]]), 2).tolist()
    [[5.0, 4.0]]
    """
    shape, groups = tensor_type(x, "maxout", "x").shape, whole_number(groups, "maxout", "groups")
    along = one_axis(axis, len(shape), "maxout")
    channels = shape[along]
    if uncountable(channels):
        raise unnamed("maxout", f"whether {channels} channels make groups of {groups}")
    if isinstance(channels, str) or groups < 1 or channels % groups:
        raise ShapeError("D2S0002", f"maxout(): {channels} channels do not make groups of {groups}")
    return max(unflatten(x, along, [channels // groups, groups]), along + 1)


def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half of an axis times the sigmoid of the second.

    >>> d2s.nn.functional.glu(d2s.to_tensor([[1.0, 2.0, 0.0, 0.0]])).tolist()
    [[0.5, 1.0]]
    """
    first, second = split(x, 2, one_axis(axis, len(tensor_type(x, "glu", "x").shape), "glu"))
    return first * sigmoid(second)


def swiglu(x: Any, y: Any = None, name: str | None = None) -> Any:
    """x sigmoid(x) y; without a y, x and y are the halves of the last axis.

    >>> d2s.nn.functional.swiglu(d2s.to_tensor([0.0]), d2s.to_tensor([2.0])).tolist()
    [0.0]
    """
    first, second = split(x, 2, -1) if y is None else (x, y)
    tensors("swiglu", x=first, y=second)
    return first * sigmoid(first) * second


def rrelu(x: Any, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, training: bool = True, name: str | None = None) -> Any:
    """The value where it is above zero, else a share of it: one drawn for each between bounds, or not in training their mean.

    >>> d2s.nn.functional.rrelu(d2s.to_tensor([-2.0, 2.0]), 0.25, 0.75, training=False).tolist()
    [-1.0, 2.0]
    """
    low, high = number("rrelu", "lower", lower), number("rrelu", "upper", upper)
    if not 0 <= low <= high <= 1:
        raise ArgumentError("D2S0004", f"rrelu(): 'lower' is {low}, 'upper' is {high}, expected 0 <= lower <= upper <= 1")
    held = tensor_type(x, "rrelu", "x")
    share = uniform(list(x.shape), held.dtype, low, high) if training else (low + high) / 2
    return where(greater_than(x, 0.0), x, x * share)


def gumbel_softmax(x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None) -> Any:
    """A draw of classes by scores that can be learnt: the softmax of scores with noise, near to 0 and 1 at low temperatures.

    With `hard` it is 0 and 1, and its gradient that of the softmax.

    >>> drawn = d2s.nn.functional.gumbel_softmax(d2s.to_tensor([[0.0, 9.0, 3.0]]), hard=True)
    >>> sorted(drawn.tolist()[0])
    [0.0, 0.0, 1.0]
    """
    held = tensor_type(x, "gumbel_softmax", "x")
    along, heat = one_axis(axis, len(held.shape), "gumbel_softmax"), number("gumbel_softmax", "temperature", temperature)
    if heat <= 0:
        raise ArgumentError("D2S0004", f"gumbel_softmax(): 'temperature' is {heat}, expected more than 0")
    least = 1e-20 if held.dtype.size > 4 else 1e-10
    noise = neg(log(neg(log(uniform(sizes(x), held.dtype, least, 1.0))) + least))
    soft = softmax_((x + noise) / heat, along)
    if not hard:
        return soft
    chosen = put_along_axis(zeros_like(soft), unsqueeze(argmax(soft, along), along), 1.0, along)
    return unlearnt(chosen - soft) + soft


class PReLU(Layer):
    """`functional.prelu`, whose shares begin as `init`.

    >>> d2s.nn.PReLU()(d2s.to_tensor([-2.0, 2.0])).tolist()
    [-0.5, 2.0]
    """

    def __init__(
        self,
        num_parameters: int = 1,
        init: float = 0.25,
        weight_attr: Any = None,
        data_format: str = "NCHW",
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._num_parameters, self._init = (
            whole_number(num_parameters, "PReLU", "num_parameters"),
            number("PReLU", "init", init),
        )
        self._data_format = data_format
        self._weight: Any = self.create_parameter([self._num_parameters], weight_attr, None, False, Constant(self._init))

    def forward(self, x: Any) -> Any:
        return prelu(x, self._weight, self._data_format)

    def extra_repr(self) -> str:
        shown = f"num_parameters={self._num_parameters}, data_format={self._data_format}, init={self._init}"
        return f"{shown}, dtype={self._weight.dtype.name}"


class RReLU(Layer):
    """`functional.rrelu`, which draws while the layer is trained.

    >>> d2s.nn.RReLU(0.5, 0.5)(d2s.to_tensor([-2.0, 2.0])).tolist()
    [-1.0, 2.0]
    """

    def __init__(self, lower: float = 1.0 / 8.0, upper: float = 1.0 / 3.0, name: str | None = None) -> None:
        super().__init__()
        self._lower, self._upper = lower, upper

    def forward(self, x: Any) -> Any:
        return rrelu(x, self._lower, self._upper, self.training)

    def extra_repr(self) -> str:
        return f"lower={self._lower}, upper={self._upper}, training={self.training}"


class Softmax2D(Layer):
    """The softmax over the channels of pictures.

    >>> d2s.nn.Softmax2D()(d2s.zeros([1, 2, 1, 1])).tolist()
    [[[[0.5]], [[0.5]]]]
    """

    def __init__(self, name: str | None = None) -> None:
        super().__init__()

    def forward(self, x: Any) -> Any:
        rank = len(tensor_type(x, "Softmax2D", "x").shape)
        if rank not in (3, 4):
            raise ShapeError("D2S0002", f"Softmax2D: 'x' has {rank} axes, expected 3 or 4")
        return softmax_(x, rank - 3)
