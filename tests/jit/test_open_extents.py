"""Extents that `input_spec` leaves open: one Program for all where that can be, a Program for each size where it cannot."""

import numpy as np
import pytest

import d2s
import d2s.nn.functional as F
from d2s.static import InputSpec

ROWS = InputSpec([None, 6])
LABELS = InputSpec([None], "int64")


def rows(n):
    return d2s.to_tensor(np.linspace(-1.0, 1.0, 6 * n, dtype="float32").reshape(n, 6))


def labels(n):
    return d2s.to_tensor(np.arange(n) % 6)


def test_two_batches_that_must_agree_are_one():
    loss = d2s.to_static(lambda x, label: F.cross_entropy(x, label), input_spec=[ROWS, LABELS])
    for n in (4, 5, 9):
        assert loss(rows(n), labels(n)).item() == F.cross_entropy(rows(n), labels(n)).item()
    assert len(loss.variants) == 1
    with pytest.raises(d2s.errors.ShapeError):
        loss(rows(4), labels(5))


def test_extents_that_need_not_agree_stay_apart():
    products = d2s.to_static(lambda x, y: d2s.matmul(x, y, transpose_y=True), input_spec=[ROWS, ROWS])
    for n, m in ((4, 4), (3, 5), (7, 2)):
        assert products(rows(n), rows(m)).shape == [n, m]
    assert len(products.variants) == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda x: d2s.reshape(x, [-1, 3]),
        lambda x: d2s.reshape(x, [x.shape[0] * 2, 3]),
        lambda x: x * x.shape[0] if x.shape[0] > 4 else x - 1,
        lambda x: d2s.concat([x, d2s.zeros([x.shape[0], 1])], axis=1),
        lambda x: d2s.topk(x, 2, axis=0)[0],
        lambda x: d2s.median(x),
        lambda x: d2s.expand(d2s.ones([1, 6]), [x.shape[0], 6]) + x,
    ],
)
def test_code_that_must_know_the_number_is_captured_for_each(function):
    static = d2s.to_static(function, input_spec=[ROWS])
    for n in (3, 5, 3, 8):
        assert static(rows(n)).numpy().tobytes() == function(rows(n)).numpy().tobytes()
    assert len(static.variants) <= 3


@pytest.mark.parametrize(
    "function", [lambda x: x + x[:1], lambda x: x[-1:] * x, lambda x: d2s.where(x > 0, x, x[0:1]), lambda x: x[:1].expand_as(x)]
)
@pytest.mark.parametrize("specs", [None, [ROWS]])
def test_one_row_of_an_open_axis_broadcasts(function, specs):
    static, found = d2s.to_static(function, input_spec=specs), []
    for one in (static, function):
        given = [rows(n) for n in (4, 5, 1, 0, 6)]
        for x in given:
            x.stop_gradient = False
            one(x).square().sum().backward()
        found.append([(one(x).shape, one(x).numpy().tobytes(), x.grad.numpy().tobytes()) for x in given])
    assert found[0] == found[1]
    assert len(static.variants) <= 4  # one for all, and for no row, for one row, for the first call


def test_the_first_axis_of_three_numbers_is_asked_for_in_each_call():
    static = d2s.to_static(lambda x, y: d2s.cross(x, y))
    for n in (2, 4, 5, 3, 6):
        x, y = (d2s.to_tensor(np.arange(12.0 * n).reshape(n, 4, 3) ** k) for k in (1, 2))
        assert static(x, y).tolist() == d2s.cross(x, y).tolist()
    named = d2s.to_static(lambda x, y: d2s.cross(x, y, axis=-1), input_spec=[InputSpec([None, 3])] * 2)
    for n in (2, 3):
        assert named(d2s.ones([n, 3]), d2s.ones([n, 3])).tolist() == [[0.0] * 3] * n
    assert len(named.variants) == 1


def test_a_file_is_never_of_one_size_where_its_spec_is_open(tmp_path):
    static = d2s.to_static(lambda x: d2s.split(x, 3)[0], input_spec=[ROWS])
    static(rows(3))
    with pytest.raises(d2s.errors.CaptureError, match="D2S1001"):
        d2s.jit.save(static, str(tmp_path / "model"))


def test_a_file_may_count_its_rows(tmp_path):
    static = d2s.to_static(lambda x: x * x.shape[0], input_spec=[ROWS])
    d2s.jit.save(static, str(tmp_path / "model"))
    loaded = d2s.jit.load(str(tmp_path / "model"))
    for n in (2, 3, 7):
        assert loaded(rows(n)).numpy().tobytes() == (rows(n) * n).numpy().tobytes()


def test_a_mask_of_a_length_that_is_open(tmp_path):
    def masked(x):
        return x @ x.t() + d2s.nn.Transformer.generate_square_subsequent_mask(x.shape[0])

    d2s.jit.save(masked, str(tmp_path / "model"), [ROWS])
    loaded = d2s.jit.load(str(tmp_path / "model"))
    for n in (1, 2, 5):
        assert loaded(rows(n)).tolist() == masked(rows(n)).tolist()
