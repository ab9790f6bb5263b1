"""What two or three values have to do with each other: lengths, cosines, and losses of their order or distance.

In: tensors of pairs or triples, and labels. Out: a cosine for each, or a loss as in `loss.py`.

>>> cosine_similarity(d2s.to_tensor([[1.0, 1.0]]), d2s.to_tensor([[2.0, 2.0]])).numpy().round(4).tolist()
[1.0]
"""

from typing import Any

from d2s.nn.loss import reduced
from d2s.ops.compare import equal, where
from d2s.ops.exponential import sqrt
from d2s.ops.extremes import clip, minimum
from d2s.ops.math import neg, relu, square
from d2s.ops.reduce import sum
from d2s.ops.shapes import operands, tensors
from d2s.ops.statistics import norm


def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis.

    >>> d2s.nn.functional.cosine_similarity(d2s.to_tensor([[1.0, 0.0]]), d2s.to_tensor([[2.0, 0.0]])).tolist()
    [1.0]
    """
    tensors("cosine_similarity", x1=x1, x2=x2)
    operands("cosine_similarity", eps=eps)
    lengths = sum(square(x1), axis) * sum(square(x2), axis)
    return sum(x1 * x2, axis) / sqrt(clip(lengths, eps * eps))


def normalize(x: Any, p: float = 2, axis: int = 1, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Vectors along an axis divided by their p-norm, or by epsilon where that is larger.

    >>> print(d2s.nn.functional.normalize(d2s.to_tensor([[3.0, 4.0]])).numpy().round(1))
    [[0.6 0.8]]
    """
    return x / clip(norm(x, p, axis, True), epsilon)


def margin_ranking_loss(
    input: Any, other: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """What the order of two scores lacks of a margin; the label is 1 where the first is to be larger, else -1.

    >>> one, two = d2s.to_tensor([1.0]), d2s.to_tensor([2.0])
    >>> d2s.nn.functional.margin_ranking_loss(one, two, one).item()
    1.0
    """
    tensors("margin_ranking_loss", input=input, other=other, label=label)
    operands("margin_ranking_loss", margin=margin)
    return reduced("margin_ranking_loss", relu(neg(label) * (input - other) + margin), reduction)


def hinge_embedding_loss(input: Any, label: Any, margin: float = 1.0, reduction: str = "mean", name: str | None = None) -> Any:
    """A distance where the label is 1, and what it lacks of a margin where it is -1.

    >>> x, y = d2s.to_tensor([0.5, 0.25]), d2s.to_tensor([1.0, -1.0])
    >>> d2s.nn.functional.hinge_embedding_loss(x, y, reduction="none").tolist()
    [0.5, 0.75]
    """
    tensors("hinge_embedding_loss", input=input, label=label)
    operands("hinge_embedding_loss", margin=margin)
    near = where(equal(label, 1.0), input, 0.0)
    return reduced("hinge_embedding_loss", near + where(equal(label, -1.0), relu(margin - input), 0.0), reduction)


def cosine_embedding_loss(
    input1: Any, input2: Any, label: Any, margin: float = 0.0, reduction: str = "mean", name: str | None = None
) -> Any:
    """One less the cosine where the label is 1, and the cosine beyond a margin where it is -1.

    >>> x, y = d2s.to_tensor([[1.0, 0.0]]), d2s.to_tensor([[0.0, 1.0]])
    >>> d2s.nn.functional.cosine_embedding_loss(x, y, d2s.to_tensor([1.0])).item()
    1.0
    """
    tensors("cosine_embedding_loss", input1=input1, input2=input2, label=label)
    operands("cosine_embedding_loss", margin=margin)
    cosine = cosine_similarity(input1, input2, -1)
    return reduced("cosine_embedding_loss", where(equal(label, 1), 1.0 - cosine, relu(cosine - margin)), reduction)


def triplet_margin_loss(
    input: Any,
    positive: Any,
    negative: Any,
    margin: float = 1.0,
    p: float = 2.0,
    epsilon: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
    name: str | None = None,
) -> Any:
    """How much nearer the positive is to lie than the negative, and does not; `swap` takes the nearer of two for the latter.

    >>> x, y = d2s.to_tensor([[0.0, 0.0]]), d2s.to_tensor([[3.0, 4.0]])
    >>> print(d2s.nn.functional.triplet_margin_loss(x, y, x).numpy().round(3))
    6.0
    """
    tensors("triplet_margin_loss", input=input, positive=positive, negative=negative)
    operands("triplet_margin_loss", margin=margin, epsilon=epsilon)

    def distance(x: Any, y: Any) -> Any:
        return norm(x - y + epsilon, p, -1)

    far = distance(input, negative)
    far = minimum(far, distance(positive, negative)) if swap else far
    return reduced("triplet_margin_loss", relu(distance(input, positive) - far + margin), reduction)
