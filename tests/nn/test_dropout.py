"""Dropout: what stays, how often, and how it is scaled; its gradient; embeddings."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError, D2SError, DTypeError, ShapeError

F = nn.functional
ONES = d2s.to_tensor(np.ones([64, 32, 16], "float32"))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_how_many_stay_and_what_they_become(p, dtype):
    d2s.seed(1)
    y = F.dropout(ONES.astype(dtype), p).numpy()
    assert set(np.unique(y)) == {0, np.ones(1, dtype)[0] * np.dtype(dtype).type(1 / (1 - p))}
    assert abs((y == 0).mean() - p) < 4 * np.sqrt(p * (1 - p) / y.size)


def test_elements_are_dropped_on_their_own():
    d2s.seed(2)
    dropped = (F.dropout(ONES).numpy() == 0).reshape(-1).astype("float64") - 0.5
    for shift in (1, 2, 3, 4, 64, 1000):
        assert abs((dropped[shift:] * dropped[:-shift]).mean() / 0.25) < 4 / np.sqrt(dropped.size)


def test_the_gradient_passes_where_values_passed():
    x = d2s.to_tensor(np.full([1000], 3.0, "float32"), stop_gradient=False)
    y = F.dropout(x, 0.3)
    (y * 2.0).sum().backward()
    assert x.grad.numpy().tobytes() == (np.where(y.numpy() == 0, 0, 2 / 0.7)).astype("float32").tobytes()
    (slope,) = d2s.grad([F.dropout(x, 0.3).sum()], [x], create_graph=True)
    assert not np.all(slope.numpy() == 0)


def test_not_a_number_is_dropped_like_any():
    x = d2s.to_tensor(np.full([1000], np.nan, "float32"))
    assert 300 < np.sum(F.dropout(x).numpy() == 0) < 700


def test_a_seed_says_what_is_dropped():
    found = []
    for seed in (1, 1, 2):
        d2s.seed(seed)
        found.append((F.dropout(ONES).numpy() == 0).tobytes())
    assert found[0] == found[1] != found[2]


def test_modes():
    assert F.dropout(ONES, 0.25, training=False) is ONES
    assert F.dropout(ONES, 0.25, training=False, mode="downscale_in_infer").numpy().max() == 0.75
    assert set(np.unique(F.dropout(ONES, 0.25, mode="downscale_in_infer").numpy())) == {0, 1}
    assert F.dropout(ONES, 0) is ONES
    assert np.all(F.dropout(ONES, 1).numpy() == 0)


def test_whole_slices():
    y = F.dropout(ONES, 0.5, axis=[0, 1]).numpy()
    assert np.all(y == y[:, :, :1])
    assert 0.3 < (y[:, :, 0] == 0).mean() < 0.7
    y = F.dropout(ONES, 0.5, axis=0).numpy()
    assert np.all(y == y[:, :1, :1])


def test_whole_channels():
    x = d2s.to_tensor(np.ones([20, 10, 3, 4], "float32"))
    y = F.dropout2d(x).numpy()
    assert np.all(y == y[:, :, :1, :1])
    assert set(np.unique(y)) == {0, 2}
    y = F.dropout2d(x, data_format="NHWC").numpy()
    assert np.all(y == y[:, :1, :1, :])
    assert len(np.unique(y[:, 0, 0, :])) == 2
    y = F.dropout3d(d2s.to_tensor(np.ones([20, 10, 2, 3, 4], "float32"))).numpy()
    assert np.all(y == y[:, :, :1, :1, :1])


def test_alpha_dropout_keeps_mean_and_deviation():
    d2s.seed(4)
    x = d2s.randn([200_000])
    y = F.alpha_dropout(x, 0.3).numpy()
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1) < 0.02
    d2s.seed(4)
    ones = F.alpha_dropout(ONES, 0.3).numpy()
    np.testing.assert_allclose(np.unique(ones), [-1.0595481, 1.3150446], rtol=1e-6)  # Paddle's
    assert np.all(F.alpha_dropout(ONES, 1.0).numpy() == 0)
    assert F.alpha_dropout(ONES, 0.5, training=False) is ONES


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.Dropout2D(0.5), nn.Dropout3D(0.5), nn.AlphaDropout(0.5)])
def test_layers_drop_in_training_only(layer):
    x = d2s.to_tensor(np.ones([4, 8] + [3] * (3 if "3D" in repr(layer) else 2), "float32"))
    assert len(np.unique(layer(x).numpy())) == 2
    assert layer.eval()(x) is x
    assert d2s.to_static(lambda x: layer(x) + 1)(x).numpy().max() == 2
    layer.train()


def test_texts():
    assert repr(nn.Dropout(0.3, axis=1, mode="downscale_in_infer")) == "Dropout(p=0.3, axis=1, mode=downscale_in_infer)"
    assert repr(nn.Dropout3D(name="d")) == "Dropout3D(p=0.5, data_format=NCDHW, name=d)"


def test_embeddings():
    layer = nn.Embedding(5, 2, padding_idx=-4)
    assert repr(layer) == "Embedding(5, 2, padding_idx=1, sparse=False)"
    assert layer.weight.tolist()[1] == [0.0, 0.0]
    assert layer.weight.trainable
    y = layer(d2s.to_tensor([[1, 2], [2, 4]]))
    assert y.shape == [2, 2, 2]
    y.sum().backward()
    assert layer.weight.grad.tolist() == [[0.0, 0.0], [0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [1.0, 1.0]]


REFUSED = {
    "a likelihood above 1": (lambda: F.dropout(ONES, 2.0), ArgumentError, "'p' is 2.0"),
    "a likelihood that is text": (lambda: F.dropout(ONES, "a"), DTypeError, "'p'"),
    "an axis there is not": (lambda: F.dropout(ONES, axis=5), ArgumentError, "axis 5"),
    "an unknown mode": (lambda: F.dropout(ONES, mode="x"), ArgumentError, "'mode'"),
    "three axes for pictures": (lambda: F.dropout2d(ONES), ShapeError, "3 axes"),
    "an unknown format": (lambda: F.dropout2d(ONES, data_format="x"), ArgumentError, "NCHW or NHWC"),
    "ints": (lambda: F.dropout(d2s.to_tensor([1, 2])), DTypeError, "int64"),
    "a number": (lambda: F.dropout(3), DTypeError, "int"),
    "a padding there is not": (lambda: nn.Embedding(3, 2, padding_idx=5), ArgumentError, "'padding_idx' is 5"),
    "an empty table": (lambda: nn.Embedding(0, 2), ArgumentError, "'num_embeddings'"),
    "a row there is not": (lambda: nn.Embedding(3, 2)(d2s.to_tensor([3])), D2SError, "index 3"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refused(what):
    function, error, words = REFUSED[what]
    with pytest.raises(error) as caught:
        function()
    assert isinstance(caught.value, D2SError)
    assert words in str(caught.value)
