"""LeNet and an LSTM, unchanged: 100 steps eagerly, through to_static, as one captured step, under Executor; the same bits."""

import numpy as np
import pytest

import d2s
from d2s import nn, static

F = nn.functional
STEPS = 100


class LSTMClassifier(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.cells, self.out = nn.Embedding(11, 4), nn.LSTM(4, 6), nn.Linear(6, 3)

    def forward(self, x):
        found, _ = self.cells(self.words(x))
        return self.out(found[:, -1])


def images(rng, rows):
    return rng.rand(rows, 1, 28, 28).astype("float32"), rng.randint(0, 3, (rows, 1)).astype("int64")


def sentences(rng, rows):
    return rng.randint(0, 11, (rows, 5)).astype("int64"), rng.randint(0, 3, (rows, 1)).astype("int64")


KINDS = {
    "LeNet": (lambda: d2s.vision.models.LeNet(3), images, ([None, 1, 28, 28], "float32")),
    "LSTM": (LSTMClassifier, sentences, ([None, 5], "int64")),
}


def batches(make):
    rng = np.random.RandomState(0)
    return [make(rng, rows) for rows in (2, 3, 2, 2)] * (STEPS // 4)


def optimizer(parameters=None):
    return d2s.optimizer.Momentum(d2s.optimizer.lr.StepDecay(0.01, step_size=40), parameters=parameters, weight_decay=0.001)


def trained(kind, data, how):
    """The losses and the parameters of a loop, whose steps are captured as `how` says."""
    d2s.seed(5)
    model = kind()
    rule = optimizer(model.parameters())
    net = d2s.to_static(model) if how == "forward" else model

    def step(x, y):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        rule.step()
        rule.clear_grad()
        return loss

    run, losses = d2s.to_static(step) if how == "step" else step, []
    for x, y in data:
        losses.append(run(d2s.to_tensor(x), d2s.to_tensor(y)).item())
        rule._learning_rate.step()
    return losses, [p.numpy() for p in model.parameters()]


def executed(kind, data, spec, main, startup):
    x, y = static.data("x", *spec), static.data("y", [None, 1], "int64")
    startup.random_seed = 5
    model = kind()
    loss, rule, exe = F.cross_entropy(model(x), y), optimizer(), static.Executor()
    rule.minimize(loss)
    exe.run(startup)
    losses = []
    for a, b in data:
        losses.append(exe.run(main, feed={"x": a, "y": b}, fetch_list=[loss])[0].item())
        rule._learning_rate.step()
    found = [static.global_scope().find_var(p.name).get_tensor() for p in model.parameters()]
    return losses, [np.array(tensor) for tensor in found]


@pytest.mark.parametrize("name", KINDS)
def test_all_engines_have_the_same_bits_after_100_steps(declared, name):
    kind, make, spec = KINDS[name]
    data = batches(make)
    losses, parameters = executed(kind, data, spec, *declared)
    d2s.disable_static()
    assert np.mean(losses[:10]) > np.mean(losses[-10:])
    for how in ("eager", "forward", "step"):
        same, others = trained(kind, data, how)
        assert same == losses, how
        for a, b in zip(parameters, others, strict=True):
            np.testing.assert_array_equal(a, b, how)
