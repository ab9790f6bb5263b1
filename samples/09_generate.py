"""A causal Transformer writes digit after digit, keeping the keys and values of those before, until it writes the end.

It learns to go on behind `3 1 4 >` with `4 1 3 .`, eagerly and as a graph, equal bit for bit. Then `write`, a Python loop whose
caches grow and which a tensor ends, runs eagerly, as one graph with all steps in it, and from a file without the source.

    python samples/09_generate.py [STEPS]
"""

import pathlib
import sys
import tempfile
import time

import numpy as np

import d2s
from d2s import nn
from d2s.nn import functional as F

DIGITS, TURN, END, WIDTH, HEADS, MOST = 10, 10, 11, 48, 4, 16


class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.of, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, cache):
        rows, length, _ = x.shape
        parts = self.of(x).reshape([rows, length, 3, HEADS, WIDTH // HEADS]).transpose([2, 0, 3, 1, 4])
        query, key, value = parts.unbind(0)
        if cache is not None:
            key, value = d2s.concat([cache[0], key], axis=2), d2s.concat([cache[1], value], axis=2)
        known = key.shape[2]
        later = d2s.triu(d2s.full([length, known], float("-inf")), diagonal=known - length + 1)
        weights = F.softmax(query @ key.transpose([0, 1, 3, 2]) / (WIDTH // HEADS) ** 0.5 + later)
        return self.out((weights @ value).transpose([0, 2, 1, 3]).reshape([rows, length, WIDTH])), (key, value)


class Block(nn.Layer):
    def __init__(self):
        super().__init__()
        self.attention, self.norms = Attention(), nn.LayerList([nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)])
        self.inner = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, cache):
        seen, cache = self.attention(self.norms[0](x), cache)
        x = x + seen
        return x + self.inner(self.norms[1](x)), cache


class Writer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.codes, self.places = nn.Embedding(DIGITS + 2, WIDTH), nn.Embedding(MOST, WIDTH)
        self.blocks, self.out = nn.LayerList([Block(), Block()]), nn.Linear(WIDTH, DIGITS + 2)

    def read(self, codes, caches, first):
        """What may come behind each code, and the caches with these codes in them."""
        x, kept = self.codes(codes) + self.places(d2s.arange(first, first + codes.shape[1])), []
        for block, cache in zip(self.blocks, caches, strict=True):
            x, cache = block(x, cache)
            kept.append(cache)
        return self.out(x), kept

    def forward(self, codes):
        return self.read(codes, [None, None], 0)[0]

    def write(self, begin):
        """Goes on behind the codes: each is the most probable one, and is read in its turn."""
        written = begin
        scores, caches = self.read(begin, [None, None], 0)
        while written.shape[1] < MOST:
            code = scores[:, -1].argmax(axis=-1, keepdim=True)
            written = d2s.concat([written, code], axis=1)
            if (code == END).all():
                break
            scores, caches = self.read(code, caches, written.shape[1] - 1)
        return written


def rows(random, count):
    """Rows of digits and of the same turned round, all of one length."""
    digits = random.integers(0, DIGITS, (count, random.integers(2, 7)))
    ends = [np.full((count, 1), code) for code in (TURN, END)]
    return np.concatenate([digits, ends[0], digits[:, ::-1], ends[1]], axis=1)


def train(steps, static):
    d2s.seed(9)
    random, net = np.random.default_rng(9), Writer()
    adam = d2s.optimizer.AdamW(3e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))

    def step(codes, behind):
        scores = net(codes)[:, behind:]
        loss = F.cross_entropy(scores[:, :-1].reshape([-1, DIGITS + 2]), codes[:, behind + 1 :].flatten())
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    losses, start, once = [], time.perf_counter(), d2s.to_static(step) if static else step
    for _ in range(steps):
        codes = rows(random, 32)
        losses.append(once(d2s.to_tensor(codes), codes.shape[1] // 2 - 1).item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.3f} -> {losses[-1]:.3f}, {time.perf_counter() - start:.1f} s")
    return net, losses


@d2s.no_grad()
def told(write, begin):
    """What is written behind the codes, and how long it takes, the least of five."""
    found, spent = None, []
    for _ in range(6):
        start = time.perf_counter()
        found = write(begin)
        spent.append(time.perf_counter() - start)
    return found.tolist(), 1e3 * min(spent[1:])


def main(steps):
    net, losses = train(steps, static=False)
    _, again = train(steps, static=True)
    assert losses == again, "never"
    net.eval()
    begin = d2s.to_tensor([[3, 1, 4, 1, 5, TURN]])
    eager, slow = told(net.write, begin)
    static, fast = told(d2s.to_static(net.write), begin)
    print(" ".join("0123456789>."[code] for code in eager[0]))
    print(f"written eagerly in {slow:.2f} ms, by one graph in {fast:.2f} ms")
    assert eager == static, "never"
    with tempfile.TemporaryDirectory() as folder:
        file = str(pathlib.Path(folder) / "writer")
        d2s.jit.save(d2s.to_static(net.write), file, input_spec=[d2s.static.InputSpec([None, None], "int64")])
        assert told(d2s.jit.load(file), begin)[0] == eager, "never"
        print("reloaded from a file: the same")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
