"""Activations beyond their samples: how near gelu is, what is refused, and Paddle's names."""

import math

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, DTypeError
from d2s.nn import functional as F

NUMBERED = ["softplus", "leaky_relu", "elu", "selu", "hardsigmoid", "hardtanh"]


def gelu(x):
    return x * 0.5 * math.erfc(-x / math.sqrt(2))


def test_gelu_is_near_even_where_little_is_left():
    x = np.linspace(-5.75, 9, 60_001).astype("float32")
    exact = np.array([gelu(v) for v in x.tolist()])
    off = np.abs(F.gelu(d2s.to_tensor(x)).numpy() - exact) / np.maximum(np.abs(exact), 1e-30)
    assert off[x > -1].max() < 3e-7
    assert off.max() < 5e-6


def test_gelu_at_its_ends():
    x = d2s.to_tensor([-np.inf, -1e30, -5.76, -1e-40, -0.0, 0.0, 1e-40, 7.0, 3e38, np.inf, np.nan])
    found = F.gelu(x).numpy()
    assert found[:3].tolist() == [0.0, 0.0, 0.0]
    assert found[[4, 5, 7, 8, 9]].tolist() == [-0.0, 0.0, 7.0, np.float32(3e38), np.inf]
    assert np.signbit(found[[3, 4, 5, 6]]).tolist() == [True, True, False, False]
    assert np.isnan(found[10])


def test_the_ways_to_ask_for_the_approximation():
    x = d2s.to_tensor([-1.0, 0.5, 2.0])
    exact, by_tanh = F.gelu(x).tolist(), F.gelu(x, True).tolist()
    assert exact != by_tanh
    assert F.gelu(x, "none").tolist() == F.gelu(x, approximate=False).tolist() == exact
    assert F.gelu(x, "tanh").tolist() == by_tanh
    with pytest.raises(ArgumentError, match=r"D2S0004.*gelu.*'approximate' is 'sin'"):
        F.gelu(x, "sin")


@pytest.mark.parametrize("name", NUMBERED)
def test_numbers_are_checked(name):
    with pytest.raises(DTypeError, match=rf"D2S0001.*{name}.*expects a number, got str"):
        getattr(F, name)(d2s.to_tensor([1.0]), "a")


@pytest.mark.parametrize("name", ["gelu", "silu", "mish", *NUMBERED])
def test_integers_are_refused(name):
    with pytest.raises(DTypeError, match=f"D2S0003.*{name}.*does not take int64"):
        getattr(F, name)(d2s.to_tensor([1]))


@pytest.mark.parametrize("slope", [math.inf, -math.inf, math.nan, 1e300])
def test_numbers_that_no_float32_holds(slope):
    with np.errstate(all="ignore"):
        expected = np.float32(slope) * np.float32(-2)
    np.testing.assert_array_equal(F.leaky_relu(d2s.to_tensor([-2.0, 2.0]), slope).numpy(), [expected, 2.0])


def test_names_that_are_others():
    assert F.swish is F.silu
    assert F.tanhshrink(d2s.to_tensor([2.0])).item() == pytest.approx(2.0 - math.tanh(2.0))


def test_large_numbers_do_not_overflow_on_the_way():
    x = d2s.to_tensor([-3e38, 3e38, -100.0, 100.0])
    for name in ("silu", "hardswish", "mish"):
        assert getattr(F, name)(x).numpy()[[1, 3]].tolist() == x.numpy()[[1, 3]].tolist(), name
    assert F.log_sigmoid(x).numpy()[[0, 2]].tolist() == x.numpy()[[0, 2]].tolist()
    assert F.softsign(x).tolist()[:2] == [-1.0, 1.0]
