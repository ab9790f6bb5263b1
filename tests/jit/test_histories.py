"""What a function that takes gradients leaves of its results' histories: a later `backward()` finds what eager code finds."""

import numpy as np
import pytest

import d2s


def net():
    d2s.seed(1)
    return d2s.nn.Sequential(d2s.nn.Linear(3, 8), d2s.nn.Tanh(), d2s.nn.Linear(8, 2))


def inner_steps(model, x):
    """Steps of a gradient that has one itself: the last loss depends on the parameters through them all."""
    parameters = list(model.parameters())

    def forward(p):
        return d2s.matmul(d2s.tanh(d2s.matmul(x, p[0]) + p[1]), p[2]) + p[3]

    for _ in range(2):
        loss = (forward(parameters) ** 2).mean()
        gradients = d2s.grad(loss, parameters, create_graph=True)
        parameters = [p - 0.1 * g for p, g in zip(parameters, gradients, strict=True)]
    return (forward(parameters) ** 2).mean(), loss


def gradient_as_a_number(model, x):
    loss = model(x).square().mean()
    (g,) = d2s.grad(loss, [model[0].weight])
    return (model(x + 0.1 * g.sign().mean()) ** 2).mean(), loss, g


def penalty(model, x):
    loss = model(x).sum()
    g = d2s.grad(loss, [model[0].weight], create_graph=True)[0]
    return (g.norm() - 1) ** 2, g, loss


def swept_and_not(model, x):
    loss = model(x).square().sum()
    loss.backward()
    return model(x * 2).sum(), loss


def leaf_made_inside(model, x):
    mix = x * 0.5
    mix.stop_gradient = False
    score = model(mix).sum()
    g = d2s.grad([score], [mix], create_graph=True)[0]
    return ((g.norm(2, axis=1) - 1) ** 2).mean() + score, g, mix


def adversarial(model, x):
    near = x.detach() + 0.01
    near.stop_gradient = False
    model(near).square().sum().backward()
    moved = near.detach() + 0.1 * near.grad.sign()
    return model(moved).sum(), near.grad, near + 1.0


def leaf_beside_its_source(model, x):
    y = x.detach()
    y.stop_gradient = False
    for _ in range(2):
        (g,) = d2s.grad(model(y).square().sum(), [y])
        y = (y - 0.1 * g.sign()).detach()
        y.stop_gradient = False
    return (model(y) * model(x)).sum(), y


def asked(model, x):
    y = x * 2
    before = y.stop_gradient
    y.stop_gradient = False
    z = model(y)
    return [before, y.stop_gradient, z.stop_gradient, (x + 1).stop_gradient], (z * y.sum()).sum()


def outcome(call, model, x, pick):
    for p in model.parameters():
        p.clear_gradient(set_to_zero=False)
    results = call(model, x)
    told = [r.stop_gradient if isinstance(r, d2s.Tensor) else r for r in results]
    chosen = [r for r in results if isinstance(r, d2s.Tensor)][pick:]
    values = [r.numpy().tobytes() for r in chosen]
    try:
        sum((r.sum() for r in chosen[1:]), chosen[0].sum()).backward()
    except d2s.errors.GradientError as error:
        return told, values, error.code
    return told, values, [None if p.grad is None else p.grad.numpy().tobytes() for p in model.parameters()]


FUNCTIONS = [
    inner_steps,
    gradient_as_a_number,
    penalty,
    swept_and_not,
    leaf_made_inside,
    adversarial,
    leaf_beside_its_source,
    asked,
]


@pytest.mark.parametrize("pick", [0, -1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_histories(function, pick):
    model, x = net(), d2s.to_tensor(np.random.default_rng(0).normal(size=(4, 3)).astype("float32"))
    static = d2s.to_static(function)
    eager = outcome(function, model, x, pick)
    assert [outcome(static, model, x, pick) for _ in range(3)] == [eager] * 3
