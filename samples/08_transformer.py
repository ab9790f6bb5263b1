"""A small Transformer learns to turn a row of digits round: attention must find the place that belongs to each.

python samples/08_transformer.py [STEPS]
"""

import sys

import numpy as np

import d2s
from d2s import nn

LENGTH, DIGITS, WIDTH = 6, 10, 32


class Reverser(nn.Layer):
    def __init__(self):
        super().__init__()
        self.digits = nn.Embedding(DIGITS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, nhead=4, dim_feedforward=64, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(WIDTH, DIGITS)

    def forward(self, x):
        return self.out(self.encoder(self.digits(x) + self.places(d2s.arange(LENGTH))))


def train(steps, static):
    d2s.seed(8)
    random, net = np.random.default_rng(8), Reverser()
    if static:
        d2s.to_static(net)
    clip = nn.ClipGradByGlobalNorm(1.0)
    adam = d2s.optimizer.AdamW(3e-3, parameters=net.parameters(), grad_clip=clip)
    losses = []
    for _ in range(steps):
        rows = random.integers(0, DIGITS, (32, LENGTH))
        loss = nn.functional.cross_entropy(net(d2s.to_tensor(rows)), d2s.to_tensor(rows[:, ::-1].copy()))
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    return net, losses


def main(steps):
    net, losses = train(steps, static=False)
    _, again = train(steps, static=True)
    assert losses == again, "never"
    net.eval()
    row = [3, 1, 4, 1, 5, 9]
    print(row, "->", net(d2s.to_tensor([row])).argmax(axis=-1).tolist()[0])


main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
