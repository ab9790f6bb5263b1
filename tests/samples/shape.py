"""Ops that give the same values another shape or order, join or repeat them."""

import itertools

import numpy as np

from tests.samples.sample import Listed

SHAPES = [(), (0,), (1,), (7,), (2, 0, 3), (2, 3, 4), (3, 1, 2)]


def of_shapes(*pairs):
    """Cases of one input: shapes and attributes."""
    return lambda make: [([make(*shape)], attrs) for shape, attrs in pairs]


def permuted(make):
    """All permutations up to four axes, extents beyond a block, and such that are empty or 1."""
    shapes = [(), (5,), (3, 4), (17, 33), (40, 8), (0, 3), (2, 3, 4), (1, 18, 5), (2, 17, 1, 19)]
    return [([make(*s)], {"perm": p}) for s in shapes for p in itertools.permutations(range(len(s)))]


def joined(make):
    shapes = [([(3,), (0,), (2,)], 0), ([(2, 3), (2, 1), (2, 5)], 1), ([(2, 3), (4, 3)], -2), ([(1, 2, 2), (1, 3, 2)], 1)]
    return [([make(*s) for s in found], {"axis": axis}) for found, axis in shapes] + [([make(4)], {"axis": 0})]


def stacked(make):
    cases = [((), 0, 3), ((2,), 0, 2), ((2,), -1, 3), ((2, 3), 1, 1), ((2, 0), 1, 2), ((2, 3), 2, 4)]
    return [([make(*s) for _ in range(count)], {"axis": axis}) for s, axis, count in cases]


def stretches(*rows):
    """Attributes of the slicing ops: (axis, start, count, step) for each axis, the dropped last."""
    *rows, dropped = rows
    columns = [tuple(c) for c in zip(*rows, strict=True)] or [()] * 4
    return dict(zip(("axes", "starts", "counts", "steps", "dropped"), (*columns, dropped), strict=True))


SLICES = [
    ((7,), stretches((0, 2, 3, 1), ()), np.s_[2:5]),
    ((7,), stretches((0, 6, 4, -2), ()), np.s_[::-2]),
    ((7,), stretches((0, 5, 1, 1), (0,)), np.s_[5]),
    ((7,), stretches((0, 0, 0, 1), ()), np.s_[:0]),
    ((4, 5), stretches((1, 1, 2, 2), ()), np.s_[:, 1:4:2]),
    ((4, 5), stretches((0, 3, 4, -1), (1, 2, 1, 1), (1,)), np.s_[::-1, 2]),
    ((2, 3, 4), stretches((0, 1, 1, 1), (2, 0, 2, 3), (0,)), np.s_[1, :, ::3]),
    ((2, 3, 4), stretches((1, 2, 2, -2), ()), np.s_[:, ::-2]),
    ((2, 3, 4), stretches((0, 0, 1, 1), (1, 1, 1, 1), (2, 2, 1, 1), (0, 1, 2)), np.s_[0, 1, 2]),
    ((2, 3, 2, 3), stretches((1, 0, 2, 1), (3, 2, 1, 1), ()), np.s_[:, :2, :, 2:]),
]
PLACES = {tuple(map(str, (shape, attrs))): place for shape, attrs, place in SLICES}


def placed(shape, attrs):
    return PLACES[tuple(map(str, (shape, attrs)))]


def unsliced(x, like, **attrs):
    out = np.zeros(like.shape, x.dtype)
    out[placed(like.shape, attrs)] = x
    return out


def replaced(x, value, **attrs):
    out = x.copy()
    out[placed(x.shape, attrs)] = value
    return out


def with_part(make, first):
    """A tensor, or a value, in the shape of a part, beside the whole: in the order an op takes them."""
    cases = [(make(*np.zeros(s)[place].shape), make(*s), attrs) for s, attrs, place in SLICES]
    return [([part, whole] if first else [whole, part], attrs) for part, whole, attrs in cases]


def triangles(make):
    shapes = [(3, 3), (2, 5), (5, 2), (0, 2), (2, 3, 4)]
    return [([make(*s)], {"diagonal": d}) for s in shapes for d in (0, 1, -2, 9)]


def diagonals(make):
    cases = [
        ((3, 3), {}),
        ((2, 5), {"offset": 2}),
        ((5, 2), {"offset": -1}),
        ((2, 3, 4), {"axis1": 2, "axis2": 0}),
        ((2, 2), {"offset": 7}),
    ]
    return [([make(*s)], attrs) for s, attrs in cases]


def set_diagonal(x, value, offset=0, axis1=0, axis2=1):
    out = np.moveaxis(x.copy(), (axis1, axis2), (-2, -1))
    rows = np.arange(np.diagonal(out, offset, -2, -1).shape[-1])
    out[..., rows + max(-offset, 0), rows + max(offset, 0)] = value
    return np.moveaxis(out, (-2, -1), (axis1, axis2))


def with_diagonal(make):
    return [
        ([x, make(*np.diagonal(x, *attrs.values()).shape) if n % 2 else make()], attrs)
        for n, ([x], attrs) in enumerate((c, {"offset": 0, "axis1": 0, "axis2": 1} | a) for c, a in diagonals(make) * 2)
    ]


PADS = [((3,), (2,), (1,)), ((2, 3), (0, 2), (0, 0)), ((4, 3, 2), (1, 0, 1), (3, 0, 1)), ((2, 5), (0, 0), (0, 0)), ((), (), ())]
MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def padded(x, lows, highs, mode):
    return np.pad(x, list(zip(lows, highs, strict=True)), mode=MODES[mode]) if x.ndim else x


def unpadded(x, like, lows, highs, mode):
    sources = padded(np.arange(like.size).reshape(like.shape), lows, highs, mode)
    out = np.zeros(like.size, x.dtype)
    np.add.at(out, sources.ravel(), x.ravel())
    return out.reshape(like.shape)


def own_pads(make):
    found = [(s, {"lows": low, "highs": high, "mode": mode}) for s, low, high in PADS for mode in MODES]
    found = [
        (s, a)
        for s, a in found
        if a["mode"] != "reflect" or all(w < d for w, d in zip(a["lows"] + a["highs"], s * 2, strict=True))
    ]
    return [([make(*s)], a) for s, a in found] + [([make(3)], {"lows": (7,), "highs": (5,), "mode": "circular"})]


def pad_with(x, value, lows, highs):
    return np.pad(x, list(zip(lows, highs, strict=True)), constant_values=value) if x.ndim else x


SAMPLES = {
    "reshape": Listed(
        lambda x, shape: x.reshape([x.shape[k] if d == 0 else d for k, d in enumerate(np.atleast_1d(shape))]),
        of_shapes(
            *(((2, 3, 4), {"shape": s}) for s in [(24,), [4, 6], (0, -1), (2, 0, 2, -1), -1, (1, 24, 1)]),
            *(((0, 3), {"shape": s}) for s in [(-1, 5), (0, 3), (0, 0)]),
            *(((), {"shape": s}) for s in [(), (1, 1), (-1,)]),
        ),
    ),
    "reshape_like": Listed(
        lambda x, like: x.reshape(like.shape),
        lambda make: [
            ([make(*a), make(*b)], {}) for a, b in [((), (1, 1)), ((6,), (2, 3)), ((0, 2), (3, 0)), ((2, 3), (3, 2))]
        ],
    ),
    "flatten": Listed(
        lambda x, start_axis=0, stop_axis=-1: x.reshape(
            x.shape[:start_axis] + (-1 if x.size else 0,) + (x.shape[stop_axis:][1:] if x.ndim else ())
        ),
        of_shapes(
            *[((), {}), ((3,), {}), ((2, 3, 4), {}), ((2, 3, 4), {"start_axis": 1}), ((2, 3, 4), {"stop_axis": -2})],
            *[((2, 0, 3), {}), ((2, 3, 4), {"start_axis": 1, "stop_axis": 1})],
        ),
    ),
    "unflatten": Listed(
        lambda x, axis, shape: x.reshape((*x.shape[: axis % x.ndim], *shape, *x.shape[axis % x.ndim + 1 :])),
        of_shapes(
            ((6,), {"axis": 0, "shape": (2, 3)}),
            ((2, 6), {"axis": -1, "shape": (3, -1)}),
            ((2, 1, 3), {"axis": 1, "shape": (1, 1)}),
        ),
    ),
    "squeeze": Listed(
        lambda x, axis=None: np.squeeze(x, None if axis is None else tuple(a for a in np.atleast_1d(axis) if x.shape[a] == 1)),
        of_shapes(
            ((1, 2, 1), {}),
            ((1, 2, 1), {"axis": 0}),
            ((1, 2, 1), {"axis": [1, -1]}),
            ((), {}),
            ((1, 0), {}),
            ((3,), {"axis": 0}),
        ),
    ),
    "unsqueeze": Listed(
        lambda x, axis: np.expand_dims(x, axis),
        of_shapes(
            ((), {"axis": 0}), ((2, 3), {"axis": 1}), ((2, 3), {"axis": -1}), ((2, 3), {"axis": (0, 3)}), ((0,), {"axis": 0})
        ),
    ),
    "transpose": Listed(lambda x, perm: np.transpose(x, perm), permuted),
    "flip": Listed(
        np.flip,
        of_shapes(
            *(((2, 3, 4), {"axis": a}) for a in [0, -1, (1, 2), (0, 1, 2), ()]), ((0, 2), {"axis": 0}), ((5,), {"axis": [0]})
        ),
    ),
    "rotate": Listed(
        np.roll,
        of_shapes(
            *(((2, 3, 4), {"shift": s, "axis": a}) for s, a in [(1, 0), (-1, 1), (6, 2), (0, 2), (5, None), (-(2**40), 1)]),
            *[((0, 2), {"shift": 1, "axis": 0}), ((0, 2), {"shift": 1, "axis": None}), ((), {"shift": 3, "axis": None})],
        ),
    ),
    "expand": Listed(
        lambda x, shape: np.broadcast_to(x, [x.shape[k + x.ndim - len(shape)] if d == -1 else d for k, d in enumerate(shape)]),
        of_shapes(
            *(((3, 1), {"shape": s}) for s in [(3, 1), (3, 4), (-1, 4), (2, -1, -1), (2, 5, 3, 4), (3, 0)]),
            *[((), {"shape": (2, 2)}), ((), {"shape": ()}), ((1, 1, 2), {"shape": [3, 1, 2]})],
        ),
    ),
    "expand_as": Listed(
        lambda x, y: np.broadcast_to(x, y.shape),
        lambda make: [([make(*a), make(*b)], {}) for a, b in [((), (2,)), ((3, 1), (2, 3, 4)), ((2,), (2,)), ((1,), (0,))]],
    ),
    "tile": Listed(
        lambda x, repeat_times: np.tile(x, repeat_times),
        of_shapes(
            *(((2, 3), {"repeat_times": r}) for r in [(1,), (2,), (2, 1), (3, 2), (2, 1, 1), (2, 3, 4), ()]),
            *[((), {"repeat_times": (3,)}), ((0, 2), {"repeat_times": (2, 2)}), ((2,), {"repeat_times": 0})],
        ),
    ),
    "concat": Listed(lambda *xs, axis: np.concatenate(xs, axis), joined),
    "stacked": Listed(lambda *xs, axis: np.stack(xs, axis), stacked),
    "sliced": Listed(
        lambda x, **attrs: x[placed(x.shape, attrs)], lambda make: [([make(*s)], attrs) for s, attrs, _ in SLICES]
    ),
    "unsliced": Listed(unsliced, lambda make: with_part(make, True)),
    "set_slice": Listed(
        replaced, lambda make: with_part(make, False) + [([make(*s), make()], attrs) for s, attrs, _ in SLICES]
    ),
    "tril": Listed(lambda x, diagonal: np.tril(x, diagonal), triangles),
    "triu": Listed(lambda x, diagonal: np.triu(x, diagonal), triangles),
    "diagonal": Listed(np.diagonal, diagonals),
    "set_diagonal": Listed(set_diagonal, with_diagonal),
    "pad_with": Listed(pad_with, lambda make: [([make(*s), make()], {"lows": low, "highs": high}) for s, low, high in PADS]),
    "pad_own": Listed(padded, own_pads),
    "unpad_own": Listed(
        unpadded,
        lambda make: [([make(*padded(x, **a).shape), x], a) for (x,), a in own_pads(make)],
        kinds="if",
        ulps=8,
    ),
    "ramp": Listed(
        lambda start, step, count: start + np.arange(count).astype(start.dtype) * step,
        lambda make: [([np.array(a, kind), np.array(b, kind)], {"count": n}) for a, b, n, kind in RAMPS],
        kinds="f",
        smooth=False,
    ),
}
RAMPS = [(0, 1, 5, "int64"), (3, -2, 4, "int64"), (0.5, 0.1, 7, "float64"), (1.0, 1.0, 0, "float64")]
