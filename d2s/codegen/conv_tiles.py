"""Register tiles of convolutions: a product of gathered rows and gathered vectors, and the transpose of a square.

A tile is `rows` x `vectors` sums in registers. For each k in ascending order it reads one number per row and one vector of
LANES numbers per column and adds their product, fused. Where they lie is the sum of two offsets, one of the row (or vector)
and one of k, which stand in tables: so the same tile walks over an image, over weights in either direction, and over a panel.

In: a dtype. Out: what native functions of kernel texts call: `tile6(...)`, and the numbers LANES, WIDTH, ... The shape of a
tile follows the host's registers; no bit of a result does, for each sum is one chain of its own.

>>> library("f32")["LANES"] == 2 * library("f64")["LANES"]
True
"""

import functools
import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir

from d2s.codegen.host import cpu

_WIDE = "+avx512f" in cpu()[1].split(",")
_BYTES = 64 if _WIDE else 32 if "+avx" in cpu()[1].split(",") else 16  # of a vector register
_MANY = _WIDE or platform.machine() == "aarch64"  # 32 vector registers, not 16
VECTORS = 4 if _MANY else 2
SPREAD = 16  # sums a gradient of one filter per channel is spread over
Emit = Callable[[Any, Any], None]  # writes a function's body, given its arguments
_I64, _I32 = ir.IntType(64), ir.IntType(32)


class _Float:
    """One float type as LLVM sees it."""

    def __init__(self, bits: int, lanes: int = 0) -> None:
        self.bits, self.bytes, self.lanes = bits, bits // 8, lanes or _BYTES * 8 // bits
        self.scalar = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector = ir.VectorType(self.scalar, self.lanes)
        self.mask = ir.VectorType(ir.IntType(1), self.lanes)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)

    def at(self, builder: Any, address: Any, offset: Any) -> Any:
        """The address of an element so many behind another."""
        return builder.add(address, builder.mul(offset, _I64(self.bytes)))

    def load(self, builder: Any, address: Any) -> Any:
        return builder.load(builder.inttoptr(address, self.vector.as_pointer()), align=self.bytes)

    def store(self, builder: Any, value: Any, address: Any) -> None:
        builder.store(value, builder.inttoptr(address, self.vector.as_pointer()), align=self.bytes)

    def everywhere(self, builder: Any, address: Any) -> Any:
        """The number at an address in all lanes."""
        return self.spread(builder, builder.load(builder.inttoptr(address, self.scalar.as_pointer())))

    def spread(self, builder: Any, scalar: Any) -> Any:
        lanes = ir.Constant(ir.VectorType(_I32, self.lanes), [0] * self.lanes)
        alone = builder.insert_element(ir.Constant(ir.VectorType(scalar.type, self.lanes), ir.Undefined), scalar, _I32(0))
        return builder.shuffle_vector(alone, ir.Constant(alone.type, ir.Undefined), lanes)

    def between(self, builder: Any, begin: Any, end: Any) -> Any:
        """The mask of the lanes begin ... end - 1; either may lie outside."""
        ones = [builder.sub(builder.shl(_I64(1), self._lane(builder, edge)), _I64(1)) for edge in (begin, end)]
        bits = builder.and_(ones[1], builder.not_(ones[0]))
        return builder.bitcast(builder.trunc(bits, ir.IntType(self.lanes)), self.mask)

    def _lane(self, builder: Any, edge: Any) -> Any:
        """A number as one of 0 ... lanes."""
        low = builder.select(builder.icmp_signed("<", edge, _I64(0)), _I64(0), edge)
        return builder.select(builder.icmp_signed(">", low, _I64(self.lanes)), _I64(self.lanes), low)

    def _called(self, builder: Any, name: str, result: Any, arguments: list[Any]) -> Any:
        of = ir.FunctionType(result, [a.type for a in arguments])
        return builder.call(builder.module.globals.get(name) or ir.Function(builder.module, of, name), arguments)

    def fma(self, builder: Any, x: Any, y: Any, z: Any) -> Any:
        return self._called(builder, f"llvm.fma.v{self.lanes}f{self.bits}", self.vector, [x, y, z])

    def masked_load(self, builder: Any, address: Any, mask: Any) -> Any:
        """Lanes outside of the mask are 0, and their memory is not touched."""
        at = builder.inttoptr(address, self.vector.as_pointer())
        name = f"llvm.masked.load.v{self.lanes}f{self.bits}.p0"
        return self._called(builder, name, self.vector, [at, _I32(self.bytes), mask, self.zero])

    def masked_store(self, builder: Any, value: Any, address: Any, mask: Any) -> None:
        at = builder.inttoptr(address, self.vector.as_pointer())
        name = f"llvm.masked.store.v{self.lanes}f{self.bits}.p0"
        self._called(builder, name, ir.VoidType(), [value, at, _I32(self.bytes), mask])


def _word(builder: Any, address: Any, index: int) -> Any:
    """Element `index` of a table of int64."""
    return builder.load(builder.gep(builder.inttoptr(address, _I64.as_pointer()), [_I64(index)]))


def _tile(of: _Float, rows: int, vectors: int) -> Emit:
    """tile(count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, begun, bias): all addresses, offsets in elements.

    `table` holds pairs, what k adds to a row's and to a vector's place. Sums begin at 0, or with what c holds where `begun`;
    `bias` has an addend per row, for after the last k, or is 0.
    """

    def emit(builder: Any, args: Any) -> None:
        count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, begun, bias = args
        A = [of.at(builder, a, _word(builder, a_rows, i)) for i in range(rows)]
        B = [of.at(builder, b, _word(builder, b_vectors, j)) for j in range(vectors)]
        starts = [of.at(builder, c, _word(builder, c_rows, i)) for i in range(rows)]
        ends = [_word(builder, c_vectors, j) for j in range(vectors)]
        C = [[of.at(builder, start, end) for end in ends] for start in starts]
        sums = [[builder.alloca(of.vector) for _ in ends] for _ in starts]
        cells = [(i, j) for i in range(rows) for j in range(vectors)]
        with builder.if_else(builder.icmp_signed("!=", begun, _I64(0))) as (going_on, beginning):
            with going_on:
                for i, j in cells:
                    builder.store(of.load(builder, C[i][j]), sums[i][j])
            with beginning:
                for i, j in cells:
                    builder.store(of.zero, sums[i][j])

        def meet(k: Any) -> None:
            pair = builder.add(table, builder.mul(k, _I64(16)))
            of_row, of_vector = _word(builder, pair, 0), _word(builder, pair, 1)
            read = [of.load(builder, of.at(builder, p, of_vector)) for p in B]
            for i in range(rows):
                x = of.everywhere(builder, of.at(builder, A[i], of_row))
                for j in range(vectors):
                    builder.store(of.fma(builder, x, read[j], builder.load(sums[i][j])), sums[i][j])

        _loop(builder, count, meet)
        with builder.if_then(builder.icmp_signed("!=", bias, _I64(0))):
            for i in range(rows):
                added = of.everywhere(builder, of.at(builder, bias, _I64(i)))
                for j in range(vectors):
                    builder.store(builder.fadd(builder.load(sums[i][j]), added), sums[i][j])
        for i, j in cells:
            of.store(builder, builder.load(sums[i][j]), C[i][j])

    return emit


def _loop(builder: Any, count: Any, body: Callable[[Any], None]) -> None:
    """Runs the body for 0 ... count - 1."""
    before, function = builder.block, builder.function
    head, inside, end = (function.append_basic_block(name) for name in ("head", "inside", "end"))
    builder.branch(head)
    builder.position_at_end(head)
    index = builder.phi(_I64)
    index.add_incoming(_I64(0), before)
    builder.cbranch(builder.icmp_signed("<", index, count), inside, end)
    builder.position_at_end(inside)
    body(index)
    index.add_incoming(builder.add(index, _I64(1)), builder.block)
    builder.branch(head)
    builder.position_at_end(end)


def _move(of: _Float) -> Emit:
    """move(to, source): LANES numbers."""
    return lambda builder, args: of.store(builder, of.load(builder, args[1]), args[0])


def _block(of: _Float, step: int) -> Emit:
    """block(to, to_pitch, source, pitch, rows, begin, end, count): the first count of LANES numbers in each of some rows.

    Those outside of begin ... end - 1 are 0, and not read. block2 takes every other one of the numbers of the source.
    """
    even = ir.Constant(ir.VectorType(_I32, of.lanes), list(range(0, 2 * of.lanes, 2)))

    def emit(builder: Any, args: Any) -> None:
        to, to_pitch, source, pitch, rows, begin, end, count = args
        first, last = begin, end
        if step == 2:
            first, last = builder.mul(begin, _I64(2)), builder.sub(builder.mul(end, _I64(2)), _I64(1))
        parts = [_I64(k * of.lanes) for k in range(step)]
        masks = [of.between(builder, builder.sub(first, k), builder.sub(last, k)) for k in parts]
        written = of.between(builder, _I64(0), count)

        def copy(k: Any) -> None:
            at = of.at(builder, source, builder.mul(k, pitch))
            read = [of.masked_load(builder, of.at(builder, at, p), m) for p, m in zip(parts, masks, strict=True)]
            value = read[0] if step == 1 else builder.shuffle_vector(*read, even)
            of.masked_store(builder, value, of.at(builder, to, builder.mul(k, to_pitch)), written)

        _loop(builder, rows, copy)

    return emit


def _shifted_added(of: _Float) -> Emit:
    """shifted_added(total, source, pitch, count, step, begin, extent): to LANES totals the places begin, begin + 1, … of lines.

    Of each of so many lines one after the other, each time step places less far in; what a line has not counts as 0.
    """

    def emit(builder: Any, args: Any) -> None:
        total, source, pitch, count, step, begin, extent = args
        found = builder.alloca(of.vector)
        builder.store(of.load(builder, total), found)

        def add(k: Any) -> None:
            first = builder.sub(begin, builder.mul(k, step))
            mask = of.between(builder, builder.sub(_I64(0), first), builder.sub(extent, first))
            at = of.at(builder, source, builder.add(builder.mul(k, pitch), first))
            builder.store(builder.fadd(builder.load(found), of.masked_load(builder, at, mask)), found)

        _loop(builder, count, add)
        of.store(builder, builder.load(found), total)

    return emit


def _odd(of: _Float) -> Emit:
    """odd(at, count, to): puts 1 to an int where one of the numbers is a nan, else 0."""

    def emit(builder: Any, args: Any) -> None:
        at, count, to = args
        found = builder.alloca(of.mask)
        builder.store(ir.Constant(of.mask, [0] * of.lanes), found)

        def look(k: Any) -> None:
            first = builder.mul(k, _I64(of.lanes))
            mask = of.between(builder, _I64(0), builder.sub(count, first))
            read = of.masked_load(builder, of.at(builder, at, first), mask)
            builder.store(builder.or_(builder.load(found), builder.fcmp_unordered("uno", read, read)), found)

        _loop(builder, builder.sdiv(builder.add(count, _I64(of.lanes - 1)), _I64(of.lanes)), look)
        bits = builder.bitcast(builder.load(found), ir.IntType(of.lanes))
        any_ = builder.zext(builder.icmp_unsigned("!=", bits, ir.IntType(of.lanes)(0)), _I64)
        builder.store(any_, builder.inttoptr(to, _I64.as_pointer()))

    return emit


def _lanes(of: _Float, taps: int) -> Emit:
    """lanes9(count, table, a, b, b_taps, sums): LANES sums of products for each of some taps.

    `table` holds triples: where numbers of a lie, where those of b, and how many there are; b_taps what a tap adds. Sums are
    of SPREAD numbers whatever the vectors of the host, for they are added in the end.
    """
    wide = _Float(of.bits, SPREAD)

    def emit(builder: Any, args: Any) -> None:
        count, table, a, b, b_taps, sums = args
        B = [wide.at(builder, b, _word(builder, b_taps, i)) for i in range(taps)]
        places = [wide.at(builder, sums, _I64(i * SPREAD)) for i in range(taps)]
        totals = [builder.alloca(wide.vector) for _ in places]
        for total, place in zip(totals, places, strict=True):
            builder.store(wide.load(builder, place), total)

        def meet(k: Any) -> None:
            row = builder.add(table, builder.mul(k, _I64(24)))
            mask = wide.between(builder, _I64(0), _word(builder, row, 2))
            x = wide.masked_load(builder, wide.at(builder, a, _word(builder, row, 0)), mask)
            for i in range(taps):
                y = wide.masked_load(builder, wide.at(builder, B[i], _word(builder, row, 1)), mask)
                before = builder.load(totals[i])
                builder.store(builder.select(mask, wide.fma(builder, x, y, before), before), totals[i])

        _loop(builder, count, meet)
        for total, place in zip(totals, places, strict=True):
            wide.store(builder, builder.load(total), place)

    return emit


def _turn(of: _Float) -> Emit:
    """turn(to, to_stride, source, source_stride, rows, columns): the transpose of at most LANES x LANES numbers."""

    def emit(builder: Any, args: Any) -> None:
        to, to_stride, source, stride, rows, columns = args
        mask = of.between(builder, _I64(0), columns)
        nothing, all_rows = ir.Constant(of.mask, [0] * of.lanes), []
        for i in range(of.lanes):
            there = builder.select(builder.icmp_signed("<", _I64(i), rows), mask, nothing)
            all_rows.append(of.masked_load(builder, of.at(builder, source, builder.mul(stride, _I64(i))), there))
        turned = _turned(builder, all_rows, of.lanes)
        mask = of.between(builder, _I64(0), rows)
        for i, row in enumerate(turned):
            there = builder.select(builder.icmp_signed("<", _I64(i), columns), mask, nothing)
            of.masked_store(builder, row, of.at(builder, to, builder.mul(to_stride, _I64(i))), there)

    return emit


def _turned(builder: Any, rows: list[Any], lanes: int) -> list[Any]:
    """The transpose of a square in registers: halves of pairs of rows are exchanged, at every distance."""
    distance = 1
    while distance < lanes:
        low = [i if i & distance == 0 else i - distance + lanes for i in range(lanes)]
        high = [i + distance if i & distance == 0 else i + lanes for i in range(lanes)]
        masks = [ir.Constant(ir.VectorType(_I32, lanes), m) for m in (low, high)]
        found = list(rows)
        for i in range(lanes):
            if i & distance == 0:
                pair = rows[i], rows[i + distance]
                found[i], found[i + distance] = (builder.shuffle_vector(*pair, m) for m in masks)
        rows, distance = found, 2 * distance
    return rows


def _function(name: str, count: int, emit: Emit, module: ir.Module) -> ir.Function:
    """A function of so many ints."""
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [_I64] * count), name)
    made.linkage = "internal"
    made.attributes.add("noinline" if count > 4 or name == "odd" else "alwaysinline")
    builder = ir.IRBuilder(made.append_basic_block())
    emit(builder, made.args)
    builder.ret_void()
    return made


@functools.cache
def library(short: str) -> dict[str, Any]:
    """Functions, each made in the module that calls it, and numbers."""
    of = _Float(int(short[1:]))
    found: dict[str, Any] = {
        "LANES": of.lanes,
        "WIDTH": VECTORS * of.lanes,
        "VECTORS": VECTORS,
        "SIZE": of.bytes,
        "SPREAD": SPREAD,
    }
    emits = {
        "move": (2, _move(of)),
        "block": (8, _block(of, 1)),
        "block2": (8, _block(of, 2)),
        "turn": (6, _turn(of)),
        "shifted_added": (7, _shifted_added(of)),
        "lanes9": (6, _lanes(of, 9)),
    }
    wide = {"": VECTORS, "x1": 1, "x2": 2}
    emits |= {f"tile{rows}{name}": (11, _tile(of, rows, v)) for rows in (6, 4, 2) for name, v in wide.items()}
    emits |= {"odd": (3, _odd(of))}
    emits |= {"line": (11, _tile(of, 1, 2 * VECTORS))}
    return found | {name: functools.partial(_function, name, *made) for name, made in emits.items()}
