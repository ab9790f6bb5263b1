"""Operations by PyTorch, eagerly. Names and arguments as in d2s.py beside."""

import os

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(int(os.environ["THREADS"]))
_random = np.random.default_rng(0)


def data(*shape, dtype="float32"):
    return torch.from_numpy(_random.standard_normal(shape).astype(dtype))


def numbers(below, *shape):
    return torch.from_numpy(_random.integers(0, below, shape))


def part(wanted, function, *operands):
    if wanted is None:
        return lambda: function(*operands)
    for operand in operands:
        operand.requires_grad = operand.is_floating_point()
    out = function(*operands)
    seed = torch.ones_like(out)
    return lambda: torch.autograd.grad(out, operands[wanted], seed, retain_graph=True)


def matmul(m, k, n, dtype="float32", turned=(False, False)):
    x = data(*(k, m) if turned[0] else (m, k), dtype=dtype)
    y = data(*(n, k) if turned[1] else (k, n), dtype=dtype)
    x, y = x.T if turned[0] else x, y.T if turned[1] else y
    return lambda: x @ y


def batched(b, m, k, n):
    x, y = data(b, m, k), data(b, k, n)
    return lambda: x @ y


def conv(wanted, n, c, size, out, taps, stride=1, padding=0, groups=1):
    x, w = data(n, c, size, size), data(out, c // groups, taps, taps)
    return part(wanted, lambda x, w: F.conv2d(x, w, stride=stride, padding=padding, groups=groups), x, w)


def max_pool(wanted, n, c, size, taps, stride, padding=0):
    return part(wanted, lambda x: F.max_pool2d(x, taps, stride, padding), data(n, c, size, size))


def avg_pool(wanted, n, c, size, taps, stride, padding=0):
    pool = lambda x: F.avg_pool2d(x, taps, stride, padding, count_include_pad=False)  # noqa: E731
    return part(wanted, pool, data(n, c, size, size))


def batch_norm(wanted, n, c, size):
    mean, variance = torch.zeros(c), torch.ones(c)
    return part(wanted, lambda x, w, b: F.batch_norm(x, mean, variance, w, b, True), data(n, c, size, size), data(c), data(c))


def layer_norm(wanted, rows, width):
    return part(wanted, lambda x, w, b: F.layer_norm(x, [width], w, b), data(rows, width), data(width), data(width))


def cross_entropy(wanted, rows, classes):
    return part(wanted, lambda x, y: F.cross_entropy(x, y), data(rows, classes), numbers(classes, rows))


def softmax(wanted, rows, width):
    return part(wanted, lambda x: F.softmax(x, -1), data(rows, width))


def embedding(wanted, words, width, count):
    return part(wanted, lambda at, table: F.embedding(at, table), numbers(words, count), data(words, width))


def attention(wanted, n, heads, length, width):
    q, k, v = (data(n, heads, length, width) for _ in range(3))  # torch's layout, which needs no transpose
    return part(wanted, lambda q, k, v: F.scaled_dot_product_attention(q, k, v), q, k, v)


def reduction(name, shape, axis):
    x, function = data(*shape), getattr(torch, {"max": "amax"}.get(name, name))
    return lambda: function(x, axis)


def transpose(*shape, perm):
    x = data(*shape)
    return lambda: x.permute(perm).contiguous()


def concat(parts, *shape):
    xs = [data(*shape) for _ in range(parts)]
    return lambda: torch.cat(xs, 1)


def gather(rows, width, count):
    x, at = data(rows, width), numbers(rows, count)
    return lambda: torch.index_select(x, 0, at)


def elementwise(name, count):
    x = data(count)
    function = F.gelu if name == "gelu" else getattr(torch, name)
    return lambda: function(x)


def chain(count):
    x = data(count)
    return lambda: F.gelu(torch.tanh(torch.exp(x)))


def add(count):
    x, y = data(count), data(count)
    return lambda: x + y


def lenet_step(batch):
    net = nn.Sequential(
        *(nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.ReLU(), nn.MaxPool2d(2, 2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    )
    adam = torch.optim.Adam(net.parameters(), 1e-3)
    images, labels = data(batch, 1, 28, 28), numbers(10, batch)

    def step():
        F.cross_entropy(net(images), labels).backward()
        adam.step()
        adam.zero_grad()

    return step


def adam(count):
    p = nn.Parameter(data(count))
    p.grad = data(count)
    return torch.optim.Adam([p], 1e-3, fused=True).step
