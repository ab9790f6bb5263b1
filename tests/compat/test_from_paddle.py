"""The scripts of samples/from_paddle, written for Paddle of three generations, run unchanged."""

import pathlib
import re

import pytest

from d2s.compat.__main__ import main

ROOT = pathlib.Path(__file__).parent.parent.parent
SAMPLES = sorted((ROOT / "samples" / "from_paddle").glob("*.py"))
PRINTED = {
    "fluid_digits": [r"eager, step 0: \[\d\.\d+", r"Executor, step 20: \[[01]\.", "the same parameters: True"],
    "fluid_1_8_digits": [r"loss \[[01]\.", r"right: 0\.[6-9]|right: 1", "loaded, the same: True"],
    "fluid_1_8_steps": [r"epoch 7: loss 0\.[01]\d*, right 0\.9\d, rate 0\.0083", "first rates: 0.0100 0.0190"],
    "fluid_program": [r"step 0: [2-4]\.", r"right: 0\.[7-9]", r"values kept: \[ *True"],
    "alpha_regression": [r"slope 3\.000, offset 0\.500"],
    "second_static": [r"(9\d|100)% right", "the file gives the same: True"],
}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_sample(path, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("D2S_DATA_HOME", str(ROOT / "samples"))
    assert main([str(path)]) == 0
    printed = capsys.readouterr().out
    for fact in PRINTED[path.stem]:
        assert re.search(fact, printed), printed
