"""Rows of the table of features: one function each, eager code as the oracle, and what is expected of it now.

In: functions, the argument sets of their calls, and a mark. Out: `ROWS`, and `judge`, which runs a row both ways and says
`captured` or the code it is refused with; a difference from eager code is an AssertionError, whatever the mark says.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from programs_compare import Refused, outcome, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),)
CAPTURED = "captured"


@dataclasses.dataclass
class Subject:
    """A function to run, what else its runs change, what happens before each call, and other tensors it reads."""

    function: Any
    state: Callable[[], Any] = lambda: None
    before: Callable[[int], None] = lambda n: None
    watched: Sequence[Any] = ()


@dataclasses.dataclass
class Row:
    """One row: `make` gives a fresh subject; or `check` runs all by itself and gives a code, or nothing if all was right."""

    group: str
    title: str
    expected: str
    make: Callable[[], Subject] | None = None
    sets: Sequence[tuple[Any, ...]] = ()
    check: Callable[[], str | None] | None = None


ROWS: dict[tuple[str, str], Row] = {}


def rows_of(group: str) -> Callable[..., Any]:
    """The decorators of one group: `row(title, sets)` of a function, `row.fresh` of one that makes a Subject, `row.check`."""

    def row(title: str, sets: Sequence[tuple[Any, ...]] = SETS, refused: str = "") -> Any:
        return lambda function: _added(Row(group, title, refused or CAPTURED, lambda: Subject(function), sets), function)

    def fresh(title: str, sets: Sequence[tuple[Any, ...]] = SETS, refused: str = "") -> Any:
        return lambda make: _added(Row(group, title, refused or CAPTURED, make, sets), make)

    def check(title: str, refused: str = "") -> Any:
        return lambda function: _added(Row(group, title, refused or CAPTURED, check=function), function)

    row.fresh, row.check = fresh, check  # type: ignore[attr-defined]
    return row


def _added(row: Row, function: Any) -> Any:
    ROWS[row.group, row.title] = row  # a module that a test runner imports a second time adds none
    return function


def judge(row: Row) -> str:
    """`captured` or a code; AssertionError where a static run differs from the eager one."""
    if row.check:
        return row.check() or CAPTURED
    eager, _ = _run(row, static=False)
    broken = [run for run, _ in eager if run.raised and run.raised[0] in ("AttributeError", "NameError", "TypeError")]
    assert len(broken) < len(eager), f"eager code itself does not run: {broken[0].raised}"
    static, refusal = _run(row, static=True)
    for n, (a, b) in enumerate(zip(eager, static, strict=False)):
        difference = a[0].difference(b[0])
        assert not difference, f"call {n}: eager != static: {difference}"
        assert a[1] == b[1], f"call {n}: state {a[1]!r} eagerly, {b[1]!r} static"
    if refusal is None:
        assert len(static) == len(eager)
        return CAPTURED
    assert "\n  at " in str(refusal), f"without a line: {refusal}"
    return refusal.code


def _run(row: Row, static: bool) -> tuple[list[Any], Any]:
    """Every argument set, in turn and in both orders; a refusal ends the calls."""
    subject = row.make()
    function = d2s.to_static(subject.function) if static else subject.function
    seen: list[Any] = []
    for n, args in enumerate((*row.sets, *row.sets, *row.sets[::-1])):
        subject.before(n)
        try:
            got = outcome(function, args, subject.watched, jointly=n >= len(row.sets))
        except Refused as stop:
            assert static, f"eager code itself is refused: {stop}"
            return seen, stop.error
        seen.append((got, subject.state()))
    return seen, None
