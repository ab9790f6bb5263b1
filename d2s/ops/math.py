"""Elementwise arithmetic. In a body, `T` is the dtype computed in; the emitter writes the loops around it.

>>> from d2s.types import Type, float32
>>> subtract.infer([Type(float32, ("n", 4)), Type(float32, (4,))], {})
(f32[n,4],)
"""

import math
from typing import Any

from d2s.ops.op import OPS, elementwise

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="elementwise_add", overflow="((x ^ v) & (y ^ v)) < 0")
def add(x, y):
    """The sum, element by element, with broadcasting.

    >>> d2s.add(d2s.to_tensor([1.0, 2.0]), 1.0).numpy().tolist()
    [2.0, 3.0]
    """
    return T(x + y)


@add.rule("vjp")
def _(g, out, x, y):
    return g, g


@elementwise(paddle="elementwise_sub", overflow="((x ^ y) & (x ^ v)) < 0", dtypes="if")
def subtract(x, y):
    """The difference, element by element, with broadcasting.

    >>> d2s.subtract(d2s.to_tensor([1, 2]), 1).numpy().tolist()
    [0, 1]
    """
    return T(x - y)


@subtract.rule("vjp")
def _(g, out, x, y):
    return g, lambda: neg(g)


@elementwise(paddle="elementwise_mul", overflow="(v == y and y != 0) if x == -1 else (x != 0 and v // x != y)")
def multiply(x, y):
    """The product, element by element, with broadcasting.

    >>> d2s.multiply(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor(3.0)).numpy().tolist()
    [3.0, 6.0]
    """
    return T(x * y)


@multiply.rule("vjp")
def _(g, out, x, y):
    return lambda: g * y, lambda: g * x


@elementwise(paddle="scale", overflow="v == x and x != 0", dtypes="if")
def neg(x):
    """The value with the other sign.

    >>> d2s.neg(d2s.to_tensor([1.0, -2.0])).numpy().tolist()
    [-1.0, 2.0]
    """
    return T(-x)


@neg.rule("vjp")
def _(g, out, x):
    return neg(g)


@elementwise(paddle="relu", dtypes="if")
def relu(x):
    """The value where it is above zero, else zero; nan stays nan.

    >>> d2s.relu(d2s.to_tensor([-1.0, 2.0])).numpy().tolist()
    [0.0, 2.0]
    """
    return T(0) if x <= T(0) else x


@relu.rule("vjp")
def _(g, out, x):
    return OPS["where"](OPS["greater_than"](out, 0.0), g, 0.0)


@elementwise(paddle="tanh", dtypes="f")
def tanh(x):
    """The hyperbolic tangent.

    >>> d2s.tanh(d2s.to_tensor([0.0])).numpy().tolist()
    [0.0]
    """
    return math.tanh(x)


@tanh.rule("vjp")
def _(g, out, x):
    return g * (1.0 - out * out)
