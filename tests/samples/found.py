"""Ops whose results are as long as a run says; tried on extents that are told."""

import numpy as np

from d2s.ir.program import Program, Value
from d2s.ir.text import show
from d2s.types import Type, dtype
from tests.samples.sample import Listed


def number(n):
    return np.array(n, "int64")


def places_where(mask, count, finds):
    return np.flatnonzero(mask)


def counting(count, finds):
    return np.arange(count)


def along(start, count, axis, step):
    return (slice(None),) * axis + (start + step * np.arange(count),)


def cut(x, start, count, axis, step, finds):
    return x[along(start, count, axis, step)]


def uncut(x, like, start, count, axis, step):
    out = np.zeros_like(like)
    out[along(start, count, axis, step)] = x
    return out


def behind(*given, axis, finds):
    return np.concatenate(given[: len(given) // 2], axis)


def masks(make):
    for mask in (make(7), make(3, 4), np.zeros((0, 2), bool), np.ones((2, 2), bool), np.zeros(3, bool)):
        yield [mask, number(mask.sum())], {"finds": (int(mask.sum()),)}


PARTS = [  # shape, axis, start, count, step
    ((6,), 0, 1, 4, 1),
    ((6,), 0, 5, 3, -2),
    ((6,), 0, 6, 0, 1),
    ((3, 4), 1, 0, 2, 3),
    ((2, 5, 3), 1, 2, 2, 1),
    ((4, 0), 0, 1, 2, 1),
]


def parts(make):
    for shape, axis, start, count, step in PARTS:
        attrs = {"axis": axis, "step": step, "finds": (count,)}
        yield [make(*shape), number(start), number(count)], attrs


def put_parts(make):
    for shape, axis, start, count, step in PARTS:
        part = make(*(count if k == axis else d for k, d in enumerate(shape)))
        yield [part, make(*shape), number(start), number(count)], {"axis": axis, "step": step}


def rows(make):
    for axis, shapes in ((0, [(2, 3), (1, 3)]), (1, [(2, 1), (2, 0), (2, 4)]), (0, [(0,), (3,)])):
        sizes = [s[axis] for s in shapes]
        yield [*(make(*s) for s in shapes), *map(number, sizes), number(sum(sizes))], {"axis": axis, "finds": (sum(sizes),)}


def named_again(make):
    for shape in ((3,), (0, 2)):
        yield [make(*shape), number(shape[0])], {"shape": shape, "finds": (shape[0],)}


def open_shapes(make):
    for have, shape in (((2, 3), (6,)), ((4, 3), (2, 6)), ((0, 2), (0,)), ((), (1, 1))):
        yield [make(*have), number(shape[-1])], {"shape": (*shape[:-1], -1), "finds": shape[-1:]}


def wide(make):
    for shape in ((5,), (2, 3), (4, 0)):
        yield [make(), number(shape[-1])], {"shape": (*shape[:-1], -1), "finds": shape[-1:]}


def own_gradients(make):
    for shape in ((3,), (0, 2), ()):
        of = Type(dtype(make(*shape).dtype.name), shape)
        g = Value(of, "g")
        yield [make(*shape), make(*shape)], {"backward": ("Same", show(Program("backward", (g,), (), (g,))), (True,))}


def found_shape(shape, finds):
    return tuple(finds[0] if d == -1 else d for d in shape)


SAMPLES = {
    "laid": Listed(lambda x, n, shape, finds: x.reshape(found_shape(shape, finds)), open_shapes),
    "laid_as": Listed(
        lambda x, like: x.reshape(like.shape),
        lambda make: (([make(*a), make(*b)], {}) for a, b in (((2, 3), (6,)), ((0, 2), (0,)))),
    ),
    "filled": Listed(lambda x, n, shape, finds: np.full(found_shape(shape, finds), x), wide),
    "as_extent": Listed(
        lambda n, of, least: n, lambda make: (([number(n)], {"of": "full", "least": n}) for n in (0, 3)), kinds="f"
    ),
    "as_std": Listed(
        lambda x: x, lambda make: (([np.abs(make(*shape)) + 0.5], {}) for shape in ((3,), (2, 0), (2, 3))), kinds="f"
    ),
    "places_where": Listed(places_where, masks, kinds="b"),
    "counting": Listed(counting, lambda make: (([number(n)], {"finds": (n,)}) for n in (0, 1, 5)), kinds="f"),
    "cut": Listed(cut, parts),
    "uncut": Listed(uncut, put_parts),
    "own_gradient": Listed(lambda y, x, backward: y, own_gradients, kinds="f", smooth=False),
    "renamed": Listed(lambda x, n, shape, finds: x, named_again),
    "behind": Listed(behind, rows),
}
