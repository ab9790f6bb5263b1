"""Convolutions of single planes with a filter of 3x3 each, in LLVM IR: some columns of vectors, from row to row.

LANES results side by side, and what lies below (or above) them, are an *item*; ITEMS of them, of whatever planes, are done at
once, so that no fma waits for another. A row that is read serves all rows of results it has a part in while they stay in
registers. Every result is one chain of fmas over the taps in ascending order; what lies outside of a plane takes part as 0.

In: a float type. Out: what writes the bodies of functions; all arguments are ints, addresses count bytes, all else elements.
An item is WORDS ints: where it reads, where it writes, its filter, its addend, the column it reads first, how many columns it
has to write at most; and masks of them.

>>> [name for name in emits(Float(32, 16)) if "by" in name]
['strips_spread_by_2', 'strips_met_by_2', 'strips_met_by_2_alike']
"""

from typing import Any, NamedTuple

from llvmlite import ir

from d2s.codegen.vector_ir import I32, I64, WIDE, Emit, Float, loop, word

ITEMS = 4 if WIDE else 2
SPREAD = 16  # sums a gradient of one filter per channel is spread over
WORDS, _MASKS = 12, 6


class _Item(NamedTuple):
    source: Any
    to: Any
    filter: Any
    addend: Any
    masks: list[Any]  # of four loads, and of two stores


def _items(builder: Any, table: Any) -> list[_Item]:
    words = [[word(builder, table, WORDS * k + j) for j in range(WORDS)] for k in range(ITEMS)]
    return [_Item(found[0], found[1], found[2], found[3], found[_MASKS:]) for found in words]


def _inside(builder: Any, row: Any, height: Any) -> Any:
    return builder.icmp_unsigned("<", row, height)


def _variable(of: Float, builder: Any, value: Any = None) -> Any:
    """A vector that changes from row to row."""
    place = builder.alloca(of.vector)
    builder.store(of.zero if value is None else value, place)
    return place


def _mask(of: Float, builder: Any, item: _Item, k: int) -> Any:
    return builder.bitcast(builder.trunc(item.masks[k], ir.IntType(of.lanes)), of.mask)


def _masked(of: Float) -> Emit:
    """strips_masked(item, width, o0, o1, o2, o3): which columns are there of those that loads so far behind the first read.

    These are words of an item, and so are which results it writes, of the first LANES and of the next.
    """

    def emit(builder: Any, args: Any) -> None:
        table, width, *offsets = args
        first, left = word(builder, table, 4), word(builder, table, 5)
        begins = [builder.sub(I64(0), builder.add(first, offset)) for offset in offsets]
        found = [of.between(builder, begin, builder.add(begin, width)) for begin in begins]
        found += [of.between(builder, I64(0), builder.sub(left, I64(part))) for part in (0, of.lanes)]
        for k, mask in enumerate(found, _MASKS):
            at = builder.gep(builder.inttoptr(table, I64.as_pointer()), [I64(k)])
            builder.store(builder.zext(builder.bitcast(mask, ir.IntType(of.lanes)), I64), at)

    return emit


class _Filters:
    """The numbers of the items' filters in all lanes: where they are `alike`, registers hold those of the first."""

    def __init__(self, of: Float, builder: Any, items: list[_Item], alike: bool) -> None:
        self.of, self.builder, self.items = of, builder, items
        self.taps = [self._read(items[0].filter, I64(k)) for k in range(9)] if alike else []
        self.addend = self._read(items[0].addend, I64(0)) if alike else None

    def _read(self, address: Any, at: Any) -> Any:
        return self.of.everywhere(self.builder, self.of.at(self.builder, address, at))

    def tap(self, item: _Item, k: int) -> Any:
        return self.taps[k] if self.taps else self._read(item.filter, I64(k))

    def added(self, item: _Item) -> Any:
        return self.addend or self._read(item.addend, I64(0))


def _note(of: Float, builder: Any, odd: list[Any], seen: Any) -> None:
    """Puts 1 to `seen` where one of the vectors holds a nan."""
    total = builder.load(odd[0])
    for place in odd[1:]:
        total = builder.fadd(total, builder.load(place))
    bits = builder.bitcast(builder.fcmp_unordered("uno", total, total), ir.IntType(of.lanes))
    found = builder.zext(builder.icmp_unsigned("!=", bits, ir.IntType(of.lanes)(0)), I64)
    at = builder.inttoptr(seen, I64.as_pointer())
    builder.store(builder.or_(builder.load(at), found), at)


def _met(of: Float, alike: bool) -> Emit:
    """strips_met(table, rows, above, height, width, way, to_row, nothing, seen): strides of 1.

    `way` 1: a convolution, -1: its transpose, which goes from the last row to the first and reads columns leftwards. An item
    reads from row `above` on, which may lie outside; `nothing` is a row of zeros; to `seen` goes 1 where a result is odd.
    """

    def emit(builder: Any, args: Any) -> None:
        table, rows, above, height, width, way, to_row, nothing, seen = args
        items, row = _items(builder, table), builder.mul(way, width)
        filters = _Filters(of, builder, items, alike)
        steps = [builder.mul(way, I64(k)) for k in range(3)]
        masks = [[_mask(of, builder, item, k) for k in range(3)] for item in items]
        written = [_mask(of, builder, item, 4) for item in items]
        started, begun, odd = ([_variable(of, builder) for _ in items] for _ in range(3))
        none = ir.Constant(of.mask, [0] * of.lanes)

        def meet(k: Any) -> None:
            there = _inside(builder, builder.add(above, builder.mul(way, k)), height)
            ends = builder.icmp_signed(">=", k, I64(2))
            to = builder.mul(to_row, builder.sub(k, I64(2)))
            for i, item in enumerate(items):
                line = builder.select(there, of.at(builder, item.source, builder.mul(row, k)), nothing)
                x = [of.masked_load(builder, of.at(builder, line, s), m) for s, m in zip(steps, masks[i], strict=True)]
                sums = []
                for tap, before in enumerate((of.zero, builder.load(started[i]), builder.load(begun[i]))):
                    for j in range(3):
                        before = of.fma(builder, filters.tap(item, 3 * tap + j), x[j], before)
                    sums.append(before)
                builder.store(sums[0], started[i])
                builder.store(sums[1], begun[i])
                value = builder.fadd(sums[2], filters.added(item))
                of.masked_store(builder, value, of.at(builder, item.to, to), builder.select(ends, written[i], none))
                builder.store(of.fma(builder, value, of.zero, builder.load(odd[i])), odd[i])

        loop(builder, builder.add(rows, I64(2)), meet)
        _note(of, builder, odd, seen)

    return emit


def _halves(of: Float) -> list[Any]:
    return [ir.Constant(ir.VectorType(I32, of.lanes), list(range(k, 2 * of.lanes, 2))) for k in (0, 1)]


def _met_by_2(of: Float, alike: bool) -> Emit:
    """strips_met_by_2(table, rows, above, height, width, to_row, nothing): a convolution with strides of 2."""
    even, odd = _halves(of)
    starts = [0, of.lanes, 2, of.lanes + 2]

    def emit(builder: Any, args: Any) -> None:
        table, rows, above, height, width, to_row, nothing = args
        items = _items(builder, table)
        filters = _Filters(of, builder, items, alike)
        masks = [[_mask(of, builder, item, k) for k in range(4)] for item in items]
        written = [_mask(of, builder, item, 4) for item in items]

        def meet(k: Any) -> None:
            for i, item in enumerate(items):
                total = of.zero
                for tap in range(3):
                    at = builder.add(builder.mul(k, I64(2)), I64(tap))
                    there = _inside(builder, builder.add(above, at), height)
                    line = builder.select(there, of.at(builder, item.source, builder.mul(width, at)), nothing)
                    a, b, c, d = (
                        of.masked_load(builder, of.at(builder, line, I64(s)), m) for s, m in zip(starts, masks[i], strict=True)
                    )
                    pairs = ((a, b, even), (a, b, odd), (c, d, even))
                    for j, pair in enumerate(pairs):
                        weight = filters.tap(item, 3 * tap + j)
                        total = of.fma(builder, weight, builder.shuffle_vector(*pair), total)
                value = builder.fadd(total, filters.added(item))
                of.masked_store(builder, value, of.at(builder, item.to, builder.mul(to_row, k)), written[i])

        loop(builder, rows, meet)

    return emit


def _spread_by_2(of: Float) -> Emit:
    """strips_spread_by_2(table, rows, padding, padding_w, height, width, to_row, nothing, seen): a transpose, strides of 2.

    An item writes 2 * LANES columns, from an even one on: those of one remainder have the first and the last tap, the others
    the middle one, and so for rows. `nothing` is where the middle tap would read zeros.
    """
    zipped = [[k // 2 + part * of.lanes // 2 + k % 2 * of.lanes for k in range(of.lanes)] for part in (0, 1)]
    order = [ir.Constant(ir.VectorType(I32, of.lanes), z) for z in zipped]

    def emit(builder: Any, args: Any) -> None:
        table, rows, padding, padding_w, height, width, to_row, nothing, seen = args
        items, half = _items(builder, table), lambda n: builder.ashr(n, I64(1))
        outer = half(builder.add(padding_w, I64(1)))
        offsets = [outer, half(padding_w), builder.sub(outer, I64(1))]
        masks = [[_mask(of, builder, item, k) for k in range(3)] for item in items]
        parts = [0, of.lanes]
        written = [[_mask(of, builder, item, k) for k in (4, 5)] for item in items]
        turned = builder.trunc(padding_w, ir.IntType(1))
        odd = [_variable(of, builder) for _ in items]
        sums = [[_variable(of, builder) for _ in range(2)] for _ in items]

        def meet(y: Any) -> None:
            for pair in sums:
                for place in pair:
                    builder.store(of.zero, place)
            begin = builder.and_(builder.add(y, padding), I64(1))

            def tap_row(k: Any) -> None:
                tap = builder.add(begin, builder.mul(k, I64(2)))
                read = half(builder.sub(builder.add(y, padding), tap))
                there = _inside(builder, read, height)
                for i, item in enumerate(items):
                    line = builder.select(there, of.at(builder, item.source, builder.mul(read, width)), nothing)
                    for j in range(3):
                        x = of.masked_load(builder, of.at(builder, line, offsets[j]), masks[i][j])
                        at = builder.add(builder.mul(tap, I64(3)), I64(j))
                        weight = of.everywhere(builder, of.at(builder, item.filter, at))
                        place = sums[i][j % 2]
                        builder.store(of.fma(builder, weight, x, builder.load(place)), place)

            loop(builder, builder.sub(I64(2), begin), tap_row)
            to = builder.mul(to_row, y)
            for i, item in enumerate(items):
                addend = of.everywhere(builder, item.addend)
                ends, middle = (builder.fadd(builder.load(place), addend) for place in sums[i])
                columns = builder.select(turned, middle, ends), builder.select(turned, ends, middle)
                for part, mask, indices in zip(parts, written[i], order, strict=True):
                    at = of.at(builder, item.to, builder.add(to, I64(part)))
                    of.masked_store(builder, builder.shuffle_vector(*columns, indices), at, mask)
                found = of.fma(builder, columns[0], of.zero, builder.load(odd[i]))
                builder.store(of.fma(builder, columns[1], of.zero, found), odd[i])

        loop(builder, rows, meet)
        _note(of, builder, odd, seen)

    return emit


class _Planes(NamedTuple):
    """What a row of a plane meets: where both planes are, and vectors of columns of each with their masks."""

    x: Any
    g: Any
    masks: list[tuple[int, list[Any], Any]]  # first column, of x by tap, of g


def _summed(of: Float, vectors: int) -> Emit:
    """taps_summed(images, apart_x, apart_g, rows, above, x, g, height, width, first, columns, nothing, to): a gradient.

    Of one filter, by planes of at most `vectors` * SPREAD columns and two rows or more: SPREAD sums for each tap, by the column
    of g modulo SPREAD, to which rows of g are added one after the other, image by image; then halves of them are added until
    one is left, which goes to `to`. Row `above` of x, and column `first`, is what the first tap meets first; `x` points there.
    A row of x meets three of g, which stay in registers.
    """
    wide = Float(of.bits, SPREAD)

    def emit(builder: Any, args: Any) -> None:
        images, apart_x, apart_g, rows, above, x, g, height, width, first, columns, nothing, to = args
        masks = []
        for start in range(0, vectors * SPREAD, SPREAD):
            left = builder.sub(columns, I64(start))
            begins = [builder.sub(I64(-start - j), first) for j in range(3)]
            ends = [_least(builder, builder.add(begin, width), left) for begin in begins]
            of_x = [wide.between(builder, begin, end) for begin, end in zip(begins, ends, strict=True)]
            masks.append((start, of_x, wide.between(builder, I64(0), left)))
        totals = [_variable(wide, builder) for _ in range(9)]
        met = [[_variable(wide, builder) for _ in masks] for _ in range(3)]  # rows of g, the latest first

        def meet(planes: _Planes, k: Any, taps: range) -> None:
            """Row k of x, and the rows of its filter that it has a part in."""
            there = _inside(builder, builder.add(above, k), height)
            line = builder.select(there, wide.at(builder, planes.x, builder.mul(width, k)), nothing)
            row = wide.at(builder, planes.g, builder.mul(columns, k))
            for q, (start, of_x, of_g) in enumerate(planes.masks):
                for later, earlier in ((2, 1), (1, 0)):
                    builder.store(builder.load(met[earlier][q]), met[later][q])
                if 0 in taps:
                    builder.store(wide.masked_load(builder, wide.at(builder, row, I64(start)), of_g), met[0][q])
                for j, mask in enumerate(of_x):
                    number = wide.masked_load(builder, wide.at(builder, line, I64(start + j)), mask)
                    for tap in taps:
                        total = totals[3 * tap + j]
                        builder.store(wide.fma(builder, number, builder.load(met[tap][q]), builder.load(total)), total)

        def summed(m: Any) -> None:
            of_x, of_g = (wide.at(builder, p, builder.mul(m, a)) for p, a in ((x, apart_x), (g, apart_g)))
            planes = _Planes(of_x, of_g, masks)
            meet(planes, I64(0), range(1))
            meet(planes, I64(1), range(2))
            loop(builder, builder.sub(rows, I64(2)), lambda k: meet(planes, builder.add(k, I64(2)), range(3)))
            meet(planes, rows, range(1, 3))
            meet(planes, builder.add(rows, I64(1)), range(2, 3))

        loop(builder, images, summed)
        for k, total in enumerate(totals):
            at = builder.inttoptr(wide.at(builder, to, I64(k)), wide.scalar.as_pointer())
            builder.store(_folded(builder, builder.load(total)), at)

    return emit


def _least(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.icmp_signed("<", a, b), a, b)


def _folded(builder: Any, found: Any) -> Any:
    """SPREAD sums as one: halves are added."""
    half = SPREAD // 2
    while half:
        parts = [ir.Constant(ir.VectorType(I32, half), list(range(s, s + half))) for s in (0, half)]
        found = builder.fadd(*(builder.shuffle_vector(found, found, part) for part in parts))
        half //= 2
    return builder.extract_element(found, I32(0))


def emits(of: Float) -> dict[str, tuple[int, Emit]]:
    """The functions by name, and how many arguments they have; `_alike`: of items with one filter."""
    found = {"taps_summed": (13, _summed(of, 1)), "taps_summed_2": (13, _summed(of, 2))}
    found |= {"strips_masked": (6, _masked(of)), "strips_spread_by_2": (9, _spread_by_2(of))}
    for name, alike in (("", False), ("_alike", True)):
        found |= {f"strips_met{name}": (9, _met(of, alike)), f"strips_met_by_2{name}": (7, _met_by_2(of, alike))}
    found["strips_met_narrow"] = 9, _met(Float(of.bits, max(of.lanes // 2, 2)), True)
    return found
