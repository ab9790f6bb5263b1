"""The one compiled loop: runs any plan's table of steps on a frame of registers, without the GIL.

In: addresses of the steps, the operands and the frame, and the step to start at. Out: -1 at the end, or the step at which
Python is wanted, with FULL (arena), STACK_FULL, YIELD (look for Ctrl-C) or PLACE (of an output), or plain (a check failed).

>>> import numpy as np
>>> steps = np.array([[MULTIPLY, 2, 3, 4], [STOP, 0, 0, 0]])
>>> frame = np.array([0, 0, 0, 6, 7])
>>> execute()(steps.ctypes.data, 0, frame.ctypes.data, 0), int(frame[2])
(-1, 42)
"""

import ctypes
import functools
import inspect
from collections.abc import Callable
from typing import Any

from d2s.codegen import cache

CODES = (  # name, and what it does with its operands as a plan's text says it; {x}, {y}, {z} are registers, {at} is a step
    ("RUN", ""),
    ("JUMP", "to {at}"),
    ("JUMP_IF_FALSE", "{x} to {at}"),
    ("LOAD_BOOL", "{x} = bool at {y}"),
    ("MOVE", "{x} = {y}"),
    ("COPY", "{z} bytes from {y} to {x}"),
    ("ALLOC", "{x} = {y} bytes"),
    ("MARK", "{x}"),
    ("RELEASE", "{x}"),
    ("PUSH", "{z} bytes from {y} on {x}"),
    ("POP", "{z} bytes to {y} from {x}"),
    ("MULTIPLY", "{x} = {y} * {z}"),
    ("DIFFER", "{x} = {y} != {z}"),
    ("CHECK", "{x}"),
    ("LOAD", "{x} = int at {y}"),
    ("STORE", "{y} to int at {x}"),
    ("ADD", "{x} = {y} + {z}"),
    ("QUOTIENT", "{x} = {y} // {z}"),
    ("PAUSE", ""),
    ("JUMP_TO", "{x}"),
    ("ADDRESS", "{x} = of {y}"),
    ("OUTSIDE", "{x} = {y} not in 0 ... {z}"),
    ("OUTPUT", "{x} = output {n}"),
    ("STOP", ""),
)
(RUN, JUMP, JUMP_IF_FALSE, LOAD_BOOL, MOVE, COPY, ALLOC, MARK, RELEASE, PUSH, POP, MULTIPLY, DIFFER, CHECK) = range(14)
LOAD, STORE, ADD, QUOTIENT, PAUSE, JUMP_TO, ADDRESS, OUTSIDE, OUTPUT, STOP = range(14, 24)
TOP, END, FIRST = 0, 1, 2  # registers: the arena's free space, then the plan's own
FULL, STACK_FULL, YIELD, PLACE = 1 << 40, 1 << 41, 1 << 42, 1 << 43
ENDLESS = 1 << 62  # bytes: more than there are
FUEL = 1 << 16  # between two looks at pending signals; a backward jump costs 1, each 4 kB allocated or given to a kernel 1 more

registers: Any = None  # the compiler's: an address as a pointer to int64 (b1: to bytes)
b1: Any = None
call_kernel: Any = None
copy_bytes: Any = None


def _execute(steps, operands, frame, pc):
    table = registers(steps)
    r = registers(frame)
    fuel = FUEL
    while True:
        at = pc * 4
        code, x, y, z = table[at], table[at + 1], table[at + 2], table[at + 3]
        pc += 1
        if code == RUN:  # kernel address, offset of its operands in bytes, how many bytes it works on
            call_kernel(x, frame, operands + y)
            fuel -= r[z] >> 12
        elif code == JUMP:
            if x < pc:
                fuel -= 1
                if fuel <= 0:
                    return (pc - 1) | YIELD
            pc = x
        elif code == JUMP_IF_FALSE:
            if r[x] == 0:
                pc = y
        elif code == LOAD_BOOL:
            r[x] = b1(r[y])[0]
        elif code == MOVE:
            r[x] = r[y]
        elif code == COPY:  # to, from, bytes
            copy_bytes(r[x], r[y], r[z])
        elif code == ALLOC:  # r[x] = address of r[y] bytes of the arena
            end = r[TOP] + ((r[y] + 63) & -64)
            if end > r[END] or r[y] < 0 or r[y] > ENDLESS:  # rounded up, the largest of all would wrap around
                return (pc - 1) | FULL
            r[x] = r[TOP]
            r[TOP] = end
            fuel -= r[y] >> 12
        elif code == MARK:
            r[x] = r[TOP]
            r[x + 1] = r[END]
        elif code == RELEASE:
            r[TOP] = r[x]
            r[END] = r[x + 1]
        elif code == PUSH:  # a stack is three registers: address, used bytes, capacity
            if r[x + 1] + r[z] > r[x + 2]:
                return (pc - 1) | STACK_FULL
            copy_bytes(r[x] + r[x + 1], r[y], r[z])
            r[x + 1] += r[z]
        elif code == POP:
            r[x + 1] -= r[z]
            copy_bytes(r[y], r[x] + r[x + 1], r[z])
        elif code == MULTIPLY:  # a product that wraps around is more than there is
            one, other = r[y], r[z]
            product = one * other
            if (one | other) >> 31 != 0 and one != 0 and product // one != other:
                product = ENDLESS
            r[x] = product
        elif code == DIFFER:
            r[x] = 1 if r[y] != r[z] else 0
        elif code == CHECK:
            if r[x] != 0:
                return pc - 1
        elif code == LOAD:  # r[x] = the int64 at an address
            r[x] = registers(r[y])[0]
        elif code == STORE:
            number = registers(r[x])
            number[0] = r[y]
        elif code == ADD:
            r[x] = r[y] + r[z]
        elif code == QUOTIENT:  # of extents: 0 where it would be less
            r[x] = r[y] // r[z] if r[y] > 0 else 0
        elif code == OUTSIDE:
            r[x] = 1 if r[y] < 0 or r[y] > r[z] else 0
        elif code == PAUSE:  # behind what took its time: Python looks for Ctrl-C
            return pc | YIELD
        elif code == JUMP_TO:  # behind a call
            pc = r[x]
        elif code == ADDRESS:  # of the register y
            r[x] = frame + 8 * y
        elif code == OUTPUT:  # r[x] = address of the caller's memory for the output y, whose extents are known from here on
            return (pc - 1) | PLACE
        else:
            return -1


@functools.cache
def address() -> int:
    """Where the compiled executor is; its text is this file's, so a change of it is another object."""
    names = [*(name for name, _ in CODES), "TOP", "END", "FULL", "STACK_FULL", "YIELD", "PLACE", "ENDLESS", "FUEL"]
    constants = "".join(f"{name} = {globals()[name]}\n" for name in names)
    text = constants + inspect.getsource(_execute).replace("def _execute", "def execute")
    return cache.address(text, "i64", "execute")


@functools.cache
def execute() -> Callable[[int, int, int, int], int]:
    """The compiled executor."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(address())
