"""One op on arrays: the door of eager code and of the interpreter to the kernels.

In: an op, the types and arrays of its inputs, attributes. Out: a fresh array. Arrays are contiguous, in row-major order.

>>> from d2s.ops import OPS
>>> x = np.ones(3, "float32")
>>> run(OPS["add"], (type_of(x),) * 2, (x, x), {})
array([2., 2., 2.], dtype=float32)
"""

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import types
from d2s.codegen import cache, emit
from d2s.errors import PythonIntOverflow
from d2s.ops import Op
from d2s.types import Type

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_OPERANDS = (ctypes.c_int32 * 64)(*range(64))  # an eager call's registers stand in the order its kernel reads them


def type_of(array: np.ndarray, python: bool = False) -> Type:
    return Type(types.dtype(array.dtype), array.shape, python)


def run(op: Op, inputs: Sequence[Type], arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> np.ndarray:
    """Runs one op whose inputs have the types given."""
    out, _, kernel, extents, fails = prepared(op, tuple(inputs), tuple(attrs.items()))
    result: np.ndarray = np.empty([int(d) for d in out.shape], out.dtype.numpy)
    registers = [a.ctypes.data for a in arrays] + [result.ctypes.data, *extents, 0]
    block = (ctypes.c_int64 * len(registers))(*registers)
    kernel(block, _OPERANDS)
    if fails and block[len(registers) - 1]:
        raise overflow(op)
    return result


def overflow(op: Op, where: str = "") -> PythonIntOverflow:
    message = f"{op.name}: a Python int of run time left the 64 bits it has in a captured function"
    return PythonIntOverflow(
        "D2S0005", message, where=where, hint="use an int64 or float64 tensor, or do not capture this part"
    )


class Prepared(NamedTuple):
    """An op made ready for inputs of some types: its result, its kernel, the extents that gets, whether it may fail."""

    out: Type
    address: int
    kernel: Callable[[Any, Any], None]
    extents: list[int]
    fails: bool


@functools.lru_cache(maxsize=4096)
def prepared(op: Op, inputs: tuple[Type, ...], attrs: tuple[tuple[str, Any], ...]) -> Prepared:
    (out,) = op.infer(inputs, dict(attrs))
    launch = emit.lower(op, inputs, (out,), dict(attrs))
    extents = [int(np.prod(dims, dtype=np.int64)) for dims in launch.extents]  # type: ignore[arg-type]
    address = cache.address(launch.text, launch.T)
    return Prepared(out, address, _KERNEL(address), extents, launch.fails)
