"""Transposing into panels, as LLVM IR made for the host: what `turned` of kernel texts is.

`turned_f32(count, columns, source, source_j, to)`: to[k * WIDTH + j] = source[j * source_j + k], for k < count and
j < columns <= WIDTH. Addresses are in bytes, all else counts elements. Nothing but these elements is read; what then stands in
a row of `to` behind its columns is undefined, and there must be room for count rows.

In: a float dtype and the host's vector unit. Out: the text.

>>> "define void @turned_f32(i64 %count," in text_of("f32", Unit(64, 32))
True
"""

import functools
from collections.abc import Iterator

from d2s.codegen.tiles import width
from d2s.codegen.vectors import Numbers, Unit, in_bytes, lines, numbers

ARGUMENTS = ("count", "columns", "source", "source_j", "to")


@functools.cache
def text_of(short: str, of: Unit) -> str:
    """`turned` of a dtype: squares of as many lines as a vector has lanes, and what is left of k one by one."""
    n, panel = numbers(short, of), width(short, of)
    return _begun(n) + _band(n, panel) + _rest(n, panel)


def _begun(n: Numbers) -> str:
    return f"""
define void @turned_{n.short}({", ".join(f"i64 %{a}" for a in ARGUMENTS)}) {{
entry:
{lines(in_bytes(n, "source_j"))}\
  %source0 = inttoptr i64 %source to ptr
  %to0 = inttoptr i64 %to to ptr
  %squares = and i64 %count, -{n.lanes}
  %last = sub i64 %columns, 1
  br label %band
"""


def _band(n: Numbers, panel: int) -> str:
    """The loop over bands of lines, and the one over squares of a band."""
    square = [line for g in range(n.lanes * n.size // 16) for line in _panel_rows(n, g, panel * n.size)]
    return f"""\
band:
  %j = phi i64 [0, %entry], [%j_next, %band_end]
  %any = icmp slt i64 %j, %columns
  br i1 %any, label %begin, label %rest
begin:
{lines(line for r in range(n.lanes) for line in line_from(r))}\
  %into = getelementptr {n.scalar}, ptr %to0, i64 %j
  br label %head
head:
  %k = phi i64 [0, %begin], [%k_next, %square]
  %more = icmp slt i64 %k, %squares
  br i1 %more, label %square, label %band_end
square:
{lines(f"  %line{r} = getelementptr {n.scalar}, ptr %from{r}, i64 %k" for r in range(n.lanes))}\
  %k_bytes = mul i64 %k, {panel * n.size}
  %here = getelementptr i8, ptr %into, i64 %k_bytes
{lines(square)}\
  %k_next = add i64 %k, {n.lanes}
  br label %head
band_end:
  %j_next = add i64 %j, {n.lanes}
  br label %band
"""


def _rest(n: Numbers, panel: int) -> str:
    """The loops over what is left of k, and over the columns."""
    return f"""\
rest:
  %l = phi i64 [%squares, %band], [%l_next, %rest_end]
  %left = icmp slt i64 %l, %count
  br i1 %left, label %row, label %end
row:
  %m = phi i64 [0, %rest], [%m_next, %one]
  %inside = icmp slt i64 %m, %columns
  br i1 %inside, label %one, label %rest_end
one:
  %m_row = mul i64 %m, %source_j
  %m_at = add i64 %m_row, %l
  %m_from = getelementptr {n.scalar}, ptr %source0, i64 %m_at
  %value = load {n.scalar}, ptr %m_from, align {n.size}
  %l_row = mul i64 %l, {panel}
  %l_at = add i64 %l_row, %m
  %l_to = getelementptr {n.scalar}, ptr %to0, i64 %l_at
  store {n.scalar} %value, ptr %l_to, align {n.size}
  %m_next = add i64 %m, 1
  br label %row
rest_end:
  %l_next = add i64 %l, 1
  br label %rest
end:
  ret void
}}
"""


def line_from(r: int) -> Iterator[str]:
    """%from0 ...: where the lines of a band of squares begin; the last one stands for all behind it."""
    yield f"  %j{r} = add i64 %j, {r}"
    yield f"  %before{r} = icmp slt i64 %j{r}, %last"
    yield f"  %row{r} = select i1 %before{r}, i64 %j{r}, i64 %last"
    yield f"  %row{r}_bytes = mul i64 %row{r}, %source_j_bytes"
    yield f"  %row{r}_at = add i64 %source, %row{r}_bytes"
    yield f"  %from{r} = inttoptr i64 %row{r}_at to ptr"


def _panel_rows(n: Numbers, group: int, row: int) -> Iterator[str]:
    """Stores what 16 bytes of each line of a square become."""
    part = 16 // n.size
    yield from transposed(n, 0, group)
    for r in range(part):
        yield f"  %into{group}_{r} = getelementptr i8, ptr %here, i64 {(group * part + r) * row}"
        yield f"  store {n.vector} %out0_{group}_{r}, ptr %into{group}_{r}, align {n.size}"


def transposed(n: Numbers, band: int, group: int) -> Iterator[str]:
    """%out{band}_{group}_0 ...: what 16 bytes of each line of a square become, line number i of a band of them.

    A vector is read in parts of 16 bytes, from lines so far apart that all that is left to do is to interleave within 16 bytes.
    """
    part = 16 // n.size
    name, small = f"{band}_{group}", f"<{part} x {n.scalar}>"
    for r in range(part):
        for g in range(n.lanes // part):
            line = band * n.lanes + g * part + r
            yield f"  %at{name}_{r}_{g} = getelementptr {n.scalar}, ptr %line{line}, i64 {group * part}"
            yield f"  %part{name}_{r}_{g} = load {small}, ptr %at{name}_{r}_{g}, align {n.size}"
        yield from _joined(n, f"{name}_{r}", part, n.lanes // part)
    for r in range(part):
        yield from _woven(n, name, r, part)


def _joined(n: Numbers, name: str, part: int, groups: int) -> Iterator[str]:
    """%whole of the parts side by side."""
    found, size = [f"part{name}_{g}" for g in range(groups)], part
    while len(found) > 1:
        kind, lanes = f"<{size} x {n.scalar}>", ", ".join(f"i32 {k}" for k in range(2 * size))
        for a, b in zip(found[::2], found[1::2], strict=True):
            yield f"  %{a}_{size} = shufflevector {kind} %{a}, {kind} %{b}, <{2 * size} x i32> <{lanes}>"
        found, size = [f"{a}_{size}" for a in found[::2]], 2 * size
    yield f"  %whole{name} = bitcast {n.vector} %{found[0]} to {n.vector}"


def _woven(n: Numbers, group: str, r: int, part: int) -> Iterator[str]:
    """Element r of every 16 bytes of the wholes, side by side: the first interleaves neighbours, the second pairs of those."""
    if part == 2:
        yield _shuffled(n, f"out{group}_{r}", (f"whole{group}_0", f"whole{group}_1"), part, [(0, r), (1, r)])
        return
    half, low = r // 2, 2 * (r % 2)
    if low == 0:
        for side in (0, 2):
            two = f"whole{group}_{side}", f"whole{group}_{side + 1}"
            yield _shuffled(n, f"pair{group}_{half}_{side}", two, part, [(0, r), (1, r), (0, r + 1), (1, r + 1)])
    two = f"pair{group}_{half}_0", f"pair{group}_{half}_2"
    yield _shuffled(n, f"out{group}_{r}", two, part, [(0, low), (0, low + 1), (1, low), (1, low + 1)])


def _shuffled(n: Numbers, to: str, two: tuple[str, str], part: int, picked: list[tuple[int, int]]) -> str:
    """The same choice of elements of two vectors in every 16 bytes."""
    lanes = [which * n.lanes + g + place for g in range(0, n.lanes, part) for which, place in picked]
    listed = ", ".join(f"i32 {lane}" for lane in lanes)
    return f"  %{to} = shufflevector {n.vector} %{two[0]}, {n.vector} %{two[1]}, <{n.lanes} x i32> <{listed}>"
