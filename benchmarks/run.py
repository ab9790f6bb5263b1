"""Times d2s beside its peers: engines alternate within every round, medians and ratios of many rounds count.

A new case is a line in cases.py and one in each file of engines/; a new peer is such a file and a line in peers.txt.

python benchmarks/run.py                    all cases; writes benchmarks/results/*.json and docs/benchmarks.md
python benchmarks/run.py --install          makes the peers' venvs first, in $D2S_PEERS (default ~/.d2s-peers)
python benchmarks/run.py --cases eager_add  some cases, printed only
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


CASES = load(HERE / "cases.py").CASES


def required() -> dict[str, list[str]]:
    """Peers by name, and what pip installs for them."""
    lines = [line.split() for line in (HERE / "peers.txt").read_text().splitlines()]
    return {words[0]: words[1:] for words in lines if words and not words[0].startswith("#")}


def install() -> None:
    for name, packages in required().items():
        venv.create(PEERS / name, with_pip=True)
        subprocess.run([_python(name), "-m", "pip", "install", "--quiet", *packages], check=True)


def _python(engine: str) -> str:
    return sys.executable if engine == OURS else str(PEERS / engine / "bin" / "python")


class Engine:
    """A worker process, and the programs of this engine for processes of their own."""

    def __init__(self, name: str, kernels: str) -> None:
        self.name, self.file = name, load(HERE / "engines" / f"{name}.py")
        self.environment = {**os.environ, "PYTHONPATH": str(ROOT) if name == OURS else "", "D2S_CACHE_DIR": kernels}
        command = [_python(name), str(HERE / "worker.py")]
        pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.worker = subprocess.Popen(command, env=self.environment, text=True, **pipes)
        self.numbers: dict[str, int] = {}

    def repeated(self, case: str) -> float:
        """Microseconds per run."""
        if case not in self.numbers:
            self._ask(case, 1)
            self.numbers[case] = max(1, int(BURST * 100 / self._ask(case, 100)))
        return self._ask(case, self.numbers[case]) / self.numbers[case] * 1e6

    def _ask(self, case: str, number: int) -> float:
        assert self.worker.stdin and self.worker.stdout
        question = {"setup": self.file.SETUP, "statement": self.file.STATEMENTS[case], "number": number}
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
    repeated = type(CASES[case]).__name__ == "Repeated"
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
    ratios = {n: statistics.median(a / b for a, b in zip(ours, ts, strict=False)) for n, ts in times.items() if n != OURS}
    return {"medians": medians, "ratios": ratios if ours else {}}


def table(report: dict[str, Any]) -> str:
    """The report as markdown."""
    engines = report["engines"]
    peers = [name for name in engines if name != OURS]
    head = ["case", *engines, *(f"{OURS} / {name}" for name in peers)]
    rows = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for case, found in report["cases"].items():
        cells = [f"**{case}**: {found['says']}"]
        cells += [f"{found['medians'][n]:.3g} {found['unit']}" if n in found["medians"] else "—" for n in engines]
        cells += [f"{found['ratios'][n]:.2f}" if n in found["ratios"] else "—" for n in peers]
        rows.append("| " + " | ".join(cells) + " |")
    refused = [f"* {case}, {name}: {why}" for case, found in report["cases"].items() for name, why in found["errors"].items()]
    return "\n".join(rows) + ("\n\nNot measured:\n\n" + "\n".join(refused) if refused else "") + "\n"


def page(report: dict[str, Any]) -> str:
    """docs/benchmarks.md."""
    machine = report["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    return (
        "# Benchmarks\n\nWritten by `python benchmarks/run.py`; do not edit. Engines alternate within each of "
        f"{report['rounds']} rounds; medians, and medians of the ratios round by round (below 1: d2s is faster).\n\n"
        f"{machine['cpu']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}; {versions}; "
        f"load when started {machine['load']:.1f}; {report['when']}.\n\n{table(report)}"
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
    with tempfile.TemporaryDirectory() as kernels, contextlib.ExitStack() as open_engines:
        engines = [Engine(name, kernels) for name in names]
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
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    if given.install:
        install()
    names = [OURS, *(name for name in required() if pathlib.Path(_python(name)).exists())]
    report = run(names, given.cases or list(CASES), given.rounds)
    print(f"\n{table(report)}")
    if not given.cases:
        stamp = report["when"].replace(":", "").replace("+0000", "Z")
        (HERE / "results").mkdir(exist_ok=True)
        (HERE / "results" / f"{stamp}.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")
        (ROOT / "docs" / "benchmarks.md").write_text(page(report))


if __name__ == "__main__":
    main()
