"""Reductions, softmax and norms with the elementwise nodes around them: one kernel, the bits of eager code."""

import re

import numpy as np
import pytest

import d2s
from d2s.nn import functional as F
from d2s.ops import OPS
from d2s.passes import join_lines
from d2s.runtime.differing import same_bits


@pytest.fixture(autouse=True)
def however_few(monkeypatch):
    monkeypatch.setattr(join_lines, "LEAST", 1)


def tensor(*shape, dtype="float32", seed=0):
    return d2s.to_tensor(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def groups(function, *given):
    """The ops of each kernel of the plan; its results are those of eager code bit for bit."""
    static = d2s.to_static(function)
    with d2s.no_grad():
        found, wanted = static(*given), function(*given)
        lines = [line.split("RUN")[1].split("#")[0] for line in static.plan(*given).splitlines() if " RUN " in line]
    pairs = zip(found, wanted, strict=True) if isinstance(found, tuple) else [(found, wanted)]
    assert all(same_bits(x.array, y.array) for x, y in pairs)
    return [" ".join(word for word in re.findall(r"\w+", line) if word in OPS) for line in lines]


SHAPES = {"a run": ((5, 70), -1), "a column": ((130, 7), 0), "runs": ((3, 67, 4, 5), (1, 3)), "all of it": ((6, 11), None)}


@pytest.mark.parametrize(("shape", "axis"), SHAPES.values(), ids=SHAPES)
def test_a_sum_computes_what_it_adds_and_what_becomes_of_it(shape, axis):
    x, y = tensor(*shape), tensor(*shape, seed=1)
    found = groups(lambda x, y, k: F.relu(((x - y) * k).sum(axis)) + 1.0, x, y, d2s.to_tensor(0.5))
    assert found == ["subtract multiply sum relu add"]


def test_other_numbers_behind_a_reduction_and_other_dtypes():
    x = d2s.to_tensor(np.arange(40, dtype="int8").reshape(4, 10) - 100)
    assert groups(lambda x: (x + x).sum(1) * 3, x) == ["add sum multiply"]
    y = tensor(9, 33, dtype="float64")
    assert groups(lambda x, y: x.abs().max(1) - y, y, tensor(9, dtype="float64")) == ["abs max subtract"]


def test_softmax_computes_again_what_is_cheap_only():
    x = tensor(6, 65)
    assert groups(lambda x: F.softmax(x * 0.125, -1) * 2.0, x) == ["multiply softmax multiply"]
    assert groups(lambda x: F.softmax(d2s.exp(x), -1), x) == ["exp", "softmax"]
    assert groups(lambda x, y: F.log_softmax(x - y, 0) + y, x, tensor(6, 65, seed=1)) == ["subtract log_softmax add"]


def test_norms_with_residual_and_activation():
    x, y = tensor(4, 6, 5, 5), tensor(4, 6, 5, 5, seed=1)
    norm = d2s.nn.BatchNorm2D(6)
    norm(x)
    norm.eval()
    assert groups(lambda x, y: F.relu(norm(x) + y), x, y) == ["batch_norm_fixed add relu"]
    layer = d2s.nn.LayerNorm(5)
    assert groups(lambda x: F.gelu(layer(x)), x) == ["layer_norm", "gelu"]
    assert groups(lambda x: layer(x) * 2.0, x) == ["layer_norm multiply"]


def test_one_function_of_vector_math_is_computed_within_a_total():
    x = tensor(6, 65)
    assert groups(lambda x: d2s.exp(x - 1.0).sum(-1), x) == ["subtract exp sum"]
    assert groups(lambda x: d2s.exp(d2s.tanh(x)).sum(-1), x) == ["tanh exp", "sum"]


def test_what_others_read_too_stays():
    x = tensor(4, 33)

    def squares(x):
        y = x * x
        return y, y.sum(1)

    assert groups(squares, x) == ["multiply", "sum"]
    assert groups(lambda x: (x.sum(1, keepdim=True), x.sum(1, keepdim=True) + 1.0), x) == ["sum", "add"]
    assert groups(lambda x, b: (x + b).sum(1), x, tensor(33)) == ["add", "sum"]
    assert groups(lambda x: x - x.sum(1, keepdim=True), x) == ["sum", "subtract"]


def test_any_number_of_rows():
    static = d2s.to_static(lambda x: F.relu((x * x).sum(-1)), input_spec=[d2s.static.InputSpec([None, 40])])
    for rows in (2, 3, 1, 50):
        x = tensor(rows, 40)
        assert same_bits(static(x).array, F.relu((x * x).sum(-1)).array)


def test_small_ones_use_the_kernels_that_are_there(monkeypatch):
    monkeypatch.setattr(join_lines, "LEAST", 1 << 14)
    assert groups(lambda x: (x * x).sum(-1), tensor(4, 40)) == ["multiply", "sum"]
