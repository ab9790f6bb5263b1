"""Losses: how far what a model says is from what it should say; a function for each, and a layer that holds its settings.

In: predictions and labels. Out: one number, or with reduction "none" one for each element, sample or pair.

>>> mse_loss(d2s.to_tensor([1.0, 3.0]), d2s.to_tensor([1.0, 1.0])).item()
2.0
"""

import math
from typing import Any

from d2s.arguments import number
from d2s.errors import ArgumentError, brief
from d2s.ops.activation import log_sigmoid
from d2s.ops.compare import equal, greater_than, less_equal, where
from d2s.ops.exponential import bounded_log, exp, log, sigmoid
from d2s.ops.label import class_entropy, class_weight, mean_of_seen, pick_class, place_class
from d2s.ops.math import abs, neg, pow, square
from d2s.ops.reduce import mean, ones, sum
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import operands, options, some_axes, tensors
from d2s.ops.softmax import log_softmax_, one_axis, softmax_


def reduced(name: str, loss: Any, reduction: str) -> Any:
    """The mean of a loss, its sum, or the loss itself."""
    if not isinstance(reduction, str) or reduction not in ("mean", "sum", "none"):
        raise ArgumentError("D2S0004", f"{name}(): 'reduction' is {brief(reduction)}, expected 'mean', 'sum' or 'none'")
    return mean(loss) if reduction == "mean" else sum(loss) if reduction == "sum" else loss


def _weighted(loss: Any, weight: Any) -> Any:
    return loss if weight is None else loss * weight


# --- of classes --------------------------------------------------------------------------------------------------------------


def cross_entropy(
    input: Any,
    label: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    soft_label: bool = False,
    axis: int = -1,
    use_softmax: bool = True,
    label_smoothing: float = 0.0,
    name: str | None = None,
) -> Any:
    """Minus the logarithm of the probability of the right class, by the softmax of scores along an axis.

    Labels are classes, or with `soft_label` probabilities of all of them. A class that is `ignore_index` counts as nothing; a
    `weight` per class makes some count more, and a mean is then one over weights. `label_smoothing` moves so much of a label
    to all classes alike. Without `use_softmax`, the input holds probabilities.

    >>> F = d2s.nn.functional
    >>> print(F.cross_entropy(d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([1])).numpy().round(4))
    0.6931
    """
    tensors("cross_entropy", input=input, label=label)
    axis = one_axis(axis, input.ndim, "cross_entropy")
    if not 0 <= number("cross_entropy", "label_smoothing", label_smoothing) <= 1:
        raise ArgumentError("D2S0004", f"cross_entropy(): 'label_smoothing' is {label_smoothing!r}, expected 0 to 1")
    if label_smoothing > 0 and not soft_label:
        label = _one_hot(input, label, axis)
    if label_smoothing > 0:
        label = _smoothed(label, axis, label_smoothing)
    if soft_label or label_smoothing > 0:
        return _of_soft_labels(input, label, weight, reduction, axis, use_softmax)
    losses = _of_classes(input, label, ignore_index, axis, use_softmax)
    if label.ndim == input.ndim:
        losses = unsqueeze(losses, axis)
    return _of_samples("cross_entropy", losses, label, weight, ignore_index, reduction)


def _of_samples(name: str, losses: Any, label: Any, weight: Any, ignore_index: int, reduction: str) -> Any:
    """The losses of samples as a mean over weights, a sum, or each on its own."""
    if weight is None:
        return mean_of_seen(losses, label, ignore_index) if reduction == "mean" else reduced(name, losses, reduction)
    weights = class_weight(weight, label, ignore_index)
    return _mean(losses * weights, weights) if reduction == "mean" else reduced(name, losses * weights, reduction)


def _of_classes(input: Any, label: Any, ignore_index: int, axis: int, use_softmax: bool) -> Any:
    if use_softmax:
        losses, _, _ = class_entropy(input, label, axis, ignore_index)
        return losses
    picked = pick_class(input, label, axis, ignore_index)
    label = squeeze(label, axis) if label.ndim == input.ndim else label
    return where(equal(label, ignore_index), 0.0, neg(bounded_log(picked)))


def _one_hot(input: Any, label: Any, axis: int) -> Any:
    """Rows of 0 with 1 at the label, in the shape of the scores."""
    flat = squeeze(label, axis) if label.ndim == input.ndim else label
    return place_class(ones(flat, input.dtype), label, input, axis, -(1 << 62))


def _smoothed(label: Any, axis: int, epsilon: float) -> Any:
    return label * (1 - epsilon) + epsilon / label.shape[axis]


def _mean(losses: Any, weights: Any) -> Any:
    """The mean over weights; 0 where these are all 0."""
    whole = sum(weights)
    return sum(losses) / where(equal(whole, 0.0), 1.0, whole)


def _of_soft_labels(input: Any, label: Any, weight: Any, reduction: str, axis: int, use_softmax: bool) -> Any:
    logs = log_softmax_(input, axis) if use_softmax else bounded_log(input)
    losses = neg(sum(label * logs, axis, None, True))
    if weight is None:
        return reduced("cross_entropy", losses, reduction)
    shape = [1] * input.ndim
    shape[axis] = -1
    weights = sum(label * weight.reshape(shape), axis, None, True)
    return _mean(losses * weights, weights) if reduction == "mean" else reduced("cross_entropy", losses * weights, reduction)


def softmax_with_cross_entropy(
    logits: Any,
    label: Any,
    soft_label: bool = False,
    ignore_index: int = -100,
    numeric_stable_mode: bool = True,
    return_softmax: bool = False,
    axis: int = -1,
) -> Any:
    """`cross_entropy` without a reduction, the axis of classes kept as 1; on demand with the softmax behind it.

    >>> F = d2s.nn.functional
    >>> print(F.softmax_with_cross_entropy(d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([[1]])).numpy().round(4))
    [[0.6931]]
    """
    tensors("softmax_with_cross_entropy", logits=logits, label=label)
    axis = one_axis(axis, logits.ndim, "softmax_with_cross_entropy")
    if soft_label:
        loss = _of_soft_labels(logits, label, None, "none", axis, True)
    else:
        loss = unsqueeze(_of_classes(logits, label, ignore_index, axis, True), axis)
    return (loss, softmax_(logits, axis)) if return_softmax else loss


def nll_loss(
    input: Any, label: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean", name: str | None = None
) -> Any:
    """Minus the logarithms of probabilities, given as such, of the right classes; classes stand along axis 1.

    >>> d2s.nn.functional.nll_loss(d2s.to_tensor([[-1.0, -2.0]]), d2s.to_tensor([1])).item()
    2.0
    """
    losses = neg(pick_class(input, label, 1, ignore_index))
    return _of_samples("nll_loss", losses, label, weight, ignore_index, reduction)


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> Any:
    """Labels as probabilities, the part epsilon of them moved to all classes alike, or as `prior_dist` says.

    >>> d2s.nn.functional.label_smooth(d2s.to_tensor([[0.0, 1.0]]), epsilon=0.5).numpy().tolist()
    [[0.25, 0.75]]
    """
    classes = len(some_axes("label_smooth", "label", label)) - 1
    epsilon = number("label_smooth", "epsilon", epsilon)
    options("label_smooth", prior_dist=prior_dist)
    if prior_dist is not None:
        return label * (1 - epsilon) + prior_dist * epsilon
    return _smoothed(label, classes, epsilon)


def dice_loss(input: Any, label: Any, epsilon: float = 1e-5, name: str | None = None) -> Any:
    """One less the overlap of probabilities, classes along the last axis, and classes, of each sample; the mean of all.

    >>> print(d2s.nn.functional.dice_loss(d2s.to_tensor([[0.0, 1.0]]), d2s.to_tensor([[1]])).numpy().round(4))
    0.0
    """
    tensors("dice_loss", input=input, label=label)
    operands("dice_loss", epsilon=epsilon)
    marked = _one_hot(input, label, input.ndim - 1)
    axes = list(range(1, input.ndim))
    overlap, whole = sum(input * marked, axes), sum(input, axes) + sum(marked, axes)
    return mean(1.0 - overlap * 2.0 / (whole + epsilon))


# --- of numbers --------------------------------------------------------------------------------------------------------------


def square_error_cost(input: Any, label: Any) -> Any:
    """The square of the difference.

    >>> d2s.nn.functional.square_error_cost(d2s.to_tensor([1.0]), d2s.to_tensor([3.0])).item()
    4.0
    """
    tensors("square_error_cost", input=input, label=label)
    return square(input - label)


def mse_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean square of the differences.

    >>> d2s.nn.functional.mse_loss(d2s.to_tensor([1.0, 1.0]), d2s.to_tensor([3.0, 1.0])).item()
    2.0
    """
    tensors("mse_loss", input=input, label=label)
    return reduced("mse_loss", square(input - label), reduction)


def l1_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """The mean of the differences without their signs.

    >>> d2s.nn.functional.l1_loss(d2s.to_tensor([1.0, 1.0]), d2s.to_tensor([3.0, 1.0])).item()
    1.0
    """
    tensors("l1_loss", input=input, label=label)
    return reduced("l1_loss", abs(input - label), reduction)


def smooth_l1_loss(input: Any, label: Any, reduction: str = "mean", delta: float = 1.0, name: str | None = None) -> Any:
    """Half the square of small differences, and delta times what is beyond delta / 2 of larger ones.

    >>> d2s.nn.functional.smooth_l1_loss(d2s.to_tensor([0.5, 3.0]), d2s.to_tensor([0.0, 0.0]), "none").numpy().tolist()
    [0.125, 2.5]
    """
    tensors("smooth_l1_loss", input=input, label=label)
    operands("smooth_l1_loss", delta=delta)
    distance = abs(input - label)
    near = less_equal(distance, delta)
    return reduced("smooth_l1_loss", where(near, square(distance) * 0.5, distance * delta - 0.5 * delta * delta), reduction)


def kl_div(input: Any, label: Any, reduction: str = "mean", log_target: bool = False, name: str | None = None) -> Any:
    """How far probabilities, given by their logarithms, are from those of the label; "batchmean" is the sum per sample.

    >>> d2s.nn.functional.kl_div(d2s.to_tensor([0.0, 0.0]), d2s.to_tensor([1.0, 0.0]), "sum").item()
    0.0
    """
    tensors("kl_div", input=input, label=label)
    if log_target:
        loss = exp(label) * (label - input)
    else:
        seen = greater_than(label, 0.0)
        loss = where(seen, label * (log(where(seen, label, 1.0)) - input), 0.0)
    if reduction == "batchmean":
        return sum(loss) / input.shape[0] if input.shape else sum(loss)
    return reduced("kl_div", loss, reduction)


def log_loss(input: Any, label: Any, epsilon: float = 1e-4, name: str | None = None) -> Any:
    """Minus the logarithm of the likelihood of labels 0 and 1, by probabilities of 1.

    >>> print(d2s.nn.functional.log_loss(d2s.to_tensor([0.5]), d2s.to_tensor([1.0]), 0.0).numpy().round(4))
    [0.6931]
    """
    tensors("log_loss", input=input, label=label)
    operands("log_loss", epsilon=epsilon)
    return neg(label * log(input + epsilon)) - (1.0 - label) * log(1.0 - input + epsilon)


def binary_cross_entropy(input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None) -> Any:
    """Minus the logarithm of the likelihood of labels from 0 to 1, by probabilities of 1; at most 100.

    >>> print(d2s.nn.functional.binary_cross_entropy(d2s.to_tensor([0.5]), d2s.to_tensor([1.0])).numpy().round(4))
    0.6931
    """
    tensors("binary_cross_entropy", input=input, label=label)
    options("binary_cross_entropy", weight=weight)
    loss = neg(label * _log(input)) - (1.0 - label) * _log(1.0 - input)
    return reduced("binary_cross_entropy", _weighted(loss, weight), reduction)


def _log(x: Any) -> Any:
    """The logarithm of a likelihood, -100 where that is below e ** -100."""
    likely = greater_than(x, math.exp(-100))
    return where(likely, log(where(likely, x, 1.0)), -100.0)


def binary_cross_entropy_with_logits(
    logit: Any, label: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None, name: str | None = None
) -> Any:
    """`binary_cross_entropy` of the sigmoid of scores, right for scores of any size; labels of 1 may weigh `pos_weight`.

    >>> F = d2s.nn.functional
    >>> print(F.binary_cross_entropy_with_logits(d2s.to_tensor([0.0]), d2s.to_tensor([1.0])).numpy().round(4))
    0.6931
    """
    tensors("binary_cross_entropy_with_logits", logit=logit, label=label)
    options("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if pos_weight is None:
        loss = neg(log_sigmoid(neg(logit))) - logit * label
    else:
        loss = (1.0 - label) * logit - (label * (pos_weight - 1.0) + 1.0) * log_sigmoid(logit)
    return reduced("binary_cross_entropy_with_logits", _weighted(loss, weight), reduction)


def sigmoid_focal_loss(
    logit: Any,
    label: Any,
    normalizer: Any = None,
    alpha: float = 0.25,
    gamma: float = 2.0,
    reduction: str = "sum",
    name: str | None = None,
) -> Any:
    """Binary cross entropy of scores that counts those already right less: gamma says how much less, alpha weighs the ones.

    >>> print(d2s.nn.functional.sigmoid_focal_loss(d2s.to_tensor([0.0]), d2s.to_tensor([1.0])).numpy().round(4))
    0.0433
    """
    tensors("sigmoid_focal_loss", logit=logit, label=label)
    options("sigmoid_focal_loss", normalizer=normalizer)
    operands("sigmoid_focal_loss", alpha=alpha, gamma=gamma)
    likely = sigmoid(logit)
    missed = label * (1.0 - likely) + (1.0 - label) * likely
    loss = binary_cross_entropy_with_logits(logit, label, reduction="none") * pow(missed, gamma)
    loss = loss * (label * alpha + (1.0 - label) * (1 - alpha))
    return reduced("sigmoid_focal_loss", loss if normalizer is None else loss / normalizer, reduction)
