"""LeNet on handwritten digits, as everybody's first network: the digits in samples/mnist, or with --full all of MNIST.

python samples/03_lenet.py            a part of MNIST that comes with d2s: seconds
python samples/03_lenet.py --full     60,000 digits, one epoch: 97.5% and more; D2S_DATA_HOME/mnist holds the four files
"""

import pathlib
import sys

import numpy as np

import d2s
from d2s.nn import functional as F

HERE = pathlib.Path(__file__).with_name("mnist")


def read(mode, full):
    """Images from -1 to 1 as [count, 1, 28, 28], and their digits as [count, 1]."""
    part = {"train": "train", "test": "t10k"}[mode]
    paths = [] if full else [HERE / f"{part}-images-idx3-ubyte.gz", HERE / f"{part}-labels-idx1-ubyte.gz"]
    digits = d2s.vision.datasets.MNIST(*paths, mode=mode)
    return (digits.images.reshape(-1, 1, 28, 28) / 127.5 - 1).astype("float32"), digits.labels


class LeNet(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv1 = d2s.nn.Conv2D(1, 20, 5)
        self.conv2 = d2s.nn.Conv2D(20, 50, 5)
        self.fc = d2s.nn.Linear(50 * 4 * 4, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2, 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2, 2)
        return self.fc(d2s.flatten(x, 1))


def train(net, images, labels, batch=64):
    """One epoch of Adam over shuffled digits."""
    adam = d2s.optimizer.Adam(1e-3, parameters=net.parameters())
    order = d2s.randperm(len(images)).numpy()
    for step in range(len(images) // batch):
        picked = order[step * batch : (step + 1) * batch]
        loss = F.cross_entropy(net(d2s.to_tensor(images[picked])), d2s.to_tensor(labels[picked]))
        loss.backward()
        adam.step()
        adam.clear_grad()
        if step % 100 == 0:
            print(f"  step {step}: loss {loss.item():.3f}")


@d2s.no_grad()
def test(net, images, labels):
    """Accuracy and mean loss on digits the network has not seen."""
    accuracy, losses = d2s.metric.Accuracy(), []
    for at in range(0, len(images), 500):
        scores, wanted = net(d2s.to_tensor(images[at : at + 500])), d2s.to_tensor(labels[at : at + 500])
        accuracy.update(accuracy.compute(scores, wanted))
        losses.append(F.cross_entropy(scores, wanted).item())
    return accuracy.accumulate(), float(np.mean(losses))


def main():
    full = "--full" in sys.argv
    d2s.seed(1)
    net = LeNet()
    for epoch in range(1 if full else 3):
        print("epoch", epoch)
        train(net, *read("train", full))
    accuracy, loss = test(net, *read("test", full))
    print(f"accuracy {accuracy:.2%}, loss {loss:.4f}")


if __name__ == "__main__":
    main()
