"""A run and the interpreter's run of the same, compared: results, what is raised, and the inputs that a run changes.

In: a Program, the Frames of its plan, arrays. Out: what the run gives, or raises; a MismatchError where the interpreter gives
something else, that names the first node that does. A stack that is left is given to the interpreter's next run as the one that
the interpreter has left.

>>> from d2s.ir.text import parse
>>> from d2s.runtime import plan
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> checked(program, Frames(plan.build(program)), [np.ones(1, "float32")], set(), lambda program: program)
[array([2.], dtype=float32)]
"""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.errors import MismatchError
from d2s.ir.program import Program, Value
from d2s.runtime import differing, host, interpreter
from d2s.runtime.differing import same_bits
from d2s.runtime.frames import Frames

COMPARED = 200_000  # nodes that the interpreter runs beside: some seconds, where loops may take hours


class UncheckedWarning(UserWarning):
    """CHECK=2 could not compare a run."""


class _Residuals(np.ndarray):
    """A stack that a run has left which was compared; `beside` is what the interpreter has for it."""

    beside: Any = None


def checked(
    program: Program, frames: Frames, arrays: Sequence[Any], told: set[str], lowered_by: differing.Lowered
) -> list[Any]:
    """What a run gives, where it gives what the interpreter gives. Why one could not be compared is `told` once."""
    changed = differing.updated_inputs(program)
    kept = [a.copy() if v in changed else a for v, a in zip(program.inputs, arrays, strict=True)]
    before = len(host.current().found)
    found = differing.outcome(lambda: frames.run(arrays))
    steps = host.current().found[before:]

    def given() -> list[Any]:
        return [a if a is now else a.copy() for a, now in zip(kept, arrays, strict=True)]

    def for_interpreter() -> list[Any]:
        return [a.beside if type(a) is _Residuals else a for a in given()]

    if any(_is_stack(v) and type(a) is not _Residuals for v, a in zip(program.inputs, arrays, strict=True)):
        _warn(told, program, "what the run before it has left was not")
        return _given(found)
    beside = for_interpreter()
    with interpreter.at_most(COMPARED):
        expected = differing.outcome(lambda: interpreter.run(program, beside), steps)
    if isinstance(expected, interpreter.TooLong):
        _warn(told, program, f"it takes more than {COMPARED} steps of the interpreter")
        return _given(found)
    what = _unlike(program, found, expected)
    if what is None and not isinstance(found, Exception):  # which writes in Python what was changed before it
        what = _changed(program, arrays, beside)
    if what:
        with interpreter.at_most(3 * COMPARED):
            first = differing.first_difference(program, frames, for_interpreter, given, steps, lowered_by)
        raise _mismatch(program, what, first)
    results = _given(found)
    return [_with(a, b) if _is_stack(v) else a for v, a, b in zip(program.outputs, results, expected, strict=True)]


def _is_stack(value: Value) -> bool:
    return value.type.grows and not value.type.listed


def _with(stack: np.ndarray, beside: Any) -> np.ndarray:
    made = stack.view(_Residuals)
    made.beside = beside
    return made


def _given(outcome: Any) -> list[Any]:
    if isinstance(outcome, Exception):
        raise outcome
    return outcome  # type: ignore[no-any-return]


def _unlike(program: Program, found: Any, expected: Any) -> tuple[str, Any, Any] | None:
    """What of two outcomes is not the same."""
    if isinstance(found, host.Untold) and isinstance(expected, Exception):
        return None  # which it stands for: eager code makes the call
    if isinstance(found, Exception) or isinstance(expected, Exception):
        alike = type(found) is type(expected) or isinstance(found, MemoryError) or isinstance(expected, host.Unfound)
        return None if alike else ("the end", found, expected)
    for n, (value, x, y) in enumerate(zip(program.outputs, found, expected, strict=True)):
        if _is_stack(value):
            unlike = differing.unlike_on_stacks(y, x)
            if unlike:
                return "what is kept for the gradient", *reversed(unlike)
        elif differing.differs(value.type, y, x):
            return f"output {n}", x, y
    return None


def _changed(program: Program, arrays: Sequence[Any], beside: Sequence[Any]) -> tuple[str, Any, Any] | None:
    """The first of the changed inputs that is not left the same."""
    changed = differing.updated_inputs(program)
    left = [(v, x, y) for v, x, y in zip(program.inputs, arrays, beside, strict=True) if v in changed]
    return next(((f"the input '{v.name}'", x, y) for v, x, y in left if not same_bits(x, y)), None)


def _mismatch(program: Program, what: tuple[str, Any, Any], first: differing.Difference | None) -> MismatchError:
    named, x, y = what
    message = f"{named} of '{program.name}': the executor computes {x!r}, the interpreter {y!r}"
    hint = "please report it, with the files of D2S_DUMP=folder"
    if first is None:
        return MismatchError("D2S2001", message, hint=hint)
    error = MismatchError("D2S2001", f"{message}; {first}", where=first.node.where, hint=hint)
    error.first = str(first)
    return error


def _warn(told: set[str], program: Program, why: str) -> None:
    if why not in told:
        told.add(why)
        warnings.warn(f"a run of '{program.name}' is not checked: {why}", UncheckedWarning, stacklevel=4)
