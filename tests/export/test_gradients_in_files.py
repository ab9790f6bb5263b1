"""Gradients that a forward takes itself, out of the process: equations of physics, forces, maps of what mattered."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.asked_elsewhere import PADDLES, agree, asked, write


def learning(x):
    x = x.detach()
    x.stop_gradient = False
    return x


class Equation(nn.Layer):
    """What is left of u_t + u u_x - u_xx."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))

    def forward(self, x):
        place, time = learning(x[:, 0:1]), learning(x[:, 1:2])
        u = self.net(d2s.concat([place, time], 1))
        ones = d2s.ones_like(u)
        u_x, u_t = d2s.grad(u, [place, time], ones, create_graph=True)
        u_xx = d2s.grad(u_x, place, ones, create_graph=True)[0]
        return u_t + u * u_x - u_xx


class Forces(nn.Layer):
    """The energy of three points in a plane, and minus its slope."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 4), nn.Silu(), nn.Linear(4, 1))

    def forward(self, x):
        places = learning(x.reshape([-1, 1, 2]))
        apart = ((places - places[0]) ** 2).sum(-1, keepdim=True) + 0.5
        energy = self.net(apart.sqrt()).sum()
        return -d2s.grad(energy, places, create_graph=True)[0].squeeze(1), energy


class Mattered(nn.Layer):
    """Of which features the largest score is made."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Linear(2, 6), nn.Linear(6, 3)

    def forward(self, x):
        h = learning(F.relu(self.enter(x)))
        scores = self.leave(h).max(-1)
        slope = d2s.grad(scores.sum(), h, retain_graph=True)[0]
        return F.relu(slope * h), scores


NETS = [Forces, Mattered, Equation]
SPEC = [InputSpec([None, 2], name="x")]
RUNS = [[np.random.default_rng(n).normal(size=(n, 2)).astype("float32")] for n in (3, 1, 5)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gradients")
    for net in map(made, NETS):
        write(folder, type(net).__name__, net, SPEC, RUNS)
    return folder


def made(kind):
    d2s.seed(3)
    return kind()


def outputs(found):
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("kind", NETS)
def test_the_bits_are_those_of_eager_code_in_training_too(folder, kind):
    net, loaded = made(kind), d2s.jit.load(f"{folder}/{kind.__name__}")
    for (x,) in RUNS:
        assert [t.tolist() for t in outputs(net(d2s.to_tensor(x)))] == [t.tolist() for t in outputs(loaded(d2s.to_tensor(x)))]
    for one in (net, loaded):
        one.train()
        adam = d2s.optimizer.Adam(0.01, parameters=one.parameters())
        for _ in range(3):
            sum((y * y).sum() for y in outputs(one(d2s.to_tensor(RUNS[0][0])))).backward()
            adam.step()
            adam.clear_grad()
    assert [p.tolist() for p in net.parameters()] == [p.tolist() for p in loaded.parameters()]


@pytest.mark.parametrize("variable", [*PADDLES, "D2S_ONNX_PYTHON"])
def test_others_compute_the_same(folder, variable):
    ways = asked(folder, variable)
    if variable == "D2S_PADDLE33_PYTHON":  # whose oneDNN kernels compute something else here; all its other ways do not
        ways = tuple(way for way in ways if way != "inference")
    for kind in NETS:
        agree(folder, kind.__name__, made(kind), RUNS, ways)
