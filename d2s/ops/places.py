"""Kernels that read, write or add at places that index tensors name.

`Indexed` says what is where: which axes of a tensor are indexed, the shape all indices have, and whether the indexed part
stands in front of the result or in the place of the axes (then they are neighbours). A place below 0 counts from the end;
the first one out of range is reported. A kernel that writes gives each thread a range of places of the first indexed
axis: it reads all indices and does what falls into its range, in their order, so that sums do not depend on threads.

>>> Indexed((5, 2, 3), (0, 2), (4,), True).result
(4, 2)
"""

from collections.abc import Sequence
from typing import NamedTuple

from d2s.errors import D2SError, IndexRangeError
from d2s.ops.movement import CHUNK, Axis, Kernel, Registers, axes_of, body, coalesced, indented, joined
from d2s.ops.op import Share
from d2s.types import Shape

RANGES = 8  # of places, that threads share


class Indexed(NamedTuple):
    """A tensor's shape, its indexed axes, the shape of their indices, and whether that stands in front of the result."""

    shape: Shape
    axes: tuple[int, ...]
    at: Shape
    front: bool

    @property
    def first(self) -> int:
        return self.axes[0]

    @property
    def rest(self) -> list[Axis]:
        """The axes behind the index in the result."""
        return [a for k, a in enumerate(axes_of(self.shape)) if k not in self.axes and (self.front or k > self.first)]

    @property
    def result(self) -> Shape:
        behind = joined([a.extent for a in self.rest])
        return (*(() if self.front else self.shape[: self.first]), *self.at, *behind)


def out_of_range(name: str, value: int, shape: Shape, axes: Sequence[int]) -> D2SError:
    """The error for what `_reported` wrote."""
    place, k = divmod(value >> 1, len(axes))
    dim = shape[axes[k]]
    return IndexRangeError("D2S0007", f"{name}(): index {place} is out of range for axis {axes[k]} of {dim} values")


def checked(names: Sequence[str], extents: Sequence[str], b: str, lowest: str = "-{n}") -> list[str]:
    """Lines that read the indices at `b`, counted from 0; where one is out of range, the first of all is reported."""
    lines = []
    for k, (name, n) in enumerate(zip(names, extents, strict=True)):
        lines += [f"j{k} = {name}[{b}]", f"if j{k} < {lowest.format(n=n)} or j{k} >= {n}:"]
        lines += indented(_reported(names, extents, lowest))
        lines += [f"if j{k} < 0:", f"    j{k} += {n}"]
    return lines


def _reported(names: Sequence[str], extents: Sequence[str], lowest: str) -> list[str]:
    """Lines that look for the first index out of range: which one it is must not depend on who found one."""
    lines = ["for q in range(count):"]
    for k, (name, n) in enumerate(zip(names, extents, strict=True)):
        found = f"({name}[q] * {len(names)} + {k}) * 2 + 1"
        lines += indented(
            [f"if {name}[q] < {lowest.format(n=n)} or {name}[q] >= {n}:", f"    r[o[fault]] = {found}", "    return 0"]
        )
    return lines


def _nested(loops: Sequence[Axis], r: Registers) -> tuple[list[str], str, str]:
    """Heads of loops, and how far their round is in the result and in the tensor."""
    heads, flat, place = [], "0", "0"
    for k, (extent, stride) in enumerate(coalesced(loops)):
        n = r(extent)
        heads.append(f"for i{k} in range({n}):")
        flat, place = (f"({flat}) * {n} + i{k}" if k else "i0"), f"{place} + i{k} * {r.stride(stride)}"
    return heads, flat, place


def _round(heads: Sequence[str], line: str) -> list[str]:
    lines = [*heads, line]
    return ["    " * depth + text for depth, text in enumerate(lines)]


def _at(of: Indexed, r: Registers) -> str:
    strides = [of.shape[a + 1 :] for a in of.axes]
    return " + ".join(f"j{k} * {r.stride(s)}" for k, s in enumerate(strides))


def read(of: Indexed, names: Sequence[str], value: str = "x[{at}]", lowest: str = "-{n}") -> Kernel:
    """out = the tensor's values at the places."""
    r = Registers()
    count, run = r(of.at), r(joined([a.extent for a in of.rest]))
    rows = r(joined([() if of.front else of.shape[: of.first], of.at]))
    extents = [r((of.shape[a],)) for a in of.axes]
    heads, flat, place = _nested(of.rest, r)
    look = checked(names, extents, "b", lowest)
    copy = _round(heads, f"out[row * {run} + {flat}] = {value.format(at=f'at + {place}')}")
    lines = [f"count = {count}", "if lo >= hi:", "    return 0"]
    if of.front or not of.first:
        lines += ["for row in range(lo, hi):", "    b = row", *indented([*look, f"at = {_at(of, r)}", *copy])]
    else:
        before = f"{_at(of, r)} + a * {r.stride(of.shape[of.first :])}"
        step = ["b += 1", "if b == count:", "    b = 0", "    a += 1"]
        lines += ["a = lo // count", "b = lo - a * count", "for row in range(lo, hi):"]
        lines += indented([*look, f"at = {before}", *copy, *step])
    return r.extents, body(lines), Share(rows, f"1 + {CHUNK} // (8 + {run})")


def written(of: Indexed, names: Sequence[str], elsewhere: str, line: str, lowest: str = "-{n}", skip: str = "") -> Kernel:
    """out = `elsewhere` (at i), then `line` for each place in order: of `to`, in the tensor, and `source`, in the result."""
    r = Registers()
    count, run, total = r(of.at), r(joined([a.extent for a in of.rest])), r(of.shape)
    extents = [r((of.shape[a],)) for a in of.axes]
    before, whole, one = r(of.shape[: of.first]), r(of.shape[of.first :]), r(of.shape[of.first + 1 :])
    heads, flat, place = _nested(of.rest, r)
    n = extents[0]
    lines = [f"count = {count}", f"begin, end = {n} * lo // {RANGES}, {n} * hi // {RANGES}", f"for m in range({before}):"]
    lines += [f"    for i in range(m * {whole} + begin * {one}, m * {whole} + end * {one}):", f"        out[i] = {elsewhere}"]
    do = _round(heads, line.format(to=f"at + {place}", source=f"row * {run} + {flat}"))
    inside = [*checked(names, extents, "b", lowest), f"if j0 >= begin and j0 < end{skip}:"]
    if of.front or not of.first:
        inside += indented([f"row, at = b, {_at(of, r)}", *do])
        lines += ["for b in range(count):", *indented(inside)]
    else:
        inside += indented([f"row, at = a * count + b, a * {whole} + {_at(of, r)}", *do])
        lines += [f"for a in range({before}):", "    for b in range(count):", *indented(inside, 2)]
    return r.extents, body(lines), Share(str(RANGES), f"(1 if {total} > {4 * CHUNK} and {run} > 8 else {RANGES})")
