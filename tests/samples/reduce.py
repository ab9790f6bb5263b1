"""Reductions and scans, by NumPy and by the law of sums itself, bit for bit."""

from typing import Any

import numpy as np

from tests.samples.sample import AXES, ONE, Listed, Sample, Shapes

CHUNK = 65536
NARROW = (np.int8, np.int16, np.uint8)  # their sums stay what they are


def lines(x: np.ndarray, axis: Any) -> np.ndarray:
    """The elements that are reduced, along a last axis."""
    axes = axes_of(x, axis)
    kept = [a for a in range(x.ndim) if a not in axes]
    length = int(np.prod([x.shape[a] for a in axes], dtype=int))
    return x.transpose(*kept, *axes).reshape(*(x.shape[a] for a in kept), length)


def axes_of(x: np.ndarray, axis: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if axis is None else tuple(sorted(a % x.ndim for a in np.atleast_1d(np.array(axis, int))))


def tree(rows: np.ndarray) -> np.ndarray:
    """The sum of rows: element k goes to lane k mod 64, then the lanes are halved; bit for bit."""
    rows = np.pad(rows, [(0, 0)] * (rows.ndim - 1) + [(0, -rows.shape[-1] % 64)])
    lanes = np.zeros((*rows.shape[:-1], 64), rows.dtype)
    for start in range(0, rows.shape[-1], 64):
        lanes = lanes + rows[..., start : start + 64]
    while lanes.shape[-1] > 1:
        lanes = lanes[..., : lanes.shape[-1] // 2] + lanes[..., lanes.shape[-1] // 2 :]
    return lanes[..., 0]


def tree_sum(x: np.ndarray, axis: Any = None, dtype: Any = None, keepdim: bool = False) -> np.ndarray:
    """The sum as it is defined: chunks of 65,536 elements by the tree, and their sums by the tree again."""
    rows = lines(x, axis).astype(dtype or (x.dtype if x.dtype.kind == "f" or x.dtype in NARROW else np.int64))
    chunks = [tree(rows[..., start : start + CHUNK]) for start in range(0, max(1, rows.shape[-1]), CHUNK)]
    return shaped(tree(np.stack(chunks, -1)), x, axis, keepdim)


def shaped(found: np.ndarray, x: np.ndarray, axis: Any, keepdim: bool) -> np.ndarray:
    axes = axes_of(x, axis)
    return found.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdim else found


def every(axis: Any) -> Any:
    """No axis, listed, is every axis: of all reductions but the sum."""
    return None if axis == () else axis


def tree_mean(x: np.ndarray, axis: Any = None, keepdim: bool = False) -> np.ndarray:
    return tree_sum(x, every(axis), None, keepdim) / x.dtype.type(lines(x, every(axis)).shape[-1])


def product(x: np.ndarray, axis: Any = None, keepdim: bool = False, dtype: Any = None) -> np.ndarray:
    of = x.dtype if x.dtype.kind == "f" or x.dtype == np.int32 else np.int64
    return np.prod(x.astype(of), axis_of(axis), of, keepdims=keepdim)


def axis_of(axis: Any) -> Any:
    return every(tuple(axis) if isinstance(axis, list) else axis)


def log_sum(x: np.ndarray, axis: Any = None, keepdim: bool = False) -> np.ndarray:
    return np.log(np.exp(x.astype(np.float64)).sum(axis_of(axis), keepdims=keepdim)).astype(x.dtype)


def repeated(x: np.ndarray, like: np.ndarray, axis: Any, keepdim: bool) -> np.ndarray:
    """x along the axes a sum took away."""
    axes = tuple(range(like.ndim)) if axis is None else axis
    return np.broadcast_to(x if keepdim else np.expand_dims(x, axes), like.shape)


def met(x: np.ndarray, found: np.ndarray, of: np.ndarray, axis: Any, keepdim: bool) -> np.ndarray:
    return np.where(repeated(found, of, axis, keepdim) == of, repeated(x, of, axis, keepdim), x.dtype.type(0))


def by_axes(make):
    """Values by runs, by columns, by several runs, and more than a block of each."""
    for shape, axis in [((3, 70), 1), ((70, 3), 0), ((2, 5, 3), (0, 2)), ((2, 66, 3), 1), ((5,), None)]:
        yield [make(*shape)], {"axis": axis, "keepdim": False}
    yield [make(2, 3)], {"axis": -1, "keepdim": True}


def along_one(make):
    for shape, axis in [((3, 70), 1), ((70, 3), 0), ((2, 5, 66), 1), ((4,), -1)]:
        yield [distinct(make(*shape))], {"axis": axis}


def distinct(x: np.ndarray) -> np.ndarray:
    """The same, no two values of it too near each other for finite differences."""
    return (x + np.arange(x.size).reshape(x.shape) * 1e-3).astype(x.dtype)


def first_of(pick: Any) -> Any:
    def reference(x, axis=None, keepdim=False, dtype="int64"):
        found = np.asarray(pick(x, axis))
        return (np.expand_dims(found, axis) if keepdim else found).astype(dtype)

    return reference


def reversed_sum(x, axis, reverse=False):
    return np.flip(np.cumsum(np.flip(x, axis), axis, x.dtype), axis) if reverse else np.cumsum(x, axis, x.dtype)


def extreme_scan(accumulate: Any) -> Any:
    def reference(x, axis, dtype="int64"):
        best = accumulate.accumulate(x, axis)
        places = np.arange(x.shape[axis]).reshape([-1 if a == axis % x.ndim else 1 for a in range(x.ndim)])
        return best, np.maximum.accumulate(np.where(x == best, places, 0), axis).astype(dtype)

    return reference


def cumprod_pulled(g, x, y, axis):
    """By the definition: each product's part, without a division."""
    found = np.zeros_like(x)
    moved, gs, xs = (np.moveaxis(a, axis, -1) for a in (found, g, x))
    for i in range(x.shape[axis]):
        for j in range(i, x.shape[axis]):
            moved[..., i] += gs[..., j] * np.prod(np.delete(xs[..., : j + 1], i, -1), -1)
    return found


def linear_scan(a, x, axis, reverse=False):
    """By the recurrence, place by place."""
    found, xs = (np.moveaxis(v, axis, 0).copy() for v in (a, x))
    order = range(len(found) - 2, -1, -1) if reverse else range(1, len(found))
    for k in order:
        found[k] += xs[k + 1] * found[k + 1] if reverse else xs[k] * found[k - 1]
    return np.moveaxis(found, 0, axis)


def linear_scans(make):
    for shape, axis in [((5,), 0), ((3, 4), 0), ((2, 3, 70), 1), ((0, 2), 0), ((2, 0), 0)]:
        for reverse in (False, True):
            yield [make(*shape), make(*shape)], {"axis": axis, "reverse": reverse}


def log_cumsum(x, axis):
    return np.log(np.cumsum(np.exp(x.astype(np.float64)), axis)).astype(x.dtype)


def log_cumsum_pulled(g, x, y, axis):
    return np.exp(x) * reversed_sum(g * np.exp(-y), axis, True)


def scans(make, *others):
    for shape, axis in [((3, 7), 1), ((7, 3), 0), ((2, 5, 66), 1), ((4,), 0)]:
        yield [make(*shape) * 0.5 + 1], {"axis": axis}


def scan_gradients(forward):
    def cases(make):
        for shape, axis in [((3, 7), 1), ((7, 3), 0)]:
            x = make(*shape)
            yield [make(*shape), x, forward(x, axis)], {"axis": axis}

    return cases


def met_cases(make):
    x = make(2, 3)
    yield [make(2), x.max(1), x], {"axis": (1,), "keepdim": False}
    yield [make(1, 3), x.min(0, keepdims=True), x], {"axis": (0,), "keepdim": True}


def share_cases(make):
    yield [make(3), make(3, 2)], {"axis": 1, "less": 0}
    yield [make(), make(3, 2)], {"axis": None, "less": 1}


FULL: list[Shapes] = [((1,),), ((7,),), ((3, 1),), ((2, 3, 4),), ((2, 1, 3, 1, 2),)]
REDUCED: tuple[Shapes, ...] = (((), (2, 3)), ((), ()), ((), (0,)))
SAMPLES = {
    "sum": Sample(tree_sum, [*ONE[1:], ((130,),), ((3, 200),), ((70, 3),)], attrs=AXES),
    "spread": Sample(repeated, REDUCED, "f", attrs=[{"axis": None, "keepdim": False}]),
    "mean": Listed(tree_mean, by_axes, "f"),
    "per_element": Listed(
        lambda x, like, axis, less: (x / (like.size // x.size - less)).astype(x.dtype), share_cases, "f", smooth=False
    ),
    "prod": Listed(product, by_axes, "if", ulps=64),
    "max": Listed(lambda x, axis, keepdim: x.max(axis, keepdims=keepdim), by_axes, "if"),
    "min": Listed(lambda x, axis, keepdim: x.min(axis, keepdims=keepdim), by_axes, "if"),
    "amax": Listed(lambda x, axis, keepdim: x.max(axis, keepdims=keepdim), by_axes, "if"),
    "amin": Listed(lambda x, axis, keepdim: x.min(axis, keepdims=keepdim), by_axes, "if"),
    "where_met": Listed(met, met_cases, "f", smooth=False),
    "logsumexp": Listed(log_sum, by_axes, "f", ulps=4),
    "cumsum": Listed(reversed_sum, lambda make: [*scans(make), ([make(2, 5)], {"axis": 1, "reverse": True})], "f"),
    "cumprod": Listed(lambda x, axis: np.cumprod(x, axis, x.dtype), scans, "f"),
    "cumprod_grad": Listed(cumprod_pulled, scan_gradients(np.cumprod), "f", ulps=64),
    "cummax": Listed(extreme_scan(np.maximum), along_one, "f"),
    "cummin": Listed(extreme_scan(np.minimum), along_one, "f"),
    "linear_scan": Listed(linear_scan, linear_scans, "f", ulps=64),
    "logcumsumexp": Listed(log_cumsum, scans, "f", ulps=8),
    "logcumsumexp_grad": Listed(log_cumsum_pulled, scan_gradients(log_cumsum), "f", ulps=64),
    "argmax": Listed(first_of(np.argmax), along_one, "if"),
    "argmin": Listed(first_of(np.argmin), along_one, "if"),
}
