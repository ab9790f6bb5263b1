"""Runs of programs as `fluid` had them: readers that are part of a program feed it, and rates are found as the run begins.

In: a program, what it is fed. Out: arrays; `EOFException` where a reader that was started is at its end.

>>> Executor().run(d2s.static.Program()), now().feed
([], {})
"""

import contextlib
import dataclasses
from collections.abc import Iterator
from typing import Any

from d2s.static import executor
from d2s.static.program import Program, default_main_program
from d2s.static.scope import Scope, global_scope


class EOFException(Exception):
    """The end of a reader that is part of a program."""


@dataclasses.dataclass
class Run:
    """A run that goes on: what it is fed, where its values are, and what was found for it before it began, by what it is of."""

    feed: dict[str, Any]
    scope: Scope
    found: dict[int, Any] = dataclasses.field(default_factory=dict)


_runs: list[Run] = []


def now() -> Run:
    """The run that goes on; between runs, one that is fed nothing."""
    return _runs[-1] if _runs else Run({}, global_scope())


@contextlib.contextmanager
def going_on(feed: dict[str, Any], scope: Scope) -> Iterator[None]:
    """A run with these inputs goes on inside the `with` block."""
    _runs.append(Run(feed, scope))
    try:
        yield
    finally:
        _runs.pop()


READERS = "readers"  # where a program notes those that are part of it


def readers_of(program: Program | None) -> Iterator[Any]:
    """The readers that are part of a program, or of what it is a clone of."""
    while program is not None:
        yield from program.notes.get(READERS, ())
        program = program.origin


COUNTERS = "counters"  # where a program notes, by name, those of its runs: a tensor, what is added, what it is in a run


def _with_batches(program: Program, feed: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """What a run is fed, with what its readers give. The run that finds the end of one is counted, as it then was."""
    try:
        for reader in readers_of(program):
            feed |= reader.batch_for(program, feed)
    except EOFException:
        for tensor, step, _ in program.notes.get(COUNTERS, {}).values():
            scope.now(tensor).set_value(scope.now(tensor).numpy() + step)
        raise
    return feed


class Executor(executor.Executor):
    """Runs programs, and feeds them what their readers give."""

    def run(
        self,
        program: Any = None,
        feed: Any = None,
        fetch_list: Any = None,
        feed_var_name: str = "feed",
        fetch_var_name: str = "fetch",
        scope: Scope | None = None,
        return_numpy: bool = True,
        use_program_cache: bool = False,
        use_prune: bool = False,
    ) -> list[Any]:
        """Gives a program values for its feeds, runs it, and returns what is fetched."""
        held = program.program if isinstance(program, executor.CompiledProgram) else program
        held = default_main_program() if held is None else held
        given = feed[0] if isinstance(feed, list | tuple) and len(feed) == 1 else feed
        if isinstance(held, Program) and isinstance(given, dict | None):
            given = _with_batches(held, dict(given or {}), scope or global_scope())
        with going_on(given if isinstance(given, dict) else {}, scope or global_scope()):
            return super().run(held, given, fetch_list, scope=scope, return_numpy=return_numpy)
