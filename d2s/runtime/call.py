"""A Program made callable on arrays, by the executor a knob names; with CHECK=2 the interpreter runs beside and is compared.

In: a Program, arrays. Out: arrays; see `frames.py`, which runs it.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> Call(program)([np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from d2s.config import config, knob
from d2s.errors import MismatchError
from d2s.ir.program import Node, Program
from d2s.runtime import host, interpreter, native_call, plain, plan
from d2s.runtime.frames import Frames
from d2s.stages import stage

COMPARED = 200_000  # nodes that CHECK=2 has the interpreter run beside: some seconds, where loops may take hours


class UncheckedWarning(UserWarning):
    """CHECK=2 could not compare a run."""


class Call:
    """A Program made callable on arrays, by the executor the knob EXECUTOR names.

    What it plans is the Program `lowered`, with the same inputs and outputs; what CHECK=2 compares with is the Program itself.
    """

    def __init__(self, program: Program, lowered: Callable[[Program], Program] = lambda program: program) -> None:
        self.program, self._lowered = program, lowered
        self._frames: Frames | None = None
        self._plain: Frames | None = None
        self._plan: plan.Plan | None = None
        self._warned = False

    @property
    def plan(self) -> plan.Plan:
        """Made at first use; two threads may both make it, which holds no lock a fork could keep."""
        if self._plan is None:
            built = plan.build(self._lowered(self.program))
            stage(f"plan:{self.program.name}", lambda: str(built))
            self._plan = built
        return self._plan

    def frames(self) -> "Frames":
        """What runs of the plan have in common."""
        if self._frames is None:
            self._frames = Frames(self.plan)
        return self._frames

    def plain(self) -> "Frames":
        """The same in plain Python."""
        if self._plain is None:
            self._plain = Frames(self.plan, plain.execute(self.plan))
        return self._plain

    @property
    def has_run(self) -> bool:
        return self._frames is not None

    def entry(
        self,
        classes: Any,
        kinds: Sequence[type],
        recorded: native_call.Recorded | None = None,
        handed: "native_call.Handed | None" = None,
    ) -> native_call.Entry | None:
        """The way past Python for inputs of these classes, if there is one."""
        frames = self.frames()
        return native_call.entry_of(frames.plan, classes, kinds, frames.pool, recorded, handed)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        if knob("EXECUTOR") == "interpreter":
            return interpreter.run(self.program, arrays)
        frames = self.plain() if knob("EXECUTOR") == "python" else self.frames()
        checked = knob("CHECK") == "2" and not any(v.type.grows for v in self.program.inputs)
        if not checked:
            return frames.run(arrays)
        before, again = len(host.current().found), _unchanged(self.program, arrays)
        results = frames.run(arrays)
        try:
            with host.replaying(host.current().found[before:]), interpreter.at_most(COMPARED):
                self._compare(results, again)
        except interpreter.TooLong:
            self._warn()
            return results
        for value, x, y in zip(self.program.inputs, arrays, again, strict=True):
            if x is not y and not same_bits(x, y):
                raise self._differing(f"the input '{value.name}'", x, y, again)
        return results

    def _compare(self, compiled: Sequence[Any], arrays: Sequence[Any]) -> None:
        interpreted = interpreter.run(self.program, arrays)
        for n, (value, x, y) in enumerate(zip(self.program.outputs, compiled, interpreted, strict=True)):
            stack = value.type.grows and not value.type.listed
            if not stack and not isinstance(y, interpreter.Hole) and not same_bits(x, y):
                raise self._differing(f"output {n}", x, y, arrays)

    def _differing(self, what: str, x: Any, y: Any, arrays: Sequence[Any]) -> MismatchError:
        message = f"{what} of '{self.program.name}': the executor computes {x!r}, the interpreter {y!r}"
        where = first_difference(self.program, arrays, self._lowered)
        hint = "please report it, with the files of D2S_DUMP=folder"
        return MismatchError("D2S2001", f"{message}; {where}" if where else message, hint=hint)

    def _warn(self) -> None:
        """That a run was not compared is said once."""
        if not self._warned:
            message = f"a run of '{self.program.name}' is not checked: it takes more than {COMPARED} steps of the interpreter"
            warnings.warn(message, UncheckedWarning, stacklevel=3)
        self._warned = True


def same_bits(x: Any, y: Any) -> bool:
    """Whether two arrays, or lists of arrays, are equal bit for bit, all nans counting as one."""
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same_bits, x, y))
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    return bool(np.all((x.view(f"i{x.itemsize}") == y.view(f"i{y.itemsize}")) | (np.isnan(x) & np.isnan(y))))


def _unchanged(program: Program, arrays: Sequence[Any]) -> list[Any]:
    """The arrays, copies of those that an `update` changes: what a second run is given."""
    changed = {v for node in program.nodes if node.op == "update" for v in interpreter.updated(node)}
    return [a.copy() if v in changed else a for v, a in zip(program.inputs, arrays, strict=True)]


def first_difference(program: Program, arrays: Sequence[Any], lowered: Callable[[Program], Program]) -> str:
    """The first node the executor and the interpreter disagree on, with its line and both values; empty if there is none."""
    if any(node.op in ("host", "fail", "update") for node in program.every_node()):
        return ""  # it is not run beside
    seen: list[tuple[Node, Any]] = []
    interpreter.run(program, arrays, lambda node, results: seen.extend(_plain(node, results)))
    values = [v for node in program.nodes for v in node.outputs if not v.type.grows]
    all_of_it = Call(Program(program.name, program.inputs, program.nodes, tuple(values)), lowered)
    with config(CHECK=0):
        compiled = all_of_it(arrays)
    for (node, interpreted), y in zip(seen, compiled, strict=True):
        if not isinstance(interpreted, interpreter.Hole) and not same_bits(np.asarray(interpreted), y):
            return f"first in {node.op} at {node.where or '?'}: {interpreted!r} node by node, {y!r} compiled"
    return ""


def _plain(node: Node, results: Sequence[Any]) -> Iterator[tuple[Node, Any]]:
    """The results of a node but for lists and stacks, which later nodes change where they lie."""
    return ((node, found) for value, found in zip(node.outputs, results, strict=True) if not value.type.grows)
