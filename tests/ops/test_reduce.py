"""Reductions, scans, order and statistics: the law of sums on long lines, edges, and what is made of them."""

import itertools

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, DTypeError
from tests.samples.reduce import tree_sum

T = d2s.to_tensor
NAN = float("nan")


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


LONG = [
    ((140_000,), None),
    ((3, 66_000), 1),
    ((66_000, 3), 0),
    ((300, 2, 300), (0, 2)),
    ((2, 66_000, 2), 1),
    ((4, 70_000, 2), (0, 1)),
]


@pytest.mark.parametrize(("shape", "axis"), LONG, ids=str)
def test_a_long_sum_goes_by_the_law_whatever_the_layout(shape, axis):
    x = numbers(*shape).astype("float32")
    found = d2s.sum(T(x), axis).numpy()
    assert found.tobytes() == tree_sum(x, axis).tobytes()
    assert np.abs(found - x.astype("float64").sum(axis)).max() < 1e-3


def test_the_order_of_a_sum_is_that_of_its_index_not_of_memory():
    x = numbers(70, 5, 66).astype("float32")
    for axes in itertools.permutations(range(3), 2):
        kept = ({0, 1, 2} - set(axes)).pop()
        rows = np.ascontiguousarray(x.transpose(kept, *sorted(axes))).reshape(x.shape[kept], -1)
        assert d2s.sum(T(x), axes).numpy().tobytes() == d2s.sum(T(rows), 1).numpy().tobytes()


def test_threads_change_no_bits():
    x, before = T(numbers(300, 700).astype("float32")), d2s.get_num_threads()
    try:
        found = []
        for threads in (1, 2):
            d2s.set_num_threads(threads)
            found.append([d2s.sum(x, axis).numpy().tobytes() for axis in (None, 0, 1)])
    finally:
        d2s.set_num_threads(before)
    assert found[0] == found[1]


def test_a_sum_in_a_dtype_of_its_own():
    assert d2s.sum(T([1.5, 2.5]), dtype="float64").dtype is d2s.float64
    assert d2s.sum(T([True, True])).item() == 2
    x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
    d2s.sum(x, dtype="float64").backward()
    assert x.grad.dtype is d2s.float32


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("values", [[np.nan, 2.7], [np.inf], [-np.inf], [1e30, -1.0], [-1e30], [300.7, -300.7], [0.9, 0.9]])
def test_floats_as_integers_saturate_before_they_are_added_up(values, dtype):
    x = T(values)
    whole = d2s.cast(x, dtype)
    for function in (d2s.sum, d2s.prod):
        for called in (function, d2s.to_static(function)):
            assert called(x, dtype=dtype).tolist() == function(whole, dtype=dtype).tolist()


def test_reductions_of_nothing():
    x = T(np.zeros((0, 3), "float32"))
    assert d2s.sum(x, 0).tolist() == [0.0] * 3
    assert d2s.prod(x, 0).tolist() == [1.0] * 3
    assert np.isnan(d2s.mean(x, 0).numpy()).all()
    assert d2s.logsumexp(x, 0).tolist() == [-np.inf] * 3
    assert d2s.all(x, 0).tolist() == [True] * 3
    assert not d2s.any(x, 0).numpy().any()
    assert d2s.max(x, 1).shape == [0]
    for op in (d2s.max, d2s.min, d2s.amax, d2s.argmax):
        with pytest.raises(ArgumentError, match="nothing"):
            op(x, 0)


def test_nan_wins_and_infinities_hold():
    assert np.isnan(d2s.max(T([1.0, NAN, 3.0])).item())
    assert np.isnan(d2s.min(T([[1.0, 2.0], [NAN, 3.0]]), 0).numpy()).tolist() == [True, False]
    assert d2s.max(T([-np.inf, -np.inf])).item() == -np.inf
    assert d2s.logsumexp(T([-np.inf, -np.inf])).item() == -np.inf
    assert d2s.logsumexp(T([np.inf, 0.0])).item() == np.inf
    assert d2s.logsumexp(T([1e4, 1e4])).item() == pytest.approx(1e4 + np.log(2))


def test_extremes_of_integers_reach_their_ends():
    for name in ("int8", "uint8", "int64"):
        ends = np.iinfo(name)
        x = T(np.array([ends.min, ends.max], name))
        assert (d2s.max(x).item(), d2s.min(x).item()) == (ends.max, ends.min)
        assert d2s.max(T(np.array([ends.min], name))).item() == ends.min


def gradient(function, array):
    x = T(array, stop_gradient=False)
    function(x).sum().backward()
    return x.grad.numpy()


def test_where_several_are_largest():
    x = [[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]]
    assert gradient(lambda v: d2s.max(v, 1), x).tolist() == [[0, 1, 1], [1, 0, 0]]
    assert gradient(lambda v: d2s.amax(v, 1), x).tolist() == [[0, 0.5, 0.5], [1, 0, 0]]
    assert gradient(lambda v: d2s.min(v, 0, keepdim=True), x).tolist() == [[1, 0, 0], [0, 1, 1]]
    assert gradient(d2s.amin, x).tolist() == [[0, 0, 0], [0, 1, 0]]


def test_the_gradient_of_a_product_with_zeros():
    assert gradient(lambda v: d2s.prod(v, 1), [[2.0, 3.0], [0.0, 5.0], [0.0, 0.0]]).tolist() == [[3, 2], [5, 0], [0, 0]]
    assert gradient(lambda v: d2s.cumprod(v, 0), [2.0, 0.0, 3.0, 5.0]).tolist() == [1, 38, 0, 0]


def test_gradients_of_gradients_of_reductions():
    for function in (d2s.prod, d2s.logsumexp, d2s.std):
        x = T(np.array([0.5, 1.5, -0.7]), stop_gradient=False)
        (g,) = d2s.grad(function(x), [x], create_graph=True)
        (g * T([1.0, -2.0, 3.0], "float64")).sum().backward()
        step = 1e-6
        moved = [
            gradient(function, x.numpy() + step * np.eye(3)[k]) - gradient(function, x.numpy() - step * np.eye(3)[k])
            for k in range(3)
        ]
        assert np.allclose(x.grad.numpy(), np.array(moved) @ [1.0, -2.0, 3.0] / (2 * step), atol=1e-7), function


def test_the_first_of_the_largest():
    x = np.random.default_rng(1).integers(0, 4, (5, 200, 3))
    for name in ("int32", "float32", "uint8"):
        held = x.astype(name)
        for axis in (0, 1, 2):
            assert np.array_equal(d2s.argmax(T(held), axis).numpy(), held.argmax(axis))
            assert np.array_equal(d2s.argmin(T(held), axis, keepdim=True).numpy(), np.expand_dims(held.argmin(axis), axis))
        assert d2s.argmax(T(held)).item() == held.argmax()
    assert d2s.argmax(T([1.0, NAN, 3.0, NAN])).item() == 1
    assert d2s.argmin(T([[1.0], [NAN], [0.0]]), 0).item() == 1
    assert d2s.argmax(T([1.0, 2.0]), dtype="int32").dtype is d2s.int32
    with pytest.raises(DTypeError, match="float32"):
        d2s.argmax(T([1.0]), dtype="float32")


def test_order_is_stable_and_nan_is_largest():
    assert d2s.argsort(T([2.0, NAN, 1.0, NAN, 2.0])).tolist() == [2, 0, 4, 1, 3]
    assert d2s.argsort(T([2.0, NAN, 1.0, NAN, 2.0]), descending=True).tolist() == [1, 3, 0, 4, 2]
    values, places = d2s.topk(T([NAN, 1.0, 2.0]), 2)
    assert np.isnan(values.numpy()[0])
    assert places.tolist() == [0, 2]
    assert [t.tolist() for t in d2s.topk(T([[3, 1, 2]]), np.int64(1), np.int32(1), largest=False)] == [[[1]], [[1]]]
    assert T([[3, 1], [0, 2]]).sum(np.int64(1)).tolist() == T([[3, 1], [0, 2]]).sum([np.int8(-1)]).tolist() == [4, 2]
    assert [t.tolist() for t in d2s.kthvalue(T([[1, 2, 2], [5, 5, 0]]), 2)] == [[2, 5], [1, 0]]
    assert [t.tolist() for t in d2s.mode(T([[1, 2, 2, 3, 3], [5, 5, 1, 1, 0]]))] == [[2, 1], [2, 3]]
    for k in (0, 4, 1.0):
        with pytest.raises(ArgumentError, match="'k'"):
            d2s.topk(T([1.0, 2.0, 3.0]), k)


def test_gradients_go_back_to_where_values_came_from():
    x = T([[3.0, 1.0, 2.0]], stop_gradient=False)
    (d2s.topk(x, 2)[0] * T([[10.0, 20.0]])).sum().backward()
    assert x.grad.tolist() == [[10.0, 0.0, 20.0]]
    x = T([1.0, 0.0, 3.0, 2.0], stop_gradient=False)
    (d2s.cummax(x)[0] * T([1.0, 10.0, 100.0, 1000.0])).sum().backward()
    assert x.grad.tolist() == [11.0, 0.0, 1100.0, 0.0]


def test_medians_and_quantiles_agree_with_numpy():
    x = numbers(4, 7, 6)
    for axis in (None, 0, 1, 2):
        assert np.allclose(d2s.median(T(x), axis).numpy(), np.median(x, axis))
        assert d2s.median(T(x), axis, keepdim=True).shape == list(np.median(x, axis, keepdims=True).shape)
        for way in ("linear", "lower", "higher", "midpoint"):
            found = d2s.quantile(T(x), [0.1, 0.5, 1.0], axis, interpolation=way).numpy()
            assert np.allclose(found, np.quantile(x, [0.1, 0.5, 1.0], axis, method=way))
    assert np.isnan(d2s.median(T([1.0, NAN])).item())
    assert np.isnan(d2s.quantile(T([1.0, NAN]), 0.0).item())
    assert d2s.median(T([1, 2, 3, 4])).item() == 2.5
    assert [t.item() for t in d2s.median(T([4.0, 1.0, 3.0, 2.0]), axis=0, mode="min")] == [2.0, 3]


def test_spreads_agree_with_numpy():
    x = numbers(4, 7)
    for axis in (None, 0, 1):
        assert np.allclose(d2s.var(T(x), axis).numpy(), x.var(axis, ddof=1))
        assert np.allclose(d2s.std(T(x), axis, False, True).numpy(), x.std(axis, keepdims=True))
    assert np.isnan(d2s.var(T([1.0])).item())


def test_truth_counts_and_what_is_no_number():
    x = np.array([[0.0, NAN, 2.0], [0.0, 0.0, 0.0]])
    assert d2s.any(T(x), 1).tolist() == [True, False]
    assert d2s.all(T(x), 0).tolist() == [False, False, False]
    assert d2s.count_nonzero(T(x), 1).tolist() == [2, 0]
    assert d2s.nansum(T(x)).item() == 2.0
    assert d2s.nanmean(T(x), 1).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("p", [1, 2, 0, 3.5, np.inf, -np.inf])
def test_norms_of_vectors(p):
    x = numbers(4, 7)
    for axis in (0, 1):
        assert np.allclose(d2s.norm(T(x), p, axis).numpy(), np.linalg.norm(x, p, axis))
    assert np.allclose(d2s.norm(T(x), p).item(), np.linalg.norm(x.ravel(), p))


@pytest.mark.parametrize("p", ["fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices(p):
    x = numbers(4, 7)
    assert np.allclose(d2s.norm(T(x), p, [0, 1]).item(), np.linalg.norm(x, p, (0, 1)))


def test_scans_of_whole_tensors_and_of_nothing():
    assert d2s.cumsum(T([[1, 2], [3, 4]])).tolist() == [1, 3, 6, 10]
    assert d2s.cumsum(T([1, 2], "int32")).dtype is d2s.int64
    assert d2s.cumsum(T(np.zeros((0, 3), "float32")), 0).shape == [0, 3]
    assert [t.shape for t in d2s.cummax(T(np.zeros((2, 0), "float32")), 1)] == [[2, 0], [2, 0]]
    assert np.isnan(d2s.cummax(T([1.0, NAN, 3.0]))[0].numpy()).tolist() == [False, True, True]
    assert d2s.logcumsumexp(T([-np.inf, 0.0])).tolist() == [-np.inf, 0.0]


def static(function):
    return d2s.to_static(lambda x: function(x))


COMPOSED = {
    "std": lambda x: d2s.std(x, 1),
    "any": lambda x: d2s.any(x > 0.5, 0),
    "norm": lambda x: d2s.norm(x, 3.0, 1),
    "median": lambda x: d2s.median(x, 1),
    "topk": lambda x: d2s.topk(x, 2)[0],
    "cumsum": lambda x: d2s.cumsum(x, 1),
    "max": lambda x: d2s.max(x, 0),
    "argmax": lambda x: d2s.argmax(x, 1),
    "sum": lambda x: d2s.sum(x, 0, dtype="float64"),
}


@pytest.mark.parametrize("name", COMPOSED)
def test_static_has_the_bits_of_eager(name):
    x = T(numbers(5, 7).astype("float32"))
    assert static(COMPOSED[name])(x).numpy().tobytes() == COMPOSED[name](x).numpy().tobytes()
