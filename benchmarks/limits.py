"""What static calls may take besides time per call: each figure beside the limit it must keep.

python benchmarks/limits.py                   all of them
python benchmarks/limits.py threads depth     those

`memory` asks torch for the same step, in the interpreter of $D2S_PEERS (default ~/.d2s-peers); without it there is no limit.
"""

import itertools
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import d2s
from d2s import nn

HERE = pathlib.Path(__file__).resolve().parent
PEERS = pathlib.Path(os.environ.get("D2S_PEERS") or pathlib.Path.home() / ".d2s-peers")
Row = tuple[float, str, float | None]  # the figure, what it says, the most it may be
LIMITS: dict[str, Callable[[], Row]] = {}


def limit(function: Callable[[], Row]) -> Callable[[], Row]:
    LIMITS[function.__name__] = function
    return function


def data(*shape: int) -> Any:
    return d2s.to_tensor(np.random.default_rng(0).standard_normal(shape).astype("float32"))


@limit
def threads() -> Row:
    """One compiled function, called by two threads of Python's at the same time."""
    d2s.set_num_threads(1)
    static, x = d2s.to_static(lambda x, w: (d2s.tanh(x @ w)).sum()), data(256, 256)

    def calls() -> None:
        for _ in range(60):
            static(x, x)

    def taken(count: int) -> float:
        workers = [threading.Thread(target=calls) for _ in range(count)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return (time.perf_counter() - start) / count

    taken(2)
    pairs = [(taken(2), taken(1)) for _ in range(40)]
    d2s.set_num_threads(2)
    two, one = map(min, zip(*pairs, strict=True))
    return two / one, "of the time per call of one thread, in two", 1 / 1.8


def _counted(trips: int) -> tuple[float, int]:
    """How long the first call of a loop takes beyond the second, and how many nodes it has."""

    def f(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = x * 0.5 + 1.0 if x.sum() > 1.0 else d2s.tanh(x)
        return x

    static, x, n = d2s.to_static(f), data(8), d2s.to_tensor(trips)
    times = [time.perf_counter()]
    for _ in range(2):
        static(x, n)
        times.append(time.perf_counter())
    first, second = (behind - before for before, behind in itertools.pairwise(times))
    return first - second, len(list(static.program(x, n).every_node()))


@limit
def trips() -> Row:
    """What the first call of a loop costs does not depend on its trips."""
    _counted(10)
    pairs = [(_counted(10_000), _counted(10)) for _ in range(15)]
    assert {nodes for pair in pairs for _, nodes in pair} == {pairs[0][0][1]}, "trips make other nodes"
    many, few = (min(seconds for seconds, _ in column) for column in zip(*pairs, strict=True))
    return many / few, "time to make a loop of 10,000 trips, of that of 10", 1.1


@limit
def sizes() -> Row:
    """A size that a function captured for any meets for the first time."""
    layers = [part for _ in range(10) for part in (nn.Linear(64, 64), nn.ReLU())]
    static = d2s.to_static(nn.Sequential(*layers))
    for count in range(2, 6):
        static(data(count, 64))

    def taken(count: int) -> float:
        x = data(count, 64)
        start = time.perf_counter()
        static(x)
        return time.perf_counter() - start

    pairs = [(taken(count), taken(count)) for count in range(6, 60)]
    return statistics.median(1e3 * (new - known) for new, known in pairs), "ms more than a size it knows", 1.0


@limit
def shapes() -> Row:
    """What 2,000 shapes leave behind."""

    def used() -> int:
        text = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
        return int(text.split("VmRSS:")[1].split()[0]) // 1024

    static = d2s.to_static(lambda x: d2s.tanh(x) * 2.0)

    def run(numbers: range) -> None:
        for n in numbers:
            static(d2s.ones([n % 50 + 2, n // 50 + 2]))

    run(range(100))
    before = used()
    run(range(100, 2100))
    return used() - before, "MB more behind 2,000 shapes", 50


@limit
def depth() -> Row:
    """A function that calls itself 500 times, eagerly and static: how many times as long the graph takes."""

    def down(x: Any, n: Any) -> Any:
        return x if n <= 0 else down(x * 1.001, n - 1) + 1.0

    static, x, n = d2s.to_static(down), data(8), d2s.to_tensor(500)
    assert static(x, n).tolist() == down(x, n).tolist()

    def taken(call: Callable[..., Any]) -> float:
        start = time.perf_counter()
        call(x, n)
        return time.perf_counter() - start

    for _ in range(3):  # the third call makes what all calls behind it go through, once for the process
        static(x, n)
    pairs = [(taken(static), taken(down)) for _ in range(20)]
    return statistics.median(graph / eager for graph, eager in pairs), "time of 500 calls of itself, of that at once", 1.0


def _step(engine: str) -> str:
    call = "workload('static')" if engine == "d2s" else "workload('eager')"
    return f"""
import importlib.util, resource
spec = importlib.util.spec_from_file_location("workloads", {str(HERE / "workloads" / f"{engine}.py")!r})
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
workload = module.resnet18_train
step = {call}
for _ in range(4):
    step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def _resident(python: str, engine: str) -> float:
    """The most memory, in MB, that a process had that made some steps of ResNet-18."""
    told = os.environ | {"THREADS": "2", "D2S_NUM_THREADS": "2"}
    done = subprocess.run([python, "-c", _step(engine)], capture_output=True, text=True, check=True, env=told)
    return float(done.stdout.split()[-1])


@limit
def memory() -> Row:
    """A process that trains ResNet-18 with a graph, beside one that does so with torch at once."""
    peer = PEERS / "torch" / "bin" / "python"
    most = _resident(str(peer), "torch") if peer.exists() else None
    return _resident(sys.executable, "d2s"), "MB at most while ResNet-18 is trained", most


def main() -> None:
    wanted = sys.argv[1:] or list(LIMITS)
    failed = 0
    for name in wanted:
        figure, text, most = LIMITS[name]()
        kept = most is None or figure <= most
        failed += not kept
        shown = "" if most is None else f"(at most {most:.3g}{'' if kept else ': MISSED'})"
        print(f"{name:10} {figure:8.3g} {text} {shown}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
