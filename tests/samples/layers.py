"""Ops of single layers: thresholds, sizes, alignments, what learns nothing."""

import itertools

import numpy as np

from tests.samples.sample import ONE, Listed, Sample


def softshrink(x, threshold=0.5):
    t = x.dtype.type(threshold)
    return np.where(x > t, x - t, np.where(x < -t, x + t, np.where(np.isnan(x), x, 0 * t)))


def hardshrink(x, threshold=0.5):
    t = x.dtype.type(threshold)
    return np.where((x >= -t) & (x <= t), 0 * t, x)


def thresholded_relu(x, threshold=1.0, value=0.0):
    return np.where(x <= x.dtype.type(threshold), x.dtype.type(value), x)


def celu(x, alpha=1.0):
    wide = x.astype(np.longdouble)
    return np.where(x > 0, wide, alpha * np.expm1(wide / alpha)).astype(x.dtype)


# --- sizes


def cubic(t):
    t = abs(t)
    return (1.25 * t - 2.25) * t * t + 1 if t <= 1 else ((-0.75 * t + 3.75) * t - 6) * t + 3


def shares(have, size, mode, places, scale):
    """How much each value of the result takes of each value, as a matrix."""
    ratio = (have - 1) / max(size - 1, 1) if places == "corners" else 1 / scale if scale else have / size
    ratio, found = ratio if size > 1 else 0.0, np.zeros((size, have))
    for k in range(size):
        at = (k + 0.5) * ratio - 0.5 if places == "halves" else k * ratio
        if mode == "nearest":
            found[k, min(int(at + 0.5 * (places == "corners")), have - 1)] = 1
        elif mode == "linear":
            at = max(at, 0.0)
            first = min(int(at), have - 1)
            found[k, first] += 1 - (at - first)
            found[k, min(first + 1, have - 1)] += at - first
        else:
            for n in range(-1, 3):
                found[k, np.clip(int(np.floor(at)) + n, 0, have - 1)] += cubic(at - np.floor(at) - n)
    return found


def resized(x, axis, size, mode, places, scale):
    found = np.tensordot(shares(x.shape[axis], size, mode, places, scale), x.astype(np.float64), (1, axis))
    return np.moveaxis(found, 0, axis).astype(x.dtype)


def unresized(x, like, axis, mode, places, scale):
    matrix = shares(like.shape[axis], x.shape[axis], mode, places, scale)
    return np.moveaxis(np.tensordot(matrix.T, x.astype(np.float64), (1, axis)), 0, axis).astype(x.dtype)


WAYS = [("nearest", "whole", 0.0), ("linear", "halves", 1.6), ("linear", "corners", 0.0), ("cubic", "halves", 0.0)]
SIZES = [((2, 5, 3), 1, 8), ((4, 5), 1, 3), ((2, 5, 3), 1, 1)]


def resizings(make):
    for (mode, places, scale), (shape, axis, size) in itertools.product(WAYS, SIZES[:2]):
        yield [make(*shape)], {"axis": axis, "size": size, "mode": mode, "places": places, "scale": scale}
    yield [make(*SIZES[2][0])], {"axis": 1, "size": 1, "mode": "linear", "places": "corners", "scale": 0.0}


def resizings_found(make):
    for arrays, attrs in resizings(make):
        size, kept = attrs["size"], {name: attrs[name] for name in ("axis", "mode", "places")}
        yield [*arrays, np.array(size, "int64")], kept | {"finds": (size,)}


def unresizings(make):
    for (mode, places, scale), (shape, axis, size) in itertools.product(WAYS[1:], SIZES[:2]):
        given = make(*shape[:axis], size, *shape[axis + 1 :])
        yield [given, make(*shape)], {"axis": axis, "mode": mode, "places": places, "scale": scale}


# --- alignments


def fits(path, text):
    """Whether a path over letters and blanks reads the text."""
    letters = [letter for letter, _ in itertools.groupby(path)]
    return [letter for letter in letters if letter] == list(text)


def unlikely(x, text):
    """Minus the logarithm of the likelihood of a text, and its gradient: by all paths there are."""
    e = np.exp(x - x.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    whole, through = 0.0, np.zeros_like(p)
    for path in itertools.product(range(x.shape[1]), repeat=len(x)):
        if fits(path, text):
            likely = float(np.prod([p[t, k] for t, k in enumerate(path)]))
            whole += likely
            for t, k in enumerate(path):
                through[t, k] += likely
    return (-np.log(whole), p - through / whole) if whole else (np.inf, np.zeros_like(p))


def ctc(scores, labels, steps, lengths, blank):
    losses, gradient = np.zeros(scores.shape[1]), np.zeros(scores.shape)
    for b in range(len(losses)):
        losses[b], gradient[: steps[b], b] = unlikely(scores[: steps[b], b].astype(np.float64), labels[b, : lengths[b]])
    return losses.astype(scores.dtype) + scores.dtype.type(0), gradient.astype(scores.dtype)


def alignments(make):
    labels = np.array([[1, 1, 2], [2, 1, 0], [2, 2, 0], [1, 1, 1]])
    yield [make(5, 4, 3), labels, np.array([5, 4, 3, 0]), np.array([3, 2, 1, 0])], {"blank": 0}
    yield [make(4, 4, 3), labels, np.array([4, 4, 2, 3]), np.array([3, 2, 2, 3])], {"blank": 0}


SAMPLES = {
    "softshrink": Sample(softshrink, ONE, "f", [{}, {"threshold": 1.0}]),
    "hardshrink": Sample(hardshrink, ONE, "f", [{}, {"threshold": 1.0}]),
    "thresholded_relu": Sample(thresholded_relu, ONE, "f", [{}, {"threshold": -0.5, "value": 2.0}]),
    "celu": Sample(celu, ONE, "f", [{}, {"alpha": 0.25}], ulps=4),
    "unlearnt": Listed(lambda x: x, lambda make: [([make(2, 3)], {}), ([make()], {})], smooth=False),
    "resized": Listed(resized, resizings, "f", ulps=16),
    "resized_to": Listed(
        lambda x, size, axis, mode, places, finds: resized(x, axis, int(size), mode, places, 0.0), resizings_found, "f", ulps=16
    ),
    "unresized": Listed(unresized, unresizings, "f", ulps=32),
    "ctc_loss_grad": Listed(
        lambda g, x, slopes: slopes * g[None, :, None], lambda make: [([make(3), make(2, 3, 4), make(2, 3, 4)], {})], "f"
    ),
    "ctc": Listed(ctc, alignments, "f", ulps=64, smooth=False),
}
