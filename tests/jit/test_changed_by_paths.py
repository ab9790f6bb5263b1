"""What branches, loops and `try` change in place: where eager code refuses a gradient, a static call does, and only there."""

import pytest

import d2s
from d2s.errors import GradientError


def in_an_arm(x, w, n):
    y = x * 2.0
    z = y * w
    if n > 1:
        y.add_(w)
    return z.sum() + y.sum()


def in_a_loop_behind(x, w, n):
    y = x * 2.0
    z = y * w
    i = 0
    while i < n:
        y.add_(w)
        i += 1
    return z.sum() + y.sum()


def in_each_trip(x, w, n):
    y = x * 2.0
    z = w * 0
    i = 0
    while i < n:
        z = z + y * w
        y.add_(w)
        i += 1
    return z.sum() + y.sum()


def read_behind_the_change(x, w, n):
    y = x * 2.0
    z = w * 0
    i = 0
    while i < n:
        y.add_(w)
        z = z + y * w
        i += 1
    return z.sum() + y.sum()


def read_in_an_arm(x, w, n):
    y = x * 2.0
    z = 0
    if n > 0:
        z = d2s.exp(y).sum() * w.sum()
    y.add_(w)
    return z + y.sum()


def some_of_it(x, w, n):
    y = x * 2.0
    z = y * y if n > 2 else y + w
    if n != 1:
        y[0] = 1.0
    return z.sum() + (y * w).sum()


def two_in_a_trip(x, w, n):
    y = x * 2.0
    z = w * 1.0
    for i in range(n):
        t = y * 1.0
        if i == 1:
            t.add_(w)
        z = z * t
        if i == 2:
            t.add_(w)
    return z.sum()


def a_buffer(x, w, n):
    buf = d2s.zeros([4, 2])
    i = 0
    hh = x
    while i < n:
        hh = d2s.tanh(hh * w)
        buf[i] = hh
        i += 1
    return (buf * w).sum() + buf[0].sum()


def in_a_try(x, w, n):
    y = x * 2.0
    try:
        z = y * w
        y.add_(w)
        if n > 1:
            raise ValueError
    except ValueError:
        z = y * 1.0
    return z.sum()


FUNCTIONS = [in_an_arm, in_a_loop_behind, in_each_trip, read_behind_the_change, read_in_an_arm, some_of_it, two_in_a_trip]


def swept(function, n):
    """The gradients, or which lines the refusal names."""
    x, w = (d2s.to_tensor(v, stop_gradient=False) for v in ([1.0, 2.0], [3.0, 4.0]))
    try:
        function(x, w, d2s.to_tensor(n)).backward()
    except GradientError as refusal:
        assert "changed in place" in str(refusal)
        return refusal.code
    return [t.grad.tolist() if t.grad is not None else None for t in (x, w)]


@pytest.mark.parametrize("function", [*FUNCTIONS, a_buffer, in_a_try])
def test_a_gradient_that_needs_what_a_path_has_changed(function):
    static = d2s.to_static(function)
    for n in (0, 1, 2, 3, 0, 3):
        assert swept(static, n) == swept(function, n), n


def test_inside_of_the_function():
    def inside(x, w, n):
        return d2s.grad(in_an_arm(x, w, n), [x, w])

    x, w = (d2s.to_tensor(v, stop_gradient=False) for v in ([1.0, 2.0], [3.0, 4.0]))
    with pytest.raises(d2s.errors.CaptureError, match="changed in place"):
        d2s.to_static(inside)(x, w, d2s.to_tensor(0))


def rests_on_one_answer(x, w):
    y = x @ w * 1.0
    if x.sum() > 0:
        w.stop_gradient = not w.stop_gradient
    w.set_value(w * 0.5)
    return y


def changed_where_it_rests(x, w):
    y = x @ w * 1.0
    if x.sum() > 0:
        w.stop_gradient = not w.stop_gradient
        with d2s.no_grad():
            w.clip_(-0.7, 0.7)
    return y


def changed_on_a_path_where_it_rests(x, w):
    y = x @ w * 1.0
    if x.sum() > 0:
        w.stop_gradient = not w.stop_gradient
        if x.max() > 2:
            w.set_value(w * 0.8)
    return y


def changed_twice_on_a_path_and_copied(x, w):
    y = (x @ w).square().mean()
    w.set_value(w * 0.5)
    if x.sum() > 0:
        w.set_value(w * 0.5)
        return y, w.clone()
    return y, x


RESTING = [rests_on_one_answer, changed_where_it_rests, changed_on_a_path_where_it_rests, changed_twice_on_a_path_and_copied]


@pytest.mark.parametrize("function", RESTING, ids=lambda f: f.__name__)
def test_what_leaves_held_before_they_rested_or_were_given_more(function):
    told = []
    for call in (function, d2s.to_static(function)):
        w, found = d2s.to_tensor([[0.5, 1.0], [2.0, -1.0]], stop_gradient=False), []
        for n, row in enumerate(([1.0, 0.5], [3.0, 1.0], [-1.0, -2.0], [-1.0, 3.0]) * 3):
            x = d2s.to_tensor([row], stop_gradient=n > 7)
            results = call(x, w)
            results = results if isinstance(results, tuple) else (results,)
            found += [(result.tolist(), result.stop_gradient) for result in results]
            for result in results:
                try:
                    result.sum().backward()
                except GradientError as error:
                    found.append(error.message.split(" (at")[0])
            found += [(None if t.grad is None else t.grad.tolist(), t.stop_gradient) for t in (x, w)]
        told.append(found)
    assert told[0] == told[1]
