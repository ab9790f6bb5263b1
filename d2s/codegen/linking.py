"""What a kernel calls that is made apart: tiles of products and native functions, linked in behind whoever compiled the kernel.

In: a module of LLVM that defines `kernel` and calls `product_f32` or functions of its text's own. Out: the same module with
these in it, and nothing undefined but ALLOWED: the proof that nothing in it can raise or call Python.

>>> calls = "declare void @product_f32(i64)\\ndefine void @kernel() {\\n  call void @product_f32(i64 0)\\n  ret void\\n}\\n"
>>> module = parsed(calls)
>>> needs_more(module, [])
True
"""

import ast
from collections.abc import Sequence
from typing import Any

import llvmlite.binding as llvm

from d2s.codegen import conv_tiles, dots, native_functions, panels, tiles, vectors
from d2s.codegen.host import improve, parsed, target_machine
from d2s.errors import InternalError

ALLOWED = {"memcpy", "memset", "memmove", "fma", "fmaf", "malloc", "free", "d2s_fork"}
TILES = {"product": tiles, "turned": panels, "dots": dots}


def needs_more(module: Any, functions: Sequence[ast.FunctionDef]) -> bool:
    """Whether a module calls what is made apart."""
    return bool(functions) or any(f.is_declaration and f.name.rpartition("_")[0] in TILES for f in module.functions)


def complete(module: Any, functions: Sequence[ast.FunctionDef], short: str) -> None:
    """Links in what a module calls; all but `kernel` is its own, and what nothing calls is gone."""
    _link_tiles(module)
    if functions:
        module.link_in(_improved(functions, short, module.triple))
    for f in module.functions:
        if not f.is_declaration:
            f.linkage = "external" if f.name == "kernel" else "internal"
    for g in module.global_variables:
        if not g.is_declaration:
            g.linkage = "internal"
    machine = target_machine(reloc="pic", codemodel="small")
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    undefined = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    if undefined - ALLOWED:
        raise InternalError("D2S9001", f"a kernel calls {sorted(undefined - ALLOWED)}")


def _link_tiles(module: Any) -> None:
    called = {f.name for f in module.functions}
    for short in ("f32", "f64"):
        for name, text in TILES.items():
            if f"{name}_{short}" in called:
                found = f'target triple = "{module.triple}"\n{text.text_of(short, vectors.unit())}'
                module.link_in(parsed(found))


def _improved(functions: Sequence[ast.FunctionDef], short: str, triple: str) -> Any:
    """The module of native functions, by LLVM's passes."""
    made = parsed(native_functions.module_of(functions, short, conv_tiles.library(short)))
    made.triple = triple
    made.verify()
    machine = target_machine(reloc="pic", codemodel="small")
    tuning = llvm.create_pipeline_tuning_options(speed_level=2)
    tuning.loop_unrolling = tuning.loop_vectorization = native_functions.has_loops(functions)
    tuning.slp_vectorization = False
    improve(made, machine, tuning)
    return made
