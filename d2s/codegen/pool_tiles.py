"""The gradient of pools of maxima with strides of 2, in LLVM IR: where the maximum of each window stands gets its cotangent.

LANES windows side by side are a strip. The maxima of all strips are found first, each by the number of its place in the window;
then every row of the windows is gone through again, and what stands at a maximum gets the cotangent added. Windows that are 3
wide share a column with the next one; the one before adds first, as in ascending order. A row that no window before had is
written without being read: a read would wait until what is written around it has left the processor.

In: a float type. Out: what writes the bodies of functions; all arguments are ints, addresses count bytes, all else elements.

>>> sorted(emits(Float(32, 16)))
['maxima_spread_2', 'maxima_spread_3']
"""

from typing import Any

import numpy as np
from llvmlite import ir

from d2s.codegen.plane_tiles import WORDS
from d2s.codegen.vector_ir import I32, I64, Emit, Float, loop, word

_FIRST, _LEFT, _MASKS = 4, 5, 6  # words of a strip; see `plane_tiles`
_AHEAD = 4096  # bytes: rows that come, while these are compared; a quarter of them of cotangents


class _Spread:
    """One function being written: windows of a width."""

    def __init__(self, of: Float, width: int, builder: Any, args: Any) -> None:
        self.of, self.width, self.b = of, width, builder
        self.table, self.strips, self.x, self.g, self.into, self.i_h, self.i_w, self.o_w, *self.rows = args
        self.lowest = ir.Constant(of.vector, [float(np.finfo(f"f{of.bytes}").min)] * of.lanes)
        self.numbers = ir.VectorType(I32, of.lanes)
        self.best, self.mark, self.number = (builder.alloca(t) for t in (of.vector, self.numbers, I32))
        self.marks, self.written = builder.alloca(self.numbers, size=self.strips), builder.alloca(I64)
        self.carry = builder.alloca(of.scalar)
        builder.store(I64(0), self.written)
        lanes = range(of.lanes)
        constant = lambda found: ir.Constant(self.numbers, list(found))  # noqa: E731
        self.even, self.odd = (constant(range(k, 2 * of.lanes, 2)) for k in (0, 1))
        half = of.lanes // 2
        self.zipped = [constant(k // 2 + part * half + k % 2 * of.lanes for k in lanes) for part in (0, 1)]
        self.later = constant((k - 1) % (2 * of.lanes) for k in lanes)

    def row_of_windows(self, h: Any) -> None:
        """All strips of one row of results."""
        k_h, s_h, p_h = self.rows[1:]
        top = self.b.sub(self.b.mul(h, s_h), p_h)
        end, zero = self.b.add(top, k_h), I64(0)
        begin = self.b.select(self.b.icmp_signed("<", top, zero), zero, top)
        end = self.b.select(self.b.icmp_signed("<", end, self.i_h), end, self.i_h)
        results = self.b.mul(h, self.o_w)
        of_h = self.of.at(self.b, self.g, results)
        loop(self.b, self.strips, lambda k: self.find(k, begin, self.b.sub(end, begin), of_h))
        new = self.b.load(self.written)
        new = self.b.select(self.b.icmp_signed("<", new, begin), begin, new)
        new = self.b.select(self.b.icmp_signed("<", new, end), new, end)
        self.b.store(I32(0), self.number)
        loop(self.b, self.b.sub(new, begin), lambda k: self.add(self.b.add(begin, k), results, False))
        loop(self.b, self.b.sub(end, new), lambda k: self.add(self.b.add(new, k), results, True))
        self.b.store(end, self.written)

    def strip(self, k: Any) -> tuple[Any, list[Any]]:
        """Where the first column of a strip is, in its row; its masks."""
        words = self.b.add(self.table, self.b.mul(k, I64(8 * WORDS)))
        bits = [self.b.trunc(word(self.b, words, _MASKS + j), ir.IntType(self.of.lanes)) for j in range(5)]
        return word(self.b, words, _FIRST), [self.b.bitcast(b, self.of.mask) for b in bits]

    def find(self, k: Any, begin: Any, count: Any, of_h: Any) -> None:
        """The places of the maxima of a strip; cotangents of rows that come are asked for, too."""
        self.of.ask(self.b, self.b.add(self.of.at(self.b, of_h, self.b.mul(k, I64(self.of.lanes))), I64(_AHEAD // 4)))
        first, masks = self.strip(k)
        first = self.b.add(self.b.mul(begin, self.i_w), first)
        self.b.store(self.lowest, self.best)
        self.b.store(ir.Constant(self.numbers, [-1] * self.of.lanes), self.mark)
        self.b.store(I32(0), self.number)

        def row(k: Any) -> None:
            self.look(self.b.add(first, self.b.mul(k, self.i_w)), masks)
            self.next_row()

        loop(self.b, count, row)
        self.b.store(self.b.load(self.mark), self.b.gep(self.marks, [k]))

    def next_row(self) -> None:
        self.b.store(self.b.add(self.b.load(self.number), I32(4)), self.number)

    def place(self, j: int) -> Any:
        """The number of place j of the row that is gone through."""
        return self.of.spread(self.b, self.b.add(self.b.load(self.number), I32(j)))

    def look(self, row: Any, masks: list[Any]) -> None:
        line = self.of.at(self.b, self.x, row)
        starts = [0, self.of.lanes, 2, self.of.lanes + 2][: 2 * (self.width - 1)]
        for part in (0, 1):
            self.of.ask(self.b, self.b.add(line, I64(_AHEAD + part * self.of.lanes * self.of.bytes)))
        read = [self.read(self.of.at(self.b, line, I64(s)), m) for s, m in zip(starts, masks, strict=False)]
        pairs = [(0, self.even), (0, self.odd), (2, self.even)][: self.width]
        for j, (k, which) in enumerate(pairs):
            value, best = self.b.shuffle_vector(read[k], read[k + 1], which), self.b.load(self.best)
            greater = self.b.fcmp_ordered(">", value, best)
            self.b.store(self.b.select(greater, value, best), self.best)
            self.b.store(self.b.select(greater, self.place(j), self.b.load(self.mark)), self.mark)

    def read(self, address: Any, mask: Any) -> Any:
        """What is there, and what is never the greatest."""
        return self.b.select(mask, self.of.masked_load(self.b, address, mask), self.lowest)

    def add(self, row: Any, results: Any, new: bool) -> None:
        """To a row, in all strips, the cotangents of its maxima; it holds nothing yet where it is new."""
        of, line = self.of, self.of.at(self.b, self.into, self.b.mul(row, self.i_w))
        self.b.store(ir.Constant(of.scalar, 0.0), self.carry)

        def strip(k: Any) -> None:
            first, masks = self.strip(k)
            g = of.masked_load(self.b, of.at(self.b, self.g, self.b.add(results, self.b.mul(k, I64(of.lanes)))), masks[4])
            marks = self.b.load(self.b.gep(self.marks, [k]))
            shares = [self.b.select(self.b.icmp_signed("==", marks, self.place(j)), g, of.zero) for j in range(self.width)]
            places = [of.at(self.b, line, self.b.add(first, I64(part * of.lanes))) for part in (0, 1)]
            pairs = zip(places, masks, strict=False)
            held = [of.zero, of.zero] if new else [of.masked_load(self.b, at, m) for at, m in pairs]
            if self.width == 3:
                before = of.spread(self.b, self.b.load(self.carry))
                last = self.b.shuffle_vector(shares[2], before, self.later)
                zipped = [self.b.shuffle_vector(last, of.zero, z) for z in self.zipped]
                held = [self.b.fadd(v, z) for v, z in zip(held, zipped, strict=True)]
                self.b.store(self.b.extract_element(shares[2], I32(of.lanes - 1)), self.carry)
            for value, at, mask, z in zip(held, places, masks, self.zipped, strict=False):
                of.masked_store(self.b, self.b.fadd(value, self.b.shuffle_vector(shares[0], shares[1], z)), at, mask)

        loop(self.b, self.strips, strip)
        if self.width == 3:
            self.add_last(line, new)
        self.next_row()

    def add_last(self, line: Any, new: bool) -> None:
        """The share of the last window of all in the column behind its strip, where there is one."""
        first, masks = self.strip(self.b.sub(self.strips, I64(1)))
        with self.b.if_then(self.b.extract_element(masks[3], I32(self.of.lanes - 2))):
            address = self.of.at(self.b, line, self.b.add(first, I64(2 * self.of.lanes)))
            at = self.b.inttoptr(address, self.of.scalar.as_pointer())
            held = ir.Constant(self.of.scalar, 0.0) if new else self.b.load(at)
            self.b.store(self.b.fadd(held, self.b.load(self.carry)), at)


def _spread(of: Float, width: int) -> Emit:
    """maxima_spread_W(table, strips, x, g, into, i_h, i_w, o_w, rows, k_h, s_h, p_h): a plane; `into` holds zeros."""

    def emit(builder: Any, args: Any) -> None:
        function = _Spread(of, width, builder, args)
        loop(builder, function.rows[0], function.row_of_windows)

    return emit


def emits(of: Float) -> dict[str, tuple[int, Emit]]:
    """The functions by name, and how many arguments they have."""
    return {f"maxima_spread_{width}": (12, _spread(of, width)) for width in (2, 3)}
