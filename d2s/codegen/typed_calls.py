"""What typed kernel texts (see typed_functions.py) call that is made apart: tiles, native functions, memory, other kernels.

In: a call's values. Out: its value; the module declares what `linking` puts behind it.

>>> Calls.__mro__[1].__name__
'Values'
"""

import ast
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from d2s.codegen import follower, linking, tiles, vectors
from d2s.codegen.typed_values import F64, I32, I64, Pointer, Values

_BYTES, _VOID = ir.IntType(8).as_pointer(), ir.VoidType()


def sizes(short: str) -> dict[str, int]:
    """The numbers a kernel text of a float dtype knows: columns of a panel, bytes of an element."""
    if short not in ("f32", "f64"):
        return {}
    unit = vectors.unit()
    return {"WIDTH": tiles.width(short, unit), "SIZE": vectors.numbers(short, unit).size}


class Calls(Values):
    """`natives` are the functions of the text that are native."""

    def __init__(
        self, module: ir.Module, function: ir.Function, names: dict[str, Any], T: str, natives: Sequence[ast.FunctionDef] = ()
    ) -> None:
        super().__init__(module, function, sizes(T) | names, T)
        self.short = T
        self.natives = {f.name: _result(f) for f in natives}

    def of_Call(self, node: ast.Call) -> Any:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        if name in self.natives:
            return self.call(name, self.natives[name], [self.int(self.value(a)) for a in node.args])
        if name in linking.TILES and self.short in ("f32", "f64"):
            return self.call(f"{name}_{self.short}", _VOID, [self.int(self.value(a)) for a in node.args])
        return super().of_Call(node)

    def bytes_at(self, address: Any) -> Any:
        return self.b.inttoptr(address, _BYTES)

    def call_registers(self, address: Any) -> Pointer:
        return Pointer(self.b.inttoptr(address, I64.as_pointer()), self.dtypes["int64"], "")

    def call_at(self, pointer: Pointer, index: Any) -> Any:
        """The address of an element."""
        return self.b.ptrtoint(self.b.gep(pointer.address, [self.int(index)]), I64)

    def call_least(self, x: Any, y: Any) -> Any:
        x, y = self.int(x), self.int(y)
        return self.b.select(self.b.icmp_signed("<", x, y), x, y)

    def call_float(self, x: Any) -> Any:
        return self.number(x, F64)

    def call_follow(self, *given: Any) -> Any:
        return follower.called(self.b, given)

    def call_new_memory(self, count: Any) -> Any:
        return self.b.ptrtoint(self.call("malloc", _BYTES, [count]), I64)

    def call_free_memory(self, address: Any) -> Any:
        return self.call("free", _VOID, [self.bytes_at(address)])

    def call_copy_bytes(self, to: Any, source: Any, count: Any) -> Any:
        addresses = [self.bytes_at(address) for address in (to, source)]
        copy = self.module.declare_intrinsic("llvm.memcpy", [a.type for a in addresses] + [I64])
        return self.b.call(copy, [*addresses, count, ir.IntType(1)(0)])

    def call_call_kernel(self, kernel: Any, registers: Any, operands: Any) -> Any:
        given = [self.b.inttoptr(registers, I64.as_pointer()), self.b.inttoptr(operands, I32.as_pointer())]
        kind = ir.FunctionType(_VOID, [v.type for v in given])
        return self.b.call(self.b.inttoptr(kernel, kind.as_pointer()), given)


def _result(function: ast.FunctionDef) -> Any:
    """What a native function gives: an int, or nothing."""
    return I64 if any(isinstance(n, ast.Return) and n.value for n in ast.walk(function)) else _VOID
