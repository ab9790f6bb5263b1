"""The corpus of programs and the table of features as ONNX files: ONNX Runtime computes what we compute.

Set D2S_ONNX_PYTHON to an interpreter that has onnx and onnxruntime. What a file cannot hold is refused with a code.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import d2s
from d2s.capture.tree import flatten, rebuild
from d2s.errors import D2SError
from d2s.jit.saving import model_of
from d2s.onnx.schema import encode
from d2s.onnx.writer import model_proto
from d2s.runtime import interpreter
from d2s.static import InputSpec

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "features"))

import limits  # noqa: E402, F401 - all rows
from feature_rows import CAPTURED, ROWS  # noqa: E402
from programs_compare import PROGRAMS, copies  # noqa: E402
from test_programs import CORPUS  # noqa: E402

SCRIPT = HERE.parents[1] / "interop" / "run_onnx.py"
# what no file can hold: effects, paths that raise, what is returned besides tensors; and what ONNX Runtime has no kernels of
HOLDS_NOT = {"D2S0004", "D2S3002"}
UNORDERED = ("found_extents-different",)  # nan among what Unique of ONNX Runtime sorts: it leaves them where they are


def subjects():
    """Every function with the argument sets it is run on."""
    assert CORPUS
    for module, listed in PROGRAMS.items():
        yield from ((f"{module}-{function.__name__}", lambda function=function: function, sets) for function, sets in listed)
    for n, row in enumerate(ROWS.values()):
        if row.make and row.expected == CAPTURED:
            yield f"row-{n}", lambda row=row: row.make().function, row.sets


def kind(arguments):
    """What a file is made for: dtypes and extents of tensors, and everything else by value."""
    return [(x.dtype.name, tuple(x.shape)) if isinstance(x, d2s.Tensor) else repr(x) for x in arguments]


def spec_of(arguments):
    leaves, skeleton = flatten(copies(arguments))
    spec = [InputSpec(x.shape, x.dtype, name=f"a{n}") if isinstance(x, d2s.Tensor) else x for n, x in enumerate(leaves)]
    return rebuild(skeleton, spec)


def runs(function, arguments):
    """Whether a call does not raise."""
    try:
        function(*copies(arguments))
    except Exception:  # the function's own, of any kind
        return False
    return True


def fed(model, arguments):
    """What a model is fed with: tensors by the names that `spec_of` gives, and the Python numbers in order."""
    leaves, _ = flatten(arguments)
    numbers = iter(x for x in leaves if isinstance(x, float))
    return [leaves[int(name[1:])].numpy() if re.fullmatch(r"a\d+", name) else np.asarray(next(numbers)) for name in model.feeds]


def ran(model, arrays):
    """What a model computes; None where it raises."""
    try:
        return interpreter.run(model.program, [*arrays, *(p.array for p in model.parameters.values())])
    except D2SError:
        return None


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    python = os.environ.get("D2S_ONNX_PYTHON")
    if not python:
        pytest.skip("D2S_ONNX_PYTHON does not name an interpreter with onnxruntime")
    folder, wanted, refused = tmp_path_factory.mktemp("programs"), {}, {}
    for name, make, sets in subjects():
        for k, (_, group) in enumerate(itertools.groupby(sorted(sets, key=lambda s: repr(kind(s))), kind)):
            same, key = [arguments for arguments in group if runs(make(), arguments)], f"{name}-{k}"
            if not same:
                continue
            try:
                with warnings.catch_warnings(action="ignore"):
                    model = model_of(make(), spec_of(same[0]))
                    if not model.fetches:  # ONNX Runtime runs no graph without results
                        continue
                    (folder / f"{key}.onnx").write_bytes(encode("ModelProto", model_proto(model, 18)))
            except D2SError as error:
                refused[key] = error
                continue
            for run, arrays in enumerate(fed(model, arguments) for arguments in same):
                found = ran(model, arrays)
                if found is not None:
                    np.savez(folder / f"{key}.{run}.in.npz", **{f"f{j}": a for j, a in enumerate(arrays)})
                    wanted[f"{key}.{run}"] = found
    subprocess.run([python, SCRIPT, folder], check=True, timeout=600, capture_output=True)
    return folder, wanted, refused, json.loads((folder / "report.json").read_text())


def test_all_that_is_written_runs(answers):
    assert answers[3] == {}


def test_what_is_refused_has_a_code(answers):
    assert {error.code for error in answers[2].values()} <= HOLDS_NOT


def test_onnxruntime_computes_the_same(answers):
    folder, wanted, _, _ = answers
    for key, want in wanted.items():
        if key.rpartition("-")[0].endswith(UNORDERED):
            continue
        with np.load(folder / f"{key}.out.npz") as held:
            for k, b in enumerate(want):
                agree(key, held[f"o{k}"], b)


def agree(key, have, want):
    if isinstance(want, tuple):  # a list is a tensor there
        assert len(have) == len(want), key
        for a, b in zip(have, want, strict=True):
            agree(key, a, b)
    elif not isinstance(want, interpreter.Hole):  # which nothing reads
        assert (have.dtype, have.shape) == (want.dtype, want.shape), key
        np.testing.assert_allclose(have, want, rtol=1e-5, atol=1e-6, err_msg=key)
