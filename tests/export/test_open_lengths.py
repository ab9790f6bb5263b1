"""Inputs with several open extents: those that need not be the same are apart in a file, however alike examples are."""

import numpy as np
import pytest

import d2s
from d2s import nn
from d2s.nn import functional as F
from d2s.static import InputSpec
from tests.export.asked_elsewhere import PADDLES, agree, asked, write


class Attending(nn.Layer):
    """Queries that look at something else."""

    def __init__(self):
        super().__init__()
        self.attention = nn.MultiHeadAttention(8, 2)

    def forward(self, q, kv, mask=None):
        return self.attention(q, kv, kv, mask)


class Running(nn.Layer):
    """A network that is given where it starts."""

    def __init__(self, kind):
        super().__init__()
        self.network = kind(4, 3)

    def forward(self, x, *start):
        return self.network(x, start if len(start) > 1 else start[0])[0]


def attended(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def of_classes(x, label):
    return F.cross_entropy(x, (F.sigmoid(label) * 4).astype("int64"), reduction="none")


def searched(x, y):
    return d2s.searchsorted(d2s.sort(x), y).astype(y.dtype) * y + x.sum()


START = [1, "b", 3]
CASES = {
    "attention": (Attending, [["b", "n", 8], ["b", "m", 8]]),
    "attention with a mask": (Attending, [["b", "n", 8], ["b", "m", 8], ["b", 1, "n", "m"]]),
    "attention with a mask of keys": (Attending, [["b", "n", 8], ["b", "m", 8], ["b", 1, 1, "m"]]),
    "transformer": (lambda: nn.Transformer(8, 2, 1, 1, 8), [["b", "n", 8], ["b", "m", 8]]),
    "attention as a function": (lambda: attended, [["b", "n", 2, 4], ["b", "m", 2, 4], ["b", "m", 2, 4]]),
    "cross entropy": (lambda: of_classes, [["b", "n", 5], ["b", "n"]]),
    "LSTM": (lambda: Running(nn.LSTM), [["b", "n", 4], START, START]),
    "GRU": (lambda: Running(nn.GRU), [["b", "n", 4], START]),
    "searchsorted": (lambda: searched, [["b", "n"], ["b", "m"]]),
}
SIZES = [{"b": 2, "n": 7, "m": 5}, {"b": 3, "n": 2, "m": 2}, {"b": 1, "n": 1, "m": 4}, {"b": 4, "n": 3, "m": 130}]


def arrays(shapes, sizes):
    rng = np.random.default_rng(sizes["m"])
    return [rng.normal(size=[sizes.get(d, d) for d in shape]).astype("float32") for shape in shapes]


def made(name):
    make, shapes = CASES[name]
    d2s.seed(1)
    one = make()
    if isinstance(one, nn.Layer):
        one.eval()
    return one, shapes, [InputSpec([d if isinstance(d, int) else None for d in s], name=f"x{k}") for k, s in enumerate(shapes)]


def found(function, given):
    tensors = [d2s.to_tensor(a, stop_gradient=False) for a in given]
    y = function(*tensors)
    (y * y).sum().backward()
    return [t.numpy() for t in (y, *(x.grad for x in tensors if x.grad is not None))]


@pytest.mark.parametrize("name", CASES)
def test_lengths_that_need_not_agree_are_apart(name, tmp_path):
    one, shapes, specs = made(name)
    d2s.jit.save(one, str(tmp_path / "m"), specs)
    loaded = d2s.jit.load(str(tmp_path / "m"))
    for sizes in SIZES:
        for a, b in zip(found(one, arrays(shapes, sizes)), found(loaded, arrays(shapes, sizes)), strict=True):
            np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("name", ["attention", "cross entropy", "GRU"])
def test_batches_that_must_agree_are_asked_for(name, tmp_path):
    one, shapes, specs = made(name)
    d2s.jit.save(one, str(tmp_path / "m"), specs)
    first, *others = arrays(shapes, SIZES[0])
    with pytest.raises(d2s.errors.D2SError, match="D2S0002"):
        d2s.jit.load(str(tmp_path / "m"))(d2s.to_tensor(first[:1].repeat(3, 0)), *map(d2s.to_tensor, others))


ASKED = [name for name in CASES if name not in ("cross entropy", "searchsorted")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lengths")
    for name in ASKED:
        one, shapes, specs = made(name)
        write(folder, name.replace(" ", "_"), one, specs, [arrays(shapes, sizes) for sizes in SIZES])
    return folder


@pytest.mark.parametrize("variable", [*PADDLES, "D2S_ONNX_PYTHON"])
def test_others_take_lengths_apart_too(folder, variable):
    ways = asked(folder, variable)
    for name in ASKED:
        one, shapes, _ = made(name)
        agree(folder, name.replace(" ", "_"), one, [arrays(shapes, sizes) for sizes in SIZES], ways)
