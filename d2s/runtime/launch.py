"""One op on arrays: the door of eager code and of the interpreter to the kernels.

In: an op, the types and arrays of its inputs, attributes. Out: a fresh array, or a tuple of them where the op has by-products.
Arrays are contiguous, in row-major order.

>>> from d2s.ops import OPS
>>> x = np.ones(3, "float32")
>>> run(OPS["add"], (type_of(x),) * 2, (x, x), {})
array([2., 2., 2.], dtype=float32)
"""

import ctypes
import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import memory, types
from d2s.codegen import cache, emit
from d2s.errors import D2SError, PythonIntOverflow
from d2s.exact import Exactly
from d2s.ops import Op
from d2s.types import Type

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
_OPERANDS = (ctypes.c_int32 * 4096)(*range(4096))  # an eager call's registers stand in the order its kernel reads them


def type_of(array: np.ndarray, python: bool = False) -> Type:
    return _type(array.dtype, array.shape, python)


@functools.lru_cache(maxsize=4096)
def _type(dtype: np.dtype, shape: tuple[int, ...], python: bool) -> Type:
    return Type(types.dtype(dtype), shape, python)


def run(op: Op, inputs: Sequence[Type], arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> Any:
    """Runs one op whose inputs have the types given."""
    if op.has("python"):
        (of,) = op.infer(inputs, attrs)
        return np.array(op.rules["python"](*arrays, **attrs), of.dtype.numpy, order="C")
    return using(prepared(op, tuple(inputs), Exactly(attrs)), op, inputs, arrays, attrs)


def using(ready: "Prepared", op: Op, inputs: Sequence[Type], arrays: Sequence[np.ndarray], attrs: dict[str, Any]) -> Any:
    """Runs what was prepared for inputs of such types."""
    results = [memory.allocated(op.name, shape, dtype) for shape, dtype in ready.results]
    addresses = [a.__array_interface__["data"][0] for a in (*arrays, *results)]
    registers = [*addresses, *ready.extents, 0]
    block = (ctypes.c_int64 * len(registers))(*registers)
    ready.kernel(block, _OPERANDS)
    if ready.fails and block[len(registers) - 1]:
        raise fault(op, inputs, attrs, block[len(registers) - 1])
    return results[0] if len(results) == 1 else tuple(results)


def in_place(text: str, arrays: Sequence[np.ndarray]) -> None:
    """Runs the kernel of an optimizer's step on the parameter, the gradient, the state, and the numbers."""
    first = arrays[0]
    registers = [*(a.__array_interface__["data"][0] for a in arrays), first.size]
    block = (ctypes.c_int64 * len(registers))(*registers)
    _KERNEL(cache.address(text, types.dtype(first.dtype).short))(block, _OPERANDS)


def fault(op: Op, inputs: Sequence[Type], attrs: dict[str, Any], value: int) -> D2SError:
    """The error that a kernel reported by a number; without a rule of the op's own, it is that of a Python int."""
    if op.has("fault"):
        error: D2SError = op.rules["fault"](value, *inputs, **attrs)
        return error
    return left_64_bits(op.name)


def left_64_bits(name: str) -> PythonIntOverflow:
    """The error of a Python int that Python alone could hold."""
    message = f"{name}: a Python int of run time left the 64 bits it has in a captured function"
    return PythonIntOverflow("D2S0005", message, hint="use an int64 or float64 tensor, or do not capture this part")


class Prepared(NamedTuple):
    """An op made ready for inputs of some types: its results, its kernel, the extents that gets, whether it may fail."""

    outputs: tuple[Type, ...]
    results: list[tuple[tuple[int, ...], np.dtype]]
    address: int
    kernel: Callable[[Any, Any], None]
    extents: list[int]
    fails: bool


@functools.lru_cache(maxsize=4096)
def prepared(op: Op, inputs: tuple[Type, ...], attributes: Exactly) -> Prepared:
    attrs = attributes.value
    outputs = op.infer(inputs, attrs)
    results = [(tuple(int(d) for d in out.shape), out.dtype.numpy) for out in outputs]
    for shape, dtype in results:
        memory.check(op.name, shape, dtype)
    launch = emit.lower(op, inputs, outputs, attrs)
    extents = [math.prod(map(int, dims)) for dims in launch.extents]  # type: ignore[arg-type]
    address = cache.address(launch.text, launch.T)
    return Prepared(outputs, results, address, _KERNEL(address), extents, launch.fails)
