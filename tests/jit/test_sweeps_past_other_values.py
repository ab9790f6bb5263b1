"""Gradients in a function, behind `set_value()` or a change under `no_grad()`: a tensor stays where it was on the tape.

A graph knows values only: those that a tensor gets so are nodes that have the place of what it was.
"""

import pytest

import d2s

W = d2s.to_tensor([2.0, 3.0], stop_gradient=False)


def beside_another_way(x):
    y = W * x
    y.set_value(x * 3.0)
    loss = (y * y).sum() + (W * x).sum()
    loss.backward()
    return loss


def under_no_grad(x):
    y = W * x
    with d2s.no_grad():
        y.add_(1.0)
    loss = (y * y).sum()
    loss.backward()
    return loss


def on_a_path(x):
    y = W * x
    if x.sum() > 0:
        y.set_value(x * 3.0)
    loss = y.sum() + (W * x).sum()
    loss.backward()
    return loss


def values_in_between(x):
    W.set_value(W * 0.5)
    scale = (W * 2.0).sum()
    W.set_value(W * 0.5)
    loss = (W * x).sum() * scale
    loss.backward()
    return loss


def towards_a_leaf_as_it_was(x):
    before = (W * x).sum()
    W.set_value(W * 0.5)
    (g,) = d2s.grad(before + (W * x).sum(), [W], allow_unused=True)
    return g


def towards_a_result_as_it_was(x):
    y = W * x
    before = (y * 2.0).sum()
    y.set_value(x * 2.0)
    (g,) = d2s.grad(before, [y], allow_unused=True)
    return g


def values_in_between_of_a_leaf_made_inside(x):
    y = d2s.zeros([2])
    y.stop_gradient = False
    y.set_value(x)
    loss = (y * 2.0).sum()
    y.set_value(x + 1.0)
    (loss + (y * y).sum()).backward()
    return y.grad


def a_leaf_has_them(x):
    W.set_value(W * 0.5)
    loss = (W * x).sum()
    loss.backward()
    return loss


def a_leaf_made_inside(x):
    y = d2s.zeros([2])
    y.stop_gradient = False
    with d2s.no_grad():
        y.add_(x)
    (y * y).sum().backward()
    return y.grad


def a_result_has_them_and_is_asked_for(x):
    y = W * x
    y.set_value(x * 2.0)
    return d2s.grad((y * y).sum(), [y])[0]


def steps_by_hand(x):
    for _ in range(2):
        (W * W * x).sum().backward()
        with d2s.no_grad():
            W.subtract_(0.1 * W.grad)
        W.clear_gradient()
    return W * 1.0


def read_without_a_history(x):
    y = W * x
    before = (y + 1.0).sum()
    y.set_value(x * 3.0)
    (before + y.detach().sum()).backward()
    return y.detach() * 2.0


def recorded(x):
    y = W * x
    y.zero_()
    loss = (y * y).sum() + (W * x).sum()
    loss.backward()
    return loss


def in_a_loop(x):
    y = W * x
    loss = y.sum()
    n = 0
    while n < x.sum():
        y.set_value(y * 0.5 + x)
        loss = loss + (y * x).sum()
        n += 1
    loss.backward()
    return loss


def where_the_path_does_not_read_it(x):
    y = W * x
    loss = (W * 3.0).sum()
    if x.sum() > 0 and x.max() > 1:
        y.set_value(x)
    (loss + (y * x).sum() + (W * x).sum()).backward()
    return y


RIGHT = [
    beside_another_way,
    under_no_grad,
    on_a_path,
    values_in_between,
    towards_a_leaf_as_it_was,
    towards_a_result_as_it_was,
    values_in_between_of_a_leaf_made_inside,
    in_a_loop,
    where_the_path_does_not_read_it,
    a_leaf_has_them,
    a_leaf_made_inside,
    a_result_has_them_and_is_asked_for,
    steps_by_hand,
    read_without_a_history,
    recorded,
]


def outcome(function):
    W.clear_gradient(set_to_zero=False)
    W.set_value([2.0, 3.0])
    result = function(d2s.to_tensor([1.0, 2.0]))
    return result.tolist(), W.tolist(), None if W.grad is None else W.grad.tolist()


@pytest.mark.parametrize("function", RIGHT, ids=lambda f: f.__name__)
def test_right(function):
    static = d2s.to_static(function)
    assert [outcome(static) for _ in range(3)] == [outcome(function)] * 3
