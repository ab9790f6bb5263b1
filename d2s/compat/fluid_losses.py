"""Losses of `fluid.layers`, sample by sample, but where their names say `mean`; and measures.

In: the arguments of then, with the names and defaults of then. Out: what d2s's functions give for them.

>>> smooth_l1(d2s.to_tensor([[0.5, 3.0]]), d2s.zeros([1, 2])).tolist()
[[2.625]]
"""

from typing import Any

from d2s import metric
from d2s.compat.fluid_creation import put
from d2s.nn import functional
from d2s.ops import along_axis, compare, exponential, extremes, math, rearrange, reduce, rounding, shape


def accuracy(input: Any, label: Any, k: int = 1, correct: Any = None, total: Any = None) -> Any:
    """The share of rows whose label is among the k greatest; how many they are, and how many rows, where that is asked for."""
    found = metric.accuracy(input, label, k)
    rows = shape.reshape(rearrange.shape(input)[:1], [1])
    if correct is not None:
        put(compare.cast(rounding.round(shape.reshape(found, [1]) * compare.cast(rows, "float32")), correct.dtype), correct)
    if total is not None:
        put(compare.cast(rows, total.dtype), total)
    return found


def mean_iou(input: Any, label: Any, num_classes: int) -> tuple[Any, Any, Any]:
    """The mean over classes of what was found and is right by what was found or is right; what was wrong; what was right."""

    def counted(marks: Any) -> Any:
        return compare.cast(reduce.sum(marks, 0), "int32")

    found, wanted = (functional.one_hot(compare.cast(shape.reshape(x, [-1]), "int64"), num_classes) for x in (input, label))
    right = counted(found * wanted)
    wrong = counted(found + wanted) - right * 2
    of_all = compare.cast(right + wrong, "float32")
    there = compare.cast(of_all > 0.0, "float32")
    mean = reduce.sum(compare.cast(right, "float32") / extremes.maximum(of_all, there * 0.0 + 1.0)) / reduce.sum(there)
    return shape.reshape(mean, [1]), wrong, right


def mse_loss(input: Any, label: Any) -> Any:
    """The mean of squared differences."""
    return reduce.mean(functional.square_error_cost(input, label))


def huber_loss(input: Any, label: Any, delta: float) -> Any:
    """Half a square up to `delta`, a line behind it."""
    away = math.abs(label - input)
    return compare.where(away <= delta, away * away * 0.5, (away - 0.5 * delta) * delta)


def smooth_l1(x: Any, y: Any, inside_weight: Any = None, outside_weight: Any = None, sigma: float | None = None) -> Any:
    """Half a square near 0, a line elsewhere; summed over each sample."""
    squared = (sigma or 1.0) ** 2
    away = math.abs((x - y) if inside_weight is None else (x - y) * inside_weight)
    found = compare.where(away < 1.0 / squared, away * away * (0.5 * squared), away - 0.5 / squared)
    found = found if outside_weight is None else found * outside_weight
    return reduce.sum(shape.flatten(found, 1, -1), 1, keepdim=True)


def kldiv_loss(x: Any, target: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """How far a distribution is from another, whose logarithm `x` is."""
    return functional.kl_div(x, target, reduction)


def rank_loss(label: Any, left: Any, right: Any, name: str | None = None) -> Any:
    """The cost of the order of two scores."""
    return functional.softplus(left - right) - label * (left - right)


def margin_rank_loss(label: Any, left: Any, right: Any, margin: float = 0.1, name: str | None = None) -> Any:
    """What two scores in the wrong order are apart, and a margin."""
    return extremes.maximum(-label * (left - right) + margin, left * 0.0)


def bpr_loss(input: Any, label: Any, name: str | None = None) -> Any:
    """The score of the right class against each of the others."""
    classes = input.shape[-1]
    right = along_axis.take_along_axis(input, label, -1)
    others = reduce.sum(functional.softplus(input - right), -1, keepdim=True) - functional.softplus(right - right)
    return others / (classes - 1)


def sigmoid_cross_entropy_with_logits(
    x: Any, label: Any, ignore_index: int = -100, name: str | None = None, normalize: bool = False
) -> Any:
    """Cross entropy of each element; 0 for those that are ignored."""
    counted = compare.cast(label != ignore_index, x.dtype)
    found = functional.binary_cross_entropy_with_logits(x, label, reduction="none") * counted
    return found / extremes.maximum(reduce.sum(counted), reduce.sum(counted) * 0.0 + 1.0) if normalize else found


def cos_sim(X: Any, Y: Any) -> Any:
    """The cosine between the rows of two matrices."""
    lengths = exponential.sqrt(reduce.sum(X * X, -1, keepdim=True)) * exponential.sqrt(reduce.sum(Y * Y, -1, keepdim=True))
    return reduce.sum(X * Y, -1, keepdim=True) / lengths


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, dtype: Any = "float32", name: Any = None) -> Any:
    """Labels, a little spread."""
    return functional.label_smooth(label, prior_dist, epsilon)
