"""Operations by d2s, eagerly: each function makes its operands and gives what is to be timed. Names as in cases.py."""

import os

import numpy as np

import d2s
from d2s import nn
from d2s.nn import functional as F

d2s.set_num_threads(int(os.environ["THREADS"]))
_random = np.random.default_rng(0)


def data(*shape, dtype="float32", gradient=False):
    return d2s.to_tensor(_random.standard_normal(shape).astype(dtype), stop_gradient=not gradient)


def numbers(below, *shape):
    return d2s.to_tensor(_random.integers(0, below, shape))


def part(wanted, function, *operands):
    """The call itself, or its gradient for one operand."""
    if wanted is None:
        return lambda: function(*operands)
    for operand in operands:
        operand.stop_gradient = operand.dtype == d2s.int64
    out = function(*operands)
    seed = d2s.ones_like(out)
    return lambda: d2s.grad(out, operands[wanted], seed, retain_graph=True)


def matmul(m, k, n, dtype="float32", turned=(False, False)):
    x = data(*(k, m) if turned[0] else (m, k), dtype=dtype)
    y = data(*(n, k) if turned[1] else (k, n), dtype=dtype)
    return lambda: d2s.matmul(x, y, *turned)


def batched(b, m, k, n):
    x, y = data(b, m, k), data(b, k, n)
    return lambda: x @ y


def conv(wanted, n, c, size, out, taps, stride=1, padding=0, groups=1):
    x, w = data(n, c, size, size), data(out, c // groups, taps, taps)
    return part(wanted, lambda x, w: F.conv2d(x, w, stride=stride, padding=padding, groups=groups), x, w)


def max_pool(wanted, n, c, size, taps, stride, padding=0):
    return part(wanted, lambda x: F.max_pool2d(x, taps, stride, padding), data(n, c, size, size))


def avg_pool(wanted, n, c, size, taps, stride, padding=0):
    return part(wanted, lambda x: F.avg_pool2d(x, taps, stride, padding), data(n, c, size, size))


def batch_norm(wanted, n, c, size):
    mean, variance = d2s.zeros([c]), d2s.ones([c])
    return part(
        wanted, lambda x, w, b: F.batch_norm(x, mean, variance, w, b, training=True), data(n, c, size, size), data(c), data(c)
    )


def layer_norm(wanted, rows, width):
    return part(wanted, lambda x, w, b: F.layer_norm(x, [width], w, b), data(rows, width), data(width), data(width))


def cross_entropy(wanted, rows, classes):
    return part(wanted, lambda x, y: F.cross_entropy(x, y), data(rows, classes), numbers(classes, rows))


def softmax(wanted, rows, width):
    return part(wanted, lambda x: F.softmax(x, -1), data(rows, width))


def embedding(wanted, words, width, count):
    return part(wanted, lambda at, table: F.embedding(at, table), numbers(words, count), data(words, width))


def attention(wanted, n, heads, length, width):
    q, k, v = (data(n, length, heads, width) for _ in range(3))
    return part(wanted, lambda q, k, v: F.scaled_dot_product_attention(q, k, v), q, k, v)


def reduction(name, shape, axis):
    x, function = data(*shape), getattr(d2s, name)
    return lambda: function(x, axis)


def transpose(*shape, perm):
    x = data(*shape)
    return lambda: d2s.transpose(x, perm)


def concat(parts, *shape):
    xs = [data(*shape) for _ in range(parts)]
    return lambda: d2s.concat(xs, 1)


def gather(rows, width, count):
    x, at = data(rows, width), numbers(rows, count)
    return lambda: d2s.gather(x, at)


def elementwise(name, count):
    x = data(count)
    function = F.gelu if name == "gelu" else getattr(d2s, name)
    return lambda: function(x)


def chain(count):
    x = data(count)
    return lambda: F.gelu(d2s.tanh(d2s.exp(x)))


def add(count):
    x, y = data(count), data(count)
    return lambda: x + y


def lenet_step(batch):
    net = nn.Sequential(
        *(nn.Conv2D(1, 20, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(20, 50, 5), nn.ReLU(), nn.MaxPool2D(2, 2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    )
    adam = d2s.optimizer.Adam(1e-3, parameters=net.parameters())
    images, labels = data(batch, 1, 28, 28), numbers(10, batch, 1)

    def step():
        F.cross_entropy(net(images), labels).backward()
        adam.step()
        adam.clear_grad()

    return step


def adam(count):
    layer = nn.Linear(count // 1000, 1000, bias_attr=False)
    layer.weight.grad = data(count // 1000, 1000)
    return d2s.optimizer.Adam(1e-3, parameters=layer.parameters()).step
