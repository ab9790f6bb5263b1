"""Arrays into registers: addresses and extents of all inputs and outputs of a plan by one native call.

A NumPy array says its address to Python in 700 ns; where it stands in memory is the same in every NumPy since 1.7, so a native
function reads it. What it reads is compared with what NumPy says once, when the first plan is bound; where that differs,
`native()` is None and `call.py` binds in Python.

In: the plan's inputs and outputs. Out: a table, with a row for each: its register, how many axes it has (STACK_ROW, of what
grows: three registers, OUTPUT_ROW: any), and for each axis its extent, or minus the register that holds it - doubled, plus one
where the register is set here.

>>> frame, arrays = np.zeros(8, np.int64), [np.empty((3, 5), "float32")]
>>> table = np.array([1, 2, 2, -(2 * 3 + 1), 5])
>>> native()(frame.ctypes.data, table.ctypes.data, id(arrays)), int(frame[2]) == arrays[0].ctypes.data, int(frame[3])
(0, True, 3)
"""

import ast
import ctypes
import functools
import sys
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from d2s.codegen import cache, native_functions
from d2s.codegen.host import native_object
from d2s.parsing import tree_of
from d2s.types import Type

STACK_ROW, OUTPUT_ROW = -1, -2
_TEXT = '''
@native
def bind(frame, table, arrays):
    """0, or the number of the first array that does not fit, from 1 on."""
    r, row, items = i64(frame), table + 8, i64(i64(arrays + 24)[0])
    for k in range(i64(table)[0]):
        array, register, axes = items[k], i64(row)[0], i64(row)[1]
        r[register] = i64(array + 16)[0]
        extents = i64(i64(array + 32)[0])
        row = row + 16
        if axes == -1:
            r[register + 1], r[register + 2] = extents[0], 0
        if axes >= 0:
            if i32(array + 24)[0] != axes:
                return k + 1
            for axis in range(axes):
                wanted = i64(row)[axis]
                if wanted >= 0:
                    if extents[axis] != wanted:
                        return k + 1
                else:
                    place = (0 - wanted) // 2
                    if (0 - wanted) % 2 == 1:
                        r[place] = extents[axis]
                    if r[place] != extents[axis]:
                        return k + 1
            row = row + axes * 8
    return 0
'''
Bind = Callable[[int, int, int], int]


@functools.cache
def native() -> Bind | None:
    """The native function, if it reads arrays right here."""
    if sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)():
        return None
    functions = [node for node in tree_of(_TEXT).body if isinstance(node, ast.FunctionDef)]
    text = native_functions.module_of(functions, "f32", {})
    address = cache.linked(f"binding\n{text}", lambda: native_object(text), ["bind"])["bind"]
    bind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(address)
    return bind if _reads_right(bind) else None


def _reads_right(bind: Bind) -> bool:
    arrays: list[np.ndarray] = [np.empty((3, 0, 7), np.int16)[:, :, ::2], np.empty(5, np.uint8), np.empty((), np.float64)]
    frame = np.zeros(12, np.int64)
    table = np.array([3, 2, 3, -7, 0, 4, 4, STACK_ROW, 8, OUTPUT_ROW], np.int64)
    found = bind(frame.ctypes.data, table.ctypes.data, id(arrays))
    known = [0, 0, arrays[0].ctypes.data, 3, arrays[1].ctypes.data, 5, 0, 0, arrays[2].ctypes.data, 0, 0, 0]
    return found == 0 and frame.tolist() == known


def table(inputs: Sequence[tuple[int, Type]], extents: Mapping[str, int], outputs: Sequence[int]) -> np.ndarray:
    """The table for inputs (register and type) and the registers of outputs; `extents` are registers by name."""
    rows, known = [len(inputs) + len(outputs)], set[str]()
    for register, of in inputs:
        if of.grows:
            rows += [register, STACK_ROW]
            continue
        rows += [register, len(of.shape)]
        for d in of.shape:
            rows.append(d if isinstance(d, int) else -2 * extents[d] - (d not in known))
            known |= {d} if isinstance(d, str) else set()
    for register in outputs:
        rows += [register, OUTPUT_ROW]
    return np.array(rows, np.int64)
