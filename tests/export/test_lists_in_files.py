"""What only a run knows, out of the process: lists that loops make longer, and shapes computed of an open batch.

The same bits when loaded, the same gradients, and what others compute.

Paddle and ONNX Runtime are asked where D2S_PADDLE26_PYTHON, D2S_PADDLE33_PYTHON and D2S_ONNX_PYTHON name interpreters.
"""

import json
import os
import subprocess

import numpy as np
import pytest

import d2s
from d2s.errors import ArgumentError, FormatError, ShapeError
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


def flat(x, n):
    rows = d2s.stack([x, x * 2], axis=1)
    return (
        x.reshape([-1]),
        rows.flatten(0, 1) + n.astype("float32"),
        rows.reshape([-1, 3]) * rows.flatten(0, 1),
        rows.reshape([-1, 1]).sum(),
    )


def and_back(x, n):
    b, c = x.shape
    rows = x.reshape([c * b]) * n.astype("float32")
    return rows.reshape([b, c]) + x, rows.reshape([b, -1]).tanh() @ d2s.ones([c, 2])


def made(x, n):
    b = x.shape[0]
    state = d2s.zeros([b, 2])
    for k in range(3):
        state = d2s.tanh(state + x[:, k : k + 1])
    return state, d2s.full([b, 1], 1.5) + x, d2s.ones([2, b], "int32"), d2s.eye(b) @ x, d2s.full([n], True)


def repeated(x, n):
    b = x.shape[0]
    return (
        x[0].unsqueeze(0).expand([b, 3]) * n.astype("float32"),
        d2s.tile(x, [2, 2]),
        d2s.tile(x[0], [b, 1]) * x,
        d2s.concat([x, x[:1]]).reshape([-1]),
    )


def made_on_a_path(x, n):
    if x.sum() > 0:
        y = d2s.zeros([x.shape[0], 3]) + x.reshape([-1]).sum()
    else:
        y = x.reshape([-1, 1]).tanh().reshape([x.shape[0], 3])
    while n > 0:
        y = y * d2s.full([y.shape[0], 1], 0.5)
        n = n - 1
    return y


FUNCTIONS = [grown, shortened, changed, masks, narrow, begun_anew, on_a_path, pairs]
FUNCTIONS += [flat, and_back, made, repeated, made_on_a_path]
SPEC = [InputSpec([None, 3], name="x"), InputSpec([], "int64", name="n")]
X = np.arange(6, dtype="float32").reshape(2, 3) - 2
RUNS = [(X, 4), (X[:1], 2), (-X, 7)]


def outputs(found):
    """The tensors of a result, a list of unknown length as one: that is what a file holds of it; then how long lists are."""
    return values(found) + lengths(found)


def inside(found):
    return [] if found is None or isinstance(found, int | d2s.Tensor) else found.values() if isinstance(found, dict) else found


def is_rows(found):
    return isinstance(found, list) and isinstance(found[0], tuple)


def values(found):
    if found is None or isinstance(found, int | d2s.Tensor):
        return [np.asarray(found)]
    if is_rows(found):
        return [np.stack([np.asarray(part) for part in column]) for column in zip(*found, strict=True)]
    return [each for part in inside(found) for each in values(part)]


def lengths(found):
    return [np.asarray(len(found))] if is_rows(found) else [each for part in inside(found) for each in lengths(part)]


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


@pytest.mark.parametrize("function", [flat, and_back, made, repeated, made_on_a_path])
def test_gradients_go_through_what_is_loaded(folder, function):
    loaded = d2s.jit.load(f"{folder}/{function.__name__}")
    for x, n in RUNS:
        gradients = []
        for f in (function, loaded):
            given = d2s.to_tensor(x, stop_gradient=False)
            found = f(given, d2s.to_tensor(n))
            floats = [y for y in (found if isinstance(found, tuple) else (found,)) if not y.stop_gradient]
            sum((y * y).sum() for y in floats).backward()
            gradients.append(given.grad.numpy())
        assert gradients[0].tobytes() == gradients[1].tobytes()


def test_what_does_not_fit_is_refused(tmp_path):
    path = str(tmp_path / "net")
    d2s.jit.save(lambda x, n: x.reshape([n, -1]) + 1, path, input_spec=SPEC)
    loaded = d2s.jit.load(path)
    assert loaded(d2s.to_tensor(X), d2s.to_tensor(3)).shape == [3, 2]
    with pytest.raises(ShapeError, match=r"reshape.*shape \[2, 3\] do not fit"):
        loaded(d2s.to_tensor(X), d2s.to_tensor(4))


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
