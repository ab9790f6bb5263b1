"""The workloads with Paddle's names; for Paddle's own runs `import d2s` is `import paddle as d2s`."""

import numpy as np

import d2s
from d2s import nn
from d2s.nn import functional as F

_random = np.random.default_rng(0)


def data(*shape):
    return d2s.to_tensor(_random.standard_normal(shape).astype("float32"))


def labels(count):
    return d2s.to_tensor(_random.integers(0, 10, (count, 1)).astype("int64"))


def inferring(mode, function, *given):
    """A call without gradients."""
    call = d2s.jit.to_static(function) if mode == "static" else function

    def run():
        with d2s.no_grad():
            return call(*given)

    return run


def training(mode, network, optimizer, loss, *given):
    """A step: forward, backward, update. Of d2s a graph holds all of it, of Paddle the forward part."""
    forward = lambda *given: loss(network, *given)  # noqa: E731
    if mode == "static" and d2s.__name__ != "d2s":
        forward = d2s.jit.to_static(forward)

    def step(*given):
        forward(*given).backward()
        optimizer.step()
        optimizer.clear_grad()

    call = d2s.jit.to_static(step) if mode == "static" and d2s.__name__ == "d2s" else step
    return lambda: call(*given)


def classified(network, x, y):
    return F.cross_entropy(network(x), y)


def squared(network, x):
    return (network(x) ** 2).mean()


def adam(network):
    return d2s.optimizer.Adam(1e-3, parameters=network.parameters())


def sgd(network):
    return d2s.optimizer.SGD(1e-3, parameters=network.parameters())


def lenet():
    return nn.Sequential(
        *(nn.Conv2D(1, 20, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(20, 50, 5), nn.ReLU(), nn.MaxPool2D(2, 2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    )


def lenet_train(mode):
    network = lenet()
    return training(mode, network, adam(network), classified, data(64, 1, 28, 28), labels(64))


def lenet_infer_b1(mode):
    network = lenet()
    return inferring(mode, lambda x: network(x), data(1, 1, 28, 28))


def lenet_infer_b64(mode):
    network = lenet()
    return inferring(mode, lambda x: network(x), data(64, 1, 28, 28))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def mlp_infer_b1(mode):
    network = mlp()
    return inferring(mode, lambda x: network(x), data(1, 784))


def mlp_train(mode):
    network = mlp()
    return training(mode, network, adam(network), classified, data(128, 784), labels(128))


class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(64, 128)

    def forward(self, x):
        h, c = d2s.zeros([x.shape[0], 128]), d2s.zeros([x.shape[0], 128])
        for t in range(50):
            h, (h, c) = self.cell(x[:, t], (h, c))
        return h


def lstm_train(mode):
    network = Recurrent()
    return training(mode, network, adam(network), squared, data(16, 50, 64))


def lstm_infer_b1(mode):
    network = Recurrent()
    return inferring(mode, lambda x: network(x), data(1, 50, 64))


def counter1000(mode):
    def counter(x, n):
        i = d2s.to_tensor(0)
        while i < n:
            if i % 2 == 0:
                x = x * 0.5 + 1.0
            else:
                x = x - 0.25
            i = i + 1
        return x

    return inferring(mode, counter, data(8), d2s.to_tensor(1000))


def newton(mode):
    def roots(a):
        x = a
        error = d2s.to_tensor(1.0)
        while error > 1e-4:
            y = 0.5 * (x + a / x)
            error = (y - x).abs().max()
            x = y
        return x

    return inferring(mode, roots, d2s.to_tensor(np.linspace(1, 100, 64).astype("float32")))


class Block(nn.Layer):
    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads, self.width = heads, width
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        mixed = self.qkv(self.first(x)).reshape([b, t, 3, self.heads, width // self.heads]).transpose([2, 0, 3, 1, 4])
        q, k, v = mixed[0], mixed[1], mixed[2]
        weights = F.softmax(q @ k.transpose([0, 1, 3, 2]) * (width // self.heads) ** -0.5, axis=-1)
        x = x + self.out((weights @ v).transpose([0, 2, 1, 3]).reshape([b, t, width]))
        return x + self.down(F.gelu(self.up(self.second(x))))


def block_infer(mode):
    network = Block()
    return inferring(mode, lambda x: network(x), data(8, 128, 256))


def block_train(mode):
    network = Block()
    return training(mode, network, sgd(network), squared, data(8, 128, 256))


class Residual(nn.Layer):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.first = nn.Conv2D(inside, outside, 3, stride, 1, bias_attr=False)
        self.second = nn.Conv2D(outside, outside, 3, 1, 1, bias_attr=False)
        self.first_norm, self.second_norm = nn.BatchNorm2D(outside), nn.BatchNorm2D(outside)
        self.shortcut = None
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2D(inside, outside, 1, stride, bias_attr=False), nn.BatchNorm2D(outside))

    def forward(self, x):
        y = self.second_norm(self.second(F.relu(self.first_norm(self.first(x)))))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def resnet18():
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(
        *(nn.Conv2D(3, 64, 3, 1, 1, bias_attr=False), nn.BatchNorm2D(64), nn.ReLU(), *(Residual(*w) for w in widths)),
        *(nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(512, 10)),
    )


def resnet18_infer(mode):
    network = resnet18()
    network.eval()
    return inferring(mode, lambda x: network(x), data(8, 3, 32, 32))


def resnet18_train(mode):
    network = resnet18()
    return training(mode, network, sgd(network), classified, data(16, 3, 32, 32), labels(16))


def chain(mode):
    def chained(x):
        y = F.gelu(x) * F.sigmoid(x) + d2s.tanh(x)
        return d2s.log(d2s.abs(d2s.exp(y)) + 1.0).sum(-1)

    return inferring(mode, chained, data(512, 2048))


def tiny_call(mode):
    x = data(8)
    call = d2s.jit.to_static(lambda x: x * 2 + 1) if mode == "static" else lambda x: x * 2 + 1
    return lambda: call(x)


def matmul768(mode):
    return inferring(mode, lambda x, y: x @ y, data(768, 768), data(768, 768))


def eager_add_grad(mode):
    x, w = data(8), data(8)
    w.stop_gradient = False
    call = d2s.jit.to_static(lambda x, w: x + w) if mode == "static" else lambda x, w: x + w
    return lambda: call(x, w)
