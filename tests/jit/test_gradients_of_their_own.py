"""Gradients that a captured function takes and changes in place are tensors of their own, also where their values are one."""

import pytest

import d2s


def cleared(x, y):
    (x + y).sum().backward()
    x.clear_gradient()
    return y.grad


def halved(x, y):
    (x + y).sum().backward()
    with d2s.no_grad():
        x.grad.scale_(0.5)
    return x.grad, y.grad


def changed(x, y):
    g, h = d2s.grad((x + y).sum(), [x, y])
    g.add_(5.0)
    return g, h


def with_weights(x, y):
    weights = d2s.to_tensor([1.0, 2.0]) * y.detach()
    (g,) = d2s.grad(x + y, [x], [weights])
    g.multiply_(3.0)
    return weights, g


def left(x, y):
    (x + y).sum().backward()
    return x * 1.0


def of_a_leaf_made_inside(x, y):
    z = d2s.zeros_like(x)
    z.stop_gradient = False
    (x * y + z).sum().backward()
    z.clear_gradient()
    (x * z).sum().backward()
    return z.grad


def run(function):
    x, y = (d2s.to_tensor(v, stop_gradient=False) for v in ([1.0, 2.0], [3.0, 4.0]))
    seen = []
    for _ in range(4):
        results = function(x, y)
        seen += [t.tolist() for t in (results if isinstance(results, tuple) else (results,))]
        seen += [t.grad is not None and t.grad.tolist() for t in (x, y)]
        x.clear_gradient()
        seen.append(y.grad is not None and y.grad.tolist())
    return seen


@pytest.mark.parametrize("function", [cleared, halved, changed, with_weights, left, of_a_leaf_made_inside])
def test_what_is_done_to_one_is_not_done_to_another(function):
    assert run(d2s.to_static(function)) == run(function)
