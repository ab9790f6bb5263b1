"""Rounding, and what kind of number a value is. In a body, `T` is the dtype computed in.

>>> from d2s.types import Type, float32
>>> isnan.infer([Type(float32, ("n", 4))], {})
(b1[n,4],)
"""

from d2s.ops import vector_math as vm
from d2s.ops.math import zeros
from d2s.ops.op import elementwise
from d2s.types import bool_


@elementwise(paddle="floor", onnx="Floor", dtypes="f")
def floor(x):
    """The largest integer not above the value.

    >>> d2s.floor(d2s.to_tensor([1.5, -1.5])).numpy().tolist()
    [1.0, -2.0]
    """
    return vm.floor_of(x)


@floor.rule("vjp")
def _(g, out, x):
    return lambda: zeros(g)


@elementwise(paddle="ceil", onnx="Ceil", dtypes="f")
def ceil(x):
    """The smallest integer not below the value.

    >>> d2s.ceil(d2s.to_tensor([1.5, -1.5])).numpy().tolist()
    [2.0, -1.0]
    """
    return vm.ceil_of(x)


@ceil.rule("vjp")
def _(g, out, x):
    return lambda: zeros(g)


@elementwise(paddle="round", onnx="Mul(Sign(x), Floor(Add(Abs(x), 0.5)))", dtypes="f")
def round(x):
    """The nearest integer; halves are rounded away from 0.

    >>> d2s.round(d2s.to_tensor([1.4, 2.5, -0.5])).numpy().tolist()
    [1.0, 3.0, -1.0]
    """
    return vm.rounded(x)


@round.rule("vjp")
def _(g, out, x):
    return lambda: zeros(g)


@elementwise(paddle="trunc", onnx="Mul(Sign(input), Floor(Abs(input)))", dtypes="f")
def trunc(input):
    """The value without its digits behind the point.

    >>> d2s.trunc(d2s.to_tensor([1.5, -1.5])).numpy().tolist()
    [1.0, -1.0]
    """
    return vm.trunc_of(input)


@trunc.rule("vjp")
def _(g, out, input):
    return lambda: zeros(g)


@elementwise(paddle="isnan_v2", onnx="f: IsNaN", dtypes="if", out_dtype=bool_)
def isnan(x):
    """Whether the value is not a number.

    >>> d2s.isnan(d2s.to_tensor([1.0, float("nan")])).numpy().tolist()
    [False, True]
    """
    return x != x


@elementwise(paddle="isinf_v2", onnx="f: IsInf", dtypes="if", out_dtype=bool_)
def isinf(x):
    """Whether the value is infinite, either way.

    >>> d2s.isinf(d2s.to_tensor([1.0, float("-inf")])).numpy().tolist()
    [False, True]
    """
    return x == x and x - x != x - x


@elementwise(paddle="isfinite_v2", onnx="f: Not(Or(IsNaN(x), IsInf(x)))", dtypes="if", out_dtype=bool_)
def isfinite(x):
    """Whether the value is neither infinite nor nan.

    >>> d2s.isfinite(d2s.to_tensor([1.0, float("inf")])).numpy().tolist()
    [True, False]
    """
    return x - x == x - x
