"""Sorted values, and what is read off them."""

import numpy as np

from tests.samples.reduce import distinct
from tests.samples.sample import Listed


def ordered(x, axis=-1, descending=False):
    places = np.argsort(-x.astype(np.float64) if descending else x, axis, kind="stable")
    return np.take_along_axis(x, places, axis), places.astype(np.int64)


def sorts(make):
    for shape, axis in [((3, 70), 1), ((70, 3), 0), ((2, 5, 6), 1), ((1,), 0)]:
        for descending in (False, True):
            yield (
                [distinct(make(*shape)) if make(1).dtype.kind == "f" else make(*shape)],
                {"axis": axis, "descending": descending},
            )


def ends_of_runs(x, axis):
    def one(row):
        ends = np.flatnonzero(np.append(row[1:] != row[:-1], True))
        return ends[np.argmax(np.diff(np.append(-1, ends)))]

    return np.expand_dims(np.apply_along_axis(one, axis, x), axis).astype(np.int64)


def runs(make):
    for shape, axis in [((3, 9), 1), ((9, 3), 0)]:
        yield [np.sort(np.round(make(*shape)).astype(make(1).dtype), axis)], {"axis": axis}


def searches(make):
    rows = np.sort(make(2, 5), -1)
    yield [np.sort(make(5)), make(3, 2)], {"out_int32": False, "right": False}
    yield [rows, make(2, 4)], {"out_int32": True, "right": True}
    yield [rows, rows], {"out_int32": False, "right": False}


def places(sequence, values, out_int32=False, right=False):
    side = "right" if right else "left"
    if sequence.ndim == 1:
        found = np.searchsorted(sequence, values, side)
    else:
        found = np.stack([np.searchsorted(s, v, side) for s, v in zip(sequence, values, strict=True)])
    return found.astype(np.int32 if out_int32 else np.int64)


SAMPLES = {
    "sorted": Listed(ordered, sorts, "if"),
    "longest_run": Listed(ends_of_runs, runs, "if", smooth=False),
    "searchsorted": Listed(places, searches, "if", smooth=False),
}
