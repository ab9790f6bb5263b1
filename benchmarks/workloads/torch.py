"""The workloads by PyTorch, eagerly and by torch.compile, which needs a C++ compiler."""

import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(os.environ["THREADS"]))
_random = np.random.default_rng(0)


def data(*shape):
    return torch.from_numpy(_random.standard_normal(shape).astype("float32"))


def labels(count):
    return torch.from_numpy(_random.integers(0, 10, count))


def made(mode, function):
    return torch.compile(function) if mode == "compile" else function


def inferring(mode, function, *given):
    call = made(mode, function)

    def run():
        with torch.no_grad():
            return call(*given)

    return run


def training(mode, network, optimizer, loss, *given):
    forward = made(mode, lambda *given: loss(network, *given))

    def run():
        forward(*given).backward()
        optimizer.step()
        optimizer.zero_grad()

    return run


def classified(network, x, y):
    return F.cross_entropy(network(x), y)


def squared(network, x):
    return (network(x) ** 2).mean()


def adam(network):
    return torch.optim.Adam(network.parameters(), 1e-3)


def sgd(network):
    return torch.optim.SGD(network.parameters(), 1e-3)


def lenet():
    return nn.Sequential(
        *(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2, 2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    )


def lenet_train(mode):
    network = lenet()
    return training(mode, network, adam(network), classified, data(64, 1, 28, 28), labels(64))


def lenet_infer_b1(mode):
    return inferring(mode, lenet(), data(1, 1, 28, 28))


def lenet_infer_b64(mode):
    return inferring(mode, lenet(), data(64, 1, 28, 28))


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def mlp_infer_b1(mode):
    return inferring(mode, mlp(), data(1, 784))


def mlp_train(mode):
    network = mlp()
    return training(mode, network, adam(network), classified, data(128, 784), labels(128))


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(64, 128)

    def forward(self, x):
        h, c = torch.zeros(x.shape[0], 128), torch.zeros(x.shape[0], 128)
        for t in range(50):
            h, c = self.cell(x[:, t], (h, c))
        return h


def lstm_train(mode):
    network = Recurrent()
    return training(mode, network, adam(network), squared, data(16, 50, 64))


def lstm_infer_b1(mode):
    return inferring(mode, Recurrent(), data(1, 50, 64))


def counter1000(mode):
    def counter(x, n):
        i = torch.tensor(0)
        while i < n:
            if i % 2 == 0:
                x = x * 0.5 + 1.0
            else:
                x = x - 0.25
            i = i + 1
        return x

    return inferring(mode, counter, data(8), torch.tensor(1000))


def newton(mode):
    def roots(a):
        x = a
        error = torch.tensor(1.0)
        while error > 1e-4:
            y = 0.5 * (x + a / x)
            error = (y - x).abs().max()
            x = y
        return x

    return inferring(mode, roots, torch.linspace(1, 100, 64))


class Block(nn.Module):
    def __init__(self, width=256, heads=4):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, width = x.shape
        q, k, v = self.qkv(self.first(x)).reshape(b, t, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        weights = F.softmax(q @ k.transpose(-1, -2) * (width // self.heads) ** -0.5, dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, width))
        return x + self.down(F.gelu(self.up(self.second(x))))


def block_infer(mode):
    return inferring(mode, Block(), data(8, 128, 256))


def block_train(mode):
    network = Block()
    return training(mode, network, sgd(network), squared, data(8, 128, 256))


class Residual(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.first = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(outside, outside, 3, 1, 1, bias=False)
        self.first_norm, self.second_norm = nn.BatchNorm2d(outside), nn.BatchNorm2d(outside)
        self.shortcut = None
        if stride != 1 or inside != outside:
            self.shortcut = nn.Sequential(nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside))

    def forward(self, x):
        y = self.second_norm(self.second(F.relu(self.first_norm(self.first(x)))))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


def resnet18():
    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1), (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    return nn.Sequential(
        *(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *(Residual(*w) for w in widths)),
        *(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)),
    )


def resnet18_infer(mode):
    return inferring(mode, resnet18().eval(), data(8, 3, 32, 32))


def resnet18_train(mode):
    network = resnet18()
    return training(mode, network, sgd(network), classified, data(16, 3, 32, 32), labels(16))


def chain(mode):
    def chained(x):
        y = F.gelu(x) * torch.sigmoid(x) + torch.tanh(x)
        return torch.log(torch.abs(torch.exp(y)) + 1.0).sum(-1)

    return inferring(mode, chained, data(512, 2048))


def tiny_call(mode):
    x = data(8)
    call = made(mode, lambda x: x * 2 + 1)
    return lambda: call(x)


def matmul768(mode):
    return inferring(mode, lambda x, y: x @ y, data(768, 768), data(768, 768))


def eager_add_grad(mode):
    x, w = data(8), data(8)
    w.requires_grad = True
    call = made(mode, lambda x, w: x + w)
    return lambda: call(x, w)
