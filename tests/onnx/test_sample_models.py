"""The models of the samples in ONNX Runtime: what they compute there is what they compute here.

Set D2S_ONNX_PYTHON to an interpreter that has onnx and onnxruntime.
"""

import json
import os
import re
import subprocess
import types
from pathlib import Path

import numpy as np
import pytest

import d2s
from d2s.static import InputSpec

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "interop" / "run_onnx.py"
CODES = InputSpec([None, None], "int64")
MODELS = {  # of a sample: its class, what a graph is made of, and what it is given
    "02_mnist": ("Net", "forward", InputSpec([None, 784]), (3, 784)),
    "03_lenet": ("LeNet", "forward", InputSpec([None, 1, 28, 28]), (3, 1, 28, 28)),
    "04_char_lstm": ("Letters", "forward", CODES, (2, 7)),
    "05_autoencoder": ("Shared", "forward", InputSpec([None, 64]), (3, 64)),
    "08_transformer": ("Reverser", "forward", InputSpec([None, 6], "int64"), (2, 6)),
    "09_generate": ("Writer", "write", CODES, (1, 5)),
}


def made(sample, kind):
    """The model of a sample, whose last line, which trains it, is left out."""
    path = ROOT / "samples" / f"{sample}.py"
    module = types.ModuleType(sample)
    module.__file__ = str(path)
    text = re.sub(r"^main\(.*\n", "\n", path.read_text(), flags=re.MULTILINE)
    exec(compile(text, str(path), "exec"), vars(module))
    d2s.seed(2)
    return vars(module)[kind]().eval()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What ONNX Runtime makes of all of them."""
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    here = tmp_path_factory.mktemp("samples")
    for name, (kind, method, spec, shape) in MODELS.items():
        net, random = made(name, kind), np.random.default_rng(1)
        x = random.integers(0, 10, shape) if spec.dtype == "int64" else random.random(shape, "float32")
        function = d2s.to_static(getattr(net, method)) if method != "forward" else net
        d2s.onnx.export(function, str(here / name), input_spec=[spec])
        np.savez(here / f"{name}.0.in.npz", f0=x)
        found = function(d2s.to_tensor(x))
        np.savez(here / f"{name}.want.npz", *[v.numpy() for v in flat(found)])
    subprocess.run([python, SCRIPT, here], check=True, timeout=200, capture_output=True)
    return here


def flat(value):
    return [one for item in value for one in flat(item)] if isinstance(value, list | tuple) else [value]


@pytest.mark.parametrize("name", MODELS)
def test_a_sample(folder, name):
    assert name not in json.loads((folder / "report.json").read_text())
    with np.load(folder / f"{name}.want.npz") as want, np.load(folder / f"{name}.0.out.npz") as found:
        assert len(want.files) == len(found.files)
        for a, b in zip(want.values(), found.values(), strict=True):
            np.testing.assert_allclose(b, a, rtol=2e-5, atol=2e-6)
