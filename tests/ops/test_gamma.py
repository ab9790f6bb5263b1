"""Gamma, its slope, the inverse error function, shifts: whole sweeps against references of more digits or another kind."""

import math

import numpy as np
import pytest

import d2s


@pytest.fixture(autouse=True)
def _quiet():
    with np.errstate(all="ignore"):  # the references meet nan and infinity on purpose
        yield


def lgamma(x):
    def one(v):
        if v == math.inf or (v <= 0 and v == math.floor(v)):
            return math.inf
        return math.lgamma(v) if abs(v) < 1e300 else math.inf

    return np.array([one(float(v)) if v == v else math.nan for v in x.flat], np.float64).reshape(x.shape).astype(x.dtype)


def digamma(x):
    """By 40 steps up, and the asymptotic series there; mirrored below 0."""
    x = x.astype(np.longdouble)
    pi = np.longdouble("3.14159265358979323846264338327950288")
    y = np.where(x < 0.5, 1 - x, x)
    total = np.zeros_like(y)
    for _ in range(40):
        total, y = total - 1 / y, y + 1
    z = 1 / (y * y)
    total = total + np.log(y) - 0.5 / y - z * (1 / np.longdouble(12) - z * (1 / np.longdouble(120) - z / np.longdouble(252)))
    turns = np.fmod(x, 1)
    found = np.where(x < 0.5, total - pi / np.tan(pi * turns), total)
    return np.where((x <= 0) & (np.floor(x) == x), np.nan, np.where(x == np.inf, np.inf, found))


def erfinv(x):
    """Bisection of Python's erf and erfc."""

    def one(v):
        if abs(v) >= 1 or v != v or v == 0:
            return math.copysign(math.inf, v) if abs(v) == 1 else v if v == 0 else math.nan
        if abs(v) < 1e-9:
            return v * math.sqrt(math.pi) / 2
        low, high = 0.0, 7.0
        for _ in range(200):
            middle = (low + high) / 2
            above = math.erf(middle) > abs(v) if abs(v) < 0.5 else math.erfc(middle) < 1 - abs(v)
            low, high = (low, middle) if above else (middle, high)
        return math.copysign(high, v)

    return np.array([one(float(v)) for v in x.flat], np.float64).reshape(x.shape).astype(x.dtype)


def shifted(x, y, towards):
    places = np.where((y >= 0) & (y < 64), y, 63).astype(np.int64)
    if towards == "right":
        return np.right_shift(x.astype(np.int64), places).astype(x.dtype)
    return np.where((y >= 0) & (y < 64), np.left_shift(x.astype(np.int64), places), 0).astype(x.dtype)


X = np.concatenate([np.linspace(-30.3, 40, 4001), np.geomspace(1e-30, 1e30, 500), [0.5, 1.5, 2.5, 10.0, 1e15, np.inf, np.nan]])


def relative_to_one(found, exact):
    """The worst difference of finite values, by the larger of 1 and the value; the others must be the same."""
    finite = np.isfinite(exact)
    assert np.array_equal(found[~finite], exact[~finite], equal_nan=True)
    return np.max(np.abs(found - exact)[finite] / np.maximum(1, np.abs(exact[finite])))


def test_lgamma():
    assert relative_to_one(d2s.lgamma(d2s.to_tensor(X)).numpy(), lgamma(X)) < 2e-15
    narrow = X.astype("float32")
    assert relative_to_one(d2s.lgamma(d2s.to_tensor(narrow)).numpy(), lgamma(narrow.astype("float64")).astype("float32")) < 1e-7
    z, euler = np.array([1e-13, -1e-13, 3e-14]), 0.5772156649015329
    by_one, by_two = 1 + z, 2 + z  # where the slopes are -γ and 1 - γ
    np.testing.assert_allclose(d2s.lgamma(d2s.to_tensor(by_one)).numpy(), -euler * (by_one - 1), rtol=1e-12)
    np.testing.assert_allclose(d2s.lgamma(d2s.to_tensor(by_two)).numpy(), (1 - euler) * (by_two - 2), rtol=1e-12)
    assert d2s.lgamma(d2s.to_tensor(1e-300, "float64")).item() == math.lgamma(1e-300)


def test_digamma():
    assert relative_to_one(d2s.digamma(d2s.to_tensor(X)).numpy(), digamma(X).astype("float64")) < 1e-11
    above = X[X > 0.5]
    assert relative_to_one(d2s.digamma(d2s.to_tensor(above)).numpy(), digamma(above).astype("float64")) < 2e-15


def test_erfinv():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [rng.uniform(-1, 1, 2000), 1 - np.geomspace(1e-16, 0.5, 300), np.geomspace(1e-300, 0.9, 300), [0.0, 1, -1, 2]]
    )
    found, exact = d2s.erfinv(d2s.to_tensor(x)).numpy(), erfinv(x)
    finite = np.isfinite(exact)
    assert np.array_equal(found[~finite], exact[~finite], equal_nan=True)
    assert np.max(np.abs(found - exact)[finite] / np.spacing(np.abs(exact[finite]) + 5e-324)) <= 4


@pytest.mark.parametrize("name", ["lgamma", "erfinv"])
def test_gradients(name):
    x = np.linspace(0.1, 0.9, 9)
    tensor = d2s.to_tensor(x, stop_gradient=False)
    function = getattr(d2s, name)
    function(tensor).sum().backward()
    up, down = (function(d2s.to_tensor(x + h)).numpy() for h in (1e-6, -1e-6))
    np.testing.assert_allclose(tensor.grad.numpy(), (up - down) / 2e-6, rtol=1e-7)


@pytest.mark.parametrize("of", ["uint8", "int8", "int16", "int32", "int64"])
def test_shifts(of):
    limits = np.iinfo(of)
    x = np.array([0, 1, 5, limits.max, limits.min, limits.max // 3], of)[:, None]
    y = np.array([0, 1, 3, limits.bits - 1, limits.bits, 63, 64, 100], of)
    left, right = (f(d2s.to_tensor(x), d2s.to_tensor(y)) for f in (d2s.bitwise_left_shift, d2s.bitwise_right_shift))
    assert np.array_equal(left.numpy(), shifted(x, y, "left"))
    assert np.array_equal(right.numpy(), shifted(x, y, "right"))
    logical = d2s.bitwise_right_shift(d2s.to_tensor(x), d2s.to_tensor(y[:4]), is_arithmetic=False).numpy()
    bits = x.astype(np.int64) & ((1 << limits.bits) - 1) if limits.bits < 64 else x.view("uint64")
    assert np.array_equal(logical, (bits >> y[:4].astype(bits.dtype)).astype(of))
    one = d2s.to_tensor([1, 2])
    assert ((one << 2).tolist(), (8 >> one).tolist(), (one >> one).tolist()) == ([4, 8], [4, 2], [0, 0])
