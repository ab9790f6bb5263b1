"""Norms and attention, and their gradients, by NumPy in float64; tests/ops/test_norm.py has gradients by differences."""

import math

import numpy as np

from tests.samples.sample import Listed


def parts(x, axes, centred=True):
    """Values in float64, their means and variances along axes."""
    wide = x.astype(np.float64)
    mean = wide.mean(axes, keepdims=True) if centred else np.zeros_like(wide.mean(axes, keepdims=True))
    return wide - mean, mean, ((wide - mean) ** 2).mean(axes, keepdims=True)


def finished(x, y, affine, shape, weighted, shifted):
    affine = [a.astype(np.float64).reshape(shape) for a in affine]
    y = y * affine[0] if weighted else y
    return (y + affine[-1] if shifted else y).astype(x.dtype)


def pulled(g, x, mean, scale, axes, centred=True):
    """Through a normalisation."""
    y = (x.astype(np.float64) - mean) * scale
    shift = g.mean(axes, keepdims=True) if centred else 0.0
    return (g - shift - y * (g * y).mean(axes, keepdims=True)) * scale


def affines(make, *shape):
    for weighted in (False, True):
        for shifted in (False, True):
            yield [make(*shape) for _ in range(weighted + shifted)], {"weighted": weighted, "shifted": shifted}


# --- over the last axes


def layer_norm(x, *affine, dims, centred, epsilon, weighted, shifted):
    axes = tuple(range(x.ndim - dims, x.ndim))
    centre, mean, variance = parts(x, axes, centred)
    scale = 1 / np.sqrt(variance + epsilon)
    y = finished(x, centre * scale, affine, x.shape[-dims:], weighted, shifted)
    return y, mean.squeeze(axes).astype(x.dtype), scale.squeeze(axes).astype(x.dtype)


def layer_norms(make):
    for shape, dims in [((5, 70), 1), ((2, 3, 4), 2)]:
        for affine, which in affines(make, *shape[-dims:]):
            yield [make(*shape), *affine], {"dims": dims, "centred": True, "epsilon": 1e-5} | which
    yield [make(5, 7), make(7)], {"dims": 1, "centred": False, "epsilon": 1e-5, "weighted": True, "shifted": False}


def line_statistics(x, dims, centred=True):
    _, mean, scale = layer_norm(x, dims=dims, centred=centred, epsilon=1e-5, weighted=False, shifted=False)
    return mean, scale


def layer_norm_pulled(g, x, means, scales, *weight, dims, centred):
    axes = tuple(range(x.ndim - dims, x.ndim))
    mean, scale = (np.expand_dims(s.astype(np.float64), axes) for s in (means, scales))
    wide = g.astype(np.float64) * (weight[0] if weight else 1.0)
    return pulled(wide, x, mean, scale, axes, centred).astype(x.dtype)


def layer_norm_gradients(make):
    for weight in ([], [make(7)]):
        for centred in (True, False):
            x = make(5, 7)
            yield [make(5, 7), x, *line_statistics(x, 1, centred), *weight], {"dims": 1, "centred": centred}


def layer_norm_affine(g, x, means, scales, dims, centred):
    axes = tuple(range(x.ndim - dims, x.ndim))
    y = (x.astype(np.float64) - np.expand_dims(means, axes)) * np.expand_dims(scales, axes)
    rows = tuple(range(x.ndim - dims))
    return (g * y).sum(rows).astype(x.dtype), g.astype(np.float64).sum(rows).astype(x.dtype)


def layer_norm_affines(make):
    for shape, dims in [((70, 7), 1), ((2, 3, 66), 2)]:
        x = make(*shape)
        yield [make(*shape), x, *line_statistics(x, dims)], {"dims": dims, "centred": True}


# --- over groups of channels


def grouped(x, groups):
    return x.reshape(x.shape[0], groups, -1)


def channels(x):
    return (1, -1, *(1,) * (x.ndim - 2))


def group_norm(x, *affine, groups, epsilon, weighted, shifted):
    centre, mean, variance = parts(grouped(x, groups), (2,))
    scale = 1 / np.sqrt(variance + epsilon)
    y = finished(x, (centre * scale).reshape(x.shape), affine, channels(x), weighted, shifted)
    return y, mean[..., 0].astype(x.dtype), scale[..., 0].astype(x.dtype)


def group_norms(make):
    for shape, groups in [((3, 4, 35), 2), ((2, 4, 3, 5), 4), ((3, 6), 2)]:
        for affine, which in affines(make, shape[1]):
            yield [make(*shape), *affine], {"groups": groups, "epsilon": 1e-5} | which


def group_statistics(x, groups):
    return group_norm(x, groups=groups, epsilon=1e-5, weighted=False, shifted=False)[1:]


def group_norm_pulled(g, x, means, scales, *weight, groups):
    wide = grouped(g.astype(np.float64) * (weight[0].reshape(channels(x)) if weight else 1.0), groups)
    found = pulled(wide, grouped(x, groups), means[..., None].astype(np.float64), scales[..., None].astype(np.float64), (2,))
    return found.reshape(x.shape).astype(x.dtype)


def group_norm_gradients(make):
    for weight in ([], [make(4)]):
        x = make(3, 4, 35)
        yield [make(3, 4, 35), x, *group_statistics(x, 2), *weight], {"groups": 2}


def group_norm_affine(g, x, means, scales, groups):
    y = ((grouped(x, groups) - means[..., None].astype(np.float64)) * scales[..., None]).reshape(x.shape)
    axes = (0, *range(2, x.ndim))
    return (g * y).sum(axes).astype(x.dtype), g.astype(np.float64).sum(axes).astype(x.dtype)


def group_norm_affines(make):
    for shape in [(3, 4, 35), (5, 4)]:
        x = make(*shape)
        yield [make(*shape), x, *group_statistics(x, 2)], {"groups": 2}


# --- over a batch


def others(x, channel):
    return tuple(a for a in range(x.ndim) if a != channel)


def along(channel, x):
    return [-1 if a == channel else 1 for a in range(x.ndim)]


def batch_norm(x, *affine, channel, epsilon, weighted, shifted):
    centre, mean, variance = parts(x, others(x, channel))
    y = finished(x, centre / np.sqrt(variance + epsilon), affine, along(channel, x), weighted, shifted)
    return y, mean.ravel().astype(x.dtype), variance.ravel().astype(x.dtype)


BATCHES = [((6, 4, 35), 1), ((70, 5), 1), ((3, 4, 2, 66), 3)]


def batch_norms(make):
    for shape, channel in BATCHES:
        for affine, which in affines(make, shape[channel]):
            yield [make(*shape), *affine], {"channel": channel, "epsilon": 1e-5} | which


def fixed(x, means, variances, *affine, channel, epsilon, weighted, shifted):
    mean, variance = (s.astype(np.float64).reshape(along(channel, x)) for s in (means, variances))
    return finished(x, (x - mean) / np.sqrt(variance + epsilon), affine, along(channel, x), weighted, shifted)


def fixed_norms(make):
    for (x, *affine), attrs in batch_norms(make):
        count = x.shape[attrs["channel"]]
        yield [x, make(count), make(count) ** 2, *affine], attrs


def batch_norm_pulled(g, x, means, variances, *weight, channel, epsilon, fixed):
    mean, variance = (s.astype(np.float64).reshape(along(channel, x)) for s in (means, variances))
    scale, axes = 1 / np.sqrt(variance + epsilon), others(x, channel)
    y, wide = (x - mean) * scale, g.astype(np.float64)
    factor = weight[0].reshape(along(channel, x)) if weight else 1.0
    of_x = wide * factor * scale if fixed else pulled(wide * factor, x, mean, scale, axes)
    return of_x.astype(x.dtype), (g * y).sum(axes).astype(x.dtype), wide.sum(axes).astype(x.dtype)


def batch_norm_gradients(make):
    for shape, channel in BATCHES:
        x = make(*shape)
        _, mean, variance = batch_norm(x, channel=channel, epsilon=1e-5, weighted=False, shifted=False)
        for weight, fix in (([], False), ([make(shape[channel])], False), ([make(shape[channel])], True)):
            yield [make(*shape), x, mean, variance, *weight], {"channel": channel, "epsilon": 1e-5, "fixed": fix}


# --- attention


def weights(query, key, mask, causal):
    scores = np.einsum("bihd,bjhd->bhij", query.astype(np.float64), key.astype(np.float64)) / math.sqrt(query.shape[-1])
    if mask:
        scores = np.where(mask[0], scores, -np.inf) if mask[0].dtype == bool else scores + mask[0]
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    peak = scores.max(-1, keepdims=True)
    part = 1 / np.exp(scores - peak).sum(-1, keepdims=True)
    return np.exp(scores - peak) * part, np.concatenate([peak, part], -1)


def attention(query, key, value, *mask, causal=False):
    p, weighing = weights(query, key, mask, causal)
    return np.einsum("bhij,bjhd->bihd", p, value.astype(np.float64)).astype(query.dtype, "C"), weighing.astype(query.dtype, "C")


def attention_pulled(g, query, key, value, found, weighing, *mask, causal=False):
    p, _ = weights(query, key, mask, causal)
    slopes = np.einsum("bihd,bjhd->bhij", g.astype(np.float64), value.astype(np.float64))
    slopes = p * (slopes - (slopes * p).sum(-1, keepdims=True)) / math.sqrt(query.shape[-1])
    of_query, of_key = np.einsum("bhij,bjhd->bihd", slopes, key), np.einsum("bhij,bihd->bjhd", slopes, query)
    of_value = np.einsum("bhij,bihd->bjhd", p, g)
    return of_query.astype(g.dtype), of_key.astype(g.dtype), of_value.astype(g.dtype)


def attentions(make):
    for batch, queries, keys, heads, size in [(2, 5, 5, 3, 4), (1, 130, 140, 2, 5)]:
        tensors = [make(batch, n, heads, size) for n in (queries, keys, keys)]
        yield tensors, {"causal": False}
        seen = np.random.default_rng(1).random((queries, keys)) < 0.7
        seen[:, 0] = True
        yield [*tensors, seen], {"causal": False}
        yield [*tensors, make(batch, 1, 1, keys)], {"causal": False}
    tensors = [make(1, 130, 2, 3) for _ in range(3)]
    yield tensors, {"causal": True}
    yield [*tensors, make(2, 130, 130)], {"causal": True}


def attention_gradients(make):
    for (query, key, value, *mask), attrs in attentions(make):
        yield [make(*query.shape), query, key, value, *attention(query, key, value, *mask, **attrs), *mask], attrs


SAMPLES = {
    "layer_norm": Listed(layer_norm, layer_norms, "f", ulps=16, smooth=False),
    "layer_norm_grad": Listed(layer_norm_pulled, layer_norm_gradients, "f", ulps=32, smooth=False),
    "layer_norm_affine": Listed(layer_norm_affine, layer_norm_affines, "f", ulps=32, smooth=False),
    "group_norm": Listed(group_norm, group_norms, "f", ulps=16, smooth=False),
    "group_norm_grad": Listed(group_norm_pulled, group_norm_gradients, "f", ulps=32, smooth=False),
    "group_norm_affine": Listed(group_norm_affine, group_norm_affines, "f", ulps=32, smooth=False),
    "batch_norm": Listed(batch_norm, batch_norms, "f", ulps=16, smooth=False),
    "batch_norm_fixed": Listed(fixed, fixed_norms, "f", ulps=16, smooth=False),
    "batch_norm_grad": Listed(batch_norm_pulled, batch_norm_gradients, "f", ulps=64, smooth=False),
    "attention": Listed(attention, attentions, "f", ulps=64, smooth=False),
    "attention_grad": Listed(attention_pulled, attention_gradients, "f", ulps=256, smooth=False),
}
