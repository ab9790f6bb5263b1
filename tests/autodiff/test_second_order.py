"""Gradients of gradients through `if` and `while` on tensors: the bits of eager code, and what finite differences say."""

import numpy as np
import pytest

import d2s
from d2s.errors import CaptureError


def branching(x, w):
    if x.sum() > 0:
        return (x * x * w).sum()
    return (x.tanh() * x).sum()


def looping(x, w):
    y = x + 0.0
    while (y * y).sum() < 30.0:
        y = y * y * 1.1 + x * w
    return (y * x).sum()


def nested(x, w):
    y, trips = x + 0.0, 0
    while (y * y).sum() < 50.0:
        if y.sum() > 1.0:
            y = y * (x * 0.5).exp()
        else:
            y = y + x * x + w
        inner = w * 1.0
        while inner.sum() < 3.0:
            inner = inner * inner + 0.4
        y = y + inner.tanh()
        trips += 1
    return (y * y.tanh()).sum() * trips


def leaving(x, w):
    total = x.sum() * 0.0
    for k in range(5):
        x = x * w.tanh() + 0.3
        if x.sum() < 0.5:
            break
        total = total + (x**3).sum() * k
    return total


FUNCTIONS = (branching, looping, nested, leaving)
POINTS = ([0.5, 0.9, -0.2], [-0.7, 0.3, 0.1], [0.9, 1.2, 0.3], [5.0, 5.0, 6.0])


def tensors(point):
    x = d2s.to_tensor(point, "float64", stop_gradient=False)
    return x, d2s.to_tensor([0.8, 1.1, 0.9], "float64", stop_gradient=False)


def told(values):
    return [None if v is None else v.tolist() for v in values]


def outside(function, point):
    """Value, gradients, and the gradients of their sum of squares.

    If the value itself went on, too, an eager sweep would add up its cotangents first; a static call is swept once for each.
    """
    x, w = tensors(point)
    y = function(x, w)
    first = d2s.grad(y, [x, w], create_graph=True, allow_unused=True)
    penalty = sum((g * g).sum() for g in first if g is not None)
    return told([y, *first, *d2s.grad(penalty, [x, w], allow_unused=True)])


def inside(function):
    def both(x, w):
        y = function(x, w)
        (g,) = d2s.grad(y, x, create_graph=True)
        return y, g, d2s.grad((g * g).sum() + y, x)[0]

    return both


@pytest.mark.parametrize("point", POINTS, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_bits(function, point):
    assert outside(d2s.to_static(function), point) == outside(function, point)


@pytest.mark.parametrize("function", [branching, looping, nested])
def test_bits_inside_of_a_captured_function(function):
    both = inside(function)
    static = d2s.to_static(both)
    for point in POINTS:
        assert told(static(*tensors(point))) == told(both(*tensors(point)))
        with d2s.config(EXECUTOR="interpreter"):
            assert told(static(*tensors(point))) == told(both(*tensors(point)))


def test_what_each_path_names_anew_is_refused_inside_of_a_captured_function():
    with pytest.raises(CaptureError, match="second name") as refused:
        d2s.to_static(inside(leaving))(*tensors(POINTS[0]))
    assert refused.value.code == "D2S1003" and "outside of the function" in refused.value.hint


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("point", POINTS[:3], ids=str)
def test_hessian_is_that_of_finite_differences(function, point):
    static, step = d2s.to_static(function), 1e-6

    def gradient(at):
        x, w = tensors(at)
        return d2s.grad(static(x, w), x)[0].numpy()

    x, w = tensors(point)
    (g,) = d2s.grad(static(x, w), x, create_graph=True)
    hessian = [d2s.grad(g[k], x, retain_graph=True)[0].numpy() for k in range(3)]
    sides = [[gradient(np.array(point) + sign * step * e) for sign in (1, -1)] for e in np.eye(3)]
    np.testing.assert_allclose(hessian, [(up - down) / (2 * step) for up, down in sides], rtol=1e-6, atol=1e-6)


def test_third_order():
    found = []
    for run in (looping, d2s.to_static(looping)):
        x, w = tensors(POINTS[0])
        (g,) = d2s.grad(run(x, w), x, create_graph=True)
        (h,) = d2s.grad(g.sum(), x, create_graph=True)
        h.sum().backward()
        found.append(told([x.grad, w.grad]))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_a_path_that_reads_nothing_has_no_gradient():
    v = d2s.to_tensor([2.0, 3.0, 4.0], "float64", stop_gradient=False)

    def f(x, w):
        y = x * 1.0
        if x.sum() > 0:
            y = y * v * x
        return (y * w).sum()

    for point in POINTS[:2]:
        found = []
        for run in (f, d2s.to_static(f)):
            v.grad = None
            x, w = tensors(point)
            (g,) = d2s.grad(run(x, w), x, create_graph=True)
            (g * g).sum().backward()
            found.append(told([x.grad, w.grad, v.grad]))
        assert found[0] == found[1]
    assert found[0][2] is None


def test_any_size():
    static = d2s.to_static(looping)
    for n in (2, 3, 5, 4):
        point = np.linspace(0.4, 1.3, n)
        found = []
        for run in (looping, static):
            x = d2s.to_tensor(point, "float64", stop_gradient=False)
            w = d2s.to_tensor(point[::-1].copy(), "float64", stop_gradient=False)
            (g,) = d2s.grad(run(x, w), x, create_graph=True)
            (g * g).sum().backward()
            found.append(told([g, x.grad, w.grad]))
        assert found[0] == found[1]
    assert len(static.variants) == 2


def test_gradient_penalty_of_a_network_that_branches():
    def trained(static):
        d2s.seed(4)
        first, second = d2s.nn.Linear(3, 4), d2s.nn.Linear(4, 1)
        sgd = d2s.optimizer.SGD(0.05, parameters=[*first.parameters(), *second.parameters()])

        def critic(x):
            h = first(x).tanh()
            while (h * h).sum() < 2.0:
                h = h * 1.5 + 0.1
            return second(h).sum() if h.sum() > 0 else second(h * 0.5).sum()

        def step(x):
            y = critic(x)
            (g,) = d2s.grad(y, x, create_graph=True)
            loss = y + ((g * g).sum() - 1.0) ** 2
            loss.backward()
            sgd.step()
            sgd.clear_grad()
            return loss

        run, rng = d2s.to_static(step) if static else step, np.random.default_rng(2)
        losses = [run(d2s.to_tensor(rng.normal(size=(2, 3)), "float32", stop_gradient=False)).item() for _ in range(8)]
        return losses, told(first.parameters() + second.parameters())

    assert trained(True) == trained(False)


def test_what_only_some_trips_read_has_a_gradient_where_these_were_made():
    u, v = (d2s.to_tensor(n, "float64", stop_gradient=False) for n in ([1.0, 0.5], [2.0, 3.0]))

    def f(x):
        y, z = x * 1.0, u * 1.0
        while y.sum() < 6.0:
            if y.sum() > 3.0:
                z = z * v.tanh()
            y = y * 1.7
        return (y * x).sum() + (z * z).sum() * 0.5

    def g(x):
        y, t = x * 1.0, (v * u).tanh()
        while y.sum() < 6.0:
            if y.sum() > 5.0:
                y = y * t
            y = y * 1.7 + 0.1
        return (y * y).sum()

    absent = set()
    for function in (f, g):
        static = d2s.to_static(function)
        for point in ([1.0, 1.0], [3.0, 4.0], [2.6, 2.6]):
            found = []
            for run in (function, static):
                u.grad = v.grad = None
                x = d2s.to_tensor(point, "float64", stop_gradient=False)
                first = d2s.grad(run(x), [x, u, v], create_graph=True, allow_unused=True)
                sum((one * one).sum() for one in first if one is not None).backward()
                found.append(told([*first, x.grad, u.grad, v.grad]))
            assert found[0] == found[1]
            absent.add(tuple(one is None for one in found[0]))
    assert len(absent) > 2


def test_what_a_trip_saved_and_did_not_read_has_no_cotangent():
    """The root of 0 has an endless slope: a cotangent that is not there would become a nan, were it taken for one of -0.0."""

    def run(x, n):
        total, i = x * x, d2s.to_tensor(0)
        while i < n:
            root = d2s.sqrt(x)
            part = x * 2.0
            if i > 0:
                part = root * x * x
            total = total + part * x
            i = i + 1
        return total

    def second(call, n):
        x = d2s.to_tensor([float(n - 1), 2.0], stop_gradient=False)
        (g,) = d2s.grad(call(x, d2s.to_tensor(n)).sum(), x, create_graph=True)
        (h,) = d2s.grad(g.sum(), x)
        return g.numpy().tobytes(), h.numpy().tobytes()

    static = d2s.to_static(run)
    assert [second(static, n) for n in (1, 2, 3)] == [second(run, n) for n in (1, 2, 3)]
    assert not np.isnan(np.frombuffer(second(static, 1)[1], "float32")).any()
