"""What Paddle's functions take besides an op's own arguments. The numbers were recorded from Paddle 3.3.1 and 2.6.2."""

import decimal
import math

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, D2SError, DTypeError
from d2s.types import float64

F = d2s.nn.functional


def t(values, **how):
    return d2s.to_tensor(values, **how)


X = [[1.0, -2.0], [3.0, 4.0]]
CASES = {
    "add": (lambda: d2s.add(t([1.0]), t([2.0]), alpha=3), [7.0]),
    "subtract": (lambda: t([1]).subtract(t([2]), alpha=3, name="less"), [-5]),
    "divide, cut off": (lambda: d2s.divide(t([-7.0, 7.0]), t([2.0, 2.0]), rounding_mode="trunc"), [-3.0, 3.0]),
    "divide, down": (lambda: d2s.divide(t([-7.0, 7.0]), t([2.0, 2.0]), rounding_mode="floor"), [-4.0, 3.0]),
    "divide integers, cut off": (lambda: d2s.divide(t([-7, 7]), t([2, 2]), rounding_mode="trunc"), [-3, 3]),
    "divide integers, down": (lambda: d2s.divide(t([-7, 7]), t([2, 2]), rounding_mode="floor"), [-4, 3]),
    "round": (lambda: d2s.round(t([1.005, 2.675], dtype="float64"), decimals=2), [1.0, 2.68]),
    "round, hundreds": (lambda: t([1234.5, -1255.0]).round(-2), [1200.0, -1300.0]),
    "round, not finite": (lambda: d2s.round(t([math.inf, -math.inf]), 1), [math.inf, -math.inf]),
    "round, no such digits": (lambda: d2s.round(t([5.5, 3e38]), 60) == t([5.5, 3e38]), [True, True]),
    "round, no such size": (lambda: d2s.round(t([5.5]), -400), [0.0]),
    "round integers": (lambda: d2s.round(t([1234]), -2), [1234]),
    "mean": (lambda: d2s.mean(t([1, 2]), dtype="float64"), 1.5),
    "bernoulli": (lambda: d2s.bernoulli(t(X), 0.0), [[0.0, 0.0], [0.0, 0.0]]),
    "searchsorted": (lambda: d2s.searchsorted(t([1.0, 2.0, 2.0, 3.0]), t([2.0]), side="right"), [3]),
    "index_add": (lambda: d2s.index_add(d2s.zeros([2]), t([0]), 0, t([1.0]), alpha=2), [2.0, 0.0]),
    "var": (lambda: d2s.stack([d2s.var(t(X), correction=c) for c in (0, 1, 2)]), [5.25, 7.0, 10.5]),
    "var, unbiased": (lambda: d2s.var(t(X), unbiased=False), 5.25),
    "where": (lambda: d2s.stack(d2s.where(t(X) > 0)), [[0, 1, 1], [0, 0, 1]]),
    "where, a method": (lambda: d2s.stack((t(X) > 0).where()), [[0, 1, 1], [0, 0, 1]]),
    "pad, the last axis": (lambda: F.pad(t(X), [1, 1]), [[0.0, 1.0, -2.0, 0.0], [0.0, 3.0, 4.0, 0.0]]),
    "pad, each axis": (lambda: F.pad(t(X), [1, 0, 2, 0]), [[0.0] * 4, [0.0, 0.0, 1.0, -2.0], [0.0, 0.0, 3.0, 4.0]]),
    "pad, a vector": (lambda: F.pad(t([1.0, 2.0]), [1, 2], value=5.0), [5.0, 1.0, 2.0, 5.0, 5.0]),
    "shapes": (lambda: t(F.pad(d2s.ones([1, 1, 2, 2]), [1, 2]).shape), [1, 1, 2, 5]),
}


@pytest.mark.parametrize("name", CASES)
def test_worked(name):
    call, wanted = CASES[name]
    assert call().tolist() == wanted


def test_dtypes():
    assert d2s.shape(t(X)).dtype is d2s.int32 and d2s.rank(t(X)).dtype is d2s.int32 and d2s.numel(t(X)).dtype is d2s.int64
    assert d2s.assign([1.0]).dtype is d2s.float32 and d2s.assign([1]).dtype is d2s.int64  # as Paddle 2.x; 3.x: float64
    assert d2s.norm(t(X), dtype="float64").dtype is d2s.float64 and d2s.add(t([1]), t([2]), alpha=2).dtype is d2s.int64


def of(dtype, *values):
    return t(np.array(values, dtype))


OF_DTYPES = {  # recorded from both; where they differ or refuse: an empty mean is 0 of integers, bool / False is False
    "sum uint8": (lambda: d2s.sum(of("uint8", [200, 1], [100, 2]), 0), d2s.uint8, [44, 3]),
    "sum int8": (lambda: of("int8", [100, 100, 127]).sum(axis=-1, keepdim=True), d2s.int8, [[71]]),
    "sum int16": (lambda: d2s.sum(of("int16", 100, 238)), d2s.int16, 338),
    "sum int16, in int32": (lambda: d2s.sum(of("int16", 100, 238), dtype="int32"), d2s.int32, 338),
    "sum int32": (lambda: d2s.sum(of("int32", 100, 238)), d2s.int64, 338),
    "sum bool": (lambda: d2s.sum(of("bool", True, True)), d2s.int64, 2),
    "sum uint8, 0-D": (lambda: d2s.sum(t(np.uint8(7)), axis=[0]), d2s.uint8, 7),
    "mean int64": (lambda: d2s.mean(of("int64", [-3, -4], [3, 4]), 1), d2s.int64, [-3, 3]),
    "mean int32": (lambda: of("int32", [1, 2], [4, 4]).mean([0], keepdim=True), d2s.int32, [[2, 3]]),
    "mean int32, no axis named": (lambda: d2s.mean(of("int32", [1, 2], [4, 4]), []), d2s.int32, 2),
    "mean int32 of nothing": (lambda: d2s.mean(of("int32")), d2s.int32, 0),
    "mean bool": (lambda: d2s.mean(of("bool", [False, True], [False, False]), 1), d2s.bool, [True, False]),
    "mean, 0-D": (lambda: d2s.mean(t(3), axis=-1, keepdim=True), d2s.int64, 3),
    "trunc": (lambda: d2s.trunc(of("int32", -3, 3)), d2s.int32, [-3, 3]),
    "frac": (lambda: d2s.frac(of("int64", [-3, 3])), d2s.int64, [[0, 0]]),
    "neg bool": (lambda: d2s.neg(of("bool", True, False)), d2s.bool, [True, False]),
    "-x of bool": (lambda: -t(True), d2s.bool, True),
    "divide bool": (lambda: d2s.divide(of("bool", True, False), t(True)), d2s.bool, [True, False]),
    "divide bool by False": (lambda: d2s.divide(of("bool", True), of("bool", False)), d2s.bool, [False]),
    "bool / bool": (lambda: of("bool", True, False) / t(True), d2s.float32, [1.0, 0.0]),
}


@pytest.mark.parametrize("name", OF_DTYPES)
def test_other_dtypes(name):
    call, dtype, wanted = OF_DTYPES[name]
    for found in (call(), d2s.jit.to_static(call)()):
        assert found.dtype is dtype and found.tolist() == wanted


def test_one_number_has_axis_0():
    x = t(2.0, stop_gradient=False)
    names = "sum mean max min amax amin prod logsumexp nansum nanmean std var count_nonzero argmax cumsum squeeze median"
    for name in names.split():
        for axis in (0, -1):
            found = getattr(d2s, name)(x, axis=axis)
            assert found.shape == [], name
            if name in ("sum", "mean", "max", "prod", "logsumexp"):
                (slope,) = d2s.grad(found, x)
                assert slope.item() == 1.0, name
        with pytest.raises(ArgumentError, match="D2S0004"):
            getattr(d2s, name)(x, axis=1)


MATRIX_NORMS = {"nuc": 7.071067810058594, 2: 5.116672992706299, -2: 1.954395055770874, "fro": 5.4772257804870605}
MATRIX_NORMS |= {1: 6.0, -1: 4.0, math.inf: 7.0, -math.inf: 3.0}


def test_norms_of_matrices():
    x = t(X)
    for p, wanted in MATRIX_NORMS.items():
        assert abs(d2s.norm(x, p, axis=[0, 1]).item() - wanted) < 1e-6 * wanted
    assert abs(d2s.linalg.norm(x, "nuc").item() - MATRIX_NORMS["nuc"]) < 1e-5 and abs(x.norm(2).item() - 5.477226) < 1e-5
    many = t(np.arange(24.0).reshape(2, 3, 4), stop_gradient=False)
    found = d2s.linalg.norm(many, 2, axis=[0, 2])
    assert np.allclose(found.numpy(), [27.278740934924464, 36.795010111317204, 47.10309908823585], rtol=1e-12)
    assert d2s.linalg.norm(many, "nuc", axis=[2, 0], keepdim=True).shape == [1, 3, 1]
    found.sum().backward()
    assert abs((many.grad * many).sum().item() - found.sum().item()) < 1e-9  # a norm grows as its matrix does
    for p, axis in ((3, [0, 1]), (0, [0, 1]), ("nuc", None), ("no", [0, 1]), (2, [0, 0])):
        with pytest.raises(ArgumentError, match="D2S0004"):
            d2s.linalg.norm(many, p, axis)


REFUSED = [
    (lambda: d2s.add(t([1.0]), t([2.0]), alpa=3), DTypeError, "alpa"),
    (lambda: d2s.add(t([1.0]), t([2.0]), alpha="3"), DTypeError, "alpha"),
    (lambda: d2s.divide(t([1.0]), 2.0, rounding_mode="up"), ArgumentError, "rounding_mode"),
    (lambda: d2s.round(t([1.0]), 1.5), ArgumentError, "decimals"),
    (lambda: d2s.var(t(X), unbiased=True, correction=0), ArgumentError, "correction"),
    (lambda: d2s.where(t(X) > 0, t(X)), ArgumentError, "both"),
    (lambda: d2s.searchsorted(t([1.0]), t([1.0]), side="up"), ArgumentError, "side"),
    (lambda: d2s.searchsorted(t([1.0]), t([1.0]), right=True, side="left"), ArgumentError, "side"),
    (lambda: d2s.polygamma(t([1.0]), -1), ArgumentError, "'n'"),
    (lambda: d2s.polygamma(t([1.0]), 31), ArgumentError, "'n'"),
    (lambda: d2s.polygamma(t([1]), 1), DTypeError, "polygamma"),
]


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_what_is_wrong_is_said(case):
    call, error, words = REFUSED[case]
    with pytest.raises(error, match=words) as caught:
        call()
    assert isinstance(caught.value, D2SError)


def test_captured():
    def f(x):
        return d2s.add(x, x, alpha=2).round(1) + d2s.divide(x, 0.5, rounding_mode="floor")

    assert d2s.to_static(f)(t([1.26])).tolist() == f(t([1.26])).tolist()
    assert [found.tolist() for found in d2s.to_static(lambda x: d2s.where(x > 0))(t([1.0, -1.0, 2.0]))] == [[0, 2]]


# --- put_along_axis: with what was there, and without

ARR, PLACES, VALUES = [[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]], [[0, 0, 2]], [[1.0, 2.0, 3.0]]
PUT = {  # reduce, include_self: the first row, and the second where the index is broadcast
    ("assign", True): ([2.0, 20.0, 3.0], [2.0, 50.0, 3.0]),
    ("assign", False): ([2.0, 20.0, 3.0], [2.0, 50.0, 3.0]),
    ("add", True): ([13.0, 20.0, 33.0], [43.0, 50.0, 63.0]),
    ("add", False): ([3.0, 20.0, 3.0], [3.0, 50.0, 3.0]),
    ("mul", True): ([20.0, 20.0, 90.0], [80.0, 50.0, 180.0]),
    ("mul", False): ([2.0, 20.0, 3.0], [2.0, 50.0, 3.0]),
    ("mean", True): ([13 / 3, 20.0, 16.5], [43 / 3, 50.0, 31.5]),
    ("mean", False): ([1.5, 20.0, 3.0], [1.5, 50.0, 3.0]),
    ("amin", True): ([1.0, 20.0, 3.0], [1.0, 50.0, 3.0]),
    ("amin", False): ([1.0, 20.0, 3.0], [1.0, 50.0, 3.0]),
    ("amax", True): ([10.0, 20.0, 30.0], [40.0, 50.0, 60.0]),
    ("amax", False): ([2.0, 20.0, 3.0], [2.0, 50.0, 3.0]),
}


@pytest.mark.parametrize(("reduce", "own"), PUT)
def test_put_along_axis(reduce, own):
    def put(*args, **how):
        return d2s.put_along_axis(t(ARR), t(PLACES), t(VALUES), 1, reduce, *args, **how).numpy()

    first, second = PUT[reduce, own]
    assert np.allclose(put(own), [first, second], rtol=1e-6)
    assert np.allclose(put(include_self=own, broadcast=False), [first, ARR[1]], rtol=1e-6)


@pytest.mark.parametrize(("reduce", "own"), list(PUT))
def test_its_gradients_agree_with_finite_differences(reduce, own):
    rng = np.random.default_rng(3)
    arrays = [
        rng.permutation(np.linspace(-2.0, 2.0, 6)).reshape(2, 3),
        rng.permutation([0.7, -1.3, 2.2, 0.0])[None].repeat(2, 0),
    ]
    arrays[0][0, 1] = 0.0  # a product with one factor 0, and with two
    places, weights = t([[1, 1, 0, 1], [2, 0, 0, 0]]), t(rng.standard_normal((2, 3)))

    def loss(x, v):
        return (d2s.put_along_axis(x, places, v, 1, reduce, own) * weights).sum()

    tensors = [t(a, stop_gradient=False) for a in arrays]
    loss(*tensors).backward()
    for n, array in enumerate(arrays):
        for at in np.ndindex(array.shape):
            moved = [array.copy(), array.copy()]
            moved[0][at] += 1e-6
            moved[1][at] -= 1e-6
            up, down = (loss(*(t(m if k == n else a) for k, a in enumerate(arrays))).item() for m in moved)
            assert abs(tensors[n].grad.numpy()[at] - (up - down) / 2e-6) < 1e-7


def test_the_largest_of_equals_share_the_gradient():
    x, v = t([2.0, 5.0], stop_gradient=False), t([2.0, 2.0], stop_gradient=False)
    d2s.put_along_axis(x, t([0, 0]), v, 0, "amax").sum().backward()
    assert np.allclose(x.grad.numpy(), [1 / 3, 1.0]) and np.allclose(v.grad.numpy(), [1 / 3, 1 / 3])


# --- polygamma


def exact(n, x):
    """By 60 digits: a hundred terms of the series, and what is left of it."""
    with decimal.localcontext() as context:
        context.prec = 60
        x, s, total = decimal.Decimal(x), n + 1, decimal.Decimal(0)
        for k in range(100 + max(0, -math.floor(x))):
            total += (x + k) ** -s
        a = x + k + 1
        total += a ** (1 - s) / (s - 1) + a**-s / 2 + s * a ** (-s - 1) / 12 - s * (s + 1) * (s + 2) * a ** (-s - 3) / 720
        total += math.prod(range(s, s + 5)) * a ** (-s - 5) / 30240
        return float((-1) ** (n + 1) * math.factorial(n) * total)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_polygamma(n, dtype):
    points = [*np.linspace(-9.7, 30.0, 60), *np.geomspace(1e-6, 1e4, 20), -1e-6, -0.3]
    x = np.array(points, dtype)
    wanted = np.array([exact(n, float(v)) for v in x])
    held = np.abs(wanted) < np.finfo(dtype).max
    found = d2s.polygamma(t(x), n).numpy()
    unit = np.spacing(np.maximum(1.0, np.abs(wanted[held])).astype(dtype))  # near its zeros of 1, like lgamma's
    assert np.isinf(found[~held]).all() and np.max(np.abs(found[held] - wanted[held]) / unit) <= 4


def test_polygamma_at_the_ends():
    x = t([0.0, -0.0, -3.0, math.inf, -math.inf, math.nan, 1e300], dtype="float64")
    assert str(d2s.polygamma(x, 1).tolist()) == "[inf, inf, inf, 0.0, nan, nan, 9.999999999999999e-301]"
    assert np.isnan(d2s.polygamma(x, 2).numpy()[[0, 1, 2, 4, 5]]).all() and d2s.polygamma(x, 2).numpy()[3] == 0.0
    assert d2s.polygamma(x, 0).dtype is float64 and d2s.polygamma(t([1.5]), 0).tolist() == d2s.digamma(t([1.5])).tolist()


def test_slopes_of_digamma():
    x = t([1.5, -0.5, 0.0, -1.0], stop_gradient=False)
    d2s.digamma(x).sum().backward()
    assert np.allclose(x.grad.numpy(), [0.934802234172821, 8.934802055358887, math.inf, math.inf], rtol=1e-6)
    y = t([0.7, 2.5], dtype="float64", stop_gradient=False)
    (first,) = d2s.grad(d2s.lgamma(y).sum(), y, create_graph=True)
    (second,) = d2s.grad(first.sum(), y, create_graph=True)
    (third,) = d2s.grad(second.sum(), y)
    assert np.allclose(third.numpy(), [exact(2, 0.7), exact(2, 2.5)], rtol=1e-14)
