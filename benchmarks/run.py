"""Times d2s beside its peers: engines alternate within every round, medians and ratios of many rounds count.

A new case is a line in cases.py and one in each file of engines/ (an operation: a line in operations/cases.py); a new peer
is a file in either folder and a line in peers.txt. Workloads (workloads/cases.py) are whole networks and loops, in a process
for each engine and mode: eagerly and as a graph. Operations run on $THREADS threads (2) and are held against what the machine
can do at best (roofline.py): fused multiply-adds, or bytes read or moved.

python benchmarks/run.py                    all cases; writes benchmarks/results/*.json and docs/benchmarks.md
python benchmarks/run.py --install          makes the peers' venvs first, in $D2S_PEERS (default ~/.d2s-peers)
python benchmarks/run.py --cases eager_add  some cases, printed only

static_calls.py and ordinary_calls.py ask many small programs whether a static call is ever slower than the same at once;
limits.py what static calls may take besides: threads, memory, compiling once for all sizes.
"""

import argparse
import contextlib
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from typing import Any

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = pathlib.Path(os.environ.get("D2S_PEERS") or pathlib.Path.home() / ".d2s-peers")
BURST = 0.05  # seconds of one measurement
OURS = "d2s"


def load(path: pathlib.Path) -> Any:
    """A file of this folder as a module, whatever it is called."""
    spec = importlib.util.spec_from_file_location(f"benchmark_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ROOFLINE = load(HERE / "roofline.py")
OPERATIONS = load(HERE / "operations" / "cases.py").CASES
_WORKLOADS = load(HERE / "workloads" / "cases.py")
WORKLOADS, MODES = _WORKLOADS.CASES, _WORKLOADS.MODES
CASES = load(HERE / "cases.py").CASES | OPERATIONS | WORKLOADS
THREADS = os.environ.get("THREADS", "2")
ONE_NUMBER = dict.fromkeys(
    ("THREADS", "D2S_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), THREADS
)


def required() -> dict[str, list[str]]:
    """Peers by name, and what pip installs for them."""
    lines = [line.split("#")[0].split() for line in (HERE / "peers.txt").read_text().splitlines()]
    return {words[0]: words[1:] for words in lines if words}


def install() -> None:
    for name, packages in required().items():
        if not packages:
            continue
        venv.create(PEERS / name, with_pip=True)
        subprocess.run([_python(name), "-m", "pip", "install", "--quiet", *packages], check=True)


def _python(engine: str) -> str:
    return sys.executable if engine in (OURS, "numpy") else str(PEERS / engine / "bin" / "python")


def workloads(name: str) -> str:
    """The workloads by an engine; Paddle's are those of d2s."""
    file = HERE / "workloads" / f"{OURS if name == 'paddle' else name}.py"
    text = file.read_text() if file.exists() else ""
    if name != "paddle":
        return text
    return text.replace(f"import {OURS}\n", f"import paddle as {OURS}\n").replace(f"from {OURS}", "from paddle")


class Engine:
    """A worker process, and the programs of this engine for processes of their own; with a `mode` it runs workloads so."""

    def __init__(self, name: str, kernels: str, mode: str = "") -> None:
        self.name, self.mode, file = f"{name} {mode}".strip(), mode, HERE / "engines" / f"{name}.py"
        self.file = load(file) if file.exists() else None
        self.workloads = workloads(name) if mode else ""
        operations = HERE / "operations" / f"{name}.py"
        self.operations = operations.read_text() if operations.exists() else ""
        self.environment = {
            **os.environ,
            **ONE_NUMBER,
            "PYTHONPATH": str(ROOT) if name == OURS else "",
            "D2S_CACHE_DIR": kernels,
            "PYTHONDONTWRITEBYTECODE": "",  # imports find the byte code of an earlier one, as installed packages do
        }
        command = [_python(name), str(HERE / "worker.py")]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.worker = subprocess.Popen(command, env=self.environment, text=True, **pipes)
        self.numbers: dict[str, int] = {}

    def can(self, case: str) -> bool:
        """Whether this engine is said to have the case at all."""
        if case in WORKLOADS or self.mode:
            return case in WORKLOADS and f"\ndef {case}(" in self.workloads
        if case in OPERATIONS:
            return f"\ndef {OPERATIONS[case].call.split('(')[0]}(" in self.operations
        return self.file is not None and case in {**self.file.STATEMENTS, **self.file.PROGRAMS}

    def repeated(self, case: str) -> float:
        """Microseconds per run."""
        if case not in self.numbers:
            self._ask(case, 4)  # engines compile at the first call, and some again at the second or third
            once = self._ask(case, 3) / 3
            self.numbers[case] = max(1, int(BURST / (once if once > BURST / 100 else self._ask(case, 100) / 100)))
        return self._ask(case, self.numbers[case]) / self.numbers[case] * 1e6

    def _question(self, case: str) -> dict[str, str]:
        if case in WORKLOADS:
            return {"setup": f"{self.workloads}\nrun = {case}({self.mode!r})\n", "statement": "run()"}
        if case in OPERATIONS:
            return {"setup": f"{self.operations}\nrun = {OPERATIONS[case].call}\n", "statement": "run()"}
        return {"setup": self.file.SETUP, "statement": self.file.STATEMENTS[case]}

    def _ask(self, case: str, number: int) -> float:
        assert self.worker.stdin and self.worker.stdout
        question = self._question(case) | {"number": number}
        self.worker.stdin.write(json.dumps(question) + "\n")
        self.worker.stdin.flush()
        answer = json.loads(self.worker.stdout.readline())
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return float(answer["seconds"])

    def started(self, case: str) -> float:
        """Milliseconds, of a process of its own."""
        environment = dict(self.environment)
        with tempfile.TemporaryDirectory() as empty:
            if CASES[case].cold:
                environment["D2S_CACHE_DIR"] = empty
            command = [_python(self.name), "-c", self.file.PROGRAMS[case]]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, cwd=empty)
        if done.returncode:
            raise RuntimeError((done.stderr.splitlines() or ["died"])[-1][:200])
        return float(done.stdout)

    def close(self) -> None:
        assert self.worker.stdin
        self.worker.stdin.close()
        self.worker.wait(timeout=60)


def measure(case: str, engines: Sequence[Engine], rounds: int) -> dict[str, Any]:
    """A case by all engines in turn, round by round; an engine that cannot do it says why once."""
    repeated = type(CASES[case]).__name__ != "Started"
    engines = [engine for engine in engines if engine.can(case)]
    times: dict[str, list[float]] = {engine.name: [] for engine in engines}
    errors: dict[str, str] = {}
    for at in range(rounds + 1):
        for engine in engines if at % 2 else engines[::-1]:
            if engine.name not in errors:
                try:
                    taken = engine.repeated(case) if repeated else engine.started(case)
                except RuntimeError as error:
                    errors[engine.name] = str(error)
                else:
                    times[engine.name] += [taken] if at else []  # the first round warms up
    return {"unit": "µs" if repeated else "ms", "says": CASES[case].says, "times": times, "errors": errors}


def summary(measured: dict[str, Any]) -> dict[str, Any]:
    """Medians, and the median over rounds of ours by theirs."""
    times = {name: ts for name, ts in measured["times"].items() if ts}
    medians = {name: statistics.median(ts) for name, ts in times.items()}
    ours = times.get(OURS, [])
    others = {n: ts for n, ts in times.items() if n != OURS} if ours else {}
    ratios = {n: statistics.median(a / b for a, b in zip(ours, ts, strict=False)) for n, ts in others.items()}
    return {"medians": medians, "ratios": ratios}


def share(case: str, microseconds: float, limits: dict[str, Any]) -> str:
    """Which part of what the machine can do at best is used, as "71 % fma"; of bytes, with as much memory as the case has."""
    operation = OPERATIONS[case]
    for what, name in (("flops", "fma"), ("read", "read"), ("moved", "copy")):
        if work := getattr(operation, what):
            best = limits["flops"] * 4 / operation.itemsize if what == "flops" else ROOFLINE.nearest(limits[what], work)
            return f"{work / (microseconds * 1e-6) / best:.0%}".replace("%", f" % {name}")
    return ""


def against_fastest(case: str, found: dict[str, Any]) -> str:
    """How many times as fast as the fastest peer, and whether that is what it is to be."""
    if not found["ratios"]:
        return "—"
    times, target = 1 / max(found["ratios"].values()), OPERATIONS[case].target
    return f"{times:.2f}x" + ("" if times >= target else f" (of {target:g}x)")


def workloads_table(engines: Sequence[str], cases: dict[str, Any]) -> str:
    """Workloads as markdown: our graph beside our eager code, and beside the fastest peer."""
    eager, static = (f"{OURS} {mode}" for mode in MODES[OURS])
    rows = [f"| case | {' | '.join(engines)} | static / eager | static / fastest peer |", "|---" * (len(engines) + 3) + "|"]
    for case, found in cases.items():
        rounds, cells = found["times"], [f"**{case}**: {found['says']}"]
        cells += [f"{found['medians'][n]:.3g} {found['unit']}" if n in found["medians"] else "—" for n in engines]
        peers = {n: found["medians"][n] for n in found["medians"] if not n.startswith(OURS)}
        for other in (eager, min(peers, key=lambda n: peers[n], default="")):
            pairs = zip(rounds.get(static, ()), rounds.get(other, ()), strict=False)
            ratios = [mine / theirs for mine, theirs in pairs]
            cells.append(f"{statistics.median(ratios):.2f}" if ratios else "—")
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def table(engines: Sequence[str], cases: dict[str, Any], limits: dict[str, float]) -> str:
    """Cases as markdown; operations with their share of what is possible."""
    peers = [name for name in engines if name != OURS]
    operations = bool(set(cases) & set(OPERATIONS))
    ends = ["of the best possible", "against the fastest"] if operations else [f"{OURS} / {name}" for name in peers]
    head = ["case", *engines, *ends]
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for case, found in cases.items():
        cells = [f"**{case}**: {found['says']}"]
        cells += [f"{found['medians'][n]:.3g} {found['unit']}" if n in found["medians"] else "—" for n in engines]
        if operations:
            ours = found["medians"].get(OURS)
            cells += [share(case, ours, limits) if ours else "—", against_fastest(case, found)]
        else:
            cells += [f"{found['ratios'][n]:.2f}" if n in found["ratios"] else "—" for n in peers]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def tables(report: dict[str, Any]) -> str:
    """Calls first, then workloads, then operations, then what could not be measured."""
    cases, engines = report["cases"], report["engines"]
    parts = []
    chosen = {case: found for case, found in cases.items() if case in WORKLOADS}
    having = list(dict.fromkeys(name for found in chosen.values() for name in found["times"]))
    parts += [workloads_table(having, chosen)] if chosen else []
    for chosen in (
        {case: found for case, found in cases.items() if case not in OPERATIONS and case not in WORKLOADS},
        {case: found for case, found in cases.items() if case in OPERATIONS},
    ):
        having = [name for name in engines if any(name in found["times"] for found in chosen.values())]
        parts += [table(having, chosen, report["limits"])] if chosen else []
    refused = [f"* {case}, {name}: {why}" for case, found in cases.items() for name, why in found["errors"].items()]
    return "\n".join(parts) + ("\n\nNot measured:\n\n" + "\n".join(refused) if refused else "")


def bandwidths(what: str, limits: dict[str, Any]) -> str:
    """As "150 / 80 GB/s read of 1 / 256 MB"."""
    sizes = " / ".join(f"{int(size) >> 20}" for size in limits[what])
    return " / ".join(f"{v / 1e9:.0f}" for v in limits[what].values()) + f" GB/s {what} of {sizes} MB"


def page(report: dict[str, Any]) -> str:
    """docs/benchmarks.md."""
    machine, limits = report["machine"], report["limits"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return (
        "# Benchmarks\n\nWritten by `python benchmarks/run.py`; do not edit. Engines alternate within each of "
        f"{report['rounds']} rounds; medians, and medians of the ratios round by round (below 1: d2s is faster; "
        "in the last table: how many times as fast as the fastest of the others).\n\n"
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}; {versions}; "
        f"{report['threads']} threads; load when started {machine['load']:.1f}; {report['when']}. At best, on these threads: "
        f"{limits['flops'] / 1e9:.0f} GFLOP/s of float32; {bandwidths('read', limits)}; "
        f"{bandwidths('moved', limits)} by a copy. A case is held against memory of about its size.\n\n"
        f"Why some cases are slower than wanted: [kernels.md](kernels.md).\n\n{tables(report)}"
    )


def versions(engines: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in engines:
        program = f"import {name}; print({name}.__version__)"
        environment = {**os.environ, "PYTHONPATH": str(ROOT) if name == OURS else ""}
        done = subprocess.run([_python(name), "-c", program], env=environment, capture_output=True, text=True, check=False)
        found[name] = done.stdout.strip()
    return found


def machine() -> dict[str, Any]:
    cpu = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        text = pathlib.Path("/proc/cpuinfo").read_text()
        cpu = next((line.split(": ")[1] for line in text.splitlines() if line.startswith("model name")), cpu)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    system = platform.system()
    return {"cpu": cpu, "cores": os.cpu_count(), "system": system, "python": platform.python_version(), "load": load}


def run(names: Sequence[str], cases: Sequence[str], rounds: int) -> dict[str, Any]:
    """The whole report."""
    now = datetime.datetime.now(datetime.timezone.utc)
    report: dict[str, Any] = {"when": now.isoformat(timespec="seconds"), "rounds": rounds, "machine": machine()}
    report |= {"engines": list(names), "versions": versions(names), "cases": {}}
    report |= {"threads": int(THREADS), "limits": ROOFLINE.measured(int(THREADS))}
    with tempfile.TemporaryDirectory() as kernels, contextlib.ExitStack() as open_engines:
        engines = [Engine(name, kernels) for name in names] if set(cases) - set(WORKLOADS) else []
        if set(cases) & set(WORKLOADS):
            engines += [Engine(name, kernels, mode) for name in names for mode in MODES.get(name, ())]
        for engine in engines:
            open_engines.callback(engine.close)
        for case in cases:
            measured = measure(case, engines, rounds)
            report["cases"][case] = measured | summary(measured)
            print(
                case, {name: round(t, 3) for name, t in report["cases"][case]["medians"].items()}, measured["unit"], flush=True
            )
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--install", action="store_true", help="make the peers' venvs first")
    parser.add_argument("--cases", nargs="*", choices=list(CASES), help="some cases only: printed, not kept")
    parser.add_argument("--without", nargs="*", default=[], help="peers that are left out")
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    if given.install:
        install()
    names = [OURS, *(name for name in required() if pathlib.Path(_python(name)).exists() and name not in given.without)]
    report = run(names, given.cases or list(CASES), given.rounds)
    print(f"\n{tables(report)}")
    if not given.cases:
        stamp = report["when"].replace(":", "").replace("+0000", "Z")
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / f"{stamp}.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
        (ROOT / "docs" / "benchmarks.md").write_text(page(report))


if __name__ == "__main__":
    main()
