"""The gradient of pools of maxima with strides of 2, in LLVM IR: where the maximum of each window stands gets its cotangent.

LANES windows side by side are a strip. Its maxima are found first, each by the number of its place in the window; then every
row of the windows is gone through again, and what stands at a maximum gets the cotangent added. Windows that are 3 wide share
a column with the next one; the one before adds first, as in ascending order.

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


class _Spread:
    """One function being written: windows of a width."""

    def __init__(self, of: Float, width: int, builder: Any, args: Any) -> None:
        self.of, self.width, self.b = of, width, builder
        self.table, self.strips, self.x, self.g, self.into, self.i_h, self.i_w, self.o_w, *self.rows = args
        self.lowest = ir.Constant(of.vector, [float(np.finfo(f"f{of.bytes}").min)] * of.lanes)
        self.numbers = ir.VectorType(I32, of.lanes)
        self.best, self.mark, self.number = (builder.alloca(t) for t in (of.vector, self.numbers, I32))
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
        loop(self.b, self.strips, lambda k: self.strip(k, self.b.mul(h, self.o_w), begin, self.b.sub(end, begin)))

    def strip(self, k: Any, results: Any, begin: Any, count: Any) -> None:
        words = self.b.add(self.table, self.b.mul(k, I64(8 * WORDS)))
        bits = [self.b.trunc(word(self.b, words, _MASKS + j), ir.IntType(self.of.lanes)) for j in range(5)]
        masks = [self.b.bitcast(b, self.of.mask) for b in bits]
        first = self.b.add(self.b.mul(begin, self.i_w), word(self.b, words, _FIRST))
        self.b.store(self.lowest, self.best)
        self.b.store(ir.Constant(self.numbers, [-1] * self.of.lanes), self.mark)
        self._through(count, first, lambda row: self.look(row, masks))
        at = self.b.add(results, self.b.mul(k, I64(self.of.lanes)))
        g = self.of.masked_load(self.b, self.of.at(self.b, self.g, at), masks[4])
        self._through(count, first, lambda row: self.add(row, g, masks))

    def _through(self, count: Any, first: Any, each: Any) -> None:
        """All rows of the windows: what of them is there."""
        self.b.store(I32(0), self.number)

        def row(k: Any) -> None:
            each(self.b.add(first, self.b.mul(k, self.i_w)))
            self.b.store(self.b.add(self.b.load(self.number), I32(4)), self.number)

        loop(self.b, count, row)

    def place(self, j: int) -> Any:
        """The number of place j of the row that is gone through."""
        return self.of.spread(self.b, self.b.add(self.b.load(self.number), I32(j)))

    def look(self, row: Any, masks: list[Any]) -> None:
        line = self.of.at(self.b, self.x, row)
        starts = [0, self.of.lanes, 2, self.of.lanes + 2][: 2 * (self.width - 1)]
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

    def add(self, row: Any, g: Any, masks: list[Any]) -> None:
        line, of = self.of.at(self.b, self.into, row), self.of
        is_at = [self.b.icmp_signed("==", self.b.load(self.mark), self.place(j)) for j in range(self.width)]
        shares = [self.b.select(here, g, of.zero) for here in is_at]
        places = [of.at(self.b, line, I64(part * of.lanes)) for part in (0, 1)]
        held = [of.masked_load(self.b, at, m) for at, m in zip(places, masks, strict=False)]
        if self.width == 3:
            last = self.b.shuffle_vector(shares[2], of.zero, self.later)
            held = [self.b.fadd(v, self.b.shuffle_vector(last, of.zero, z)) for v, z in zip(held, self.zipped, strict=True)]
        for value, at, mask, z in zip(held, places, masks, self.zipped, strict=False):
            of.masked_store(self.b, self.b.fadd(value, self.b.shuffle_vector(shares[0], shares[1], z)), at, mask)
        if self.width == 3:
            self.add_one(of.at(self.b, line, I64(2 * of.lanes)), shares[2], masks[3])

    def add_one(self, address: Any, shares: Any, mask: Any) -> None:
        """The share of the last window of a strip in the column it has in common with the next strip."""
        last = I32(self.of.lanes - 2)
        with self.b.if_then(self.b.extract_element(mask, last)):
            at = self.b.inttoptr(address, self.of.scalar.as_pointer())
            self.b.store(self.b.fadd(self.b.load(at), self.b.extract_element(shares, I32(self.of.lanes - 1))), at)


def _spread(of: Float, width: int) -> Emit:
    """maxima_spread_W(table, strips, x, g, into, i_h, i_w, o_w, rows, k_h, s_h, p_h): a plane; `into` holds zeros."""

    def emit(builder: Any, args: Any) -> None:
        function = _Spread(of, width, builder, args)
        loop(builder, function.rows[0], function.row_of_windows)

    return emit


def emits(of: Float) -> dict[str, tuple[int, Emit]]:
    """The functions by name, and how many arguments they have."""
    return {f"maxima_spread_{width}": (12, _spread(of, width)) for width in (2, 3)}
