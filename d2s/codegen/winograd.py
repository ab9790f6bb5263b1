"""The transforms of a Winograd convolution F(2x2, 3x3), in LLVM IR: of filters, of windows and of results.

A tile of 2 x 2 results reads a window of 4 x 4 numbers. Both it and a filter of 3 x 3 are turned into 16 numbers, so that 16
products, summed over the channels, turn into the 4 results: instead of 36. LANES tiles (or filters) are done at once.

The gradient of the filters goes the same way back: cotangents are turned as results are not yet, filters as they were.

In: a float type. Out: what writes the bodies of functions; all arguments are ints, addresses count bytes, all else elements.

>>> sorted(emits(Float(32, 16)))
['cotangents_turned', 'filters_found', 'filters_turned', 'results_turned', 'windows_turned', 'windows_turned_narrow']
"""

from typing import Any

from llvmlite import ir

from d2s.codegen.vector_ir import I32, I64, Emit, Float, loop, turned

NARROW = 4  # tiles, at most, that small vectors do faster: fewer of their stores lie on two lines of the cache
_Square = list[list[Any]]


def _flipped(square: _Square) -> _Square:
    return [list(column) for column in zip(*square, strict=True)]


def _filter_line(builder: Any, half: Any, g: list[Any]) -> list[Any]:
    """3 numbers as 4: both ends, and half of the sum and of the alternating sum."""
    ends = builder.fadd(g[0], g[2])
    return [g[0], builder.fmul(half, builder.fadd(ends, g[1])), builder.fmul(half, builder.fsub(ends, g[1])), g[2]]


def _window_line(builder: Any, d: list[Any]) -> list[Any]:
    return [builder.fsub(d[0], d[2]), builder.fadd(d[1], d[2]), builder.fsub(d[2], d[1]), builder.fsub(d[1], d[3])]


def _result_line(builder: Any, m: list[Any]) -> list[Any]:
    first, second = builder.fadd(m[1], m[2]), builder.fsub(m[1], m[2])
    return [builder.fadd(m[0], first), builder.fsub(second, m[3])]


def _filters(of: Float) -> Emit:
    """filters_turned(to, pitch, source, count, back, ahead): 9 numbers each of at most LANES filters one after the other.

    The 16 numbers of a filter are written pitch apart; `back`: the taps are read from the last to the first. What is read so
    far ahead is asked for.
    """

    def emit(builder: Any, args: Any) -> None:
        to, pitch, source, count, back, ahead = args
        for line in range(0, 9 * of.lanes * of.bytes, 64):
            of.ask(builder, builder.add(of.at(builder, source, ahead), I64(line)))
        starts, rows = range(0, 9, of.lanes), []
        inside = [of.between(builder, I64(0), I64(9 - start)) for start in starts]
        nothing = ir.Constant(of.mask, [0] * of.lanes)
        for lane in range(of.lanes):
            there = builder.icmp_signed("<", I64(lane), count)
            at = of.at(builder, source, I64(9 * lane))
            masks = [builder.select(there, m, nothing) for m in inside]
            rows.append([of.masked_load(builder, of.at(builder, at, I64(s)), m) for s, m in zip(starts, masks, strict=True)])
        columns = [column for part in zip(*rows, strict=True) for column in turned(builder, list(part), of.lanes)][:9]
        backwards = builder.icmp_signed("!=", back, I64(0))
        g = [builder.select(backwards, columns[8 - k], columns[k]) for k in range(9)]
        half = ir.Constant(of.vector, [0.5] * of.lanes)
        lines = [_filter_line(builder, half, g[3 * k : 3 * k + 3]) for k in range(3)]
        square = _flipped([_filter_line(builder, half, column) for column in _flipped(lines)])
        written = of.between(builder, I64(0), count)
        for k, value in enumerate(v for row in square for v in row):
            of.masked_store(builder, value, of.at(builder, to, builder.mul(pitch, I64(k))), written)

    return emit


def _windows(of: Float) -> Emit:
    """windows_turned(to, pitch, source, row, first, last, begin, end, count, planes, to_apart, apart, ahead): some windows.

    At most LANES side by side. `source` is where the first begins; of its 4 rows first ... last - 1 are there, and of the
    columns begin ... end - 1; all else is 0, and not read. The 16 numbers of a window are written pitch apart. So many planes
    are done one after the other; what is read so far ahead is asked for.
    """
    even, odd = (ir.Constant(ir.VectorType(I32, of.lanes), list(range(k, 2 * of.lanes, 2))) for k in (0, 1))

    def emit(builder: Any, args: Any) -> None:
        to, pitch, source, row, first, last, begin, end, count, planes, to_apart, apart, ahead = args
        nothing = ir.Constant(of.mask, [0] * of.lanes)
        starts = [0, of.lanes, 2, of.lanes + 2]
        columns = [of.between(builder, builder.sub(begin, I64(s)), builder.sub(end, I64(s))) for s in starts]
        masks, written = [], of.between(builder, I64(0), count)
        for h in range(4):
            inside = builder.and_(builder.icmp_signed("<=", first, I64(h)), builder.icmp_signed("<", I64(h), last))
            masks.append([builder.select(inside, m, nothing) for m in columns])

        def turn(plane: Any) -> None:
            square = []
            at = of.at(builder, source, builder.mul(plane, apart))
            for h in range(4):
                line = of.at(builder, at, builder.mul(row, I64(h)))
                of.ask(builder, of.at(builder, line, ahead))
                places = [of.at(builder, line, I64(s)) for s in starts]
                read = [of.masked_load(builder, place, m) for place, m in zip(places, masks[h], strict=True)]
                d = [builder.shuffle_vector(*read[k : k + 2], which) for k in (0, 2) for which in (even, odd)]
                square.append(_window_line(builder, d))
            square = _flipped([_window_line(builder, column) for column in _flipped(square)])
            first_at = of.at(builder, to, builder.mul(plane, to_apart))
            for k, value in enumerate(v for line in square for v in line):
                of.masked_store(builder, value, of.at(builder, first_at, builder.mul(pitch, I64(k))), written)

        loop(builder, planes, turn)

    return emit


def _results(of: Float) -> Emit:
    """results_turned(to, row, source, pitch, rows, columns, addend, seen): the results of LANES tiles side by side.

    The first rows of 2 and columns of 2 * LANES are written. To the LANES numbers at `seen` a nan is added where one of them
    is not finite.
    """
    zipped = [[k // 2 + part * of.lanes // 2 + k % 2 * of.lanes for k in range(of.lanes)] for part in (0, 1)]
    masks = [ir.Constant(ir.VectorType(I32, of.lanes), z) for z in zipped]

    def emit(builder: Any, args: Any) -> None:
        to, row, source, pitch, rows, columns, addend, seen = args
        m = [of.load(builder, of.at(builder, source, builder.mul(pitch, I64(k)))) for k in range(16)]
        lines = _flipped([_result_line(builder, column) for column in _flipped([m[4 * k : 4 * k + 4] for k in range(4)])])
        added = of.everywhere(builder, addend)
        written = [of.between(builder, I64(0), builder.sub(columns, I64(part * of.lanes))) for part in (0, 1)]
        nothing, found = ir.Constant(of.mask, [0] * of.lanes), of.load(builder, seen)
        for h, line in enumerate(lines):
            pair = [builder.fadd(y, added) for y in _result_line(builder, line)]
            there = builder.icmp_signed("<", I64(h), rows)
            for part in (0, 1):
                value = builder.shuffle_vector(*pair, masks[part])
                mask = builder.select(there, written[part], nothing)
                at = of.at(builder, to, builder.add(builder.mul(row, I64(h)), I64(part * of.lanes)))
                of.masked_store(builder, value, at, mask)
                found = builder.select(mask, of.fma(builder, value, of.zero, found), found)
        of.store(builder, found, seen)

    return emit


def _cotangent_line(builder: Any, g: list[Any]) -> list[Any]:
    return [g[0], builder.fadd(g[0], g[1]), builder.fsub(g[0], g[1]), builder.fneg(g[1])]


def _found_line(builder: Any, half: Any, u: list[Any]) -> list[Any]:
    total, rest = (builder.fmul(half, f(u[1], u[2])) for f in (builder.fadd, builder.fsub))
    return [builder.fadd(u[0], total), rest, builder.fadd(total, u[3])]


def _cotangents(of: Float) -> Emit:
    """cotangents_turned(to, pitch, source, row, rows, columns): what LANES tiles side by side hand back.

    The first rows of 2 and columns of 2 * LANES are read, all else is 0. The 16 numbers of a tile are written pitch apart.
    """
    even, odd = (ir.Constant(ir.VectorType(I32, of.lanes), list(range(k, 2 * of.lanes, 2))) for k in (0, 1))

    def emit(builder: Any, args: Any) -> None:
        to, pitch, source, row, rows, columns = args
        there = [of.between(builder, I64(0), builder.sub(columns, I64(s))) for s in (0, of.lanes)]
        nothing, square = ir.Constant(of.mask, [0] * of.lanes), []
        for h in range(2):
            line = of.at(builder, source, builder.mul(row, I64(h)))
            inside = builder.icmp_signed("<", I64(h), rows)
            masks = [builder.select(inside, m, nothing) for m in there]
            read = [of.masked_load(builder, of.at(builder, line, I64(k * of.lanes)), m) for k, m in enumerate(masks)]
            square.append(_cotangent_line(builder, [builder.shuffle_vector(*read, which) for which in (even, odd)]))
        square = _flipped([_cotangent_line(builder, column) for column in _flipped(square)])
        for k, value in enumerate(v for line in square for v in line):
            of.store(builder, value, of.at(builder, to, builder.mul(pitch, I64(k))))

    return emit


def _found(of: Float) -> Emit:
    """filters_found(to, pitch, source, apart, count, seen): LANES filters of 9 numbers, of their 16.

    These stand `apart`. The first count filters are written, pitch from each other. To the LANES numbers at `seen` a nan is
    added where one is not finite.
    """

    def emit(builder: Any, args: Any) -> None:
        to, pitch, source, apart, count, seen = args
        u = [of.load(builder, of.at(builder, source, builder.mul(apart, I64(k)))) for k in range(16)]
        half = ir.Constant(of.vector, [0.5] * of.lanes)
        lines = [_found_line(builder, half, u[4 * k : 4 * k + 4]) for k in range(4)]
        taps = [v for line in _flipped([_found_line(builder, half, c) for c in _flipped(lines)]) for v in line]
        known, found = of.between(builder, I64(0), count), of.load(builder, seen)
        for tap in taps:
            found = builder.select(known, of.fma(builder, tap, of.zero, found), found)
        of.store(builder, found, seen)
        for start in range(0, 9, of.lanes):
            part = taps[start : start + of.lanes]
            rows = turned(builder, part + [of.zero] * (of.lanes - len(part)), of.lanes)
            mask, nothing = of.between(builder, I64(0), I64(len(part))), ir.Constant(of.mask, [0] * of.lanes)
            for lane, row in enumerate(rows):
                at = of.at(builder, to, builder.add(builder.mul(pitch, I64(lane)), I64(start)))
                there = builder.select(builder.icmp_signed("<", I64(lane), count), mask, nothing)
                of.masked_store(builder, row, at, there)

    return emit


def emits(of: Float) -> dict[str, tuple[int, Emit]]:
    """The functions by name, and how many arguments they have; `_narrow`: of NARROW tiles instead of LANES."""
    found = {"windows_turned_narrow": (13, _windows(Float(of.bits, NARROW)))}
    found |= {"filters_turned": (6, _filters(of)), "windows_turned": (13, _windows(of)), "results_turned": (8, _results(of))}
    return found | {"cotangents_turned": (6, _cotangents(of)), "filters_found": (6, _found(of))}
