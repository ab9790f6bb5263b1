"""Emitted text → an object file. The one module that imports Numba, and only when something must be compiled.

In: kernel text. Out: bytes of an object whose only symbol is `kernel`, with nothing undefined but ALLOWED: the proof that
nothing in it can raise, allocate or call Python.

>>> object_of("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32")[:4]
b'\\x7fELF'
"""

import functools
import math
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.core import cgutils
from numba.extending import intrinsic

from d2s import types
from d2s.codegen.host import target_machine
from d2s.errors import InternalError

ALLOWED = {"memcpy", "memset", "memmove", "tanh", "tanhf", "fma", "fmaf"}
_registers, _operands = nb.CPointer(nb.intp), nb.CPointer(nb.int32)
SIGNATURES = {"kernel": nb.void(_registers, _operands), "execute": nb.intp(nb.intp, nb.intp, nb.intp, nb.intp)}


def pointer_to(element: Any) -> Any:
    """An intrinsic that takes an address as a typed pointer."""

    @intrinsic
    def pointer(typing_context, address):
        signature = nb.CPointer(element)(nb.intp)
        return signature, lambda c, b, s, a: b.inttoptr(a[0], c.get_value_type(s.return_type))

    return pointer


def local_array_of(element: Any, size: int) -> Any:
    """An intrinsic that gives an array of the kernel's own: accumulators behind a pointer argument are 3x slower."""

    @intrinsic
    def local(typing_context):
        def codegen(context, builder, signature, args):
            array = ir.ArrayType(context.get_value_type(element), size)
            return builder.bitcast(cgutils.alloca_once(builder, array), context.get_value_type(signature.return_type))

        return nb.CPointer(element)(), codegen

    return local


@intrinsic
def fma(typing_context, x, y, z):
    """x * y + z, rounded once."""

    def codegen(context, builder, signature, args):
        t = context.get_value_type(signature.return_type)
        name = "llvm.fma.f32" if t == ir.FloatType() else "llvm.fma.f64"
        return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(t, [t] * 3), name), args)

    return x(x, x, x), codegen


@intrinsic
def call_kernel(typing_context, kernel, registers, operands):
    """Calls a kernel by address."""

    def codegen(context, builder, signature, args):
        r, o = ir.IntType(64).as_pointer(), ir.IntType(32).as_pointer()
        function = builder.inttoptr(args[0], ir.FunctionType(ir.VoidType(), [r, o]).as_pointer())
        builder.call(function, [builder.inttoptr(args[1], r), builder.inttoptr(args[2], o)])
        return context.get_dummy_value()

    return nb.void(nb.intp, nb.intp, nb.intp), codegen


@intrinsic
def copy_bytes(typing_context, to, source, count):
    """memcpy between addresses."""

    def codegen(context, builder, signature, args):
        p = ir.IntType(8).as_pointer()
        cgutils.raw_memcpy(builder, builder.inttoptr(args[0], p), builder.inttoptr(args[1], p), args[2], 1)
        return context.get_dummy_value()

    return nb.void(nb.intp, nb.intp, nb.intp), codegen


@functools.cache
def _namespace() -> dict[str, Any]:
    names = {d.short: pointer_to(nb.uint8 if d.kind == "b" else getattr(nb, d.name)) for d in types.TENSOR_DTYPES}
    names |= {"fma": fma, "call_kernel": call_kernel, "copy_bytes": copy_bytes, "math": math}
    return names | {"registers": names["i64"], "inlined": numba.njit(error_model="numpy", inline="always")}


def object_of(text: str, T: str, name: str = "kernel") -> bytes:
    """Compiles the function `name` of a text."""
    computed = types.dtype(T).name
    scope = _namespace() | {"T": getattr(np, computed), "local64": local_array_of(getattr(nb, computed), 64)}
    exec(compile(text, f"<d2s {name}>", "exec"), scope)
    compiled = numba.cfunc(SIGNATURES[name], error_model="numpy")(scope[name])
    return _small_object(compiled.inspect_llvm(), compiled.native_name)


def _small_object(text: str, entry: str) -> bytes:
    module = llvm.parse_assembly(text)
    for f in module.functions:
        if f.name == entry:
            f.name, f.linkage = "kernel", "external"
        elif not f.is_declaration:
            f.linkage = "internal"
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
    return machine.emit_object(module)
