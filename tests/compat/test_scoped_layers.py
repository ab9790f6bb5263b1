"""Layers of `fluid.dygraph`: until 1.6 named by a scope and sized by their first input, since 1.7 as today."""

import numpy as np
import pytest

import d2s
from d2s import compat

IMAGE = np.linspace(-1, 1, 2 * 3 * 4 * 4, dtype="float32").reshape(2, 3, 4, 4)
VOLUME = np.linspace(-1, 1, 2 * 3 * 8, dtype="float32").reshape(2, 3, 2, 2, 2)
ROWS = {
    "Conv2D": (lambda D: D.Conv2D("s", 2, 3), lambda D: D.Conv2D(3, 2, 3), IMAGE),
    "Conv2D of 1.4": (
        lambda D: D.Conv2D("s", num_channels=3, num_filters=2, filter_size=3),
        lambda D: D.Conv2D(3, 2, 3),
        IMAGE,
    ),
    "Conv3D": (lambda D: D.Conv3D("s", 2, 2), lambda D: D.Conv3D(3, 2, 2), VOLUME),
    "Conv2DTranspose": (
        lambda D: D.Conv2DTranspose("s", 2, None, 3, 1, 2),
        lambda D: D.Conv2DTranspose(3, 2, 3, None, 1, 2),
        IMAGE,
    ),
    "Conv3DTranspose": (
        lambda D: D.Conv3DTranspose("s", 2, None, 2, 1),
        lambda D: D.Conv3DTranspose(3, 2, 2, 1),
        VOLUME,
    ),
    "LayerNorm": (lambda D: D.LayerNorm("s"), lambda D: D.LayerNorm([3, 4, 4]), IMAGE),
    "LayerNorm of rows": (
        lambda D: D.LayerNorm("s", True, False, 3, 1e-3),
        lambda D: D.LayerNorm(4, shift=False, epsilon=1e-3),
        IMAGE,
    ),
    "GroupNorm": (lambda D: D.GroupNorm("s", 3, 1e-3), lambda D: D.GroupNorm(3, 3, 1e-3), IMAGE),
    "PRelu": (lambda D: D.PRelu("s", "channel"), lambda D: D.PRelu("channel", 3), IMAGE),
    "PRelu of elements": (
        lambda D: D.PRelu("s", mode="element"),
        lambda D: D.PRelu("element", input_shape=[2, 3, 4, 4]),
        IMAGE,
    ),
    "BatchNorm": (lambda D: D.BatchNorm("s", 3), lambda D: D.BatchNorm(3), IMAGE),
    "Pool2D": (lambda D: D.Pool2D("s", 2, "avg", 2), lambda D: D.Pool2D(2, "avg", 2), IMAGE),
}


@pytest.fixture
def fluid():
    with compat.installed("1.x"):
        import paddle.fluid as found

        with found.dygraph.guard():
            yield found


@pytest.mark.parametrize("row", ROWS)
def test_a_layer_named_by_a_scope_is_that_of_today(fluid, row):
    old, new, x = ROWS[row]
    old, new, x = old(fluid.dygraph), new(fluid.dygraph), fluid.dygraph.to_variable(x)
    old(x)
    assert [p.shape for p in old.parameters()] == [p.shape for p in new.parameters()]
    for to, value in zip(new.parameters(), old.parameters(), strict=True):
        to.set_value(value)
    assert np.array_equal(old(x).numpy(), new(x).numpy())
    assert all(p.name.startswith(f"s/{type(old).__name__}_0.") for p in old.parameters())


def test_units_and_products_of_two_are_named_by_scopes_too(fluid):
    to, D = fluid.dygraph.to_variable, fluid.dygraph
    hidden, given = to(np.zeros((2, 3), "float32")), to(np.ones((2, 9), "float32"))
    assert [v.shape for v in D.GRUUnit("s", 9)(given, hidden)] == [[2, 3], [2, 3], [2, 9]]
    assert D.BilinearTensorProduct("s", 5)(hidden, given).shape == [2, 5]


def test_the_state_of_what_scopes_name_is_by_parameters_and_else_by_places(fluid):
    class Net(fluid.dygraph.Layer):
        def __init__(self, part, name_scope=None):
            super().__init__(name_scope)
            self.part = part

    conv = fluid.dygraph.Conv2D("net", num_channels=1, num_filters=1, filter_size=1)
    assert list(Net(conv, "net").state_dict()) == list(conv.state_dict()) == ["net/Conv2D_0.w_0", "net/Conv2D_0.b_0"]
    plain = fluid.dygraph.Conv2D(1, 1, 1)
    assert list(Net(plain, "net").state_dict()) == ["part.weight", "part.bias"]
    assert [p.name for p in plain.parameters()] == ["conv2d_0.w_0", "conv2d_0.b_0"]
    assert conv._filter_param is conv.weight and plain._bias_param is plain.bias
    assert [p.trainable for p in fluid.dygraph.BatchNorm(1).parameters()] == [True, True, False, False]


def test_values_go_by_places_and_by_names(fluid):
    one, other = fluid.dygraph.FC("a", 1), fluid.dygraph.FC("b", 1)
    x = fluid.dygraph.to_variable(np.ones((1, 2), "float32"))
    one(x), other(x)
    other.set_dict({"_w": one.weight.numpy(), other.bias.name: np.array([2.0], "float32")})
    assert np.array_equal(one.weight.numpy(), other.weight.numpy()) and other.bias.numpy() == 2.0


def test_arguments_that_are_not_there_are_named_at_the_line(fluid):
    with pytest.raises(
        d2s.errors.UnknownKeyword, match="no argument 'strides' there; it takes num_filters, filter_size, str"
    ) as e:
        fluid.dygraph.Conv2D("s", 2, 3, strides=2)
    assert "test_scoped_layers.py" in e.value.where
    with pytest.raises(TypeError, match=r"Pool2D\(\) takes pool_size, .* and 11 arguments"):
        fluid.dygraph.Pool2D(*[1] * 11)
    with pytest.raises(TypeError, match=r"^paddle.fluid.layers.reduce_sum\(\) missing 1 .*'input'"):
        fluid.layers.reduce_sum()
