"""Random programs: eager, static and interpreted runs give the same bits, forward and backward."""

import importlib.util
import os
import pathlib
import signal
import sys
import tempfile
import time
import warnings
from typing import Any

import pytest
from programs_compare import Refused, outcome, t
from random_programs import Generator, arguments

import d2s

SECONDS = 90
FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
PROGRAMS = int(os.environ.get("D2S_FUZZ_PROGRAMS", "0"))
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def load(seed: int, folder: pathlib.Path) -> Any:
    path = folder / f"random_{seed}.py"
    path.write_text(Generator(seed).text())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def differing(function: Any, sets: list[tuple[Any, ...]], seed: int) -> str:
    """What differs from eager code; Refused where capture is refused."""
    static = d2s.to_static(function)
    for n, args in enumerate(sets):
        jointly = (seed + n) % 2 == 0
        expected = outcome(function, args, jointly=jointly, identity=False)
        for executor in ("numba", "interpreter"):
            with d2s.config(EXECUTOR=executor):
                got = outcome(static, args, jointly=jointly, identity=False)
            difference = expected.difference(got)
            if difference:
                return f"set {n}, {executor}, {'jointly' if jointly else 'one by one'}: eager != static: {difference}"
    return ""


class TooLong(BaseException):
    """Not one that the comparison takes for the program's own."""


def _too_long(*_: Any) -> None:
    raise TooLong("still running after 20 s")


def run(seeds: Any, folder: pathlib.Path, until: float) -> tuple[int, list[tuple[int, str]], list[tuple[int, str]]]:
    count, refused, failures = 0, [], []
    signal.signal(signal.SIGALRM, _too_long)
    for seed in seeds:
        if time.monotonic() > until:
            break
        function = load(seed, folder)
        count += 1
        signal.alarm(20)
        try:
            found = differing(function, arguments(seed, t), seed)
        except Refused as stop:
            refused.append((seed, str(stop)))
            continue
        except (Exception, TooLong) as error:
            found = f"{type(error).__name__}: {error}"
        finally:
            signal.alarm(0)
        if found:
            failures.append((seed, found))
    return count, refused, failures


def test_random_programs(tmp_path):
    seeds = range(FIRST, FIRST + PROGRAMS) if PROGRAMS else range(150)  # the same on every machine; `make soak` goes on
    until = time.monotonic() + (10**9 if PROGRAMS else SECONDS)
    count, refused, failures = run(seeds, tmp_path, until)
    for seed, found in failures:
        print(f"--- seed {seed}: {found}\n{Generator(seed).text().partition('def f(')[2]}")
    assert not failures, f"{len(failures)} of {count} differ: seeds {[seed for seed, _ in failures]}"
    assert len(refused) < 0.4 * count, f"{len(refused)} of {count} refused: {refused[:5]}"


if __name__ == "__main__":  # python test_random_programs.py FIRST COUNT
    warnings.simplefilter("ignore")
    first, how_many = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        totals = run(range(first, first + how_many), pathlib.Path(name), 1e18)
    for seed, found in totals[2]:
        print(f"FAIL {seed}: {found[:600]}")
    for seed, found in totals[1]:
        print(f"refused {seed}: {' | '.join(found.splitlines()[::2])[:300]}")
    print(f"{totals[0]} programs, {len(totals[1])} refused, {len(totals[2])} failures")
