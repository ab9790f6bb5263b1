"""DataLoader with workers: the same batches, and an end of every process, whatever happens to whom."""

import itertools
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import d2s
from d2s.errors import WorkerError
from d2s.io import DataLoader, Dataset, IterableDataset, blocks, get_worker_info

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="datasets of tests are handed over by fork")


class Made(Dataset):
    def __init__(self, make, n=6):
        self.make, self.n = make, n

    def __getitem__(self, index):
        return self.make(index)

    def __len__(self):
        return self.n


def big(index):
    return np.full(9000, index, "float32")


def values(batches):
    return [[part.tolist() if isinstance(part, d2s.Tensor) else part for part in batch] for batch in batches]


def drawn(workers, **more):
    d2s.seed(11)
    dataset = Made(lambda i: (i, d2s.rand([2]), f"{i}"), 13)
    loader = DataLoader(dataset, batch_size=2, shuffle=True, num_workers=workers, **more)
    return [values(loader), values(loader)]


def test_batches_are_the_same_whoever_fetches_them():
    alone = drawn(0)
    assert drawn(3) == drawn(1, prefetch_factor=1) == drawn(2, use_shared_memory=False) == alone
    assert drawn(2, persistent_workers=True) == alone
    assert alone[0] != alone[1]


def test_nests_come_as_they_are():
    def collate(samples):
        return {"a": np.stack(samples), "b": (1, None, "x"), "c": d2s.to_tensor([2.0]), "d": [np.broadcast_to(1.0, [3000])]}

    found = next(iter(DataLoader(Made(big), batch_size=2, collate_fn=collate, num_workers=1)))
    assert (found["a"].shape, found["b"], found["c"].tolist()) == ([2, 9000], [1, None, "x"], [2.0])
    assert found["d"][0].fill_(3.0)[2999].item() == 3.0


@pytest.mark.parametrize("shared", [True, False])
def test_batches_may_be_kept_and_changed(shared):
    loader = DataLoader(Made(big, 40), batch_size=2, num_workers=2, use_shared_memory=shared)
    kept = [batch.add_(d2s.to_tensor(0.5)) for batch in loader]
    assert [batch.numpy()[:, [0, -1]].tolist() for batch in kept] == [[[k + 0.5] * 2, [k + 1.5] * 2] for k in range(0, 40, 2)]


def test_blocks_are_used_again_and_larger_ones_take_their_place():
    before = len(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd") else 0
    loader = DataLoader(Made(lambda i: np.full(9000 * (i // 20 + 1), i), 60), num_workers=1)
    descriptors = set()
    for number, batch in enumerate(loader):
        assert batch[0, 0].item() == batch[0, -1].item() == number
        descriptors.add(len(os.listdir("/proc/self/fd")) - before if before else 0)
    assert max(descriptors) < 12


def test_the_arrays_of_a_parcel_are_the_blocks_memory():
    writer, reader = blocks.Writer(), blocks.Reader()
    first = reader.unpacked(*writer.packed(big(1)))
    writer.take_back(reader.take_freed())
    second = reader.unpacked(*writer.packed(big(2)))
    assert (first[0], second[0], len(writer.blocks)) == (1, 2, 2)
    where, _ = first.ctypes.data, first.fill(7)
    assert 7 in np.frombuffer(writer.blocks[0][:4].tobytes(), "float32")
    del first
    writer.take_back(reader.take_freed())
    assert reader.unpacked(*writer.packed(big(3))).ctypes.data == where


def test_workers_know_who_they_are_and_have_random_numbers_of_their_own():
    def sample(index):
        info = get_worker_info()
        return info.id, info.num_workers, len(info.dataset), info.seed % 1000003, random.random(), np.random.rand(), os.getpid()

    found = list(DataLoader(Made(sample), num_workers=3))
    assert [batch[0].item() for batch in found] == [0, 1, 2, 0, 1, 2]
    assert {batch[1].item() for batch in found} == {3}
    assert {batch[2].item() for batch in found} == {6}
    for column, distinct in ((3, 3), (4, 6), (5, 6), (6, 3)):
        assert len({batch[column].item() for batch in found}) == distinct
    assert get_worker_info() is None
    assert os.getpid() not in {batch[6].item() for batch in found}


def test_worker_init_fn(tmp_path):
    list(DataLoader(Made(int), num_workers=2, worker_init_fn=lambda id: (tmp_path / str(id)).touch()))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1"]
    with pytest.raises(ZeroDivisionError):
        list(DataLoader(Made(int), num_workers=2, worker_init_fn=lambda id: 1 // id))


class Stream(IterableDataset):
    """0 to n - 1, each by one of the workers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        return iter(range(info.id, self.n, info.num_workers))


@pytest.mark.parametrize("persistent", [False, True])
def test_streams_end_when_those_of_all_workers_have(persistent):
    loader = DataLoader(Stream(7), batch_size=2, num_workers=3, persistent_workers=persistent)
    for _ in range(2):
        assert [batch.tolist() for batch in loader] == [[0, 3], [1, 4], [2, 5], [6]]


class Odd(Exception):
    """What cannot be pickled and unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def failing(error):
    def make(index):
        if index == 3:
            raise error
        return index

    return make


def test_exceptions_are_raised_with_the_workers_traceback():
    batches = iter(DataLoader(Made(failing(ValueError("three"))), num_workers=2))
    assert [next(batches).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(ValueError, match="three") as caught:
        next(batches)
    assert "in worker 1 of a DataLoader" in str(caught.value.__cause__)
    assert "in make\n    raise error" in str(caught.value.__cause__)
    assert not multiprocessing.active_children()


def test_exceptions_that_cannot_be_handed_over_are_told():
    with pytest.raises(WorkerError, match="Odd: 1 and 2"):
        list(DataLoader(Made(failing(Odd(1, 2))), num_workers=1))
    with pytest.raises(d2s.errors.ShapeError, match="D2S0002"):
        list(DataLoader(Made(np.zeros), batch_size=2, num_workers=1))
    with pytest.raises(RuntimeError):
        list(DataLoader(Made(failing(StopIteration())), num_workers=1))


ENDS = {
    "exit": (lambda: os._exit(3), "ended with exit code 3"),
    "sys.exit": (lambda: sys.exit(4), "ended with exit code 4"),
    "kill": (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by SIGKILL"),
    "terminate": (lambda: os.kill(os.getpid(), signal.SIGTERM), "killed by SIGTERM"),
}


@pytest.mark.parametrize("case", list(ENDS))
def test_a_worker_that_ends_is_an_error(case):
    act, message = ENDS[case]
    batches = iter(DataLoader(Made(lambda i: act() if i == 3 else i), num_workers=2))
    assert [next(batches).item() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(WorkerError, match=message):
        next(batches)
    assert not multiprocessing.active_children()


def test_a_worker_that_takes_too_long_is_an_error():
    started = time.monotonic()
    with pytest.raises(WorkerError, match=r"within 0\.2 seconds"):
        next(iter(DataLoader(Made(lambda i: time.sleep(60 * (i == 0))), num_workers=1, timeout=0.2)))
    assert time.monotonic() - started < 10
    assert not multiprocessing.active_children()


def test_no_process_is_left_by_an_iteration_left_early():
    shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
    batches = iter(DataLoader(Made(big, 1000), num_workers=2))
    batch = next(batches)
    assert len(multiprocessing.active_children()) == 2
    del batches
    assert not multiprocessing.active_children()
    assert batch.shape == [1, 9000]  # whose memory outlives the worker
    assert not shared or set(os.listdir("/dev/shm")) <= shared


def test_persistent_workers_stay_also_when_an_iteration_is_left_early():
    loader = DataLoader(Made(lambda i: (i, os.getpid()), 9), num_workers=2, persistent_workers=True)
    first = list(itertools.islice(loader, 3))
    again = list(loader)
    assert [batch[0].item() for batch in again] == list(range(9))
    assert {batch[1].item() for batch in again} == {batch[1].item() for batch in first}
    stale, fresh = iter(loader), iter(loader)
    next(stale)
    next(fresh)
    with pytest.raises(WorkerError, match="later one"):
        next(stale)
    assert [batch[0].item() for batch in fresh] == list(range(1, 9))
    del loader
    assert not multiprocessing.active_children()


def test_requests_and_answers_larger_than_a_pipe():
    loader = DataLoader(Made(big, 40000), batch_size=20000, collate_fn=lambda found: "x" * 5_000_000, num_workers=1)
    loader.dataset.make = int
    assert [len(batch) for batch in loader] == [5_000_000] * 2


PROGRAM = """
import multiprocessing, time
import numpy as np
import d2s

class Slow(d2s.io.Dataset):
    def __getitem__(self, index):
        time.sleep(0.01)
        return d2s.exp(d2s.to_tensor(np.zeros(40000, "float32")))

    def __len__(self):
        return 100000

d2s.set_num_threads(2)
for part in range(3):
    d2s.exp(d2s.to_tensor(np.zeros(1 << 20, "float32")))  # so that there are threads to fork with
loader = d2s.io.DataLoader(Slow(), batch_size=1, num_workers=2)
for number, batch in enumerate(loader):
    assert batch.tolist() == [[1.0] * 40000]
    if not number:
        print(*[worker.pid for worker in multiprocessing.active_children()], flush=True)
"""


def gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="looks at /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_the_program(number, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command, environment = [sys.executable, str(tmp_path / "program.py")], os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as run:
        pids = [int(pid) for pid in run.stdout.readline().split()]
        assert len(pids) == 2
        if number == signal.SIGINT:
            os.killpg(run.pid, number)  # as a terminal does
        else:
            os.kill(run.pid, number)
        said = run.communicate(timeout=30)[1]
    assert run.returncode == -number
    assert said.count("Traceback") == (number == signal.SIGINT)
    until = time.monotonic() + 20
    while not all(map(gone, pids)):
        assert time.monotonic() < until, "a worker lives on"
        time.sleep(0.01)
