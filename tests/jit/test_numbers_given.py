"""Python numbers among the arguments: told at each call where a graph can have them so, known to it where it must know them."""

import math
import types

import numpy as np
import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import PythonIntOverflow

X = d2s.to_tensor(np.random.default_rng(0).normal(size=(4, 6)).astype("float32"))


def summed(x, k):
    total = x * 0
    for i in range(k):
        total = total + x * i
    return total


def by_branch(x, k):
    return x + k if k > 2 else x - k


def repeated(x, k):
    return x if k == 0 else repeated(x * 2, k - 1)


def gathered(x, k):
    found = []
    for i in range(k):
        found.append(x * i)
    return d2s.stack(found) if found else x


def handed_back(x, k):
    return k, (k, x), isinstance(k, int), type(k).__name__, k % 3, k // 2, k / 3, f"{k:03d}", k > 2


ONE_CAPTURE_FOR_ALL = [summed, by_branch, repeated, gathered, handed_back, lambda x, k: x * k + 1, lambda x, k: x[k : k + 1]]
ONE_FOR_EACH = [lambda x, k: x.sum(k % 2), lambda x, k: d2s.tril(x, k), lambda x, k: (x**k, [k] * 2), lambda x, k: [x] * k]


def told(result):
    if isinstance(result, list | tuple):
        return type(result), [told(part) for part in result]
    if isinstance(result, d2s.Tensor):
        return result.dtype, result.shape, result.numpy().tobytes()
    return type(result), result


@pytest.mark.parametrize("function", ONE_CAPTURE_FOR_ALL + ONE_FOR_EACH)
def test_ints(function):
    static = d2s.to_static(function)
    for k in (1, 2, 3, 0, 3, 2, 1, 1):
        assert told(static(X, k)) == told(function(X, k))
    assert function in ONE_FOR_EACH or len(static.recompiles()) == 1


@pytest.mark.parametrize("function", [summed, by_branch, lambda x, k: x * k + 1])
def test_gradients_beside_ints(function):
    def gradient(of, k):
        x = d2s.to_tensor(X.numpy(), stop_gradient=False)
        of(x, k).sum().backward()
        return x.grad.numpy().tobytes()

    static = d2s.to_static(function)
    for k in (1, 2, 3, 3, 2, 1, 1, 3):
        assert gradient(static, k) == gradient(function, k)


def test_an_int_too_large_for_a_graph_is_known_to_it():
    static = d2s.to_static(lambda x, k: x * 0 + k)
    for k in (3, 4, 1 << 40, 1 << 70, 5, -(1 << 80)):
        assert told(static(X, k)) == told(X * 0 + k)


def test_a_bool_is_no_int():
    static = d2s.to_static(lambda x, k: (x * k, k))
    assert [type(static(X, k)[1]) for k in (1, 2, 3, True, False, 4)] == [int, int, int, bool, bool, int]


ATTRIBUTES = {
    "leaky_relu": lambda x, s: F.leaky_relu(x, s),
    "dropout": lambda x, s: F.dropout(x, s, training=False),
    "elu": lambda x, s: F.elu(x, s),
    "norm": lambda x, s: x.norm(s + 2),
    "linspace": lambda x, s: d2s.linspace(0, s, 5),
    "arange": lambda x, s: d2s.arange(0, 3, s),
    "layer_norm": lambda x, s: F.layer_norm(x, 6, epsilon=s),
    "cross_entropy": lambda x, s: F.cross_entropy(x, d2s.to_tensor([0, 1, 2, 3]), label_smoothing=s),
    "softplus": lambda x, s: F.softplus(x, s) * s,
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_floats_that_an_op_needs_to_know(name):
    static = d2s.to_static(ATTRIBUTES[name])
    for s in (0.3, 0.25, 0.3):
        assert told(static(X, s)) == told(ATTRIBUTES[name](X, s))
    assert static.recompiles() == ["s: 0.3 → 0.25"]


COMPUTED_WITH = {
    "clip": lambda x, s: d2s.clip(x, -s, 1 + s),
    "normalize": lambda x, s: F.normalize(x, epsilon=s),
    "put_along_axis": lambda x, s: d2s.put_along_axis(x, d2s.to_tensor([[1]]), s, 1),
}


@pytest.mark.parametrize("name", COMPUTED_WITH)
def test_floats_that_an_op_computes_with(name):
    static = d2s.to_static(COMPUTED_WITH[name])
    for s in (0.3, 0.25, 0.3):
        assert told(static(X, s)) == told(COMPUTED_WITH[name](X, s))
    assert static.recompiles() == []


def test_a_float_is_told_at_each_call_though_an_int_is_not():
    static = d2s.to_static(lambda x, s, axis: (x * s).sum(axis))
    for axis in (0, 1):
        for s in (0.5, 1.5, 2.5):
            assert told(static(X, s, axis)) == told((X * s).sum(axis))
    assert len(static.variants) == 2


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_floats_that_an_op_needs_to_know_on_a_path(name):
    def function(x, s):
        y = x
        if x.sum() > -1e9:
            y = ATTRIBUTES[name](x, s)
        return y

    static = d2s.to_static(function)
    for s in (0.3, 0.25, 0.3):
        assert told(static(X, s)) == told(function(X, s))


OF_INTS = {
    "norm": lambda x, k: x.norm(k),
    "normalize": lambda x, k: F.normalize(x, p=k),
    "axis": lambda x, k: x.sum(k - 2),
}


@pytest.mark.parametrize("name", OF_INTS)
def test_ints_that_an_op_needs_to_know_on_a_path(name):
    def function(x, k):
        return OF_INTS[name](x, k) if x.sum() > -1e9 else x

    static = d2s.to_static(function)
    for k in (1, 2, 3, 2, 1):
        assert told(static(X, k)) == told(function(X, k))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_floats_of_attributes_that_an_op_needs_to_know(name):
    has = types.SimpleNamespace()

    def function(x):
        return (ATTRIBUTES[name](x, has.s) if x.sum() > -1e9 else x), ATTRIBUTES[name](x, has.s)

    static = d2s.to_static(function)
    for has.s in (0.3, 0.25, 0.3, 0.125):
        assert told(static(X)) == told(function(X))


LEAVING = {
    "pow": (lambda n: 2 ** int(n), 70),
    "lshift": (lambda n: 1 << int(n), 64),
    "round": (lambda n: round(float(n) * 1e18), 10),
    "floor": (lambda n: math.floor(float(n) * 1e18), 10),
    "int": (lambda n: int(str(int(n)) + "0" * 18), 10),
    "multiply": (lambda n: int(n) * int(n) * int(n), 1 << 40),
}


@pytest.mark.parametrize("name", LEAVING)
def test_an_int_that_leaves_64_bits_says_so_at_the_users_line(name):
    function, large = LEAVING[name]
    static = d2s.to_static(function)
    for _ in range(2):
        assert static(d2s.to_tensor(2)) == function(d2s.to_tensor(2))
        with pytest.raises(PythonIntOverflow, match=f"{name}: a Python int of run time left the 64 bits") as caught:
            static(d2s.to_tensor(large))
        assert caught.value.where.startswith(__file__)
        assert caught.value.code == "D2S0005"
        assert caught.value.hint
