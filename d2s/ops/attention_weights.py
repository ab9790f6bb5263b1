"""Attention with its weights held: for those who want to see them, drop some of them, or learn their mask.

In: queries and keys [batch, heads, length, size], a mask over [batch, heads, queries, keys]. Out: how much each query takes of
each key.

>>> x = d2s.to_tensor([[[[1.0], [3.0]]]])
>>> print(weights_of(x, x, None, True).numpy().round(2).reshape([2, 2]))
[[1. 0.]
 [0. 1.]]
"""

import math
from typing import Any

from d2s.ops.arrange import transpose
from d2s.ops.compare import cast, greater_equal, where
from d2s.ops.dispatch import current
from d2s.ops.math import add, multiply
from d2s.ops.matmul import matmul
from d2s.ops.scatter import positions
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import tensor_type, unnamed
from d2s.ops.slicing import Stretch, part
from d2s.ops.softmax import softmax_
from d2s.types import bool_

UNSEEN = 1e9  # what Paddle takes off a score that a mask of bools or integers hides


def by_heads(x: Any) -> Any:
    """[batch, length, heads, size] as [batch, heads, length, size], and back.

    >>> by_heads(d2s.ones([2, 5, 3, 4])).shape
    [2, 3, 5, 4]
    """
    return transpose(x, (0, 2, 1, 3))


def weights_of(query: Any, key: Any, mask: Any = None, causal: bool = False) -> Any:
    """The softmax of queries times keys, divided by the root of their size, with a mask of bools or one that is added.

    >>> x = d2s.ones([1, 1, 2, 4])
    >>> weights_of(x, x).tolist()
    [[[[0.5, 0.5], [0.5, 0.5]]]]
    """
    size = tensor_type(query, "attention", "query").shape[-1]
    if isinstance(size, str):
        raise unnamed("attention", "the size of a query")
    scores = matmul(multiply(query, 1 / math.sqrt(size)), key, False, True)
    if mask is not None:
        bools = current().type_of(mask).dtype is bool_  # type: ignore[union-attr]
        scores = where(mask, scores, -math.inf) if bools else add(scores, mask)
    return softmax_(where(_past(scores), scores, -math.inf) if causal else scores, -1)


def _past(scores: Any) -> Any:
    """Which keys lie not behind their query."""
    rank = len(tensor_type(scores, "attention", "scores").shape)
    rows, columns = _places(scores, rank - 2), _places(scores, rank - 1)
    return greater_equal(unsqueeze(rows, 1), columns)


def _places(x: Any, axis: int) -> Any:
    """0, 1, ... along an axis."""
    shape = tensor_type(x, "attention", "scores").shape
    alone = {k: Stretch(0, 1) for k in range(len(shape)) if k != axis}
    return positions(part(x, shape, alone, tuple(alone)))


def added(mask: Any, dtype: Any) -> Any:
    """A mask of bools or integers as one that is added: 0 where it holds.

    >>> added(d2s.to_tensor([True, False]), "float32").tolist()
    [0.0, -1000000000.0]
    """
    if current().type_of(mask).dtype.kind == "f":  # type: ignore[union-attr]
        return mask
    return multiply(add(cast(mask, dtype), -1.0), UNSEEN)
