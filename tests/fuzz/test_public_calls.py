"""No public call ends the process, hangs, or raises anything but a coded error, whatever it is given.

`D2S_FUZZ_SECONDS=600 python -m pytest tests/fuzz/test_public_calls.py` looks longer, at other calls each time.
"""

import json
import os
import pathlib
import subprocess
import sys
import time

import public_calls
import pytest

WORKER = pathlib.Path(public_calls.__file__)
SECONDS = float(os.environ.get("D2S_FUZZ_SECONDS", "40"))
MOST = 10**12 if "D2S_FUZZ_SECONDS" in os.environ else 5000  # the same cases on every machine that is quick enough
ROOT = WORKER.parent.parent.parent


def started(arguments, program=WORKER):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(WORKER.parent)])}
    return subprocess.Popen(
        [sys.executable, str(program), *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def findings(process, notes, seconds):
    """What a worker found; and how many cases it did, or None where a call ended it."""
    try:
        out, errors = process.communicate(timeout=seconds + 2 * public_calls.PATIENCE + 60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, errors = process.communicate()
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    if lines and "done" in lines[-1]:
        return lines[:-1], lines[-1]["done"]
    last = notes.read_text().splitlines()[-1:] if notes.exists() else []
    return [*lines, {"call": last, "why": f"ended with {process.returncode}", "trace": errors[-3000:]}], None


def told(found):
    return "\n\n".join(f"{f['call']}\n  {f['why']}\n{f['trace']}" for f in found[:10])


@pytest.mark.parametrize("seed", [0, 1])
def test_public_calls_end_well(seed, tmp_path):
    name = seed if "D2S_FUZZ_SECONDS" not in os.environ else f"{seed} {time.time_ns()}"
    notes = tmp_path / "notes"
    calls = len(public_calls.public())
    found, done = findings(started([name, seed * calls // 2, SECONDS, notes, MOST]), notes, 4 * SECONDS)
    assert not found, f"seed {name!r}: python tests/fuzz/public_calls.py SEED CASE shows one\n\n{told(found)}"
    assert done >= calls // 2, "the two runs together did not make every call"


def test_the_calls_there_are_were_found():
    calls = public_calls.public()
    expected = ["add", "to_tensor", "randn", "seed", "from_dlpack", "set_printoptions", "grad", "jit.save", "jit.verify"]
    expected += [
        "nn.Linear",
        "static.InputSpec",
        "optimizer.SGD",
        "Tensor.backward",
        "Tensor.__add__",
        "Tensor.sum",
        "nn.Layer.train",
    ]
    assert [name for name in expected if name not in calls] == []
    assert len(calls) > 250
    assert [name for name in public_calls.SKIPPED if name in calls] == []


def test_no_module_is_left_out():
    parts, inside = set(public_calls.PARTS), set(public_calls.INSIDE)
    assert parts.isdisjoint(inside)
    assert [name for name in public_calls.modules() if name not in parts | inside] == []


PLANTED = """
import ctypes, pathlib, sys, time, public_calls
from d2s import memory
import numpy as np
def hangs(): time.sleep(30)
def ends(): ctypes.string_at(0)
def raises(): memory.check("x", "ab", np.dtype("f4"))
def fine(): return None
calls = {"raises": raises, "fine": fine}
if sys.argv[1] in globals():
    calls[sys.argv[1]] = globals()[sys.argv[1]]
public_calls.main("planted", 0, 2.0, sys.argv[2], calls, patience=1.0)
"""


@pytest.mark.parametrize("kind, why", [("hangs", "ended with 1"), ("ends", "ended with -11"), ("none", "TypeError")])
def test_planted_faults_are_found(kind, why, tmp_path):
    program, notes = tmp_path / "planted.py", tmp_path / "notes"
    program.write_text(PLANTED)
    found, done = findings(started([kind, notes], program), notes, 2)
    assert any(f["why"].startswith("TypeError") and "memory.py" in f["why"] for f in found)
    assert why in found[-1]["why"] and (done is None) == (kind != "none")
    assert kind == "none" or kind in str(found[-1]["call"])
