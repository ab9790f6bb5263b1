"""Whole models, saved: the same bits in a process that knows nothing of them, and what real Paddle makes of their files.

Paddle is asked where D2S_PADDLE26_PYTHON and D2S_PADDLE33_PYTHON name interpreters that have it.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s.static import InputSpec
from tests.export.open_images import LAYERS
from tests.export.test_interop import SCRIPT

RELOAD = """
import sys, numpy as np, d2s
for name in sys.argv[2:]:
    net = d2s.jit.load(f"{sys.argv[1]}/{name}")
    with np.load(f"{sys.argv[1]}/{name}.0.in.npz") as held:
        found = net(d2s.to_tensor(held["f0"]))
    found = found if isinstance(found, (list, tuple)) else [found]
    np.savez(f"{sys.argv[1]}/{name}.0.again.npz", *[t.numpy() for t in found])
"""
UNTRAINED = {
    ("D2S_PADDLE33_PYTHON", name) for name in ("block", "pooled", "laid", "framed")
}  # of attention, such pools, shapes that a file computes and axes that are put in, written in the old way
WAYS = ("jit", "executor", "inference", "training")


class Sequence(d2s.nn.Layer):
    """An LSTM in two layers, read both ways."""

    def __init__(self):
        super().__init__()
        self.cells, self.out = d2s.nn.LSTM(3, 4, num_layers=2, direction="bidirect"), d2s.nn.Linear(8, 2)

    def forward(self, x):
        shown, (h, c) = self.cells(x)
        return self.out(shown), h, c


class Ended(d2s.nn.Layer):
    """Sequences of their own lengths, read both ways."""

    def __init__(self):
        super().__init__()
        self.gates, self.cells = d2s.nn.GRU(3, 4, direction="bidirect"), d2s.nn.LSTM(8, 4, direction="bidirect")

    def forward(self, x):
        lengths = x.shape[1] - (x[:, 0, 1] > 0).astype("int64") * 2
        found, (h, c) = self.cells(self.gates(x, sequence_length=lengths)[0], sequence_length=lengths)
        return found, h, c


class Block(d2s.nn.Layer):
    """A block of a Transformer behind an embedding."""

    def __init__(self):
        super().__init__()
        self.words = d2s.nn.Embedding(11, 8)
        self.block = d2s.nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu")

    def forward(self, ids):
        return self.block(self.words(ids))


class Repeated(d2s.nn.Layer):
    """What is learnt is repeated, and rows of it are taken, as often as a run is long; the last cells of an LSTM."""

    def __init__(self):
        super().__init__()
        self.first, self.hidden = self.create_parameter([1, 1, 4]), self.create_parameter([4])
        self.fc, self.cells = d2s.nn.Linear(3, 4), d2s.nn.LSTM(4, 4)

    def forward(self, x):
        y = self.fc(x) * 8.0
        rows = d2s.concat([self.first.expand([x.shape[0], -1, -1]), d2s.where(y > 9.0, self.hidden, y)], 1)
        picked = rows[:, 1:] * rows[:, 1::1].gather(d2s.to_tensor([3, 0, 0, 1]), axis=2) + rows[:, :-1, 2:3]
        return picked + self.cells(rows)[1][1].transpose([1, 0, 2]), y[:, ::2], y.gather(d2s.to_tensor(-1), axis=1)


class Nearest(d2s.nn.Layer):
    """Images as the nearest values of smaller and of larger ones, not a whole number of times as large; and a single value."""

    def __init__(self):
        super().__init__()
        self.conv, self.up, self.down = d2s.nn.Conv2D(1, 2, 3), d2s.nn.Upsample([7, 5]), d2s.nn.Upsample([3, 2])

    def forward(self, x):
        y = self.down(self.up(self.conv(x)))
        return y, y[0, 1, 2, 1] / 2.0


class Partly(d2s.nn.Layer):
    """Layers and buffers of which `forward` reads some."""

    def __init__(self):
        super().__init__()
        self.body, self.head = d2s.nn.Linear(3, 3), d2s.nn.Linear(3, 5)
        self.register_buffer("seen", d2s.full([2], 7, "int64"))
        self.register_buffer("passing", d2s.ones([2]), persistable=False)

    def forward(self, x):
        return self.body(x)


PHOTO = InputSpec([None, 3, 64, 64], name="x")
OF_ANY_SIZE = InputSpec([None, 3, None, None], name="x")
MODELS = {
    "lenet": (d2s.vision.models.LeNet, InputSpec([None, 1, 28, 28], name="x")),
    "resnet18": (lambda: d2s.vision.models.resnet18(num_classes=5), OF_ANY_SIZE),
    "mobilenet": (lambda: d2s.vision.models.mobilenet_v1(scale=0.25, num_classes=5), PHOTO),  # v2 drops at random
    "lstm": (Sequence, InputSpec([None, None, 3], name="x")),
    "ended": (Ended, InputSpec([None, None, 3], name="x")),
    "repeated": (Repeated, InputSpec([None, None, 3], name="x")),
    "nearest": (Nearest, InputSpec([None, 1, 6, 8], name="x")),
    "block": (Block, InputSpec([None, 4], "int64", name="ids")),
    "partly": (Partly, InputSpec([None, 3], name="x")),
}
MODELS |= {name: (make, OF_ANY_SIZE) for name, make in LAYERS.items()}


def outputs(net, x):
    found = net(d2s.to_tensor(x))
    return [t.numpy() for t in (found if isinstance(found, tuple | list) else (found,))]


def some(spec):
    shape = [(4, 5, 34, 28)[n] if d is None else d for n, d in enumerate(spec.shape)]
    rng = np.random.default_rng(2)  # with which no ReLU is within rounding of its kink
    return rng.integers(0, 11, shape) if spec.dtype is d2s.int64 else rng.normal(size=shape).astype("float32")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The folder with all models, and the layers they were."""
    folder, layers = tmp_path_factory.mktemp("models"), {}
    for name, (make, spec) in MODELS.items():
        d2s.seed(4)
        layers[name] = make()
        layers[name].eval()
        d2s.jit.save(layers[name], str(folder / name), [spec])
        np.savez(folder / f"{name}.0.in.npz", f0=some(spec))
    return folder, layers


def test_a_fresh_process_gives_the_same_bits(saved):
    folder, layers = saved
    done = subprocess.run(
        [sys.executable, "-c", RELOAD, folder, *layers], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    for name, layer in layers.items():
        with np.load(folder / f"{name}.0.again.npz") as held:
            again = list(held.values())
        for found, wanted in zip(again, outputs(layer, some(MODELS[name][1])), strict=True):
            assert found.tobytes() == wanted.tobytes(), name


@pytest.mark.parametrize("name", MODELS)
def test_the_state_of_what_is_loaded_is_that_of_the_layer(saved, name):
    folder, layers = saved
    state, found = layers[name].state_dict(), d2s.jit.load(str(folder / name)).state_dict()
    assert sorted(found) == sorted(state)
    assert all(found[key].numpy().tobytes() == value.numpy().tobytes() for key, value in state.items())


@pytest.mark.parametrize("name", ["lstm", "block", "partly"])
def test_a_loaded_model_is_trained_like_the_layer_it_was(saved, name):
    folder, layers = saved
    loaded, x, states = d2s.jit.load(str(folder / name)), some(MODELS[name][1]), []
    before = {key: value.numpy().copy() for key, value in layers[name].state_dict().items()}
    for net in (layers[name], loaded):
        adam = d2s.optimizer.Adam(0.01, parameters=net.parameters())
        for _ in range(3):
            found = net(d2s.to_tensor(x))
            (found[0] if isinstance(found, tuple | list) else found).square().mean().backward()
            adam.step()
            adam.clear_grad()
        states.append({key: value.numpy().copy() for key, value in net.state_dict().items()})
    layers[name].set_state_dict(before)
    assert sorted(states[0]) == sorted(states[1])
    assert all(states[0][key].tobytes() == states[1][key].tobytes() for key in states[0])
    assert any(states[0][key].tobytes() != before[key].tobytes() for key in before)


@pytest.fixture(scope="module", params=["D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON"])
def paddle(request, saved):
    python = os.environ.get(request.param)
    if not python:
        pytest.skip(f"{request.param} does not name an interpreter with Paddle")
    ran = subprocess.run([python, SCRIPT, saved[0], *WAYS], capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return request.param, json.loads((saved[0] / "report.json").read_text())["failures"]


def trained(name):
    """The outputs of a layer after two steps of SGD."""
    make, spec = MODELS[name]
    d2s.seed(4)
    net, x = make(), some(spec)
    sgd = d2s.optimizer.SGD(0.01, parameters=net.parameters())
    for _ in range(2):
        found = net(d2s.to_tensor(x))
        (found[0] if isinstance(found, tuple | list) else found).square().mean().backward()
        sgd.step()
        sgd.clear_grad()
    net.eval()
    return outputs(net, x)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_paddle_computes_and_trains_the_same(paddle, saved, name, way):
    python, failures = paddle
    if way == "training" and (python, name) in UNTRAINED:
        pytest.skip("a gradient this Paddle does not find")
    assert failures.get(f"{name} by {way}") is None
    wanted = trained(name) if way == "training" else outputs(saved[1][name], some(MODELS[name][1]))
    with np.load(saved[0] / f"{name}.0.{way}.npz") as held:
        for k, want in enumerate(wanted):
            assert held[f"o{k}"].shape == want.shape
            np.testing.assert_allclose(held[f"o{k}"], want, rtol=1e-4, atol=1e-4)
