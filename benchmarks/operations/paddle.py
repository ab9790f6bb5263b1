"""Training by PaddlePaddle, eagerly. Names and arguments as in d2s.py beside."""

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F

paddle.set_device("cpu")
_random = np.random.default_rng(0)


def data(*shape, dtype="float32"):
    return paddle.to_tensor(_random.standard_normal(shape).astype(dtype))


def numbers(below, *shape):
    return paddle.to_tensor(_random.integers(0, below, shape))


def lenet_step(batch):
    net = nn.Sequential(
        *(nn.Conv2D(1, 20, 5), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(20, 50, 5), nn.ReLU(), nn.MaxPool2D(2, 2)),
        *(nn.Flatten(), nn.Linear(800, 10)),
    )
    adam = paddle.optimizer.Adam(1e-3, parameters=net.parameters())
    images, labels = data(batch, 1, 28, 28), numbers(10, batch, 1)

    def step():
        F.cross_entropy(net(images), labels).backward()
        adam.step()
        adam.clear_grad()

    return step


def adam(count):
    layer = nn.Linear(count // 1000, 1000, bias_attr=False)
    (layer.weight * data(count // 1000, 1000)).sum().backward()
    return paddle.optimizer.Adam(1e-3, parameters=layer.parameters()).step
