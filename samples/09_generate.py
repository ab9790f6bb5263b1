"""A causal Transformer writes digit after digit, keeping the keys and values of those before, until it writes the end.

It learns to go on behind `3 1 4 >` with `4 1 3 .`, eagerly and as a graph, equal bit for bit. Then `write`, a loop whose caches
grow and which a tensor ends, runs as the Python it is, as one graph with all steps in it, and from a file without the source.

    python samples/09_generate.py [STEPS]
"""

import sys
import tempfile
import time

import numpy as np

import d2s
from d2s import nn

TURN, END, CODES, WIDTH, MOST = 10, 11, 12, 48, 16


class Writer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.codes, self.places = nn.Embedding(CODES, WIDTH), nn.Embedding(MOST, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0.0, activation="gelu", normalize_before=True)
        self.encoder, self.out = nn.TransformerEncoder(layer, 2), nn.Linear(WIDTH, CODES)

    def forward(self, codes, caches=None, before=0):
        """What may come behind each code, and the caches with these codes in them."""
        length = codes.shape[1]
        x = self.codes(codes) + self.places(d2s.arange(before, before + length))
        later = d2s.triu(d2s.full([length, before + length], float("-inf")), diagonal=before + 1)
        x, caches = self.encoder(x, later, caches or self.encoder.gen_cache(x))
        return self.out(x), caches

    def write(self, begin):
        """Goes on behind the codes: each is the most probable one, and is read in its turn."""
        written, (scores, caches) = begin, self(begin)
        while written.shape[1] < MOST:
            code = scores[:, -1].argmax(axis=-1, keepdim=True)
            if (code == END).all():
                break
            scores, caches = self(code, caches, written.shape[1])
            written = d2s.concat([written, code], axis=1)
        return written


def train(steps, static):
    d2s.seed(9)
    random, net = np.random.default_rng(9), Writer()
    adam = d2s.optimizer.AdamW(3e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))

    def step(codes, turn):
        scores = net(codes)[0][:, turn:-1]
        loss = nn.functional.cross_entropy(scores.reshape([-1, CODES]), codes[:, turn + 1 :].flatten())
        loss.backward()
        adam.step()
        adam.clear_grad()
        return loss

    losses, step = [], d2s.to_static(step) if static else step
    for _ in range(steps):
        digits = random.integers(0, 10, (32, random.integers(2, 7)))
        ends = [np.full((32, 1), code) for code in (TURN, END)]
        codes = np.concatenate([digits, ends[0], digits[:, ::-1], ends[1]], axis=1)
        losses.append(step(d2s.to_tensor(codes), digits.shape[1]).item())
    print(f"{'static' if static else 'eager'}: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
    return net, losses


def timed(write, begin):
    """What is written behind the codes, and in how many ms, the least of five times."""
    spent = []
    for _ in range(6):
        start = time.perf_counter()
        found = write(begin)
        spent.append(time.perf_counter() - start)
    return found.tolist()[0], 1e3 * min(spent[1:])


@d2s.no_grad()
def main(steps):
    with d2s.enable_grad():
        (net, losses), (_, again) = train(steps, static=False), train(steps, static=True)
    assert losses == again, "never"
    begin, graph = d2s.to_tensor([[3, 1, 4, 1, 5, TURN]]), d2s.to_static(net.eval().write)
    (eager, slow), (static, fast) = timed(net.write, begin), timed(graph, begin)
    assert eager == static, "never"
    print(" ".join("0123456789>"[code] for code in eager), f": {slow:.2f} ms as Python, {fast:.2f} ms as a graph")
    with tempfile.TemporaryDirectory() as folder:
        d2s.jit.save(graph, f"{folder}/writer", input_spec=[d2s.static.InputSpec([None, None], "int64")])
        assert timed(d2s.jit.load(f"{folder}/writer"), begin)[0] == eager, "never"
    print("reloaded from a file: the same")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 600)
