"""Steps of a Program that Python itself takes: a print, a draw of Python's own random numbers, a NumPy function.

In: a `host` node and the arrays of its inputs. Out: an array for its one result; what is no number stays a Python object of the
run, and its place among these is the result. A half of a gradient that is run again does nothing anew: it is given what the
first run found.

>>> from d2s.ir.text import parse
>>> text = "program f(x: int) -> (int) { %0: int = host(x, call=0, dtype=i64, shape=(), python=True) return %0 }"
>>> (node,) = parse(text).nodes
>>> node.attrs["call"] = lambda run, wanting, x: np.array(x + 1)
>>> with running() as run:
...     step(node, [np.array(2)])
array(3)
>>> with replaying(run.found):
...     step(node, [np.array(5)])
array(3)
"""

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any

import numpy as np

from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS


@dataclasses.dataclass
class Run:
    """One run: the Python objects it has, what its steps found, and which values want a gradient."""

    objects: list[Any] = dataclasses.field(default_factory=list)
    found: list[np.ndarray] = dataclasses.field(default_factory=list)
    wanting: Set[Value] = frozenset()
    leaf: Callable[[str, Any], Any] | None = None  # what a part of the call is, by kind and place
    lengths: dict[int, int] = dataclasses.field(default_factory=dict)  # of lists that got more: what they had before
    again: Iterator[np.ndarray] | None = None
    left: bool = False  # whether it ended in an exception that has written what was changed by then
    ends: Sequence[Any] | None = None  # of one that is replayed: what was changed by then, where it ends so
    history: Callable[[], Sequence[Any]] | None = None  # where the cotangents go of what was changed by then
    repeatable: bool = False  # whether it acts on nothing, so that eager code may make the call where it ends early

    def keep(self, value: Any) -> np.ndarray:
        """The place of a Python object."""
        self.objects.append(value)
        return np.array(len(self.objects) - 1)


class _Runs(threading.local):
    def __init__(self) -> None:
        self.stack: list[Run] = []


_runs = _Runs()


def current() -> Run:
    """The run of this thread that goes on."""
    return _runs.stack[-1] if _runs.stack else Run()


def is_running() -> bool:
    return bool(_runs.stack)


@contextlib.contextmanager
def running(run: Run | None = None) -> Iterator[Run]:
    """The run that steps in a `with` block belong to."""
    _runs.stack.append(run or Run())
    try:
        yield _runs.stack[-1]
    finally:
        _runs.stack.pop()


@contextlib.contextmanager
def replaying(found: Sequence[np.ndarray]) -> Iterator[None]:
    """Has steps give what they found before, and do nothing."""
    with running(Run(again=iter(found))):
        yield


class Untold(Exception):
    """Ends a run in the place of an exception: by its path it has left one tensor or another, and nobody knows which."""


class Unfound(LookupError):
    """What a step that has raised raises where it is replayed."""


def step(node: Node, arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Takes one step."""
    run = current()
    told = node.attrs.get("told", {})  # of which inputs it is told by which others whether they want a gradient
    count, ends = node.attrs.get("count", len(arrays)), min(told.values(), default=len(arrays))
    changed = arrays[count:ends]  # what the run has changed so far
    if run.again is not None:
        try:
            return next(run.again)
        except StopIteration:  # this one raised
            leave(node, changed)
            raise Unfound("a step that found nothing") from None
    call = node.attrs["call"]
    given = enumerate(node.inputs[:count])
    wanting = [v in run.wanting and (n not in told or bool(arrays[told[n]])) for n, v in given]
    try:
        found: np.ndarray = call(run, wanting, *arrays[:count])
    except BaseException:  # Ctrl-C, too
        leave(node, changed)
        raise
    run.found.append(found)
    return found


def leave(node: Node, arrays: Sequence[np.ndarray]) -> None:
    """Where a run ends in an exception: what it has changed so far stays changed."""
    run, stores = current(), node.attrs.get("stores")
    if run.again is not None:
        run.ends = arrays
    elif callable(stores):
        run.left = True
        stores(run, arrays)


def steps_in(program: Program) -> bool:
    """Whether runs of a Program come back to Python: for steps, or ops that have no kernel."""
    return acts(program) or any(OPS[node.op].has("python") for node in program.every_node())


def acts(program: Program) -> bool:
    """Whether Python has a part in the runs of a Program: takes steps, or writes what was changed when one fails."""
    return any(node.op == "host" or node.attrs.get("stores") for node in program.every_node())
