"""The folder of objects: bounded, private, shared by racing processes, and never a reason to fail."""

import hashlib
import os
import pathlib
import pty
import signal
import subprocess
import sys
import time
import warnings

import pytest

from d2s import forks
from d2s.codegen import cache, store

ROOT = pathlib.Path(__file__).resolve().parents[2]
posix = pytest.mark.skipif(os.name != "posix", reason="users and modes are POSIX's")
USE = """
import sys, warnings
warnings.simplefilter("always")
import d2s
x = d2s.to_tensor([1.0, 2.0], stop_gradient=False)
for _ in range(4):
    y = (x * x + 2.0).sum()
d2s.to_tensor([1, 2], dtype="int32").prod()  # what Numba compiles
y.backward()
print(y.tolist(), x.grad.tolist(), "numba" in sys.modules)
"""
RIGHT = "9.0 [2.0, 4.0]"


def start(folder, code=USE, **environment):
    env = {**os.environ, "D2S_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, code=USE, **environment):
    """What a fresh process prints, and its warnings."""
    process = start(folder, code, **environment)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip(), err


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    assert run(folder) == (f"{RIGHT} True", "")
    return folder


def test_what_is_kept_is_found(tmp_path):
    store.keep("a", b"object" * 100, tmp_path)
    assert store.found("a", tmp_path) == b"object" * 100
    assert store.found("b", tmp_path) == b""


def test_the_checksum_knows_the_key(tmp_path):
    store.keep("a", b"object", tmp_path)
    os.rename(tmp_path / "a.o", tmp_path / "b.o")
    with pytest.warns(RuntimeWarning, match=r"b\.o is damaged and is compiled again"):
        assert store.found("b", tmp_path) == b""


def test_a_warm_process_runs_kernels_and_doors_without_numba(warm):
    assert run(warm) == (f"{RIGHT} False", "")


@posix
def test_the_folder_is_private(tmp_path):
    place = tmp_path / "deep" / "d2s"
    store.keep("a", b"object", place)
    assert place.stat().st_mode & 0o777 == 0o700
    assert (place / "a.o").stat().st_mode & 0o777 == 0o600


def used(place, name, when):
    os.utime(place / f"{name}.o", (when, when))


def test_what_was_not_used_for_longest_goes_first(tmp_path):
    for age, name in enumerate("abcdef"):
        store.keep(name, bytes(1000 - 32), tmp_path)
        used(tmp_path, name, time.time() - 10000 + age)
    store.found("a", tmp_path)  # a use counts
    store.shrink(tmp_path, 5000)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.o", "d.o", "e.o", "f.o"]


def test_below_the_limit_nothing_goes(tmp_path):
    for name in "abc":
        store.keep(name, bytes(968), tmp_path)
    store.shrink(tmp_path, 3000)
    assert len(store.entries(tmp_path)) == 3


def test_writing_keeps_the_folder_below_its_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(store, "LIMIT", 64_000)
    for k in range(200):
        store.keep(f"{k:03}", bytes(968), tmp_path)
        used(tmp_path, f"{k:03}", time.time() - 1000 + k)
    assert sum(e.size for e in store.entries(tmp_path)) <= 66_000
    assert store.found("199", tmp_path)


def test_the_modification_time_stays(tmp_path):
    store.keep("a", b"object", tmp_path)
    used(tmp_path, "a", 1e9)
    store.found("a", tmp_path)
    status = (tmp_path / "a.o").stat()
    assert status.st_mtime == 1e9
    assert status.st_atime > 1e9


def test_files_of_killed_processes_are_removed_and_those_of_living_ones_are_not(tmp_path):
    for name in (".1-old.tmp", ".2-new.tmp"):
        (tmp_path / name).write_bytes(b"part")
    os.utime(tmp_path / ".1-old.tmp", (1e9, 1e9))
    store.shrink(tmp_path, store.LIMIT)
    assert [p.name for p in tmp_path.iterdir()] == [".2-new.tmp"]


def test_a_process_killed_while_writing_leaves_no_entry(tmp_path):
    code = """
import os, signal
from d2s.codegen import store
os.replace = lambda *a, **k: os.kill(os.getpid(), signal.SIGKILL)
store.keep("a", b"object")
"""
    process = start(tmp_path, code)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert store.found("a", tmp_path) == b""
    (left,) = tmp_path.iterdir()
    assert left.name.endswith(".tmp")


def test_an_entry_evicted_while_it_is_looked_for_is_a_miss(tmp_path, monkeypatch):
    store.keep("a", b"object", tmp_path)
    monkeypatch.setattr(store, "_private", lambda path, at: (path.unlink(), os.open(path, os.O_RDONLY)))
    assert store.found("a", tmp_path) == b""


def test_an_entry_evicted_while_it_is_read_is_read_whole(tmp_path, monkeypatch):
    store.keep("a", b"object", tmp_path)
    monkeypatch.setattr(store, "_note_use", lambda handle, status: (tmp_path / "a.o").unlink())
    assert store.found("a", tmp_path) == b"object"


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o722])
@posix
def test_a_folder_others_can_write_to_is_not_used_and_said_so_once(warm, tmp_path, mode):
    for path in warm.glob("*.o"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    tmp_path.chmod(mode)
    out, err = run(tmp_path)
    assert out == f"{RIGHT} True"
    assert err.count("RuntimeWarning") == 1
    assert "can be written to by other users and is not used; `chmod 700` it" in err
    assert len(list(tmp_path.iterdir())) == len(list(warm.glob("*.o")))


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give a folder away")
def test_another_users_folder_is_not_used(tmp_path):
    os.chown(tmp_path, 12345, 12345)
    out, err = run(tmp_path)
    assert out == f"{RIGHT} True"
    assert err.count("RuntimeWarning") == 1 and "belongs to another user" in err
    assert not list(tmp_path.iterdir())


@posix
def test_an_entry_that_is_a_link_a_pipe_or_writable_by_others_is_not_loaded(tmp_path, quiet):
    store.keep("a", b"object", tmp_path)
    (tmp_path / "link.o").symlink_to(tmp_path / "a.o")
    os.mkfifo(tmp_path / "pipe.o")
    (tmp_path / "folder.o").mkdir()
    assert [store.found(name, tmp_path) for name in ("link", "pipe", "folder")] == [b""] * 3
    (tmp_path / "a.o").chmod(0o666)
    assert store.found("a", tmp_path) == b""


@posix
def test_writing_replaces_a_link_and_does_not_follow_it(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    place = tmp_path / "d2s"
    place.mkdir(mode=0o700)
    (place / "a.o").symlink_to(precious)
    store.keep("a", b"object", place)
    assert precious.read_text() == "mine"
    assert store.found("a", place) == b"object"


@posix
def test_a_folder_reached_by_a_link_is_judged_by_what_it_is(tmp_path):
    place = tmp_path / "real"
    place.mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(place)
    store.keep("a", b"object", tmp_path / "link")
    assert store.found("a", place) == b"object"


def test_a_full_disk_costs_a_compile_only(tmp_path, quiet, monkeypatch):
    class Full:
        def __enter__(self):
            return self

        def __exit__(self, *why):
            pass

        def write(self, data):
            raise OSError(28, "No space left on device")

    def opened(handle, mode):
        os.close(handle)
        return Full()

    monkeypatch.setattr(store, "open", opened, raising=False)
    store.keep("a", b"object", tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_place_that_cannot_be_a_folder_costs_a_compile_only():
    for folder in ("/dev/full", "/proc/nothing/d2s", "/dev/null/x"):
        assert run(folder) == (f"{RIGHT} True", "")


def test_a_home_that_does_not_exist(tmp_path):
    nowhere = tmp_path / "no" / "home"
    out, err = run("", HOME=str(nowhere), XDG_CACHE_HOME="")
    assert (out, err) == (f"{RIGHT} True", "")
    assert run("", HOME="/proc/nobody", XDG_CACHE_HOME="") == (f"{RIGHT} True", "")


def test_sixteen_processes_from_cold(tmp_path):
    processes = [start(tmp_path) for _ in range(16)]
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert out.startswith(RIGHT) and err == "", err
    assert all(p.suffix == ".o" for p in tmp_path.iterdir())
    assert run(tmp_path) == (f"{RIGHT} False", "")


def test_processes_that_load_while_another_evicts_and_clears(tmp_path):
    code = "from d2s.codegen import store\nimport time\nfor _ in range(150):\n    store.clear(); time.sleep(0.01)"
    evicting = start(tmp_path, code)
    processes = [start(tmp_path) for _ in range(4)]
    for process in [*processes, evicting]:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and err == "", err
        assert out == "" or out.startswith(RIGHT)


def test_a_good_file_that_is_no_object_is_compiled_again(tmp_path):
    """What proves itself and still cannot be loaded: a kernel of another system, say."""
    assert run(tmp_path)[0] == f"{RIGHT} True"
    for path in tmp_path.glob("*.o"):
        data = b"this is no object file"
        path.write_bytes(hashlib.sha256(path.stem.encode() + b"\0" + data).digest() + data)
    out, err = run(tmp_path)
    assert out == f"{RIGHT} True"
    assert "cannot be loaded and is compiled again" in err
    assert run(tmp_path) == (f"{RIGHT} False", "")


def test_the_key_knows_versions_compiler_and_cpu(monkeypatch):
    monkeypatch.setattr(cache, "_version", lambda package: f"{package} 1.2.3")
    cache._environment.cache_clear()
    found = cache._environment()
    monkeypatch.undo()
    cache._environment.cache_clear()
    for package in ("d2s", "numba", "llvmlite"):
        assert f"{package} 1.2.3" in found
    assert cache._environment() != found
    assert cache.cpu()[0] in found and "def object_of" in found and "def target_machine" in found


def test_a_failed_compile_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("D2S_CACHE_DIR", str(tmp_path))

    def broken():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.linked("never", broken, ["kernel"])
    assert not list(tmp_path.iterdir())
    assert not forks.linking._is_owned()


def test_a_forked_child_compiles_though_a_thread_held_the_lock():
    code = """
import os, sys, threading
from d2s import forks
forks.PATIENCE = 0.1
for lock in forks.capturing, forks.linking, forks.parsing:
    threading.Thread(target=lock.acquire).start()
child = os.fork()
if not child:
    os._exit(not all(lock.acquire(timeout=1) for lock in (forks.capturing, forks.linking, forks.parsing)))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run("/proc/nothing", code) == ("", "")


def test_a_fork_waits_for_what_others_import():
    code = """
import os, sys, threading, time
from d2s import forks
inside, imported = threading.Event(), []
def imports():
    with forks.importing:
        inside.set()
        time.sleep(0.3)
        imported.append(True)
threading.Thread(target=imports).start()
inside.wait()
child = os.fork()
if not child:
    with forks.importing:
        os._exit(not imported)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    assert run("/proc/nothing", code) == ("", "")


SLOW = """
import time
from d2s.codegen import cache
cache._Progress.PATIENCE = {patience}
def slow():
    time.sleep(0.3)
    raise SystemExit("done")
try:
    cache.linked("a", slow, [])
except SystemExit:
    pass
print("after")
"""


def on_a_terminal(code, folder):
    """What a terminal shows, byte for byte."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PYTHONPATH": str(ROOT), "D2S_CACHE_DIR": str(folder)}
    with subprocess.Popen([sys.executable, "-c", code], env=env, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:
                break
            if not part:
                break
            shown += part
        process.wait(timeout=60)
    os.close(ours)
    return shown.decode()


@posix
def test_a_terminal_shows_one_line_that_goes_away(tmp_path):
    shown = on_a_terminal(SLOW.format(patience=0.05), tmp_path)
    assert shown == "\rd2s: compiling kernels ... 1\r\x1b[Kafter\r\n"


@posix
def test_nothing_is_shown_of_what_is_quick(tmp_path):
    assert on_a_terminal(SLOW.format(patience=5), tmp_path) == "after\r\n"


def test_nothing_is_shown_where_there_is_no_terminal(tmp_path):
    assert run(tmp_path, SLOW.format(patience=0)) == ("after", "")
