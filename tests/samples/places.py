"""Ops at places that index tensors name."""

import numpy as np

from tests.samples.sample import Listed


def index(*values, of="int64"):
    return np.array(values, of)


def in_front(x, axes):
    """x with the axes for indices brought to the front."""
    return np.moveaxis(x, axes, range(len(axes)))


def in_place(result, indices, axes, front):
    """A result with its indexed part in front, as the op gives it."""
    rank = indices[0].ndim
    return result if front else np.moveaxis(result, range(rank), range(axes[0], axes[0] + rank))


def taken(x, *indices, axes, front=False):
    return in_place(in_front(x, axes)[indices], indices, axes, front)


def changed(x, value, indices, axes, front, put):
    """x with `put` done at each place in order."""
    out, rank = x.copy(), indices[0].ndim
    moved = in_front(out, axes)
    if value.ndim and not front:
        value = np.moveaxis(value, range(axes[0], axes[0] + rank), range(rank))
    for n in np.ndindex(indices[0].shape):
        put(moved, tuple(int(i[n]) for i in indices), value[n] if value.ndim else value)
    return out


def assigned(out, at, value):
    out[at] = value


def added(out, at, value):
    out[at] += value


def put_at(x, value, *indices, axes, front=False):
    return changed(x, value, indices, axes, front, assigned)


def add_at(x, value, *indices, axes, front=False):
    return changed(x, value, indices, axes, front, added)


def collect(x, like, *indices, axes, front=False):
    return changed(np.zeros(like.shape, x.dtype), x, indices, axes, front, added)


AT = [  # shape, indices, attributes
    ((5,), [index(4, 0, -1, 0)], {"axes": (0,)}),
    ((5, 3), [index(1, 1, -5, of="int32")], {"axes": (0,)}),
    ((3, 5), [index([0, 1], [4, 0])], {"axes": (1,)}),
    ((3, 5), [index(2, 0, 2), index(4, -1, 4)], {"axes": (0, 1)}),
    ((2, 3, 4), [index(0, 2, 1), index(3, 3, 0)], {"axes": (1, 2)}),
    ((2, 3, 4), [index(0, 1, 0), index(3, 0, 3)], {"axes": (0, 2), "front": True}),
    ((2, 3, 4, 2), [index([2], [0]), index([0], [0])], {"axes": (1, 3), "front": True}),
    ((2, 3, 4), [index(2, 0, 2)], {"axes": (1,), "front": True}),
    ((2, 3), [np.array(1)], {"axes": (1,)}),
    ((2, 3), [np.zeros((0, 2), np.int64)], {"axes": (1,)}),
    ((2, 0), [index(1, 0)], {"axes": (0,)}),
    ((20, 3), [index(3, 19, 3, 7, 11, 3)], {"axes": (0,)}),
]


def on_places(make):
    return [([make(*s), *indices], attrs) for s, indices, attrs in AT]


def with_values(make, first):
    """Values in the shape of what is taken, beside the whole, in the order an op takes them."""
    cases = [(make(*taken(np.zeros(s), *i, **a).shape), make(*s), i, a) for s, i, a in AT]
    return [([*((v, x) if first else (x, v)), *i], a) for v, x, i, a in cases]


def with_numbers(make):
    return [*with_values(make, False), *(([make(*s), make(), *i], a) for s, i, a in AT)]


def looked_up(x, index, weight, padding_idx):
    kept = x if padding_idx is None else np.where(index[..., None] == padding_idx, np.zeros((), x.dtype), x)
    return collect(kept, weight, index, axes=(0,))


def embedded(x, weight, padding_idx=None):
    found = weight[x].copy()
    if padding_idx is not None:
        found[x == padding_idx % len(weight)] = 0
    return found


ROWS = [
    ((5, 3), index(1, 4, 1)),
    ((5, 3), index([0, 1], [4, 4], of="int32")),
    ((4, 1), np.array(2)),
    ((3, 2), np.zeros(0, int)),
]
ALONG = [  # shape, index, axis
    ((3, 4), index([3, 0], [1, 1], [0, 0]), 1),
    ((3, 4), index([0, 1, 2, -1]), 0),
    ((2, 3, 2), index([[2, 0], [1, 1]], [[0, 0], [2, -3]]), 1),
    ((5,), index(4, 4, 0, of="int32"), 0),
    ((2, 0), np.zeros((2, 0), np.int64), 0),
]


def along(make):
    return [([make(*s), i], {"axis": axis}) for s, i, axis in ALONG]


REDUCE = {"assign": lambda a, b: b, "add": np.add, "multiply": np.multiply, "amin": np.minimum, "amax": np.maximum}


def put_along(x, index, value, axis, reduce="assign"):
    out, value = x.copy(), np.broadcast_to(value, index.shape)
    for at in np.ndindex(index.shape):
        to = (*at[:axis], int(index[at]), *at[axis + 1 :])
        out[to] = REDUCE[reduce](out[to], value[at])
    return out


def puts_along(make, reduces):
    values = [(s, i, axis, i.shape if n % 2 else ()) for n, (s, i, axis) in enumerate(ALONG * 2)]
    return [([make(*s), i, make(*v)], {"axis": axis, "reduce": r}) for s, i, axis, v in values for r in reduces]


SAMPLES = {
    "take_at": Listed(taken, on_places),
    "collect": Listed(collect, lambda make: with_values(make, True), kinds="if"),
    "put_at": Listed(put_at, with_numbers),
    "add_at": Listed(add_at, with_numbers),
    "gather": Listed(
        lambda x, index, axis=None: np.take(x, index.reshape(-1) if index.ndim == 2 else index, axis or 0),
        lambda make: [
            ([make(*s), i], {"axis": axis} if axis is not None else {})
            for s, i, axis in [((4, 3), index(3, 0, -1), None), ((4, 3), index([2], [0]), 1), ((2, 3, 2), np.array(1), -2)]
        ],
    ),
    "embedding": Listed(
        embedded,
        lambda make: [([i, make(*s)], {"padding_idx": p}) for s, i in ROWS for p in (None, 1, -2)],
    ),
    "looked_up": Listed(
        looked_up,
        lambda make: [([make(*i.shape, s[1]), i, make(*s)], {"padding_idx": p}) for s, i in ROWS for p in (None, 1)],
        kinds="if",
    ),
    "positions": Listed(
        lambda like: np.arange(like.size).reshape(like.shape),
        lambda make: [([make(*s)], {}) for s in [(), (3,), (2, 3), (0, 2)]],
    ),
    "take_along": Listed(lambda x, index, axis: np.take_along_axis(x, index.astype(np.int64), axis), along),
    "collect_along": Listed(
        lambda x, index, like, axis: put_along(np.zeros(like.shape, x.dtype), index, x, axis, "add"),
        lambda make: [([make(*i.shape), i, make(*s)], {"axis": axis}) for s, i, axis in ALONG],
        kinds="if",
    ),
    "put_along": Listed(put_along, lambda make: puts_along(make, ["assign", "add"]), kinds="if"),
    "one_hot": Listed(
        lambda x, num_classes: (x[..., None] == np.arange(num_classes)).astype(np.float32),
        lambda make: [
            ([i], {"num_classes": 3}) for i in (index(0, 2, 1), index([1], [1], of="uint8"), np.array(2), np.zeros(0, int))
        ],
    ),
}
