"""One call of a plan: a frame and an arena from the pool, inputs bound, steps run, outputs fresh arrays.

In: a plan, an array per input (of a stack: what a run returned for one). Out: an array per output; an input that comes out
as it went in is that very array.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> Call(program)([np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import memory
from d2s.config import knob
from d2s.errors import D2SError, MismatchError, ShapeError
from d2s.ir.program import Node, Program
from d2s.ops import OPS
from d2s.runtime import executor, interpreter, launch, plan
from d2s.stages import stage
from d2s.types import STACK, Type


class Call:
    """A Program made callable on arrays, by the executor the knob EXECUTOR names.

    What it plans is the Program `lowered`, with the same inputs and outputs; what CHECK=2 compares with is the Program itself.
    """

    def __init__(self, program: Program, lowered: Callable[[Program], Program] = lambda program: program) -> None:
        self.program, self._lowered = program, lowered
        self._pool: list[np.ndarray] = []
        self._plan: plan.Plan | None = None

    @property
    def plan(self) -> plan.Plan:
        """Made at first use; two threads may both make it, which holds no lock a fork could keep."""
        if self._plan is None:
            built = plan.build(self._lowered(self.program))
            stage(f"plan:{self.program.name}", lambda: str(built))
            self._plan = built
        return self._plan

    def __call__(self, arrays: Sequence[Any]) -> list[Any]:
        if knob("EXECUTOR") == "interpreter":
            return interpreter.run(self.program, arrays)
        results = _run(self.plan, arrays, self._pool)
        if knob("CHECK") == "2" and not any(v.type is STACK for v in self.program.inputs):
            _compare(self.program, results, interpreter.run(self.program, arrays))
        return results


def same_bits(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two arrays are equal bit for bit, all nans counting as one."""
    if x.dtype != y.dtype or x.shape != y.shape:
        return False
    if x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    return bool(np.all((x.view(f"i{x.itemsize}") == y.view(f"i{y.itemsize}")) | (np.isnan(x) & np.isnan(y))))


def _compare(program: Program, compiled: list[Any], interpreted: list[Any]) -> None:
    for n, (value, x, y) in enumerate(zip(program.outputs, compiled, interpreted, strict=True)):
        if value.type is not STACK and not same_bits(x, y):
            message = f"output {n} of '{program.name}': the executor computes {x!r}, the interpreter {y!r}"
            raise MismatchError("D2S2001", message, hint="please report it, with the files of D2S_DUMP=folder")


def _run(plan: plan.Plan, arrays: Sequence[Any], pool: list[np.ndarray]) -> list[Any]:
    try:
        arena = pool.pop()
    except IndexError:  # asking first would let another thread in between
        arena = np.empty(1 << 16, np.uint8)
    frame = plan.frame.copy()
    keep, dims = _bind(plan, frame, arrays)
    outputs = _outputs(plan, frame, dims)
    chunks = [arena]
    _free_space(frame, arena)
    run, pc = executor.execute(), 0
    addresses = plan.steps.ctypes.data, plan.operands.ctypes.data, frame.ctypes.data
    try:
        while (pc := run(*addresses, pc)) != -1:
            if pc & executor.FULL:
                pc ^= executor.FULL
                _next_chunk(frame, chunks, int(frame[plan.steps[pc, 2]]) + 128)
            elif pc & executor.STACK_FULL:
                pc ^= executor.STACK_FULL
                _grow(frame, int(plan.steps[pc, 1]), int(frame[plan.steps[pc, 3]]), keep)
            elif pc & executor.YIELD:
                pc ^= executor.YIELD  # Python is here for a moment: a pending KeyboardInterrupt is raised
            else:
                raise _failed(plan.checks[pc], dims, int(frame[plan.steps[pc, 1]]))
    finally:
        pool.append(arena if len(chunks) == 1 else np.empty(sum(c.size for c in chunks), np.uint8))
    places = {array.ctypes.data: array for array in arrays if array.size}
    if len(places) < len(arrays):
        places = {}  # two inputs in one place: which of them came out cannot be told
    return [
        _stack_of(frame, r, keep) if out is None else places.get(int(frame[home]), out)
        for out, r, home in zip(outputs, plan.outputs, plan.computed, strict=True)
    ]


def _bind(plan: plan.Plan, frame: np.ndarray, arrays: Sequence[Any]) -> tuple[dict[int, Any], dict[str, int]]:
    """Puts addresses and extents of the inputs into the frame; returns what must stay alive, and the extents by name."""
    keep: dict[int, Any] = {}
    dims: dict[str, int] = {}
    for value, register, array in zip(plan.program.inputs, plan.inputs, arrays, strict=True):
        keep[register] = array
        if value.type is STACK:
            frame[register : register + 3] = array.ctypes.data, array.size, 0  # the first push moves what is another call's
            continue
        frame[register] = array.ctypes.data
        for d, n in zip(value.type.shape, array.shape, strict=True):
            if n != (d if isinstance(d, int) else dims.setdefault(d, n)):
                raise ShapeError("D2S0002", f"'{value.name}' of '{plan.program.name}' is {value.type}, got shape {array.shape}")
    for name, register in plan.extents.items():
        frame[register] = dims[name]
    return keep, dims


def _shape(of: Type, dims: dict[str, int]) -> tuple[int, ...]:
    return tuple(d if isinstance(d, int) else dims[d] for d in of.shape)


def _outputs(plan: plan.Plan, frame: np.ndarray, dims: dict[str, int]) -> list[Any]:
    outputs: list[Any] = []
    for value, register in zip(plan.program.outputs, plan.outputs, strict=True):
        outputs.append(None if value.type is STACK else _output(plan.program.name, value.type, dims))
        if value.type is not STACK:
            frame[register] = outputs[-1].ctypes.data
    return outputs


def _output(name: str, of: Type, dims: dict[str, int]) -> np.ndarray:
    shape = _shape(of, dims)
    memory.check(name, shape, of.dtype.numpy)
    return memory.allocated(name, shape, of.dtype.numpy)


def _free_space(frame: np.ndarray, arena: np.ndarray) -> None:
    start = arena.ctypes.data
    frame[executor.TOP], frame[executor.END] = (start + 63) & -64, start + arena.size


def _next_chunk(frame: np.ndarray, chunks: list[np.ndarray], wanted: int) -> None:
    """Goes on in the chunk behind the one in use, which a trip may have left for an earlier one, or in a new, larger one."""
    full = next(n for n, c in enumerate(chunks) if c.ctypes.data + c.size == frame[executor.END])
    behind = [c for c in chunks[full + 1 :] if c.size >= wanted]
    if not behind:
        chunks.append(memory.space(wanted if wanted < 0 else max(2 * chunks[-1].size, wanted)))
    _free_space(frame, behind[0] if behind else chunks[-1])


def _grow(frame: np.ndarray, stack: int, wanted: int, keep: dict[int, Any]) -> None:
    """A stack's buffer twice as large; what it holds moves along, for a stack is read through its register only."""
    used = int(frame[stack + 1])
    larger = memory.space(wanted if wanted < 0 else max(4096, 2 * (used + wanted)))
    if used:
        larger[:used] = keep[stack][:used]
    keep[stack] = larger
    frame[stack], frame[stack + 2] = larger.ctypes.data, larger.size


def _stack_of(frame: np.ndarray, stack: int, keep: dict[int, Any]) -> np.ndarray:
    used: np.ndarray = keep.get(stack, np.empty(0, np.uint8))[: int(frame[stack + 1])]
    return used


def _failed(node: Node, dims: dict[str, int], value: int) -> Exception:
    """What eager code would raise where a check of a run fails."""
    if node.op == "fail":
        return interpreter.failure(node)
    if node.op == "fused":
        node = node.attrs["body"].nodes[value - 1]
    op, inputs = OPS[node.op], [v.type for v in node.inputs]
    found = [Type(t.dtype, _shape(t, dims), t.python) for t in inputs]
    try:
        op.infer(found, node.attrs)
    except D2SError as error:
        return error.at(node.where)
    if op.has("fault") or (op.overflow and node.outputs[0].type.python):
        return launch.fault(op, found, node.attrs, value).at(node.where)
    message = f"{op.name}(): an extent of {inputs} is 1 in this call; this graph was captured for other extents"
    return ShapeError("D2S0002", message, where=node.where)
