"""The number of threads is no matter: every kernel that shares its work gives the same bits on 1, 2, 3 and 8, gradients too."""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import d2s
from d2s.codegen import emit
from d2s.nn import functional as F
from d2s.ops import OPS
from d2s.ops.pad import pad
from d2s.ops.triangle import one_hot, set_diagonal
from d2s.runtime import launch
from d2s.runtime.differing import same_bits
from tests.ops.test_listed import cases
from tests.samples import LISTED, accepts

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COUNTS = (2, 3, 8)
ROWS = d2s.to_tensor(np.random.default_rng(1).integers(0, 600, 300))
PLACES = d2s.to_tensor(np.random.default_rng(2).integers(0, 200, (600, 200)))
MASK = d2s.to_tensor(np.random.default_rng(3).random((600, 200)) < 0.5)
MEAN, VARIANCE = d2s.full([8], 0.5), d2s.full([8], 2.0)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def slope_of_pool(x):
    return d2s.grad((F.max_pool2d(x, 3, 2, 1) ** 2).sum(), x, create_graph=True)[0]


def recurrent(x):
    d2s.seed(0)
    return d2s.nn.LSTM(20, 64)(x)[0]


def ctc(x):
    labels = d2s.to_tensor(np.random.default_rng(0).integers(1, 20, (16, 9)).astype("int32"))
    long, short = (d2s.full([16], n, "int64") for n in (40, 9))
    return F.ctc_loss(x, labels, long, short)


@d2s.to_static
def found(x):
    n = (x[0, 0] > -99.0).astype("int64") * 400
    return d2s.concat([x[n // 2 : n], x[:n]], axis=0)


@d2s.to_static
def selected(x):
    return x[x > 0.25]


@d2s.to_static
def few_selected(x):
    """All in the second half: who looks for places in the first one has none to write."""
    numbers = d2s.arange(x.shape[0])
    return x[(numbers > 600_000) & (numbers % 150_000 == 1)]


def open_shapes(x):
    laid, laid_as, filled = (OPS[name] for name in ("laid", "laid_as", "filled"))
    flat = laid(x, d2s.to_tensor(x.size), shape=(-1,), finds=(x.size,))
    return laid_as(flat, x) * filled(x.mean(), d2s.to_tensor(200), shape=(600, -1), finds=(200,))


def with_new_rows(x):
    y = x * 1.0
    y[5:, 1:] = x[:-5, 1:]
    return y


def images(function):
    """The shapes of a case on images beside its function."""
    return function, [(16, 8, 33, 35)]


def matrix(function):
    return function, [(600, 200)]


def normed(function):
    return function, [(16, 8, 33, 35), (8,), (8,)]


CASES = {
    "elementwise": matrix(lambda x: d2s.tanh(x) * 2.0 + x),
    "repeated": (lambda x, b: x + b, [(600, 200), (200,)]),
    "matmul": (lambda x, y: x @ y, [(130, 70), (70, 150)]),
    "turned": (lambda x, y: d2s.matmul(x, y, True, True), [(70, 130), (150, 70)]),
    "row": (lambda x, y: x @ y, [(1, 700), (700, 500)]),
    "linear": (F.linear, [(130, 70), (70, 150), (150,)]),
    "dot": (lambda x, y: d2s.dot(x, y), [(600, 200), (600, 200)]),
    "conv": (lambda x, w: F.conv2d(x, w, padding=1), [(16, 8, 17, 19), (24, 8, 3, 3)]),
    "conv by tiles": (lambda x, w: F.conv2d(x, w, padding=1), [(9, 33, 8, 9), (130, 33, 3, 3)]),
    "conv by tiles, many channels": (lambda x, w: F.conv2d(x, w, padding=1), [(20, 132, 6, 6), (100, 132, 3, 3)]),
    "depthwise": (lambda x, w: F.conv2d(x, w, padding=1, groups=8), [(16, 8, 33, 35), (8, 1, 3, 3)]),
    "gradient of a conv, by the extents of its input": (
        lambda g, w, x: OPS["conv_input_grad"](g, w, x, 1, 1, 1, 1),
        [(16, 24, 17, 19), (24, 8, 3, 3), (16, 8, 17, 19)],
    ),
    "gradient of a pool, by the extents of its input": (
        lambda g, x: OPS["avg_pool_grad_as"](g, x, 2, 2, 0, False, (), True),
        [(16, 8, 16, 17), (16, 8, 33, 35)],
    ),
    "conv transposed": (lambda x, w: F.conv2d_transpose(x, w, stride=2), [(8, 8, 17, 19), (8, 12, 3, 3)]),
    "max pool": images(lambda x: F.max_pool2d(x, 3, 2, 1)),
    "max pool with places": images(lambda x: F.max_pool2d(x, 2, 2, return_mask=True)[0]),
    "average pool": images(lambda x: F.avg_pool2d(x, 3, 2, 1)),
    "batch norm": normed(lambda x, w, b: F.batch_norm(x, d2s.zeros([8]), d2s.ones([8]), w, b, training=True)),
    "batch norm, fixed": normed(lambda x, w, b: F.batch_norm(x, MEAN, VARIANCE, w, b)),
    "group norm": normed(lambda x, w, b: F.group_norm(x, 4, 1e-5, w, b)),
    "group norm, bare": images(lambda x: F.group_norm(x, 4)),
    "layer norm": (lambda x, w, b: F.layer_norm(x, 200, w, b), [(600, 200), (200,), (200,)]),
    "layer norm, bare": matrix(lambda x: F.layer_norm(x, 200)),
    "slope of a pool": images(slope_of_pool),
    "recurrent": (recurrent, [(64, 12, 20)]),
    "ctc": (ctc, [(40, 16, 20)]),
    "resized": images(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear")),
    "resized to what is found": images(lambda x: OPS["resized_to"](x, d2s.to_tensor(90), 3, "linear", "halves", (90,))),
    "likelihood": matrix(lambda x: F.nll_loss(x, PLACES[:, 0])),
    "smoothed labels": matrix(lambda x: F.cross_entropy(x, PLACES[:, 0], label_smoothing=0.1)),
    "softmax": matrix(F.softmax),
    "log_softmax": matrix(F.log_softmax),
    "logsumexp": matrix(lambda x: d2s.logsumexp(x, 1)),
    "cross entropy": matrix(lambda x: F.cross_entropy(x, PLACES[:, 0])),
    "weighted cross entropy": (lambda x, w: F.cross_entropy(x, PLACES[:, 0], d2s.exp(w)), [(600, 200), (200,)]),
    "attention": (attention, [(2, 130, 4, 16)] * 3),
    "sum": matrix(lambda x: x.sum()),
    "sum of rows": matrix(lambda x: x.sum(1)),
    "sum of columns": matrix(lambda x: x.sum(0)),
    "mean": matrix(lambda x: x.mean(1)),
    "prod": matrix(lambda x: d2s.prod(x * 0.1 + 1.0, 1)),
    "max": matrix(lambda x: x.max(1) + x.min(1)),
    "amax": matrix(lambda x: d2s.amax(x, 1) + d2s.amin(x, 1)),
    "argmax": matrix(lambda x: d2s.argmax(x, 1) + d2s.argmin(x, 1)),
    "cumsum": matrix(lambda x: d2s.cumsum(x, 0)),
    "cumprod": matrix(lambda x: d2s.cumprod(x * 0.1 + 1.0, 1)),
    "cummax": matrix(lambda x: d2s.cummax(x, 1)[0] + d2s.cummin(x, 1)[0]),
    "logcumsumexp": matrix(lambda x: d2s.logcumsumexp(x, 1)),
    "linear scan": matrix(lambda x: OPS["linear_scan"](x * 0.5, x, 1)),
    "sort": matrix(lambda x: d2s.sort(x, 1)),
    "mode": matrix(lambda x: d2s.mode(d2s.round(x), 1)[0] * 1.0),
    "searchsorted": matrix(lambda x: d2s.searchsorted(d2s.arange(0.0, 100.0), x)),
    "concat": matrix(lambda x: d2s.concat([x, x * 2.0], 1)),
    "stack": matrix(lambda x: d2s.stack([x, x * 2.0], 1)),
    "expand": (lambda x: d2s.expand(x, [600, 200]) * 2.0, [(200,)]),
    "expand_as": (lambda x, y: d2s.expand_as(x, y) * y, [(200,), (600, 200)]),
    "flip": matrix(lambda x: d2s.flip(x, [1])),
    "roll": matrix(lambda x: d2s.roll(x, 7, 1)),
    "tile": matrix(lambda x: d2s.tile(x, [2, 3])),
    "transpose": matrix(lambda x: x.transpose([1, 0])),
    "shapes": matrix(lambda x: x.reshape([2, 300, 200]).flatten().unsqueeze(0).squeeze(0)),
    "unflatten": matrix(lambda x: d2s.unflatten(x, 1, [10, 20])),
    "diagonal": (lambda x: d2s.diagonal(x, axis1=1, axis2=2), [(700, 20, 20)]),
    "tril": matrix(lambda x: d2s.tril(x) + d2s.triu(x)),
    "pad": images(lambda x: pad(x, [1, 2, 3, 4])),
    "pad with its own": images(lambda x: pad(x, [1, 2, 3, 4], mode="reflect")),
    "slices": matrix(lambda x: x[5:, ::-2]),
    "rows": matrix(lambda x: x[ROWS]),
    "gather": matrix(lambda x: d2s.gather(x, ROWS)),
    "embedding": matrix(lambda x: F.embedding(ROWS, x)),
    "take along": matrix(lambda x: d2s.take_along_axis(x, PLACES, 1)),
    "put along": matrix(lambda x: d2s.put_along_axis(x, PLACES, x, 1)),
    "put along, added": matrix(lambda x: d2s.put_along_axis(x, PLACES, x, 1, "add")),
    "scatter": matrix(lambda x: d2s.scatter(x, d2s.arange(0, 600), x * 2.0)),
    "index_add": matrix(lambda x: d2s.index_add(x, ROWS, 0, x[:300])),
    "assignment": matrix(with_new_rows),
    "parts of extents that are found": (found, [(600, 200)]),
    "masked in a graph": (selected, [(600, 200)]),
    "masked in few places": (few_selected, [(1_000_000,)]),
    "open shapes": matrix(open_shapes),
    "unlearnt": matrix(lambda x: x * OPS["unlearnt"](x)),
    "where": matrix(lambda x: d2s.where(MASK, x, x * 2.0)),
    "masked": matrix(lambda x: x[MASK]),
    "one_hot": matrix(lambda x: one_hot(PLACES[:, 0], 200) * x.astype("float32")),
    "arange": matrix(lambda x: d2s.arange(0, 200.0) * x),
    "set diagonal": (lambda x, y: set_diagonal(x, y), [(700, 400), (400,)]),
}
FEW = {"mean_of_seen", "share_of_seen"}  # numbers of a loss, one each
FEW |= {"counting"}  # numbers in a row, each made of its place


def answers(function, shapes, threads):
    """Result and gradients, on so many threads."""
    before = d2s.get_num_threads()
    d2s.set_num_threads(threads)
    try:
        rng = np.random.default_rng(0)
        given = [d2s.to_tensor(rng.standard_normal(s).astype("float32"), stop_gradient=False) for s in shapes]
        found = function(*given)
        if not found.stop_gradient:
            (found * d2s.to_tensor(np.cos(np.arange(found.size)).reshape(found.shape).astype("float32"))).sum().backward()
        return [found.numpy(), *(x.grad.numpy() for x in given if x.grad is not None)]
    finally:
        d2s.set_num_threads(before)


@pytest.mark.parametrize("name", CASES)
def test_bits_on_any_number_of_threads(name):
    function, shapes = CASES[name]
    alone = answers(function, shapes, 1)
    for threads in COUNTS:
        for a, b in zip(alone, answers(function, shapes, threads), strict=True):
            assert same_bits(a, b), f"{name} on {threads} threads"


def test_no_kernel_that_shares_is_left_out():
    program = "from tests.ops.test_thread_counts import used; print(*used())"  # a process that knows no kernel yet
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment)
    assert sharing() - {*done.stdout.split()} == set()


def used():
    """The ops whose kernels share their work in the cases, asked for in a process that does nothing else."""
    found, lower = set(), emit.lower

    def noted(op, inputs, outputs, attrs):
        launch = lower(op, inputs, outputs, attrs)
        found.update([op.name] if "lo, hi" in launch.text else [])
        return launch

    emit.lower = noted
    for function, shapes in CASES.values():
        answers(function, shapes, 1)
    return found


def sharing():
    """The ops whose kernels share their work, by their samples."""
    found = set()
    compiled = {name for name in LISTED.keys() - FEW if "python" not in OPS[name].rules}
    for name in compiled:
        for arrays, attrs in cases(name, accepts(name)[-1]):
            given = [launch.type_of(a) for a in arrays]
            full = OPS[name].canonical(given, {**OPS[name].attributes, **attrs})
            text = emit.lower(OPS[name], given, OPS[name].infer(given, full), full).text
            found.update([name] if "lo, hi" in text else [])
    return found
