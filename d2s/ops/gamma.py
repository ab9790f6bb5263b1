"""The logarithm of the gamma function, its slope, and the inverse of the error function.

>>> from d2s.types import Type, float32
>>> lgamma.infer([Type(float32, ("n", 4))], {})
(f32[n,4],)
"""

import math
from typing import Any

from d2s.errors import ArgumentError
from d2s.ops import vector_math as vm
from d2s.ops.activation import float_of
from d2s.ops.exponential import exp
from d2s.ops.op import elementwise, op
from d2s.ops.shapes import whole_number

HALF_ROOT_PI = 0.886226925452758
MOST = 30  # times a slope is taken: the factorial of the next ones leaves float32


@elementwise(paddle="digamma", onnx=None, dtypes="f")
def digamma(x):
    """The slope of `lgamma`; nan where that has none, at 0, -1 and so on.

    >>> d2s.digamma(d2s.to_tensor([1.0])).numpy().tolist()
    [-0.5772156715393066]
    """
    return vm.digamma(x)


@digamma.rule("vjp")
def _(g, out, x):
    return lambda: g * slopes(x, 1)


@op(paddle=None)
def slopes(x, n: int):
    """The n-th derivative of `digamma`, from the first on.

    >>> d2s.ops.gamma.slopes(d2s.to_tensor([1.0]), 1).numpy().tolist()
    [1.644934058189392]
    """


@slopes.rule("infer")
def _(x, n):
    return float_of("polygamma", x)


@slopes.rule("scalar")
def _(x, n):
    factor = (-1.0) ** (n + 1) * math.factorial(n)
    return f"vm.zeta(x, T({n + 1}.0), T({factor!r}))", [x.shape]


@slopes.rule("vjp")
def _(g, out, x, n):
    return lambda: g * polygamma(x, n + 1)


def polygamma(x: Any, n: int) -> Any:
    """The n-th derivative of `digamma`, which is the one for 0.

    >>> d2s.polygamma(d2s.to_tensor([1.0]), 1).numpy().tolist()
    [1.644934058189392]
    """
    order = whole_number(n, "polygamma", "n")
    if not 0 <= order <= MOST:
        raise ArgumentError("D2S0004", f"polygamma(): 'n' is {order}, expected 0 to {MOST}")
    return slopes(x, order) if order else digamma(x)


@elementwise(paddle="lgamma", onnx=None, dtypes="f")
def lgamma(x):
    """The logarithm of the absolute value of the gamma function; infinite at 0, -1 and so on.

    >>> d2s.lgamma(d2s.to_tensor([1.0, 5.0, 0.0])).numpy().tolist()
    [0.0, 3.178053855895996, inf]
    """
    return vm.lgamma(x)


@lgamma.rule("vjp")
def _(g, out, x):
    return lambda: g * digamma(x)


@elementwise(paddle="erfinv", onnx=None, dtypes="f")
def erfinv(x):
    """The number whose error function this is; nan outside -1 and 1.

    >>> d2s.erfinv(d2s.to_tensor([0.0, 0.5, 1.0])).numpy().tolist()
    [0.0, 0.4769362807273865, inf]
    """
    return vm.erfinv(x)


@erfinv.rule("vjp")
def _(g, out, x):
    return lambda: g * exp(out * out) * HALF_ROOT_PI
