"""Attention of several heads, with projections of its own.

In: queries [batch, length, numbers], keys and values, a mask, what was kept of steps before. Out: a mean of values for each.

>>> x = d2s.ones([2, 5, 8])
>>> MultiHeadAttention(8, 2)(x, x, x).shape
[2, 5, 8]
"""

from typing import Any, NamedTuple

from d2s.arguments import number
from d2s.errors import ArgumentError, DTypeError, brief
from d2s.nn.attention import scaled_dot_product_attention
from d2s.nn.dropout import dropout
from d2s.nn.layer import Layer
from d2s.nn.linear import Linear
from d2s.ops.attention_weights import added, by_heads, weights_of
from d2s.ops.create import zeros
from d2s.ops.join import concat
from d2s.ops.matmul import matmul
from d2s.ops.shape import flatten, unflatten
from d2s.ops.shapes import whole_number


class Cache(NamedTuple):
    """Keys and values of steps before, [batch, heads, length, size]: those of each call are added."""

    k: Any
    v: Any


class StaticCache(NamedTuple):
    """Keys and values that are the same at each call."""

    k: Any
    v: Any


class MultiHeadAttention(Layer):
    """Each head's mean of the values, by the softmax of its queries times its keys; heads side by side are projected again.

    A mask over [batch, heads, queries, keys], or one that broadcasts to it, says by bools or integers which keys are seen, or
    is added. With `need_weights` the result is a pair, with the weights behind it; with a cache, that stands last.

    >>> attention = d2s.nn.MultiHeadAttention(8, 2, need_weights=True)
    >>> x = d2s.ones([1, 3, 8])
    >>> shown, weights, cache = attention(x, x, x, cache=attention.gen_cache(x))
    >>> weights.shape, cache.k.shape
    ([1, 2, 3, 3], [1, 2, 3, 4])
    """

    Cache, StaticCache = Cache, StaticCache

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        kdim: int | None = None,
        vdim: int | None = None,
        need_weights: bool = False,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        self.embed_dim = whole_number(embed_dim, "MultiHeadAttention", "embed_dim")
        self.num_heads = whole_number(num_heads, "MultiHeadAttention", "num_heads")
        if self.num_heads < 1 or self.embed_dim < 1 or self.embed_dim % self.num_heads:
            message = (
                f"MultiHeadAttention(): 'embed_dim' is {brief(embed_dim)}, "
                f"expected a multiple of 'num_heads', which is {brief(num_heads)}"
            )
            raise ArgumentError("D2S0004", message)
        self.dropout, self.need_weights = number("MultiHeadAttention", "dropout", dropout), need_weights
        self.head_dim = self.embed_dim // self.num_heads
        self.kdim, self.vdim = embed_dim if kdim is None else kdim, embed_dim if vdim is None else vdim
        self.q_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)
        self.k_proj = Linear(self.kdim, embed_dim, weight_attr, bias_attr)
        self.v_proj = Linear(self.vdim, embed_dim, weight_attr, bias_attr)
        self.out_proj = Linear(embed_dim, embed_dim, weight_attr, bias_attr)

    def forward(self, query: Any, key: Any = None, value: Any = None, attn_mask: Any = None, cache: Any = None) -> Any:
        key = query if key is None else key
        value = query if value is None else value
        mask = None if attn_mask is None else added(attn_mask, query.dtype)
        q = unflatten(self.q_proj(query), -1, [self.num_heads, self.head_dim])
        if cache is None and not self.need_weights:
            k, v = self._heads(key, value)
            shown = scaled_dot_product_attention(q, k, v, mask, self.dropout, False, self.training)
            return self.out_proj(flatten(shown, 2))
        k, v, cache = self._kept(key, value, cache)
        weights = weights_of(by_heads(q), k, mask)
        dropped = dropout(weights, self.dropout, training=self.training)
        shown = self.out_proj(flatten(by_heads(matmul(dropped, v)), 2))
        behind = ([weights] if self.need_weights else []) + ([] if cache is None else [cache])
        return (shown, *behind) if behind else shown

    def _heads(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Keys and values, projected, as [batch, length, heads, size]."""
        parts = [self.num_heads, self.head_dim]
        return unflatten(self.k_proj(key), -1, parts), unflatten(self.v_proj(value), -1, parts)

    def _kept(self, key: Any, value: Any, cache: Any) -> tuple[Any, Any, Any]:
        """Keys and values as [batch, heads, length, size], those of a cache among them, and the cache of the next call."""
        if isinstance(cache, StaticCache):
            return cache.k, cache.v, cache
        k, v = self.compute_kv(key, value)
        if cache is None:
            return k, v, None
        new = Cache(concat([cache.k, k], 2), concat([cache.v, v], 2))
        return new.k, new.v, new

    def compute_kv(self, key: Any, value: Any) -> tuple[Any, Any]:
        """Keys and values, projected, as [batch, heads, length, size].

        >>> [part.shape for part in d2s.nn.MultiHeadAttention(8, 2).compute_kv(d2s.ones([3, 5, 8]), d2s.ones([3, 5, 8]))]
        [[3, 2, 5, 4], [3, 2, 5, 4]]
        """
        k, v = self._heads(key, value)
        return by_heads(k), by_heads(v)

    def gen_cache(self, key: Any, value: Any = None, type: Any = Cache) -> Any:
        """What `forward` is first given as a cache: an empty one, one that begins with keys and values, or a static one.

        >>> d2s.nn.MultiHeadAttention(8, 2).gen_cache(d2s.ones([3, 5, 8])).k.shape
        [3, 2, 0, 4]
        """
        if type not in (Cache, StaticCache):
            message = f"MultiHeadAttention.gen_cache(): 'type' expects Cache or StaticCache, got {type!r:.50}"
            raise DTypeError("D2S0001", message)
        if type is StaticCache:
            return StaticCache(*self.compute_kv(key, key if value is None else value))
        if value is not None:
            return Cache(key, value)
        empty = zeros([key.shape[0], self.num_heads, 0, self.head_dim], key.dtype)
        return Cache(empty, empty)
