"""Convolutions, their transposes and the gradients of their weights: what they are tried on, and sums written out in NumPy."""

import itertools

import numpy as np

from tests.samples.sample import Listed

FORMS = (  # shapes of x and of the weight, attributes
    ((2, 3, 7), (4, 3, 3), {}),
    ((2, 2, 6, 5), (3, 2, 2, 3), {"stride": (2, 1), "padding": (1, 0, 2, 1)}),
    ((1, 4, 5, 6), (6, 2, 3, 3), {"groups": 2, "padding": "SAME"}),
    ((2, 3, 9, 40), (3, 1, 3, 3), {"groups": 3, "padding": 1, "stride": [2, 1]}),
    ((3, 4, 4, 4), (5, 4, 1, 1), {}),
    ((2, 2, 8, 9), (2, 2, 3, 2), {"dilation": [2, 3], "padding": [1, 2]}),
    ((1, 2, 4, 5, 34), (3, 2, 2, 2, 3), {"padding": "VALID"}),
    ((0, 2, 4), (3, 2, 3), {}),
)


def full(x, kernel, attrs):
    """The attributes in numbers: stride, padding (before, behind) and dilation of each axis, groups."""
    rank = x.ndim - 2
    stride, dilation = (np.broadcast_to(attrs.get(name, 1), rank) for name in ("stride", "dilation"))
    padding = attrs.get("padding", 0)
    if padding == "SAME":
        whole = [k - 1 for k in kernel]
        return stride, [(n // 2, n - n // 2) for n in whole], dilation, attrs.get("groups", 1)
    if padding == "VALID":
        padding = 0
    pairs = np.reshape(padding, (rank, 2)) if np.size(padding) == 2 * rank else [(p, p) for p in np.broadcast_to(padding, rank)]
    return stride, pairs, dilation, attrs.get("groups", 1)


def meetings(x, kernel, **attrs):
    """For each tap: the padded x, where in it the tap's values lie, and the tap."""
    stride, pairs, dilation, _ = full(x, kernel, attrs)
    padded = np.pad(x, [(0, 0), (0, 0), *pairs])
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    count = [(n - r) // s + 1 for n, r, s in zip(padded.shape[2:], reach, stride, strict=True)]
    for tap in itertools.product(*map(range, kernel)):
        starts = [t * d for t, d in zip(tap, dilation, strict=True)]
        places = tuple(slice(a, a + s * (n - 1) + 1, s) for a, s, n in zip(starts, stride, count, strict=True))
        yield padded, (slice(None), slice(None), *places), (slice(None), slice(None), *tap)


def split(x, groups):
    return x.reshape(x.shape[0], groups, x.shape[1] // groups, *x.shape[2:])


def convolved(x, weight, *bias, **attrs):
    groups = attrs.get("groups", 1)
    weights, total = weight.reshape(groups, -1, *weight.shape[1:]), 0
    for padded, places, tap in meetings(x, weight.shape[2:], **attrs):
        total = total + np.einsum("bgc...,goc->bgo...", split(padded[places], groups), weights[(slice(None), *tap)])
    total = total.reshape(x.shape[0], len(weight), *total.shape[3:])
    return total + bias[0].reshape(-1, *[1] * (x.ndim - 2)) if bias else total


def transposed(g, weight, size, **attrs):
    groups = attrs.get("groups", 1)
    x = np.zeros((g.shape[0], weight.shape[1] * groups, *size), g.dtype)
    pairs = full(x, weight.shape[2:], attrs)[1]
    weights, total = weight.reshape(groups, -1, *weight.shape[1:]), np.pad(x, [(0, 0), (0, 0), *pairs])
    for _, places, tap in meetings(x, weight.shape[2:], **attrs):
        part = np.einsum("bgo...,goc->bgc...", split(g, groups), weights[(slice(None), *tap)])
        total[places] += part.reshape(total[places].shape)
    return total[(slice(None), slice(None), *(slice(p, p + n) for (p, _), n in zip(pairs, size, strict=True)))]


def of_input(g, weight, like, **attrs):
    return transposed(g, weight, like.shape[2:], **attrs)


def of_weight(x, g, kernel, **attrs):
    groups = attrs.get("groups", 1)
    found = np.zeros((g.shape[1], x.shape[1] // groups, *kernel), x.dtype)
    for padded, places, tap in meetings(x, kernel, **attrs):
        parts = np.einsum(
            "bgcp,bgop->goc", *(split(a.reshape(*a.shape[:2], -1 if g.size else 0), groups) for a in (padded[places], g))
        )
        found[tap] = parts.reshape(found.shape[:2])
    return found


PLAIN = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}


def forward(make):
    for x, weight, attrs in FORMS:
        yield [make(*x), make(*weight)], attrs
        yield [make(*x), make(*weight), make(weight[0])], attrs


def backward(make):
    for x, weight, attrs in FORMS:
        g = convolved(np.zeros(x), np.zeros(weight), **attrs).shape
        yield [make(*g), make(*weight)], {**attrs, "size": x[2:]}


def of_open(make):
    for x, weight, attrs in FORMS:
        g = convolved(np.zeros(x), np.zeros(weight), **attrs).shape
        yield [make(*g), make(*weight), make(*x)], {**PLAIN, **attrs}


def sideways(make):
    for x, weight, attrs in FORMS:
        g = convolved(np.zeros(x), np.zeros(weight), **attrs).shape
        yield [make(*x), make(*g)], {**PLAIN, **attrs, "kernel": weight[2:]}


SAMPLES = {
    "conv": Listed(convolved, forward, "f", ulps=40),
    "conv_transpose": Listed(transposed, backward, "f", ulps=40),
    "conv_input_grad": Listed(of_input, of_open, "f", ulps=40),
    "conv_weight_grad": Listed(of_weight, sideways, "f", ulps=40),
}
