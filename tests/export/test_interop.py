"""Genuine Paddle computes what we computed from the files we wrote, and reads every word of them.

Set D2S_PADDLE26_PYTHON and D2S_PADDLE33_PYTHON to interpreters that have paddlepaddle 2.6.2 and 3.3.1.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from d2s.export import load, save
from d2s.ir.text import show
from tests.export.corpus import CASES
from tests.export.reference import run_program

SCRIPT = Path(__file__).parents[2] / "interop" / "run_paddle.py"
WAYS = ("jit", "executor", "inference", "inference_plain")
# Paddle 3.3's jit.load reads every constant through a float32; its executor and its inference do not
ROUGH = {("D2S_PADDLE33_PYTHON", "jit"): (3, 4, 5, 16)}
NEW_WORDS = {"D2S_PADDLE33_PYTHON": {"cast: attribute use_mkldnn"}}  # no longer declared there, and ignored


@pytest.fixture(scope="module", params=["D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON"])
def answers(request, tmp_path_factory):
    """The folder of the files and of what Paddle answered, and its report."""
    python = os.environ.get(request.param)
    if not python:
        pytest.skip(f"{request.param} does not name an interpreter with Paddle")
    folder = tmp_path_factory.mktemp("interop")
    for name, case in CASES.items():
        save(case.model(), folder / name)
        for i, run in enumerate(case.runs):
            np.savez(folder / f"{name}.{i}.in.npz", **{f"f{j}": feed for j, feed in enumerate(run)})
    environment = os.environ | {"FLAGS_enable_pir_api": "0"}
    ran = subprocess.run([python, SCRIPT, folder], env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return request.param, folder, json.loads((folder / "report.json").read_text())


def test_paddle_ran_every_model(answers):
    assert answers[2]["failures"] == {}


def test_paddle_knows_every_word(answers):
    python, _, report = answers
    assert set(report["unknown"]) == set(CASES)
    assert {word for words in report["unknown"].values() for word in words} <= NEW_WORDS.get(python, set())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", sorted(CASES))
def test_paddle_computes_the_same(answers, name, way):
    python, folder, _ = answers
    case = CASES[name]
    for i, run in enumerate(case.runs):
        want = run_program(case.program(), run + case.parameters)
        with np.load(folder / f"{name}.{i}.{way}.npz") as held:
            have = [held[f"o{j}"] for j in range(len(held.files))]
        assert len(have) == len(want)
        for j, (a, b) in enumerate(zip(have, want, strict=True)):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            if name == "constants" and j not in ROUGH.get((python, way), ()):
                np.testing.assert_array_equal(a, b)
                np.testing.assert_array_equal(np.signbit(a.astype(float)), np.signbit(b.astype(float)))
            elif name != "constants":
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=2e-6)


def test_files_of_genuine_paddle_are_read(answers):
    """A layer, one with an `if`, one with an `if` in a `while`, as Paddle saved them."""
    python, folder, report = answers
    if "33" in python:
        pytest.skip("Paddle 3 writes files of another kind")
    assert len(report["genuine"]) == 3
    for name in report["genuine"]:
        loaded = load(folder / "genuine" / name)
        with np.load(folder / "genuine" / f"{name}.npz") as held:
            runs = sorted({key.split("_")[0] for key in held.files})
            for run in runs:
                feeds = [held[f"{run}_f{i}"] for i in range(len(loaded.feeds))]
                have = run_program(loaded.program, feeds + [p.array for p in loaded.parameters.values()])
                np.testing.assert_allclose(have[0], held[f"{run}_o0"], rtol=1e-5, atol=2e-6, err_msg=show(loaded.program))
