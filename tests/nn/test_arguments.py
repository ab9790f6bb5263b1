"""Arguments as Paddle's users write them: by name, in Paddle's order, in Paddle's spelling."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import ArgumentError

X = d2s.to_tensor(np.random.default_rng(0).random((2, 3, 4), "float32"))
Y = d2s.to_tensor(np.random.default_rng(1).random((2, 3, 4), "float32"))


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (nn.MSELoss(), ("input", "label")),
        (nn.BCEWithLogitsLoss(reduction="sum"), ("logit", "label")),
        (nn.CosineSimilarity(2), ("x1", "x2")),
        (nn.TripletMarginLoss(2.0), ("input", "positive", "negative")),
        (nn.Linear(4, 2), ("input",)),
        (nn.MaxPool1D(2), ("input",)),
        (nn.AdaptiveAvgPool1D(2), ("input",)),
        (nn.AdaptiveMaxPool1D(2), ("input",)),
    ],
)
def test_layers_take_their_inputs_by_name(layer, names):
    given = (X, Y, X)[: len(names)]
    assert layer(**dict(zip(names, given, strict=True))).tolist() == layer(*given).tolist()


def test_the_settings_of_a_loss_are_no_inputs():
    with pytest.raises(TypeError, match="reduction"):
        nn.MSELoss()(X, Y, reduction="sum")


@pytest.mark.parametrize("function", [d2s.add, d2s.equal])
def test_of_a_name_nothing_comes_and_of_other_words_an_error(function):
    assert function(X, Y, name="mine").tolist() == function(X, Y).tolist()
    with pytest.raises((TypeError, d2s.errors.D2SError), match="title"):
        function(X, Y, title="mine")


@pytest.mark.parametrize(("layer", "axes"), [(nn.Conv2DTranspose, 2), (nn.Conv3DTranspose, 3)])
def test_dilation_stands_before_groups(layer, axes):
    made = layer(4, 6, 3, 1, 0, 0, [2] * axes, 2)
    assert list(made.weight.shape) == [4, 3, *[3] * axes]
    assert list(made._dilation) == [2] * axes


def test_groups_stand_before_dilation_along_one_axis():
    made = nn.Conv1DTranspose(4, 6, 3, 1, 0, 0, 2, 3)
    assert list(made.weight.shape) == [4, 3, 3]
    assert made._dilation == (3,)


def test_batch_norm_as_1_x_wrote_it():
    x = np.array([[-1.0], [3.0]], "float32")
    layer = nn.BatchNorm(1, "relu", False, 0.5, 0.0, moving_mean_name="m", moving_variance_name="v")
    assert layer(d2s.to_tensor(x)).tolist() == [[0.0], [1.0]]
    assert (layer._mean.name, layer._mean.item(), layer._variance.name, layer._variance.item()) == ("m", 0.5, "v", 2.5)
    layer.eval()
    np.testing.assert_allclose(layer(d2s.to_tensor(x)).numpy(), np.maximum((x - 0.5) / np.sqrt(2.5), 0), rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "mean", "seen"),
    [
        ({"is_test": True}, 0.0, [-1.0, 3.0]),
        ({"use_global_stats": True}, 0.0, [-1.0, 3.0]),
        ({"is_test": True, "trainable_statistics": True}, 0.1, [-1.0, 1.0]),
    ],
)
def test_where_batch_norm_takes_its_mean(given, mean, seen):
    layer = nn.BatchNorm(num_channels=1, epsilon=0.0, param_attr=False, bias_attr=False, **given)
    assert [n for (n,) in layer(d2s.to_tensor([[-1.0], [3.0]])).tolist()] == seen
    assert layer._mean.item() == pytest.approx(mean)


def test_batch_norm_of_another_dtype_or_an_unknown_activation():
    assert nn.BatchNorm(2, dtype="float64").weight.dtype is nn.BatchNorm(2, dtype="float64")._mean.dtype is d2s.float64
    with pytest.raises(ArgumentError, match="no activation"):
        nn.BatchNorm(3, act="nothing")(X)
