"""Tensors that only some paths of a static function change in place: on all others nothing was written, as eagerly."""

import pytest

import d2s
from d2s.errors import GradientError

G = d2s.to_tensor([0.25, -0.5])


def in_an_arm(x, b, n):
    if n > 1:
        b.add_(1.0)
    return (x * 2.0).sum()


def in_trips(x, b, n):
    for _ in range(n):
        b.multiply_(0.5)
    return (x * b).sum()


def with_its_history(x, b, n):
    if n > 1:
        b.add_(x)
    elif n > 0:
        b[0] = x.max()
    return (x * b).sum() + b.max()


def by_itself(x, b, n):
    def down(k):
        if k > 0:
            b.add_(1.0)
            down(k - 1)

    down(n)
    return (x * x).sum()


def of_the_module(x, b, n):
    G[1] = x.max().detach() * 0.0
    y = x * G
    if n > 1:
        G[0] = 3.0
    return y.sum()


def on_each_path_otherwise(x, b, n):
    if n > 1:
        b.set_value(b * 1.0)
    else:
        G.set_value(G * 1.0)
    return (x * b * G).sum()


def behind_no_trip(x, b, n):
    for _ in range(n):
        b.add_(x.max().detach())
    b.multiply_(x)
    return b.sum() * 2.0


FUNCTIONS = [behind_no_trip, in_an_arm, in_trips, with_its_history, by_itself, of_the_module, on_each_path_otherwise]


def attempted(step, *args):
    try:
        return step(*args)
    except GradientError as error:
        return "changed in place" in str(error) or error.code


def seen(function, numbers):
    """What calls leave, and what comes of gradients that read what they might have changed."""
    G.set_value([0.25, -0.5])
    w, found = d2s.to_tensor([1.0, 2.0], stop_gradient=False), []
    for n in numbers:
        x, b = d2s.to_tensor([1.0, 2.0], stop_gradient=False), d2s.to_tensor([3.0, 4.0])
        before, version = (w * b * G).sum(), G.inplace_version
        results = [function(x, b, d2s.to_tensor(n)) for _ in range(2)]
        found += [b.tolist(), b.stop_gradient, b.is_leaf, b.inplace_version > 0, G.inplace_version > version]
        found += [attempted(y.backward) for y in (before, *results)]
        found += [None if t.grad is None else t.grad.tolist() for t in (x, w)]
        w.grad = None
    return found


@pytest.mark.parametrize("function", FUNCTIONS)
def test_gradients_that_need_what_a_path_leaves_alone(function):
    numbers = (2, 0, 1, 0, 2, 1, 0)
    assert seen(d2s.to_static(function), numbers) == seen(function, numbers)


def test_a_leaf_that_wants_a_gradient_cannot_be_changed_on_the_path_that_does_only():
    def found(function):
        leaf = d2s.to_tensor([3.0, 4.0], stop_gradient=False)
        return [attempted(lambda n: function(leaf * 1.0, leaf, d2s.to_tensor(n)).item(), n) for n in (0, 2, 0, 1, 2, 0)]

    for function in (in_an_arm, with_its_history):
        assert found(d2s.to_static(function)) == found(function)
        assert True in found(function)


def test_calls_that_return_a_list_and_change_a_tensor():
    def function(x, b, n):
        found = []
        for _ in range(n):
            found.append(x * 2.0)
        b.add_(1.0)
        return found

    static = d2s.to_static(function)
    for k in (1, 3, 2, 0, 3, 2):
        seen = []
        for call in (function, static):
            x, b = d2s.to_tensor([1.0, 2.0], stop_gradient=False), d2s.to_tensor([3.0, 4.0])
            results = call(x, b, d2s.to_tensor(k))
            seen.append((b.tolist(), len(results), [attempted(y.sum().backward) for y in results], x.grad is None))
        assert seen[0] == seen[1]
