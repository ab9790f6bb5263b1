"""Leaves that a captured function makes, sweeps to and changes in place again and again: adversarial examples by hand."""

import pytest

import d2s
from d2s import nn
from d2s.errors import GradientError


def net():
    d2s.seed(1)
    return nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))


NET = net()
OPTIMIZER = d2s.optimizer.SGD(0.1, parameters=NET.parameters())


def moved(x):
    found = x.detach().clone()
    found.stop_gradient = False
    for _ in range(3):
        NET(found).sum().backward()
        with d2s.no_grad():
            found.add_(0.1 * found.grad.sign())
        found.clear_gradient()
    return NET(found.detach()).sum()


def projected(x):
    found = x.detach().clone()
    found.stop_gradient = False
    for _ in range(3):
        loss = NET(found).sum()
        loss.backward()
        near = found + 0.1 * found.grad.sign()
        found.set_value(d2s.minimum(d2s.maximum(near, x - 0.15), x + 0.15))
        found.clear_gradient(False)
    return found


def perturbed(x):
    delta = d2s.zeros_like(x)
    delta.stop_gradient = False
    for _ in range(2):
        (g,) = d2s.grad(NET(x + delta).sum(), [delta])
        delta.set_value(d2s.clip(delta + 0.1 * g.sign(), -0.15, 0.15))
    return NET(x + delta).sum(), delta


def by_the_path(x):
    found = x.detach().clone()
    found.stop_gradient = False
    loss = NET(found).sum()
    loss.backward()
    if loss > 0:
        with d2s.no_grad():
            found.add_(0.1 * found.grad.sign())
    else:
        found.set_value(found - 0.1 * found.grad.sign())
    found.clear_gradient()
    second = NET(found).sum()
    second.backward()
    return second, found.grad


def before_a_step(x):
    found = x.detach().clone()
    found.stop_gradient = False
    NET(found).sum().backward()
    with d2s.no_grad():
        found.add_(0.1 * found.grad.sign())
    OPTIMIZER.clear_grad()
    loss = NET(found).mean()
    loss.backward()
    OPTIMIZER.step()
    OPTIMIZER.clear_grad()
    return loss, found.grad


def needing_what_was_there(x):
    found = x.detach().clone()
    found.stop_gradient = False
    y = (found * found).sum()
    with d2s.no_grad():
        found.add_(1.0)
    y.backward()
    return found.grad


def run(function):
    for p, q in zip(NET.parameters(), net().parameters(), strict=True):
        p.set_value(q)
        p.grad = None
    seen = []
    for k in range(4):
        x = d2s.to_tensor([[1.0, 2.0 - 2 * k], [-0.3, 0.5]], stop_gradient=False)
        try:
            results = function(x)
            for y in results if isinstance(results, tuple) else (results,):
                seen.append((y.tolist(), y.stop_gradient, y.is_leaf))
                seen.append(y.stop_gradient or y.sum().backward())
        except GradientError as error:
            seen.append("changed in place" if "changed in place" in str(error) else error.code)
        seen += [t.grad is not None and t.grad.tolist() for t in (x, *NET.parameters())]
    return seen


@pytest.mark.parametrize("function", [moved, projected, perturbed, by_the_path, before_a_step, needing_what_was_there])
def test_a_leaf_that_is_swept_to_and_changed_again_and_again(function):
    assert run(d2s.to_static(function)) == run(function)
