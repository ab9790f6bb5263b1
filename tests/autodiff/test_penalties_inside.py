"""Gradients of gradients inside of captured functions, through loops and branches: eager code's bits, or refused by name."""

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError


def begun_with_what_trips_read(x, w, n):
    h = x
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
    return h


def begun_with_its_own(x, w, n):
    h = x * 0.5
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
    return h


def counted(x, w, n):
    h, i = x * 0.5, 0
    while i < n:
        h = d2s.tanh(h @ w + x)
        i += 1
    return h


def over_rows(x, w, n):
    h = d2s.zeros([2])
    for row in x:
        h = d2s.tanh(h @ w + row)
    return h


def made_anew(x, w, n):
    z = x
    for _ in range(n):
        z = d2s.tanh(x)
    return z


def branching(x, w, n):
    h = x * 0.5
    for _ in range(n):
        h = d2s.tanh(h @ w + x) if h.sum() > 0 else d2s.sin(h * 1.5) + x
    return h


def several_inside(x, w, n):
    h = x * 0.5
    for _ in range(n):
        y = d2s.exp(h * x)
        h = d2s.tanh(y * h) / (1 + y * y)
    return h


def two_states(x, w, n):
    h, c = x * 0.5, x * 0.3
    for _ in range(n):
        c = d2s.tanh(c * h + x)
        h = d2s.sin(c) * h
    return h * c


def summed_up(x, w, n):
    h, s = x * 0.5, x * 0.1
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
        s = s + h * h
    return s * h


def left_by_break(x, w, n):
    h = x * 0.5
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
        if h.sum() > 1:
            break
    return h


def loop_in_a_loop(x, w, n):
    h = x * 0.5
    for _ in range(n):
        for _ in range(n):
            h = d2s.tanh(h @ w + x)
        h = d2s.sin(h)
    return h


def one_arm(x, w, n):
    y = d2s.exp(x * 0.5)
    if x.sum() > 0:
        y = d2s.tanh(y * x) * y
    return y * y * x


def state_that_stays(x, w, n):
    h = x * 0.5
    for _ in range(n):
        if h.sum() > 0:
            h = d2s.tanh(h @ w - x)
    return h


def exchanged(x, w, n):
    a, b = x * 0.5, x * 0.3
    for _ in range(n):
        a, b = b, d2s.tanh(a * b + b)
    return a * b


def kept_in_a_list(x, w, n):
    h, kept = x * 0.5, [x]
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
        kept.append(h)
    return d2s.stack(kept)


def one_behind_the_other(x, w, n):
    h = x * 0.5
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
    for _ in range(n):
        h = d2s.sin(h * x) * d2s.exp(-h * h)
    return h


def begun_with_what_is_read_behind(x, w, n):
    begun = x * 0.5
    h = begun
    for _ in range(n):
        h = d2s.tanh(h @ w + x)
    return h * begun


def of_one(h, x, w):
    (g,) = d2s.grad((h * h).sum(), [x], create_graph=True)
    (g * g).sum().backward()


def of_both(h, x, w):
    found = d2s.grad((h * h).sum(), [x, w], create_graph=True, allow_unused=True)
    sum((g * g).sum() for g in found if g is not None).backward()


def of_a_weight(h, x, w):
    (g,) = d2s.grad((h * h).sum(), [w], create_graph=True, allow_unused=True)
    ((h if g is None else g * g).sum()).backward()


def beside_the_result(h, x, w):
    (g,) = d2s.grad((h * h).sum(), [x], create_graph=True)
    ((g * g).sum() + (h * h * h).sum()).backward()


def twice(h, x, w):
    for _ in range(2):
        (g,) = d2s.grad((h * h).sum(), [x], create_graph=True)
        h = g
    (g * g).sum().backward()


SURE = (
    begun_with_what_trips_read,
    begun_with_its_own,
    counted,
    over_rows,
    made_anew,
    branching,
    several_inside,
    two_states,
    summed_up,
    left_by_break,
    one_arm,
)
OTHERS = (
    loop_in_a_loop,
    state_that_stays,
    exchanged,
    kept_in_a_list,
    one_behind_the_other,
    begun_with_what_is_read_behind,
)
SECOND = (of_one, of_both, beside_the_result)


def penalized(function, penalty):
    def penalized(x, w, n):
        h = function(x, w, n)
        penalty(h, x, w)
        return h

    return penalized


def gradients(function, n, seed):
    random = np.random.default_rng(seed)
    x, w = (d2s.to_tensor(random.standard_normal(shape).astype("float32") * 0.7) for shape in ((3, 2), (2, 2)))
    x.stop_gradient = w.stop_gradient = False
    function(x, w, d2s.to_tensor(n))
    return [None if t.grad is None else t.grad.numpy().tobytes() for t in (x, w)]


def compare(function, static):
    for seed, n in enumerate((3, 2, 4, 1, 0, 3)):
        assert gradients(static, n, seed) == gradients(function, n, seed), n


@pytest.mark.parametrize("penalty", SECOND)
@pytest.mark.parametrize("function", SURE)
def test_bits(function, penalty):
    both = penalized(function, penalty)
    with d2s.config(EXECUTOR="interpreter"):
        compare(both, d2s.to_static(both))


@pytest.mark.parametrize("function", [begun_with_what_trips_read, made_anew, summed_up])
def test_bits_of_what_is_compiled(function):
    both = penalized(function, of_both)
    compare(both, d2s.to_static(both))


@pytest.mark.parametrize(
    ("function", "penalty"),
    [(function, penalty) for function in OTHERS for penalty in (*SECOND, of_a_weight)]
    + [(function, penalty) for function in SURE for penalty in (of_a_weight, twice)],
)
def test_bits_or_refused(function, penalty):
    both = penalized(function, penalty)
    static = d2s.to_static(both)
    with d2s.config(EXECUTOR="interpreter"):
        try:
            gradients(static, 3, 0)
        except CaptureError as refusal:
            assert refusal.code == "D2S1003" and "second name" in str(refusal) and "outside of the function" in refusal.hint
        else:
            compare(both, static)
