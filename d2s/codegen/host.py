"""The machine code is made for: the host, with all its vector units.

>>> target_machine(jit=True).triple == llvm.get_process_triple()
True
"""

import functools
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm


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
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.verify()
    tuning = llvm.create_pipeline_tuning_options(speed_level=3 if vectors else 2)
    if vectors:
        tuning.loop_vectorization = tuning.slp_vectorization = True
    llvm.create_pass_builder(machine, tuning).getModulePassManager().run(module, llvm.create_pass_builder(machine, tuning))
    complete(module)
    data: bytes = machine.emit_object(module)
    return data
