"""Emitted text → an object file. The one module that imports Numba, and only when something must be compiled.

In: kernel text. Out: bytes of an object whose only symbol is `kernel` (linking.py proves that nothing in it can raise).

>>> object_of("def kernel(r, o):\\n    r[o[0]] = 7\\n", "f32")[:4]
b'\\x7fELF'
"""

import ast
import contextlib
import functools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from llvmlite import ir
from numba import types as nb
from numba.core import cgutils, sigutils
from numba.core.ccallback import CFunc
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.models import PointerModel
from numba.cpython import numbers
from numba.extending import intrinsic, lower_builtin, register_model

from d2s import types
from d2s.codegen import inlining, linking, native_functions, numba_apart, numba_lanes, numba_native, numba_tiles
from d2s.codegen.host import target_machine
from d2s.codegen.sharing import SHARING

_registers, _operands = nb.CPointer(nb.intp), nb.CPointer(nb.int32)
_INSTRUCTIONS = {n: n for n in ("sqrt", "rint", "floor", "ceil", "trunc")} | {"abs": "fabs"}
SIGNATURES = {"kernel": nb.void(_registers, _operands), "execute": nb.intp(nb.intp, nb.intp, nb.intp, nb.intp)}
SHARED = nb.intp(_registers, _operands, nb.intp, nb.intp)  # of a kernel whose work threads share
FOLLOWER = nb.void(_registers, _operands, *[nb.intp] * 4)


class _Input(nb.CPointer):
    """To what a kernel only reads."""


class _Output(nb.CPointer):
    """To what a kernel makes: no input lies there, so that a loop needs no checks to be vectorised."""


register_model(_Input)(PointerModel)
register_model(_Output)(PointerModel)


def _written(module: Any) -> Any:
    """The alias scope of all outputs."""
    domain = module.add_metadata([ir.MetaDataString(module, "d2s")])
    return module.add_metadata([module.add_metadata([ir.MetaDataString(module, "written"), domain])])


@lower_builtin(operator.getitem, _Input, nb.Integer)
def _(context, builder, signature, args):
    found = builder.load(builder.gep(args[0], [args[1]]))
    found.set_metadata("noalias", _written(builder.module))
    return found


@lower_builtin(operator.setitem, _Output, nb.Integer, nb.Any)
def _(context, builder, signature, args):
    builder.store(args[2], builder.gep(args[0], [args[1]])).set_metadata("alias.scope", _written(builder.module))
    return context.get_dummy_value()


def pointer_to(element: Any, kind: Any = nb.CPointer) -> Any:
    """An intrinsic that takes an address as a typed pointer."""

    @intrinsic
    def pointer(typing_context, address):
        signature = kind(element)(nb.intp)
        return signature, lambda c, b, s, a: b.inttoptr(a[0], c.get_value_type(s.return_type))

    return pointer


def local_array_of(element: Any, size: int) -> Any:
    """An intrinsic that gives an array of the kernel's own: accumulators behind a pointer argument are 3x slower."""

    @intrinsic
    def local(typing_context):
        def codegen(context, builder, signature, args):
            array = ir.ArrayType(context.get_value_type(element), size)
            with builder.goto_entry_block():
                memory = builder.alloca(array)  # alloca_once would set it to zeros, one by one
            return builder.bitcast(memory, context.get_value_type(signature.return_type))

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


def rounded_once(name: str, operands: int = 1) -> Any:
    """An intrinsic for an instruction of LLVM on floats of one width."""

    def codegen(context, builder, signature, args):
        t = context.get_value_type(signature.return_type)
        called = f"llvm.{name}.{'f32' if t == ir.FloatType() else 'f64'}"
        return builder.call(cgutils.get_or_insert_function(builder.module, ir.FunctionType(t, [t] * operands), called), args)

    @intrinsic
    def of_one(typing_context, x):
        return x(x), codegen

    @intrinsic
    def of_two(typing_context, x, y):
        return x(x, x), codegen

    return of_one if operands == 1 else of_two


def same_bits_as(given: Any, made: Any) -> Any:
    """An intrinsic that reads the bits of one type as another."""

    @intrinsic
    def read(typing_context, x):
        return made(given), lambda c, b, s, a: b.bitcast(a[0], c.get_value_type(made))

    return read


@intrinsic
def select(typing_context, condition, x, y):
    """x where the condition holds, else y; both are computed, so that no branch is left in a loop."""
    both = typing_context.unify_types(x, y)
    return both(nb.boolean, both, both), lambda c, b, s, a: b.select(*a)


def table(values: Any) -> Any:
    """An intrinsic that reads one of some constants: a few are chosen by selects, many are loaded."""

    @intrinsic
    def read(typing_context, index):
        return nb.float64(nb.int64), lambda c, b, s, a: (_chosen if len(values) < 16 else _loaded)(b, values, a[0])

    return read


def _chosen(builder: Any, values: Any, index: Any) -> Any:
    found = ir.DoubleType()(float(values[0]))
    for k, value in enumerate(values[1:], 1):
        found = builder.select(builder.icmp_signed(">=", index, index.type(k)), ir.DoubleType()(float(value)), found)
    return found


def _loaded(builder: Any, values: Any, index: Any) -> Any:
    array, module = ir.ArrayType(ir.DoubleType(), len(values)), builder.module
    constants = cgutils.global_constant(builder, "table", ir.Constant(array, [float(v) for v in values]))
    found = builder.load(builder.gep(constants, [index.type(0), index], inbounds=True))
    found.set_metadata("noalias", _written(module))
    return found


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


@intrinsic
def new_memory(typing_context, count):
    """The address of so many bytes that `free_memory` gives back; 0 where there are none."""

    def codegen(context, builder, signature, args):
        p = ir.IntType(8).as_pointer()
        malloc = cgutils.get_or_insert_function(builder.module, ir.FunctionType(p, [ir.IntType(64)]), "malloc")
        return builder.ptrtoint(builder.call(malloc, args), ir.IntType(64))

    return nb.intp(nb.intp), codegen


@intrinsic
def free_memory(typing_context, address):
    """Gives back what `new_memory` gave."""

    def codegen(context, builder, signature, args):
        p = ir.IntType(8).as_pointer()
        free = cgutils.get_or_insert_function(builder.module, ir.FunctionType(ir.VoidType(), [p]), "free")
        builder.call(free, [builder.inttoptr(args[0], p)])
        return context.get_dummy_value()

    return nb.void(nb.intp), codegen


def _element(name: str) -> Any:
    """How a dtype lies in memory."""
    return nb.uint8 if name == "bool" else getattr(nb, name)


@functools.cache
def _namespace() -> dict[str, Any]:
    names: dict[str, Any] = {}
    for d in types.TENSOR_DTYPES:
        element = _element(d.name)
        names |= {d.short: pointer_to(element), f"{d.short}_in": pointer_to(element, _Input)}
        names |= {f"{d.short}_out": pointer_to(element, _Output), f"{d.short}_local64": local_array_of(element, 64)}
    names |= {"fma": fma, "call_kernel": call_kernel, "copy_bytes": copy_bytes, "math": math} | numba_apart.NAMES
    names |= {"new_memory": new_memory, "free_memory": free_memory} | numba_lanes.NAMES
    names |= {f"{n}_of": rounded_once(f) for n, f in _INSTRUCTIONS.items()} | {"sign_from": rounded_once("copysign", 2)}
    names |= {"bits_of": same_bits_as(nb.float64, nb.int64), "float_of": same_bits_as(nb.int64, nb.float64)}
    names |= {"bits32_of": same_bits_as(nb.float32, nb.int32), "float32_of": same_bits_as(nb.int32, nb.float32)}
    names |= {
        "bool_": np.bool_,
        "uint8": np.uint8,
        "int8": np.int8,
        "int16": np.int16,
        "int32": np.int32,
        "int64": np.int64,
        "select": select,
        "table": table,
        "float32": np.float32,
        "float64": np.float64,
    }
    return names | {"registers": names["i64"], "inlined": numba.njit(error_model="numpy", inline="always")}


@contextlib.contextmanager
def _wrapping() -> Iterator[None]:
    """Integers that wrap around: Numba declares signed overflow undefined, and LLVM then drops checks for it."""
    before, numbers._int_arith_flags = numbers._int_arith_flags, lambda of: []
    try:
        yield
    finally:
        numbers._int_arith_flags = before


def object_of(text: str, T: str, name: str = "kernel") -> bytes:
    """Compiles the function `name` of a text."""
    computed = types.dtype(T).name
    scope = _namespace() | {"T": np.dtype(computed).type, "local64": local_array_of(_element(computed), 64)}
    scope["local4096"] = local_array_of(_element(computed), 4096)
    rest, natives = native_functions.divided(text)
    scope |= numba_tiles.names(T) | numba_native.names(natives)
    exec(compile(inlining.unfolded(rest), f"<d2s {name}>", "exec"), scope)
    with _wrapping() if types.dtype(T).kind == "i" else contextlib.nullcontext():
        given = scope[name].__code__.co_argcount
        shared = name == "kernel" and given == len(SHARED.args)
        signature = SHARED if shared else FOLLOWER if given == len(FOLLOWER.args) else SIGNATURES[name]
        optimized, entry = _optimized(scope[name], signature)
    return _small_object(optimized, entry, shared, natives, T)


@global_compiler_lock
def _optimized(function: Any, signature: Any) -> tuple[str, str]:
    """What LLVM has made of a function, and its name there; no machine code, which would be made a second time."""
    callback: Any = CFunc(function, sigutils.normalize_signature(signature), {}, {"error_model": "numpy"})
    found = callback._compile_uncached()
    library = found.library
    library._finalize_final_module = lambda: None
    library.finalize()
    return str(library._final_module), found.fndesc.llvm_cfunc_wrapper_name


def _small_object(text: str, entry: str, shared: bool, natives: Sequence[ast.FunctionDef], T: str) -> bytes:
    module = llvm.parse_assembly(text)
    for f in module.functions:
        if f.name == entry:
            f.name = "part" if shared else "kernel"
    if shared:
        module.link_in(llvm.parse_assembly(f'target triple = "{module.triple}"\n{SHARING}'))
    linking.complete(module, natives, T)
    data: bytes = target_machine(reloc="pic", codemodel="small").emit_object(module)
    return data
