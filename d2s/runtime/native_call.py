"""The call of a plan in native text: from tensors to tensors, with nothing of Python in between.

An `Entry` belongs to one plan and is called with the tuple of its inputs: tensors, arrays, Python numbers. It looks whether
they are what the plan takes, puts addresses and extents into a frame of its pool, allocates the outputs, runs the executor and
makes the tensors: one, or a tuple. Where there is a tape and inputs want gradients, an entry with another plan - that of the
forward half, for just these inputs - is asked behind it, which also makes the tape's node. Where anything is unusual - an input
of another class or extents, an int of more than 60 bits, a run that needs Python - the answer is None, and Python goes the
plain way, which finds the same bits or the error. A plan that Python has a part in, or that takes or gives lists, has no entry.
What grows in a run lies in buffers of the frame, all of one size; where one is full, or the arena, Python is asked for more,
the run goes on, and what it took is the frame's from then on.

A frame is: the next free one, the ends of its arena, for each input its array and a cell for a number, for each output its
array, then the registers, then where the stacks' buffers are and how large each is, what Python is given that is asked for more
memory, and where the run stopped that had to. A row of an input: its class, its
register, how many axes it has (FLOAT, INT: it is a number; STACK: it is what an earlier run left on a stack), the word of its
dtype, its `stop_gradient` if that is to be the one or the other, and its extents, or minus the register of each - doubled, plus
one where it is set here. A row of an output: the register it is written to, the one that says where it came to be (of what only
a run knows the extents of, minus the first in both places: the run asks for it; what grows is copied behind it), its dtype, how
many axes it has, its history (see `_histories`), and its extents, or minus the register of each.

>>> from d2s.ir.text import parse
>>> from d2s.ops.dispatch import handlers
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> x = d2s.to_tensor([1.0, 2.0])
>>> entry = entry_of(plan.build(program), handlers.base.classes, (type(x),), [])
>>> entry is None or entry.call((x,)).tolist() == [2.0, 4.0]
True
"""

import ast
import ctypes
import functools
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import memory
from d2s.codegen import cache, native_functions
from d2s.codegen.host import native_object
from d2s.errors import D2SError
from d2s.ir.program import Program
from d2s.parsing import tree_of
from d2s.runtime import binding, executor, native_objects, native_results, native_tape, plan
from d2s.runtime.growing import ARENA, Growing, bounds
from d2s.runtime.host import steps_in
from d2s.runtime.native_call_functions import FUNCTIONS
from d2s.runtime.native_call_text import TEXT
from d2s.runtime.native_launcher import LARGEST, Classes, builtin, descr_word, layout, linked, offsets, template
from d2s.runtime.native_text import CALL, HEAD, whole
from d2s.runtime.plan import finds_extents
from d2s.types import Dim

FLOAT, STACK, INT = -1, -2, -3
ROOM, MOST_ROOM = 1 << 12, 1 << 24  # of a stack at first, and at most
MOST_AXES = 32  # of an output
_NUMBERS: dict[type, int] = {float: FLOAT, int: INT, bool: INT}
_BYTES = np.dtype(np.uint8)


@functools.cache
def _address() -> int:
    return linked(whole(native_objects.TEXT, native_tape.TEXT, native_results.TEXT, native_results.HISTORY, TEXT), ["call"])[
        "call"
    ]


@functools.cache
def _functions() -> dict[str, int]:
    functions = [node for node in tree_of(FUNCTIONS).body if isinstance(node, ast.FunctionDef)]
    words: dict[str, Any] = {name: k for k, name in enumerate((*HEAD, *CALL))}
    words |= {"largest": memory.available(), "tagged": int(sys.version_info >= (3, 12))}  # a sign beside the number of digits
    text = native_functions.module_of(functions, "f32", words)
    return cache.linked(f"calls of plans\n{text}", lambda: native_object(text), ["int_of", "bind", "extents_of", "came_out"])


@functools.cache
def _reads_ints() -> bool:
    """Whether native text reads Python's ints right here."""
    read, found = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(_functions()["int_of"]), ctypes.c_int64()
    known = [0, 1, -1, True, 2**30 - 1, 2**30, -(2**30), 2**60 - 1, 1 - 2**60]
    right = [read(id(n), ctypes.addressof(found)) == 0 and found.value == n for n in known]
    return all(right) and all(read(id(n), ctypes.addressof(found)) == -1 for n in (2**60, -(2**60), 2**80))


class Recorded(NamedTuple):
    """What calls put on the tape: a node with what all their nodes share, and what stands for a further result of it.

    And which inputs want a gradient, which of the outputs handed out have one, and which output, if any, says whether they do
    on the path taken (-1: none); outputs behind those handed out are kept by the node only.
    """

    node: Any
    result: Any
    wanted: Sequence[bool]
    reached: Sequence[bool]
    taken: Sequence[int]


class Handed(NamedTuple):
    """How many outputs are handed out, and which one says whether some of these are one tensor (-1: none are)."""

    several: int
    same: int


class Entry:
    """One plan's native call; `call(inputs)` is a tensor, a tuple of them, or None."""

    def __init__(
        self,
        plan: plan.Plan,
        classes: Classes,
        kinds: Sequence[type],
        pool: list[Any],
        recorded: Recorded | None = None,
        handed: Handed | None = None,
    ) -> None:
        self.plan, self.pool, self.frames = plan, pool, list[Any]()
        self._behind: Entry | None = None
        self._closed = False
        words, templates = layout(classes) if recorded is None else _tape_layout(classes, recorded)
        positions = list(range(len(plan.outputs)))
        rows = np.array(_rows(plan, kinds, recorded.wanted if recorded else ()), np.int64)
        made = np.array(_made(plan, _histories(positions, recorded.reached if recorded else ())), np.int64)
        words |= dict.fromkeys(("arrays", "op", "buckets", "free", "reason", "following"), 0) | _functions()
        words |= {"inputs": len(plan.inputs), "outputs": len(positions), "on_tape": recorded is not None}
        words |= {"returned": len(recorded.reached) if recorded else handed.several if handed else len(positions)}
        words |= {"same": handed.same + 1 if handed else 0}
        stacks = np.array(plan.stacks, np.int64)
        taken = np.array(recorded.taken if recorded else (), np.int64)
        words |= {"taken": taken.ctypes.data if (taken >= 0).any() else 0}
        words |= {"more": id(NativeFrame.more), "settle": id(NativeFrame.settle)}
        words |= {"stacks": len(stacks), "stack_rows": stacks.ctypes.data, "stacks_at": len(plan.frame)}
        words |= {"rows": rows.ctypes.data, "made": made.ctypes.data, "releases": is_long(plan.program)}
        words |= {"execute": executor.address(), "steps": plan.steps.ctypes.data, "operand_table": plan.operands.ctypes.data}
        self.head = np.array([words.get(name, 0) for name in (*HEAD, *CALL)], np.int64)
        self.most = _most_room(plan)
        self.kept = classes, kinds, recorded, templates, positions, rows, made, stacks, taken  # what the head points at
        self.add()
        self.call: Callable[[tuple[Any, ...]], Any] = builtin(_address(), self.head)

    def ask_behind(self, entry: "Entry") -> None:
        """Has `call` ask another entry where this one declines."""
        self._behind = entry
        self.head[_word("following")] = entry.head.ctypes.data

    def close(self) -> None:
        """From now on it declines; calls that other threads are in go on, and the first of them to end may open it again."""
        self._closed, self.head[_word("free")] = True, 0

    def declined(self) -> None:
        """Behind a call that was declined: one more frame where one was missing."""
        missed = self.head[_word("reason")]
        self.head[_word("reason")] = 0
        if missed and not self._closed:
            self.add()
        if self._behind:
            self._behind.declined()

    def add(self) -> None:
        """A frame for one more call at the same time."""
        frame = NativeFrame(self.plan, self._arena(), self.most)
        given = (frame,)  # of the frame itself it would be a cycle
        frame.registers[-2] = id(given)
        self.frames.append(given)
        head, free, cells, at = self.head, _word("free"), frame.cells, frame.cells.ctypes.data
        cells[0] = head[free]  # no call from here on: another thread may not take the first free frame in between
        head[free] = at

    def _arena(self) -> np.ndarray:
        try:
            return self.pool.pop().arena  # type: ignore[no-any-return]
        except IndexError:  # asking first would let another thread in between
            return np.empty(ARENA, np.uint8)


class NativeFrame:
    """The frame of one native call at a time, and the memory of its runs."""

    def __init__(self, plan: plan.Plan, arena: np.ndarray, most: int) -> None:
        self.plan, self.most, self.room, self.stacks = plan, most, 0, np.empty(0, np.uint8)
        places = 2 * len(plan.inputs) + len(plan.outputs)
        self.cells = np.array([0, 0, 0, *[0] * places, *plan.frame, 0, 0, 0, 0], np.int64)
        self.registers = self.cells[3 + places :]
        self._work_in(arena, min(ROOM, most))

    def _work_in(self, arena: np.ndarray, room: int) -> None:
        if room != self.room:
            stacks = np.empty(room * len(self.plan.stacks), np.uint8)
            registers, at = self.registers, stacks.ctypes.data
            registers[-4:-2], self.stacks, self.room = (at, room), stacks, room  # at once: Ctrl-C comes in calls
        self.cells[1:3], self.growing = bounds(arena), Growing(arena)

    def more(self) -> bool:
        """More memory for a run, whose last register says where it stopped; where there is none Python's way says so."""
        try:
            self.growing.more(self.plan, self.registers, int(self.registers[-1]))
        except D2SError:
            self.growing, self.registers[-1] = Growing(self.growing.chunks[0]), 0
            return False
        return True

    def settle(self) -> bool:
        """Behind a run that took more: so much is there for the next one from its beginning, unless that is much."""
        largest = max([self.room, *(len(buffer) for buffer in self.growing.buffers.values())])
        room, count = min(largest, self.most), len(self.plan.stacks)
        self._work_in(self.growing.arena(), room if memory.fits(room * count, self.room * count) else self.room)
        self.registers[-1] = 0
        return True


@functools.cache
def _word(name: str) -> int:
    return (*HEAD, *CALL).index(name)


def entry_of(
    plan: plan.Plan,
    classes: Classes | None,
    kinds: Sequence[type],
    pool: list[Any],
    recorded: Recorded | None = None,
    handed: Handed | None = None,
) -> Entry | None:
    """The entry of a plan for inputs of these classes - tensors, arrays, Python numbers - if it can have one.

    In `pool` are frames of the way through Python, whose arenas it may take. `recorded` is for calls on the tape.
    """
    outputs = plan.program.outputs
    axes = max((len(v.type.shape) for v in outputs), default=0)
    if classes is None or binding.native() is None or not outputs or axes > MOST_AXES:
        return None
    if any(v.type.listed for v in (*plan.program.inputs, *outputs)) or steps_in(plan.program):
        return None
    if (int in kinds or bool in kinds) and not _reads_ints():
        return None
    return Entry(plan, classes, kinds, pool, recorded, handed)


def _most_room(plan: plan.Plan) -> int:
    """How many bytes a stack may have: that of calls no more than they take as deep as Python's own may stand."""
    if plan.calls < 0:
        return MOST_ROOM
    windows = [plan.frame[z] for code, x, _, z in plan.steps.tolist() if code == executor.PUSH and x == plan.calls]
    return int(min(MOST_ROOM, sys.getrecursionlimit() * min(windows)))


def _tape_layout(classes: Classes, recorded: Recorded) -> tuple[dict[str, int], list[Any]]:
    """The words of a head whose calls are on the tape, and what they point at."""
    words, templates = layout(classes._replace(node=recorded.node), ("edges", "order", "code", "at", "arrays", "results"))
    at = offsets(type(recorded.result))
    templates.append(template(recorded.result, at, ("node", "position")))
    words |= {"result_template": templates[-1].ctypes.data, "result_node_at": at["node"], "position_at": at["position"]}
    return words, templates


def _rows(plan: plan.Plan, kinds: Sequence[type], wanted: Sequence[bool]) -> list[int]:
    rows, known = list[int](), set[str]()
    for k, (value, register, kind) in enumerate(zip(plan.program.inputs, plan.inputs, kinds, strict=True)):
        of = value.type
        if kind in _NUMBERS or of.grows:
            rows += [id(kind), register, STACK if of.grows else _NUMBERS[kind], 0, 0]
            continue
        rows += [id(kind), register, len(of.shape), descr_word(of.dtype.numpy), id(not wanted[k]) if wanted else 0]
        for d in of.shape:
            rows.append(d if isinstance(d, int) else -2 * plan.extents[d] - (d not in known))
            known |= {d} if isinstance(d, str) else set()
    return rows


def _histories(positions: Sequence[int], reached: Sequence[bool]) -> list[int]:
    """What an output's row says of its history: 0 for none, 1 for the node itself, or its position as an object."""
    on_tape = [*reached, *[False] * len(positions)]
    return [(id(n) if n else 1) if on_tape[n] else 0 for n in positions]


def _made(plan: plan.Plan, histories: Sequence[int]) -> list[int]:
    rows = list[int]()
    for value, register, home, history in zip(plan.program.outputs, plan.outputs, plan.computed, histories, strict=True):
        if value.type.grows:
            rows += [-register, -register, id(_BYTES), 1, 0, -(register + 1)]
            continue
        dims = [_extent(plan, d) for d in value.type.shape]
        places = [-register, -register] if finds_extents(value, plan.extents) else [register, home]
        rows += [*places, id(value.type.dtype.numpy), len(dims), history, *dims]
    return rows


def _extent(plan: plan.Plan, d: Dim) -> int:
    return d if isinstance(d, int) else -(plan.found[d] if d in plan.found else plan.extents[d])


def is_long(program: Program) -> bool:
    """Whether a run of what is planned may take long enough for other threads to run meanwhile."""
    nodes = [*program.every_node()]
    values = [v for node in nodes for v in (*node.inputs, *node.outputs)]
    dims = [d for v in values for d in v.type.shape]
    if any(node.op in ("while_loop", "call") for node in nodes) or any(isinstance(d, str) for d in dims):
        return True
    return sum(math.prod(d for d in v.type.shape if isinstance(d, int)) for v in values) > LARGEST
