"""Elementwise arithmetic. In a body, `T` is the dtype computed in; the emitter writes the loops around it.

Integers wrap around. Divided by 0 they give 0, as in NumPy: a kernel cannot raise. Where Python's operator on Python's own
numbers gives something else (`1 / 2`, `1 // 0`, `2 ** -1`), the op refuses Python numbers of run time.

>>> from d2s.types import Type, float32
>>> subtract.infer([Type(float32, ("n", 4)), Type(float32, (4,))], {})
(f32[n,4],)
"""

from typing import Any

from d2s.errors import DTypeError
from d2s.ops import vector_math as vm
from d2s.ops.op import OPS, Op, elementwise, op
from d2s.ops.shapes import broadcast
from d2s.types import Type

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="elementwise_add", onnx="Add", overflow="((x ^ v) & (y ^ v)) < 0")
def add(x, y):
    """The sum, element by element, with broadcasting.

    >>> d2s.add(d2s.to_tensor([1.0, 2.0]), 1.0).numpy().tolist()
    [2.0, 3.0]
    """
    return T(x + y)


@add.rule("vjp")
def _(g, out, x, y):
    return g, g


@op(paddle=None, onnx="Identity")
def detached(x):
    """The same values in memory of their own, and no gradient passes.

    >>> d2s.ops.math.detached(d2s.to_tensor([1.0, 2.0])).numpy().tolist()
    [1.0, 2.0]
    """


@detached.rule("infer")
def _(x):
    return x


@detached.rule("scalar")
def _(x):
    return "x", [x.shape]


@detached.rule("vjp")
def _(g, out, x):
    return None


@op(paddle=None, onnx="Identity")
def renewed(x, before):
    """The values of x in the place that another tensor has on the tape: what a tensor holds that got other values.

    >>> d2s.ops.math.renewed(d2s.to_tensor([1.0]), d2s.to_tensor([2.0])).numpy().tolist()
    [1.0]
    """


@renewed.rule("infer")
def _(x, before):
    return x


@renewed.rule("scalar")
def _(x, before):
    return "x", [x.shape]


@renewed.rule("vjp")
def _(g, out, x, before):
    return None, g


@elementwise(paddle="elementwise_sub", onnx="Sub", overflow="((x ^ y) & (x ^ v)) < 0", dtypes="if")
def subtract(x, y):
    """The difference, element by element, with broadcasting.

    >>> d2s.subtract(d2s.to_tensor([1, 2]), 1).numpy().tolist()
    [0, 1]
    """
    return T(x - y)


@subtract.rule("vjp")
def _(g, out, x, y):
    return g, lambda: neg(g)


@elementwise(paddle="elementwise_mul", onnx="Mul", overflow="(v == y and y != 0) if x == -1 else (x != 0 and v // x != y)")
def multiply(x, y):
    """The product, element by element, with broadcasting.

    >>> d2s.multiply(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor(3.0)).numpy().tolist()
    [3.0, 6.0]
    """
    return T(x * y)


@multiply.rule("vjp")
def _(g, out, x, y):
    return lambda: g * y, lambda: g * x


@elementwise(paddle="scale", onnx="Neg", overflow="v == x and x != 0", dtypes="if")
def neg(x):
    """The value with the other sign.

    >>> d2s.neg(d2s.to_tensor([1.0, -2.0])).numpy().tolist()
    [-1.0, 2.0]
    """
    return T(-x)


@neg.rule("vjp")
def _(g, out, x):
    return neg(g)


def of_tensors(op: Op, *operands: Type) -> Type:
    """The type rule of an op that Python numbers of run time may not be given to."""
    if all(t.python for t in operands) and (op.name != "divide" or operands[0].dtype.kind != "f"):
        message = f"{op.name}() of Python numbers known at run time only is not there yet"
        raise DTypeError("D2S1003", message, hint="make one of them a tensor")
    if operands[0].dtype.kind not in op.dtypes:
        raise DTypeError("D2S0003", f"{op.name}() does not take {operands[0].dtype.name}")
    if len({t.dtype for t in operands}) > 1:
        raise DTypeError("D2S0003", f"{op.name}() does not take {', '.join(map(str, operands))} together")
    return Type(operands[0].dtype, broadcast(op.name, [t.shape for t in operands])[0], all(t.python for t in operands))


def zeros(g):
    """What a step function passes on: 0 whatever g is."""
    return OPS["cast"](OPS["greater_than"](g, g), g.dtype)


@elementwise(paddle="elementwise_div", onnx="Div", dtypes="if")
def divide(x, y):
    """The quotient, element by element, with broadcasting; of integers it is cut off towards 0, x / 0 is 0.

    >>> d2s.divide(d2s.to_tensor([1.0, 3.0]), 2.0).numpy().tolist()
    [0.5, 1.5]
    """
    return T(vm.ratio(x, y))


@divide.rule("infer")
def _(x, y):
    return of_tensors(divide, x, y)


@divide.rule("vjp")
def _(g, out, x, y):
    return lambda: g / y, lambda: neg(g * (out / y))


@elementwise(
    paddle="elementwise_floordiv",
    onnx="i: Div(Sub(x, Mod(x, y)), y); f: Floor(Div(x, y))",
    dtypes="if",
    overflow="y == -1 and v == x and x != 0",
)
def floor_divide(x, y):
    """The largest integer not above the quotient; of integers, x // 0 is 0.

    >>> d2s.floor_divide(d2s.to_tensor([7, -7]), 2).numpy().tolist()
    [3, -4]
    """
    return T(vm.floored_ratio(x, y))


@floor_divide.rule("vjp")
def _(g, out, x, y):
    return lambda: zeros(g), lambda: zeros(g)


@elementwise(paddle="elementwise_mod", onnx="i: Mod; f: Sub(x, Mul(Floor(Div(x, y)), y))", dtypes="if")
def remainder(x, y):
    """What floor division leaves, exact, with the sign of y; of integers, x % 0 is 0.

    >>> d2s.remainder(d2s.to_tensor([7, -7]), 4).numpy().tolist()
    [3, 1]
    """
    return T(vm.rest(x, y))


@remainder.rule("vjp")
def _(g, out, x, y):
    return g, lambda: neg(g * floor_divide(x, y))


@elementwise(paddle="elementwise_pow", onnx="Pow", dtypes="if")
def pow(x, y):
    """x to the power of y; of integers it wraps around, and below 1 it is 0.

    >>> d2s.pow(d2s.to_tensor([2.0, 9.0]), d2s.to_tensor([3.0, 0.5])).numpy().tolist()
    [8.0, 3.0]
    """
    return T(vm.pow(x, y))


@pow.rule("infer")
def _(x, y):
    return of_tensors(pow, x, y)


@pow.rule("vjp")
def _(g, out, x, y):
    where, equal = OPS["where"], OPS["equal"]
    return (
        lambda: g * where(equal(y, 0.0), 0.0, y * pow(x, y - 1.0)),
        lambda: g * where(equal(x, 0.0), 0.0, out * OPS["log"](x)),
    )


@elementwise(paddle="square", onnx="Mul(x, x)", dtypes="if", overflow="x != 0 and v // x != x")
def square(x):
    """The product with itself.

    >>> d2s.square(d2s.to_tensor([3.0, -2.0])).numpy().tolist()
    [9.0, 4.0]
    """
    return T(x * x)


@square.rule("vjp")
def _(g, out, x):
    return g * (x * 2.0)


@elementwise(paddle="reciprocal", onnx="Reciprocal", dtypes="f")
def reciprocal(x):
    """One divided by the value.

    >>> d2s.reciprocal(d2s.to_tensor([2.0, -4.0])).numpy().tolist()
    [0.5, -0.25]
    """
    return vm.reciprocal(x)


@reciprocal.rule("vjp")
def _(g, out, x):
    return neg(g * (out * out))


@elementwise(paddle="abs", onnx="Abs", dtypes="if", overflow="v < 0")
def abs(x):
    """The value without its sign.

    >>> d2s.abs(d2s.to_tensor([-1.5, 2.0])).numpy().tolist()
    [1.5, 2.0]
    """
    return T(vm.magnitude(x))


@abs.rule("vjp")
def _(g, out, x):
    return g * sign(x)


@elementwise(paddle="sign", onnx="Sign", dtypes="if")
def sign(x):
    """-1, 0 or 1; nan stays nan.

    >>> d2s.sign(d2s.to_tensor([-1.5, 0.0, 2.0])).numpy().tolist()
    [-1.0, 0.0, 1.0]
    """
    return T(1) if x > 0 else (T(-1) if x < 0 else (T(0) if x == 0 else x))


@sign.rule("vjp")
def _(g, out, x):
    return lambda: zeros(g)


@elementwise(paddle="relu", onnx="Relu", dtypes="if")
def relu(x):
    """The value where it is above zero, else zero; nan stays nan.

    >>> d2s.relu(d2s.to_tensor([-1.0, 2.0])).numpy().tolist()
    [0.0, 2.0]
    """
    return T(0) if x <= T(0) else x


@relu.rule("vjp")
def _(g, out, x):
    return OPS["where"](OPS["greater_than"](out, 0.0), g, 0.0)


@elementwise(paddle="tanh", onnx="Tanh", dtypes="f")
def tanh(x):
    """The hyperbolic tangent.

    >>> d2s.tanh(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return vm.tanh(x)


@tanh.rule("vjp")
def _(g, out, x):
    return g * (1.0 - out * out)
