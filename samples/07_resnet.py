"""A small ResNet on images of the size of CIFAR's, with a `Model`: no loop of one's own, progress, metrics, checkpoints.

The images are made here: a square somewhere, in one of three colours, on noise; the class is the colour.

    python samples/07_resnet.py [IMAGES]
"""

import pathlib
import sys
import tempfile

import numpy as np

import d2s
from d2s import nn
from d2s.vision.models.resnet import BasicBlock


class Squares(d2s.io.Dataset):
    """Images [3, 32, 32] and their classes [1]."""

    def __init__(self, count, seed):
        random = np.random.default_rng(seed)
        self.images = random.normal(0, 0.5, (count, 3, 32, 32)).astype("float32")
        self.classes = random.integers(0, 3, (count, 1))
        for image, colour, (y, x) in zip(self.images, self.classes[:, 0], random.integers(0, 24, (count, 2)), strict=True):
            image[colour, y : y + 8, x : x + 8] += 1.5

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        return self.images[k], self.classes[k]


def block(channels, wider, stride):
    """A residual block: where the shape changes, the shortcut is a convolution, too."""
    shortcut = None
    if stride != 1:
        shortcut = nn.Sequential(nn.Conv2D(channels, wider, 1, stride, bias_attr=False), nn.BatchNorm2D(wider))
    return BasicBlock(channels, wider, stride, shortcut)


def network():
    first = [nn.Conv2D(3, 8, 3, padding=1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU()]
    blocks = [block(8, 8, 1), block(8, 16, 2), block(16, 32, 2)]
    return nn.Sequential(*first, *blocks, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(32, 3))


def train(count, static, folder):
    d2s.seed(6)
    net = network()
    if static:
        d2s.to_static(net)
    model = d2s.Model(net, d2s.static.InputSpec([None, 3, 32, 32]))
    rate = d2s.optimizer.lr.CosineAnnealingDecay(0.05, 3 * count // 32)
    momentum = d2s.optimizer.Momentum(rate, parameters=net.parameters(), weight_decay=1e-4)
    model.prepare(momentum, nn.CrossEntropyLoss(), d2s.metric.Accuracy())
    model.fit(Squares(count, 1), Squares(100, 2), batch_size=32, epochs=3, save_dir=folder)
    return model


def main(count):
    d2s.summary(network(), (1, 3, 32, 32))
    with tempfile.TemporaryDirectory() as folder:
        eager = train(count, static=False, folder=folder)
        print("files:", ", ".join(sorted(path.name for path in pathlib.Path(folder).iterdir())))
        print("static:")
        static = train(count, static=True, folder=folder)
    pairs = zip(eager.network.state_dict().values(), static.network.state_dict().values(), strict=True)
    assert all(a.numpy().tobytes() == b.numpy().tobytes() for a, b in pairs), "never"
    print("eager and static agree bit for bit, parameters and running means")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 320)
