"""The larger, the smaller, and values kept between bounds. In a body, `T` is the dtype computed in.

>>> from d2s.types import Type, float32
>>> maximum.infer([Type(float32, ("n", 4)), Type(float32, (4,))], {})
(f32[n,4],)
"""

import math
from typing import Any

from d2s.errors import ArgumentError, DTypeError, brief
from d2s.ops.op import OPS, elementwise, op
from d2s.types import NUMBERS, array_of

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="elementwise_max", onnx="Max", dtypes="if")
def maximum(x, y):
    """The larger of two values; nan where either is nan.

    >>> d2s.maximum(d2s.to_tensor([1.0, 5.0]), 2.0).numpy().tolist()
    [2.0, 5.0]
    """
    return x if x >= y or x != x else y


@maximum.rule("vjp")
def _(g, out, x, y):
    return lambda: _where(_greater(x, y), g), lambda: _where(OPS["less_equal"](x, y), g)


@elementwise(paddle="elementwise_min", onnx="Min", dtypes="if")
def minimum(x, y):
    """The smaller of two values; nan where either is nan.

    >>> d2s.minimum(d2s.to_tensor([1.0, 5.0]), 2.0).numpy().tolist()
    [1.0, 2.0]
    """
    return x if x <= y or x != x else y


@minimum.rule("vjp")
def _(g, out, x, y):
    return lambda: _where(OPS["less_than"](x, y), g), lambda: _where(OPS["greater_equal"](x, y), g)


@elementwise(paddle="elementwise_fmax", onnx="i: Max; f: Where(IsNaN(x), y, Where(IsNaN(y), x, Max(x, y)))", dtypes="if")
def fmax(x, y):
    """The larger of two values; of a number and nan, the number.

    >>> d2s.fmax(d2s.to_tensor([1.0, float("nan")]), 2.0).numpy().tolist()
    [2.0, 2.0]
    """
    return x if x >= y or y != y else y


@fmax.rule("vjp")
def _(g, out, x, y):
    return lambda: _where(_first(OPS["greater_equal"](x, y), y), g), lambda: _where(_second(OPS["greater_equal"](x, y), y), g)


@elementwise(paddle="elementwise_fmin", onnx="i: Min; f: Where(IsNaN(x), y, Where(IsNaN(y), x, Min(x, y)))", dtypes="if")
def fmin(x, y):
    """The smaller of two values; of a number and nan, the number.

    >>> d2s.fmin(d2s.to_tensor([1.0, float("nan")]), 2.0).numpy().tolist()
    [1.0, 2.0]
    """
    return x if x <= y or y != y else y


@fmin.rule("vjp")
def _(g, out, x, y):
    return lambda: _where(_first(OPS["less_equal"](x, y), y), g), lambda: _where(_second(OPS["less_equal"](x, y), y), g)


def _where(condition, g):
    return OPS["where"](condition, g, 0.0)


def _greater(x, y):
    return OPS["greater_than"](x, y)


def _first(wins, y):
    return OPS["logical_or"](wins, OPS["isnan"](y))


def _second(wins, y):
    return OPS["logical_not"](_first(wins, y))


@op(paddle="clip", onnx="Clip")
def clip(x, min: Any = None, max: Any = None):
    """The value, or the bound it is beyond; nan stays nan. Where min is above max, the result is max.

    >>> d2s.clip(d2s.to_tensor([-1.0, 0.5, 3.0]), 0.0, 1.0).numpy().tolist()
    [0.0, 0.5, 1.0]
    """


@clip.rule("canonical")
def _(x, min, max):
    return {"min": _bound(min, "min", x), "max": _bound(max, "max", x)}


def _bound(value, name, x):
    """A bound as the dtype holds it, in its shortest spelling; one beyond the range of integers is the last of them."""
    if value is None:
        return None
    if not isinstance(value, NUMBERS) or value != value:
        raise ArgumentError("D2S0004", f"clip(): '{name}' is {brief(value)}, expected a number or None")
    if x.dtype.kind == "f":
        return float(str(array_of(_float(value), x.dtype)))
    low, high = (0, 255) if x.dtype.name == "uint8" else (-(1 << 8 * x.dtype.size - 1), (1 << 8 * x.dtype.size - 1) - 1)
    return high if value >= high else low if value <= low else int(value)


def _float(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


@clip.rule("infer")
def _(x, min, max):
    if x.dtype.kind not in "if" or x.python:
        raise DTypeError("D2S0003", f"clip() does not take {x if x.python else x.dtype.name}")
    return x


@clip.rule("scalar")
def _(x, min, max):
    text = "x"
    for bound, beyond in ((min, "<"), (max, ">")):
        if bound is not None:
            limit = f"T({bound!r})".replace("inf", "math.inf")
            text = f"({limit} if {text} {beyond} {limit} else {text})"
    return text, [x.shape]


@clip.rule("vjp")
def _(g, out, x, min, max):
    def inside():
        kept = g
        kept = kept if min is None else _where(_greater(x, min), kept)
        return kept if max is None else _where(OPS["less_than"](x, max), kept)

    return inside
