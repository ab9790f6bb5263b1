"""Tensors that the trips of a loop make, each of extents that the trip finds: eager code's values and gradients, bit for bit.

Each way to make one stands in each form of loop. What the gradient of a trip needs to know of the extents that the trip
before found, the trip has to keep.
"""

import numpy as np
import pytest
from programs_compare import check, copies, t

import d2s
from d2s.errors import CaptureError

ROWS = t([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
HELD = d2s.to_tensor([True, False, True])
SETS = tuple((ROWS, HELD, t(n)) for n in (2, 1, 3, 0))
WAYS = {
    "first rows": lambda x, m, k: x[: k + 1] * 2,
    "last rows": lambda x, m, k: x[k:] * x[0],
    "rows back from the end": lambda x, m, k: x[::-1][: k + 1] + 1,
    "masked rows": lambda x, m, k: x[m] * 2,
    "masked values": lambda x, m, k: x[x > k],
    "masked_select": lambda x, m, k: d2s.masked_select(x, x > k).exp(),
    "nonzero": lambda x, m, k: x[d2s.nonzero(m).flatten()] * 3,
    "more rows": lambda x, m, k: d2s.concat([x, x[:k]]),
    "more columns": lambda x, m, k: d2s.concat([x[:, :k], x * 2], 1),
    "expanded": lambda x, m, k: x[:1].expand([k + 1, 2]) * x[0],
    "index_select": lambda x, m, k: d2s.index_select(x, d2s.arange(k + 1)) * x[0],
    "a product": lambda x, m, k: x[: k + 1] @ x[:2],
    "softmax": lambda x, m, k: d2s.nn.functional.softmax(x[: k + 1]) * x[:1],
    "sorted": lambda x, m, k: d2s.sort(x[: k + 1], 0),
    "tiled": lambda x, m, k: x.tile([k + 1, 1]).tanh(),
}


def counted(way, x, m, n):
    for k in range(n):
        y = way(x, m, k)
    return y


def begun_and_read_by_a_sum(way, x, m, n):
    y, total = x * 1, x.sum()
    for k in range(n):
        total = total + (y * y).sum()
        y = way(x, m, k)
    return y, total


def as_long_as(way, x, m, n):
    y, k = x * 2, 0
    while k < n:
        y = way(x, m, k)
        x = x + y.mean() * 0.125
        k += 1
    return y, x


def left(way, x, m, n):
    y = x
    for k in range(5):
        y = way(x, m, k)
        if k + 1 >= n:
            break
    return y


def carried_on(way, x, m, n):
    y = z = x
    for k in range(n):
        z = y
        y = way(x, m, k)
    return y, z


def in_a_loop_of_a_loop(way, x, m, n):
    y, total = x * 1, x[0] * 0
    for j in range(n):
        for k in range(j + 1):
            y = way(x, m, k)
        total = total + y.sum()
    return y, total


def kept_as_sums(way, x, m, n):
    sums = [x.sum()]
    for k in range(n):
        y = way(x, m, k)
        sums.append(y.sum())
    return d2s.stack(sums)


def reckoned_on_a_path(way, x, m, n):
    total = x.sum()
    for k in range(n):
        y = way(x, m, k).flatten()
        if y.sum() > 3:
            total = total + y.tile([2]).tanh().sum()
    return total


FORMS = counted, begun_and_read_by_a_sum, as_long_as, left, carried_on, in_a_loop_of_a_loop, kept_as_sums, reckoned_on_a_path


def bound(form, way):
    def run(x, m, n):
        return form(way, x, m, n)

    return run


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_gradients_outside(way, form):
    check(bound(form, WAYS[way]), SETS)


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
@pytest.mark.parametrize("way", WAYS)
def test_gradients_inside(way, form):
    def stepped(x, m, n):
        made = form(WAYS[way], x, m, n)
        first = made[0] if isinstance(made, tuple) else made
        (first * first).sum().backward()
        return x.grad

    static = d2s.to_static(stepped)
    for args in SETS[:3]:
        for _ in range(2):
            found, expected = static(*copies(args)), stepped(*copies(args))
            np.testing.assert_array_equal(found.numpy(), expected.numpy())


@pytest.mark.parametrize("form", [counted, begun_and_read_by_a_sum, carried_on], ids=lambda form: form.__name__)
@pytest.mark.parametrize("way", ["first rows", "masked values", "more rows", "tiled", "softmax"])
def test_gradients_of_gradients(way, form):
    def penalty(x, m, n):
        made = form(WAYS[way], x * 0.25, m, n)
        last = made[0] if isinstance(made, tuple) else made
        (g,) = d2s.grad([(last * last * last).sum()], [x], create_graph=True)
        (g * g).sum().backward()
        return x.grad

    static = d2s.to_static(penalty)
    try:
        static(*copies(SETS[0]))
    except CaptureError as refusal:
        assert refusal.code == "D2S1003" and "second name" in str(refusal)  # the same addends, in another order
        return
    for args in SETS[:3]:
        for _ in range(2):
            found, expected = static(*copies(args)), penalty(*copies(args))
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
