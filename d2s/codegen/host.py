"""The machine code is made for: the host, with all its vector units.

>>> target_machine(jit=True).triple == llvm.get_process_triple()
True
"""

from typing import Any

import llvmlite.binding as llvm


def target_machine(**options: Any) -> Any:
    """An LLVM target machine for the host."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3, **options)
