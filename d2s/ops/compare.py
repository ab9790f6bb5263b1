"""Comparisons, choice between values, and casts.

>>> from d2s.types import float32
>>> less_than.infer([Type(float32, (4,)), Type(float32)], {})
(b1[4],)
"""

from typing import Any

from d2s.errors import DTypeError, brief
from d2s.ops.op import elementwise, op
from d2s.types import DType, Type, bool_, dtype

T: Any = None  # the emitter's, bound to the dtype of each kernel


@elementwise(paddle="equal", onnx="Equal", out_dtype=bool_)
def equal(x, y):
    """Whether x equals y, element by element.

    >>> d2s.equal(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [False, True]
    """
    return x == y


@elementwise(paddle="not_equal", onnx="Not(Equal(x, y))", out_dtype=bool_)
def not_equal(x, y):
    """Whether x differs from y, element by element.

    >>> d2s.not_equal(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [True, False]
    """
    return x != y


@elementwise(paddle="less_than", onnx="Less", out_dtype=bool_)
def less_than(x, y):
    """Whether x is below y, element by element.

    >>> d2s.less_than(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [True, False]
    """
    return x < y


@elementwise(paddle="less_equal", onnx="LessOrEqual", out_dtype=bool_)
def less_equal(x, y):
    """Whether x is at most y, element by element.

    >>> d2s.less_equal(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [True, True]
    """
    return x <= y


@elementwise(paddle="greater_than", onnx="Greater", out_dtype=bool_)
def greater_than(x, y):
    """Whether x is above y, element by element.

    >>> d2s.greater_than(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [False, False]
    """
    return x > y


@elementwise(paddle="greater_equal", onnx="GreaterOrEqual", out_dtype=bool_)
def greater_equal(x, y):
    """Whether x is at least y, element by element.

    >>> d2s.greater_equal(d2s.to_tensor([1.0, 2.0]), 2.0).numpy().tolist()
    [False, True]
    """
    return x >= y


@elementwise(paddle="where", onnx="Where", kept=1)
def where(condition, x, y):
    """x where the condition holds, else y.

    >>> d2s.where(d2s.to_tensor([True, False]), 1.0, d2s.to_tensor([5.0, 6.0])).numpy().tolist()
    [1.0, 6.0]
    """
    return x if condition else y


@where.rule("vjp")
def _(g, out, condition, x, y):
    return None, lambda: where(condition, g, 0.0), lambda: where(condition, 0.0, g)


@op(paddle="cast", onnx="Cast")
def cast(x, dtype: Any, python: bool = False):
    """The same values in another dtype. Floats outside an integer's range become its nearest value, nan becomes 0.

    >>> d2s.cast(d2s.to_tensor([1.7, -300.0]), "int8").numpy().tolist()
    [1, -128]
    """


@cast.rule("canonical")
def _(x, dtype, python):
    if dtype is None or not isinstance(python, bool):
        raise DTypeError("D2S0003", f"cast(): 'dtype' is {brief(dtype)}, 'python' is {brief(python)}")
    return {"dtype": _dtype(dtype), "python": python}


_dtype = dtype


@cast.rule("infer")
def _(x, dtype, python):
    return Type(dtype, x.shape, python)


@cast.rule("scalar")
def _(x, dtype, python):
    return _cast_text(x.dtype, dtype), [x.shape]


def _cast_text(have: DType, to: DType) -> str:
    if to.kind == "b":
        return "x != 0"
    if not (have.kind == "f" and to.kind == "i"):
        return "T(x)"
    low, high = (0, 255) if to.name == "uint8" else (-(1 << 8 * to.size - 1), (1 << 8 * to.size - 1) - 1)
    return f"T({high}) if x >= {high + 1}.0 else (T(x) if x > {low - 1}.0 else (T({low}) if x < 0 else T(0)))"


@cast.rule("vjp")
def _(g, out, x, dtype, python):
    return lambda: cast(g, x.dtype)
