"""Vectors of the host in LLVM IR that Python builds: addresses are ints, and so are all arguments of functions.

In: how many bits a float has. Out: `Float`, its loads, stores and masks; `word`, of tables; `loop`; `turned` squares.

>>> print(Float(32, 4).vector)
<4 x float>
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from d2s.codegen.host import cpu

WIDE = "+avx512f" in cpu()[1].split(",")
_BYTES = 64 if WIDE else 32 if "+avx" in cpu()[1].split(",") else 16  # of a vector register
I64, I32 = ir.IntType(64), ir.IntType(32)
Emit = Callable[[Any, Any], None]  # writes a function's body, given its arguments


class Float:
    """One float type as LLVM sees it."""

    def __init__(self, bits: int, lanes: int = 0) -> None:
        self.bits, self.bytes, self.lanes = bits, bits // 8, lanes or _BYTES * 8 // bits
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.mask = ir.VectorType(ir.IntType(1), self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)

    def at(self, builder: Any, address: Any, offset: Any) -> Any:
        """The address of an element so many behind another."""
        return builder.add(address, builder.mul(offset, I64(self.bytes)))

    def load(self, builder: Any, address: Any) -> Any:
        return builder.load(builder.inttoptr(address, self.vector.as_pointer()), align=self.bytes)

    def store(self, builder: Any, value: Any, address: Any) -> None:
        builder.store(value, builder.inttoptr(address, self.vector.as_pointer()), align=self.bytes)

    def ask(self, builder: Any, address: Any) -> None:
        """The line of the cache at an address is read soon; nothing happens where there is no such memory."""
        place = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [place, I32, I32, I32])
        found = builder.module.globals.get("llvm.prefetch.p0") or ir.Function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(found, [builder.inttoptr(address, place), I32(0), I32(3), I32(1)])

    def everywhere(self, builder: Any, address: Any) -> Any:
        """The number at an address in all lanes."""
        return self.spread(builder, builder.load(builder.inttoptr(address, self.scalar.as_pointer())))

    def spread(self, builder: Any, scalar: Any) -> Any:
        lanes = ir.Constant(ir.VectorType(I32, self.lanes), [0] * self.lanes)
        alone = builder.insert_element(ir.Constant(ir.VectorType(scalar.type, self.lanes), ir.Undefined), scalar, I32(0))
        return builder.shuffle_vector(alone, ir.Constant(alone.type, ir.Undefined), lanes)

    def between(self, builder: Any, begin: Any, end: Any) -> Any:
        """The mask of the lanes begin ... end - 1; either may lie outside."""
        ones = [builder.sub(builder.shl(I64(1), self._lane(builder, edge)), I64(1)) for edge in (begin, end)]
        bits = builder.and_(ones[1], builder.not_(ones[0]))
        return builder.bitcast(builder.trunc(bits, ir.IntType(self.lanes)), self.mask)

    def _lane(self, builder: Any, edge: Any) -> Any:
        """A number as one of 0 ... lanes."""
        low = builder.select(builder.icmp_signed("<", edge, I64(0)), I64(0), edge)
        return builder.select(builder.icmp_signed(">", low, I64(self.lanes)), I64(self.lanes), low)

    def called(self, builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
        of = ir.FunctionType(result, [a.type for a in arguments])
        return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, of, name), arguments)

    def fma(self, builder: Any, x: Any, y: Any, z: Any) -> Any:
        return self.called(builder, f"llvm.fma.v{self.lanes}f{self.bits}", self.vector, [x, y, z])

    def masked_load(self, builder: Any, address: Any, mask: Any) -> Any:
        """Lanes outside of the mask are 0, and their memory is not touched."""
        at = builder.inttoptr(address, self.vector.as_pointer())
        name = f"llvm.masked.load.v{self.lanes}f{self.bits}.p0"
        return self.called(builder, name, self.vector, [at, I32(self.bytes), mask, self.zero])

    def masked_store(self, builder: Any, value: Any, address: Any, mask: Any) -> None:
        at = builder.inttoptr(address, self.vector.as_pointer())
        name = f"llvm.masked.store.v{self.lanes}f{self.bits}.p0"
        self.called(builder, name, ir.VoidType(), [value, at, I32(self.bytes), mask])


def word(builder: Any, address: Any, index: int) -> Any:
    """Element `index` of a table of int64."""
    return builder.load(builder.gep(builder.inttoptr(address, I64.as_pointer()), [I64(index)]))


def loop(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Runs the body for 0 ... count - 1."""
    before, function = builder.block, builder.function
    head, inside, end = (function.append_basic_block(name) for name in ("head", "inside", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(I64)
    index.add_incoming(I64(0), before)
    builder.cbranch(builder.icmp_signed("<", index, count), inside, end)
    builder.position_at_end(inside)
    body(index)
    index.add_incoming(builder.add(index, I64(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(end)


def turned(builder: Any, rows: list[Any], lanes: int) -> list[Any]:
    """The transpose of a square in registers: halves of pairs of rows are exchanged, at every distance."""
    distance = 1
    while distance < lanes:
        low = [i if i & distance == 0 else i - distance + lanes for i in range(lanes)]
        high = [i + distance if i & distance == 0 else i + lanes for i in range(lanes)]
        masks = [ir.Constant(ir.VectorType(I32, lanes), m) for m in (low, high)]
        found = list(rows)
        for i in range(lanes):
            if i & distance == 0:
                pair = rows[i], rows[i + distance]
                found[i], found[i + distance] = (builder.shuffle_vector(*pair, m) for m in masks)
        rows, distance = found, 2 * distance
    return rows
