"""Leaves that a function makes and that get other values without history: what is made of them then depends on them."""

import copy
from types import SimpleNamespace

import pytest

import d2s
from d2s import nn
from d2s.jit.taped import GraphNode

HOLDER = SimpleNamespace()


def a_copy(x):
    y = copy.deepcopy(x)
    y.set_value(x * 3.0)
    return y * 2.0


def the_copy_itself(x):
    y = copy.deepcopy(x)
    y.set_value(x * 3.0)
    return y


def under_no_grad(x):
    y = d2s.zeros([2])
    y.stop_gradient = False
    with d2s.no_grad():
        y.add_(1.0)
        y.multiply_(x.detach())
    return y * x


def beside_what_was_made_before(x):
    y = copy.deepcopy(x)
    before = y * 2.0
    y.set_value(x * 3.0)
    return before, y * 1.0


def on_a_path(x):
    y = copy.deepcopy(x)
    if x.sum() > 0:
        y.set_value(x * 3.0)
    return y * 2.0


def stored(x):
    y = copy.deepcopy(x)
    y.set_value(x * 3.0)
    HOLDER.y = y * 2.0
    return x * 1.0


def of_no_leaf_stored(x):
    y = x * x
    y.set_value(x * 3.0)
    HOLDER.y = y * 2.0
    return x * 1.0


FUNCTIONS = [
    a_copy,
    the_copy_itself,
    under_no_grad,
    beside_what_was_made_before,
    on_a_path,
    stored,
    of_no_leaf_stored,
]


def outcome(call, values, pick):
    vars(HOLDER).clear()
    x = d2s.to_tensor(values, stop_gradient=False)
    results = call(x)
    results = [*(results if isinstance(results, tuple) else [results]), *vars(HOLDER).values()]
    results[pick].sum().backward()
    grads = [None if t.grad is None else t.grad.tolist() for t in (*results, x)]
    return [(t.tolist(), t.stop_gradient, t.is_leaf) for t in results], grads


@pytest.mark.parametrize("knobs", [{}, {"CHECK": 2}, {"EXECUTOR": "interpreter"}], ids=str)
@pytest.mark.parametrize("pick", [0, -1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_made_of_other_values(function, pick, knobs):
    static = d2s.to_static(function)
    with d2s.config(**knobs):
        for values in [[1.0, 2.0], [-1.0, -2.0]] * 2:
            assert outcome(static, values, pick) == outcome(function, values, pick)


def test_a_copy_whose_results_have_no_history_stays_in_the_graph():
    net = nn.Linear(2, 2)

    def against_a_copy(x):
        slow = copy.deepcopy(x)
        with d2s.no_grad():
            slow.multiply_(d2s.to_tensor(0.5))
        return net(x) - net(slow).detach()

    static, x = d2s.to_static(against_a_copy), d2s.to_tensor([[1.0, 2.0]], stop_gradient=False)
    for _ in range(3):
        result = static(x)
        assert isinstance(result.node, GraphNode)
        assert result.tolist() == against_a_copy(x).tolist()
