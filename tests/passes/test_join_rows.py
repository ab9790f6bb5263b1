"""Products of few rows with one matrix: one product where the rows do not wait for each other, the bits of eager code."""

import numpy as np
import pytest

import d2s
from d2s.passes import join_rows
from d2s.passes.join_rows import FEW, ROWS


def tensor(*shape, seed=0):
    return d2s.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype("float32"), stop_gradient=False)


def products(function, *given):
    """How many products the plan of the forward half has; results and gradients are those of eager code bit for bit."""
    static, found = d2s.to_static(function), []
    for call in (function, static, static):
        own = [d2s.to_tensor(x.numpy(), stop_gradient=False) for x in given]
        y = call(*own)
        y.sum().backward()
        found.append([y.numpy().tobytes(), *(x.grad.numpy().tobytes() for x in own)])
    assert found[0] == found[1] == found[2]
    return static.plan(*given).split("plan ")[1].count("matmul")


def walked(steps, before=lambda x: x, flip=False):
    """A cell over the steps of x."""

    def function(x, w, u):
        h = d2s.zeros([x.shape[0], u.shape[0]])
        for k in range(steps):
            h = d2s.tanh(d2s.matmul(before(x)[:, k], w, False, flip) + h @ u)
        return h

    return function


@pytest.mark.parametrize("rows", [1, 3, ROWS])
@pytest.mark.parametrize("flip", [False, True])
def test_what_a_cell_computes_of_its_inputs_is_one_product(rows, flip):
    x, w, u = tensor(rows, FEW + 2, 5), tensor(*((7, 5) if flip else (5, 7)), seed=1), tensor(7, 7, seed=2)
    assert products(walked(FEW + 2, flip=flip), x, w, u) == 1 + FEW + 2


def test_what_waits_for_a_product_is_none_of_it():
    x, w = tensor(2, 6), tensor(6, 6, seed=1)

    def chained(x, w):
        for _ in range(FEW + 1):
            x = x @ w
        return x

    assert products(chained, x, w) == FEW + 1


def test_few_products_many_rows_and_open_extents_stay():
    w, u = tensor(5, 7, seed=1), tensor(7, 7, seed=2)
    assert products(walked(FEW - 1), tensor(2, FEW - 1, 5), w, u) == 2 * (FEW - 1)
    assert products(walked(FEW + 1), tensor(ROWS + 1, FEW + 1, 5), w, u) == 2 * (FEW + 1)
    added = d2s.to_static(lambda x, w: sum(x[:, k] @ w for k in range(FEW + 1)))
    joined = []
    for rows in (2, 3, 4):  # the third has an open extent
        program = added.program(tensor(rows, FEW + 1, 5), w)
        joined.append(len(join_rows.apply(program).nodes) - len(program.nodes))
    assert joined == [2, 0, 0]
