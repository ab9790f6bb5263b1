"""The scripts of samples/from_paddle, written for Paddle of three generations, run unchanged."""

import pathlib
import re

import pytest

from d2s.compat.__main__ import main

ROOT = pathlib.Path(__file__).parent.parent.parent
SAMPLES = sorted((ROOT / "samples" / "from_paddle").glob("*.py"))
PRINTED = {
    "fluid_digits": [r"eager, step 0: \[\d\.\d+", r"Executor, step 20: \[[01]\.", "the same parameters: True"],
    "alpha_regression": [r"slope 3\.000, offset 0\.500"],
    "second_static": [r"(9\d|100)% right", "the file gives the same: True"],
}


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_sample(path, capsys, monkeypatch):
    monkeypatch.setenv("D2S_DATA_HOME", str(ROOT / "samples"))
    assert main([str(path)]) == 0
    printed = capsys.readouterr().out
    for fact in PRINTED[path.stem]:
        assert re.search(fact, printed), printed
