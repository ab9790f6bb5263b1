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
from typing import Any

from llvmlite import ir

from d2s.codegen import plane_tiles, pool_tiles, winograd
from d2s.codegen.vector_ir import I32, I64, WIDE, Emit, Float, loop, turned, word

_MANY = WIDE or platform.machine() == "aarch64"  # 32 vector registers, not 16
VECTORS = 4 if _MANY else 2
HIGH = 9 if _MANY else 6  # rows of a tile of one vector or two
SPREAD = plane_tiles.SPREAD


def _tile(of: Float, rows: int, vectors: int) -> Emit:
    """tile(count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, begun, bias): all addresses, offsets in elements.

    `table` holds pairs, what k adds to a row's and to a vector's place. Sums begin at 0, or with what c holds where `begun`;
    `bias` has an addend per row, for after the last k, or is 0.
    """

    def emit(builder: Any, args: Any) -> None:
        count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, begun, bias = args
        A = [of.at(builder, a, word(builder, a_rows, i)) for i in range(rows)]
        B = [of.at(builder, b, word(builder, b_vectors, j)) for j in range(vectors)]
        starts = [of.at(builder, c, word(builder, c_rows, i)) for i in range(rows)]
        ends = [word(builder, c_vectors, j) for j in range(vectors)]
        C = [[of.at(builder, start, end) for end in ends] for start in starts]
        sums = [[builder.alloca(of.vector) for _ in ends] for _ in starts]
        cells = [(i, j) for i in range(rows) for j in range(vectors)]
        with builder.if_else(builder.icmp_signed("!=", begun, I64(0))) as (going_on, beginning):
            with going_on:
                for i, j in cells:
                    builder.store(of.load(builder, C[i][j]), sums[i][j])
            with beginning:
                for i, j in cells:
                    builder.store(of.zero, sums[i][j])

        def meet(k: Any) -> None:
            pair = builder.add(table, builder.mul(k, I64(16)))
            of_row, of_vector = word(builder, pair, 0), word(builder, pair, 1)
            read = [of.load(builder, of.at(builder, p, of_vector)) for p in B]
            for i in range(rows):
                x = of.everywhere(builder, of.at(builder, A[i], of_row))
                for j in range(vectors):
                    builder.store(of.fma(builder, x, read[j], builder.load(sums[i][j])), sums[i][j])

        loop(builder, count, meet)
        with builder.if_then(builder.icmp_signed("!=", bias, I64(0))):
            for i in range(rows):
                added = of.everywhere(builder, of.at(builder, bias, I64(i)))
                for j in range(vectors):
                    builder.store(builder.fadd(builder.load(sums[i][j]), added), sums[i][j])
        for i, j in cells:
            of.store(builder, builder.load(sums[i][j]), C[i][j])

    return emit


def _move(of: Float) -> Emit:
    """move(to, source): LANES numbers."""
    return lambda builder, args: of.store(builder, of.load(builder, args[1]), args[0])


def _block(of: Float, step: int) -> Emit:
    """block(to, to_pitch, source, pitch, rows, begin, end, count): the first count of LANES numbers in each of some rows.

    Those outside of begin ... end - 1 are 0, and not read. block2 takes every other one of the numbers of the source.
    """
    even = ir.Constant(ir.VectorType(I32, of.lanes), list(range(0, 2 * of.lanes, 2)))

    def emit(builder: Any, args: Any) -> None:
        to, to_pitch, source, pitch, rows, begin, end, count = args
        first, last = begin, end
        if step == 2:
            first, last = builder.mul(begin, I64(2)), builder.sub(builder.mul(end, I64(2)), I64(1))
        parts = [I64(k * of.lanes) for k in range(step)]
        masks = [of.between(builder, builder.sub(first, k), builder.sub(last, k)) for k in parts]
        written, ahead = of.between(builder, I64(0), count), _ahead(builder, rows, pitch)

        def copy(k: Any) -> None:
            at = of.at(builder, source, builder.mul(k, pitch))
            for part in parts:
                of.ask(builder, of.at(builder, at, builder.add(ahead, part)))
            read = [of.masked_load(builder, of.at(builder, at, p), m) for p, m in zip(parts, masks, strict=True)]
            value = read[0] if step == 1 else builder.shuffle_vector(*read, even)
            of.masked_store(builder, value, of.at(builder, to, builder.mul(k, to_pitch)), written)

        loop(builder, rows, copy)

    return emit


def _ahead(builder: Any, rows: Any, pitch: Any) -> Any:
    """Two planes of so many rows: what is read of the one behind the next is asked for, as its rows come at another stride."""
    return builder.mul(I64(2), builder.mul(rows, pitch))


def _parted(of: Float) -> Emit:
    """parted(to, apart, to_pitch, source, pitch, rows, begin, end, count): rows of pairs, as first ones and as second ones.

    Of the first count of LANES pairs of each of some rows; the second ones go so far apart from the first ones. Numbers outside
    of begin ... end - 1 are 0, and not read.
    """
    sides = [ir.Constant(ir.VectorType(I32, of.lanes), list(range(k, 2 * of.lanes, 2))) for k in (0, 1)]

    def emit(builder: Any, args: Any) -> None:
        to, apart, to_pitch, source, pitch, rows, begin, end, count = args
        parts = [I64(k * of.lanes) for k in (0, 1)]
        masks = [of.between(builder, builder.sub(begin, k), builder.sub(end, k)) for k in parts]
        written, ahead = of.between(builder, I64(0), count), _ahead(builder, rows, pitch)

        def copy(k: Any) -> None:
            at = of.at(builder, source, builder.mul(k, pitch))
            for part in parts:
                of.ask(builder, of.at(builder, at, builder.add(ahead, part)))
            read = [of.masked_load(builder, of.at(builder, at, p), m) for p, m in zip(parts, masks, strict=True)]
            line = of.at(builder, to, builder.mul(k, to_pitch))
            for side, place in zip(sides, (line, of.at(builder, line, apart)), strict=True):
                of.masked_store(builder, builder.shuffle_vector(*read, side), place, written)

        loop(builder, rows, copy)

    return emit


def _spaced(of: Float) -> Emit:
    """spaced(to, to_pitch, source, pitch, rows, count): the first count of LANES numbers of some rows to every other place."""
    zipped = [[k // 2 + part * of.lanes // 2 + k % 2 * of.lanes for k in range(of.lanes)] for part in (0, 1)]
    masks = [ir.Constant(ir.VectorType(I32, of.lanes), z) for z in zipped]
    every_other = ir.Constant(of.mask, [1 - k % 2 for k in range(of.lanes)])

    def emit(builder: Any, args: Any) -> None:
        to, to_pitch, source, pitch, rows, count = args
        there = of.between(builder, I64(0), count)
        end = builder.mul(count, I64(2))
        ends = [of.between(builder, I64(0), builder.sub(end, I64(part * of.lanes))) for part in (0, 1)]
        written = [builder.and_(m, every_other) for m in ends]

        def copy(k: Any) -> None:
            read = of.masked_load(builder, of.at(builder, source, builder.mul(k, pitch)), there)
            line = of.at(builder, to, builder.mul(k, to_pitch))
            for part in (0, 1):
                value = builder.shuffle_vector(read, of.zero, masks[part])
                of.masked_store(builder, value, of.at(builder, line, I64(part * of.lanes)), written[part])

        loop(builder, rows, copy)

    return emit


def _shifted_added(of: Float) -> Emit:
    """shifted_added(total, source, pitch, count, step, begin, extent): to LANES totals the places begin, begin + 1, … of lines.

    Of each of so many lines one after the other, each time step places less far in; what a line has not counts as 0.
    """

    def emit(builder: Any, args: Any) -> None:
        total, source, pitch, count, step, begin, extent = args
        found = builder.alloca(of.vector)
        builder.store(of.load(builder, total), found)

        def add(k: Any) -> None:
            first = builder.sub(begin, builder.mul(k, step))
            mask = of.between(builder, builder.sub(I64(0), first), builder.sub(extent, first))
            at = of.at(builder, source, builder.add(builder.mul(k, pitch), first))
            builder.store(builder.fadd(builder.load(found), of.masked_load(builder, at, mask)), found)

        loop(builder, count, add)
        of.store(builder, builder.load(found), total)

    return emit


def _odd(of: Float) -> Emit:
    """odd(at, count, to): puts 1 to an int where one of the numbers is a nan, else 0."""

    def emit(builder: Any, args: Any) -> None:
        at, count, to = args
        found = builder.alloca(of.mask)
        builder.store(ir.Constant(of.mask, [0] * of.lanes), found)

        def look(k: Any) -> None:
            first = builder.mul(k, I64(of.lanes))
            mask = of.between(builder, I64(0), builder.sub(count, first))
            read = of.masked_load(builder, of.at(builder, at, first), mask)
            builder.store(builder.or_(builder.load(found), builder.fcmp_unordered("uno", read, read)), found)

        loop(builder, builder.sdiv(builder.add(count, I64(of.lanes - 1)), I64(of.lanes)), look)
        bits = builder.bitcast(builder.load(found), ir.IntType(of.lanes))
        any_ = builder.zext(builder.icmp_unsigned("!=", bits, ir.IntType(of.lanes)(0)), I64)
        builder.store(any_, builder.inttoptr(to, I64.as_pointer()))

    return emit


def _lanes(of: Float, taps: int) -> Emit:
    """lanes9(count, table, a, b, b_taps, sums): LANES sums of products for each of some taps.

    `table` holds triples: where numbers of a lie, where those of b, and how many there are; b_taps what a tap adds. Sums are
    of SPREAD numbers whatever the vectors of the host, for they are added in the end.
    """
    wide = Float(of.bits, SPREAD)

    def emit(builder: Any, args: Any) -> None:
        count, table, a, b, b_taps, sums = args
        B = [wide.at(builder, b, word(builder, b_taps, i)) for i in range(taps)]
        places = [wide.at(builder, sums, I64(i * SPREAD)) for i in range(taps)]
        totals = [builder.alloca(wide.vector) for _ in places]
        for total, place in zip(totals, places, strict=True):
            builder.store(wide.load(builder, place), total)

        def meet(k: Any) -> None:
            row = builder.add(table, builder.mul(k, I64(24)))
            mask = wide.between(builder, I64(0), word(builder, row, 2))
            x = wide.masked_load(builder, wide.at(builder, a, word(builder, row, 0)), mask)
            for i in range(taps):
                y = wide.masked_load(builder, wide.at(builder, B[i], word(builder, row, 1)), mask)
                before = builder.load(totals[i])
                builder.store(builder.select(mask, wide.fma(builder, x, y, before), before), totals[i])

        loop(builder, count, meet)
        for total, place in zip(totals, places, strict=True):
            wide.store(builder, builder.load(total), place)

    return emit


def _turn(of: Float) -> Emit:
    """turn(to, to_stride, source, source_stride, rows, columns): the transpose of at most LANES x LANES numbers."""

    def emit(builder: Any, args: Any) -> None:
        to, to_stride, source, stride, rows, columns = args
        mask = of.between(builder, I64(0), columns)
        nothing, all_rows = ir.Constant(of.mask, [0] * of.lanes), []
        for i in range(of.lanes):
            there = builder.select(builder.icmp_signed("<", I64(i), rows), mask, nothing)
            at = of.at(builder, source, builder.mul(stride, I64(i)))
            of.ask(builder, of.at(builder, at, I64(2 * of.lanes)))  # the square behind the next one of the same lines
            all_rows.append(of.masked_load(builder, at, there))
        columns_as_rows = turned(builder, all_rows, of.lanes)
        mask = of.between(builder, I64(0), rows)
        for i, row in enumerate(columns_as_rows):
            there = builder.select(builder.icmp_signed("<", I64(i), columns), mask, nothing)
            of.masked_store(builder, row, of.at(builder, to, builder.mul(to_stride, I64(i))), there)

    return emit


def _function(name: str, count: int, emit: Emit, module: ir.Module) -> ir.Function:
    """A function of so many ints."""
    made = ir.Function(module, ir.FunctionType(ir.VoidType(), [I64] * count), name)
    made.linkage = "internal"
    made.attributes.add("noinline" if count > 4 or name == "odd" else "alwaysinline")
    builder = ir.IRBuilder(made.append_basic_block())
    emit(builder, made.args)
    builder.ret_void()
    return made


@functools.cache
def library(short: str) -> dict[str, Any]:
    """Functions, each made in the module that calls it, and numbers."""
    of = Float(int(short[1:]))
    found: dict[str, Any] = {
        "LANES": of.lanes,
        "WIDTH": VECTORS * of.lanes,
        "VECTORS": VECTORS,
        "HIGH": HIGH,
        "SIZE": of.bytes,
        "SPREAD": SPREAD,
        "ITEMS": plane_tiles.ITEMS,
        "WORDS": plane_tiles.WORDS,
        "NARROW": winograd.NARROW,
    }
    emits = {
        "move": (2, _move(of)),
        "block": (8, _block(of, 1)),
        "block2": (8, _block(of, 2)),
        "parted": (9, _parted(of)),
        "spaced": (6, _spaced(of)),
        "turn": (6, _turn(of)),
        "shifted_added": (7, _shifted_added(of)),
        "lanes9": (6, _lanes(of, 9)),
    }
    wide = {"": VECTORS, "x1": 1, "x2": 2}
    emits |= {f"tile{rows}{name}": (11, _tile(of, rows, v)) for rows in (6, 4, 2) for name, v in wide.items()}
    emits |= {f"high{name}": (11, _tile(of, HIGH, v)) for name, v in wide.items() if name}
    emits |= {"odd": (3, _odd(of))}
    emits |= {"line": (11, _tile(of, 1, 2 * VECTORS))}
    emits |= winograd.emits(of) | plane_tiles.emits(of) | pool_tiles.emits(of)
    return found | {name: functools.partial(_function, name, *made) for name, made in emits.items()}
