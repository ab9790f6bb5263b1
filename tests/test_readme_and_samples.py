"""What README and samples show runs as it stands."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parent.parent
SAMPLES = sorted((ROOT / "samples").glob("[0-9]*.py"))
SMALL = {"04_char_lstm": "10", "05_autoencoder": "5", "06_random_branch": "20", "07_resnet": "64", "08_transformer": "10"}
SMALL |= {"10_vae": "4"}
MNIST = pathlib.Path(os.environ.get("D2S_DATA_HOME") or "nowhere") / "mnist" / "train-images-idx3-ubyte.gz"


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


@pytest.mark.parametrize("path", [p for p in SAMPLES if p.stem[:2] not in ("02", "03")], ids=lambda p: p.stem)
def test_sample(path, tmp_path):
    """Each trains eagerly and static, and ends with an error where the bits differ."""
    small = [SMALL[path.stem]] if path.stem in SMALL else []
    assert run([str(path), *small], tmp_path)


@pytest.mark.parametrize("path", SAMPLES, ids=lambda p: p.stem)
def test_a_sample_is_short_begins_with_words_and_is_listed(path):
    text = path.read_text()
    assert len(text.splitlines()) < (80 if path.stem == "03_lenet" else 100)
    assert text.startswith('"""')
    assert f"`{path.name}`" in (ROOT / "README.md").read_text()


def lenet(folder, *arguments):
    """Accuracy in percent, and loss, of the LeNet sample."""
    printed = run([str(ROOT / "samples" / "03_lenet.py"), *arguments], folder)
    found = re.search(r"accuracy ([\d.]+)%, loss ([\d.]+)", printed)
    return float(found[1]), float(found[2])


def test_lenet_on_the_digits_that_come_along(tmp_path):
    accuracy, _ = lenet(tmp_path)
    assert accuracy > 80


@pytest.mark.skipif(not MNIST.exists(), reason="D2S_DATA_HOME holds no mnist/train-images-idx3-ubyte.gz")
def test_lenet_on_all_of_mnist(tmp_path):
    """The seed's figures: 97.95% and a loss of 0.060 behind one epoch."""
    accuracy, loss = lenet(tmp_path, "--full")
    assert accuracy >= 97.5
    assert loss <= 0.085


def test_the_main_job_is_done(tmp_path):
    """What `make demo` shows."""
    printed = run([str(ROOT / "samples" / "02_mnist.py")], tmp_path)
    assert "the parameters are equal bit for bit" in printed
    assert "reloaded in a process without the source: the same bits" in printed
    assert float(re.search(r"has not seen: ([\d.]+)%", printed)[1]) > 70
