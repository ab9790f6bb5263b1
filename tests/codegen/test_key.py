"""The key of a kernel covers the text of all it calls: whatever shapes its code, an edit of that makes another kernel."""

import ast
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import d2s
from d2s.codegen import cache

PACKAGE = pathlib.Path(d2s.__file__).parent
PROGRAM = """
import json, sys, d2s
found = d2s.tanh(d2s.to_tensor([1.0])).item()
print(json.dumps([found, "numba" in sys.modules or "d2s.codegen.typed_functions" in sys.modules]))
"""
COMPILING = ("d2s.codegen.numba_kernel", "d2s.codegen.typed_functions")
NOT_CODE = dict.fromkeys(("d2s.errors", "d2s.pages"), "what is said where a text cannot be compiled")
NOT_CODE["d2s.parsing"] = "a tree is what `ast` makes of a text"
NOT_CODE["d2s.forks"] = "who waits for whom"


@pytest.fixture
def copy(tmp_path):
    """The package once more, to be edited."""
    shutil.copytree(PACKAGE, tmp_path / "d2s", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def run(copy):
    """tanh(1), and whether a compiler was needed for it."""
    env = {**os.environ, "PYTHONPATH": str(copy), "D2S_CACHE_DIR": str(copy / "kernels"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=copy, env=env, capture_output=True, text=True, check=True)
    return tuple(json.loads(done.stdout))


def edit(path, before, after):
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_an_edit_of_what_a_kernel_calls_is_compiled_and_one_of_what_it_does_not_call_is_not(copy):
    """tanh calls tanh_f32, which calls the polynomial EXPM1_F32; ERF_EVEN_F32 stands beside it."""
    right, _ = run(copy)
    texts = copy / "d2s" / "ops" / "vector_float32.py"
    edit(texts, "ERF_ODD_F32 = (0.6366195678710938,", "ERF_ODD_F32 = (0.7,")
    assert run(copy) == (right, False)
    edit(texts, "EXPM1_F32 = (0.5000000596046448,", "EXPM1_F32 = (0.6,")
    wrong, compiled = run(copy)
    assert wrong != right and compiled
    edit(texts, "EXPM1_F32 = (0.6,", "EXPM1_F32 = (0.5000000596046448,")
    assert run(copy) == (right, False)  # the first kernel is still there


def reached(module, seen):
    """Adds to `seen` all modules of d2s that a module imports, and these in turn."""
    if module not in seen:
        seen.add(module)
        for node in ast.walk(ast.parse(file_of(module).read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("d2s"):
                for name in (f"{node.module}.{alias.name}" for alias in node.names):
                    reached(name if file_of(name).exists() else node.module, seen)
    return seen


def file_of(module):
    return PACKAGE.parent.joinpath(*module.split(".")).with_suffix(".py")


@pytest.mark.parametrize("module", COMPILING)
def test_the_key_holds_the_source_of_all_that_compiles(module):
    found = cache._environment()
    missing = [m for m in reached(module, set()) if file_of(m).read_text(encoding="utf-8") not in found]
    assert set(missing) <= NOT_CODE.keys()
