"""One run of a plan: a frame and an arena from the pool, inputs bound, steps run, outputs fresh arrays.

In: a plan, an array per input (of a stack: what a run returned for one; of a list: a tuple of arrays). Out: an array per
output; an input that comes out as it went in is that very array.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> Frames(plan.build(program)).run([np.ones(2, "float32")])
[array([2., 2.], dtype=float32)]
"""

import ctypes
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import memory
from d2s.errors import D2SError, FormatError, ShapeError
from d2s.ir.program import Node, Value
from d2s.ops import OPS
from d2s.ops.shapes import is_found
from d2s.runtime import binding, executor, host, interpreter, launch, lists, plan
from d2s.runtime.growing import ARENA, MEMORY, Growing, bounds
from d2s.runtime.plan import finds_extents
from d2s.runtime.plan_extents import is_endless
from d2s.runtime.plan_growing import COUNT
from d2s.types import Shape, Type


class Frame:
    """The registers of one running call, and the space for its values."""

    def __init__(self, start: np.ndarray, arena: np.ndarray) -> None:
        self.registers = start.copy()
        self.address, self.cells = self.registers.ctypes.data, memoryview(self.registers)
        self.work_in(arena)

    def work_in(self, arena: np.ndarray) -> None:
        self.arena = arena
        self.top, self.end = bounds(arena)


class Frames:
    """What the calls of a plan have in common, and frames that none of them uses now."""

    def __init__(self, plan: plan.Plan, execute: Callable[[int, int, int, int], int] | None = None) -> None:
        self.plan, self.pool = plan, list[Frame]()
        program, outputs = plan.program, plan.program.outputs
        self.execute = execute or executor.execute()
        self.code = plan.steps.ctypes.data, plan.operands.ctypes.data
        self.native = binding.native()
        written = [r for _, r in _written(plan)]
        inputs = list(zip(plan.inputs, [v.type for v in program.inputs], strict=True))
        self.table = binding.table(inputs, plan.extents, written)
        self.table_address = self.table.ctypes.data
        self.made = [(v.type.shape, v.type.dtype.numpy) for v, _ in _written(plan)]
        self.handed_on = plan.outputs != plan.computed or any(v.type.grows for v in outputs) or bool(plan.found)
        self.lists = [(n, plan.inputs[n]) for n, v in enumerate(program.inputs) if v.type.listed]
        # a frame may be used again as it is left: what a run reads it writes before, but for stacks
        self.clean = not plan.stacks

    def run(self, arrays: Sequence[Any]) -> list[Any]:
        plan = self.plan
        try:
            frame = self.pool.pop()
        except IndexError:  # asking first would let another thread in between
            frame = Frame(plan.frame, np.empty(ARENA, np.uint8))
        cells = frame.cells
        if self.lists:
            arrays = self._with_lists(arrays, cells)
        cells[executor.TOP], cells[executor.END] = frame.top, frame.end
        dims = _dims(plan, arrays) if plan.defined else {}
        outputs: list[Any] = [memory.allocated(plan.program.name, _shape(shape, dims), of) for shape, of in self.made]
        bound = [*arrays, *outputs]
        if self.native is None or self.native(frame.address, self.table_address, id(bound)):
            _bind(plan, frame.registers, arrays)
            for (_, register), array in zip(_written(plan), outputs, strict=True):
                cells[register] = array.ctypes.data
        pc = self.execute(*self.code, frame.address, 0)
        keep, placed = dict[int, Any](), dict[int, Any]()
        if pc != -1:
            try:
                keep = self._go_on(frame, pc, arrays, placed)
            except BaseException:
                self.pool.append(Frame(plan.frame, frame.arena))
                raise
        if self.handed_on:
            outputs = _returned(plan, frame.registers, arrays, outputs, placed, keep)
        if self.clean:
            self.pool.append(frame)
        else:
            self.pool.append(Frame(plan.frame, frame.arena))
        return outputs

    def _with_lists(self, arrays: Sequence[Any], cells: Any) -> list[Any]:
        """The arrays, of lists the buffers that hold all items; how many these are is written down."""
        found = list(arrays)
        for n, register in self.lists:
            cells[register + COUNT] = len(arrays[n])
            found[n] = np.frombuffer(b"".join(item.tobytes() for item in arrays[n]), np.uint8)
        return found

    def _go_on(self, frame: Frame, pc: int, arrays: Sequence[Any], placed: dict[int, Any]) -> dict[int, Any]:
        """Python's part of a run: more memory, signals, errors. Returns the buffers of stacks; outputs are `placed`."""
        plan, registers, growing = self.plan, frame.registers, Growing(frame.arena)
        while pc != -1:
            if pc & MEMORY:
                pc = growing.more(plan, registers, pc)
            elif pc & executor.YIELD:
                pc ^= executor.YIELD  # Python is here for a moment: a pending KeyboardInterrupt is raised
            elif pc & executor.PLACE:
                pc ^= executor.PLACE
                register, number = plan.steps[pc, 1:3].tolist()
                of = plan.program.outputs[number].type
                shape = _shape(of.shape, _dims(plan, arrays, registers))
                placed[number] = memory.allocated(plan.program.name, shape, of.dtype.numpy)
                registers[register] = placed[number].ctypes.data
                pc += 1
            elif plan.checks[pc].op == "host" or OPS[plan.checks[pc].op].has("python"):
                _python_step(plan, registers, _dims(plan, arrays, registers), pc)
                pc += 1
            elif plan.checks[pc].op == "fail":
                dims = _dims(plan, arrays, registers)
                host.leave(plan.checks[pc], _at(plan.checks[pc].inputs, plan.places[pc], registers, dims))
                raise interpreter.failure(plan.checks[pc])
            else:
                raise _failed(plan.checks[pc], _dims(plan, arrays, registers), int(registers[plan.steps[pc, 1]]))
            pc = self.execute(*self.code, frame.address, pc)
        frame.work_in(growing.arena())
        return growing.buffers


def _returned(
    plan: plan.Plan,
    registers: np.ndarray,
    arrays: Sequence[Any],
    made: Sequence[Any],
    placed: dict[int, Any],
    keep: dict[int, Any],
) -> list[Any]:
    """The outputs: what was made before or in a run, the array of an input that came out as it went in, what is on a stack."""
    places, given = dict[int, Any](), [(array.ctypes.data, array) for array in arrays if array.size]
    for place, array in given:
        places[place] = array if places.get(place, array) is array else None  # of two in one place: which of them came out
    keep |= {a.ctypes.data: a for v, a in zip(plan.program.inputs, arrays, strict=True) if v.type.grows and a.size}
    found, results = iter(made), list[Any]()
    for n, (value, r, home) in enumerate(zip(plan.program.outputs, plan.outputs, plan.computed, strict=True)):
        if value.type.listed:
            results.append(_items(registers, r, value.type, _dims(plan, arrays, registers)))
        elif value.type.grows:
            results.append(_stack_of(registers, r, keep))
        elif n in placed:
            results.append(placed[n])
        else:
            array = next(found)
            came_out = places.get(int(registers[home]))
            results.append(array if came_out is None else came_out)
    return results


def _written(plan: plan.Plan) -> list[tuple[Value, int]]:
    """The outputs that are made before a run, and the registers that say where."""
    pairs = zip(plan.program.outputs, plan.outputs, strict=True)
    return [(v, register) for v, register in pairs if not v.type.grows and not finds_extents(v, plan.extents)]


def _dims(plan: plan.Plan, arrays: Sequence[Any], frame: np.ndarray | None = None) -> dict[str, int]:
    """The extents by name; with a frame also those that the run has found."""
    found = {} if frame is None else {name: int(frame[register]) for name, register in plan.found.items()}
    return found | {name: arrays[n].shape[axis] for name, (n, axis) in plan.defined.items()}


def _bind(plan: plan.Plan, frame: np.ndarray, arrays: Sequence[Any]) -> None:
    """Puts addresses and extents of the inputs into the frame; refuses what does not fit."""
    dims = _dims(plan, arrays)
    for value, register, array in zip(plan.program.inputs, plan.inputs, arrays, strict=True):
        if value.type.grows:
            frame[register : register + 3] = array.ctypes.data, array.size, 0  # the first push moves what is another call's
            continue
        frame[register] = array.ctypes.data
        if array.shape != _shape(value.type.shape, dims):
            raise ShapeError("D2S0002", f"'{value.name}' of '{plan.program.name}' is {value.type}, got shape {array.shape}")
    for name, register in plan.extents.items():
        frame[register] = dims[name]


def _shape(shape: Shape, dims: dict[str, int]) -> tuple[int, ...]:
    return tuple(d if isinstance(d, int) else dims[d] for d in shape)


def _python_step(plan: plan.Plan, frame: np.ndarray, dims: dict[str, int], pc: int) -> None:
    """Has Python take a step, and writes what it found where the plan goes on with it."""
    node, places = plan.checks[pc], plan.places[pc]
    (result,) = _at(node.outputs, places[len(node.inputs) :], frame, dims)
    inputs = _at(node.inputs, places, frame, dims)
    result[...] = host.step(node, inputs) if node.op == "host" else interpreter.results(node, inputs)[0]


def _at(values: Sequence[Value], places: Sequence[int], frame: np.ndarray, dims: dict[str, int]) -> list[Any]:
    """The memory of values, where it is now."""
    pairs = [(v.type, home) for v, home in zip(values, places, strict=False)]
    return [
        _items(frame, home, of, dims) if of.listed else memory_at(int(frame[home]), _shape(of.shape, dims), of)
        for of, home in pairs
    ]


def _items(frame: np.ndarray, home: int, of: Type, dims: dict[str, int]) -> tuple[np.ndarray, ...]:
    """Copies of the items of a list."""
    shape = int(frame[home + COUNT]), *_shape(of.shape, dims)
    return tuple(np.array(item) for item in memory_at(int(frame[home]), shape, of))


def memory_at(address: int, shape: tuple[int, ...], of: Type) -> np.ndarray:
    """What stands at an address, as an array of a shape."""
    count = math.prod(shape) * of.dtype.size
    if not count:
        return np.empty(shape, of.dtype.numpy)
    view = memoryview((ctypes.c_char * count).from_address(address)).cast("B")
    return np.frombuffer(view, of.dtype.numpy).reshape(shape)


def _stack_of(frame: np.ndarray, stack: int, keep: dict[int, Any]) -> np.ndarray:
    used: np.ndarray = keep.get(int(frame[stack]), np.empty(0, np.uint8))[: int(frame[stack + 1])]
    return used


def _failed(node: Node, dims: dict[str, int], value: int) -> Exception:
    """What eager code would raise where a check of a run fails."""
    if node.op == "fused":
        node = next(itertools.islice(node.attrs["body"].every_node(), value - 1, None))
    op, inputs = OPS[node.op], [v.type for v in node.inputs]
    endless = next((v.type for v in node.outputs if is_endless(v.type)), None)
    if endless:
        shape = [d if isinstance(d, int) else dims.get(d, d) for d in endless.shape]
        return memory.no_room(op.name, shape, endless.dtype.numpy).at(node.where)
    checked = op.some or any(map(op.has, ("requires", "fault", "least")))
    if node.op in lists.OPS or ("finds" in node.attrs and not checked):
        return FormatError("D2S3001", f"{op.name} of what is not there: this graph was not captured", where=node.where)
    found = [Type(t.dtype, _shape(t.shape, dims), t.python) for t in inputs]
    try:
        op.infer(found, node.attrs)
    except D2SError as error:
        return error.at(node.where)
    if op.has("fault") or (op.overflow and node.outputs[0].type.python):
        return launch.fault(op, found, node.attrs, value).at(node.where)
    message = f"{op.name}(): an extent of {inputs} is 1 in this call; this graph was captured for other extents"
    hint = "what the run makes of extent 1 broadcasts only if a graph knows it: x[i] and unsqueeze() instead of x[mask]"
    named = any(is_found(d) for t in inputs for d in t.shape)
    return ShapeError("D2S0002", message, where=node.where, hint=hint if named else "")
