"""An autoencoder whose two halves share one weight: it makes 8 numbers of 64, and 64 of these 8 with the same matrix.

A weight that is used twice needs nothing special: its gradient is the sum of both uses. It is trained eagerly and static.

    python samples/05_autoencoder.py [STEPS]
"""

import sys

import d2s
from d2s.nn import functional as F


class Shared(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = d2s.nn.Linear(64, 8, bias_attr=False)

    def forward(self, x):
        hidden = self.linear(x)
        return d2s.matmul(hidden, self.linear.weight, transpose_y=True)  # the way back


def train(steps, static):
    d2s.seed(2)
    inputs, net = d2s.rand([256, 64]), Shared()
    if static:
        d2s.to_static(net)
    adam, losses = d2s.optimizer.Adam(0.01, parameters=net.parameters()), []
    for _ in range(steps):
        loss = F.mse_loss(net(inputs), inputs)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.4f} -> {losses[-1]:.4f}")
    return losses


def main(steps):
    assert train(steps, static=False) == train(steps, static=True), "never"
    print("eager and static agree bit for bit")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
