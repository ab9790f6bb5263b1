"""Models written into a folder, and what Paddle and ONNX Runtime make of them, where environment variables name them.

In: functions and their runs. Out: for each run what is computed elsewhere, beside what eager code does.
"""

import json
import os
import subprocess

import numpy as np
import pytest

import d2s
from tests.export.test_interop import SCRIPT
from tests.onnx.test_onnx import SCRIPT as ONNX_SCRIPT

PADDLES = ("D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON")
WAYS = ("jit", "executor", "inference", "inference_plain")


def write(folder, name, function, specs, runs):
    """Files of both kinds, and what runs feed them."""
    d2s.jit.save(function, f"{folder}/{name}", input_spec=specs)
    d2s.onnx.export(function, f"{folder}/{name}", input_spec=specs)
    for k, run in enumerate(runs):
        np.savez(f"{folder}/{name}.{k}.in.npz", **{f"f{n}": np.asarray(one) for n, one in enumerate(run)})


def asked(folder, variable):
    """The endings of the names under which an interpreter leaves what it computes."""
    python = os.environ.get(variable)
    if not python:
        pytest.skip(f"{variable} does not name an interpreter")
    arguments = [python, SCRIPT, folder, *WAYS] if variable in PADDLES else [python, ONNX_SCRIPT, folder]
    environment = os.environ | {"FLAGS_enable_pir_api": "0"}
    subprocess.run(arguments, env=environment, check=True, capture_output=True, timeout=300)
    report = json.loads((folder / "report.json").read_text())
    assert report.get("failures", report if variable not in PADDLES else {}) == {}
    return WAYS if variable in PADDLES else ("out",)


def agree(folder, name, function, runs, ways, rtol=1e-5):
    """Whether that is what eager code computes."""
    for k, run in enumerate(runs):
        result = function(*(d2s.to_tensor(one) for one in run))
        wanted = [t.numpy() for t in (result if isinstance(result, list | tuple) else [result])]
        for way in ways:
            with np.load(f"{folder}/{name}.{k}.{way}.npz") as found:
                for n, want in enumerate(wanted):
                    assert (found[f"o{n}"].dtype, found[f"o{n}"].shape) == (want.dtype, want.shape), (name, k, way)
                    np.testing.assert_allclose(found[f"o{n}"], want, rtol=rtol, atol=1e-5, err_msg=f"{name} {k} {way}")
