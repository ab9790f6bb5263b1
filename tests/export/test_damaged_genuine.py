"""Paddle's own files, damaged: a FormatError or a model, in time and in memory that go with the file's size.

`D2S_SOAK=50000` tries that many in all (`make soak-files`).
"""

import contextlib
import io
import random
import signal
import time
import tracemalloc
import zipfile
from pathlib import Path

import pytest

import d2s
from d2s.errors import FormatError
from d2s.export import protobuf
from tests.export.test_genuine import GENUINE, MODELS
from tests.export.test_paddle_safety import SHARES, SOAK, SUBJECTS, exchange, mutated

MODELS_TRIED = [("2.6.2", name) for name in MODELS["2.6.2"]] + [("1.8.5", name) for name in MODELS["1.8.5"]]
STATES = sorted((Path(__file__).parents[1] / "checkpoint").glob("paddle-*"))
ROUNDS = max(8, SOAK)
TRACED = 7  # every such file's memory is watched, which takes three times as long
SECONDS, PER_BYTE, BESIDES = 20, 400, 8 << 20  # what one file may take; what it holds becomes Python objects


@contextlib.contextmanager
def bounded(size, traced=True):
    """Refuses what takes long, or more memory than a file of this size explains."""

    def late(*_):
        raise AssertionError(f"still not read after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    if traced:
        tracemalloc.start()
    try:
        yield
        assert not traced or tracemalloc.get_traced_memory()[1] < BESIDES + PER_BYTE * size
    finally:
        tracemalloc.stop()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("version", "name"), MODELS_TRIED)
def test_damaged_models_of_paddle(version, name, tmp_path):
    with zipfile.ZipFile(GENUINE / f"paddle-{version}.zip") as held:
        held.extractall(tmp_path, [n for n in held.namelist() if n.split("/", 1)[1].startswith((f"{name}/", f"{name}.pd"))])
    path = tmp_path / f"paddle-{version}" / name
    files = sorted(path.iterdir() if path.is_dir() else path.parent.glob(f"{name}.pd*"))
    together = {"params_filename": "combined"} if (path / "combined").exists() else {}
    whole, generator, refusals = {file: file.read_bytes() for file in files}, random.Random(name), 0
    size = sum(map(len, whole.values()))
    described = next(file for file in files if file.name == "__model__" or file.suffix == ".pdmodel")
    for round in range(ROUNDS):
        file = described if round % 3 else generator.choice(files)
        data = mutated(whole[file], generator)
        if file is described and round % 2:
            message = protobuf.decode("ProgramDesc", whole[file])
            exchange(message, generator)
            data = protobuf.encode("ProgramDesc", message)
        file.write_bytes(data)
        with bounded(size + len(data), traced=round % TRACED == 0):
            try:
                d2s.jit.load(str(path), **together)
            except FormatError as error:
                assert error.code == "D2S3001"
                refusals += 1
        file.write_bytes(whole[file])
    assert refusals >= ROUNDS // 9
    d2s.jit.load(str(path), **together)


@pytest.mark.parametrize("file", STATES, ids=lambda file: file.name)
def test_damaged_states_of_paddle(file):
    whole, generator, refusals = file.read_bytes(), random.Random(file.name), 0
    for round in range(ROUNDS):
        data = mutated(whole, generator)
        with bounded(len(data), traced=round % TRACED == 0):
            try:
                d2s.load(io.BytesIO(data))
            except FormatError:
                refusals += 1
    assert refusals >= ROUNDS // 9


def test_a_soak_tries_as_many_files_as_it_says():
    assert 2 * len(SUBJECTS) + len(MODELS_TRIED) + len(STATES) == SHARES


def test_the_bounds_are_felt():
    with pytest.raises(AssertionError), bounded(10):
        bytearray(BESIDES + 10 * PER_BYTE)
    signal.signal(signal.SIGALRM, signal.getsignal(signal.SIGALRM))
    with pytest.raises(AssertionError, match="still not read"), bounded(10):
        signal.alarm(1)
        time.sleep(3)
