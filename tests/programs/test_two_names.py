"""Gradients taken inside of captured functions, of tensors with several names: eager code's bits, or refused by name."""

import numpy as np
import pytest
import two_names
from programs_compare import PROGRAMS, bits, copies

import d2s
from d2s.errors import CaptureError

SUMS = [(f, sets) for f, sets in PROGRAMS[two_names.__name__] if not isinstance(f(*copies(sets[0])), tuple)]


def gradients(function, sets):
    found = [function(*copies(args)) for args in sets]
    return [[None if g is None else bits(g.array) for g in each] for each in found]


@pytest.mark.parametrize(("function", "sets"), SUMS, ids=lambda given: getattr(given, "__name__", ""))
def test_gradients_inside(function, sets):
    def inside(x, w, n):
        return d2s.grad(function(x, w, n), [x, w], allow_unused=True)

    static = d2s.to_static(inside)
    try:
        static(*copies(sets[0]))
    except CaptureError as refusal:
        assert refusal.code == "D2S1003" and "second name" in str(refusal) and "clone()" in refusal.hint
    else:
        assert gradients(static, sets) == gradients(inside, sets)


@pytest.mark.parametrize("place", ["once", "twice", "behind"])
def test_states_that_are_kept_in_a_list(place):
    """What a list has for a state comes first, as eagerly: refused where a state is also read behind where it is put there."""

    def trained(rows, h, u, copied):
        kept = []
        for row in rows:
            h = d2s.tanh(row + h @ u) * (h if place == "twice" else 1.0)
            kept.append(h.clone() if copied else h)
            h = h * 3 - h * row if place == "behind" else h
        return d2s.grad((d2s.stack(kept) ** 2).sum(), [u])

    rows, h, u = (
        d2s.to_tensor(np.cos(np.arange(np.prod(shape)) * 1.3).reshape(shape).astype("float32"), stop_gradient=False)
        for shape in ((5, 8), (8,), (8, 8))
    )
    static = d2s.to_static(trained)
    for copied in (True, False):
        if place == "behind" and not copied:
            with pytest.raises(CaptureError, match="second name"):
                static(rows, h, u, copied)
        else:
            assert bits(static(rows, h, u, copied)[0].array) == bits(trained(rows, h, u, copied)[0].array)
