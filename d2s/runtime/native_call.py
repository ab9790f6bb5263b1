"""The call of a plan in native text: from tensors to tensors, with nothing of Python in between.

An `Entry` belongs to one plan and is called with the tuple of its inputs: tensors, and Python floats. It looks whether they are
what the plan takes, puts addresses and extents into a frame of its pool, allocates the outputs, runs the executor and makes the
tensors: one, or a tuple. Where anything is unusual - an input of another class or extents, one that wants a gradient where
there is a tape, a run that needs Python - it answers None, and Python goes the plain way, which finds the same bits or the
error. A plan that Python has a part in, or that has stacks, has no entry.

A frame is: the next free one, the ends of its arena, for each input its array and a cell for a float, for each output its
array, then the registers. A row of an input: its class, its register, how many axes it has (FLOAT: it is a float), the
word of its dtype and its extents, or minus the register of each - doubled, plus one where it is set here. A row of an output:
the register it is written to, the one that says where it came to be, its dtype, how many axes it has, and their extents, or
minus the register of each.

>>> from d2s.ir.text import parse
>>> from d2s.ops.dispatch import handlers
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> x = d2s.to_tensor([1.0, 2.0])
>>> entry = entry_of(plan.build(program), handlers.base.classes, (x,), [])
>>> entry is None or entry.call((x,)).tolist() == [2.0, 4.0]
True
"""

import ast
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import memory
from d2s.codegen import cache, native_functions
from d2s.codegen.host import native_object
from d2s.runtime import binding, executor, native_objects, plan
from d2s.runtime.native_call_text import FUNCTIONS, TEXT
from d2s.runtime.native_launcher import LARGEST, Classes, builtin, descr_word, layout, linked
from d2s.runtime.native_text import CALL, HEAD, whole
from d2s.types import Dim

FLOAT = -1
NO_FRAME, FULL = 1, 2  # why an entry declined, if Python can do something about it
MOST_AXES = 32  # of an output
_ARENA = 1 << 16


@functools.cache
def _address() -> int:
    return linked(whole(native_objects.TEXT, TEXT), ["call"])["call"]


@functools.cache
def _functions() -> dict[str, int]:
    functions = [node for node in ast.parse(FUNCTIONS).body if isinstance(node, ast.FunctionDef)]
    words: dict[str, Any] = {name: k for k, name in enumerate((*HEAD, *CALL))}
    text = native_functions.module_of(functions, "f32", words | {"largest": memory.available()})
    return cache.linked(f"calls of plans\n{text}", lambda: native_object(text), ["bind", "extents_of", "came_out"])


class Entry:
    """One plan's native call; `call(inputs)` is a tensor, a tuple of them, or None."""

    def __init__(self, plan: plan.Plan, classes: Classes, kinds: Sequence[type], pool: list[Any]) -> None:
        self.plan, self.pool, self.frames = plan, pool, list[Any]()
        words, templates = layout(classes)
        rows, made = (np.array(found, np.int64) for found in (_rows(plan, kinds), _made(plan)))
        words |= dict.fromkeys(("arrays", "op", "buckets", "free", "reason"), 0) | _functions()
        words |= {"inputs": len(plan.inputs), "outputs": len(plan.outputs), "rows": rows.ctypes.data, "made": made.ctypes.data}
        words |= {"execute": executor.address(), "steps": plan.steps.ctypes.data, "operand_table": plan.operands.ctypes.data}
        words |= {"releases": is_long(plan)}
        self.head = np.array([words[name] for name in (*HEAD, *CALL)], np.int64)
        self.kept = classes, kinds, templates, rows, made  # what the head points at
        self.add(self._arena())
        self.call: Callable[[tuple[Any, ...]], Any] = builtin(_address(), self.head)

    def declined(self) -> None:
        """Behind a call that was declined: one more frame where one was missing, or another where its arena was full."""
        reason = self.head[_word("reason")]
        if reason == FULL:
            self.head[_word("free")] = 0  # the way through Python finds out how much it takes
        if reason in (FULL, NO_FRAME):
            self.add(self._arena())

    def _arena(self) -> np.ndarray:
        return self.pool.pop().arena if self.pool else np.empty(_ARENA, np.uint8)

    def add(self, arena: np.ndarray) -> None:
        """A frame for one more call at the same time."""
        top, end = (arena.ctypes.data + 63) & -64, arena.ctypes.data + arena.size
        places = [0] * (2 * len(self.plan.inputs) + len(self.plan.outputs))
        frame = np.array([self.head[_word("free")], top, end, *places, *self.plan.frame], np.int64)
        self.frames.append((arena, frame))
        self.head[_word("free")] = frame.ctypes.data


@functools.cache
def _word(name: str) -> int:
    return (*HEAD, *CALL).index(name)


def entry_of(plan: plan.Plan, classes: Classes | None, inputs: Sequence[Any], pool: list[Any]) -> Entry | None:
    """The entry of a plan for inputs of the classes of these, if it can have one.

    In `pool` are frames of the way through Python, whose arenas it may take.
    """
    axes = max((len(v.type.shape) for v in plan.program.outputs), default=0)
    if classes is None or binding.native() is None or plan.stacks or plan.places or not plan.outputs or axes > MOST_AXES:
        return None
    if plan.found:  # how large outputs are is not known before the run
        return None
    return Entry(plan, classes, [type(x) for x in inputs], pool)


def _rows(plan: plan.Plan, kinds: Sequence[type]) -> list[int]:
    rows, known = list[int](), set[str]()
    for value, register, kind in zip(plan.program.inputs, plan.inputs, kinds, strict=True):
        of = value.type
        if kind is float:
            rows += [id(kind), register, FLOAT, 0]
            continue
        rows += [id(kind), register, len(of.shape), descr_word(of.dtype.numpy)]
        for d in of.shape:
            rows.append(d if isinstance(d, int) else -2 * plan.extents[d] - (d not in known))
            known |= {d} if isinstance(d, str) else set()
    return rows


def _made(plan: plan.Plan) -> list[int]:
    rows = list[int]()
    for value, register, home in zip(plan.program.outputs, plan.outputs, plan.computed, strict=True):
        dims = [_extent(plan, d) for d in value.type.shape]
        rows += [register, home, id(value.type.dtype.numpy), len(dims), *dims]
    return rows


def _extent(plan: plan.Plan, d: Dim) -> int:
    return d if isinstance(d, int) else -plan.extents[d]


def is_long(plan: plan.Plan) -> bool:
    """Whether a run may take long enough for other threads to run meanwhile."""
    values = [v for node in plan.program.nodes for v in (*node.inputs, *node.outputs)]
    dims = [d for v in values for d in v.type.shape]
    if any(node.regions() for node in plan.program.nodes) or any(isinstance(d, str) for d in dims):
        return True
    return sum(math.prod(d for d in v.type.shape if isinstance(d, int)) for v in values) > LARGEST
