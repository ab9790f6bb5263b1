"""Softmax, its gradients, and ops that read labels."""

import numpy as np

from tests.samples.sample import Listed


def shares(x, axis):
    e = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def along_one(make):
    for shape, axis in [((3, 70), 1), ((70, 3), 0), ((2, 5, 66), 1), ((4,), -1), ((), 0)]:
        yield [make(*shape)], {"axis": axis if shape else -1}


def softmax(x, axis):
    return shares(x, axis).astype(x.dtype) if x.ndim else np.ones_like(x)


def log_softmax(x, axis):
    return np.log(shares(x, axis)).astype(x.dtype) if x.ndim else np.zeros_like(x)


def pulled(of):
    def cases(make):
        for shape, axis in [((3, 7), 1), ((7, 3), 0), ((2, 5, 66), 1)]:
            yield [make(*shape), of(make(*shape) + 0.1, axis)], {"axis": axis}

    return cases


def softmax_pulled(x, y, axis):
    return (y * (x - (x * y).sum(axis, keepdims=True))).astype(x.dtype)


def log_softmax_pulled(x, y, axis):
    return (x - np.exp(y) * x.sum(axis, keepdims=True)).astype(x.dtype)


IGNORED = -100


def labels_of(shape, axis):
    """Classes, the first of them to be ignored."""
    lines = [n for a, n in enumerate(shape) if a != axis]
    found = np.random.default_rng(3).integers(0, shape[axis], lines)
    found.flat[0] = IGNORED
    return found


LABELLED = [((3, 7), 1), ((7, 3), 0), ((2, 5, 66), 1)]


def labelled(make):
    for shape, axis in LABELLED:
        yield [make(*shape), labels_of(shape, axis)], {"axis": axis, "ignore_index": IGNORED}


def picked(x, label, axis, ignore_index):
    seen = label != ignore_index
    places = np.expand_dims(np.where(seen, label, 0), axis)
    return np.where(seen, np.take_along_axis(x, places, axis).squeeze(axis), x.dtype.type(0))


def placed(x, label, like, axis, ignore_index):
    seen = label != ignore_index
    found = np.zeros_like(like)
    places = np.expand_dims(np.where(seen, label, 0), axis)
    np.put_along_axis(found, places, np.expand_dims(np.where(seen, x, 0), axis), axis)
    return found


def entropy(x, label, axis, ignore_index):
    top = x.max(axis)
    rest = np.log(np.exp(x.astype(np.float64) - x.max(axis, keepdims=True)).sum(axis)).astype(x.dtype)
    loss = np.where(label != ignore_index, rest - (picked(x, label, axis, ignore_index) - top), 0).astype(x.dtype)
    return loss, top, rest


def entropy_pulled(g, x, label, top, rest, axis, ignore_index):
    one = placed(np.ones_like(g), label, x, axis, ignore_index)
    seen = np.expand_dims(np.where(label != ignore_index, g, 0), axis)
    return ((shares(x, axis) - one) * seen).astype(x.dtype)


def entropies(make):
    for (x, label), attrs in labelled(make):
        _, top, rest = entropy(x, label, **attrs)
        yield [make(*label.shape), x, label, top, rest], attrs


def placings(make):
    for (x, label), attrs in labelled(make):
        yield [make(*label.shape), label, x], attrs


def weighted(make):
    yield [make(4), np.array([3, 0, IGNORED, 1])], {"ignore_index": IGNORED}


def weights(weight, label, ignore_index):
    return np.where(label == ignore_index, weight.dtype.type(0), weight[np.where(label == ignore_index, 0, label)])


def seen_cases(make):
    label = labels_of((6, 4), 1)
    yield [make(6), label], {"ignore_index": IGNORED}
    yield [make(6, 1), np.full((6, 1), IGNORED)], {"ignore_index": IGNORED}


def count(label, ignore_index):
    return max(1, int((label != ignore_index).sum()))


def shares_of_seen(make):
    for (x, label), attrs in seen_cases(make):
        yield [make(), x, label], attrs


SAMPLES = {
    "softmax": Listed(softmax, along_one, "f", ulps=8),
    "softmax_grad": Listed(softmax_pulled, pulled(softmax), "f", ulps=32),
    "log_softmax": Listed(log_softmax, along_one, "f", ulps=8),
    "log_softmax_grad": Listed(log_softmax_pulled, pulled(log_softmax), "f", ulps=32),
    "class_entropy": Listed(entropy, labelled, "f", ulps=8, smooth=False),
    "class_entropy_grad": Listed(entropy_pulled, entropies, "f", ulps=32, smooth=False),
    "pick_class": Listed(picked, labelled, "f"),
    "place_class": Listed(placed, placings, "f", smooth=False),
    "mean_of_seen": Listed(
        lambda x, label, ignore_index: (x.sum() / count(label, ignore_index)).astype(x.dtype), seen_cases, "f", ulps=8
    ),
    "share_of_seen": Listed(
        lambda x, like, label, ignore_index: np.full_like(like, x / count(label, ignore_index)),
        shares_of_seen,
        "f",
        ulps=1,
        smooth=False,
    ),
    "class_weight": Listed(weights, weighted, "f", smooth=False),
}
