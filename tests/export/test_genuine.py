"""Files that real Paddle wrote are read, run and trained as Paddle does it.

`genuine/paddle-VERSION.zip` are made by `interop/make_genuine.py` and, of 1.8.5, by `interop/make_genuine_1x.py`, with Paddle's
own answers beside them. Paddle 3.0.0 still writes all of them in the old way, 3.3.1 no `if`, `while`, LSTM and attention.
"""

import os
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest

import d2s

GENUINE = Path(__file__).parent / "genuine"
MAKER = Path(__file__).parents[2] / "interop" / "make_genuine.py"
MODELS = {
    "1.8.5": ("linear", "conv_bn", "if", "while", "lstm", "block"),
    "2.6.2": ("linear", "conv_bn", "if", "while", "lstm", "gru", "block"),
    "3.0.0": ("linear", "conv_bn", "if", "while", "lstm", "gru", "block"),
    "3.3.1": ("linear", "conv_bn"),
}
EACH = [(version, name) for version, names in MODELS.items() for name in names]
TRAINED = [("2.6.2", name) for name in MODELS["2.6.2"]] + [("3.3.1", "linear")]
TRAINED += [("3.0.0", name) for name in ("linear", "lstm", "gru")]  # of the others Paddle 3 trains none


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("genuine")
    for version in MODELS:
        zipfile.ZipFile(GENUINE / f"paddle-{version}.zip").extractall(target)
    return target


def loaded(folder, version, name):
    """The layer, and what Paddle was fed and answered."""
    path = folder / f"paddle-{version}" / name
    together = {"params_filename": "combined"} if (path / "combined").exists() else {}
    with np.load(f"{path}.npz") as held:
        return d2s.jit.load(str(path), **together), dict(held)


def row(held, start):
    """The arrays of this name, in order."""
    return [held[f"{start}{k}"] for k in range(len(held)) if f"{start}{k}" in held]


def outputs(layer, feeds):
    found = layer(*map(d2s.to_tensor, feeds))
    return list(found) if isinstance(found, tuple) else [found]


def assert_same(found, wanted):
    assert [(t.numpy().dtype, t.shape) for t in found] == [(w.dtype, list(w.shape)) for w in wanted]
    for have, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(have.numpy(), want, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize(("version", "name"), EACH)
def test_the_state_alone_is_that_of_the_layer(folder, version, name):
    path = folder / f"paddle-{version}" / name
    found = d2s.load(str(path), params_filename="combined" if (path / "combined").exists() else None)
    wanted = loaded(folder, version, name)[0].state_dict()
    assert {key: value.tolist() for key, value in found.items()} == {key: value.tolist() for key, value in wanted.items()}


@pytest.mark.parametrize(("version", "name"), EACH)
def test_a_file_of_paddle_computes_what_paddle_computed(folder, version, name):
    layer, held = loaded(folder, version, name)
    runs = sorted({key.split("_")[0] for key in held if key.startswith("r")})
    assert len(runs) > 1
    for run in runs:
        assert_same(outputs(layer, row(held, f"{run}_f")), row(held, f"{run}_o"))


@pytest.mark.parametrize(("version", "name"), TRAINED)
def test_a_file_of_paddle_is_trained_as_paddle_trains_it(folder, version, name):
    layer, held = loaded(folder, version, name)
    feeds, wanted = row(held, "r0_f"), row(held, "t_o")
    assert np.abs(wanted[0] - held["r0_o0"]).max() > 1e-3
    layer.train()
    sgd = d2s.optimizer.SGD(0.1, parameters=layer.parameters())
    for _ in range(2):
        first = outputs(layer, feeds)[0]
        (first * first).mean().backward()
        sgd.step()
        sgd.clear_grad()
    layer.eval()
    assert_same(outputs(layer, feeds), wanted)


def test_a_folder_of_1x_names_its_parameters_by_variable(folder):
    layer, _ = loaded(folder, "1.8.5", "linear")
    assert sorted(layer.state_dict()) == ["fc_0.b_0", "fc_0.w_0", "fc_1.b_0", "fc_1.w_0"]
    assert not any(p.stop_gradient for p in layer.parameters())


@pytest.mark.parametrize("name", ["../linear/fc_0.w_0", "/etc/hostname", "", "a\0b"])
def test_a_folder_reads_no_file_outside_of_itself(folder, tmp_path, name):
    from_, to = folder / "paddle-1.8.5" / "linear" / "__model__", tmp_path / "__model__"
    data = from_.read_bytes()
    described = d2s.export.protobuf.decode("ProgramDesc", data)
    for block in described["blocks"]:
        for variable in block["vars"]:
            variable["name"] = variable["name"].replace("fc_0.w_0", name)
        for op in block["ops"]:
            for slot in op["inputs"]:
                slot["arguments"] = [name if a == "fc_0.w_0" else a for a in slot["arguments"]]
    to.write_bytes(d2s.export.protobuf.encode("ProgramDesc", described))
    for file in ("fc_0.b_0", "fc_1.b_0", "fc_1.w_0"):
        (tmp_path / file).write_bytes((from_.parent / file).read_bytes())
    with pytest.raises(d2s.errors.FormatError, match="which is no file of its folder"):
        d2s.jit.load(str(tmp_path))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Models that are too large to be kept: Paddle makes them now."""
    python = os.environ.get("D2S_PADDLE26_PYTHON")
    if not python:
        pytest.skip("D2S_PADDLE26_PYTHON does not name an interpreter with Paddle")
    target = tmp_path_factory.mktemp("large")
    subprocess.run([python, MAKER, target / "paddle-2.6.2", "large"], check=True, capture_output=True, timeout=600)
    return target


@pytest.mark.parametrize("name", ["resnet18", "mobilenet", "rnn"])
def test_large_models_of_paddle_compute_what_paddle_computed(large, name):
    layer, held = loaded(large, "2.6.2", name)
    for run in ("r0", "r1"):
        for have, want in zip(outputs(layer, row(held, f"{run}_f")), row(held, f"{run}_o"), strict=True):
            np.testing.assert_allclose(have.numpy(), want, rtol=1e-4, atol=1e-5)
