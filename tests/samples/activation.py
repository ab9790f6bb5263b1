"""Activations: what each is tried on, and what NumPy says in 80 bits, rounded once."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.samples.sample import ONE, Sample


def rounded(reference: Callable[..., Any]) -> Callable[..., np.ndarray]:
    return lambda x, **attrs: np.asarray(reference(x.astype(np.longdouble), **attrs)).astype(x.dtype)


def erf(x: np.ndarray) -> np.ndarray:
    return np.array([math.erf(v) for v in x.flat], np.longdouble).reshape(x.shape)


def gelu(x: np.ndarray, approximate: Any = False) -> Any:
    inner = np.tanh(np.sqrt(2 / np.longdouble(np.pi)) * (x + 0.044715 * x**3)) if approximate else erf(x / np.sqrt(2))
    return np.where(x == -np.inf, np.nan if approximate else 0, x * 0.5 * (1 + inner))


def elu(x: np.ndarray, alpha: float = 1.0) -> Any:
    return np.where(x > 0, x, alpha * np.expm1(x))


def softplus(x: np.ndarray, beta: float = 1, threshold: float = 20) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def limited(x: np.ndarray, low: float, high: float) -> Any:
    return np.where(x < low, low, np.where(x > high, high, x))


SCALE, ALPHA = 1.0507009873554805, 1.6732632423543772
SAMPLES = {
    "gelu": Sample(rounded(gelu), ONE, "f", [{}, {"approximate": True}], ulps=4),
    "silu": Sample(rounded(lambda x: x / (1 + np.exp(-x))), ONE, "f", ulps=4),
    "softplus": Sample(rounded(softplus), ONE, "f", [{}, {"beta": 2.0, "threshold": 3.0}], ulps=4),
    "leaky_relu": Sample(
        lambda x, negative_slope=0.01: np.where(x > 0, x, x.dtype.type(negative_slope) * x),
        ONE,
        "f",
        [{}, {"negative_slope": -0.5}],
    ),
    "elu": Sample(rounded(elu), ONE, "f", [{}, {"alpha": 0.25}], ulps=4),
    "selu": Sample(
        rounded(lambda x, scale=SCALE, alpha=ALPHA: scale * elu(x, alpha)), ONE, "f", [{}, {"scale": 2.0, "alpha": 0.5}], ulps=4
    ),
    "relu6": Sample(rounded(lambda x: limited(x, 0, 6) + 0.0), ONE, "f"),
    "hardswish": Sample(rounded(lambda x: x * limited(x + 3, 0, 6) / 6), ONE, "f", ulps=4),
    "hardsigmoid": Sample(
        rounded(lambda x, slope=0.1666667, offset=0.5: limited(slope * x + offset, 0, 1)),
        ONE,
        "f",
        [{}, {"slope": 0.5, "offset": 0}],
        ulps=4,
    ),
    "hardtanh": Sample(rounded(lambda x, min=-1, max=1: limited(x, min, max)), ONE, "f", [{}, {"min": -0.5, "max": 2}]),
    "mish": Sample(rounded(lambda x: x * np.tanh(np.log1p(np.exp(x)))), ONE, "f", ulps=4),
    "softsign": Sample(rounded(lambda x: x / (1 + np.abs(x))), ONE, "f", ulps=4),
    "log_sigmoid": Sample(rounded(lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))), ONE, "f", ulps=4),
}
