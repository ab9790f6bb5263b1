"""Exceptions that only a run can make: what they are given is found there.

In: an exception as the captured function made it, with symbols in the place of values. Out: a step that makes it in a run, at
its place in the order of all steps, and raises it.

>>> from d2s.types import Type, float32
>>> tracer = Tracer("f")
>>> x = tracer.input(Type(float32, ()), "x")
>>> found_by_run(tracer, ValueError("too large", x)), found_by_run(tracer, ValueError("too large"))
(True, False)
"""

import itertools
from collections.abc import Iterator
from typing import Any

from d2s.capture.containers import attributes, by_path
from d2s.capture.forms import Grown, Later, OneOf
from d2s.capture.heap import contents
from d2s.capture.steps import tell
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.capture.tree import flatten
from d2s.errors import D2SError
from d2s.ir.program import Node
from d2s.runtime.users_frames import raised_at


def found_by_run(tracer: Tracer, error: BaseException) -> bool:
    """Whether an exception, or one that it was raised from, is given what only a run has."""
    return any(_is_found(tracer, value, set()) for one in _line(error) for value in attributes(one).values())


def _is_found(tracer: Tracer, value: Any, seen: set[int]) -> bool:
    for leaf in flatten(value)[0]:
        if isinstance(leaf, SymbolicTensor | Later | OneOf | Grown) or by_path(leaf):
            return True
        if isinstance(leaf, BaseException) or tracer.root.heap.has(leaf):
            held = contents(leaf)
            parts = held.values() if isinstance(held, dict) else held
            new = id(leaf) not in seen and not seen.add(id(leaf))  # type: ignore[func-returns-value]
            if new and any(_is_found(tracer, part, seen) for part in parts):
                return True
    return False


def _line(error: BaseException | None) -> Iterator[BaseException]:
    """An exception and those that were being handled when it was raised."""
    while error is not None and not (isinstance(error, D2SError) and error.code.startswith(("D2S1", "D2S9"))):
        yield error
        error = error.__context__


def raise_in_run(tracer: Tracer, error: BaseException, where: str) -> None:
    """Records the step that makes an exception and raises it."""
    tell(tracer, "raise", _raise, (where, *_line(error)), {}, where)


def only_raises(node: Node) -> bool:
    """Whether a step does nothing else."""
    return node.op == "host" and getattr(node.attrs["call"], "function", None) is _raise


def _raise(where: str, *line: BaseException) -> None:
    for error, context in itertools.pairwise(line):
        error.__context__ = context
    raise raised_at(line[0], where)
