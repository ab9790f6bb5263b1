"""Random programs: eager, static, interpreted and un-jitted runs give the same bits, forward and backward.

Those of `ordinary_programs` are about Python's own objects; a few of them are refused. Large programs run through all passes.
Small ones, many more, run without those that make kernels of their own, so that each costs some 40 ms: their kernels are those
everything else has.
"""

import concurrent.futures
import contextlib
import gc
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from ordinary_programs import Ordinary
from programs_compare import Refused, outcome, t
from random_programs import Generator, Renaming, Small, arguments
from soak_notes import FOLDER, Notes
from time_limit import TooLong, limited

import d2s
from d2s import passes
from d2s.capture.forms import OneOf
from d2s.passes import group, tighten_loops

SECONDS = 300  # of the processor's time: a busy machine tries no fewer programs
FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
PROGRAMS = int(os.environ.get("D2S_FUZZ_PROGRAMS", "0"))
LARGE, SMALL, RENAMING, ORDINARY = 60, 1800, 140, 150  # the same on every machine; `make soak` goes on
LARGE_AMONG, CHUNK = 32, 500  # of a soak: one in so many is large; so many in a process
VERIFIED_AMONG = 11  # of one in so many the Program is verified behind each pass
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


def executors(small: bool, n: int) -> tuple[str, ...]:
    """How a set of arguments is run, beside eagerly: the first one in all ways there are."""
    if n == 0:
        return "numba", "interpreter", "python"
    return ("numba",) if small else ("numba", "interpreter")


def differing(function: Any, seed: int, small: bool) -> str:
    """What differs from eager code; Refused where capture is refused."""
    static, sets = d2s.to_static(function), arguments(seed, t)
    if small:
        sets = [sets[0], sets[1 if seed % 2 else 3]]
    for n, args in enumerate(sets):
        jointly = (seed + n) % 2 == 0
        expected = outcome(function, args, jointly=jointly)
        for executor in executors(small, n):
            with d2s.config(EXECUTOR=executor):
                got = outcome(static, args, jointly=jointly)
            difference = expected.difference(got)
            if difference:
                return f"set {n}, {executor}, {'jointly' if jointly else 'one by one'}: eager != static: {difference}"
    return ""


@contextlib.contextmanager
def shared_kernels() -> Iterator[None]:
    """Without the passes that make kernels which only one program has."""
    before = passes.LOWERING
    passes.LOWERING = tuple(one for one in before if one not in (group, tighten_loops))
    try:
        yield
    finally:
        passes.LOWERING = before


@contextlib.contextmanager
def seldom_collecting() -> Iterator[None]:
    """A program leaves some thousand objects and hardly any garbage: looking through them took a fifth of the time."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 10)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def run_one(seed: int, kind: type[Generator], folder: pathlib.Path) -> str:
    """What differs in one program."""
    small = issubclass(kind, Small)
    function = load(seed, kind, folder)
    kernels, checked = shared_kernels() if small else contextlib.nullcontext(), str(int(seed % VERIFIED_AMONG == 0))
    try:
        with limited(), kernels, d2s.config(CHECK=checked):
            return differing(function, seed, small)
    except Refused:
        raise
    except (Exception, TooLong) as error:
        return f"{type(error).__name__}: {error}"


Found = list[tuple[int, str]]


def run(seeds: Any, kind: type[Generator], folder: pathlib.Path, until: float) -> tuple[int, Found, Found]:
    """How many programs ran, which were refused, which differ."""
    count, refused, failures = 0, list[tuple[int, str]](), list[tuple[int, str]]()
    with seldom_collecting():
        for seed in seeds:
            if time.process_time() > until:
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


@pytest.mark.parametrize(
    ("kind", "programs"),
    [(Generator, LARGE), (Small, SMALL), (Renaming, RENAMING), (Ordinary, ORDINARY)],
    ids=["large", "small", "renaming", "ordinary"],
)
def test_random_programs(kind, programs, tmp_path):
    seeds = range(FIRST, FIRST + PROGRAMS) if PROGRAMS else range(programs)
    until = time.process_time() + (10**9 if PROGRAMS else SECONDS)
    count, refused, failures = run(seeds, kind, tmp_path, until)
    for seed, found in failures:
        print(f"--- seed {seed}: {found}\n{kind(seed).text().partition('def f(')[2]}")
    assert not failures, f"{len(failures)} of {count} differ: seeds {[seed for seed, _ in failures]}"
    assert count == len(seeds), f"only {count} of {len(seeds)} programs in {SECONDS} s of the processor's time"
    internal = [(seed, found) for seed, found in refused if "D2S9001" in found or OneOf.__name__ in found]
    assert not internal, f"faults of d2s itself: {internal}"
    assert len(refused) < 0.1 * count, f"{len(refused)} of {count} refused: {refused[:5]}"


def _chunk(first: int, how_many: int) -> str:
    """Some programs of a soak, one large one among as many small ones as in the test: what came of them, as JSON."""
    totals: list[Any] = [0, [], []]
    with tempfile.TemporaryDirectory() as name:
        for seed in range(first, first + how_many):
            kind = (Small, Renaming, Small, Ordinary)[seed % 4] if seed % LARGE_AMONG else Generator
            print(f"seed {seed}", file=sys.stderr, flush=True)  # the last one is to blame where a signal ends the process
            totals = [a + b for a, b in zip(totals, run([seed], kind, pathlib.Path(name), 1e18), strict=True)]
    return json.dumps(totals)


def _apart(first: int, how_many: int) -> tuple[int, Found, Found]:
    """A chunk in a process of its own: a signal that ends it is a failure like any other, behind which it goes on."""
    done = subprocess.run(
        [sys.executable, __file__, "chunk", str(first), str(how_many)], capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        count, refused, failures = json.loads(done.stdout.splitlines()[-1])
        return count, refused, failures
    at = int(re.findall(r"^seed (\d+)$", done.stderr, re.MULTILINE)[-1])
    before = _apart(first, at - first) if at > first else (0, [], [])
    behind = _apart(at + 1, first + how_many - at - 1) if at + 1 < first + how_many else (0, [], [])
    ended: Found = [(at, f"the process ended with {done.returncode}: {done.stderr[-300:]}")]
    return before[0] + 1 + behind[0], [*before[1], *behind[1]], [*before[2], *ended, *behind[2]]


def _soak(first: int, how_many: int, cores: int) -> None:
    """Chunks on all cores, each in a process of its own, but for those that ended before in a soak of the same tree."""
    began, end = time.monotonic(), first + how_many
    notes = Notes(FOLDER, f"{first} to {end}")
    totals: list[Any] = [0, [], []]
    for came in notes.parts.values():
        totals = _with(totals, came)
    before = totals[0]
    print(f"{before} programs before, of this tree", flush=True)
    with concurrent.futures.ThreadPoolExecutor(cores) as pool:
        left = [at for at in range(first, end, CHUNK) if at not in notes.parts]
        chunks = {pool.submit(_apart, at, min(CHUNK, end - at)): at for at in left}
        for chunk in concurrent.futures.as_completed(chunks):
            notes.add(chunks[chunk], chunk.result())
            totals = _with(totals, chunk.result())
            rate = (totals[0] - before) / (time.monotonic() - began)
            print(f"{totals[0]} programs, {len(totals[1])} refused, {len(totals[2])} failures; {rate:.1f} a second", flush=True)
    sys.exit(bool(totals[2]))


def _with(totals: list[Any], came: tuple[int, Found, Found]) -> list[Any]:
    """The totals and what came of one chunk more, which is told."""
    for seed, found in came[1]:
        print(f"refused {seed}: {' | '.join(found.splitlines()[::2])[:300]}")
    for seed, found in came[2]:
        print(f"FAIL {seed}: {found[:600]}")
    return [one + more for one, more in zip(totals, came, strict=True)]


if __name__ == "__main__":  # python test_random_programs.py soak FIRST COUNT
    warnings.simplefilter("ignore")
    what, start, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if what == "chunk":
        print(_chunk(start, number))
    else:
        _soak(start, number, int(os.environ.get("D2S_SOAK_CORES", os.cpu_count() or 1)))
