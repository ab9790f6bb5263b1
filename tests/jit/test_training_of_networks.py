"""A hundred steps of networks as people write them: static training equals eager training bit for bit, step by step."""

import numpy as np
import pytest

import d2s
import d2s.nn.functional as F
from d2s import nn

STEPS = 100


class LeNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2D(1, 3, 3, padding=1), nn.Conv2D(3, 4, 3)
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.first(x.reshape([-1, 1, 8, 8]))), 2, 2)
        x = F.max_pool2d(F.relu(self.second(x)), 2, 2)
        return self.last(x.reshape([-1, 4]))


class Dropping(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.drop = nn.Linear(64, 16), nn.Linear(16, 3), nn.Dropout(0.3)

    def forward(self, x):
        return self.second(self.drop(F.gelu(self.first(x))))


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gates, self.last = nn.Linear(8 + 6, 4 * 6), nn.Linear(6, 3)

    def forward(self, x):
        x = x.reshape([-1, 8, 8])
        h = c = x[:, 0, :6] * 0.0
        for t in range(8):
            gates = self.gates(d2s.concat([x[:, t], h], axis=1))
            i, f, g, o = gates[:, :6], gates[:, 6:12], gates[:, 12:18], gates[:, 18:]
            c = F.sigmoid(f) * c + F.sigmoid(i) * d2s.tanh(g)
            h = F.sigmoid(o) * d2s.tanh(c)
        return self.last(h)


class Residual(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2D(1, 4, 3, padding=1), nn.Conv2D(4, 4, 3, padding=1)
        self.norms = nn.LayerList([nn.BatchNorm2D(4), nn.BatchNorm2D(4)])
        self.last = nn.Linear(4, 3)

    def forward(self, x):
        x = F.relu(self.norms[0](self.first(x.reshape([-1, 1, 8, 8]))))
        x = F.relu(x + self.norms[1](self.second(x)))
        return self.last(x.mean(axis=[2, 3]))


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.attention = nn.LayerNorm(8), nn.MultiHeadAttention(8, 2)
        self.wide, self.narrow, self.last = nn.Linear(8, 16), nn.Linear(16, 8), nn.Linear(8, 3)

    def forward(self, x):
        x = x.reshape([-1, 8, 8])
        x = x + self.attention(self.norm(x))
        x = x + self.narrow(F.gelu(self.wide(x)))
        return self.last(x.mean(axis=1))


class Branching(nn.Layer):
    """Which of its layers are learnt depends on a draw and on what comes in."""

    def __init__(self):
        super().__init__()
        self.first, self.one, self.other = nn.Linear(64, 16), nn.Linear(16, 3), nn.Linear(16, 3)

    def forward(self, x):
        h = self.first(x).tanh()
        if d2s.rand([]) > 0.5:
            return self.one(h)
        return self.other(h) - self.one(h * 0.5) if h.sum() > 0 else self.other(h)


def trained(kind, static):
    """The losses of all steps, and what the network holds in the end."""
    d2s.seed(11)
    net = kind()
    net.train()
    optimizer = d2s.optimizer.Adam(0.01, parameters=net.parameters())
    forward = d2s.to_static(net).forward if static else net
    rng, losses = np.random.default_rng(3), []
    for _ in range(STEPS):
        x, y = d2s.to_tensor(rng.normal(size=(4, 64)), "float32"), d2s.to_tensor(rng.integers(0, 3, 4))
        loss = F.cross_entropy(forward(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses, {name: value.numpy() for name, value in net.state_dict().items()}


@pytest.mark.parametrize("kind", [LeNet, Dropping, Recurrent, Residual, Block, Branching], ids=lambda k: k.__name__)
def test_training_static_is_training_eagerly(kind):
    losses, state = trained(kind, False)
    static_losses, static_state = trained(kind, True)
    assert static_losses == losses
    assert state.keys() == static_state.keys()
    for name, value in state.items():
        np.testing.assert_array_equal(static_state[name], value, err_msg=name)
    assert losses[-1] != losses[0]
