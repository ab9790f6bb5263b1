"""What stands between the layers of a network, one element at a time. In a body, `T` is the dtype computed in.

In: floats. Out: floats of the same dtype. Numbers that shape a curve (a slope, a bound) are attributes and stand in the text.

>>> from d2s.types import float32
>>> gelu.infer([Type(float32, ("n", 4))], {"approximate": False})
(f32[n,4],)
"""

import math
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops import vector_math as vm
from d2s.ops.compare import greater_than, less_than, where
from d2s.ops.exponential import erf, exp, sigmoid
from d2s.ops.logic import logical_and
from d2s.ops.math import abs, neg, reciprocal, square, tanh
from d2s.ops.op import Op, elementwise, op
from d2s.types import Type

T: Any = None  # the emitter's, bound to the dtype of each kernel
CUBED, ROOT = 0.044715, math.sqrt(2.0 / math.pi)  # of the gelu made of tanh


def float_of(name: str, x: Type) -> Type:
    """The result's type: that of the input, which must be a float."""
    if x.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {x.dtype.name}")
    return x


def with_numbers(declared: Op) -> Op:
    """An op all attributes of which are numbers."""

    @declared.rule("canonical")
    def _(x, **attrs):
        return {name: number(declared.name, name, value) for name, value in attrs.items()}

    return declared


def text_of(value: float) -> str:
    """A number as it stands in a kernel."""
    return (
        f"T({value!r})" if math.isfinite(value) else f"T(math.{'nan' if value != value else 'inf'})" + " * T(-1)" * (value < 0)
    )


def between(x: Any, low: float, high: float) -> Any:
    return logical_and(greater_than(x, low), less_than(x, high))


@op(paddle="gelu")
def gelu(x, approximate: Any = False):
    """x times the share of the normal distribution below x; of the approximation, by tanh.

    In float32 a share is within 2e-7 of its size, and 3e-6 where it is tiny, down to x = -5.75; below that the result is 0.

    >>> d2s.nn.functional.gelu(d2s.to_tensor([0.0, 20.0])).numpy().tolist()
    [0.0, 20.0]
    """


@gelu.rule("canonical")
def _(x, approximate):
    if not isinstance(approximate, bool | str) or approximate not in (True, False, "tanh", "none"):
        raise ArgumentError("D2S0004", f"gelu(): 'approximate' is {brief(approximate)}, expected True, False, 'tanh' or 'none'")
    return {"approximate": approximate in (True, "tanh")}


@gelu.rule("infer")
def _(x, approximate):
    return float_of("gelu", x)


@gelu.rule("scalar")
def _(x, approximate):
    inner = f"T({ROOT}) * (x + T({CUBED}) * (x * x * x))"
    return (f"T(0.5) * x * (T(1) + vm.tanh({inner}))" if approximate else "vm.gelu(x)"), [x.shape]


@gelu.rule("vjp")
def _(g, out, x, approximate):
    if approximate:
        t = tanh((x + x * x * x * CUBED) * ROOT)
        return g * ((t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * ((x * x * (3 * CUBED) + 1.0) * ROOT))
    return g * ((erf(x * math.sqrt(0.5)) + 1.0) * 0.5 + x * (exp(x * x * -0.5) * (ROOT / 2)))


@elementwise(paddle="silu", onnx="Mul(x, Sigmoid(x))", dtypes="f")
def silu(x):
    """x / (1 + exp(-x)).

    >>> d2s.nn.functional.silu(d2s.to_tensor([0.0, 50.0])).numpy().tolist()
    [0.0, 50.0]
    """
    return x * vm.sigmoid(x)


@silu.rule("vjp")
def _(g, out, x):
    s = sigmoid(x)
    return g * (s * (x * (1.0 - s) + 1.0))


@with_numbers
@op(paddle="softplus", onnx="Where(Greater(Mul(x, beta), threshold), x, Div(Log(Add(Exp(Mul(x, beta)), 1)), beta))")
def softplus(x, beta: float = 1, threshold: float = 20):
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold.

    >>> d2s.nn.functional.softplus(d2s.to_tensor([-200.0, 30.0])).numpy().tolist()
    [0.0, 30.0]
    """


@softplus.rule("infer")
def _(x, beta, threshold):
    return float_of("softplus", x)


@softplus.rule("scalar")
def _(x, beta, threshold):
    b = text_of(beta)
    return f"vm.select(x * {b} > {text_of(threshold)}, x, vm.log1p(vm.exp(x * {b})) / {b})", [x.shape]


@softplus.rule("vjp")
def _(g, out, x, beta, threshold):
    y = x * beta
    return where(greater_than(y, threshold), g, g * sigmoid(y))


@with_numbers
@op(paddle="leaky_relu", onnx="LeakyRelu")
def leaky_relu(x, negative_slope: float = 0.01):
    """The value where it is above zero, else a share of it.

    >>> d2s.nn.functional.leaky_relu(d2s.to_tensor([-2.0, 2.0]), 0.5).numpy().tolist()
    [-1.0, 2.0]
    """


@leaky_relu.rule("infer")
def _(x, negative_slope):
    return float_of("leaky_relu", x)


@leaky_relu.rule("scalar")
def _(x, negative_slope):
    return f"x if x > T(0) else {text_of(negative_slope)} * x", [x.shape]


@leaky_relu.rule("vjp")
def _(g, out, x, negative_slope):
    return where(less_than(x, 0.0), g * negative_slope, g)


@with_numbers
@op(paddle="elu", onnx="Elu")
def elu(x, alpha: float = 1.0):
    """The value where it is above zero, else alpha (exp(x) - 1).

    >>> d2s.nn.functional.elu(d2s.to_tensor([-200.0, 2.0]), 0.5).numpy().tolist()
    [-0.5, 2.0]
    """


@elu.rule("infer")
def _(x, alpha):
    return float_of("elu", x)


@elu.rule("scalar")
def _(x, alpha):
    return f"vm.select(x > T(0), x, {text_of(alpha)} * vm.expm1(x))", [x.shape]


@elu.rule("vjp")
def _(g, out, x, alpha):
    return where(greater_than(x, 0.0), g, g * (exp(x) * alpha))


@with_numbers
@op(paddle="selu", onnx="Selu")
def selu(x, scale: float = 1.0507009873554805, alpha: float = 1.6732632423543772):
    """`elu` times a scale, which together keep mean and variance of what goes through a network.

    >>> d2s.nn.functional.selu(d2s.to_tensor([0.0, 2.0]), scale=1.5).numpy().tolist()
    [0.0, 3.0]
    """


@selu.rule("infer")
def _(x, scale, alpha):
    return float_of("selu", x)


@selu.rule("scalar")
def _(x, scale, alpha):
    return f"{text_of(scale)} * vm.select(x > T(0), x, {text_of(alpha)} * vm.expm1(x))", [x.shape]


@selu.rule("vjp")
def _(g, out, x, scale, alpha):
    return where(greater_than(x, 0.0), g * scale, g * (exp(x) * (scale * alpha)))


@elementwise(paddle="relu6", onnx="Clip(x, 0, 6)", dtypes="f")
def relu6(x):
    """The value, or the bound of 0 ... 6 it is beyond; nan stays nan.

    >>> d2s.nn.functional.relu6(d2s.to_tensor([-1.0, 2.0, 9.0])).numpy().tolist()
    [0.0, 2.0, 6.0]
    """
    return T(0) if x <= T(0) else (T(6) if x > T(6) else x)


@relu6.rule("vjp")
def _(g, out, x):
    return where(between(x, 0.0, 6.0), g, 0.0)


@elementwise(paddle="hard_swish", onnx="HardSwish", dtypes="f")
def hardswish(x):
    """x relu6(x + 3) / 6: `silu` made of straight lines and a parabola.

    >>> d2s.nn.functional.hardswish(d2s.to_tensor([-4.0, 0.0, 4.0])).numpy().tolist()
    [-0.0, 0.0, 4.0]
    """
    y = x + T(3)
    y = T(0) if y <= T(0) else y
    y = T(6) if y > T(6) else y
    return x * (y / T(6))


@hardswish.rule("vjp")
def _(g, out, x):
    inner = g * (x / 3.0 + 0.5)
    return where(between(x, -3.0, 3.0), inner, where(greater_than(x, 0.0), g, 0.0))


@with_numbers
@op(paddle="hard_sigmoid", onnx="HardSigmoid")
def hardsigmoid(x, slope: float = 0.1666667, offset: float = 0.5):
    """slope x + offset, kept between 0 and 1.

    >>> d2s.nn.functional.hardsigmoid(d2s.to_tensor([-4.0, 0.0, 4.0])).numpy().tolist()
    [0.0, 0.5, 1.0]
    """


@hardsigmoid.rule("infer")
def _(x, slope, offset):
    return float_of("hardsigmoid", x)


@hardsigmoid.rule("scalar")
def _(x, slope, offset):
    line = f"(x * {text_of(slope)} + {text_of(offset)})"
    return f"T(0) if {line} <= T(0) else (T(1) if {line} > T(1) else {line})", [x.shape]


@hardsigmoid.rule("vjp")
def _(g, out, x, slope, offset):
    return where(between(out, 0.0, 1.0), g * slope, 0.0)


@with_numbers
@op(paddle="brelu", onnx="Clip")
def hardtanh(x, min: float = -1.0, max: float = 1.0):
    """The value, or the bound it is beyond; nan stays nan.

    >>> d2s.nn.functional.hardtanh(d2s.to_tensor([-4.0, 0.5, 4.0])).numpy().tolist()
    [-1.0, 0.5, 1.0]
    """


@hardtanh.rule("infer")
def _(x, min, max):
    return float_of("hardtanh", x)


@hardtanh.rule("scalar")
def _(x, min, max):
    low, high = text_of(min), text_of(max)
    return f"{low} if x < {low} else ({high} if x > {high} else x)", [x.shape]


@hardtanh.rule("vjp")
def _(g, out, x, min, max):
    return where(between(x, min, max), g, 0.0)


@elementwise(paddle="mish", onnx="Mish", dtypes="f")
def mish(x):
    """x tanh(log(1 + exp(x))).

    >>> d2s.nn.functional.mish(d2s.to_tensor([0.0, 50.0])).numpy().tolist()
    [0.0, 50.0]
    """
    e = vm.exp(vm.select(x > T(20), T(20), x))  # tanh(log(1 + e)) is a quotient, and 1 from there on
    n = e * (e + T(2))
    return x * (n / (n + T(2)))


@mish.rule("vjp")
def _(g, out, x):
    t = tanh(softplus(x))
    return g * (t + x * ((1.0 - t * t) * sigmoid(x)))


@elementwise(paddle="softsign", onnx="Softsign", dtypes="f")
def softsign(x):
    """x / (1 + |x|).

    >>> d2s.nn.functional.softsign(d2s.to_tensor([-1.0, 3.0])).numpy().tolist()
    [-0.5, 0.75]
    """
    return x / (T(1) + vm.abs_of(x))


@softsign.rule("vjp")
def _(g, out, x):
    return g * square(reciprocal(abs(x) + 1.0))


@elementwise(paddle="logsigmoid", onnx="Neg(Softplus(Neg(x)))", dtypes="f")
def log_sigmoid(x):
    """The logarithm of `sigmoid`, right where that is 0, too.

    >>> d2s.nn.functional.log_sigmoid(d2s.to_tensor([-200.0])).numpy().tolist()
    [-200.0]
    """
    low = vm.select(x > T(0), T(0), x)
    return low - vm.log1p(vm.exp(-vm.abs_of(x)))


@log_sigmoid.rule("vjp")
def _(g, out, x):
    return g * sigmoid(neg(x))


def tanhshrink(x: Any) -> Any:
    """x - tanh(x).

    >>> tanhshrink(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return x - tanh(x)


swish = silu
