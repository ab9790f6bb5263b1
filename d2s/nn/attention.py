"""Attention as a function.

>>> x = d2s.to_tensor([[[[1.0]], [[3.0]]]])
>>> print(scaled_dot_product_attention(x, x, x, is_causal=True).numpy().round(2).reshape([2]))
[1. 3.]
"""

from typing import Any

from d2s.arguments import number
from d2s.nn.dropout import dropout
from d2s.ops.attention import attention_
from d2s.ops.attention_weights import by_heads, weights_of
from d2s.ops.matmul import matmul


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    training: bool = True,
    name: str | None = None,
) -> Any:
    """Each query's mean of the values, by the softmax of its products with the keys, divided by the root of their size.

    All are of shape [batch, length, heads, size]. A mask of shape [batch, heads, queries, keys], or one that broadcasts to it,
    says by bools which keys are seen, or is added to the products; `is_causal` lets a query see no later key.
    With `dropout_p`, in training, so much of the weights is dropped.

    >>> x = d2s.to_tensor([[[[1.0]], [[3.0]]]])
    >>> print(d2s.nn.functional.scaled_dot_product_attention(x, x, x).numpy().round(2).reshape([2]))
    [2.76 3.  ]
    """
    dropping = number("scaled_dot_product_attention", "dropout_p", dropout_p) > 0
    if dropping and training:
        weights = dropout(weights_of(by_heads(query), by_heads(key), attn_mask, is_causal), dropout_p)
        return by_heads(matmul(weights, by_heads(value)))
    masks = [] if attn_mask is None else [attn_mask]
    found, _ = attention_(query, key, value, *masks, causal=is_causal)
    return found
