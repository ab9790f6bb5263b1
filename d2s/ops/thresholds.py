"""Activations with a part where nothing passes, and `celu`, whose part below 0 is a curve of a given width.

In: floats. Out: floats of the same dtype. Thresholds are attributes and stand in the text.

>>> from d2s.types import Type, float32
>>> softshrink.infer([Type(float32, ("n", 4))], {"threshold": 0.5})
(f32[n,4],)
"""

from d2s.arguments import number
from d2s.errors import ArgumentError
from d2s.ops.activation import float_of, text_of, with_numbers
from d2s.ops.compare import greater_than, less_equal, less_than, where
from d2s.ops.exponential import exp
from d2s.ops.logic import logical_or
from d2s.ops.op import Op, op


def _with_threshold(declared: Op) -> Op:
    """An op whose one attribute is a threshold, not below 0."""

    @declared.rule("canonical")
    def _(x, threshold):
        found = number(declared.name, "threshold", threshold)
        if not found >= 0:
            raise ArgumentError("D2S0004", f"{declared.name}(): 'threshold' is {found}, expected 0 or more")
        return {"threshold": found}

    @declared.rule("infer")
    def _(x, threshold):
        return float_of(declared.name, x)

    @declared.rule("vjp")
    def _(g, out, x, threshold):
        return where(logical_or(greater_than(x, threshold), less_than(x, -threshold)), g, 0.0)

    return declared


@_with_threshold
@op(paddle="softshrink", onnx="Shrink")
def softshrink(x, threshold: float = 0.5):
    """The value, brought nearer to 0 by the threshold; 0 where it is nearer than that.

    >>> d2s.nn.functional.softshrink(d2s.to_tensor([-2.0, 0.3, 2.0])).numpy().tolist()
    [-1.5, 0.0, 1.5]
    """


@softshrink.rule("scalar")
def _(x, threshold):
    t = text_of(threshold)
    return f"x - {t} if x > {t} else (x + {t} if x < -{t} else (x if x != x else T(0)))", [x.shape]


@_with_threshold
@op(paddle="hard_shrink", onnx="Shrink")
def hardshrink(x, threshold: float = 0.5):
    """The value; 0 where it is as near to 0 as the threshold.

    >>> d2s.nn.functional.hardshrink(d2s.to_tensor([-2.0, 0.3, 2.0])).numpy().tolist()
    [-2.0, 0.0, 2.0]
    """


@hardshrink.rule("scalar")
def _(x, threshold):
    t = text_of(threshold)
    return f"T(0) if (x >= -{t}) & (x <= {t}) else x", [x.shape]


@with_numbers
@op(paddle="thresholded_relu", onnx="Where(Greater(x, threshold), x, value)")
def thresholded_relu(x, threshold: float = 1.0, value: float = 0.0):
    """The value where it is above the threshold, else another.

    >>> d2s.nn.functional.thresholded_relu(d2s.to_tensor([-2.0, 1.0, 2.0])).numpy().tolist()
    [0.0, 0.0, 2.0]
    """


@thresholded_relu.rule("infer")
def _(x, threshold, value):
    return float_of("thresholded_relu", x)


@thresholded_relu.rule("scalar")
def _(x, threshold, value):
    return f"{text_of(value)} if x <= {text_of(threshold)} else x", [x.shape]


@thresholded_relu.rule("vjp")
def _(g, out, x, threshold, value):
    return where(less_equal(x, threshold), 0.0, g)


@op(paddle="celu", onnx="Celu")
def celu(x, alpha: float = 1.0):
    """The value where it is above zero, else alpha (exp(x / alpha) - 1).

    >>> d2s.nn.functional.celu(d2s.to_tensor([-200.0, 2.0]), 0.5).numpy().tolist()
    [-0.5, 2.0]
    """


@celu.rule("canonical")
def _(x, alpha):
    found = number("celu", "alpha", alpha)
    if found == 0:
        raise ArgumentError("D2S0004", "celu(): 'alpha' is 0, expected another number")
    return {"alpha": found}


@celu.rule("infer")
def _(x, alpha):
    return float_of("celu", x)


@celu.rule("scalar")
def _(x, alpha):
    a = text_of(alpha)
    return f"vm.select(x > T(0), x, {a} * vm.expm1(x / {a}))", [x.shape]


@celu.rule("vjp")
def _(g, out, x, alpha):
    return where(greater_than(x, 0.0), g, g * exp(x / alpha))
