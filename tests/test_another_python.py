"""Which other Python `make test` takes: one that runs, is of another minor version, and is what its name says."""

import sys

import pytest

from tests import another_python

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the Pythons here are shell scripts")


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """Puts scripts that look like Pythons on the PATH: names, and what they print."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))

    def plant(name, said, status=0):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {said}\nexit {status}\n")
        path.chmod(0o755)
        return str(path)

    return plant


def test_none_is_found(planted):
    planted("python3.9", "3 9")
    planted("python3.11", "3 11")
    assert another_python.another(11) == ""


def test_the_oldest_is_taken(planted):
    planted("python3.13", "3 13")
    wanted = planted("pyenv/versions/3.10.7/bin/python", "3 10")
    assert another_python.another(11) == wanted


def test_one_that_does_not_run_or_is_another_is_passed_over(planted):
    planted("python3.10", "3 10", status=127)
    planted("python3.13", "3 12")
    wanted = planted("python3.12", "3 12")
    assert another_python.another(11) == wanted


def test_this_one_can_be_told():
    assert another_python.is_python(sys.executable, sys.version_info[1])
    assert not another_python.is_python(sys.executable, 9)
    assert not another_python.is_python("/nowhere/python", 9)
