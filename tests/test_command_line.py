"""`python -m d2s`: warmup, explain, cache, info; and that every code has a page whose example raises it."""

import doctest
import linecache
import os
import pathlib
import re
import subprocess
import sys

import pytest

from d2s import __main__ as command
from d2s.codegen import store
from d2s.errors import D2SError
from d2s.pages import PAGES

ROOT = pathlib.Path(__file__).resolve().parents[1]


def d2s(*words, folder):
    """Status, what is printed, and what goes to stderr."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "D2S_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", "d2s", *words], env=env, capture_output=True, text=True, check=False, cwd=folder
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kernels")
    assert d2s("warmup", "--dtypes", "float32", folder=folder)[0] == 0
    return folder


@pytest.mark.parametrize("code", list(PAGES))
def test_the_example_of_a_page_raises_its_code(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{code}.py"
    path.write_text(PAGES[code].example)
    linecache.checkcache(str(path))
    with pytest.raises(D2SError) as caught:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "example"})
    assert caught.value.code == code


@pytest.mark.parametrize("code", [code for code in PAGES if code.startswith("D2S1")])
def test_the_corrected_example_of_a_refused_capture_runs(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / f"{code}.py"
    path.write_text(PAGES[code].corrected)
    linecache.checkcache(str(path))
    assert "to_static" in path.read_text() and "assert" in path.read_text()
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "example"})
    command.main(["explain", code])
    assert PAGES[code].corrected.strip().splitlines()[-1] in capsys.readouterr().out


@pytest.mark.parametrize("code", list(PAGES))
def test_a_page_says_what_how_and_what_to_do(code, capsys):
    page = PAGES[code]
    assert page.meaning and page.way_out.endswith((".", "meanwhile.")) and page.example.startswith("\n")
    assert max(map(len, page.way_out.splitlines())) <= 125
    assert command.main(["explain", code]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{code}: {page.meaning}\n")
    assert page.example.strip().splitlines()[0] in shown and page.way_out.splitlines()[0] in shown


def test_every_code_in_the_source_has_a_page_and_every_page_a_use():
    text = "\n".join(
        p.read_text() for p in (ROOT / "d2s").rglob("*.py") if p.name not in ("pages.py", "errors.py", "__main__.py")
    )
    assert set(re.findall(r"D2S\d{4}", text)) == set(PAGES)


def test_the_example_at_its_top_runs():  # pytest looks for none in a __main__.py
    assert doctest.testmod(command) == doctest.TestResults(0, 1)


def test_explain_takes_any_case(capsys):
    assert command.main(["explain", "d2s0002"]) == 0
    assert capsys.readouterr().out.startswith("D2S0002: shapes")


@pytest.mark.parametrize(
    ("wrong", "near"), [("D2S002", "D2S0002"), ("D2S30001", "D2S3001"), ("D2S9999", "D2S9001"), ("2001", "D2S2001")]
)
def test_an_unknown_code_suggests_the_nearest(wrong, near, capsys):
    assert command.main(["explain", wrong]) == 1
    shown = capsys.readouterr().out
    assert f"{wrong} is no code of d2s" in shown and near in shown


def test_explain_alone_lists_all(capsys):
    assert command.main(["explain"]) == 0
    assert [line[:7] for line in capsys.readouterr().out.splitlines()] == list(PAGES)


def test_warmup_makes_kernels_once(warm):
    status, out, err = d2s("warmup", "--dtypes", "float32", folder=warm)
    assert (status, err) == (0, "")
    assert re.search(r"\d+ kernels of \d+ ops are ready, 0 objects of them new", out)
    assert "\r" not in out


def test_after_warmup_common_calls_need_no_numba(warm):
    code = """
import sys, d2s
x = d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
b = d2s.to_tensor([1.0, 2.0])
for _ in range(3):
    y = (d2s.relu(x @ x + b) * 2.0).sum()
y.backward()
print("numba" in sys.modules)
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "D2S_CACHE_DIR": str(warm)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() in ("False", "True"), done.stderr
    assert done.stdout.strip() == "False"


def test_warmup_refuses_a_dtype_it_does_not_know(tmp_path):
    status, _, err = d2s("warmup", "--dtypes", "complex64", folder=tmp_path)
    assert status != 0 and "D2S0003" in err


def test_cache_shows_and_clears(warm, tmp_path):
    for path in warm.glob("*.o"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    count = len(store.entries(tmp_path))
    status, out, _ = d2s("cache", folder=tmp_path)
    assert status == 0 and f"folder   {tmp_path}" in out and f"kernels  {count}" in out and " MiB of at most 256.0 MiB" in out
    status, out, _ = d2s("cache", "--clear", folder=tmp_path)
    assert status == 0 and f"removed  {count} kernels" in out and "kernels  0" in out
    assert not list(tmp_path.iterdir())


def test_cache_of_a_folder_that_is_not_there(tmp_path):
    assert "kernels  0" in d2s("cache", "--clear", folder=tmp_path)[1]


def test_info_names_versions_cpu_and_threads(capsys):
    assert command.main(["info"]) == 0
    rows = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert {"d2s", "python", "numpy", "numba", "llvmlite", "LLVM", "CPU", "threads"} <= set(rows)
    assert int(rows["threads"]) >= 1


def test_without_a_command_it_says_how(tmp_path):
    status, out, err = d2s(folder=tmp_path)
    assert (status, err) == (0, "") and "usage: python -m d2s" in out and "what a saved model is" in out


def test_a_command_there_is_not_is_an_error(tmp_path):
    status, _, err = d2s("inpsect", folder=tmp_path)
    assert status == 2 and "invalid choice: 'inpsect'" in err


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_who_reads_may_stop_early(tmp_path):
    words, env = [sys.executable, "-m", "d2s", "explain"], {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=tmp_path) as program:
        program.stdout.close()
        assert (program.stderr.read(), program.wait()) == (b"", 1)


def test_a_terminal_gets_a_bar(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    command._report(5, 10, "add")
    command._report(10, 10, "sum")
    shown = capsys.readouterr().out
    assert "[###############               ] 5/10 add" in shown
    assert shown.endswith("\r\x1b[K")
