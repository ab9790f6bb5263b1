"""Attention in blocks: no array of queries times keys is ever held, forward or for the gradient.

In: queries, keys and values of shape [batch, length, heads, size], and at will a mask over [batch, heads, queries, keys]: bools
that say what is seen, or floats that are added. Out: the values seen, weighted by the softmax of query times key.

The law of its bits: products are one fma per k in ascending k; keys are taken KEYS at a time, in ascending order; each block's
exponentials are summed by the law of `tree.py`, and added to what was there before, scaled down where the largest has grown.

>>> from d2s.types import float32
>>> x = Type(float32, ("b", "t", 4, 8))
>>> attention_.infer([x, x, x], {"causal": True})
(f32[b,t,4,8], f32[b,4,t,2])
"""

import contextlib
import math
from typing import Any

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.attention_weights import by_heads, weights_of
from d2s.ops.dispatch import current
from d2s.ops.expand import summed_to
from d2s.ops.matmul import matmul
from d2s.ops.op import Share, flag, op
from d2s.ops.shapes import broadcast, fitting
from d2s.ops.softmax import FINITE, floats, softmax_grad
from d2s.ops.tree import SUM, Part, extreme, over_a_run
from d2s.types import Dim, Shape, Type

_NAME = "scaled_dot_product_attention"  # what users call
QUERIES, KEYS = 128, 128  # of a block
_DOT = over_a_run("dot_of", "x, y", [Part("x[k] * y[k]", SUM)])


@op(paddle=None)
def attention_(query, key, value, *mask, causal: bool = False):
    """Each query's mean of the values, by the softmax of its products with the keys; behind it what that softmax went by.

    That is the largest score, and what exponentials are multiplied by: the logarithm of both in one would be lost beside
    scores of -1e9, as masks make them.

    >>> x = d2s.to_tensor([[[[1.0]], [[3.0]]]])
    >>> print(d2s.ops.attention.attention_(x, x, x, causal=True)[0].numpy().round(2).reshape([2]))
    [1. 3.]
    """


@attention_.rule("canonical")
def _(query, key, value, *mask, causal):
    return {"causal": flag(causal, "is_causal")}


@attention_.rule("infer")
def _(query, key, value, *mask, causal):
    floats(_NAME, query, key, value)
    _agreeing(query, key, value, causal)
    for m in mask:
        _agreeing_mask(query, key, m)
    batch, count, heads, _ = query.shape
    return query, Type(query.dtype, (batch, heads, count, 2))


@attention_.rule("requires")
def _(query, key, value, *mask, causal):
    return [*_agreeing(query, key, value, causal), *(pair for m in mask for pair in _agreeing_mask(query, key, m))]


def _agreeing(query: Type, key: Type, value: Type, causal: bool) -> list[tuple[Dim, Dim]]:
    """The extents that are to be the same: all but the lengths, of which only keys and values share one."""
    with contextlib.suppress(ShapeError):
        if len(query.shape) == len(key.shape) == 4:
            batch, count, *each = query.shape
            wanted = (batch, count if causal else key.shape[1], *each)
            return fitting(_NAME, "key", key.shape, wanted) + fitting(_NAME, "value", value.shape, key.shape)
    message = f"{_NAME}(): queries {query}, keys {key}, values {value} do not go together"
    hint = "[batch, length, heads, size], of one length where is_causal" if causal else "[batch, length, heads, size]"
    raise ShapeError("D2S0002", message, hint=hint)


def _agreeing_mask(query: Type, key: Type, mask: Type) -> list[tuple[Dim, Dim]]:
    batch, count, heads, _ = query.shape
    if mask.dtype.kind != "b" and mask.dtype is not query.dtype:
        raise DTypeError("D2S0003", f"{_NAME}(): 'attn_mask' is {mask.dtype.name}, expected bool or {query.dtype.name}")
    whole = (batch, heads, count, key.shape[1])
    found, pairs = broadcast(_NAME, [whole, mask.shape])
    if len(mask.shape) > 4 or any(have != d and not isinstance(have, str) for have, d in zip(whole, found, strict=True)):
        message = f"{_NAME}(): 'attn_mask' has shape {list(mask.shape)}, expected one that broadcasts to {list(whole)}"
        raise ShapeError("D2S0002", message)
    return pairs


def _masked(mask: Type | None) -> tuple[str, str]:
    """How a row of scores is scaled and masked: the text of what is done ahead of it, and of the score."""
    if mask is None:
        return "seen = 0", "scores[row + j] * scale"
    shape: Shape = (1,) * (4 - len(mask.shape)) + mask.shape
    index, step = "0", "j" if shape[3] != 1 else "0"
    for dim, place, count in zip(shape[:3], ("batch", "head", "first + i"), ("n0", "n2", "n1"), strict=True):
        index = f"({index}) * {count} + {place}" if dim != 1 else index
    index = f"({index}) * n3 + start" if shape[3] != 1 else index
    if mask.dtype.kind == "b":
        return f"seen = {index}", f"select(mask0[seen + {step}] != 0, scores[row + j] * scale, T(-math.inf))"
    return f"seen = {index}", f"scores[row + j] * scale + mask0[seen + {step}]"


def _scores(mask: Type | None, causal: bool) -> str:
    """The text that turns products of row i of a block into scores, -inf where a key is not seen."""
    ahead, score = _masked(mask)
    hidden = """\
limit = first + i + 1 - start
for j in range(select(limit > 0, limit, 0), keys):
    scores[row + j] = T(-math.inf)
"""
    text = f"row = i * {KEYS}\n{ahead}\nfor j in range(keys):\n    scores[row + j] = {score}\n"
    return text + (hidden if causal else "")


def _indented(text: str, steps: int) -> str:
    return "".join(f"{'    ' * steps}{line}\n" for line in text.splitlines())


def _extents(query: Type, key: Type) -> list[Shape]:
    batch, count, heads, size = ((d,) for d in query.shape)
    return [batch, count, heads, key.shape[1:2], size]


_TURN = f"""\
@inlined
def turned_panels(source, at_source, count, keys, step, panels, size):
    for panel in range((keys + WIDTH - 1) // WIDTH):
        columns = least(WIDTH, keys - panel * WIDTH)
        turned(count, columns, at(source, at_source + panel * WIDTH * step), step, panels + panel * WIDTH * count * size)

@inlined
def products(rows, keys, count, source, at_source, step, panels, size, to):
    for panel in range((keys + WIDTH - 1) // WIDTH):
        columns = least(WIDTH, keys - panel * WIDTH)
        b = panels + panel * WIDTH * count * size
        product(rows, columns, count, at(source, at_source), step, 1, b, WIDTH, at(to, panel * WIDTH), {KEYS}, 0)

"""


@attention_.rule("kernel")
def _(query, key, value, *rest, causal):
    mask = rest[0] if len(rest) > 2 else None
    short = query.dtype.short
    body = f"""\
step, scale, blocks = n2 * n4, T(1) / sqrt_of(T(n4)), (n1 + {QUERIES - 1}) // {QUERIES}
panels = new_memory(SIZE * (({KEYS} + WIDTH + {QUERIES}) * n4 + {QUERIES} * ({KEYS} + 2)))
if panels == 0: r[o[fault]] = 1
scores = {short}_out(panels + SIZE * ({KEYS} + WIDTH) * n4)
gathered = {short}_out(panels + SIZE * (({KEYS} + WIDTH) * n4 + {QUERIES * KEYS}))
top = {short}_out(panels + SIZE * (({KEYS} + WIDTH + {QUERIES}) * n4 + {QUERIES * KEYS}))
whole = {short}_out(panels + SIZE * (({KEYS} + WIDTH + {QUERIES}) * n4 + {QUERIES * (KEYS + 1)}))
for part in range(lo, hi if panels != 0 else lo):
    block, piece = part % blocks, part // blocks
    head, batch, first = piece % n2, piece // n2, block * {QUERIES}
    rows = least({QUERIES}, n1 - first)
    from_query = ((batch * n1 + first) * n2 + head) * n4
    for i in range(rows):
        top[i], whole[i] = T(-math.inf), T(0)
    for i in range(rows * n4):
        gathered[i] = T(0)
    end = {"least(n3, first + rows)" if causal else "n3"}
    for block_of_keys in range((end + {KEYS - 1}) // {KEYS}):
        start = block_of_keys * {KEYS}
        keys = least({KEYS}, end - start)
        from_key = ((batch * n3 + start) * n2 + head) * n4
        turned_panels(key, from_key, n4, keys, step, panels, SIZE)
        products(rows, keys, n4, query, from_query, step, panels, SIZE, scores)
        for i in range(rows):
{_indented(_scores(mask, causal), 3)}\
            peak = peak_of(scores, row, keys)
            peak = select((top[i] >= peak) | (top[i] != top[i]), top[i], peak)
            shift = finite(peak)
            for j in range(keys):
                scores[row + j] = vm.exp(scores[row + j] - shift)
            factor = vm.exp(top[i] - shift)
            whole[i] = whole[i] * factor + sum_of(scores, row, keys)
            top[i] = peak
            for j in range(n4 if factor != T(1) else 0):
                gathered[i * n4 + j] *= factor
        product(rows, n4, keys, at(scores, 0), {KEYS}, 1, at(value, from_key), step, at(gathered, 0), n4, 1)
    for i in range(rows):
        inverse = T(1) / whole[i]
        for j in range(n4):
            out[from_query + i * step + j] = gathered[i * n4 + j] * inverse
        weighing = (piece * n1 + first + i) * 2
        out1[weighing], out1[weighing + 1] = finite(top[i]), inverse
free_memory(panels)
"""
    above = (
        FINITE
        + over_a_run("peak_of", "x", [Part("x[k]", extreme("max", query.dtype))])
        + over_a_run("sum_of", "x", [Part("x[k]", SUM)])
    )
    share = Share(f"n0 * n2 * ((n1 + {QUERIES - 1}) // {QUERIES})", "1 + 131072 // (1 + n3 * n4)")
    return [*_extents(query, key)], body, share, above + _TURN


@attention_.rule("fault")
def _(value, query, key, *inputs, causal):
    return ArgumentError("D2S0004", f"scaled_dot_product_attention(): there is no memory for blocks of {query}")


@attention_.rule("vjp")
def _(g, out, query, key, value, *mask, causal):
    found: list[Any] = []

    def of(n):
        def cotangent():
            if not found:
                found.extend(attention_grad(g, query, key, value, out[0], out[1], *mask, causal=causal))
            return found[n]

        return cotangent

    return of(0), of(1), of(2), *[lambda: _of_mask(g, query, key, value, mask[0], causal) for _ in mask]


def _of_mask(g: Any, query: Any, key: Any, value: Any, mask: Any, causal: bool) -> Any:
    """The gradient of a mask that is added; few learn one, so it is made of weights that are held."""
    weights = weights_of(by_heads(query), by_heads(key), mask, causal)
    of_weights = matmul(by_heads(g), by_heads(value), False, True)
    return summed_to(softmax_grad(of_weights, weights, 3), mask)


@op(paddle=None)
def attention_grad(cotangent, query, key, value, found, weighing, *mask, causal: bool = False):
    """The gradients of `attention_`: of queries, keys and values.

    >>> x = d2s.to_tensor([[[[1.0]], [[3.0]]]])
    >>> found, weighing = d2s.ops.attention.attention_(x, x, x, causal=True)
    >>> print(d2s.ops.attention.attention_grad(x, x, x, x, found, weighing, causal=True)[2].numpy().round(2).reshape([2]))
    [1.01 2.99]
    """


@attention_grad.rule("infer")
def _(cotangent, query, key, value, found, weighing, *mask, causal):
    return query, key, value


@attention_grad.rule("fault")
def _(value, cotangent, query, *inputs, causal):
    return attention_.rules["fault"](value, query, query, causal=causal)


@attention_grad.rule("composed")
def _(cotangent, query, key, value, found, weighing, *mask, causal):
    g, q, k, v = map(by_heads, (cotangent, query, key, value))
    weights = weights_of(q, k, *mask, causal=causal)
    slopes = softmax_grad(matmul(g, v, False, True), weights, 3) * (1 / math.sqrt(current().type_of(query).shape[-1]))
    of_query, of_key, of_value = matmul(slopes, k), matmul(slopes, q, True, False), matmul(weights, g, True, False)
    return by_heads(of_query), by_heads(of_key), by_heads(of_value)


@attention_grad.rule("kernel")
def _(cotangent, query, key, value, found, weighing, *rest, causal):
    mask = rest[0] if len(rest) > 3 else None
    short = query.dtype.short
    body = f"""\
step, scale = n2 * n4, T(1) / sqrt_of(T(n4))
panels = new_memory(SIZE * (2 * ({KEYS} + WIDTH) * n4 + {2 * KEYS} * n4 + {2 * QUERIES * KEYS} + n1))
if panels == 0: r[o[fault]] = 1
value_panels = panels + SIZE * ({KEYS} + WIDTH) * n4
of_keys = {short}_out(value_panels + SIZE * ({KEYS} + WIDTH) * n4)
of_values = {short}_out(value_panels + SIZE * ({2 * KEYS} + WIDTH) * n4)
scores = {short}_out(value_panels + SIZE * ({3 * KEYS} + WIDTH) * n4)
slopes = {short}_out(value_panels + SIZE * (({3 * KEYS} + WIDTH) * n4 + {QUERIES * KEYS}))
along = {short}_out(value_panels + SIZE * (({3 * KEYS} + WIDTH) * n4 + {2 * QUERIES * KEYS}))
for piece in range(lo, hi if panels != 0 else lo):
    head, batch = piece % n2, piece // n2
    for i in range(n1):
        from_query = ((batch * n1 + i) * n2 + head) * n4
        along[i] = dot_of(cotangent, found, from_query, n4)
        for j in range(n4):
            out[from_query + j] = T(0)
    for block_of_keys in range((n3 + {KEYS - 1}) // {KEYS}):
        start = block_of_keys * {KEYS}
        keys = least({KEYS}, n3 - start)
        from_key = ((batch * n3 + start) * n2 + head) * n4
        turned_panels(key, from_key, n4, keys, step, panels, SIZE)
        turned_panels(value, from_key, n4, keys, step, value_panels, SIZE)
        for j in range(keys * n4):
            of_keys[j], of_values[j] = T(0), T(0)
        for block in range({f"start // {QUERIES}" if causal else "0"}, (n1 + {QUERIES - 1}) // {QUERIES}):
            first = block * {QUERIES}
            rows = least({QUERIES}, n1 - first)
            from_query = ((batch * n1 + first) * n2 + head) * n4
            products(rows, keys, n4, query, from_query, step, panels, SIZE, scores)
            products(rows, keys, n4, cotangent, from_query, step, value_panels, SIZE, slopes)
            for i in range(rows):
{_indented(_scores(mask, causal), 4)}\
                at_row, common = (piece * n1 + first + i) * 2, along[first + i]
                peak, inverse = weighing[at_row], weighing[at_row + 1]
                for j in range(keys):
                    scores[row + j] = vm.exp(scores[row + j] - peak) * inverse
                    slopes[row + j] = scores[row + j] * (slopes[row + j] - common) * scale
            product(keys, n4, rows, at(scores, 0), 1, {KEYS}, at(cotangent, from_query), step, at(of_values, 0), n4, 1)
            product(keys, n4, rows, at(slopes, 0), 1, {KEYS}, at(query, from_query), step, at(of_keys, 0), n4, 1)
            product(rows, n4, keys, at(slopes, 0), {KEYS}, 1, at(key, from_key), step, at(out, from_query), step, 1)
        for i in range(keys):
            for j in range(n4):
                out1[from_key + i * step + j] = of_keys[i * n4 + j]
                out2[from_key + i * step + j] = of_values[i * n4 + j]
free_memory(panels)
"""
    share = Share("n0 * n2", "1 + 131072 // (1 + n1 * n3)")
    return _extents(query, key), body, share, _DOT + _TURN
