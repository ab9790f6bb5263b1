"""Makes the files in `tests/export/genuine`, as real Paddle writes them; stands alone, and runs under 2.6.2, 3.0.0 and 3.3.1.

In: a folder, and at will the word `large` for the models that are too large to be kept. Out: for each model its files as
`jit.save` wrote them, and `NAME.npz`: inputs `rI_fJ`, what Paddle answered `rI_oJ`, and `t_oJ`, its answer to the first
inputs after two steps of SGD on what `jit.load` gave back.

    python interop/make_genuine.py tests/export/genuine/paddle-2.6.2
"""

import os
import sys
from pathlib import Path

os.environ.update({"FLAGS_enable_pir_api": "0"})  # what Paddle 3 wrote before its new kind of file

import numpy as np
import paddle
from paddle import nn
from paddle.static import InputSpec


class Branch(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        if paddle.mean(h) > 0:
            h = h + 1.0
        else:
            h = -h
        return h


class Loop(Branch):
    def forward(self, x, n):
        i = paddle.zeros([1], "int64")
        while i < n:
            x = paddle.tanh(self.fc(x))
            if paddle.mean(x) > 0:
                x = x - 0.5
            i = i + 1
        return x, i


class Recurrent(nn.Layer):
    """The last outputs and states of one of Paddle's recurrent layers."""

    def __init__(self, kind, **more):
        super().__init__()
        self.cells = kind(3, 4, **more)

    def forward(self, x):
        y, state = self.cells(x)
        return (y, *(state if isinstance(state, tuple) else (state,)))


class Block(nn.Layer):
    """A block of a Transformer behind an embedding."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.block = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu")
        self.out = nn.Linear(8, 3)

    def forward(self, ids):
        return nn.functional.softmax(self.out(self.block(self.words(ids))))


def conv_bn():
    return nn.Sequential(
        nn.Conv2D(1, 3, 3, padding=1), nn.BatchNorm2D(3), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(12, 2)
    )


X, IMAGE, STEPS = InputSpec([None, 4], name="x"), InputSpec([None, 1, 4, 4], name="x"), InputSpec([None, None, 3], name="x")
WHOLE, PHOTO = InputSpec([1], "int64", "n"), InputSpec([None, 3, 32, 32], name="x")
OF_ANY_SIZE = InputSpec([None, 3, None, None], name="x")
# a name: what makes the layer, what it is fed, and the shapes (or the very values) of some calls
SMALL = {
    "linear": (lambda: nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), [X], [[(3, 4)], [(1, 4)]]),
    "conv_bn": (conv_bn, [IMAGE], [[(3, 1, 4, 4)], [(1, 1, 4, 4)]]),
    "if": (Branch, [X], [[(2, 4)], [(1, 4)], [(5, 4)], [(3, 4)]]),
    "while": (Loop, [X, WHOLE], [[(2, 4), [4]], [(2, 4), [1]], [(1, 4), [0]]]),
    "lstm": (lambda: Recurrent(nn.LSTM), [STEPS], [[(2, 5, 3)], [(1, 1, 3)]]),
    "gru": (lambda: Recurrent(nn.GRU, num_layers=2, direction="bidirect"), [STEPS], [[(2, 5, 3)], [(1, 1, 3)]]),
    "block": (Block, [InputSpec([None, 4], "int64", "ids")], [[[[3, 1, 4, 1], [5, 9, 2, 6]]], [[[5, 3, 5, 8]]]]),
}
LARGE = {
    "resnet18": (lambda: paddle.vision.models.resnet18(num_classes=5), [OF_ANY_SIZE], [[(2, 3, 32, 32)], [(1, 3, 41, 56)]]),
    "mobilenet": (
        lambda: paddle.vision.models.mobilenet_v2(scale=0.25, num_classes=5), [PHOTO], [[(2, 3, 32, 32)], [(1, 3, 32, 32)]]
    ),
    "rnn": (
        lambda: Recurrent(nn.SimpleRNN, num_layers=2, direction="bidirect"), [STEPS], [[(2, 5, 3)], [(1, 1, 3)]]
    ),
}  # fmt: skip


def outputs(found):
    return [t.numpy() for t in (found if isinstance(found, (list, tuple)) else [found])]


def feeds(run, generator):
    """Numbers that are given as they are, and drawn ones of a shape."""
    return [np.array(f) if isinstance(f, list) else generator.normal(size=f).astype("float32") for f in run]


def trained(path, fed, steps=2):
    """What a loaded layer answers after some steps of training."""
    layer = paddle.jit.load(path)
    layer.train()
    sgd = paddle.optimizer.SGD(0.1, parameters=[p for p in layer.parameters() if not p.stop_gradient])
    for _ in range(steps):
        found = layer(*map(paddle.to_tensor, fed))
        first = found[0] if isinstance(found, (list, tuple)) else found
        first.stop_gradient = False  # which 2.6.2 forgets
        (first * first).mean().backward()
        sgd.step()
        sgd.clear_grad()
    layer.eval()
    return outputs(layer(*map(paddle.to_tensor, fed)))


def make(folder, name, kind, spec, runs):
    paddle.seed(3)
    generator, held, path = np.random.default_rng(3), {}, str(folder / name)
    layer = kind()
    layer.eval()
    for i, run in enumerate(runs):
        fed = feeds(run, generator)
        held.update({f"r{i}_f{j}": f for j, f in enumerate(fed)})
        held.update({f"r{i}_o{j}": o for j, o in enumerate(outputs(layer(*map(paddle.to_tensor, fed))))})
    layer.train()  # what is saved is the layer as it is in inference all the same
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec, full_graph=True), path)
    first = [held[f"r0_f{j}"] for j in range(len(spec))]
    try:
        held.update({f"t_o{j}": o for j, o in enumerate(trained(path, first))})
    except (RuntimeError, TypeError, ValueError) as error:  # Paddle 3 cannot train all of what it writes in the old way
        print(f"{name} is not trained by Paddle {paddle.__version__}: {str(error).strip().splitlines()[0]}")
    np.savez(path + ".npz", **held)


def main(folder, large):
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in (LARGE if large else SMALL).items():
        try:
            make(folder, name, *model)
        except (TypeError, ValueError) as error:  # Paddle 3 cannot write all layers in the old way
            print(f"{name} is not written by Paddle {paddle.__version__}: {str(error).strip().splitlines()[-1]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), "large" in sys.argv)
