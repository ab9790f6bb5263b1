"""Exponentials, logarithms and roots, with a function or two made of them.

>>> from d2s.types import Type, float32
>>> exp.infer([Type(float32, ("n", 4))], {})
(f32[n,4],)
"""

import math
from typing import Any

from d2s.ops import vector_math as vm
from d2s.ops.math import neg
from d2s.ops.op import elementwise
from d2s.types import float32

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="exp", onnx="Exp", dtypes="f", whole=float32)
def exp(x):
    """e to the power of the value.

    >>> d2s.exp(d2s.to_tensor([0.0])).numpy().tolist()
    [1.0]
    """
    return vm.exp(x)


@exp.rule("vjp")
def _(g, out, x):
    return g * out


@elementwise(paddle="expm1", onnx="Sub(Exp(x), 1)", dtypes="f", whole=float32)
def expm1(x):
    """e to the power of the value, minus 1: exact to the last digit near 0, too.

    >>> d2s.expm1(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.expm1(x)


@expm1.rule("vjp")
def _(g, out, x):
    return g * (out + 1.0)


@elementwise(paddle="log", onnx="Log", dtypes="f", whole=float32)
def log(x):
    """The natural logarithm; nan below 0.

    >>> d2s.log(d2s.to_tensor([1.0])).numpy().tolist()
    [0.0]
    """
    return vm.log(x)


@log.rule("vjp")
def _(g, out, x):
    return g / x


@elementwise(paddle=None, onnx="Clip(Log(x), -1e20, 1e20)", dtypes="f")
def bounded_log(x):
    """The natural logarithm, no further from 0 than 1e20: a loss of it is a number, and its gradient still that of `log`.

    >>> d2s.ops.exponential.bounded_log(d2s.to_tensor([0.0, 1.0], "float64")).numpy().tolist()
    [-1e+20, 0.0]
    """
    v = vm.log(x)
    return vm.select(v < T(-1e20), T(-1e20), vm.select(v > T(1e20), T(1e20), v))


@bounded_log.rule("vjp")
def _(g, out, x):
    return g / x


@elementwise(paddle="log1p", onnx="Log(Add(x, 1))", dtypes="f", whole=float32)
def log1p(x):
    """The natural logarithm of 1 plus the value: exact to the last digit near 0, too.

    >>> d2s.log1p(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.log1p(x)


@log1p.rule("vjp")
def _(g, out, x):
    return g / (x + 1.0)


@elementwise(paddle="log2", onnx="Div(Log(x), 0.6931471805599453)", dtypes="f", whole=float32)
def log2(x):
    """The logarithm to base 2.

    >>> d2s.log2(d2s.to_tensor([8.0])).numpy().tolist()
    [3.0]
    """
    return vm.log2(x)


@log2.rule("vjp")
def _(g, out, x):
    return g / (x * math.log(2.0))


@elementwise(paddle="log10", onnx="Div(Log(x), 2.302585092994046)", dtypes="f", whole=float32)
def log10(x):
    """The logarithm to base 10.

    >>> d2s.log10(d2s.to_tensor([1000.0])).numpy().tolist()
    [3.0]
    """
    return vm.log10(x)


@log10.rule("vjp")
def _(g, out, x):
    return g / (x * math.log(10.0))


@elementwise(paddle="sqrt", onnx="Sqrt", dtypes="f")
def sqrt(x):
    """The square root; nan below 0.

    >>> d2s.sqrt(d2s.to_tensor([9.0])).numpy().tolist()
    [3.0]
    """
    return vm.sqrt_of(x)


@sqrt.rule("vjp")
def _(g, out, x):
    return g * 0.5 / out


@elementwise(paddle="rsqrt", onnx="Reciprocal(Sqrt(x))", dtypes="f")
def rsqrt(x):
    """One divided by the square root.

    >>> d2s.rsqrt(d2s.to_tensor([4.0])).numpy().tolist()
    [0.5]
    """
    return vm.rsqrt(x)


@rsqrt.rule("vjp")
def _(g, out, x):
    return neg(g * 0.5 * (out * out * out))


@elementwise(paddle="sigmoid", onnx="Sigmoid", dtypes="f")
def sigmoid(x):
    """1 / (1 + exp(-x)).

    >>> d2s.sigmoid(d2s.to_tensor([0.0])).numpy().tolist()
    [0.5]
    """
    return vm.sigmoid(x)


@sigmoid.rule("vjp")
def _(g, out, x):
    return g * (out * (1.0 - out))


@elementwise(paddle="erf", onnx="Erf", dtypes="f")
def erf(x):
    """The error function.

    >>> d2s.erf(d2s.to_tensor([0.0, 9.0])).numpy().tolist()
    [0.0, 1.0]
    """
    return vm.erf(x)


@erf.rule("vjp")
def _(g, out, x):
    return g * (exp(neg(x * x)) * (2.0 / math.sqrt(math.pi)))
