"""Tensors that trips of a loop make longer, out of the process: greedy decoding is one file for all lengths."""

import numpy as np
import pytest

import d2s
from d2s.static import InputSpec
from tests.export.asked_elsewhere import PADDLES, agree, asked, write


def decoded(x, n):
    tokens, i = x[:, :1].tanh(), d2s.zeros([], "int64")
    while i < n:
        tokens = d2s.concat([tokens, (tokens.sum(1, keepdim=True) + x[:, 1:2]).tanh()], 1)
        i = i + 1
    return tokens


def in_a_row(x, n):
    row, i = x[0], d2s.zeros([], "int64")
    while i < n:
        row = d2s.concat([row, x[0] * 2.0])
        i = i + 1
    return row, row.sum()


def until_a_token(x, n):
    tokens = x[:, :1]
    while tokens.sum() < 40.0:
        if tokens.shape[1] >= n:
            break
        tokens = d2s.concat([tokens, tokens[:, -1:] * 1.5 + 1.0], 1)
    return tokens * 2.0


def shorter(x, n):
    while n > 1:
        x = x[:, : (x.shape[1] + 1) // 2] + 1.0
        n = n - 1
    return x


def from_nothing(x, n):
    tokens = d2s.zeros([x.shape[0], 0])
    for i in range(n):
        tokens = d2s.concat([tokens, x[:, :1] * i + 0.5], 1)
    return tokens


def scattered(x, n):
    rows = d2s.nonzero(x[:, 0] > -9.0).squeeze(1)
    return d2s.scatter(x * 3.0, rows[:n], x[:n] + 1.0, overwrite=False)


FUNCTIONS = [decoded, in_a_row, until_a_token, shorter, from_nothing, scattered]
SPEC = [InputSpec([None, 4], name="x"), InputSpec([], "int64", name="n")]
X = np.arange(8, dtype="float32").reshape(2, 4) / 8
RUNS = [[X, np.int64(5)], [X[:1].repeat(3, 0), np.int64(1)], [X - 1, np.int64(3)]]


def found(function, run):
    x = d2s.to_tensor(run[0], stop_gradient=False)
    result = function(x, d2s.to_tensor(run[1]))
    parts = result if isinstance(result, list | tuple) else [result]
    sum((y * y).sum() for y in parts).backward()
    return [t.numpy() for t in (*parts, x.grad)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("growing")
    for function in FUNCTIONS:
        write(folder, function.__name__, d2s.to_static(function), SPEC, RUNS)
    return folder


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_loaded_gives_the_same_bits(folder, function):
    loaded = d2s.jit.load(f"{folder}/{function.__name__}")
    for run in RUNS:
        for a, b in zip(found(function, run), found(loaded, run), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("variable", [*PADDLES, "D2S_ONNX_PYTHON"])
def test_others_compute_the_same(folder, variable):
    ways = asked(folder, variable)
    for function in FUNCTIONS:
        agree(folder, function.__name__, function, RUNS, ways)


class Decoder(d2s.nn.Layer):
    """Writes token by token, with caches that grow."""

    def __init__(self):
        super().__init__()
        self.layers = d2s.nn.TransformerDecoder(d2s.nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0), 1)
        self.embedding, self.leave = d2s.nn.Embedding(7, 4), d2s.nn.Linear(4, 7)

    def forward(self, memory, n):
        cache = self.layers.gen_cache(memory)
        token = d2s.ones([memory.shape[0], 1], "int64")
        tokens = [token]
        for _ in range(n):
            y, cache = self.layers(self.embedding(token), memory, cache=cache)
            token = self.leave(y[:, -1]).argmax(-1, keepdim=True)
            tokens.append(token)
        return d2s.concat(tokens, 1)


def test_a_decoder_with_caches_comes_back(tmp_path):
    net, path = Decoder(), str(tmp_path / "net")
    net.eval()
    d2s.jit.save(net, path, [InputSpec([None, None, 4], name="memory"), InputSpec([], "int64", name="n")])
    loaded = d2s.jit.load(path)
    for memory, n in ((d2s.randn([2, 5, 4]), 4), (d2s.randn([1, 3, 4]), 2)):
        assert loaded(memory, d2s.to_tensor(n)).tolist() == net(memory, d2s.to_tensor(n)).tolist()
