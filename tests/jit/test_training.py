"""Fifty steps of SGD: static training equals eager training bit for bit, parameter by parameter, step by step."""

import numpy as np
import pytest

import d2s

STEPS = 50


class MLP(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = d2s.nn.Linear(4, 8), d2s.nn.Linear(8, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Branching(MLP):
    def __init__(self):
        super().__init__()
        self.other = d2s.nn.Linear(8, 2)

    def forward(self, x):
        h = self.first(x).tanh()
        if h.sum() > 0.0:
            return self.second(h)
        h = h * 0.5
        return self.other(h) if (h * h).sum() > 1.0 else self.second(h) - self.other(h)


class Looping(Branching):
    def __init__(self):
        super().__init__()
        self.inner = d2s.nn.Linear(8, 8)

    def forward(self, x):
        h = self.first(x).tanh()
        trips = 0
        while (h * h).sum() < 9.0 and trips_below(h, trips):
            h = self.inner(h).tanh() + h * 0.5
            if h.sum() > 1.0:
                h = h + self.inner.bias
            trips += 1
        return self.second(h) + h.sum() * 0.01


def trips_below(h, trips):
    return (h * 0.0).sum() + trips < 6.0


def data():
    rng = np.random.default_rng(5)
    for _ in range(STEPS):
        n = int(rng.integers(2, 6))
        x = rng.normal(rng.normal(), 1.0, (n, 4))
        yield d2s.to_tensor(x, "float32"), d2s.to_tensor(rng.normal(size=(n, 2)), "float32")


def train(kind, modes):
    """The bytes of all parameters after each step; `modes` says how each step runs."""
    d2s.seed(11)
    net = kind()
    optimizer = d2s.optimizer.SGD(0.05, parameters=net.parameters())

    def loss_of(x, y):
        difference = net(x) - y
        return (difference * difference).sum() * 0.1

    static, history = d2s.to_static(loss_of), []
    for step, (x, y) in enumerate(data()):
        mode = modes(step)
        with d2s.config(EXECUTOR="interpreter" if mode == "interpreter" else "numba"):
            loss = (loss_of if mode == "eager" else static)(x, y)
            loss.backward()
        optimizer.step()
        grads = [None if p.grad is None else p.grad.numpy().tobytes() for p in net.parameters()]
        optimizer.clear_grad()
        history.append((loss.item(), grads, [p.numpy().tobytes() for p in net.parameters()]))
    return history


@pytest.mark.parametrize("kind", [MLP, Branching, Looping])
@pytest.mark.parametrize("order", ["static", "interpreter", "alternating", "static first", "eager first"])
def test_training(kind, order):
    modes = {
        "static": lambda step: "static",
        "interpreter": lambda step: "interpreter",
        "alternating": lambda step: ("eager", "static", "interpreter")[step % 3],
        "static first": lambda step: "static" if step < 25 else "eager",
        "eager first": lambda step: "eager" if step < 25 else "static",
    }[order]
    expected = train(kind, lambda step: "eager")
    found = train(kind, modes)
    assert np.isfinite([loss for loss, _, _ in expected]).all()
    for step, (a, b) in enumerate(zip(expected, found, strict=True)):
        assert a == b, f"differs first at step {step}"
    assert any(loss != expected[0][0] for loss, _, _ in expected)


@pytest.mark.parametrize("kind", [Branching, Looping])
def test_every_path_is_trained(kind):
    """The nets take more than one path: some step leaves a parameter without gradient, some other does not."""
    history = train(kind, lambda step: "eager")
    missing = {tuple(g is None for g in grads) for _, grads, _ in history}
    assert len(missing) > 1


@pytest.mark.parametrize("kind", [MLP, Branching, Looping])
def test_static_layer(kind):
    """The Layer itself made static, in training."""
    runs = []
    for make in (lambda net: net, d2s.to_static):
        d2s.seed(3)
        net = make(kind())
        optimizer = d2s.optimizer.SGD(0.05, parameters=net.parameters())
        for x, y in data():
            difference = net(x) - y
            (difference * difference).sum().backward()
            optimizer.step()
            optimizer.clear_grad()
        runs.append([p.numpy().tobytes() for p in net.parameters()])
    assert runs[0] == runs[1]


class Normed(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = d2s.nn.Sequential(d2s.nn.Linear(4, 5), d2s.nn.BatchNorm1D(5), d2s.nn.ReLU())
        self.head = d2s.nn.Linear(5, 2)

    def forward(self, x):
        h = self.body(x)
        return self.head(h), h, {"sum": h.sum()}


PICKS = [
    lambda out: out[0].sum(),
    lambda out: out[1].square().sum(),
    lambda out: out[2]["sum"] * out[0].sum(),
]


@pytest.mark.parametrize("pick", PICKS)
def test_two_calls_and_one_backward_of_some_results(pick):
    """The second call changes the running statistics that the first one read: no gradient reads them."""

    def gradients(static):
        d2s.seed(3)
        net = Normed()
        call = d2s.to_static(net) if static else net
        first, second = np.random.default_rng(0).normal(size=(2, 6, 4)).astype("float32")
        (pick(call(d2s.to_tensor(first))) * pick(call(d2s.to_tensor(second)))).backward()
        return [None if p.grad is None else p.grad.numpy().tobytes() for p in net.parameters()]

    assert gradients(True) == gradients(False)


def test_a_second_call_of_one_backward_runs_no_forward_half_again(monkeypatch):
    net = MLP()
    call = d2s.to_static(net)
    again = []
    monkeypatch.setattr(d2s.jit.taped.GraphNode, "_again", lambda self, run: again.append(1) or run())
    (call(d2s.ones([2, 4])).sum() + call(d2s.ones([3, 4])).sum()).backward()
    assert not again
