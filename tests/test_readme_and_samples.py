"""What README and samples show runs as it stands."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "samples").glob("[0-9]*.py"))


def run(arguments, folder):
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_readme(tmp_path):
    (tmp_path / "readme.py").write_text("\n".join(re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)))
    printed = run(["readme.py"], tmp_path)
    assert "equal: 1 output, 2 gradients" in printed
    assert printed.count("Tensor(shape=[1, 2], dtype=float32") == 2
    assert "[[ 0.28085375, -0.13950655]]" in printed
    assert sorted(p.name for p in tmp_path.glob("settle*")) == ["settle.pdiparams", "settle.pdiparams.info", "settle.pdmodel"]


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_sample(path, tmp_path):
    assert len(path.read_text().splitlines()) < 100
    assert run([str(path)], tmp_path)


def test_the_main_job_is_done(tmp_path):
    printed = run([str(ROOT / "samples" / "02_mnist.py")], tmp_path)
    assert "the parameters are equal bit for bit" in printed
    assert "reloaded in a process without the source: the same bits" in printed
    assert float(re.search(r"has not seen: ([\d.]+)%", printed)[1]) > 70
