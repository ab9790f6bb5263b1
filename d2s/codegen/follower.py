"""The call of a follower: a kernel of elements that does each part of a product's result as soon as it is finished.

A follower is `kernel(r, o, row, rows, column, columns)`: these rows and columns of the result, seen as a matrix. A text that
computes a product says `follow(at(r, 0), at(o, follower), row, rows, column, columns)`: behind register `follower` of its own
operands stand those of the follower, and in it its address.

In: a builder of LLVM IR and the six numbers. Out: the call.

>>> module = ir.Module()
>>> function = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * GIVEN), "f")
>>> builder = ir.IRBuilder(function.append_basic_block())
>>> "call void" in str(called(builder, list(function.args)))
True
"""

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_REGISTERS, _OPERANDS = _I64.as_pointer(), _I32.as_pointer()
GIVEN = 6


def called(builder: Any, given: Sequence[Any]) -> Any:
    registers, operands = builder.inttoptr(given[0], _REGISTERS), builder.inttoptr(given[1], _OPERANDS)
    address = builder.load(builder.gep(registers, [builder.sext(builder.load(operands), _I64)]))
    kind = ir.FunctionType(ir.VoidType(), [_REGISTERS, _OPERANDS, *[_I64] * (GIVEN - 2)])
    function = builder.inttoptr(address, kind.as_pointer())
    return builder.call(function, [registers, builder.gep(operands, [_I64(1)]), *given[2:]])
