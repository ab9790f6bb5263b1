"""Products of matrices in registers, as LLVM IR made for the host: what `product` of kernel texts is.

`product_f32(rows, columns, count, a, a_row, a_k, b, b_k, c, c_row, loaded)`: for every i < rows and j < columns,
c[i * c_row + j] = so far + the sum over k < count of a[i * a_row + k * a_k] * b[k * b_k + j], one fma per k in ascending k.
So far is 0, or, where `loaded` is not 0, what stands in c. Addresses (a, b, c) are in bytes, all else counts elements; nothing
but these elements is read or written. a may have any strides.

In: a float dtype and the host's vector unit. Out: the text.

A tile is a block of results that stays in registers while k runs: each k loads one row of b and one element per row of a, and
there are so many results that no fma waits for another. A tile that hangs over the last row computes that row again; one that
hangs over the last column is masked. Which tiles do a product changes no result: each of them is one chain of fmas.

>>> shapes(Unit(64, 32)), shapes(Unit(32, 16))
([(6, 4), (4, 4), (8, 2), (8, 1), (2, 8), (1, 8)], [(6, 2), (4, 2), (8, 1), (8, 1), (2, 4), (1, 4)])
>>> "define internal void @tile_f32_6x4" in text_of("f32", Unit(64, 32))
True
"""

import functools
from collections.abc import Callable, Iterable

from d2s.codegen.vectors import Numbers, Unit, declared, element, in_bytes, lines, masked, masks, numbers, splat, stored

BRIEF = 16  # steps: tiles of no more are of products of few rows, by `FEW_PART` of ops/matmul_text.py, and ask memory ahead
ARGUMENTS = ("rows", "columns", "count", "a", "a_row", "a_k", "b", "b_k", "c", "c_row", "loaded")
PAGE = 4096  # bytes within which the CPU sees by itself what is read next
_SIGNATURE = ", ".join(f"i64 %{a}" for a in ARGUMENTS)


def shapes(of: Unit) -> list[tuple[int, int]]:
    """Rows and vectors of the tiles: the usual one, for few rows, for few columns, for one vector, for two rows, for one."""
    wide = 4 if of.registers > 16 else 2
    return [(6, wide), (4, wide), (8, wide // 2), (8, 1), (2, 2 * wide), (1, 2 * wide)]


def width(short: str, of: Unit) -> int:
    """Columns of the usual tile, and of a panel."""
    return shapes(of)[0][1] * numbers(short, of).lanes


@functools.cache
def text_of(short: str, of: Unit) -> str:
    """`product` of a dtype, and its tiles."""
    n = numbers(short, of)
    half = shapes(of)[2]
    tiles = [_tile(n, *shape, shape == half) for shape in dict.fromkeys(shapes(of))]
    return "".join([declared(n), *tiles, _product(n, shapes(of))])


def _tile(n: Numbers, rows: int, vectors: int, far: bool) -> str:
    """A block of results: as `product`, for at most so many rows and vectors of columns; `far`: one that may read from afar."""
    places = [(i, j) for i in range(rows) for j in range(vectors)]
    ways = {"full": _full, "cut": masked, "far": _asking} if far else {"full": _full, "cut": masked}
    return f"""
define internal void @tile_{n.short}_{rows}x{vectors}({_SIGNATURE}) noinline {{
entry:
{lines(in_bytes(n, "a_row", "a_k", "b_k", "c_row"))}\
  %last = sub i64 %rows, 1
{"".join(_row(i) for i in range(rows))}{masks(n, vectors, "columns")}\
  %b0 = inttoptr i64 %b to ptr
  %more = icmp ne i64 %loaded, 0
  br i1 %more, label %load, label %ready
load:
{"".join(masked(n, f"so_far{i}_{j}", f"c{i}", j) for i, j in places)}\
  br label %ready
ready:
{lines(f"  %start{i}_{j} = phi {n.vector} [zeroinitializer, %entry], [%so_far{i}_{j}, %load]" for i, j in places)}\
  %whole = icmp sge i64 %columns, {vectors * n.lanes}
  %some = icmp sgt i64 %count, 0
{_AHEAD if far else "  %far_off = add i1 false, false"}
  %whole_way = select i1 %far_off, i64 3, i64 1
  %loop = select i1 %whole, i64 %whole_way, i64 2
  %way = select i1 %some, i64 %loop, i64 0
  switch i64 %way, label %end [{" ".join(f"i64 {k}, label %{way}" for k, way in enumerate(ways, 1))}]
{"".join(_run(n, way, loads, rows, vectors) for way, loads in ways.items())}\
end:
{"".join(_found(n, i, j, ways) for i, j in places)}{"".join(stored(n, f"found{i}_{j}", f"c{i}", j) for i, j in places)}\
  ret void
}}
"""


def _row(i: int) -> str:
    """%a0, %c0 ...: where the rows begin; the last one stands for all behind it."""
    text = [f"  %before{i} = icmp slt i64 {i}, %last", f"  %row{i} = select i1 %before{i}, i64 {i}, i64 %last"]
    for matrix in "ac":
        text.append(f"  %{matrix}{i}_from = mul i64 %row{i}, %{matrix}_row_bytes")
        text.append(f"  %{matrix}{i}_at = add i64 %{matrix}, %{matrix}{i}_from")
        text.append(f"  %{matrix}{i} = inttoptr i64 %{matrix}{i}_at to ptr")
    return lines(text)


def _full(n: Numbers, name: str, base: str, j: int) -> str:
    return lines([element(n, f"{name}_at", base, j), f"  %{name} = load {n.vector}, ptr %{name}_at, align {n.size}"])


# where the same columns of the next part of k are, if parts are those of few rows and rows of b stand on pages of their own:
# one row is read in runs so long that the CPU sees what comes next, eight in pieces of two vectors
_AHEAD = f"""\
  %brief = icmp sle i64 %count, {BRIEF}
  %apart = icmp sge i64 %b_k_bytes, {PAGE}
  %far_off = and i1 %brief, %apart
  %ahead = mul i64 %count, %b_k_bytes"""


def _asking(n: Numbers, name: str, base: str, j: int) -> str:
    """Loads a vector, and asks for what is that far ahead for a cache that holds it until then."""
    soon = f"  %{name}_soon = getelementptr i8, ptr %{name}_at, i64 %ahead"
    return _full(n, name, base, j) + lines([soon, f"  call void @llvm.prefetch.p0(ptr %{name}_soon, i32 0, i32 2, i32 1)"])


def _found(n: Numbers, i: int, j: int, ways: Iterable[str]) -> str:
    found = ", ".join(f"[%{way}_next{i}_{j}, %{way}]" for way in ways)
    return f"  %found{i}_{j} = phi {n.vector} [%start{i}_{j}, %ready], {found}\n"


def _run(n: Numbers, way: str, loads: Callable[..., str], rows: int, vectors: int) -> str:
    """The loop over k of a tile, over whole rows of b or masked ones."""
    places = [(i, j) for i in range(rows) for j in range(vectors)]
    sums = (f"  %{way}_sum{i}_{j} = phi {n.vector} [%start{i}_{j}, %ready], [%{way}_next{i}_{j}, %{way}]" for i, j in places)
    return f"""\
{way}:
  %{way}_k = phi i64 [0, %ready], [%{way}_k1, %{way}]
  %{way}_b = phi ptr [%b0, %ready], [%{way}_b1, %{way}]
  %{way}_a = phi i64 [0, %ready], [%{way}_a1, %{way}]
{lines(sums)}{"".join(loads(n, f"{way}_y{j}", f"{way}_b", j) for j in range(vectors))}\
{"".join(_step(n, way, i, vectors) for i in range(rows))}\
  %{way}_k1 = add i64 %{way}_k, 1
  %{way}_b1 = getelementptr i8, ptr %{way}_b, i64 %b_k_bytes
  %{way}_a1 = add i64 %{way}_a, %a_k_bytes
  %{way}_more = icmp slt i64 %{way}_k1, %count
  br i1 %{way}_more, label %{way}, label %end
"""


def _step(n: Numbers, way: str, i: int, vectors: int) -> str:
    """An element of a meets a row of b."""
    text = [
        f"  %{way}_a{i}_at = getelementptr i8, ptr %a{i}, i64 %{way}_a",
        f"  %{way}_one{i} = load {n.scalar}, ptr %{way}_a{i}_at, align {n.size}",
        *splat(n, f"{way}_x{i}", f"%{way}_one{i}"),
    ]
    for j in range(vectors):
        three = ", ".join(f"{n.vector} %{way}_{name}" for name in (f"x{i}", f"y{j}", f"sum{i}_{j}"))
        text.append(f"  %{way}_next{i}_{j} = call {n.vector} @llvm.fma.{n.suffix}({three})")
    return lines(text)


def _product(n: Numbers, sizes: list[tuple[int, int]]) -> str:
    """All tiles of a product: columns by columns, rows inside, so that what a tile has read of b is near for the next.

    One and two rows have tiles of their own where they are all there are: only more columns give enough fmas at a time. Seven
    and eight are done by tiles of half the width, so that b is read once.
    """
    usual, low, half, slim, pair, single = sizes
    tried = [slim, half, single, pair, usual, low]
    return _begun(n, sizes) + _LOOPS.replace("SIZE", str(n.size)) + _chosen(n, sizes, tried) + _onward(tried)


def _begun(n: Numbers, sizes: list[tuple[int, int]]) -> str:
    """How many columns are done at a time."""
    (tall, wide), _, half, _, pair, _ = sizes
    return f"""
define void @product_{n.short}({_SIGNATURE}) {{
entry:
{lines(in_bytes(n, "a_row", "c_row"))}\
  %one = icmp eq i64 %rows, 1
  %few = icmp sle i64 %rows, 2
  %above = sub i64 %rows, {tall + 1}
  %middle = icmp ult i64 %above, {half[0] - tall}
  %usual = select i1 %middle, i64 {half[1] * n.lanes}, i64 {wide * n.lanes}
  %step = select i1 %few, i64 {pair[1] * n.lanes}, i64 %usual
  br label %column
"""


# where a tile begins, and how many columns it is to have
_LOOPS = """\
column:
  %j = phi i64 [0, %entry], [%j1, %next_column]
  %left_columns = sub i64 %columns, %j
  %cut = icmp slt i64 %left_columns, %step
  %width = select i1 %cut, i64 %left_columns, i64 %step
  %any_column = icmp sgt i64 %width, 0
  %j_bytes = mul i64 %j, SIZE
  %b_j = add i64 %b, %j_bytes
  %c_j = add i64 %c, %j_bytes
  br i1 %any_column, label %row, label %end
row:
  %i = phi i64 [0, %column], [%i1, %next_row]
  %a_i = phi i64 [%a, %column], [%a_i1, %next_row]
  %c_i = phi i64 [%c_j, %column], [%c_i1, %next_row]
  %left = sub i64 %rows, %i
  %any_row = icmp sgt i64 %left, 0
  br i1 %any_row, label %choose, label %next_column
"""


def _chosen(n: Numbers, sizes: list[tuple[int, int]], tried: list[tuple[int, int]]) -> str:
    """Which tiles fit, and the first of them."""
    (tall, _), (short, _), half, slim, _, _ = sizes
    return f"""\
choose:
  %fit0 = icmp sle i64 %width, {slim[1] * n.lanes}
  %fit1 = icmp sle i64 %width, {half[1] * n.lanes}
  %fit2 = add i1 %one, 0
  %fit3 = add i1 %few, 0
  %many = icmp sgt i64 %left, {2 * short}
  %over = sub i64 %left, {short + 1}
  %fitting = icmp ult i64 %over, {tall - short}
  %fit4 = or i1 %many, %fitting
  br label %try0
{"".join(_choice(n, k, tried) for k in range(len(tried)))}\
"""


def _onward(tried: list[tuple[int, int]]) -> str:
    """To the next rows, then to the next columns."""
    return f"""\
next_row:
  %height = phi i64 {", ".join(f"[{rows}, %do{k}]" for k, (rows, _) in enumerate(tried))}
  %i1 = add i64 %i, %height
  %a_step = mul i64 %height, %a_row_bytes
  %a_i1 = add i64 %a_i, %a_step
  %c_step = mul i64 %height, %c_row_bytes
  %c_i1 = add i64 %c_i, %c_step
  br label %row
next_column:
  %j1 = add i64 %j, %step
  br label %column
end:
  ret void
}}
"""


def _choice(n: Numbers, k: int, tried: list[tuple[int, int]]) -> str:
    """A tile, where it is the first that fits; the last one always does."""
    here = {"rows": "left", "columns": "width", "a": "a_i", "b": "b_j", "c": "c_i"}
    values = ", ".join(f"i64 %{here.get(a, a)}" for a in ARGUMENTS)
    rows, vectors = tried[k]
    last = k == len(tried) - 1
    return f"""\
try{k}:
  br {f"label %do{k}" if last else f"i1 %fit{k}, label %do{k}, label %try{k + 1}"}
do{k}:
  call void @tile_{n.short}_{rows}x{vectors}({values})
  br label %next_row
"""
