"""Pools: what they are tried on, and windows written out in NumPy."""

import itertools

import numpy as np

from tests.samples.sample import Listed

FORMS = (  # shapes, attributes; values are drawn, so maxima are single
    ((2, 3, 7), {"kernel": 2}),
    ((2, 2, 6, 9), {"kernel": [3, 2], "stride": [2, 3], "padding": [1, 0]}),
    ((1, 2, 7, 8), {"kernel": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
    ((1, 3, 5, 21), {"kernel": [2, 5], "stride": 1, "padding": [0, 1, 2, 0]}),
    ((2, 1, 4, 5, 6), {"kernel": 2, "stride": [1, 2, 2], "padding": 0}),
    ((1, 2, 7, 20), {"kernel": 3, "stride": 1, "padding": 1}),
    ((1, 2, 5, 8), {"kernel": None, "size": [3, 8]}),
    ((2, 2, 7), {"kernel": None, "size": 3}),
    ((0, 2, 4), {"kernel": 2}),
)


def spans(extents, kernel=None, stride=None, padding=0, ceil_mode=False, size=()):
    """For each axis the begin and end of every window, the padding among it, and the padding before the axis."""
    rank = len(extents)
    if size != ():
        for n, parts in zip(extents, np.broadcast_to(size, rank), strict=True):
            yield [(o * n // parts, -(-(o + 1) * n // parts)) for o in range(parts)], 0
        return
    kernel = np.broadcast_to(kernel, rank)
    stride = kernel if stride is None else np.broadcast_to(stride, rank)
    pads = np.reshape(padding, (rank, 2)) if np.size(padding) == 2 * rank else np.array([np.broadcast_to(padding, rank)] * 2).T
    for n, k, s, (before, behind) in zip(extents, kernel, stride, pads, strict=True):
        room = n + before + behind - k
        count = -(-room // s) + 1 if ceil_mode else room // s + 1
        yield [(o * s - before, o * s - before + k) for o in range(count)], before


def each(x_shape, attrs):
    """For each window: its place, the slices it is, and how many elements of it count if padding does."""
    found = list(spans(x_shape[2:], **attrs))
    for at in itertools.product(*(range(len(one)) for one, _ in found)):
        parts = [(*one[o], before, n) for o, (one, before), n in zip(at, found, x_shape[2:], strict=True)]
        inside = tuple(slice(max(b, 0), min(e, n)) for b, e, _, n in parts)
        yield at, inside, int(np.prod([min(e, n + before) - b for b, e, before, n in parts]))


def shape(x_shape, attrs):
    return (*x_shape[:2], *(len(one) for one, _ in spans(x_shape[2:], **attrs)))


def greatest(x, **attrs):
    return marked(x, **attrs)[0]


def marked(x, **attrs):
    out, index = np.zeros(shape(x.shape, attrs), x.dtype), np.zeros(shape(x.shape, attrs), np.int32)
    places = np.arange(np.prod(x.shape[2:])).reshape(x.shape[2:])
    for at, inside, _ in each(x.shape, attrs):
        seen = x[(..., *inside)].reshape(*x.shape[:2], places[inside].size)
        best = seen.argmax(-1)
        out[(..., *at)], index[(..., *at)] = seen.max(-1), places[inside].ravel()[best]
    return out, index


def handed_on(g, x, **attrs):
    index, found = marked(x, **attrs)[1], np.zeros((*x.shape[:2], np.prod(x.shape[2:])), x.dtype)
    for a, b in np.ndindex(x.shape[:2]):
        np.add.at(found[a, b], index[a, b].ravel(), g[a, b].ravel())
    return found.reshape(x.shape)


def picked(h, x, **attrs):
    index = marked(x, **attrs)[1]
    flat = h.reshape(*x.shape[:2], int(np.prod(x.shape[2:])))
    return np.take_along_axis(flat, index.reshape(*x.shape[:2], int(np.prod(index.shape[2:]))), 2).reshape(index.shape)


def mean(x, exclusive=True, **attrs):
    out = np.zeros(shape(x.shape, attrs), x.dtype)
    for at, inside, whole in each(x.shape, attrs):
        seen = x[(..., *inside)].reshape(*x.shape[:2], -1 if x.size else 1)
        out[(..., *at)] = seen.sum(-1) / (seen.shape[-1] if exclusive else whole)
    return out


def shared_out(g, exclusive, extents, **attrs):
    found = np.zeros((*g.shape[:2], *extents), g.dtype)
    for at, inside, whole in each(found.shape, attrs):
        size = np.prod([s.stop - s.start for s in inside])
        found[(..., *inside)] += (g[(..., *at)] / (size if exclusive else whole)).reshape(*g.shape[:2], *[1] * len(extents))
    return found


def shared_out_as(g, like, **attrs):
    return shared_out(g, extents=like.shape[2:], **attrs)


FULL = {"stride": None, "padding": 0, "ceil_mode": False, "size": ()}


def forward(make):
    yield from (([make(*x)], attrs) for x, attrs in FORMS)


def means(make):
    yield from (([make(*x)], {**attrs, "exclusive": exclusive}) for x, attrs in FORMS for exclusive in (True, False))


def backward(make):
    yield from (([make(*shape(x, attrs)), make(*x)], FULL | attrs) for x, attrs in FORMS)


def pairs(make):
    yield from (([make(*x), make(*x)], FULL | attrs) for x, attrs in FORMS)


def shares(make):
    for x, attrs in FORMS:
        for exclusive in (True, False):
            yield [make(*shape(x, attrs))], {**FULL, **attrs, "exclusive": exclusive, "extents": x[2:]}


def shares_as(make):
    for (x, _), ((g,), attrs) in zip([form for form in FORMS for _ in range(2)], shares(make), strict=True):
        yield [g, make(*x)], {key: value for key, value in attrs.items() if key != "extents"}


SAMPLES = {
    "max_pool": Listed(greatest, forward, "f"),
    "max_pool_with_index": Listed(marked, forward, "f"),
    "max_pool_grad": Listed(handed_on, backward, "f", ulps=4),
    "max_pool_pick": Listed(picked, pairs, "f"),
    "avg_pool": Listed(mean, means, "f", ulps=4),
    "avg_pool_grad": Listed(shared_out, shares, "f", ulps=4),
    "avg_pool_grad_as": Listed(shared_out_as, shares_as, "f", ulps=4),
}
