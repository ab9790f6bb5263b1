"""Layers and functions by arguments give what Paddle gives, and the same gradients: as recorded, and live where it is there.

Set D2S_PADDLE26_PYTHON and D2S_PADDLE33_PYTHON to interpreters that have paddlepaddle 2.6.2 and 3.3.1.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import d2s
from tests.nn import compared

HERE = pathlib.Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "paddle.json").read_text())
OURS_ONLY = ("of input 1", "of input 2")  # gradients of labels, which Paddle does not give
THEIRS_ONLY = {  # gradients Paddle gives: zeros, or of class weights
    name for name in compared.CASES if name.startswith(("F.grid_sample(mode=nearest", "F.cross_entropy")) or "weight" in name
}
WRONG_THERE = {
    # ours holds the vectors it found fixed; Paddle's is that of no vectors, nor do finite differences say so
    "SpectralNorm([3, 4],power_iters=2)": "of input 0",
    "SpectralNorm([3, 4, 2],dim=1)": "of input 0",
    "F.softmax_with_cross_entropy(return_softmax=True)": "of input 0",  # without what goes through the softmax returned
}
WRONG_THERE |= {  # of labels
    f"F.sigmoid_focal_loss(gamma=1.5,alpha=0.3,reduction={how})": "of input 1" for how in ("mean", "sum", "none")
}
WRONG_IN_3_3 = {  # and 2.6 gives what we give
    "GroupNorm(2,4,epsilon=0.01,weight_attr=False)": "of input 0",
    "F.cross_entropy(reduction=mean) column": "",  # ignored labels count in the mean
}
RARELY = ("3D", "Conv", "Max", "Avg", "Adaptive", "BatchNorm1D", "BatchNorm2D(3,", "InstanceNorm1D", "LayerNorm(8,w")
RARELY += ("LayerNorm([", "SpectralNorm([3, 4,", "F.softmax(axis", "F.log_softmax(axis")
RARELY += ("sum", "none", "bidirect", "(True, False, False)")
OFTEN = [name for name in RECORDED if not any(part in name for part in RARELY)]  # the others compile much, and see little more


def agree(name, theirs, skipped=None):
    ours = {key: [list(a.shape), *compared.prints(a)] for key, a in compared.run(d2s, name).items()}
    more = set(theirs) ^ set(ours)
    allowed = set(OURS_ONLY) - set(theirs) | ({"of input 1"} if name in THEIRS_ONLY else set()) | {"_mean", "_variance"}
    assert more <= allowed, name
    for key in ours.keys() & theirs.keys():
        if skipped is not None and skipped in key:
            continue
        (shape, *numbers), (wanted, *expected) = ours[key], theirs[key]
        assert shape == wanted, f"{name}: {key}"
        close = {"rtol": 3e-4, "atol": 1e-4 * max(1.0, expected[0])}
        np.testing.assert_allclose(numbers, expected, **close, err_msg=f"{name}: {key}")


@pytest.mark.parametrize("name", OFTEN)
def test_it_gives_what_was_recorded(name):
    agree(name, RECORDED[name], WRONG_THERE.get(name))


def test_numbers_tell_a_wrong_result():
    array = np.random.default_rng(0).standard_normal((3, 4))
    other = array.copy()
    other[1, 2] += 0.01
    before, behind = compared.prints(array), compared.prints(other)
    assert any(abs(a - b) > 3e-4 * abs(b) + 1e-4 * max(1.0, behind[0]) for a, b in zip(before, behind, strict=True))
    assert compared.prints(array.T.copy()) != before


@pytest.fixture(scope="module", params=["D2S_PADDLE26_PYTHON", "D2S_PADDLE33_PYTHON"])
def live(request, tmp_path_factory):
    """What Paddle says now."""
    python = os.environ.get(request.param)
    if not python:
        pytest.skip(f"{request.param} does not name an interpreter with Paddle")
    path = tmp_path_factory.mktemp("paddle") / "found.json"
    done = subprocess.run([python, HERE / "record.py", path], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return request.param, json.loads(path.read_text())


@pytest.mark.parametrize("name", compared.CASES)
def test_it_gives_what_paddle_gives(live, name):
    python, found = live
    if name not in found:
        pytest.skip("this Paddle has not got it")
    wrong = WRONG_THERE | (WRONG_IN_3_3 if python == "D2S_PADDLE33_PYTHON" else {})
    agree(name, found[name], wrong.get(name))
