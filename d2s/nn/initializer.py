"""How parameters begin. In: a parameter. Out: its first values, drawn from the one stream of random numbers.

The fans of a parameter say how many numbers meet in one output and in one gradient: of [m, n] they are m and n, of a
convolution's [out, in, ...] they are `in` and `out`, each times the size of the window.

>>> x = d2s.zeros([2]) if hasattr(d2s, "zeros") else d2s.to_tensor([0.0, 0.0])
>>> Constant(3.0)(x)
>>> x.tolist()
[3.0, 3.0]
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.arguments import expect, number
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.dispatch import current
from d2s.ops.random import standard_normal, uniform
from d2s.types import DType

TRUNCATED = 2.0  # standard deviations a truncated normal number is at most away from the mean


class Initializer:
    """The base: subclasses define `values`, or `__call__` as a whole."""

    def __call__(self, param: Tensor, block: Any = None) -> None:
        """Gives a parameter its first values."""
        expect(type(self).__name__, "param", param, Tensor, "a Tensor")
        param.set_value(self.values(param.shape, param.dtype))

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} defines neither values() nor __call__()")


class Postpones:
    """A handler of ops that gives parameters their first values later, as a program does that is being declared."""

    def postpone(self, parameter: Tensor, initializer: Initializer) -> None:
        raise NotImplementedError

    def named(self, name: str) -> Tensor | None:
        """The parameter of that name that there is already."""
        raise NotImplementedError


def known(name: str, shape: Sequence[int], dtype: DType) -> Tensor | None:
    """The parameter that a declared program has under a name: who asks for another like it shares it."""
    handler = current()
    found = handler.named(name) if isinstance(handler, Postpones) else None
    return found if found is not None and found.shape == [*shape] and found.dtype is dtype else None


def begin(parameter: Tensor, initializer: Initializer) -> None:
    """Gives a parameter its first values, now or when its program starts."""
    expect("begin", "parameter", parameter, Tensor, "a Tensor")
    expect("begin", "initializer", initializer, Initializer, "an Initializer")
    handler = current()
    if isinstance(handler, Postpones):
        handler.postpone(parameter, initializer)
    else:
        initializer(parameter)


class Constant(Initializer):
    """One number everywhere.

    >>> d2s.nn.Linear(1, 2, weight_attr=d2s.nn.initializer.Constant(2.0)).weight.tolist()
    [[2.0, 2.0]]
    """

    def __init__(self, value: float = 0.0) -> None:
        self.value = number("Constant", "value", value)

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        return np.full(shape, self.value).astype(dtype.numpy)


class Assign(Initializer):
    """The values of a list, an array or a tensor.

    >>> assign = d2s.nn.initializer.Assign([[1.0, 2.0]])
    >>> d2s.nn.Linear(1, 2, weight_attr=assign).weight.tolist()
    [[1.0, 2.0]]
    """

    def __init__(self, value: Any, name: str | None = None) -> None:
        if not isinstance(value, np.ndarray | list | tuple | Tensor):
            got = type(value).__name__
            raise DTypeError("D2S0001", f"Assign(): 'value' expects an array, a list or a Tensor, got {got}")
        self.value = to_tensor(value).array

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        if list(self.value.shape) != shape:
            raise ShapeError("D2S0002", f"Assign(): the value's shape is {list(self.value.shape)}, the parameter's {shape}")
        return self.value.astype(dtype.numpy)


class Uniform(Initializer):
    """Numbers spread evenly over [low, high).

    >>> bool((d2s.nn.Linear(9, 9, weight_attr=d2s.nn.initializer.Uniform(2.0, 3.0)).weight.numpy() >= 2).all())
    True
    """

    def __init__(self, low: float = -1.0, high: float = 1.0, name: str | None = None) -> None:
        self.low, self.high = number("Uniform", "low", low), number("Uniform", "high", high)
        if not self.low <= self.high:
            raise ArgumentError("D2S0004", f"Uniform(): 'low' is {low}, above 'high', which is {high}")

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        drawn: np.ndarray = uniform(shape, _float(self, dtype), self.low, self.high).array
        return drawn


class Normal(Initializer):
    """Normal numbers of a mean and a standard deviation.

    >>> d2s.nn.Linear(1, 2, weight_attr=d2s.nn.initializer.Normal(3.0, 0.0)).weight.tolist()
    [[3.0, 3.0]]
    """

    def __init__(self, mean: float = 0.0, std: float = 1.0, name: str | None = None) -> None:
        kind = type(self).__name__
        self.mean, self.std = number(kind, "mean", mean), number(kind, "std", std)
        if self.std < 0:
            raise ArgumentError("D2S0004", f"{kind}(): 'std' is {std}, below 0")

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        return self._placed(_normals(self, shape, dtype), dtype)

    def _placed(self, z: np.ndarray, dtype: DType) -> np.ndarray:
        return z * dtype.numpy.type(self.std) + dtype.numpy.type(self.mean)


class TruncatedNormal(Normal):
    """Normal numbers; those more than two standard deviations away from the mean are drawn again.

    >>> drawn = d2s.nn.Linear(9, 9, weight_attr=d2s.nn.initializer.TruncatedNormal(std=0.1)).weight.numpy()
    >>> bool((abs(drawn) <= 0.2).all())
    True
    """

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        z = _normals(self, shape, dtype).reshape(-1)
        while (far := np.flatnonzero(np.abs(z) > TRUNCATED)).size:
            z[far] = _normals(self, [far.size], dtype)
        return self._placed(z.reshape(shape), dtype)


class _Scaled(Initializer):
    """Numbers of a standard deviation that follows from the fans, evenly spread or normal."""

    even: bool

    def deviation(self, shape: list[int]) -> float:
        raise NotImplementedError

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        std = self.deviation(shape)
        bound = math.sqrt(3.0) * std
        return (Uniform(-bound, bound) if self.even else Normal(0.0, std)).values(shape, dtype)


class _Xavier(_Scaled):
    def __init__(self, fan_in: Any = None, fan_out: Any = None, gain: float = 1.0, name: str | None = None) -> None:
        self.fan_in, self.fan_out = _fan(self, "fan_in", fan_in), _fan(self, "fan_out", fan_out)
        self.gain = number(type(self).__name__, "gain", gain)

    def deviation(self, shape: list[int]) -> float:
        found = fans(shape)
        fan_in = found[0] if self.fan_in is None else self.fan_in
        fan_out = found[1] if self.fan_out is None else self.fan_out
        return self.gain * math.sqrt(2.0 / max(fan_in + fan_out, 1))


class XavierUniform(_Xavier):
    """Evenly spread, with a variance of 2 / (fan_in + fan_out): after Glorot and Bengio, for tanh and its like.

    >>> bound = (6 / (10 + 20)) ** 0.5
    >>> drawn = d2s.nn.Linear(10, 20, weight_attr=d2s.nn.initializer.XavierUniform()).weight.numpy()
    >>> bool((abs(drawn) <= bound).all())
    True
    """

    even = True


class XavierNormal(_Xavier):
    """Normal, with a variance of 2 / (fan_in + fan_out).

    >>> d2s.nn.Linear(10, 20, weight_attr=d2s.nn.initializer.XavierNormal()).weight.shape
    [10, 20]
    """

    even = False


class _Kaiming(_Scaled):
    def __init__(
        self, fan_in: Any = None, negative_slope: float = 0.0, nonlinearity: str = "relu", mode: str = "fan_in"
    ) -> None:
        self.fan_in, self.gain = _fan(self, "fan_in", fan_in), calculate_gain(nonlinearity, negative_slope)
        expect(type(self).__name__, "mode", mode, str, "a str")
        if mode not in ("fan_in", "fan_out"):
            raise ArgumentError("D2S0004", f"{type(self).__name__}(): 'mode' is {brief(mode)}, expected 'fan_in' or 'fan_out'")
        self.mode = mode

    def deviation(self, shape: list[int]) -> float:
        found = fans(shape)[self.mode == "fan_out"]
        return self.gain / math.sqrt(max(found if self.fan_in is None else self.fan_in, 1))


class KaimingUniform(_Kaiming):
    """Evenly spread, with a variance of gain² / fan_in: after He and others, for ReLU and its like.

    >>> drawn = d2s.nn.Linear(6, 2, weight_attr=d2s.nn.initializer.KaimingUniform()).weight.numpy()
    >>> bool((abs(drawn) <= 1).all())
    True
    """

    even = True


class KaimingNormal(_Kaiming):
    """Normal, with a variance of gain² / fan_in.

    >>> d2s.nn.Linear(6, 2, weight_attr=d2s.nn.initializer.KaimingNormal()).weight.shape
    [6, 2]
    """

    even = False


class Orthogonal(Initializer):
    """Rows (or columns, where these are fewer) that stand at right angles; axes behind the first count as one.

    >>> w = d2s.nn.Linear(4, 2, weight_attr=d2s.nn.initializer.Orthogonal()).weight.numpy()
    >>> bool(np.allclose(w.T @ w, np.eye(2), atol=1e-6))
    True
    """

    def __init__(self, gain: float = 1.0, name: str | None = None) -> None:
        self.gain = number("Orthogonal", "gain", gain)

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        if len(shape) < 2:
            raise ShapeError("D2S0002", f"Orthogonal(): expects a parameter of two axes or more, got {shape}")
        rows, columns = shape[0], math.prod(shape[1:])
        flat = _normals(self, [max(rows, columns), min(rows, columns)], dtype)
        q, r = np.linalg.qr(flat.astype(np.float64))
        q = q * np.where(np.diag(r) < 0, -1.0, 1.0) * self.gain
        return (q.T if rows < columns else q).reshape(shape).astype(dtype.numpy)


class Dirac(Initializer):
    """A convolution that hands its channels on: 1 in the middle of the window between each channel and itself.

    >>> w = d2s.to_tensor([[[0.0, 0.0, 0.0]]])
    >>> d2s.nn.initializer.Dirac()(w)
    >>> w.tolist()
    [[[0.0, 1.0, 0.0]]]
    """

    def __init__(self, groups: int = 1, name: str | None = None) -> None:
        if not isinstance(groups, int) or isinstance(groups, bool) or groups < 1:
            raise ArgumentError("D2S0004", f"Dirac(): 'groups' is {brief(groups)}, expected an int of 1 or more")
        self.groups = groups

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        if len(shape) not in (3, 4, 5):
            raise ShapeError("D2S0002", f"Dirac(): expects a convolution's parameter of 3, 4 or 5 axes, got {shape}")
        if shape[0] % self.groups:
            raise ShapeError("D2S0002", f"Dirac(): the first extent of {shape} cannot be divided by {self.groups} groups")
        found, outputs = np.zeros(shape, dtype.numpy), shape[0] // self.groups
        middle = tuple(extent // 2 for extent in shape[2:])
        for group in range(self.groups):
            for channel in range(min(outputs, shape[1])):
                found[group * outputs + channel, channel][middle] = 1
        return found


class Bilinear(Initializer):
    """A transposed convolution's weights for enlarging pictures.

    >>> w = d2s.to_tensor([[[[0.0] * 3] * 3]])
    >>> d2s.nn.initializer.Bilinear()(w)
    >>> w.tolist()
    [[[[0.0625, 0.3125, 0.4375], [0.1875, 0.6875, 0.6875], [0.1875, 0.4375, 0.3125]]]]
    """

    def values(self, shape: list[int], dtype: DType) -> np.ndarray:
        if len(shape) != 4 or shape[2] != shape[3]:
            raise ShapeError("D2S0002", f"Bilinear(): expects a parameter of four axes, the last two alike, got {shape}")
        size = shape[3]
        factor = math.ceil(size / 2)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        at = np.arange(size * size)
        x, y = at % size, at / size  # Paddle's rows are fractions, and models trained there began so
        window = (1 - np.abs(x / factor - centre)) * (1 - np.abs(y / factor - centre))
        return np.broadcast_to(window.reshape(size, size), shape).astype(dtype.numpy)


GAINS = dict.fromkeys(("sigmoid", "linear", "conv1d", "conv2d", "conv3d"), 1.0)
GAINS |= {f"conv{n}d_transpose": 1.0 for n in (1, 2, 3)} | {"tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4}


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much a layer's deviation is to be larger for what stands behind it; `param` is the slope of a leaky ReLU.

    >>> d2s.nn.initializer.calculate_gain("tanh")
    1.6666666666666667
    """
    expect("calculate_gain", "nonlinearity", nonlinearity, str, "a str")
    if nonlinearity == "leaky_relu":
        return math.sqrt(2.0 / (1 + (0.01 if param is None else number("calculate_gain", "param", param)) ** 2))
    if nonlinearity not in GAINS:
        names = ", ".join([*GAINS, "leaky_relu"])
        raise ArgumentError("D2S0004", f"calculate_gain(): 'nonlinearity' is {brief(nonlinearity)}, expected one of {names}")
    return GAINS[nonlinearity]


_global: dict[str, Initializer | None] = {"weight": None, "bias": None}


def set_global_initializer(weight_init: Initializer | None, bias_init: Initializer | None = None) -> None:
    """How parameters begin from now on whose ParamAttr does not say; None is each layer's own way again.

    >>> d2s.nn.initializer.set_global_initializer(d2s.nn.initializer.Constant(1.0))
    >>> d2s.nn.Linear(1, 2).weight.tolist()
    [[1.0, 1.0]]
    >>> d2s.nn.initializer.set_global_initializer(None)
    """
    for name, given in (("weight_init", weight_init), ("bias_init", bias_init)):
        if not isinstance(given, Initializer | None):
            got = type(given).__name__
            raise DTypeError("D2S0001", f"set_global_initializer(): '{name}' expects an Initializer or None, got {got}")
    _global.update(weight=weight_init, bias=bias_init)


def chosen(given: Initializer | None, default: Initializer | None, is_bias: bool) -> Initializer:
    """What a parameter begins with: its attribute's, else the global one, else the layer's, else Xavier's or zeros."""
    return given or _global["bias" if is_bias else "weight"] or default or (Constant(0.0) if is_bias else XavierUniform())


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many numbers meet in one output and in one gradient."""
    expect("fans", "shape", shape, list | tuple, "a list of ints")
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    if len(shape) == 2:
        return shape[0], shape[1]
    window = math.prod(shape[2:])
    return shape[1] * window, shape[0] * window


def _normals(initializer: Initializer, shape: list[int], dtype: DType) -> np.ndarray:
    drawn: np.ndarray = standard_normal(shape, _float(initializer, dtype)).array
    return drawn


def _float(initializer: Initializer, dtype: DType) -> DType:
    if dtype.kind != "f":
        kind = type(initializer).__name__
        raise DTypeError(
            "D2S0003", f"{kind}() draws floats, and the parameter is {dtype.name}", hint="Constant(...), Assign(...)"
        )
    return dtype


def _fan(initializer: Initializer, name: str, value: Any) -> float | None:
    return None if value is None else number(type(initializer).__name__, name, value)
