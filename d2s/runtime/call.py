"""A Program made callable on arrays, by the executor a knob names; with CHECK=2 the interpreter runs beside and is compared.

In: a Program, arrays. Out: arrays; see `frames.py`, which runs it.

>>> import numpy as np
>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> Call(program)([np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

from collections.abc import Callable, Sequence
from typing import Any

from d2s.config import knob
from d2s.ir.program import Program
from d2s.once import once
from d2s.runtime import checking, interpreter, native_call, plain, plan
from d2s.runtime.frames import Frames
from d2s.stages import stage


class Call:
    """A Program made callable on arrays, by the executor the knob EXECUTOR names.

    What it plans is the Program `lowered`, with the same inputs and outputs; what CHECK=2 compares with is the Program itself.
    """

    def __init__(self, program: Program, lowered: Callable[[Program], Program] = lambda program: program) -> None:
        self.program, self._lowered = program, lowered
        self._unchecked = set[str]()  # why runs could not be compared, as far as that was told

    @once
    def plan(self) -> plan.Plan:
        """Made at first use."""
        built = plan.build(self._lowered(self.program))
        stage(f"plan:{self.program.name}", lambda: str(built))
        return built

    @once
    def frames(self) -> Frames:
        """What runs of the plan have in common; of threads that begin at once all have the same."""
        return Frames(self.plan)

    @once
    def plain(self) -> Frames:
        """The same in plain Python."""
        return Frames(self.plan, plain.execute(self.plan))

    @property
    def has_run(self) -> bool:
        return "frames" in self.__dict__

    def entry(
        self,
        classes: Any,
        kinds: Sequence[type],
        recorded: native_call.Recorded | None = None,
        handed: "native_call.Handed | None" = None,
    ) -> native_call.Entry | None:
        """The way past Python for inputs of these classes, if there is one."""
        return native_call.entry_of(self.plan, classes, kinds, self.frames.pool, recorded, handed)

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        if knob("EXECUTOR") == "interpreter":
            return interpreter.run(self.program, arrays)
        frames = self.plain if knob("EXECUTOR") == "python" else self.frames
        if knob("CHECK") != "2":
            return frames.run(arrays)
        return checking.checked(self.program, frames, arrays, self._unchecked, self._lowered)
