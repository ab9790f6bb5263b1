"""Pools at their edges: nans, ties, windows that leave the plane, borders and insides that must agree, threads, layouts."""

import itertools

import numpy as np
import pytest

import d2s
import d2s.nn.functional as F
from d2s.errors import D2SError
from d2s.ops import pool_text
from d2s.ops.pool import avg_pool, avg_pool_grad, max_pool, max_pool_grad, max_pool_pick, max_pool_with_index
from d2s.runtime.differing import same_bits
from tests.ops.without_memory import prepared_anew, without_memory

LOWEST = float(np.finfo(np.float32).min)
NAN, INF = float("nan"), float("inf")


def test_a_nan_is_never_the_greatest_and_nothing_below_the_lowest_number_counts():
    x = d2s.to_tensor([[[1.0, NAN, 2.0, 3.0, NAN, NAN, -INF, -INF, INF, NAN]]], stop_gradient=False)
    values, places = F.max_pool1d(x, 2, return_mask=True)
    assert values.tolist() == [[[1.0, 3.0, LOWEST, LOWEST, INF]]]
    assert places.tolist() == [[[0, 3, -1, -1, 8]]]
    assert places.dtype == "int32"
    values.sum().backward()
    assert x.grad.tolist() == [[[1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0]]]


@pytest.mark.parametrize("width", [2, 5])  # written out, and not
def test_a_window_that_ends_with_nan_is_nan_as_in_paddle(width):
    """What PaddlePaddle 2.6.2 and 3.3.1 say of these; torch says nan of the third, too."""
    rows = [[NAN] * width, [1.0] * (width - 1) + [NAN], [NAN] + [1.0] * (width - 1), [-INF] * width]
    x = d2s.to_tensor([[list(itertools.chain(*rows))]], stop_gradient=False)
    y = F.max_pool1d(x, width)
    assert np.array_equal(y.numpy().ravel(), [NAN, NAN, 1.0, LOWEST], equal_nan=True)
    assert same_bits(y.numpy(), d2s.to_static(lambda x: F.max_pool1d(x, width))(x).numpy())
    y.sum().backward()
    assert np.flatnonzero(x.grad.numpy()).tolist() == [width, 2 * width + 1]


def test_the_first_of_equal_maxima_wins():
    x = d2s.to_tensor([[[0.0, -0.0, -0.0, 0.0]]])
    values, places = F.max_pool1d(x, 2, return_mask=True)
    assert np.signbit(values.numpy()).tolist() == [[[False, True]]]
    assert places.tolist() == [[[0, 2]]]
    ones = d2s.ones([1, 1, 3, 4])
    ones.stop_gradient = False
    F.max_pool2d(ones, [2, 3], 1).sum().backward()
    assert ones.grad.tolist() == [[[[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0], [0.0] * 4]]]


def test_windows_that_leave_the_plane():
    x = d2s.to_tensor(np.arange(7, dtype=np.float32).reshape(1, 1, 7))
    assert F.max_pool1d(x, 3, 2, 1, ceil_mode=True).tolist() == [[[1.0, 3.0, 5.0, 6.0]]]
    assert F.avg_pool1d(x, 3, 2, 1, True, True).tolist() == [[[0.5, 2.0, 4.0, 5.5]]]
    third = np.float32(1) / np.float32(3), 2.0, 4.0, np.float32(11) / np.float32(3)
    assert F.avg_pool1d(x, 3, 2, 1, False, True).numpy().ravel().tolist() == [float(n) for n in third]
    assert F.max_pool1d(x, 2, 3, 1, ceil_mode=True).tolist() == [[[0.0, 3.0, 6.0, LOWEST]]]
    empty = F.avg_pool1d(x, 2, 3, 1, ceil_mode=True).numpy().ravel()
    assert empty[:3].tolist() == [0.0, 2.5, 5.5]
    assert np.isnan(empty[3])


def test_paddings_and_layouts():
    x = d2s.to_tensor(np.arange(24, dtype=np.float32).reshape(1, 1, 4, 6))
    assert F.max_pool2d(x, 2, 2, [1, 0]).tolist() == [[[[1.0, 3.0, 5.0], [13.0, 15.0, 17.0], [19.0, 21.0, 23.0]]]]
    for padding in ([1, 0, 0, 1], [[0, 0], [0, 0], [1, 0], [0, 1]]):
        assert F.max_pool2d(x, 2, 2, padding).tolist() == [[[[1.0, 3.0, 5.0], [13.0, 15.0, 17.0]]]]
    assert F.avg_pool2d(x, 3, 2, "SAME").tolist() == [[[[7.0, 9.0, 10.5], [16.0, 18.0, 19.5]]]]
    assert F.max_pool2d(x, 3, 2, "VALID").tolist() == [[[[14.0, 16.0]]]]
    assert F.avg_pool2d(x, 3, 2, 1, divisor_override=3).tolist() == [[[[10.5, 15.0, 21.0], [37.5, 42.0, 48.0]]]]
    last = F.max_pool2d(x.transpose([0, 2, 3, 1]), 2, 2, data_format="NHWC")
    assert last.shape == [1, 2, 3, 1]
    assert last.numpy().ravel().tolist() == F.max_pool2d(x, 2).numpy().ravel().tolist()
    assert F.adaptive_avg_pool2d(x, [3, None]).numpy()[0, 0, :, 0].tolist() == [3.0, 9.0, 15.0]
    assert F.adaptive_avg_pool2d(x, [9, 3]).numpy()[0, 0, :4, 0].tolist() == [0.5, 0.5, 3.5, 6.5]


WIDE = [(1, 1), (2, 2), (3, 2), (3, 1), (2, 3)]  # widths and strides of windows
ATTRIBUTES = [(k, s, p, up) for k, s in WIDE for p in (0, 1, 4) for up in (False, True)]


def test_written_out_windows_have_the_bits_of_others(monkeypatch):
    """Overlapping sums tell in which order windows hand on what they have."""
    rng = np.random.default_rng(0)
    for k, s, p, up in ATTRIBUTES:
        x = rng.standard_normal((1, 2, 5, 37)).astype("float32")
        attrs = {"kernel": k, "stride": s, "padding": p, "ceil_mode": up, "size": ()}
        g = rng.standard_normal(max_pool(d2s.to_tensor(x), **attrs).shape).astype("float32")
        one, all_ = attrs | {"exclusive": False}, attrs | {"exclusive": False, "extents": (5, 37)}
        calls = [(max_pool_with_index, [x], attrs), (max_pool_grad, [g, x], attrs), (max_pool_pick, [x, x], attrs)]
        calls += [(max_pool, [x], attrs), (avg_pool, [x], one), (avg_pool_grad, [g], all_)]
        found = []
        for widest in (3, 0):
            monkeypatch.setattr(pool_text, "WRITTEN_OUT", widest)
            found.append([array for call in calls for array in prepared_anew(*call)])
        assert all(same_bits(a, b) for a, b in zip(*found, strict=True)), (k, s, p, up)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_strips_of_windows_have_the_bits_of_single_ones(dtype, monkeypatch):
    """Ties, nans, infinities, and windows that share a column with those of the next strip."""
    rng = np.random.default_rng(0)
    for k, p, width, up in itertools.product((2, 3), (0, 1), (3, 16, 31, 33, 67, 300), (False, True)):
        x = rng.choice([1.5, 2.0, 2.5, NAN, INF, -INF], (1, 2, 7, width)).astype(dtype)
        attrs = {"kernel": k, "stride": 2, "padding": p, "ceil_mode": up, "size": ()}
        g = rng.standard_normal(max_pool(d2s.to_tensor(x), **attrs).shape).astype(dtype)
        g.flat[::5] = -0.0
        found = max_pool_grad(d2s.to_tensor(g), d2s.to_tensor(x), **attrs).numpy()
        with monkeypatch.context() as patch:
            patch.setattr(pool_text, "WRITTEN_OUT", 0)
            assert same_bits(found, without_memory(max_pool_grad, [g, x], attrs, "best = new_memory(")), attrs


@pytest.mark.parametrize("op", [max_pool_grad, max_pool_pick])
def test_where_there_is_no_memory_bits_are_the_same(op):
    rng = np.random.default_rng(2)
    for k, s, p in itertools.product((1, 2, 3, 4), (1, 2), (0, 1)):
        x = rng.integers(0, 3, (1, 2, 7, 9)).astype(np.float32)  # with ties
        x[0, 0, 2] = NAN
        shape = max_pool(d2s.to_tensor(x), k, s, p).shape if op is max_pool_grad else x.shape
        first = rng.standard_normal(shape).astype(np.float32)
        attrs = {"kernel": k, "stride": s, "padding": p, "ceil_mode": False, "size": ()}
        plain = without_memory(op, [first, x], attrs, "best = new_memory(")
        assert same_bits(op(d2s.to_tensor(first), d2s.to_tensor(x), **attrs).numpy(), plain)


def test_results_do_not_depend_on_threads():
    x = d2s.to_tensor(np.random.default_rng(1).standard_normal((8, 9, 40, 41)).astype("f4"))
    g = d2s.to_tensor(np.random.default_rng(2).standard_normal((8, 9, 38, 39)).astype("f4"))
    attrs, before, found = (3, 1, 0, False, ()), d2s.get_num_threads(), []
    try:
        for threads in (1, 2, 5):
            d2s.set_num_threads(threads)
            results = (
                max_pool(x, *attrs),
                max_pool_grad(g, x, *attrs),
                avg_pool(x, *attrs),
                avg_pool_grad(g, *attrs, True, (40, 41)),
            )
            found.append([t.numpy() for t in results])
    finally:
        d2s.set_num_threads(before)
    for a, b in itertools.pairwise(found):
        assert all(same_bits(p, q) for p, q in zip(a, b, strict=True))


def test_the_gradient_of_a_gradient():
    rng = np.random.default_rng(5)
    x = d2s.to_tensor(rng.standard_normal((1, 1, 6, 6)), stop_gradient=False)
    y = F.max_pool2d(x, 3, 2, 1)
    (first,) = d2s.grad([(y * y * y).sum()], [x], create_graph=True)
    (first * first).sum().backward()
    places = max_pool_with_index(x, 3, 2, 1)[1].numpy().ravel()
    expected = np.zeros(36)
    for place in set(places.tolist()):
        n, v = (places == place).sum(), x.numpy().ravel()[place]
        expected[place] = 2 * (n * 3 * v * v) * n * 6 * v
    np.testing.assert_allclose(x.grad.numpy().ravel(), expected, rtol=1e-12)


WRONG = [
    (lambda x: F.max_pool2d(x, 0), "'kernel_size' is 0"),
    (lambda x: F.max_pool2d(x, [2, 2, 2]), "'kernel_size' is [2, 2, 2]"),
    (lambda x: F.max_pool2d(x, 2, 0), "'stride' is 0"),
    (lambda x: F.max_pool2d(x, 2, padding=-1), "'padding' is -1"),
    (lambda x: F.max_pool2d(x, 2, padding="same as ever"), "'padding' is 'same as ever'"),
    (lambda x: F.avg_pool2d(x, 2, padding="VALID", ceil_mode=True), "'ceil_mode'"),
    (lambda x: F.max_pool2d(x, 5), "extent 4 along axis H"),
    (lambda x: F.max_pool2d(x, 2, data_format="NWHC"), "'data_format' is 'NWHC'"),
    (lambda x: F.max_pool2d(x, 2, data_format="NHWC", return_mask=True), "'return_mask'"),
    (lambda x: F.max_pool1d(x, 2), "expected 3 axes"),
    (lambda x: F.max_pool2d(x.astype("int64"), 2), "does not take"),
    (lambda x: F.adaptive_avg_pool2d(x, [0, 1]), "in [0, 1] parts"),
    (lambda x: F.adaptive_avg_pool2d(x, 1.5), "'output_size' holds 1.5"),
    (lambda x: F.max_pool2d([1.0], 2), "expects a Tensor"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_what_does_not_fit_is_said(call, said):
    with pytest.raises(D2SError) as caught:
        call(d2s.ones([1, 1, 4, 6]))
    assert said in str(caught.value)
