"""Random programs that change in place what they have read: gradients, and what refuses them, are those of eager code."""

import os
from typing import Any

import pytest
from random_changes import Caller, Changing
from test_random_programs import load, shared_kernels

import d2s
from d2s.errors import D2SError

FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
PROGRAMS, SESSIONS = int(os.environ.get("D2S_FUZZ_PROGRAMS", "60")), 2
GIVEN = [([1.0, 2.0, -1.0, 0.5], [3.0, 4.0, 0.5, -2.0], 2), ([-1.0, 0.25, 3.0, -0.5], [-3.0, 0.5, 1.5, 1.0], 0)]
GIVEN += [([0.5, 1.0, 1.5, -2.0], [0.3, -0.4, 0.5, 1.0], 1)]


def differing(function: Any, seed: int) -> str | None:
    """What is seen otherwise; None where capture is refused."""
    static, known = d2s.to_static(function), function.__globals__
    for n in range(SESSIONS * len(GIVEN)):
        eager, other = (Caller(f, known, seed * 100 + n, GIVEN[n % len(GIVEN)]) for f in (function, static))
        expected = eager.run()
        try:
            found = other.run()
        except D2SError:
            return None
        for a, b in zip(expected, found, strict=False):
            if a != b:
                return f"session {n}: {a!r} eagerly, {b!r} static; steps {[step for step, *_ in expected]}"
    return ""


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_changes(tmp_path):
    compared, failures = 0, list[str]()
    for seed in range(FIRST, FIRST + PROGRAMS):
        with shared_kernels():
            found = differing(load(seed, Changing, tmp_path), seed)
        compared += found is not None
        failures += [f"seed {seed}: {found}\n{Changing(seed).text().partition('def f(')[2]}"] if found else []
    assert not failures, "\n".join(failures)
    assert compared > 0.6 * PROGRAMS
