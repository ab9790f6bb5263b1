"""More memory for a run that stopped for want of it: chunks for values on their way, buffers for what grows.

In: a plan, the registers of a run of it, the step at which that stopped. Out: the step it goes on with. What a run has got
stays here until it has ended, and says how large an arena the next one wants.

>>> from d2s.ir.text import parse
>>> from d2s.runtime.plan import build
>>> found = build(parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = exp(x) %1: f32[n] = log(%0) return %1 }"))
>>> step = next(pc for pc, (code, *_) in enumerate(found.steps.tolist()) if code == executor.ALLOC)
>>> registers, growing = found.frame.copy(), Growing(np.empty(64, np.uint8))
>>> registers[executor.END] = growing.chunks[0].ctypes.data + 64
>>> registers[found.steps[step, 2]] = 1000
>>> growing.more(found, registers, step | executor.FULL) == step, len(growing.chunks), growing.arena().size >= 1000
(True, 2, True)
"""

import ctypes
import math
import sys

import numpy as np

from d2s import memory
from d2s.runtime import executor, interpreter
from d2s.runtime.plan import Plan

ARENA = 1 << 16  # bytes of the first chunk
MEMORY = executor.FULL | executor.STACK_FULL  # why a run may stop that goes on when it has more


class Growing:
    """The memory of one run: chunks, the first of them that of its frame, and buffers by their addresses."""

    def __init__(self, arena: np.ndarray) -> None:
        self.chunks, self.buffers = [arena], dict[int, np.ndarray]()

    def more(self, plan: Plan, registers: np.ndarray, stopped: int) -> int:
        """Gives a run what it wanted where it stopped."""
        pc = stopped & ~MEMORY
        if stopped & executor.FULL:
            self._next_chunk(registers, int(registers[plan.steps[pc, 2]]))
        else:
            stack, wanted = int(plan.steps[pc, 1]), int(registers[plan.steps[pc, 3]])
            self._grow(registers, stack, wanted, _most(plan, registers, pc) if stack == plan.calls else math.inf)
        return pc

    def arena(self) -> np.ndarray:
        """One chunk for the next run, as large as all that this one took; if that is much, it is free between runs."""
        first, *others = self.chunks
        larger = memory.kept(sum(map(len, self.chunks)), len(first)) if others else None
        return first if larger is None else larger

    def _size(self) -> int:
        return sum(map(len, (*self.chunks, *self.buffers.values())))

    def _next_chunk(self, registers: np.ndarray, wanted: int) -> None:
        """Goes on in the chunk behind the one in use, which a trip may have left for an earlier one, or in a new, larger."""
        least, largest = wanted + 128 if wanted >= 0 else wanted, max(map(len, self.chunks))
        behind = 1 + next(n for n, c in enumerate(self.chunks) if c.ctypes.data + c.size == registers[executor.END])
        while len(self.chunks) > behind and len(self.chunks[behind]) < least:
            del self.chunks[behind]
        if len(self.chunks) == behind:
            self.chunks.append(memory.space(least, 2 * largest, self._size()))
        registers[executor.TOP], registers[executor.END] = bounds(self.chunks[behind])

    def _grow(self, registers: np.ndarray, stack: int, wanted: int, most: float) -> None:
        """A buffer twice as large for what grows; what it holds moves along, for it is read through its register only."""
        at, used = int(registers[stack]), int(registers[stack + 1])
        least = used + wanted if wanted >= 0 else wanted
        if not used:
            self.buffers.pop(at, None)
        larger = memory.space(least, int(min(most, max(4096, 2 * least))), self._size())
        ctypes.memmove(larger.ctypes.data, at, used)
        self.buffers.pop(at, None)
        self.buffers[larger.ctypes.data] = larger
        registers[stack], registers[stack + 2] = larger.ctypes.data, larger.size


def bounds(arena: np.ndarray) -> tuple[int, int]:
    """Where the free space of an arena that nobody uses begins and ends."""
    start = arena.ctypes.data
    return (start + 63) & -64, start + arena.size


def _most(plan: Plan, registers: np.ndarray, pc: int) -> int:
    """How large the stack of calls may become: calls stand in one another as deep as Python's own may."""
    window, node = int(registers[plan.steps[pc, 3]]), plan.checks[pc]
    most = sys.getrecursionlimit() * window
    if registers[plan.calls + 1] + window > most:
        raise interpreter.too_deep(node.attrs["name"]).at(node.where)
    return most
