"""Layers of activations: the function they are, their settings and texts (Paddle 2.6's), in captured functions, pickled."""

import inspect
import pickle

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.errors import DTypeError
from d2s.nn import activation

X = d2s.to_tensor(np.linspace(-4, 4, 24, dtype="float32").reshape(2, 3, 4))
TEXTS = {
    "CELU": "CELU(alpha=1.0)",
    "ELU": "ELU(alpha=1.0)",
    "GELU": "GELU(approximate=False)",
    "GLU": "GLU(axis=-1)",
    "Hardshrink": "Hardshrink(threshold=0.5)",
    "Hardsigmoid": "Hardsigmoid()",
    "Hardswish": "Hardswish()",
    "Hardtanh": "Hardtanh(min=-1.0, max=1.0)",
    "LeakyReLU": "LeakyReLU(negative_slope=0.01)",
    "LogSigmoid": "LogSigmoid()",
    "LogSoftmax": "LogSoftmax(axis=-1)",
    "Mish": "Mish()",
    "ReLU": "ReLU()",
    "ReLU6": "ReLU6()",
    "SELU": "SELU(scale=1.0507009873554805, alpha=1.6732632423543772)",
    "Sigmoid": "Sigmoid()",
    "Silu": "Silu()",
    "Softmax": "Softmax(axis=-1)",
    "Softplus": "Softplus(beta=1, threshold=20)",
    "Softshrink": "Softshrink(threshold=0.5)",
    "Softsign": "Softsign()",
    "Swish": "Swish()",
    "ThresholdedReLU": "ThresholdedReLU(threshold=1.0, value=0.0)",
    "Tanh": "Tanh()",
    "Tanhshrink": "Tanhshrink()",
}
every = pytest.mark.parametrize("name", TEXTS)


def test_all_are_here():
    made = {
        name for name, kind in vars(activation).items() if isinstance(kind, type) and kind.__module__ == activation.__name__
    }
    assert made - {"_Activation", "Maxout"} == set(TEXTS)  # Maxout cannot be made without its groups


@every
def test_it_is_its_function(name):
    layer = getattr(nn, name)()
    assert repr(layer) == TEXTS[name]
    assert layer(X).numpy().tobytes() == layer.function(X).numpy().tobytes()
    assert layer.function.__name__ in type(layer).__doc__
    assert layer.state_dict() == {}


@every
def test_captured_and_pickled(name):
    layer = getattr(nn, name)()
    expected = layer(X).numpy().tobytes()
    assert d2s.to_static(lambda x: layer(x))(X).numpy().tobytes() == expected
    twin = pickle.loads(pickle.dumps(layer))
    assert (repr(twin), twin(X).numpy().tobytes()) == (TEXTS[name], expected)


def test_settings():
    assert repr(nn.Maxout(2)) == "Maxout(groups=2, axis=1)"
    assert repr(nn.LeakyReLU(0.5, "steep")) == "LeakyReLU(negative_slope=0.5, name=steep)"
    assert nn.Hardtanh(max=2.0)(X).numpy().max() == 2.0
    assert nn.Softmax(axis=0)(X).sum(0).numpy() == pytest.approx(1.0)
    assert str(inspect.signature(nn.ELU)) == "(alpha=1.0, name=None)"
    with pytest.raises(DTypeError, match=r"ReLU\(name=None\)"):
        nn.ReLU(1, 2)
