"""Prints the path of a Python that d2s supports and that is another than the one this runs under; nothing if there is none.

Looked for on the PATH and among pyenv's versions; the oldest comes first, then the newest.
"""

import os
import pathlib
import shutil
import subprocess
import sys

MINORS = (10, 13, 12, 11)


def candidates(minor):
    """Paths that may be Python 3.minor."""
    yield shutil.which(f"python3.{minor}")
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    yield from sorted(root.glob(f"versions/3.{minor}.*/bin/python"))


def is_python(path, minor):
    """Whether it runs, is what it is called, and can make environments."""
    text = "import ensurepip, sys, venv; print(*sys.version_info[:2])"
    try:
        done = subprocess.run([path, "-c", text], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and done.stdout.split() == ["3", str(minor)]


def another(current):
    """The first found that is not `current`, a minor version."""
    found = ((path, minor) for minor in MINORS if minor != current for path in candidates(minor))
    return next((str(path) for path, minor in found if path and is_python(path, minor)), "")


if __name__ == "__main__":
    print(another(sys.version_info[1]))
