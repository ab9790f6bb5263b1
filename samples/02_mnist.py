"""The main job: train on digits eagerly and static, prove them equal, export, reload without the source, predict."""

import gzip
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import d2s

DATA = pathlib.Path(__file__).with_name("mnist")  # the first digits of MNIST


def read(part):
    images = np.frombuffer(gzip.decompress((DATA / f"{part}-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16)
    labels = np.frombuffer(gzip.decompress((DATA / f"{part}-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8)
    return (images.reshape(-1, 784) / 255).astype("float32"), labels


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.hidden = d2s.nn.Linear(784, 64)
        self.out = d2s.nn.Linear(64, 10)

    def forward(self, x):
        h = d2s.tanh(self.hidden(x))
        while (h * h).sum(axis=1).sum() > 1500.0:  # a batch that shouts is turned down
            h = h * 0.9
        return self.out(h)


def train(static):
    d2s.seed(7)
    net = Net()
    if static:
        d2s.to_static(net)
    images, labels = read("train")
    sgd = d2s.optimizer.SGD(0.02, parameters=net.parameters())
    started = time.perf_counter()
    for epoch in range(8):
        for at in range(0, len(images), 50):
            x = d2s.to_tensor(images[at : at + 50])
            wanted = d2s.to_tensor(np.eye(10, dtype="float32")[labels[at : at + 50]])
            error = net(x) - wanted
            loss = (error * error).sum() * (1 / 50)
            loss.backward()
            sgd.step()
            sgd.clear_grad()
        print(f"  epoch {epoch}: loss {loss.item():.4f}")
    print(f"  {'static' if static else 'eager'}: {time.perf_counter() - started:.2f} s")
    return net


PREDICT = """
import sys, numpy as np, d2s
net = d2s.jit.load(sys.argv[1])
np.save(sys.argv[3], net(d2s.to_tensor(np.load(sys.argv[2]))).numpy())
"""


def main():
    print("training eagerly")
    eager = train(static=False)
    print("training static")
    static = train(static=True)
    for (name, a), b in zip(eager.state_dict().items(), static.parameters(), strict=True):
        assert a.numpy().tobytes() == b.numpy().tobytes(), name
    print("the parameters are equal bit for bit")

    images, labels = read("t10k")
    with tempfile.TemporaryDirectory() as folder:
        path, x, y = folder + "/mnist", folder + "/x.npy", folder + "/y.npy"
        d2s.jit.save(static, path, input_spec=[d2s.static.InputSpec([None, 784])])
        print("saved", ", ".join(f"{p.name} ({p.stat().st_size} bytes)" for p in sorted(pathlib.Path(folder).iterdir())))
        np.save(x, images)
        subprocess.run([sys.executable, "-c", PREDICT, path, x, y], check=True)
        predicted = np.load(y)
    assert predicted.tobytes() == eager(d2s.to_tensor(images)).numpy().tobytes()
    print("reloaded in a process without the source: the same bits")
    print(f"accuracy on {len(labels)} digits it has not seen: {(predicted.argmax(1) == labels).mean():.1%}")


main()
