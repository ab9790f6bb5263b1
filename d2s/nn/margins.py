"""Losses of margins between scores, of distances, and of distributions.

In: predictions and labels. Out: one number, or with reduction "none" one for each element or sample.

>>> soft_margin_loss(d2s.to_tensor([0.0]), d2s.to_tensor([1.0])).item()
0.6931471824645996
"""

import math
from collections.abc import Callable
from typing import Any

from d2s.arguments import expect, number
from d2s.errors import ArgumentError, ShapeError
from d2s.nn.loss import reduced
from d2s.ops.activation import log_sigmoid, softplus
from d2s.ops.arrange import transpose
from d2s.ops.compare import cast, equal, greater_than, where
from d2s.ops.exponential import exp, log
from d2s.ops.extremes import clip, minimum
from d2s.ops.gather import gather
from d2s.ops.label import pick_class, place_class
from d2s.ops.math import neg, pow, relu, square
from d2s.ops.matmul import matmul
from d2s.ops.reduce import mean, sum
from d2s.ops.shape import reshape, unsqueeze
from d2s.ops.shapes import operands, options, tensor_type, tensors
from d2s.ops.softmax import log_softmax_
from d2s.ops.statistics import norm
from d2s.ops.unlearnt import unlearnt

NO_CLASS = -(1 << 62)


def soft_margin_loss(input: Any, label: Any, reduction: str = "mean", name: str | None = None) -> Any:
    """log(1 + exp(-label input)) of labels -1 and 1.

    >>> print(d2s.nn.functional.soft_margin_loss(d2s.to_tensor([2.0]), d2s.to_tensor([-1.0])).numpy().round(4))
    2.1269
    """
    label = cast(label, tensor_type(input, "soft_margin_loss", "input").dtype)
    return reduced("soft_margin_loss", softplus(neg(label * input)), reduction)


def multi_label_soft_margin_loss(
    input: Any, label: Any, weight: Any = None, reduction: str = "mean", name: str | None = None
) -> Any:
    """The mean over classes of the binary cross entropy of scores, each class on its own.

    >>> x, y = d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([[1.0, 0.0]])
    >>> print(d2s.nn.functional.multi_label_soft_margin_loss(x, y).numpy().round(4))
    0.6931
    """
    tensors("multi_label_soft_margin_loss", input=input, label=label)
    options("multi_label_soft_margin_loss", weight=weight)
    loss = neg(label * log_sigmoid(input) + (1.0 - label) * log_sigmoid(neg(input)))
    return reduced("multi_label_soft_margin_loss", mean(loss if weight is None else loss * weight, -1), reduction)


def multi_margin_loss(
    input: Any,
    label: Any,
    p: int = 1,
    margin: float = 1.0,
    weight: Any = None,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """What the right class's score lacks of a margin before each other's, to the power of p, as a mean over classes.

    >>> x, y = d2s.to_tensor([[0.0, 0.5]]), d2s.to_tensor([0])
    >>> d2s.nn.functional.multi_margin_loss(x, y).item()
    0.75
    """
    shape = tensor_type(input, "multi_margin_loss", "input").shape
    if len(shape) != 2:
        raise ShapeError("D2S0002", f"multi_margin_loss(): 'input' has shape {list(shape)}, expected [batch, classes]")
    lacks = relu(number("multi_margin_loss", "margin", margin) - unsqueeze(pick_class(input, label, 1, NO_CLASS), 1) + input)
    lacks = lacks if weight is None else lacks * unsqueeze(gather(weight, label), 1)
    right = place_class(pick_class(input, label, 1, NO_CLASS) * 0.0 + 1.0, label, input, 1, NO_CLASS)
    return reduced("multi_margin_loss", mean(where(greater_than(right, 0.0), 0.0, pow(lacks, float(p))), 1), reduction)


def poisson_nll_loss(
    input: Any,
    label: Any,
    log_input: bool = True,
    full: bool = False,
    epsilon: float = 1e-8,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Minus the logarithm of the likelihood of counts by rates, or by the rates' logarithms; `full`: with Stirling's part.

    >>> d2s.nn.functional.poisson_nll_loss(d2s.to_tensor([0.0]), d2s.to_tensor([2.0])).item()
    1.0
    """
    tensors("poisson_nll_loss", input=input, label=label)
    if not number("poisson_nll_loss", "epsilon", epsilon) > 0:
        raise ArgumentError("D2S0004", f"poisson_nll_loss(): 'epsilon' is {epsilon}, expected more than 0")
    loss = exp(input) - label * input if log_input else input - label * log(input + epsilon)
    if full:
        many = where(greater_than(label, 1.0), label, 1.0)
        stirling = many * log(many) - many + log(many * (2 * math.pi)) * 0.5
        loss = loss + where(greater_than(label, 1.0), stirling, 0.0)
    return reduced("poisson_nll_loss", loss, reduction)


def gaussian_nll_loss(
    input: Any,
    label: Any,
    variance: Any,
    full: bool = False,
    epsilon: float = 1e-6,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """Minus the logarithm of the likelihood by normal distributions; variances count as epsilon or more.

    >>> one = d2s.to_tensor([1.0])
    >>> d2s.nn.functional.gaussian_nll_loss(one, one * 3.0, one).item()
    2.0
    """
    least = number("gaussian_nll_loss", "epsilon", epsilon)
    tensors("gaussian_nll_loss", input=input, label=label, variance=variance)
    if variance.ndim < input.ndim:
        variance = unsqueeze(variance, -1)
    variance = unlearnt(clip(variance, least) - variance) + variance
    loss = (log(variance) + square(input - label) / variance) * 0.5
    return reduced("gaussian_nll_loss", loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def pairwise_distance(
    x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Any:
    """The p-norm of the differences along the last axis.

    >>> x, y = d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([[3.0, 4.0]])
    >>> d2s.nn.functional.pairwise_distance(x, y, epsilon=0.0).tolist()
    [5.0]
    """
    tensors("pairwise_distance", x=x, y=y)
    operands("pairwise_distance", epsilon=epsilon)
    apart = x - y
    return norm(apart + epsilon if epsilon else apart, p, -1, keepdim)


def triplet_margin_with_distance_loss(
    input: Any,
    positive: Any,
    negative: Any,
    distance_function: Callable[[Any, Any], Any] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """`triplet_margin_loss` by a distance of one's own.

    >>> x, y = d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([[3.0, 4.0]])
    >>> print(d2s.nn.functional.triplet_margin_with_distance_loss(x, y, x).numpy().round(3))
    6.0
    """
    expect("triplet_margin_with_distance_loss", "distance_function", distance_function, Callable | None, "a function")
    if not number("triplet_margin_with_distance_loss", "margin", margin) > 0:
        raise ArgumentError("D2S0004", f"triplet_margin_with_distance_loss(): 'margin' is {margin}, expected more than 0")
    tensors("triplet_margin_with_distance_loss", input=input, positive=positive, negative=negative)
    distance = pairwise_distance if distance_function is None else distance_function
    far = distance(input, negative)
    far = minimum(far, distance(positive, negative)) if swap else far
    return reduced("triplet_margin_with_distance_loss", relu(distance(input, positive) - far + margin), reduction)


def npair_loss(anchor: Any, positive: Any, labels: Any, l2_reg: float = 0.002) -> Any:
    """The cross entropy of the products of anchors and positives, where equal labels belong together; and small lengths.

    >>> one = d2s.to_tensor([[1.0], [1.0]])
    >>> print(d2s.nn.functional.npair_loss(one, one, d2s.to_tensor([0.0, 1.0]), 0.0).numpy().round(4))
    0.6931
    """
    kind = tensor_type(anchor, "npair_loss", "anchor").dtype
    operands("npair_loss", l2_reg=l2_reg)
    rows = reshape(labels, [-1, 1])
    same = cast(equal(rows, transpose(rows, (1, 0))), kind)
    same = same / sum(same, 1, None, True)
    lengths = (mean(sum(square(anchor), 1)) + mean(sum(square(positive), 1))) * (0.25 * l2_reg)
    logs = log_softmax_(matmul(anchor, positive, False, True), 1)
    return lengths + mean(sum(same * neg(sum(same * logs, -1, None, True)), 0))
