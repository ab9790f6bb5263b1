"""Trigonometric and hyperbolic functions; angles are in radians, right for every float however large.

>>> from d2s.types import Type, float32
>>> sin.infer([Type(float32, ("n", 4))], {})
(f32[n,4],)
"""

from d2s.ops import vector_math as vm
from d2s.ops.exponential import sqrt
from d2s.ops.math import neg
from d2s.ops.op import elementwise
from d2s.types import float64


@elementwise(paddle="sin", onnx="Sin", dtypes="f")
def sin(x):
    """The sine.

    >>> d2s.sin(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.sin(x)


@sin.rule("vjp")
def _(g, out, x):
    return lambda: g * cos(x)


@elementwise(paddle="cos", onnx="Cos", dtypes="f")
def cos(x):
    """The cosine.

    >>> d2s.cos(d2s.to_tensor([0.0])).numpy().tolist()
    [1.0]
    """
    return vm.cos(x)


@cos.rule("vjp")
def _(g, out, x):
    return lambda: neg(g * sin(x))


@elementwise(paddle="tan", onnx="Tan", dtypes="f")
def tan(x):
    """The tangent.

    >>> d2s.tan(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.tan(x)


@tan.rule("vjp")
def _(g, out, x):
    return g * (out * out + 1.0)


@elementwise(paddle="asin", onnx="Asin", dtypes="f")
def asin(x):
    """The angle between -π/2 and π/2 with this sine; nan outside -1 and 1.

    >>> d2s.asin(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.asin(x)


@asin.rule("vjp")
def _(g, out, x):
    return g / sqrt(1.0 - x * x)


@elementwise(paddle="acos", onnx="Acos", dtypes="f")
def acos(x):
    """The angle between 0 and π with this cosine; nan outside -1 and 1.

    >>> d2s.acos(d2s.to_tensor([1.0])).numpy().tolist()
    [0.0]
    """
    return vm.acos(x)


@acos.rule("vjp")
def _(g, out, x):
    return neg(g / sqrt(1.0 - x * x))


@elementwise(paddle="atan", onnx="Atan", dtypes="f")
def atan(x):
    """The angle between -π/2 and π/2 with this tangent.

    >>> d2s.atan(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.atan(x)


@atan.rule("vjp")
def _(g, out, x):
    return g / (x * x + 1.0)


@elementwise(paddle="sinh", onnx="Sinh", dtypes="f")
def sinh(x):
    """The hyperbolic sine.

    >>> d2s.sinh(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.sinh(x)


@sinh.rule("vjp")
def _(g, out, x):
    return lambda: g * cosh(x)


@elementwise(paddle="cosh", onnx="Cosh", dtypes="f")
def cosh(x):
    """The hyperbolic cosine.

    >>> d2s.cosh(d2s.to_tensor([0.0])).numpy().tolist()
    [1.0]
    """
    return vm.cosh(x)


@cosh.rule("vjp")
def _(g, out, x):
    return lambda: g * sinh(x)


@elementwise(paddle="asinh", onnx="Asinh", dtypes="f")
def asinh(x):
    """The number with this hyperbolic sine.

    >>> d2s.asinh(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.asinh(x)


@asinh.rule("vjp")
def _(g, out, x):
    return lambda: g / sqrt(x * x + 1.0)


@elementwise(paddle="acosh", onnx="Acosh", dtypes="f")
def acosh(x):
    """The number from 0 on with this hyperbolic cosine; nan below 1.

    >>> d2s.acosh(d2s.to_tensor([1.0])).numpy().tolist()
    [0.0]
    """
    return vm.acosh(x)


@acosh.rule("vjp")
def _(g, out, x):
    return lambda: g / sqrt(x * x - 1.0)


@elementwise(paddle="atanh", onnx="Atanh", dtypes="f")
def atanh(x):
    """The number with this hyperbolic tangent; nan outside -1 and 1.

    >>> d2s.atanh(d2s.to_tensor([0.0, 1.0])).numpy().tolist()
    [0.0, inf]
    """
    return vm.atanh(x)


@atanh.rule("vjp")
def _(g, out, x):
    return lambda: g / (1.0 - x * x)


@elementwise(paddle="atan2", onnx=None, dtypes="f", whole=float64)
def atan2(x, y):
    """The angle between -π and π of the point that is y to the right and x up.

    >>> d2s.atan2(d2s.to_tensor([0.0, 1.0, 0.0]), d2s.to_tensor([1.0, 0.0, -1.0])).numpy().tolist()
    [0.0, 1.5707963705062866, 3.1415927410125732]
    """
    return vm.atan2(x, y)


@atan2.rule("vjp")
def _(g, out, x, y):
    return lambda: g * y / (x * x + y * y), lambda: neg(g * x / (x * x + y * y))
