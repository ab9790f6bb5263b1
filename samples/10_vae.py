"""A variational autoencoder of crosses and circles: it draws noise in the shape of each batch, and is saved with it.

The last batch of an epoch is smaller than the others, and all are one graph. What is saved draws, too: in the file stands that
it does, not what; loaded, it draws what the layer itself would have drawn. Real Paddle and ONNX Runtime draw from theirs.

    python samples/10_vae.py [EPOCHS]
"""

import sys
import tempfile

import numpy as np

import d2s
from d2s.nn import functional as F


class VAE(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.seen, self.mean, self.spread = d2s.nn.Linear(64, 48), d2s.nn.Linear(48, 4), d2s.nn.Linear(48, 4)
        self.drawn, self.shown = d2s.nn.Linear(4, 48), d2s.nn.Linear(48, 64)

    def forward(self, x):
        hidden = F.relu(self.seen(x))
        mean, spread = self.mean(hidden), self.spread(hidden)
        code = mean + d2s.exp(0.5 * spread) * d2s.randn(mean.shape)
        return F.sigmoid(self.shown(F.relu(self.drawn(code)))), mean, spread


def loss_of(net, x):
    again, mean, spread = net(x)
    distance = F.binary_cross_entropy(again, x, reduction="sum")
    return (distance - 0.5 * (1.0 + spread - mean * mean - d2s.exp(spread)).sum()) / x.shape[0]


def pictures():
    """Crosses and circles of 8 by 8, thick and thin, in all places."""
    d2s.seed(0)
    rows, columns = np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8))
    kinds, at = np.arange(250) % 2, d2s.uniform([250, 3], min=-0.4, max=0.4).numpy()
    x, y, wide = rows - at[:, :1, None], columns - at[:, 1:2, None], 0.3 + 0.2 * at[:, 2:, None]
    apart = np.where(kinds[:, None, None], np.abs(np.hypot(x, y) - 0.5), np.minimum(abs(x), abs(y)))
    return d2s.to_tensor((apart < wide).astype("float32").reshape(250, 64))


def train(epochs, static):
    d2s.seed(3)
    data, net = pictures(), VAE()
    adam, losses = d2s.optimizer.Adam(0.005, parameters=net.parameters()), []
    step = d2s.to_static(loss_of) if static else loss_of
    for _ in range(epochs):
        for start in range(0, 250, 64):  # the last one has 58
            loss = step(net, data[start : start + 64])
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(loss.item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.2f} -> {losses[-1]:.2f}")
    return net, losses


def main(epochs):
    (_, eager), (net, static) = train(epochs, static=False), train(epochs, static=True)
    assert eager == static, "never"
    path = tempfile.mkdtemp() + "/vae"
    d2s.jit.save(net, path, input_spec=[d2s.static.InputSpec([None, 64])])
    drawn = []
    for layer in (net, d2s.jit.load(path)):
        d2s.seed(7)
        drawn.append(layer(pictures()[:3])[0].numpy())
    assert np.array_equal(*drawn), "never"
    for row in drawn[1][1].reshape(8, 8):
        print("".join(" .:*#"[int(v * 4.999)] * 2 for v in row))
    print("eager and static agree bit for bit; the saved one draws the same noise")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
