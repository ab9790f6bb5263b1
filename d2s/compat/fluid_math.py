"""Functions of `fluid.layers` on elements: arithmetic, activations, comparisons, reductions, random numbers.

In: the arguments of then, with the names and defaults of then. Out: what d2s's functions give for them.

>>> leaky_relu(d2s.to_tensor([-1.0])).tolist(), has_nan(d2s.to_tensor([1.0, float("nan")])).tolist()
([-0.019999999552965164], True)
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.compat import old_operators
from d2s.compat.old_names import elementwise_of, reduction_of
from d2s.nn import functional
from d2s.ops import compare, extremes, math, near, random, rearrange, reduce, rounding, statistics


def _of_integers(of_integers: Any, of_floats: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: (of_floats if x.dtype.kind == "f" else of_integers)(x, y)


elementwise_max, elementwise_min = map(elementwise_of, (extremes.maximum, extremes.minimum))
elementwise_pow, elementwise_mod, elementwise_floordiv = map(
    elementwise_of, (math.pow, _of_integers(old_operators.rest, math.remainder), _of_integers(math.divide, math.floor_divide))
)
reduce_all, reduce_any = map(reduction_of, (statistics.all, statistics.any))


def sum_of(x: Any) -> Any:
    """The sum of tensors, element by element."""
    return rearrange.add_n(x)


def dot(x: Any, y: Any, name: str | None = None) -> Any:
    """The sum of the products of two vectors, or of each pair of rows of two matrices, as a column."""
    return reduce.sum(x * y, -1, keepdim=True)


def pow(x: Any, factor: Any = 1.0, name: str | None = None) -> Any:
    """A power."""
    return math.pow(x, factor)


# --- activations -------------------------------------------------------------------------------------------------------------


def leaky_relu(x: Any, alpha: float = 0.02, name: str | None = None) -> Any:
    """`x`, and a small part of what is negative."""
    return functional.leaky_relu(x, alpha)


def relu6(x: Any, threshold: float = 6.0, name: str | None = None) -> Any:
    """What lies between 0 and a threshold."""
    return extremes.clip(x, 0.0, threshold)


def brelu(x: Any, t_min: float = 0.0, t_max: float = 24.0, name: str | None = None) -> Any:
    """What lies between two bounds."""
    return extremes.clip(x, t_min, t_max)


def soft_relu(x: Any, threshold: float = 40.0, name: str | None = None) -> Any:
    """`log(1 + exp(x))` of what is clipped on both sides."""
    return functional.softplus(extremes.clip(x, -threshold, threshold))


def swish(x: Any, beta: float = 1.0, name: str | None = None) -> Any:
    """`x * sigmoid(beta * x)`."""
    return x * functional.sigmoid(x * beta)


def hard_sigmoid(x: Any, slope: float = 0.2, offset: float = 0.5, name: str | None = None) -> Any:
    """A straight line between 0 and 1."""
    return functional.hardsigmoid(x, slope, offset)


def hard_swish(x: Any, threshold: float = 6.0, scale: float = 6.0, offset: float = 3.0, name: str | None = None) -> Any:
    """`x * min(max(0, x + offset), threshold) / scale`."""
    return x * extremes.clip(x + offset, 0.0, threshold) / scale


def hard_shrink(x: Any, threshold: float | None = None) -> Any:
    """0 for what is small."""
    return functional.hardshrink(x, 0.5 if threshold is None else threshold)


def softshrink(x: Any, alpha: float | None = None) -> Any:
    """What is small becomes 0, the rest moves towards it."""
    return functional.softshrink(x, 0.5 if alpha is None else alpha)


def thresholded_relu(x: Any, threshold: float | None = None) -> Any:
    """0 for what is not above a threshold."""
    return functional.thresholded_relu(x, 1.0 if threshold is None else threshold)


def stanh(x: Any, scale_a: float = 0.67, scale_b: float = 1.7159, name: str | None = None) -> Any:
    """`scale_b * tanh(scale_a * x)`."""
    return near.stanh(x, scale_a, scale_b)


def l2_normalize(x: Any, axis: int, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Rows of length 1."""
    return x / (reduce.sum(x * x, axis, keepdim=True) + epsilon).sqrt()


def clip_by_norm(x: Any, max_norm: float, name: str | None = None) -> Any:
    """The tensor, no longer than a bound."""
    length = reduce.sum(x * x).sqrt()
    return x * (max_norm / extremes.maximum(length, max_norm + length * 0))


# --- what holds ---------------------------------------------------------------------------------------------------------------


def isfinite(x: Any) -> Any:
    """Whether all is finite."""
    return statistics.all(rounding.isfinite(x))


def has_nan(x: Any) -> Any:
    """Whether a nan is there."""
    return statistics.any(rounding.isnan(x))


def has_inf(x: Any) -> Any:
    """Whether an infinity is there."""
    return statistics.any(rounding.isinf(x))


# --- random numbers ----------------------------------------------------------------------------------------------------------


def uniform_random(
    shape: Sequence[int], dtype: Any = "float32", min: float = -1.0, max: float = 1.0, seed: int = 0, name: str | None = None
) -> Any:
    """Numbers spread evenly."""
    return random.uniform(shape, dtype, min, max, seed)


def gaussian_random(
    shape: Sequence[int], mean: float = 0.0, std: float = 1.0, seed: int = 0, dtype: Any = "float32", name: str | None = None
) -> Any:
    """Normal numbers."""
    return compare.cast(random.normal(mean, std, shape), dtype)
