"""Calls that change what they have read, swept in ways that look into them: as eager code, whatever lies there by now."""

import pytest

import d2s
from d2s.errors import GradientError

G = d2s.to_tensor([0.5, -1.0])


def behind_a_read(x, b):
    z = x + b
    b.add_(d2s.ones([2]))
    y = z + b if x.sum() > 0 else z - b
    return (y * y).sum(), z


def a_tensor_of_the_module(x, b):
    y = x * x * G
    G.multiply_(b * 2.0)
    return (d2s.tanh(y) * G).sum(), y


def some_places(x, b):
    z = d2s.tanh(x * b.sum())
    b[0:1] = (z * z).detach()[1:2]
    i = 0
    while i < 2:
        z = z * (x + b[0])
        i += 1
    return z.sum(), z


def on_a_path(x, b):
    z = x * b
    if x[0] > 1.5:
        b.add_(d2s.ones([2]))
    return (z * z).sum(), z


def its_own_history(x, b):
    y = x * 1.0
    z = y * y * b
    b.set_value(z.detach())
    y.add_(b)
    return (y * z).sum(), z


def in_an_arm_of_a_loop(x, b):
    y = d2s.tanh(x)
    i = 0
    while i < x[0]:
        i += 2
        if b[0] < 0:
            y.scale_(0.5, 0.25)
        else:
            y.add_(y * 2.0)
    return y.sum(), y


def by_what_is_changed_later(x, b):
    y = x * 1.5
    y.multiply_(b)
    if x[0] > 1.5:
        b.add_(d2s.ones([2]))
    b.scale_(0.5)
    return y.sum(), y


def where_no_trip_is_made(x, b):
    y = b - x
    while x.sum() < 0:
        x = x + b.sum()
        y = x * 2.0
    b.multiply_((y + 1.0).detach())
    return (y * y).sum(), y


def what_it_left(x, b):
    b.add_(d2s.ones([2]))
    return (x * b).sum(), x * 2.0


FUNCTIONS = [behind_a_read, a_tensor_of_the_module, some_places, on_a_path, its_own_history, in_an_arm_of_a_loop]
FUNCTIONS += [by_what_is_changed_later, where_no_trip_is_made, what_it_left]


def twice(loss, x, *_):
    loss.backward(retain_graph=True)
    loss.backward()
    return [x.grad]


def second_order(loss, x, *_):
    (g,) = d2s.grad(loss, x, create_graph=True)
    return [g, *d2s.grad((g * g).sum(), x, allow_unused=True)]


def seen_by_a_hook(loss, x, y, *_):
    seen = []
    y.register_hook(lambda g: seen.append(g) or g * 2.0)
    loss.backward()
    return [*seen, x.grad]


def kept(loss, x, y, *_):
    y.retain_grads()
    loss.backward()
    return [y.grad, x.grad]


def towards(loss, x, y, *_):
    return d2s.grad(loss, [y, x], allow_unused=True)


def behind_another_call(loss, x, y, function, b):
    function(x.detach(), b)
    return second_order(loss, x)


SWEEPS = [twice, second_order, seen_by_a_hook, kept, towards, behind_another_call]


def found(function, sweep, values):
    """What a sweep gives and what lies there then, or which lines its refusal names."""
    G.set_value([0.5, -1.0])
    x, b = d2s.to_tensor(values, stop_gradient=False), d2s.to_tensor([3.0, 4.0])
    loss, y = function(x, b)
    try:
        given = [None if g is None else g.tolist() for g in sweep(loss, x, y, function, b)]
    except GradientError as refusal:
        assert "changed in place" in str(refusal)
        given = refusal.code
    return given, b.tolist(), G.tolist()


@pytest.mark.parametrize("sweep", SWEEPS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_call_is_run_again_on_what_it_found(function, sweep):
    static = d2s.to_static(function)
    for values in [[1.0, 2.0], [2.0, -0.5], [-1.0, -2.0]] * 3:
        assert found(static, sweep, values) == found(function, sweep, values), values


def test_what_only_moves_a_tensor_on_is_not_kept():
    static = d2s.to_static(d2s.nn.BatchNorm1D(3))
    x = d2s.to_tensor([[1.0, 2.0, 3.0], [0.5, 0.0, 4.0]], stop_gradient=False)
    for _ in range(4):
        assert not static(x).node.before


@pytest.mark.parametrize("connected", [True, False])
@pytest.mark.parametrize("others", [True, False], ids=["by the other", "not by it"])
def test_what_has_changed_matters_where_the_sweep_comes_there_only(others, connected):
    """A call whose second result alone depends on another call, the memory of which was written over since."""

    def squares(p, q):
        return p * p, q * q

    def bent(w, b):
        z = w * b
        return z.tanh() * z if z.sum() > 0 else z

    found = []
    for wrap in (lambda f: f, d2s.to_static):
        first, second = wrap(bent), wrap(squares)
        for _ in range(3):
            p, w = (d2s.to_tensor(values, stop_gradient=False) for values in ([1.0, 2.0], [1.0, 3.0]))
            b, seen = d2s.to_tensor([1.0, 0.5]), []
            hooked = first(w, b)
            hooked.register_hook(seen.append)
            results = second(p, hooked)
            b.add_(d2s.ones([2]))
            try:
                given = d2s.grad(results[others].sum(), [p, w], create_graph=connected, allow_unused=True)
                found.append([None if g is None else g.tolist() for g in given])
            except GradientError as error:
                found.append("changed in place" in str(error))
            assert others or not seen
    assert found == [True if others else [[2.0, 4.0], None]] * 6
