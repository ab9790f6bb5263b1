"""The pool of threads: every chunk once, by no more threads than allowed; through forks, ends of processes and signals."""

import ctypes
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import d2s
from d2s.codegen import cache, cores, threads
from d2s.codegen.host import native_object
from d2s.codegen.threads_text import MOST
from d2s.errors import ArgumentError

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PARALLEL = threads._parallel() is not None
pool = pytest.mark.skipif(not PARALLEL, reason="no pool on this system")
COUNTS = [0, 1, 2, 3, 7, 64, 1000, 1 << 62, (1 << 63) - 1]

PARTS = """
declare void @d2s_fork(ptr, ptr, ptr, i64, i64)
declare i64 @pthread_self()
declare i32 @sched_yield()

; r: grain, then for each chunk how often it was done, lo, hi, by whom
define i64 @note(ptr %r, ptr %o, i64 %lo, i64 %hi) {
  %grain = load i64, ptr %r
  %k = sdiv i64 %lo, %grain
  %rows = getelementptr i64, ptr %r, i64 1
  %row = getelementptr [4 x i64], ptr %rows, i64 %k
  %lo_at = getelementptr i64, ptr %row, i64 1
  %hi_at = getelementptr i64, ptr %row, i64 2
  %who_at = getelementptr i64, ptr %row, i64 3
  %who = call i64 @pthread_self()
  %done = atomicrmw add ptr %row, i64 1 monotonic
  store i64 %lo, ptr %lo_at
  store i64 %hi, ptr %hi_at
  store i64 %who, ptr %who_at
  ret i64 0
}

; r: how many are inside, how many are to meet, who; each waits for the others, but not for ever
define i64 @meet(ptr %r, ptr %o, i64 %lo, i64 %hi) {
entry:
  %all_at = getelementptr i64, ptr %r, i64 1
  %all = load i64, ptr %all_at
  %own = add i64 %lo, 2
  %who_at = getelementptr i64, ptr %r, i64 %own
  %who = call i64 @pthread_self()
  store i64 %who, ptr %who_at
  %came = atomicrmw add ptr %r, i64 1 seq_cst
  br label %wait
wait:
  %k = phi i64 [0, %entry], [%k1, %more]
  %here = load atomic i64, ptr %r seq_cst, align 8
  %met = icmp sge i64 %here, %all
  br i1 %met, label %out, label %more
more:
  %y = call i32 @sched_yield()
  %k1 = add i64 %k, 1
  %patient = icmp slt i64 %k1, 3000000
  br i1 %patient, label %wait, label %out
out:
  ret i64 0
}

; r: per piece of the outer job the r of an inner one
define i64 @nested(ptr %r, ptr %o, i64 %lo, i64 %hi) {
  %inner_at = getelementptr ptr, ptr %r, i64 %lo
  %inner = load ptr, ptr %inner_at
  call void @d2s_fork(ptr @note, ptr %inner, ptr %o, i64 20, i64 3)
  ret i64 0
}

; r: the floating-point state each piece sees
define i64 @floats(ptr %r, ptr %o, i64 %lo, i64 %hi) {
  %word = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  %state = load i32, ptr %word
  %settings = and i32 %state, 65472
  %wide = zext i32 %settings to i64
  %at = getelementptr i64, ptr %r, i64 %lo
  store i64 %wide, ptr %at
  %slow = call i64 @linger(ptr null, ptr null, i64 0, i64 20000)
  ret i64 0
}
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse2.pause()

; the caller's own state set, a job, the caller's state as it then is
define i64 @floats_behind(ptr %r, i64 %count, i32 %state) {
  %word = alloca i32
  %before = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %before)
  store i32 %state, ptr %word
  call void @llvm.x86.sse.ldmxcsr(ptr %word)
  call void @d2s_fork(ptr @floats, ptr %r, ptr null, i64 %count, i64 1)
  call void @llvm.x86.sse.stmxcsr(ptr %word)
  call void @llvm.x86.sse.ldmxcsr(ptr %before)
  %found = load i32, ptr %word
  %wide = zext i32 %found to i64
  ret i64 %wide
}

; some work, as long as the chunk
define i64 @linger(ptr %r, ptr %o, i64 %lo, i64 %hi) {
entry:
  br label %next
next:
  %k = phi i64 [%lo, %entry], [%k1, %next]
  call void @llvm.x86.sse2.pause()
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %hi
  br i1 %more, label %next, label %out
out:
  ret i64 0
}

define void @many(ptr %part, ptr %r, i64 %count, i64 %grain, i64 %times) {
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%k1, %next]
  call void @d2s_fork(ptr %part, ptr %r, ptr null, i64 %count, i64 %grain)
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %times
  br i1 %more, label %next, label %out
out:
  ret void
}
"""
NAMES = ["note", "meet", "nested", "floats", "floats_behind", "linger", "many"]
WORD, ADDRESS = ctypes.c_int64, ctypes.c_void_p


def loaded():
    text = PARTS if PARALLEL else "".join(f for f in PARTS.split("\n\n") if "x86" not in f)
    names = [name for name in NAMES if f"@{name}(" in text]
    return cache.linked(
        f"parts of test_threads\n{text}", lambda: native_object(text), names, imports={"d2s_fork": threads.fork()}
    )


def many(part, r, count, grain, times=1):
    function = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS, WORD, WORD, WORD)(loaded()["many"])
    function(loaded()[part], None if r is None else r.ctypes.data, count, grain, times)


def notes(count, grain):
    """Room for what `note` writes: the grain, and a row of a number, lo, hi and a thread per chunk."""
    return np.array([grain, *[0] * (4 * -(-count // grain))], np.int64)


def check_notes(found, count, grain, times=1):
    rows = found[1:].reshape(-1, 4)
    los = list(range(0, count, grain))
    assert rows[:, 0].tolist() == [times] * len(los)
    assert rows[:, 1].tolist() == los
    assert rows[:, 2].tolist() == [min(lo + grain, count) for lo in los]
    return set(rows[:, 3].tolist())


@pytest.fixture(params=[1, 2, 3, 8])
def number(request):
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param if PARALLEL else 1
    threads.set_num_threads(before)


@pytest.fixture
def two():
    before = threads.get_num_threads()
    threads.set_num_threads(2)
    yield
    threads.set_num_threads(before)


def grains(count):
    return {g for g in (1, 2, 3, 5, 64, 1 << 61, 1 << 62, (1 << 63) - 1) if -(-count // g) <= 1000}


# jobs


@pytest.mark.parametrize(("count", "grain"), [(c, g) for c in COUNTS for g in sorted(grains(c))])
def test_every_chunk_is_done_once(count, grain, number):
    found = notes(count, grain)
    many("note", found, count, grain)
    assert len(check_notes(found, count, grain)) <= number


def test_nothing_to_do(number):
    many("note", None, -5, 3)


@pool
def test_so_many_threads_meet_and_no_more(number):
    found = np.zeros(2 + 50, np.int64)
    found[1] = number
    many("meet", found, 50, 1)
    assert found[0] == 50
    assert len(set(found[2:])) == number


@pytest.mark.parametrize("count", [0, 1, 5, 1000])
def test_the_serial_twin_does_the_same(count):
    found = notes(count, 3)
    twin = ctypes.CFUNCTYPE(None, ADDRESS, ADDRESS, ADDRESS, WORD, WORD)(threads.serial())
    twin(loaded()["note"], found.ctypes.data, None, count, 3)
    assert len(check_notes(found, count, 3)) == min(count, 1)


def test_many_jobs(number):
    for count in (2, 40):
        found = notes(count, 1)
        many("note", found, count, 1, 200_000 // count)
        check_notes(found, count, 1, 200_000 // count)


def test_two_hundred_thousand_jobs(two):
    found = notes(3, 1)
    many("note", found, 3, 1, 200_000)
    check_notes(found, 3, 1, 200_000)


def test_jobs_after_sleep(number):
    for _ in range(30):
        time.sleep(0.002)
        found = notes(50, 3)
        many("note", found, 50, 3)
        check_notes(found, 50, 3)


def test_a_job_within_a_job_is_serial(number):
    inner = [notes(20, 3) for _ in range(12)]
    table = np.array([i.ctypes.data for i in inner], np.int64)
    many("nested", table, 12, 1)
    assert [len(check_notes(i, 20, 3)) for i in inner] == [1] * 12


def test_callers_at_once(number):
    def hammer(_):
        found = notes(30, 4)
        many("note", found, 30, 4, 3000)
        check_notes(found, 30, 4, 3000)

    with ThreadPoolExecutor(8) as callers:
        list(callers.map(hammer, range(8)))


def test_the_number_changes_while_others_work():
    before, ends = threads.get_num_threads(), threading.Event()

    def change():
        for n in itertools.cycle([1, 8, 2, 5, 3]):
            threads.set_num_threads(n)
            if ends.wait(0.0003):
                return

    changing = threading.Thread(target=change)
    changing.start()
    try:
        with ThreadPoolExecutor(3) as callers:
            for found in [callers.submit(hammered, k) for k in range(6)]:
                found.result()
    finally:
        ends.set()
        changing.join()
        threads.set_num_threads(before)


def hammered(k):
    found = notes(100 + k, 7)
    many("note", found, 100 + k, 7, 4000)
    check_notes(found, 100 + k, 7, 4000)


# how many


def test_the_number_is_what_was_set(number):
    assert threads.get_num_threads() == number


@pytest.mark.parametrize("bad", [0, -1, MOST + 1, 2.0, "2", None, True])
def test_bad_numbers(bad):
    before = threads.get_num_threads()
    with pytest.raises(ArgumentError, match=r"D2S0004.*'n' is .*expected an int from 1 to 256"):
        threads.set_num_threads(bad)
    assert threads.get_num_threads() == before


def test_the_names_in_d2s():
    assert d2s.set_num_threads is threads.set_num_threads
    assert d2s.get_num_threads is threads.get_num_threads


@pool
@pytest.mark.parametrize(("wanted", "expected"), [("1", "1"), ("3", "3"), (None, str(min(cores.available(), MOST)))])
def test_the_number_from_the_environment(wanted, expected):
    run = python("import d2s; print(d2s.get_num_threads())", D2S_NUM_THREADS=wanted)
    assert (run.stdout, run.stderr) == (f"{expected}\n", "")


@pytest.mark.parametrize("wanted", ["0", "-1", "two", "", "100000"])
def test_a_bad_number_from_the_environment(wanted):
    run = python("import d2s; d2s.get_num_threads()", D2S_NUM_THREADS=wanted)
    assert "D2S0004" in run.stderr
    assert "D2S_NUM_THREADS is" in run.stderr


QUOTAS = [  # files below the root, how many cores they leave of 64
    ({}, 64),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 3),
    ({"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}, 1),
    (
        {
            "proc/self/cgroup": "0::/a/b\n",
            "sys/fs/cgroup/a/cpu.max": "900000 100000",
            "sys/fs/cgroup/a/b/cpu.max": "400000 100000",
        },
        4,
    ),
    ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "nonsense"}, 64),
    (
        {
            "proc/self/cgroup": "9:name=systemd:/x\n3:cpu,cpuacct:/x\n2:cpuset:/\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "200000\n",
            "sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
        },
        2,
    ),
    (
        {
            "proc/self/cgroup": "3:cpu:/\n",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
        },
        64,
    ),
]


@pytest.mark.parametrize("n", range(len(QUOTAS)))
def test_quotas_of_control_groups(n, tmp_path, monkeypatch):
    files, expected = QUOTAS[n]
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(64), raising=False)
    assert cores.available(str(tmp_path)) == expected


# results


@pytest.mark.parametrize("n", [10, 100_000, 300_001])
def test_results_do_not_depend_on_the_number(n, number):
    x = d2s.to_tensor(np.random.default_rng(0).standard_normal(n).astype("float32"))
    found = [f(x).numpy() for f in (d2s.exp, d2s.tanh, d2s.square)]
    threads.set_num_threads(1)
    alone = [f(x).numpy() for f in (d2s.exp, d2s.tanh, d2s.square)]
    assert [f.tobytes() for f in found] == [a.tobytes() for a in alone]


@pool
def test_floating_point_state(two):
    flushing, usual = 0x1F80 | 0x8040, 0x1F80  # small results and operands are 0; what a thread begins with
    found = np.zeros(64, np.int64)
    behind = ctypes.CFUNCTYPE(WORD, ADDRESS, WORD, ctypes.c_int32)(loaded()["floats_behind"])
    assert behind(found.ctypes.data, 64, flushing) & 0xFFC0 == flushing
    assert set(found) == {usual}
    assert behind(found.ctypes.data, 64, usual) & 0xFFC0 == usual


# processes


def python(text, **settings):
    """A process that runs a text; it has a minute, which none needs."""
    environment = {k: v for k, v in (os.environ | settings).items() if v is not None}
    command = [sys.executable, "-c", text]
    return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)


START = """
import os, sys, time, threading, signal, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of every fork beside threads
import numpy as np
from tests.runtime.test_threads import *
threads.set_num_threads(2)
def job():
    found = notes(100, 3)
    many("note", found, 100, 3)
    check_notes(found, 100, 3)
def meeting():
    found = np.array([0, 2, *[0] * 50], np.int64)
    many("meet", found, 50, 1)
    return len(set(found[2:].tolist()))
def long():
    many("linger", None, 1 << 40, 1 << 30)
job()
"""


def passes(text):
    run = python(START + text)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout


@pool
def test_a_forked_child_has_a_pool_of_its_own():
    passes("""
for _ in range(20):
    pid = os.fork()
    if not pid:
        job()
        os._exit(0 if meeting() == 2 else 3)
    assert os.waitpid(pid, 0)[1] == 0
    assert meeting() == 2
""")


@pool
def test_a_fork_in_the_middle_of_jobs():
    passes("""
over = threading.Event()
def hammer():
    while not over.is_set():
        found = notes(100, 3)
        many("note", found, 100, 3, 50)
        check_notes(found, 100, 3, 50)
callers = [threading.Thread(target=hammer) for _ in range(3)]
for c in callers:
    c.start()
for _ in range(60):
    pid = os.fork()
    if not pid:
        job()
        os._exit(0 if meeting() == 2 else 3)
    assert os.waitpid(pid, 0)[1] == 0
over.set()
for c in callers:
    c.join()
""")


@pool
def test_a_child_of_a_child():
    passes("""
pid = os.fork()
if not pid:
    job()
    inner = os.fork()
    if not inner:
        job()
        os._exit(0 if meeting() == 2 else 3)
    os._exit(0 if os.waitpid(inner, 0)[1] == 0 and meeting() == 2 else 4)
assert os.waitpid(pid, 0)[1] == 0
""")


MULTIPROCESSING = """
import multiprocessing, sys, warnings
import numpy as np
import d2s

def total(n):
    return d2s.exp(d2s.to_tensor(np.zeros(n, "float32"))).sum().item()

if __name__ == "__main__":
    warnings.simplefilter("ignore", DeprecationWarning)
    assert total(1 << 20) == 1 << 20
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        assert pool.map(total, [1 << 20] * 4) == [1 << 20] * 4
    assert total(1 << 20) == 1 << 20
"""


@pytest.mark.parametrize("way", ["fork", "spawn", "forkserver"])
def test_multiprocessing(way, tmp_path):
    (tmp_path / "program.py").write_text(MULTIPROCESSING)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "D2S_NUM_THREADS": "2"}
    command = [sys.executable, str(tmp_path / "program.py"), way]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert (run.returncode, run.stderr) == (0, "")


@pool
def test_a_command_is_run_between_jobs():
    passes("""
import subprocess
for _ in range(5):
    assert subprocess.run(["true"], preexec_fn=job).returncode == 0
    job()
""")


ENDS = {
    "behind a job": "job()",
    "in the middle of a daemon's job": "threading.Thread(target=long, daemon=True).start(); time.sleep(0.1)",
    "behind a thread's job": "t = threading.Thread(target=job); t.start()",
    "at an exit handler's job": "import atexit; atexit.register(job)",
    "by sys.exit": "job(); sys.exit(0)",
    "by os._exit": "threading.Thread(target=long, daemon=True).start(); print(time.time(), flush=True); os._exit(0)",
    "with eight threads": "threads.set_num_threads(8); job(); job()",
    "collected": "import gc; job(); gc.collect()",
}


@pool
@pytest.mark.parametrize("way", ENDS)
def test_a_process_ends(way):
    shown = passes(f"import atexit\natexit.register(lambda: print(time.time(), flush=True))\n{ENDS[way]}\n")
    assert time.time() - float(shown.split()[-1]) < 30.0  # the job would go on for years; a busy machine takes seconds


@pool
def test_python_does_not_meet_the_workers():
    out = passes("""
meeting()
print([t.name for t in threading.enumerate()])
names = [open(f"/proc/self/task/{t}/comm").read().strip() for t in os.listdir("/proc/self/task")]
print(names.count("d2s-worker"))
""")
    assert out == "['MainThread']\n1\n"


@pool
def test_signals_go_to_the_main_thread_and_faults_to_whom_they_are_of():
    out = passes("""
meeting()  # the worker is there
for task in os.listdir("/proc/self/task"):
    if open(f"/proc/self/task/{task}/comm").read().strip() == "d2s-worker":
        status = dict(line.split(":", 1) for line in open(f"/proc/self/task/{task}/status"))
        blocked = int(status["SigBlk"], 16)
        print([n for n in range(1, 32) if not blocked >> n - 1 & 1])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
""")
    never = {int(signal.SIGKILL), int(signal.SIGSTOP)}
    faults = {int(getattr(signal, f"SIG{n}")) for n in ("ILL", "TRAP", "BUS", "FPE", "SEGV")}
    assert out == f"{sorted(faults | never)}\nset()\n"


@pool
def test_an_interrupt_comes_behind_the_job():
    passes("""
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
found = notes(200, 1)
try:
    many("linger", None, 1 << 22, 1 << 16)
    many("note", found, 200, 1)
    time.sleep(5)
    sys.exit("no interrupt came")
except KeyboardInterrupt:
    pass
job()
""")


@pool
def test_without_work_it_costs_nothing():
    passes("""
threads.set_num_threads(8)
job()
time.sleep(0.1)
before = time.process_time()
time.sleep(1.0)
assert time.process_time() - before < 0.02
""")


@pool
def test_where_no_thread_can_be_started():
    passes("""
import resource
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
threads.set_num_threads(8)
size += 1 << 20  # less than a thread's stack
resource.setrlimit(resource.RLIMIT_AS, (size, size))
job()
assert threads.get_num_threads() == 2
assert meeting() == 2
""")
