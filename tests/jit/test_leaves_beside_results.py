"""Leaves that a function makes and gives away beside what depends on them: a later `backward()` fills their `grad`."""

from types import SimpleNamespace

import pytest

import d2s
from d2s import nn

W = d2s.to_tensor([5.0, 6.0], stop_gradient=False)
HOLDER = SimpleNamespace()


def made(x):
    y = x.detach()
    y.stop_gradient = False
    return y


def beside_what_depends_on_it(x):
    y = made(x)
    return y, y * 2.0


def beside_what_also_depends_on_another(x):
    y = made(x)
    return y, y * W * x


def stored(x):
    HOLDER.y = made(x)
    return HOLDER.y * 2.0


def beside_what_is_stored(x):
    y = made(x)
    HOLDER.double = y * 2.0
    return y


def of_a_gradient(x):
    y = made(x)
    (g,) = d2s.grad((y * y * x).sum(), [y], create_graph=True)
    return y, g


def with_a_gradient_of_its_own(x):
    y = made(x)
    (y * y).sum().backward()
    return y, y.grad


def behind_a_sweep(x):
    y = made(x)
    loss = (y * y).sum()
    (g,) = d2s.grad(loss, [y])
    return y, g, loss


def by_the_path(x):
    y = made(x)
    z = y
    if x.sum() > 0:
        z = y * 2.0
    return z, y * 3.0


def by_the_path_alone(x):
    y = made(x)
    if x.sum() > 0:
        y = y * 2.0
    return y


def without_recording(x):
    with d2s.no_grad():
        y = made(x)
        return y, y * 2.0


FUNCTIONS = [
    beside_what_depends_on_it,
    beside_what_also_depends_on_another,
    stored,
    beside_what_is_stored,
    of_a_gradient,
    with_a_gradient_of_its_own,
    behind_a_sweep,
    by_the_path,
    by_the_path_alone,
    without_recording,
]


def told(tensor):
    return tensor.tolist(), tensor.stop_gradient, tensor.is_leaf, None if tensor.grad is None else tensor.grad.tolist()


def outcome(call, values, wants, pick):
    """What is known of a call's results, then what a sweep from one of them leaves where."""
    W.clear_gradient(set_to_zero=False)
    vars(HOLDER).clear()
    x = d2s.to_tensor(values, stop_gradient=not wants)
    results = call(x)
    results = [*(results if isinstance(results, tuple) else [results]), *vars(HOLDER).values()]
    before = [told(t) for t in results]
    try:
        results[pick].sum().backward()
    except d2s.errors.GradientError as error:
        return before, error.code
    return before, [told(t) for t in (*results, x, W)]


@pytest.mark.parametrize("pick", [0, -1])
@pytest.mark.parametrize("wants", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("knobs", [{}, {"CHECK": 2}, {"EXECUTOR": "interpreter"}], ids=str)
def test_leaves_that_leave_the_function(function, wants, pick, knobs):
    static = d2s.to_static(function)
    with d2s.config(**knobs):
        for values in [[1.0, 2.0], [-1.0, -2.0]] * 2:
            assert outcome(static, values, wants, pick) == outcome(function, values, wants, pick)


def test_without_gradients():
    static = d2s.to_static(beside_what_depends_on_it)
    with d2s.no_grad():
        for _ in range(3):
            assert outcome(static, [1.0, 2.0], True, 0) == outcome(beside_what_depends_on_it, [1.0, 2.0], True, 0)


def test_a_step_whose_leaves_stay_inside_stays_in_the_graph(monkeypatch):
    d2s.seed(0)
    net = nn.Linear(2, 2)
    optimizer = d2s.optimizer.SGD(0.1, parameters=net.parameters())

    def step(x):
        near = made(x + 0.01)
        (g,) = d2s.grad(net(near).square().sum(), [near])
        moved = (near + 0.1 * g.sign()).detach()
        loss = net(moved).sum()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss, moved

    static = d2s.to_static(step)
    monkeypatch.setattr(type(static), "_eagerly", lambda *_: pytest.fail("left to eager code"))
    for _ in range(3):
        static(d2s.to_tensor([[1.0, 2.0]]))
