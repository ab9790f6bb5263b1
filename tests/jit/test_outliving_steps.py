"""Results of functions that take gradients and steps, which those do not pass: they have the gradients they have eagerly."""

import numpy as np
import pytest

import d2s
from d2s.errors import GradientError


def beside(first, second, train, x):
    other = (second(x) ** 2).mean()
    loss = first(x).sum()
    train(loss)
    return loss, other


def before(first, second, train, x):
    norm = sum((p * p).sum() for p in first.parameters())
    loss = first(x).sum()
    train(loss)
    return loss, norm


def behind(first, second, train, x):
    loss = first(x).sum()
    train(loss)
    return loss, (first(x) ** 2).mean()


def of_what_a_step_made(first, second, train, x):
    total = first.weight.sum()
    loss = first(x).sum()
    train(loss)
    return loss, first.weight.sum() + total


def of_values_set_before(first, second, train, x):
    if first.weight.grad is not None:
        first.weight.set_value(first.weight - 0.1 * first.weight.grad)
    copied = first.weight.clone()
    loss = (first.weight * first.weight).sum()
    train(loss)
    return loss, copied


def retained(first, second, train, x):
    h = first(x)
    loss = h.sum()
    train(loss, retain_graph=True)
    return loss, (h * h).mean()


def passed(first, second, train, x):
    h = first(x)
    loss = (h**3).sum()
    train(loss)
    return loss, (h * h).mean()


def passed_on_some_paths(first, second, train, x):
    other = second(x).sum()
    loss = first(x).sum()
    train(loss)
    if x.max() > 2:
        other = other + loss
    return loss, other


def passed_in_some_trips(first, second, train, x):
    other = second(x).sum()
    loss = first(x).sum()
    train(loss)
    k = x.max() * 0.0
    while k < x.max() - 2:
        other = other + loss
        k = k + 1
    return loss, other


def passed_on_all_paths(first, second, train, x):
    h = first(x)
    loss = h.sum()
    train(loss)
    h = h * 2 if x.max() > 2 else h * 3
    while h.sum().abs() < 20:
        h = h * 2
    return loss, h.mean()


OUTLIVING = [beside, before, behind, of_what_a_step_made, retained, passed_on_some_paths, passed_in_some_trips]


def layers():
    d2s.seed(3)
    return d2s.nn.Linear(3, 2), d2s.nn.Linear(3, 2)


def trained(function, static, steps):
    """What calls give, and what comes of gradients of their results."""
    first, second = layers()
    optimizer = d2s.optimizer.SGD(0.1, parameters=first.parameters())

    def train(loss, **how):
        loss.backward(**how)
        if steps:
            optimizer.step()
        optimizer.clear_grad()

    def step(x):
        return function(first, second, train, x)

    call, found = d2s.to_static(step) if static else step, []
    for k in range(4):
        x = d2s.to_tensor(np.array([[1.0, 2.0, -1.0], [0.5, 1.0, k]], "float32"))
        results = call(x)
        found += [(y.tolist(), y.stop_gradient, y.is_leaf) for y in results]
        for y in (results[1], results[0], results[1]):
            try:
                y.backward()
            except GradientError as error:
                found.append("changed" if "changed in place" in str(error) else "freed" * ("freed" in str(error)))
        found += [p.grad is not None and p.grad.tolist() for p in (*first.parameters(), *second.parameters())]
    return found, static and len(call.variants[0][1].graph.ended) == 2 and call.variants[0][1].graph.ways > 0


@pytest.mark.parametrize("steps", [True, False])
@pytest.mark.parametrize("function", OUTLIVING)
def test_a_result_that_outlives_a_step(function, steps):
    assert trained(function, True, steps)[0] == trained(function, False, steps)[0]


def test_a_result_of_values_that_were_set_before_the_sweep():
    assert trained(of_values_set_before, True, False)[0] == trained(of_values_set_before, False, False)[0]


@pytest.mark.parametrize("function", [passed, passed_on_all_paths])
def test_what_a_sweep_has_passed_is_used_up_and_its_calls_stay_native(function):
    found, native = trained(function, True, True)
    assert found == trained(function, False, True)[0] and native
