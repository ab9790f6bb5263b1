"""What wants a gradient on some paths only: where none does, a sweep is refused, or finds nothing, as in eager code."""

import types

import pytest

import d2s
from d2s import nn
from d2s.errors import GradientError

W, BOX, LOG = d2s.ones([3]), types.SimpleNamespace(), []
W.stop_gradient = False
SGD = d2s.optimizer.SGD(0.1, parameters=[W])


class Unlearnt(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return None


def learnt(loss):
    loss.backward()
    return loss


def under_an_if(x):
    if x.sum() > 0:
        x = x * W
    return learnt(x.sum())


def trips_of_a_while(x):
    while x.sum() < 5:
        x = x * W + 1
    return learnt(x.sum())


def trips_of_a_for(x):
    for _ in range(int(x.sum().item() // 3)):
        x = x * W
    return learnt(x.sum())


def steps(x):
    if x.sum() > 0:
        x = x * W
    loss = learnt(x.sum())
    SGD.step()
    SGD.clear_grad()
    return loss


def steps_with_moments(x):
    if x.sum() > 0:
        x = x * W
    loss = learnt(x.sum())
    BOX.adam.step()
    BOX.adam.clear_grad()
    return loss


def behind_a_step(x):
    (x * W).sum().backward()
    SGD.step()
    SGD.clear_grad()
    if x.sum() > 0:
        x = x * W
    return learnt(x.sum()).detach()


def behind_changes(x):
    BOX.n += 1
    LOG.append(BOX.n)
    if x.sum() > 0:
        x = x * W
    print("go", BOX.n)
    learnt(x.sum())
    BOX.n += 10
    return x.detach()


def leaf_made_inside(x):
    y = x * 2
    y.stop_gradient = False
    z = y if x.sum() > 0 else x
    return learnt((z * 3).sum()).detach()


def of_two(x):
    a, b = x, x * 2
    if x.sum() > 0:
        a = x * W
    if x.sum() > 4:
        b = x * W
    d2s.autograd.backward([a.sum(), b.sum()])
    return a.detach()


def of_two_one_surely(x):
    a = x
    if x.sum() > 0:
        a = x * W
    d2s.autograd.backward([a.sum(), (x * 2 * W).sum()])
    return a.detach()


def gives_none(x):
    y = Unlearnt.apply(W) if x.sum() > 0 else x
    return learnt(y.sum()).detach()


def in_a_list(x):
    ys = [x * W if x.sum() > k else x for k in range(3)]
    return learnt(sum(y.sum() for y in ys)).detach()


def times(x, n):
    return x if n <= 0 else times(x * W, n - 1)


def recursive(x):
    return learnt(times(x, x.sum()).sum()).detach()


SWEEPS = [under_an_if, trips_of_a_while, trips_of_a_for, steps, steps_with_moments, behind_a_step, behind_changes]
SWEEPS += [leaf_made_inside, of_two, of_two_one_surely, gives_none, in_a_list, recursive]


def argument(x):
    return d2s.grad((x**2).sum(), x)


def argument_beside_a_leaf(x):
    return d2s.grad((x * W).sum(), [x, W], allow_unused=True)


def made_of_an_argument(x):
    y = x * 3
    return d2s.grad((y * W).sum(), [y], allow_unused=True)


def by_path_alone(x):
    y = x * 3
    if x.sum() > 0:
        y = y * W
    return d2s.grad((y * 2).sum(), [y])


def by_path_or_none(x):
    y = x * 3
    if x.sum() > 0:
        y = y * W
    return d2s.grad((y * W).sum(), [y], allow_unused=True)


def opened_or_made_of_it(x):
    y = x * 3
    y.stop_gradient = False
    z = y * W if x.sum() > 0 else y
    return d2s.grad((z * z).sum(), [z, y], allow_unused=True)


def detached(x):
    y = (x * W).detach()
    return d2s.grad((y * W).sum(), [y, W], allow_unused=True)


def without_a_tape(x):
    with d2s.no_grad():
        y = x * W
    return d2s.grad((y * W).sum(), [W, y], allow_unused=True)


def sweep_without_a_tape(x):
    with d2s.no_grad():
        return d2s.grad((x * W).sum(), [W], allow_unused=True)


def items(x):
    ys = [x * W if x.sum() > k else x for k in (-1, 0, 3)]
    return d2s.grad(sum(y.sum() for y in ys), ys, allow_unused=True)


def trips(x):
    h = x
    while h.sum() < 5:
        h = h * W + 1
    return d2s.grad((h * W).sum(), [h, W], allow_unused=True)


def first_of_nobody(x):
    y = (x * W).sum()
    d2s.grad(y, [x], allow_unused=True)
    return d2s.grad(y, [W])


def of_other_values(x):
    y = W * x
    if x.sum() > 0:
        y.set_value(x * 3.0)
    return d2s.grad((y * 2.0 * (3.0 if y.stop_gradient else 1.0)).sum(), [y])


GRADS = [argument, argument_beside_a_leaf, made_of_an_argument, by_path_alone, by_path_or_none, opened_or_made_of_it]
GRADS += [of_other_values, detached, without_a_tape, sweep_without_a_tape, items, trips, first_of_nobody]


def shown(value):
    if isinstance(value, list):
        return [shown(part) for part in value]
    return None if value is None else (value.tolist(), value.stop_gradient)


def run(function, capsys):
    W.set_value(d2s.ones([3]))
    W.clear_gradient(set_to_zero=False)
    BOX.n, BOX.adam = 0, d2s.optimizer.Adam(0.1, parameters=[W])
    LOG.clear()
    found = []
    for k in (1.0, -1.0, 2.0, 9.0, -3.0, 0.0, 0.5):
        try:
            found.append(shown(function(d2s.full([3], k))))
        except GradientError as error:
            found.append((error.code, error.message))
        found.append((shown(W), shown(W.grad), BOX.n, list(LOG)))
    return found, capsys.readouterr().out


@pytest.mark.parametrize("function", SWEEPS + GRADS)
def test_sweeps_of_what_may_want_no_gradient(function, capsys):
    assert run(d2s.to_static(function), capsys) == run(function, capsys)


def test_stochastic_depth():
    def trained(jit):
        d2s.seed(3)
        layers = [nn.Linear(3, 3), nn.Linear(3, 3)]
        sgd = d2s.optimizer.SGD(0.1, parameters=[p for layer in layers for p in layer.parameters()])

        def step(x):
            for layer in layers:
                if d2s.rand([]) > 0.5:
                    x = x + layer(x)
            loss = learnt((x**2).mean())
            sgd.step()
            sgd.clear_grad()
            return loss

        found, called = [], jit(step)
        for _ in range(12):
            try:
                found.append(called(d2s.ones([2, 3])).tolist())
            except GradientError as error:
                found.append(error.message)
        return found, [layer.weight.tolist() for layer in layers]

    assert trained(d2s.to_static) == trained(lambda f: f)


def test_a_loss_that_surely_wants_a_gradient_is_asked_nothing():
    def step(x):
        return learnt((x * W).sum())

    static, x = d2s.to_static(step), d2s.ones([3])
    static(x)
    assert "cond" not in {node.op for node in static.concrete_program(x).graph.program.nodes}
