"""Random programs: eager, static, interpreted and un-jitted runs give the same bits, forward and backward.

Large programs run through all passes. Small ones, many more, run without those that make kernels of their own, so that each
costs some 30 ms: their kernels are those everything else has. Every sixteenth runs in plain Python, too.
"""

import contextlib
import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from programs_compare import Refused, outcome, t
from random_programs import Generator, Small, arguments

import d2s
from d2s import passes
from d2s.passes import group, tighten_loops

SECONDS = 200
FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
PROGRAMS = int(os.environ.get("D2S_FUZZ_PROGRAMS", "0"))
LARGE, SMALL = 60, 1940  # the same on every machine; `make soak` goes on
pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::d2s.runtime.plain.CompiledWarning"),
]


def load(seed: int, kind: type[Generator], folder: pathlib.Path) -> Any:
    path = folder / f"random_{kind.__name__}_{seed}.py"
    path.write_text(kind(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def executors(seed: int, small: bool, n: int) -> tuple[str, ...]:
    """How a set of arguments is run, beside eagerly."""
    ways = ("numba", "interpreter") if n == 0 or not small else ("numba",)
    return (*ways, "python") if small and seed % 16 == 0 else ways


def differing(function: Any, seed: int, small: bool) -> str:
    """What differs from eager code; Refused where capture is refused."""
    static, sets = d2s.to_static(function), arguments(seed, t)
    if small:
        sets = [sets[0], sets[1 if seed % 2 else 3]]
    for n, args in enumerate(sets):
        jointly = (seed + n) % 2 == 0
        expected = outcome(function, args, jointly=jointly, identity=False)
        for executor in executors(seed, small, n):
            with d2s.config(EXECUTOR=executor):
                got = outcome(static, args, jointly=jointly, identity=False)
            difference = expected.difference(got)
            if difference:
                return f"set {n}, {executor}, {'jointly' if jointly else 'one by one'}: eager != static: {difference}"
    return ""


class TooLong(BaseException):
    """Not one that the comparison takes for the program's own."""


def _too_long(*_: Any) -> None:
    raise TooLong("still running after 30 s of the processor's time")


@contextlib.contextmanager
def shared_kernels() -> Iterator[None]:
    """Without the passes that make kernels which only one program has."""
    before = passes.LOWERING
    passes.LOWERING = tuple(one for one in before if one not in (group, tighten_loops))
    try:
        yield
    finally:
        passes.LOWERING = before


def run_one(seed: int, kind: type[Generator], folder: pathlib.Path) -> str:
    """What differs in one program."""
    small = kind is Small
    function = load(seed, kind, folder)
    signal.setitimer(signal.ITIMER_PROF, 30)
    try:
        with shared_kernels() if small else contextlib.nullcontext():
            return differing(function, seed, small)
    except Refused:
        raise
    except (Exception, TooLong) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


Found = list[tuple[int, str]]


def run(seeds: Any, kind: type[Generator], folder: pathlib.Path, until: float) -> tuple[int, Found, Found]:
    """How many programs ran, which were refused, which differ."""
    count, refused, failures = 0, list[tuple[int, str]](), list[tuple[int, str]]()
    signal.signal(signal.SIGPROF, _too_long)
    for seed in seeds:
        if time.monotonic() > until:
            break
        count += 1
        try:
            found = run_one(seed, kind, folder)
        except Refused as stop:
            refused.append((seed, str(stop)))
            continue
        if found:
            failures.append((seed, found))
    return count, refused, failures


@pytest.mark.parametrize(("kind", "programs"), [(Generator, LARGE), (Small, SMALL)], ids=["large", "small"])
def test_random_programs(kind, programs, tmp_path):
    seeds = range(FIRST, FIRST + PROGRAMS) if PROGRAMS else range(programs)
    until = time.monotonic() + (10**9 if PROGRAMS else SECONDS)
    count, refused, failures = run(seeds, kind, tmp_path, until)
    for seed, found in failures:
        print(f"--- seed {seed}: {found}\n{kind(seed).text().partition('def f(')[2]}")
    assert not failures, f"{len(failures)} of {count} differ: seeds {[seed for seed, _ in failures]}"
    assert len(refused) < 0.4 * count, f"{len(refused)} of {count} refused: {refused[:5]}"


def _soak(first: int, how_many: int) -> None:
    """One large program in eight."""
    totals: list[Any] = [0, [], []]
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + how_many):
            kind = Small if seed % 8 else Generator
            totals = [a + b for a, b in zip(totals, run([seed], kind, pathlib.Path(name), 1e18), strict=True)]
            if totals[0] % 1000 == 0:
                print(f"{totals[0]} programs, {len(totals[1])} refused, failures: {totals[2]}", flush=True)
    for seed, found in totals[2]:
        print(f"FAIL {seed}: {found[:600]}")
    for seed, found in totals[1]:
        print(f"refused {seed}: {' | '.join(found.splitlines()[::2])[:300]}")
    print(f"{totals[0]} programs, {len(totals[1])} refused, {len(totals[2])} failures")


if __name__ == "__main__":  # python test_random_programs.py FIRST COUNT
    warnings.simplefilter("ignore")
    _soak(int(sys.argv[1]), int(sys.argv[2]))
