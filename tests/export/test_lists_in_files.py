"""Lists that a loop makes longer and shorter, out of the process: the same bits when loaded, and what others compute.

Paddle and ONNX Runtime are asked where D2S_PADDLE26_PYTHON, D2S_PADDLE33_PYTHON and D2S_ONNX_PYTHON name interpreters.
"""

import json
import os
import subprocess

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, FormatError
from d2s.static import InputSpec
from tests.export.test_interop import SCRIPT
from tests.onnx.test_onnx import SCRIPT as ONNX_SCRIPT


def grown(x, n):
    kept = []
    i = d2s.zeros([], "int64")
    while i < n:
        x = x * 1.5
        kept.append(x)
        i = i + 1
    return d2s.stack(kept), d2s.concat(kept), len(kept)


def shortened(x, n):
    kept = [x]
    for _ in range(n):
        kept.append(kept[-1] + 1.0)
        if kept[-1].sum() > 20.0:
            kept.pop()
    total = d2s.zeros_like(x)
    for each in kept:
        total = total + each
    return total, kept[0], kept[-1]


def changed(x, n):
    kept = []
    for i in range(n):
        kept.append(x[0] * i)
    kept[0] = x[-1]
    kept[-1] = kept[-1] + 1
    return d2s.stack(kept)


def masks(x, n):
    kept = []
    for i in range(n):
        kept.append(x > i)
    return d2s.concat(kept)


def narrow(x, n):
    kept = []
    for i in range(n):
        kept.append((x * i).astype("int8"))
    last = kept.pop()
    return d2s.stack(kept), last


def begun_anew(x, n):
    total = d2s.zeros([])
    for i in range(n):
        part = []
        for j in range(i + 1):
            part.append(x * j)
        total = total + d2s.stack(part).sum()
    return total


def on_a_path(x, n):
    kept = []
    if x.sum() > 0:
        for i in range(n):
            kept.append(x + i)
    else:
        kept.append(x)
    return d2s.stack(kept, axis=1)


def pairs(x, n):
    kept = []
    for i in range(n):
        kept.append((x.sum() * i, i * 2))
    return kept, {"last": kept[-1]}


FUNCTIONS = [grown, shortened, changed, masks, narrow, begun_anew, on_a_path, pairs]
SPEC = [InputSpec([None, 3], name="x"), InputSpec([], "int64", name="n")]
X = np.arange(6, dtype="float32").reshape(2, 3) - 2
RUNS = [(X, 4), (X[:1], 2), (-X, 7)]


def outputs(found):
    """The tensors of a result, a list of unknown length as one: that is what a file holds of it."""
    if found is None or isinstance(found, int | d2s.Tensor):
        return [np.asarray(found)]
    if isinstance(found, list) and isinstance(found[0], tuple):
        return [
            np.asarray(len(found)),
            *(np.stack([np.asarray(part) for part in column]) for column in zip(*found, strict=True)),
        ]
    return [each for part in (found.values() if isinstance(found, dict) else found) for each in outputs(part)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The models in both kinds of files, the inputs, and what d2s answers."""
    made = tmp_path_factory.mktemp("lists")
    for function in FUNCTIONS:
        static = d2s.jit.to_static(function)
        d2s.jit.save(static, f"{made}/{function.__name__}", input_spec=SPEC)
        d2s.onnx.export(static, f"{made}/{function.__name__}", input_spec=SPEC)
        for k, (x, n) in enumerate(RUNS):
            np.savez(f"{made}/{function.__name__}.{k}.in.npz", f0=x, f1=np.asarray(n))
    return made


def wanted(function, run):
    return outputs(function(d2s.to_tensor(run[0]), d2s.to_tensor(run[1])))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_loaded_gives_the_same_bits(folder, function):
    loaded = d2s.jit.load(f"{folder}/{function.__name__}")
    for run in RUNS:
        found = outputs(loaded(d2s.to_tensor(run[0]), d2s.to_tensor(run[1])))
        for have, want in zip(found, wanted(function, run), strict=True):
            assert (have.dtype, have.shape, have.tobytes()) == (want.dtype, want.shape, want.tobytes())


def test_what_is_loaded_raises_what_was_saved(folder):
    with pytest.raises(ArgumentError, match=r"stack.*'x' holds no tensor"):
        d2s.jit.load(f"{folder}/grown")(d2s.to_tensor(X), d2s.to_tensor(0))
    with pytest.raises(IndexError, match="pop from empty list"):
        d2s.jit.load(f"{folder}/narrow")(d2s.to_tensor(X), d2s.to_tensor(0))


def test_a_function_that_calls_itself_is_refused(tmp_path):
    def down(x):
        return x if x.sum() < 1.0 else down(x - 1.0) * x

    for write, path in ((d2s.jit.save, "net"), (d2s.onnx.export, "net.onnx")):
        with pytest.raises(FormatError, match="calls itself") as refused:
            write(d2s.jit.to_static(down), str(tmp_path / path), input_spec=[InputSpec([2])])
        assert refused.value.code == "D2S3002"
        assert "while" in refused.value.hint


def agree(function, found, run):
    have = [found[f"o{k}"] for k in range(len(found.files))]
    for a, b in zip(have, wanted(function, run), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("variable", ["D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON"])
def test_paddle_computes_the_same(folder, variable):
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} does not name an interpreter with Paddle")
    ways = ("jit", "executor", "inference", "inference_plain")
    environment = os.environ | {"FLAGS_enable_pir_api": "0"}
    subprocess.run([python, SCRIPT, folder, *ways], env=environment, check=True, capture_output=True, timeout=300)
    assert json.loads((folder / "report.json").read_text())["failures"] == {}
    for function in FUNCTIONS:
        for k, run in enumerate(RUNS):
            for way in ways:
                with np.load(f"{folder}/{function.__name__}.{k}.{way}.npz") as found:
                    agree(function, found, run)


def test_onnxruntime_computes_the_same(folder, tmp_path):
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    subprocess.run([python, ONNX_SCRIPT, folder], check=True, capture_output=True, timeout=300)
    assert json.loads((folder / "report.json").read_text()) == {}
    for function in FUNCTIONS:
        for k, run in enumerate(RUNS):
            with np.load(f"{folder}/{function.__name__}.{k}.out.npz") as found:
                agree(function, found, run)
