"""Random sessions: what a caller sees of a function and of its gradients is the same, be it static or not."""

import os
import time
from typing import Any

import pytest
from programs_compare import t
from random_programs import Small, arguments
from random_sessions import Session
from test_random_programs import load, shared_kernels
from time_limit import TooLong, limited

import d2s
from d2s.errors import D2SError

FIRST = int(os.environ.get("D2S_FUZZ_FIRST", "0"))
PROGRAMS, SESSIONS = int(os.environ.get("D2S_FUZZ_PROGRAMS", "50")), 4
SECONDS = 40
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def differing(function: Any, seed: int) -> str | None:
    """What is seen otherwise; None where the function is refused, or a path gives a result no history."""
    static, compared = d2s.to_static(function), False
    for n, args in enumerate(arguments(seed, t)[:SESSIONS]):
        eager, other = (Session(f, args, seed * SESSIONS + n) for f in (function, static))
        expected = eager.run()
        try:
            found = other.run()
        except D2SError as error:
            assert error.code.startswith("D2S1")
            return None
        first = next(((a, b) for a, b in zip(expected, found, strict=False) if a != b), None)
        if eager.unlike or first is None or "changed in place" in str(first):
            compared |= not eager.unlike
            continue  # what a function itself has changed in place a static call still knows
        return f"session {n}: {first[0]!r} eagerly, {first[1]!r} static; steps {[step for step, *_ in expected]}"
    return "" if compared else None


def test_random_sessions(tmp_path):
    until, compared, failures = time.monotonic() + SECONDS, 0, list[str]()
    for seed in range(FIRST, FIRST + PROGRAMS):
        if time.monotonic() > until:
            break
        function = load(seed, Small, tmp_path)
        try:
            with limited(), shared_kernels():
                found = differing(function, seed)
        except (Exception, TooLong) as error:
            found = f"{type(error).__name__}: {error}"
        compared += found is not None
        failures += [f"seed {seed}: {found}\n{Small(seed).text().partition('def f(')[2]}"] if found else []
    assert not failures, "\n".join(failures)
    assert compared > 0.4 * PROGRAMS or time.monotonic() > until
