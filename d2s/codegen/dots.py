"""A row times many lines, as LLVM IR made for the host: what `dots` of kernel texts is.

`dots_f32(columns, count, a, b, b_j, c)`: c[j] = the sum over k < count of a[k] * b[j * b_j + k], for every j < columns, one fma
per k in ascending k from 0. Addresses are in bytes, all else counts elements; nothing but these elements is read or written.

In: a float dtype and the host's vector unit. Out: the text.

A vector holds the sums of as many lines; what they meet next is transposed in registers, so that a line is read once and in
order. Two such bands at a time: one alone would wait for its own fmas.

>>> "define void @dots_f32(i64 %columns," in text_of("f32", Unit(64, 32))
True
"""

import functools
from collections.abc import Iterator

from d2s.codegen.panels import line_from, transposed
from d2s.codegen.vectors import Numbers, Unit, declared, in_bytes, lines, masks, numbers, splat, stored

ARGUMENTS = ("columns", "count", "a", "b", "source_j", "c")
BANDS = 2


@functools.cache
def text_of(short: str, of: Unit) -> str:
    """`dots` of a dtype: squares of as many k as a vector has lanes, and what is left of k one by one."""
    n = numbers(short, of)
    return _begun(n) + _bands(n) + _rest(n)


def _begun(n: Numbers) -> str:
    return f"""\
{declared(n)}\
declare {n.scalar} @llvm.fma.{n.short}({n.scalar}, {n.scalar}, {n.scalar})

define void @dots_{n.short}({", ".join(f"i64 %{a}" for a in ARGUMENTS)}) {{
entry:
{lines(in_bytes(n, "source_j"))}\
  %source = add i64 %b, 0
  %a0 = inttoptr i64 %a to ptr
  %b0 = inttoptr i64 %b to ptr
  %c0 = inttoptr i64 %c to ptr
  %squares = and i64 %count, -{n.lanes}
  %last = sub i64 %columns, 1
  br label %bands
"""


def _bands(n: Numbers) -> str:
    """The loop over bands of lines, and the one over squares of a band."""
    each = range(BANDS * n.lanes)
    return f"""\
bands:
  %j = phi i64 [0, %entry], [%j_next, %bands_end]
  %left = sub i64 %columns, %j
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %begin, label %rest
begin:
{lines(line for r in each for line in line_from(r))}{masks(n, BANDS, "left")}\
  %into = getelementptr {n.scalar}, ptr %c0, i64 %j
  br label %head
head:
  %k = phi i64 [0, %begin], [%k_next, %square]
{lines(f"  %sum{band} = phi {n.vector} [zeroinitializer, %begin], [{_last(n, band)}, %square]" for band in range(BANDS))}\
  %more = icmp slt i64 %k, %squares
  br i1 %more, label %square, label %bands_end
square:
{lines(f"  %line{r} = getelementptr {n.scalar}, ptr %from{r}, i64 %k" for r in each)}\
  %row = getelementptr {n.scalar}, ptr %a0, i64 %k
{lines(line for group in range(n.lanes * n.size // 16) for line in _step(n, group))}\
  %k_next = add i64 %k, {n.lanes}
  br label %head
bands_end:
{"".join(stored(n, f"sum{band}", "into", band) for band in range(BANDS))}\
  %j_next = add i64 %j, {BANDS * n.lanes}
  br label %bands
"""


def _rest(n: Numbers) -> str:
    """The loops over what is left of k, and over all lines."""
    return f"""\
rest:
  %l = phi i64 [%squares, %bands], [%l_next, %rest_end]
  %over = icmp slt i64 %l, %count
  br i1 %over, label %one, label %end
one:
  %x_at = getelementptr {n.scalar}, ptr %a0, i64 %l
  %x = load {n.scalar}, ptr %x_at, align {n.size}
  br label %column
column:
  %m = phi i64 [0, %one], [%m_next, %dot]
  %inside = icmp slt i64 %m, %columns
  br i1 %inside, label %dot, label %rest_end
dot:
  %m_line = mul i64 %m, %source_j
  %m_from = add i64 %m_line, %l
  %y_at = getelementptr {n.scalar}, ptr %b0, i64 %m_from
  %y = load {n.scalar}, ptr %y_at, align {n.size}
  %so_far_at = getelementptr {n.scalar}, ptr %c0, i64 %m
  %so_far = load {n.scalar}, ptr %so_far_at, align {n.size}
  %so_far_next = call {n.scalar} @llvm.fma.{n.short}({n.scalar} %x, {n.scalar} %y, {n.scalar} %so_far)
  store {n.scalar} %so_far_next, ptr %so_far_at, align {n.size}
  %m_next = add i64 %m, 1
  br label %column
rest_end:
  %l_next = add i64 %l, 1
  br label %rest
end:
  ret void
}}
"""


def _last(n: Numbers, band: int) -> str:
    """The sum a square leaves."""
    return f"%next{band}_{n.lanes - 1}"


def _step(n: Numbers, group: int) -> Iterator[str]:
    """16 bytes of each line meet as many elements of the row."""
    part = 16 // n.size
    for band in range(BANDS):
        yield from transposed(n, band, group)
    for r, k in enumerate(range(group * part, (group + 1) * part)):
        yield f"  %a_at{k} = getelementptr {n.scalar}, ptr %row, i64 {k}"
        yield f"  %a_one{k} = load {n.scalar}, ptr %a_at{k}, align {n.size}"
        yield from splat(n, f"a_all{k}", f"%a_one{k}")
        for band in range(BANDS):
            so_far = f"%next{band}_{k - 1}" if k else f"%sum{band}"
            three = f"{n.vector} %a_all{k}, {n.vector} %out{band}_{group}_{r}, {n.vector} {so_far}"
            yield f"  %next{band}_{k} = call {n.vector} @llvm.fma.{n.suffix}({three})"
