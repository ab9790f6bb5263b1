"""Kernels on disk: a warm process imports no compiler, what is damaged is compiled again, any number of processes may race."""

import ast
import gc
import hashlib
import os
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s import parsing
from d2s.codegen import cache
from d2s.errors import InternalError

ROOT = pathlib.Path(__file__).resolve().parents[2]
USE = """
import sys, warnings
warnings.simplefilter("always")
import d2s
result = d2s.add(d2s.to_tensor(1.0), d2s.to_tensor(10.0)).numpy().tolist()
print(result, "d2s.codegen.typed_functions" in sys.modules)
"""


def start(folder, code=USE, **environment):
    env = {**os.environ, "D2S_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), **environment}
    return subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, code=USE, **environment):
    """What a fresh process prints, and its warnings."""
    process = start(folder, code, **environment)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out.strip(), err


def objects(folder):
    """The kernels in a folder; the launcher of eager code and the pool of threads are objects, too."""
    return [path for path in sorted(pathlib.Path(folder).glob("*.o")) if b"\0kernel\0" in path.read_bytes()]


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A folder with the one object USE needs."""
    folder = tmp_path_factory.mktemp("warm")
    assert run(folder) == ("11.0 True", "")
    assert len(objects(folder)) == 1
    return folder


@pytest.fixture
def copied(warm, tmp_path):
    path = tmp_path / objects(warm)[0].name
    path.write_bytes(objects(warm)[0].read_bytes())
    return path


def test_a_second_process_imports_no_compiler(warm):
    before = objects(warm)[0].stat().st_mtime_ns
    assert run(warm) == ("11.0 False", "")
    assert objects(warm)[0].stat().st_mtime_ns == before


def test_importing_d2s_imports_no_numba_and_compiles_nothing(tmp_path):
    code = "import sys, d2s; print('numba' in sys.modules)"
    assert run(tmp_path / "new", code) == ("False", "")
    assert not (tmp_path / "new").exists()


def test_what_captures_saves_and_declares_is_imported_when_asked_for(tmp_path):
    later = ("jit", "static", "onnx", "export", "capture", "convert", "ast_transforms")
    code = f"""import sys, d2s
print(*[name for name in {later} if f"d2s.{{name}}" in sys.modules])
print(d2s.jit.to_static is d2s.to_static, d2s.static.InputSpec.__name__, d2s.in_dynamic_mode())"""
    assert run(tmp_path, code) == ("True InputSpec True", "")


def test_it_works_without_docstrings_and_asserts(tmp_path):
    code = """import subprocess, sys
program = '''
import d2s
from d2s import callbacks, dataset, debug, hapi, io, jit, linalg, metric, onnx, static, utils, vision
assert False
x = d2s.ones([2, 3])
print(d2s.to_static(d2s.nn.ReLU())(x).sum().item(), d2s.nn.MSELoss()(x, x).item())
try:
    d2s.add(1, "a")
except d2s.errors.D2SError as error:
    print(error.code)
'''
subprocess.run([sys.executable, "-OO", "-c", program], check=True)"""
    assert run(tmp_path, code) == ("6.0 0.0\nD2S0001", "")


def test_importing_d2s_imports_little_else(tmp_path):
    """What makes it slow is what it pulls in: of others, a few modules of Python's own and llvmlite."""
    code = """import sys, numpy, llvmlite.binding
before = set(sys.modules)
import d2s
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))"""
    found = set(run(tmp_path, code)[0].split())
    assert not found & {
        "numba",
        "gast",
        "astor",
        "PIL",
        "multiprocessing",
        "pdb",
        "unittest",
        "asyncio",
        "http",
        "tarfile",
        "sqlite3",
        "xml",
        "cv2",
    }
    assert len(found) < 60


def test_the_first_texts_may_be_written_in_many_threads_at_once(tmp_path):
    """What llvmlite makes at its first use is made before: without that, four processes of ten lost this race."""
    code = """import sys, threading
sys.setswitchinterval(1e-9)
import d2s.codegen.typed_functions
from llvmlite import ir
start, failed = threading.Barrier(8), []
def written(n):
    text = ir.MetaDataString(ir.Module(), f"zz{n}")
    start.wait()
    try:
        text.get_reference()
    except KeyError as error:
        failed.append(error)
threads = [threading.Thread(target=written, args=(n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(failed))"""
    processes = [start(tmp_path, code) for _ in range(8)]
    assert [process.communicate(timeout=120) for process in processes] == [("0\n", "")] * 8


DAMAGE = {
    "empty": lambda data: b"",
    "only a checksum": lambda data: data[:32],
    "truncated": lambda data: data[: len(data) // 2],
    "shorter than a checksum": lambda data: data[:7],
    "garbage": lambda data: bytes(range(256)) * 20,
    "one bit": lambda data: data[:200] + bytes([data[200] ^ 1]) + data[201:],
    "a bit of the checksum": lambda data: bytes([data[0] ^ 1]) + data[1:],
    "longer": lambda data: data + b"\0",
}


@pytest.mark.parametrize("name", list(DAMAGE))
def test_a_damaged_entry_is_compiled_again_with_one_warning(copied, name):
    good = copied.read_bytes()
    copied.write_bytes(DAMAGE[name](good))
    out, err = run(copied.parent)
    assert out == "11.0 True"
    assert err.count("RuntimeWarning") == 1
    assert "damaged and is compiled again" in err
    assert run(copied.parent) == ("11.0 False", "")


def test_a_valid_checksum_of_something_else_is_no_kernel(copied):
    """An empty object that proves itself is still none."""
    copied.write_bytes(hashlib.sha256(b"").digest())
    out, _ = run(copied.parent)
    assert out.startswith("11.0")


def test_an_entry_that_is_a_folder_costs_a_compile_only(copied):
    copied.unlink()
    copied.mkdir()
    assert run(copied.parent)[0] == "11.0 True"


def test_a_folder_that_cannot_be_written_costs_a_compile_only(tmp_path):
    """A file where the folder should be: refused for root, too."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(blocked) == ("11.0 True", "")
    assert run(blocked / "below") == ("11.0 True", "")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc, which nobody can write")
def test_a_read_only_folder_costs_a_compile_only():
    assert run("/proc/self/d2s") == ("11.0 True", "")


def test_a_read_only_folder_is_read(copied):
    copied.parent.chmod(0o500)
    try:
        assert run(copied.parent) == ("11.0 False", "")
    finally:
        copied.parent.chmod(0o700)


@pytest.mark.skipif(os.name != "posix" or os.getuid() != 0, reason="only root can give a file away")
def test_another_users_entry_is_not_loaded(copied):
    os.chown(copied, 12345, 12345)
    assert run(copied.parent)[0] == "11.0 True"


def test_eight_processes_from_cold(tmp_path):
    processes = [start(tmp_path) for _ in range(8)]
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (out.strip(), err) == ("11.0 True", "") or (out.strip(), err) == ("11.0 False", "")
    assert len(objects(tmp_path)) == 1
    assert {path.suffix for path in tmp_path.iterdir()} == {".o"}  # no temporary file is left behind


def test_a_relative_or_home_folder(tmp_path):
    out, _ = run("", XDG_CACHE_HOME=str(tmp_path))
    assert out == "11.0 True"
    assert len(objects(tmp_path / "d2s")) == 1


def kernel(number):
    return f"def kernel(r, o):\n    r[o[0]] = {number}\n"


def test_the_key_is_text_dtype_and_name():
    address = cache.address(kernel(1), "f32")
    assert cache.address(kernel(1), "f32") == address
    assert cache.address(kernel(2), "f32") != address
    assert cache.address(kernel(1), "f64") != address
    execute = "def execute(a, b, c, d):\n    return 7\n"
    assert cache.address(kernel(1) + execute, "i64", "execute") != cache.address(kernel(1) + execute, "i64")


def test_eager_ops_of_one_pattern_share_a_kernel():
    """Shapes are no part of a kernel: sizes differ, the address does not."""
    d2s.add(d2s.to_tensor(1.0), d2s.to_tensor(1.0))  # the launcher of eager code, and the pool if this is shared
    d2s.exp(d2s.ones([40_000]))
    before = len(cache._loaded)
    for size in (1001, 1002, 1003):
        d2s.add(d2s.to_tensor(np.ones(size, "float32")), d2s.to_tensor(np.ones(size, "float32")))
    assert len(cache._loaded) <= before + 1


def test_threads_compile_a_kernel_once():
    text = kernel(time.time_ns())
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: cache.address(text, "f32"), range(8)))) == 1


def test_a_kernel_that_calls_python_is_refused():
    with pytest.raises(InternalError, match=r"D2S9001.*a kernel calls"):
        cache.address("def kernel(r, o):\n    print(r[o[0]])\n", "f32")


STEP = """
import d2s
from d2s import parsing
from d2s.codegen import cache
cache.available = lambda: CORES
net = d2s.nn.Sequential(d2s.nn.Conv2D(1, 3, 3), d2s.nn.ReLU(), d2s.nn.Flatten(), d2s.nn.Linear(108, 4))
y = d2s.to_static(lambda x: (d2s.exp(net(x)) @ d2s.ones([4, 2]), d2s.nn.functional.softmax(x, 2)))(d2s.ones([1, 1, 8, 8]))
"""


def test_kernels_of_a_plan_that_are_compiled_at_once_are_those_compiled_alone(tmp_path):
    found = []
    for cores in (1, 4):
        run(tmp_path / str(cores), STEP.replace("CORES", str(cores)))
        found.append({path.name: path.read_bytes() for path in objects(tmp_path / str(cores))})
    assert found[0] == found[1] and len(found[0]) > 3


class Slow:
    """What is collected late, by Python code that lets other threads run."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        sum(range(500))


def test_texts_are_parsed_by_many_threads_at_once():
    text = f"x = [{', '.join(f'f(a[{k}], b.c, d={k} * 2)' for k in range(200))}]"
    switching, thresholds = sys.getswitchinterval(), gc.get_threshold()

    def parsed(_):
        Slow()
        return ast.unparse(parsing.tree_of(text)) == text

    try:
        sys.setswitchinterval(1e-6)
        gc.set_threshold(5)
        with ThreadPoolExecutor(4) as pool:
            assert all(pool.map(parsed, range(100)))
    finally:
        sys.setswitchinterval(switching)
        gc.set_threshold(*thresholds)
