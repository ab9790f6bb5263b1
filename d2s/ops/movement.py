"""Kernels that move values: out[i0, i1, ...] = x[start + i0 * s0 + i1 * s1 + ...].

In: for each axis of the output its extent, and how far one step along it goes in x; both are products of extents and
numbers. Out: what a kernel rule returns. Neighbouring axes that are one axis in x, too, are one loop; where the innermost
loop would jump through x, blocks of it are turned.

>>> Axis(("n", 2), (4, "m")), coalesced([Axis(("n",), (4, 6)), Axis((4,), (6,)), Axis((1,), (2,))])
(Axis(extent=('n', 2), stride=(4, 'm')), [Axis(extent=(4, 'n'), stride=(6,))])
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from d2s.ops.op import Share
from d2s.types import Dim, Shape, Type

Product = tuple[Dim, ...]
Kernel = tuple[list[Product], str, Share]
KernelOfFloats = tuple[list[Product], str, Share, str]  # with native functions above
NOWHERE: Product = (0,)
BLOCK = 16  # rows and columns turned at a time: a line of memory of floats
LONG = 64  # columns of floats turned at a time: some lines of each page that is opened
CHUNK = 16384  # elements a thread takes at a time, at least


class Axis(NamedTuple):
    """An axis of an output: its extent, and the step along it in the input."""

    extent: Product
    stride: Product


def normal(product: Product) -> Product:
    """A product in its one spelling: its number, where that is not 1, and its names in order."""
    number = math.prod(d for d in product if isinstance(d, int))
    names = sorted(d for d in product if isinstance(d, str))
    return NOWHERE if number == 0 else (*((number,) if number != 1 else ()), *names)


def joined(products: Sequence[Product]) -> Product:
    return tuple(d for product in products for d in product)


def strides(extents: Sequence[Product]) -> list[Product]:
    """How far a step along each axis goes."""
    return [joined(extents[k + 1 :]) for k in range(len(extents))]


def axes_of(shape: Shape) -> list[Axis]:
    """The axes of an input."""
    return [Axis((dim,), shape[k + 1 :]) for k, dim in enumerate(shape)]


def coalesced(axes: Sequence[Axis]) -> list[Axis]:
    """The loops over some axes."""
    loops: list[Axis] = []
    for extent, stride in axes:
        one = Axis(normal(extent), normal(stride))
        if one.extent == ():
            continue
        if loops and normal(one.extent + one.stride) == loops[-1].stride:
            loops[-1] = Axis(normal(loops[-1].extent + one.extent), one.stride)
        else:
            loops.append(one)
    return loops


class Registers:
    """The products a kernel reads, by the names it has for them."""

    def __init__(self) -> None:
        self.extents: list[Product] = []

    def __call__(self, product: Product) -> str:
        self.extents.append(product)
        return f"n{len(self.extents) - 1}"

    def stride(self, product: Product) -> str:
        """A step: 0 and 1 stand in the text, so that compilers see them."""
        return {(): "1", NOWHERE: "0"}.get(product) or self(product)

    def sum(self, products: Sequence[Product]) -> str:
        return " + ".join(self(p) for p in products) or "0"


def indented(lines: Sequence[str], depth: int = 1) -> list[str]:
    return ["    " * depth + line for line in lines]


def body(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def copied(of: Type, inputs: int = 1) -> Kernel:
    """All values of the first of so many inputs, as they lie."""
    text = f"copy_bytes(r[o[{inputs}]] + lo * n1, r[o[0]] + lo * n1, (hi - lo) * n1)\n"
    return [of.shape, (of.dtype.size,)], text, Share("n0", str(CHUNK))


_SQUARES = '''\
@native
def squares_turned(to, width, source, jump, columns, rows):
    """Squares of as many numbers as a vector has, in registers: else each would be read and written by itself."""
    for l in range(0, columns, LANES):
        for j in range(0, rows, LANES):
            read, lines = source + (l * jump + j) * SIZE, min_of(LANES, columns - l)
            turn(to + (j * width + l) * SIZE, width, read, jump, lines, min_of(LANES, rows - j))


'''


def floats_moved(axes: Sequence[Axis]) -> Kernel | KernelOfFloats:
    """As `moved`, of float32 and float64."""
    loops, r = coalesced(axes), Registers()
    unit = _turning(loops)
    return moved(axes) if unit is None else (*_turned(loops, unit, (), r, LONG), _SQUARES)


def moved(axes: Sequence[Axis], start: Sequence[Product] = ()) -> Kernel:
    """The values at a start (a sum of products) and along some axes."""
    loops, r = coalesced(axes), Registers()
    if not loops:
        return r.extents, body([f"for i in range(lo, hi):\n    out[i] = x[{r.sum(start)}]"]), Share("1", "1")
    unit = _turning(loops)
    return _rows(loops, start, r) if unit is None else _turned(loops, unit, start, r)


def _turning(loops: Sequence[Axis]) -> int | None:
    """Which loop x is contiguous along, where the innermost one jumps."""
    unit = [k for k, loop in enumerate(loops) if loop.stride == ()]
    return unit[0] if unit and unit[0] < len(loops) - 1 and loops[-1].stride != NOWHERE else None


def _rows(loops: list[Axis], start: Sequence[Product], r: Registers) -> Kernel:
    """Row by row of the innermost loop."""
    *outer, inner = loops
    count, step, first = r(inner.extent), r.stride(inner.stride), r.sum(start)
    if not outer:
        return (
            r.extents,
            body([f"first = {first}", "for i in range(lo, hi):", f"    out[i] = x[first + i * {step}]"]),
            _elements(count),
        )
    work = [f"for i in range({count}):", f"    out[row * {count} + i] = x[at + i * {step}]"]
    lines = [f"first = {first}", *each(outer, "row", "at", "first", work, r)]
    return r.extents, body(lines), Share(r(joined([loop.extent for loop in outer])), f"1 + {CHUNK} // (1 + {count})")


def _elements(count: str) -> Share:
    return Share(count, str(CHUNK))


def each(loops: Sequence[Axis], row: str, at: str, first: str, work: Sequence[str], r: Registers) -> list[str]:
    """`work` for each of the rounds lo ... hi - 1 of some loops together, the place in x counted along."""
    names = [f"{row}{k}" for k in range(len(loops))]
    extents = [r(loop.extent) for loop in loops]
    terms = [f"{n} * {r.stride(loop.stride)}" for n, loop in zip(names, loops, strict=True)]
    begin = [f"{row}_left = lo"]
    for name, extent in zip(names[:0:-1], extents[:0:-1], strict=True):
        begin += [f"{name} = {row}_left % {extent}", f"{row}_left = {row}_left // {extent}"]
    begin += [f"{names[0]} = {row}_left"]
    step = [f"{names[-1]} += 1"]
    for k in range(len(names) - 1, 0, -1):
        carry = [f"if {names[k]} == {extents[k]}:", f"    {names[k]} = 0", f"    {names[k - 1]} += 1"]
        step += indented(carry, len(names) - 1 - k)
    inside = [f"{at} = {' + '.join([first, *terms])}", *work, *step]
    return ["if lo >= hi:", "    return 0", *begin, f"for {row} in range(lo, hi):", *indented(inside)]


def _turned(loops: list[Axis], unit: int, start: Sequence[Product], r: Registers, long: int = BLOCK) -> Kernel:
    """Blocks of the innermost loop and of the one that x is contiguous along, `long` in this one."""
    inner, turned, places = loops[-1], loops[unit], strides([loop.extent for loop in loops])
    outer = [(k, loop) for k, loop in enumerate(loops[:-1]) if k != unit]
    columns, rows, jump, width = r(inner.extent), r(turned.extent), r(inner.stride), r(places[unit])
    blocks = f"(({rows} + {long - 1}) // {long})"
    lines = [
        f"blocks = {blocks}",
        "for p in range(lo, hi):",
        "    left = p // blocks",
        f"    j0 = (p - left * blocks) * {long}",
    ]
    at, to = [r.sum(start)], ["0"]
    for k, loop in reversed(outer):
        extent = r(loop.extent)
        lines += [f"    i{k} = left % {extent}", f"    left = left // {extent}"]
        at.append(f"i{k} * {r.stride(loop.stride)}")
        to.append(f"i{k} * {r(places[k])}")
    lines += [
        f"    begin = {' + '.join(at)}",
        f"    to = {' + '.join(to)}",
        *indented((_block if long == BLOCK else _square)(columns, rows, jump, width)),
    ]
    count = f"{blocks} * {r(joined([loop.extent for _, loop in outer]))}" if outer else blocks
    return r.extents, body(lines), Share(count, f"1 + {CHUNK // long} // (1 + {columns})")


def _square(columns: str, rows: str, jump: str, width: str) -> list[str]:
    """Some rows of the output, by a native function."""
    return [
        f"j1 = {LONG} if j0 + {LONG} < {rows} else {rows} - j0",
        f"squares_turned(at(out, to + j0 * {width}), {width}, at(x, begin + j0), {jump}, {columns}, j1)",
    ]


def _block(columns: str, rows: str, jump: str, width: str) -> list[str]:
    """Some rows of the output: eight columns at a time, so that a row gets eight neighbours at once."""
    return [
        f"j1 = j0 + {BLOCK} if j0 + {BLOCK} < {rows} else {rows}",
        f"for l0 in range(0, {columns} & -8, 8):",
        "    for j in range(j0, j1):",
        "        for l in range(8):",
        f"            out[to + j * {width} + l0 + l] = x[begin + (l0 + l) * {jump} + j]",
        "for j in range(j0, j1):",
        f"    for l in range({columns} & -8, {columns}):",
        f"        out[to + j * {width} + l] = x[begin + l * {jump} + j]",
    ]
