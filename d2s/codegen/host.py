"""The machine code is made for: the host, with all its vector units. Several threads may have code made at the same time.

>>> target_machine(jit=True).triple == llvm.get_process_triple()
True
"""

import ctypes
import functools
import threading
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite.binding import ffi


class _Contexts(threading.local):
    """What the modules of a thread have in common: LLVM works on those of different ones at the same time."""

    def __init__(self) -> None:
        self.own = llvm.create_context()


_contexts = _Contexts()


def parsed(text: str) -> Any:
    """A text in LLVM IR as a module of this thread."""
    return llvm.parse_assembly(text, _contexts.own)


def improve(module: Any, machine: Any, tuning: Any) -> None:
    """LLVM's passes over a module."""
    builder = llvm.create_pass_builder(machine, tuning)
    _apart("LLVMPY_RunNewModulePassManager", builder.getModulePassManager(), module, builder)


def _emitted(module: Any, machine: Any) -> bytes:
    with ffi.OutputString() as said:
        buffer = _apart("LLVMPY_TargetMachineEmitToMemory", machine, module, 1, said)
        if not buffer:
            raise RuntimeError(str(said))
    try:
        return ctypes.string_at(ffi.lib.LLVMPY_GetBufferStart(buffer), ffi.lib.LLVMPY_GetBufferSize(buffer))
    finally:
        ffi.lib.LLVMPY_DisposeMemoryBuffer(buffer)


def _apart(name: str, *given: Any) -> Any:
    """A long call of LLVM without the lock that llvmlite holds around each: modules of one thread are nobody else's."""
    function = getattr(ffi.lib, name)
    return getattr(function, "_cfn", function)(*given)


@functools.cache
def cpu() -> tuple[str, str]:
    """The host's CPU and its features, as LLVM names them."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def target_machine(**options: Any) -> Any:
    """An LLVM target machine for the host."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    name, features = cpu()
    return target.create_target_machine(cpu=name, features=features, opt=3, **options)


def native_object(text: str, vectors: bool = False, complete: Callable[[Any], None] = lambda module: None) -> bytes:
    """A text in LLVM IR as an object file: LLVM alone, no Numba. `vectors`: loops become those where LLVM finds how.

    `complete` links in what is improved already.
    """
    machine = target_machine(reloc="pic", codemodel="small")
    module = parsed(text)
    module.triple = machine.triple
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3 if vectors else 2)
    if vectors:
        tuning.loop_vectorization = tuning.slp_vectorization = True
    improve(module, machine, tuning)
    complete(module)
    return _emitted(module, machine)
