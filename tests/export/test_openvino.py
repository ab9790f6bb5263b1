"""A C++ program that knows nothing of d2s or Paddle runs what `jit.save` wrote, on OpenVINO.

Set D2S_OPENVINO_PYTHON to an interpreter that has openvino: its wheel brings headers and libraries.
"""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import d2s
from d2s.static import InputSpec
from tests.export.open_images import Narrowing

SOURCE = Path(__file__).parent / "openvino" / "run.cpp"
WHERE = "import openvino, os; print(os.path.dirname(openvino.__file__))"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The compiled program, and the environment it runs in."""
    python, compiler = os.environ.get("D2S_OPENVINO_PYTHON"), shutil.which("g++")
    if not python or not compiler:
        pytest.skip("D2S_OPENVINO_PYTHON does not name an interpreter with openvino" if not python else "there is no g++")
    root = Path(subprocess.run([python, "-c", WHERE], capture_output=True, text=True, check=True).stdout.strip())
    library = next((root / "libs").glob("libopenvino.so.*"))
    out = tmp_path_factory.mktemp("openvino") / "run"
    flags = [f"-I{root / 'include'}", str(library), f"-Wl,-rpath,{root / 'libs'}"]
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Werror", SOURCE, *flags, "-o", out], check=True, timeout=300)
    return out


class Branch(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = d2s.nn.Linear(4, 4)

    def forward(self, x):
        h = self.fc(x)
        return h + 1.0 if h.sum() > 0 else -h


class Loop(Branch):
    def forward(self, x, n):
        i = d2s.zeros([1], "int64")
        while i < n:
            x = d2s.tanh(self.fc(x))
            if x.sum() > 0:
                x = x - 0.5
            i = i + 1
        return x, i


def conv():
    parts = d2s.nn.Conv2D(2, 3, 3, padding=1), d2s.nn.BatchNorm2D(3), d2s.nn.ReLU(), d2s.nn.MaxPool2D(2, 2), d2s.nn.Flatten()
    return d2s.nn.Sequential(*parts, d2s.nn.Linear(12, 2))


def linear():
    return d2s.nn.Sequential(d2s.nn.Linear(4, 5), d2s.nn.ReLU(), d2s.nn.Linear(5, 2), d2s.nn.Softmax())


X = InputSpec([None, 4], name="x")
MODELS = {
    "linear": (linear, [X], [[(3, 4)], [(1, 4)]]),
    "conv": (conv, [InputSpec([None, 2, 4, 4], name="x")], [[(3, 2, 4, 4)], [(1, 2, 4, 4)]]),
    "if": (Branch, [X], [[(rows, 4)] for rows in (2, 1, 5, 3)]),
    "images": (Narrowing, [InputSpec([None, 3, None, None], name="x")], [[(2, 3, 34, 28)], [(1, 3, 41, 64)]]),
    "while": (Loop, [X, InputSpec([1], "int64", name="n")], [[(2, 4), n] for n in (4, 1, 0)]),
}


def line(name, array):
    numbers = [array.ndim, *array.shape, *(repr(v.item()) for v in array.ravel())]
    return " ".join([name, "f32" if array.dtype == np.float32 else "i64", *map(str, numbers)])


def array(text):
    dtype, rank, *rest = text.split()
    shape, values = list(map(int, rest[: int(rank)])), rest[int(rank) :]
    return np.array(values, np.float32 if dtype == "f32" else np.int64).reshape(shape)


@pytest.mark.parametrize("name", MODELS)
def test_openvino_computes_the_same(name, program, tmp_path):
    make, spec, runs = MODELS[name]
    d2s.seed(2)
    net, rng = make(), np.random.default_rng(2)
    net.eval()
    d2s.jit.save(net, str(tmp_path / "net"), spec)
    given, wanted = [], []
    for run in runs:
        feeds = [rng.normal(size=f).astype("float32") if isinstance(f, tuple) else np.array([f]) for f in run]
        given += [line(s.name, a) for s, a in zip(spec, feeds, strict=True)] + ["run"]
        found = net(*map(d2s.to_tensor, feeds))
        wanted += [t.numpy() for t in (found if isinstance(found, tuple) else (found,))] + [None]
    ran = subprocess.run(
        [program, tmp_path / "net.pdmodel"], input="\n".join(given) + "\n", capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert len(lines) == len(wanted)
    for text, want in zip(lines, wanted, strict=True):
        if want is None:
            assert text == "run"
            continue
        assert array(text).dtype == want.dtype and array(text).shape == want.shape
        np.testing.assert_allclose(array(text), want, rtol=1e-5, atol=2e-6)
