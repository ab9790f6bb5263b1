"""What is made of arithmetic: mixtures, scalings, comparisons up to a difference. In: tensors and numbers. Out: tensors.

>>> near = isclose(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0, 2.1]))
>>> near.tolist(), lerp(d2s.to_tensor([0.0]), d2s.to_tensor([10.0]), 0.25).tolist()
([True, False], [2.5])
"""

import functools
import math
from typing import Any

import numpy as np

from d2s.arguments import number, one_of
from d2s.errors import ArgumentError, brief
from d2s.ops.compare import cast, equal, less_equal, where
from d2s.ops.create import full
from d2s.ops.dispatch import current, either
from d2s.ops.exponential import log, sigmoid
from d2s.ops.extremes import clip
from d2s.ops.found import finds_extents, length
from d2s.ops.logic import logical_and, logical_or
from d2s.ops.math import abs, add, multiply, relu, subtract, tanh
from d2s.ops.open_shapes import laid_as
from d2s.ops.rounding import isfinite, isnan, trunc
from d2s.ops.shapes import tensor_type
from d2s.ops.softmax import softmax
from d2s.ops.statistics import all
from d2s.types import bool_

_ACTIVATIONS: dict[str, Any] = {"relu": relu, "tanh": tanh, "sigmoid": sigmoid, "softmax": softmax}


def frac(x: Any) -> Any:
    """What is behind the point, with the sign of x.

    >>> d2s.frac(d2s.to_tensor([1.25, -1.25])).tolist()
    [0.25, -0.25]
    """
    return subtract(x, trunc(x))


def lerp(x: Any, y: Any, weight: Any) -> Any:
    """x + weight (y - x).

    >>> d2s.lerp(d2s.to_tensor([1.0]), d2s.to_tensor([3.0]), 0.5).tolist()
    [2.0]
    """
    return add(x, multiply(weight, subtract(y, x)))


def scale(x: Any, scale: Any = 1.0, bias: Any = 0.0, bias_after_scale: bool = True, act: str | None = None) -> Any:
    """scale x + bias, or scale (x + bias); then an activation, if one is named.

    >>> d2s.scale(d2s.to_tensor([1.0, 2.0]), 2.0, 1.0).tolist()
    [3.0, 5.0]
    """
    if act is not None:
        one_of("scale", "act", act, _ACTIVATIONS)
    whole = tensor_type(x, "scale", "x").dtype.kind == "i"
    given = {"scale": scale, "bias": bias}
    by, more = (_whole(name, n) if whole and _is_float(n) else n for name, n in given.items())
    found = add(multiply(x, by), more) if bias_after_scale else multiply(add(x, more), by)
    return found if act is None else _ACTIVATIONS[act](found)


def _is_float(number: Any) -> bool:
    held = current().type_of(number)
    return isinstance(number, float) if held is None else held.python and held.dtype.kind == "f"


def _whole(name: str, number: Any) -> int:
    if not isinstance(number, float) or not math.isfinite(number):
        raise ArgumentError("D2S0004", f"scale(): '{name}' is {brief(number)}, expected a finite number for integers")
    return int(number)


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159) -> Any:
    """scale_b tanh(scale_a x).

    >>> d2s.stanh(d2s.to_tensor([0.0])).tolist()
    [0.0]
    """
    return multiply(tanh(multiply(x, scale_a)), scale_b)


def logit(x: Any, eps: float | None = None) -> Any:
    """log(x / (1 - x)), of x brought into [eps, 1 - eps] where eps is given; else nan outside 0 and 1.

    >>> d2s.logit(d2s.to_tensor([0.5, 1.0])).tolist()
    [0.0, inf]
    """
    least = 0.0 if eps is None else number("logit", "eps", eps)
    inside = x if eps is None else clip(x, least, 1.0 - least)
    return subtract(log(inside), log(subtract(1.0, inside)))


def nan_to_num(x: Any, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Any:
    """Numbers in place of nan and the infinities; of these, the largest and lowest floats where none are given.

    >>> d2s.nan_to_num(d2s.to_tensor([float("nan"), float("inf"), 1.0]), posinf=9.0).tolist()
    [0.0, 9.0, 1.0]
    """
    have = tensor_type(x, "nan_to_num", "x").dtype
    if have.kind != "f":
        return cast(x, have)
    largest = float(np.finfo(have.numpy).max)
    x = where(isnan(x), nan, x)
    x = where(equal(x, float("inf")), largest if posinf is None else posinf, x)
    return where(equal(x, float("-inf")), -largest if neginf is None else neginf, x)


def isclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether |x - y| <= atol + rtol |y|, element by element; equal infinities are close, nans if `equal_nan` says so.

    >>> d2s.isclose(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0, 2.1])).tolist()
    [True, False]
    """
    close = less_equal(abs(subtract(x, y)), add(multiply(abs(y), rtol), atol))
    if tensor_type(x, "isclose", "x").dtype.kind == "f":
        close = logical_and(close, isfinite(y))
    close = logical_or(close, equal(x, y))
    return logical_or(close, logical_and(isnan(x), isnan(y))) if equal_nan else close


def allclose(x: Any, y: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether all elements are close: see `isclose`.

    >>> d2s.allclose(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([1.0, 2.1])).item()
    False
    """
    return all(isclose(x, y, rtol, atol, equal_nan))


def equal_all(x: Any, y: Any) -> Any:
    """Whether the tensors have one shape and equal elements.

    >>> d2s.equal_all(d2s.to_tensor([1, 2]), d2s.to_tensor([1, 2])).item()
    True
    """
    shapes = [tensor_type(v, "equal_all", name).shape for v, name in ((x, "x"), (y, "y"))]
    if shapes[0] == shapes[1]:
        return all(equal(x, y))
    unlike = [k for k, (a, b) in enumerate(zip(*shapes, strict=False)) if a != b]
    told = any(isinstance(shapes[0][k], int) and isinstance(shapes[1][k], int) for k in unlike)
    if len(shapes[0]) != len(shapes[1]) or told or not finds_extents():
        return full([], False, bool_)
    fits = functools.reduce(logical_and, [equal(length(x, k), length(y, k)) for k in unlike])
    return either(fits, lambda: all(equal(laid_as(x, y), y)), lambda: full([], False, bool_))
