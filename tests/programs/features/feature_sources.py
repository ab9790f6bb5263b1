"""Sources."""

import importlib
import linecache
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest
from feature_rows import rows_of, t

import d2s

row = rows_of("Sources")
ROOT = pathlib.Path(d2s.__file__).parent.parent
TEXT = "def f(x):\n    if x.sum() > 0:\n        return x * {scale}\n    return x - 1\n"
USE = """
try:
    print([d2s.to_static(f)(d2s.to_tensor([v])).numpy().tolist() for v in (1.0, -1.0)])
except d2s.errors.CaptureError as error:
    print(error.code)
"""


def _said(arguments, text=""):
    """What a Python of its own prints last."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *arguments], input=text, capture_output=True, text=True, env=environment, check=False
    )
    lines = done.stdout.split()
    assert lines, done.stderr
    if lines[-1].startswith("D2S"):
        return lines[-1]
    assert done.stdout.strip().endswith("[[2.0], [-2.0]]"), done.stdout + done.stderr
    return None


def _right(function, scale=2.0):
    for v in (1.0, -1.0):
        found = d2s.to_static(function)(t([v])).numpy().tolist()
        assert found == [v * scale if v > 0 else v - 1], found


@row("module")
def in_a_module(x):
    return x * 2 if x.sum() > 0 else x - 1


@row.check("REPL (before Python 3.13: where it has readline)")
def in_the_repl():
    """As typed lines: what the REPL compiles, and what readline keeps of it."""
    readline = pytest.importorskip("readline")
    scope = {}
    for text in ("def f(x):\n    return x\n", TEXT.format(scale=2.0), "f = f\n"):
        for line in text.splitlines():
            readline.add_history(line)
        exec(compile(text, "<stdin>", "single"), scope)
    text = ""
    _right(scope["f"])


@row.check("REPL without readline, before Python 3.13", refused="D2S1005")
def in_a_bare_repl():
    if sys.version_info >= (3, 13):
        return "D2S1005"
    return _said(["-i", "-q"], "import d2s\n" + TEXT.format(scale=2) + "\n" + USE.strip() + "\n\n")


@row.check("`python -c`")
def in_a_command():
    return _said(["-c", "import d2s\n" + TEXT.format(scale=2) + USE])


@row.check("exec'd string that a caller still holds")
def in_a_held_string():
    text, scope = TEXT.format(scale=2), {}
    exec(text, scope)
    _right(scope["f"])


@row.check("exec'd string that nobody holds any more", refused="D2S1005")
def in_a_string():
    scope = {}
    exec(TEXT.format(scale=2), scope)
    try:
        _right(scope["f"])
    except d2s.errors.CaptureError as error:
        return error.code
    return None


@row.check("exec'd string whose text stands in linecache")
def in_a_registered_string():
    text, scope = TEXT.format(scale=2), {}
    linecache.cache["<features>"] = len(text), None, text.splitlines(True), "<features>"
    exec(compile(text, "<features>", "exec"), scope)
    _right(scope["f"])


@row.check("notebook cell redefined")
def in_a_cell():
    scope = {}
    for n, scale in enumerate((2.0, 3.0)):
        text, name = TEXT.format(scale=scale), f"<ipython-input-{n}-features>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name
        exec(compile(text, name, "exec"), scope)
        _right(scope["f"], scale)


@row.check("two lambdas on one line")
def two_lambdas():
    pair = (lambda x: x * 2.0 if x.sum() > 0 else x - 1), (lambda x: x * 3.0 if x.sum() > 0 else x - 1)
    _right(pair[0], 2.0)
    _right(pair[1], 3.0)


@row.check("a function edited and reloaded")
def edited():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "features_edited.py")
        path.write_text(TEXT.format(scale=2.0))
        sys.path.insert(0, folder)
        try:
            module = importlib.import_module("features_edited")
            _right(module.f, 2.0)
            path.write_text("# edited\n" + TEXT.format(scale=30.0))
            importlib.invalidate_caches()
            _right(importlib.reload(module).f, 30.0)
        finally:
            sys.path.remove(folder)
            sys.modules.pop("features_edited", None)
