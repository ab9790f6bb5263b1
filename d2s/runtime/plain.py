"""EXECUTOR=python: the executor's own loop and the kernels' own texts, run by Python: to step through, and for coverage.

In: a plan. Out: what `executor.execute()` is for compiled runs. A kernel whose text needs compiled code runs compiled, and
says so once.

>>> import numpy as np
>>> from d2s.ir.text import parse
>>> from d2s.runtime.plan import build
>>> program = parse("program f(x: f32[n]) -> (f32[n]) { %0: f32[n] = add(x, x) return %0 }")
>>> plan = build(program)
>>> x, y = np.ones(2, "float32"), np.zeros(2, "float32")
>>> frame = plan.frame.copy()
>>> frame[plan.inputs[0]], frame[plan.extents["n"]], frame[plan.outputs[0]] = x.ctypes.data, 2, y.ctypes.data
>>> execute(plan)(plan.steps.ctypes.data, plan.operands.ctypes.data, frame.ctypes.data, 0), y.tolist()
(-1, [2.0, 2.0])
"""

import ctypes
import functools
import types as python_types
import warnings
from collections.abc import Callable

from d2s import types
from d2s.codegen.plain_text import Kernel, Pointer, plain_kernel
from d2s.ir.program import Node
from d2s.runtime import executor
from d2s.runtime.plan import Plan, lowered

_KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class CompiledWarning(UserWarning):
    """With EXECUTOR=python, a kernel runs compiled all the same."""


_told: set[str] = set()


def execute(plan: Plan) -> Callable[[int, int, int, int], int]:
    """The executor for a plan, in Python."""
    kernels = {int(plan.steps[step, 1]): _kernel(node, int(plan.steps[step, 1])) for step, node in plan.runs.items()}

    def call_kernel(address: int, registers: int, operands: int) -> None:
        kernels[address](registers, operands)

    names = {**vars(executor), "call_kernel": call_kernel, "copy_bytes": ctypes.memmove}
    names |= {"registers": functools.partial(Pointer, of=types.int64), "b1": functools.partial(Pointer, of=types.bool_)}
    return python_types.FunctionType(executor._execute.__code__, names, "execute")


def _kernel(node: Node, address: int) -> Kernel:
    launch = lowered(node)
    found = plain_kernel(launch.text, launch.T)
    if found is not None:
        return found
    op = node.attrs["body"].nodes[0].op if node.op == "fused" else node.op
    if op not in _told:
        _told.add(op)
        message = f"{op}() runs compiled: its kernel needs what Python has not; EXECUTOR=interpreter shows its values"
        warnings.warn(message, CompiledWarning, stacklevel=2)
    return _KERNEL(address)
