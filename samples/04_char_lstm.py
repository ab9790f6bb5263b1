"""A language model of letters: an LSTM reads a text letter by letter and learns which one comes next.

It is trained twice, as the eager Python it is and as a graph made of it by `to_static`: the losses are equal bit for bit.

    python samples/04_char_lstm.py [STEPS]
"""

import sys
import time

import numpy as np

import d2s
from d2s.nn import functional as F

TEXT = "she sells sea shells on the sea shore; the shells that she sells are sea shells i am sure. " * 8
LETTERS = sorted(set(TEXT))
CODES = np.array([LETTERS.index(c) for c in TEXT])
LENGTH, BATCH = 24, 16


class Letters(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = d2s.nn.Embedding(len(LETTERS), 16)
        self.lstm = d2s.nn.LSTM(16, 64)
        self.out = d2s.nn.Linear(64, len(LETTERS))

    def forward(self, codes, state=None):
        read, state = self.lstm(self.embedding(codes), state)  # [batch, length, 64]
        return self.out(read), state


def batch(random):
    """Pieces of the text, and the same pieces one letter later."""
    starts = random.integers(0, len(CODES) - LENGTH - 1, BATCH)
    pieces = np.stack([CODES[s : s + LENGTH + 1] for s in starts])
    return d2s.to_tensor(pieces[:, :-1]), d2s.to_tensor(pieces[:, 1:])


def train(steps, static):
    d2s.seed(5)
    random, net = np.random.default_rng(5), Letters()
    if static:
        d2s.to_static(net)
    adam, losses, start = d2s.optimizer.Adam(0.01, parameters=net.parameters()), [], time.perf_counter()
    for _ in range(steps):
        now, following = batch(random)
        scores, _ = net(now)
        loss = F.cross_entropy(scores, following)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, {time.perf_counter() - start:.1f} s")
    return net, losses


@d2s.no_grad()
def write(net, begin, count):
    """Goes on with a text: each letter is the most probable one, and is read by the network in its turn."""
    text, state, new = begin, None, begin
    for _ in range(count):
        scores, state = net(d2s.to_tensor([[LETTERS.index(c) for c in new]]), state)
        new = LETTERS[int(scores[0, -1].argmax())]
        text += new
    return text


def main(steps):
    eager, losses = train(steps, static=False)
    _, again = train(steps, static=True)
    assert losses == again, "never"
    print(write(eager, "she ", 60))


main(int(sys.argv[1]) if len(sys.argv) > 1 else 150)
