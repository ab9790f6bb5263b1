"""ONNX files: what cannot be said is named at once; ONNX Runtime, where there is one, computes what we compute.

Set D2S_ONNX_PYTHON to an interpreter that has onnx and onnxruntime.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, FormatError
from d2s.jit.saving import model_of
from d2s.onnx.schema import encode
from d2s.onnx.writer import NARROW, model_proto
from d2s.onnx.writer import SAID as SPELLED
from d2s.ops.ctc import ctc
from d2s.runtime import interpreter
from d2s.static import InputSpec
from tests.export.corpus import CASES
from tests.export.op_models import SAID, dtypes, op_model
from tests.export.reference import run_program
from tests.export.test_models import MODELS, outputs, some
from tests.test_declarations import IN_GRADIENTS

SCRIPT = Path(__file__).parents[2] / "interop" / "run_onnx.py"
MOST_REFUSED = 30  # cases of ops, of several hundred
ONNX_ONLY = ["recurrent", "resized", "set_slice", "positions", "diagonal", "set_diagonal", "cumprod", "searchsorted"]
ONNX_ONLY += ["ctc", "cummax", "cummin", "logcumsumexp", "longest_run"]
BOOLS = {"integers"}  # a corpus program of dtypes ONNX has no products of


ANGLES = np.array([[0.0, -0.0, 0.0, 1, -1, np.inf, -np.inf, np.nan, 3], [0.0, 0, -0.0, -0.0, 2, np.inf, 1, 1, -np.inf]])
REALS = np.concatenate([np.linspace(-7.3, 12, 30), [0, -0.0, 1, 2, -1, np.inf, -np.inf, np.nan, 1e-7, 1e30, 1.000001, -0.5]])
SHARES = np.concatenate([np.linspace(-0.999, 0.999, 15), [0, -0.0, 1, -1, 2, 1e-6, 0.9999999, np.nan]])
BITS = np.array([[1, 3, -5, 7, -1, 2**40, -(2**63), 2**63 - 1, 0, 5], [4, 62, 1, 63, 64, -1, 3, 70, 2, 0]])
TEXTS = np.array([[1, 1, 2], [2, 1, 0], [2, 2, 0], [1, 1, 1]]), np.array([5, 4, 3, 0]), np.array([3, 2, 1, 0])
LINE = np.sin(np.arange(30.0))
FUNCTIONS = {  # which ONNX has not, and where their values are hard; of vectors of any length
    "ordered": (lambda x: d2s.sort(x, descending=True) - d2s.argsort(x).astype(x.dtype), LINE),
    "turned": (lambda x: d2s.roll(x, 7) - d2s.roll(x, -100, axis=0), LINE),
    "median": (lambda x: d2s.median(x) + d2s.quantile(x, 0.3), LINE),
    "atan2": (d2s.atan2, *ANGLES),
    "digamma": (d2s.digamma, REALS),
    "erfinv": (d2s.erfinv, SHARES),
    "lgamma": (d2s.lgamma, REALS),
    "slope_1": (lambda x: d2s.polygamma(x, 1), REALS),
    "slope_4": (lambda x: d2s.polygamma(x, 4), REALS),
    "left": (d2s.bitwise_left_shift, *BITS),
    "right": (d2s.bitwise_right_shift, *BITS),
    "narrow": (lambda x: d2s.sum(x.astype("int8"), 1) + d2s.max(x.astype("int16")).astype("int8"), BITS),
    "texts": (lambda x, *texts: ctc(x, *texts, 0)[0], np.sin(np.arange(60.0)).reshape(5, 4, 3), *TEXTS),
}


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = d2s.nn.Conv2D(1, 4, 3, padding=1), d2s.nn.BatchNorm2D(4)
        self.pool, self.fc = d2s.nn.MaxPool2D(2, 2), d2s.nn.Linear(64, 3)

    def forward(self, x):
        h = self.pool(d2s.nn.functional.relu(self.norm(self.conv(x)))).flatten(1)
        y = self.fc(h)
        if y.sum() > 0:
            y = y * 2
        return d2s.nn.functional.softmax(y), h


class Sequences(d2s.nn.Layer):
    """Cells of every kind, of any number of sequences."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru = d2s.nn.LSTM(4, 5, num_layers=2), d2s.nn.GRU(5, 3, direction="bidirect")
        self.rnn = d2s.nn.SimpleRNN(6, 2, activation="relu")

    def forward(self, x):
        return self.rnn(self.gru(self.lstm(x)[0])[0])[0]


def left_early(x):
    if x.sum() > 10:
        return x
    h = x * 0.5
    for i in range(3):
        h = h + 0.5
        if h.mean() > 0.7:
            return h * i
    return h


def test_a_layer_becomes_a_file(tmp_path):
    net = Net()
    net.eval()
    d2s.onnx.export(net, str(tmp_path / "net"), [InputSpec([None, 1, 8, 8])])
    data = (tmp_path / "net.onnx").read_bytes()
    assert all(word in data for word in (b"Conv", b"BatchNormalization", b"MaxPool", b"If", b"Softmax"))


def test_what_onnx_cannot_say_is_named_at_once():
    def down(x):
        return x if x.sum() < 1.0 else down(x - 1.0)

    def f(x):
        return d2s.nn.functional.avg_pool1d(down(x), 2, 2, 0, exclusive=False, ceil_mode=True)

    with pytest.raises(FormatError, match=r"calls itself.*ceil_mode") as caught:
        d2s.onnx.export(f, "/nowhere/f", [InputSpec([1, 2, 3])])
    assert caught.value.code == "D2S3002"


def positive(x):
    if x.sum() < 0:
        raise ValueError("too small")
    return x * 2


def test_a_raise_ends_a_run_and_says_what_was_raised(tmp_path):
    d2s.onnx.export(positive, str(tmp_path / "net"), [InputSpec([None])])
    assert b"ValueError: too small (" in (tmp_path / "net.onnx").read_bytes()
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    for run, x in enumerate(([1.0, 2.0], [-1.0])):
        np.savez(tmp_path / f"net.{run}.in.npz", f0=np.array(x, "float32"))
    subprocess.run([python, SCRIPT, tmp_path], check=True, timeout=100, capture_output=True)
    assert "Name:'ValueError: too small (" in json.loads((tmp_path / "report.json").read_text())["net"]
    with np.load(tmp_path / "net.0.out.npz") as found:
        np.testing.assert_array_equal(found["o0"], [2.0, 4.0])


def test_cells_and_running_products_go_step_by_step(tmp_path):
    d2s.onnx.export(Sequences(), str(tmp_path / "cells"), [InputSpec([None, 5, 4])])
    d2s.onnx.export(lambda x: d2s.cumprod(x, 1), str(tmp_path / "product"), [InputSpec([None, 3])])
    assert all(
        (tmp_path / f"{name}.onnx").read_bytes().count(b"Scan") == count for name, count in (("cells", 5), ("product", 1))
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_onnx_has_not_are_written(name):
    function, *arrays = FUNCTIONS[name]
    for shapes in ([a.shape for a in arrays], [a.shape if a.ndim > 1 else [None] for a in arrays]):
        model = model_of(function, [InputSpec(shape, a.dtype.name) for shape, a in zip(shapes, arrays, strict=True)])
        assert model_proto(model, 17)["graph"]["node"]


def test_a_batch_norm_with_channels_behind_has_them_in_front_for_a_while():
    norm = d2s.nn.BatchNorm2D(4, data_format="NHWC")
    norm.eval()
    graph = model_proto(model_of(norm, [InputSpec([None, 6, 5, 4])]), 18)["graph"]
    kinds = [node["op_type"] for node in graph["node"]]
    assert kinds[:3] == ["Transpose", "BatchNormalization", "Transpose"]


def test_other_opsets_are_refused(tmp_path):
    with pytest.raises(ArgumentError, match="opset_version"):
        d2s.onnx.export(lambda x: x, str(tmp_path / "f"), [InputSpec([3])], opset_version=9)


def test_no_gradient_is_said():
    assert set(SPELLED).isdisjoint(IN_GRADIENTS)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What ONNX Runtime makes of every op, of the corpus, of layers and of whole models; all in one process."""
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    folder, wanted, refused = tmp_path_factory.mktemp("onnx"), {}, []

    def add(key, model, runs):
        try:
            (folder / f"{key}.onnx").write_bytes(encode("ModelProto", model_proto(model, 18)))
        except FormatError:
            refused.append(key)
            return
        for k, (arrays, want) in enumerate(runs):
            np.savez(folder / f"{key}.{k}.in.npz", **{f"f{j}": a for j, a in enumerate(arrays)})
            wanted[f"{key}.{k}"] = want

    for name in [*SAID, *(n for n in ONNX_ONLY if n not in SAID)]:
        narrow = [of for of, names in NARROW.items() if name in names]
        for of in [d for d in dtypes(name) if d.short in ("f32", "i64", "b1")] + narrow:
            for case in range(3):
                model, arrays = op_model(name, of, slice(case, case + 1))
                if model.fetches:
                    add(f"{name}-{of.short}-{case}", model, [(arrays, interpreter.run(model.program, arrays))])
    for name in sorted(set(CASES) - BOOLS):
        case = CASES[name]
        add(name, case.model(), [(run, run_program(case.program(), run + case.parameters)) for run in case.runs])
    for name, (function, *arrays) in FUNCTIONS.items():
        spec = [InputSpec(a.shape if a.ndim > 1 else [None], a.dtype.name) for a in arrays]
        add(name, model_of(function, spec), [(arrays, [function(*map(d2s.to_tensor, arrays)).numpy()])])
    cells = Sequences()
    cells.eval()
    d2s.onnx.export(cells, str(folder / "sequences"), [InputSpec([None, 5, 4])])
    for k, count in enumerate((1, 3)):
        x = np.random.default_rng(k).random((count, 5, 4)).astype("float32")
        np.savez(folder / f"sequences.{k}.in.npz", f0=x)
        wanted[f"sequences.{k}"] = [cells(d2s.to_tensor(x)).numpy()]
    early = model_of(left_early, [InputSpec([None, 3])])
    runs = [[np.full(shape, value, "float32")] for shape, value in (((2, 3), 1), ((4, 3), -1), ((3, 3), 9))]
    add("early", early, [(run, interpreter.run(early.program, run)) for run in runs])
    for name, (make, spec) in MODELS.items():
        net, x = make(), some(spec)
        net.eval()
        for opset in (17, 18, 21):
            d2s.onnx.export(net, str(folder / f"{name}-{opset}"), [spec], opset_version=opset)
            np.savez(folder / f"{name}-{opset}.0.in.npz", f0=x)
            wanted[f"{name}-{opset}.0"] = outputs(net, x)
    subprocess.run([python, SCRIPT, folder], check=True, timeout=600, capture_output=True)
    return folder, wanted, refused, json.loads((folder / "report.json").read_text())


def test_onnxruntime_takes_every_file(answers):
    assert answers[3] == {}
    assert len({key.split("-")[0] for key in answers[2]}) < MOST_REFUSED


def test_onnxruntime_computes_the_same(answers):
    folder, wanted, _, _ = answers
    for key, want in wanted.items():
        with np.load(folder / f"{key}.out.npz") as held:
            for k, b in enumerate(want):
                a = held[f"o{k}"]
                assert (a.dtype, a.shape) == (b.dtype, b.shape), key
                name = key.split(".")[0].split("-")[0]  # sums of sums in another order, and math in float64
                within = 1e-4 if name in MODELS else 1e-12 if name in FUNCTIONS else 1e-5
                np.testing.assert_allclose(a, b, rtol=2 * within, atol=within, err_msg=key)
