"""The text of a product of matrices: the blocks it is done in, and how these are read.

In: a `Product`, and text for what happens to a result behind its last k. Out: what a kernel rule returns. The text is the same
for all shapes: it looks at the extents when it runs. Every element is one fma per k in ascending k, from 0, on every path.

* A piece of work is some rows of a batch by WIDTH columns. Neighbouring pieces that have all rows are done together.
* k is cut into parts that leave what they read of y in the near caches; a result waits in `out` for the next part.
* Where y is not contiguous along the columns, a part of it is turned into a panel. No memory for a panel: column by column.
  A single row needs no panel: nothing is read twice.
* A single column is the row of the transposed product, whose many columns fill vectors.

>>> Product(("m",), (3,), (4,)).extents
[('m',), (3,), (4,)]
>>> "turned(" in text_of(Product(("m",), (3,), (4,))).body, "turned(" in text_of(Product(("m",), (3,), (1,))).body
(False, True)
"""

import textwrap
from typing import NamedTuple

from d2s.ops.op import Share
from d2s.types import Shape

PART = 512  # of k, where y is read where it lies
FEW = 8  # rows, for which reading y is what takes the time:
FEW_PART, STRIP = 16, 16  # a few k at a time of so many pieces side by side, so that memory is read in long runs
PANEL = 128  # of k in a panel
HIGH = 256  # rows of a piece, at most
CHUNK = 2**19  # multiplications a thread takes at a time; one element read counts as READ of them
READ = 6


PANELS = f"""\
panel = 0
if n0 > 1:
    panel = new_memory({PANEL} * WIDTH * SIZE + 63)
to = (panel + 63) & -64
"""


class Kernel(NamedTuple):
    """What a kernel rule returns."""

    extents: list[Shape]
    body: str
    share: Share
    above: str = ""


class Loop(NamedTuple):
    """Neighbouring axes of a batch, and along which operands they run."""

    dims: Shape
    x: bool
    y: bool


class Product(NamedTuple):
    """x @ y: a product of extents per axis, which operand is transposed, and what each is called in a kernel."""

    rows: Shape
    inner: Shape
    columns: Shape
    transpose_x: bool = False
    transpose_y: bool = False
    batch: tuple[Loop, ...] = ()
    x: str = "x"
    y: str = "y"
    place: tuple[str, str] = ("row", "column")

    @property
    def extents(self) -> list[Shape]:
        return [self.rows, self.inner, self.columns, *(loop.dims for loop in self.batch)]

    @property
    def transposed(self) -> "Product":
        """y^T @ x^T."""
        batch = tuple(Loop(loop.dims, loop.y, loop.x) for loop in self.batch)
        flips = not self.transpose_y, not self.transpose_x
        return Product(self.columns, self.inner, self.rows, *flips, batch, self.y, self.x, self.place[::-1])

    @property
    def flat(self) -> bool:
        """Whether the result is a single column of some rows."""
        return all(d == 1 for d in self.columns) and not all(d == 1 for d in self.rows)


FOLLOW = "follow(at(r, 0), at(o, follower), batch * n0 + i, rows, j, columns)\n"


def text_of(product: Product, epilogue: str = "", followed: bool = False) -> Kernel:
    """The kernel of a product of floats. `epilogue` is the text of a result made of `v`, its `row` and `column`.

    Where it is followed, pieces are handed on when they are finished.
    """
    p = product.transposed if product.flat else product
    across = "((n2 + WIDTH - 1) // WIDTH)"
    pieces = f"{across} * (1 + n0 // {HIGH})"
    grain = f"1 + {pieces} * {CHUNK} // (1 + n1 * (n0 * n2 + {READ} * (n0 + n2)))"
    strip = f"select(n0 > {FEW}, 1, least({STRIP}, ({across} + 1) // 2))"
    share = Share(_count(p, pieces), grain if p.transpose_y else f"-least(-({grain}), -{strip})")
    block = (_turned if p.transpose_y else _straight)(p) + _finished(p, epilogue) + (FOLLOW if followed else "")
    return Kernel(p.extents, _pieces(p, block), share)


def plain_text(product: Product, term: str = "fma(a, b, so_far)", epilogue: str = "") -> Kernel:
    """The same in scalars, row by row: for integers, and what the tiles must agree with."""
    a = _element(product.x, "x_from", "i", "n0", "k", "n1", product.transpose_x)
    b = _element(product.y, "y_from", "k", "n1", "j", "n2", product.transpose_y)
    ahead = textwrap.indent(_batch(product), "    ")
    body = f"""\
for piece in range(lo, hi):
    i = piece % n0
    batch = piece // n0
{ahead}    for j in range(n2):
        out[piece * n2 + j] = T(0)
    for k in range(n1):
        a = {a}
        for j in range(n2):
            b = {b}
            so_far = out[piece * n2 + j]
            out[piece * n2 + j] = T({term})
    rows, columns, j = 1, n2, 0
{textwrap.indent(_finished(product, epilogue), "    ")}"""
    return Kernel(product.extents, body, Share(_count(product, "n0"), "1 + 65536 // (1 + n1 * n2)"))


def _element(name: str, start: str, i: str, rows: str, j: str, columns: str, transposed: bool) -> str:
    return f"{name}[{start} + {j} * {rows} + {i}]" if transposed else f"{name}[{start} + {i} * {columns} + {j}]"


def _count(p: Product, pieces: str) -> str:
    return " * ".join([*(f"n{3 + k}" for k in range(len(p.batch))), pieces])


def _pieces(p: Product, block: str) -> str:
    """The loop over pieces around the text of one; the panel, where there is one, is had once."""
    having = PANELS if p.transpose_y else ""
    together = "1" if p.transpose_y else "select(down == 1, least(hi - piece, across - j // WIDTH), 1)"
    body = f"""\
down = 1 + n0 // {HIGH}
high = (n0 // down + 6) // 6 * 6
across = (n2 + WIDTH - 1) // WIDTH
{having}piece = lo
while piece < hi:
    i = piece // across % down * high
    j = piece % across * WIDTH
    batch = piece // down // across
    together = {together}
    rows = least(high, n0 - i)
    columns = least(together * WIDTH, n2 - j)
{textwrap.indent(_batch(p) + block, "    ")}    piece += together
"""
    return body + ("free_memory(panel)\n" if having else "")


def _batch(p: Product) -> str:
    """Where the matrices of batch number `batch` begin."""
    lines, rest = [], "batch"
    for k in reversed(range(len(p.batch))):
        lines.append(f"b{k} = {rest} % n{3 + k}" if k else f"b{k} = {rest}")
        rest = f"({rest}) // n{3 + k}"
    for matrix, size in (("x", "n0 * n1"), ("y", "n1 * n2")):
        at = "0"
        for k in (k for k, loop in enumerate(p.batch) if getattr(loop, matrix)):
            at = f"b{k}" if at == "0" else f"({at}) * n{3 + k} + b{k}"
        lines.append(f"{matrix}_from = " + ("0" if at == "0" else f"({at}) * {size}"))
    return "\n".join(lines) + "\n"


def _rows(p: Product) -> str:
    """The arguments that say where rows of x are, at i and k."""
    if p.transpose_x:
        return f"at({p.x}, x_from + k * n0 + i), 1, n0"
    return f"at({p.x}, x_from + i * n1 + k), n1, 1"


def _straight(p: Product) -> str:
    return f"""\
part = select(n0 > {FEW}, {PART}, {FEW_PART})
for k in range(0, n1 + (n1 == 0), part):
    y_at = at({p.y}, y_from + k * n2 + j)
    out_at = at(out, (batch * n0 + i) * n2 + j)
    product(rows, columns, least(part, n1 - k), {_rows(p)}, y_at, n2, out_at, n2, k)
"""


def _turned(p: Product) -> str:
    return f"""\
if n0 == 1:
    dots(columns, n1, at({p.x}, x_from), at({p.y}, y_from + j * n1), n1, at(out, batch * n2 + j))
else:
    step = select(panel == 0, 1, columns)
    for k in range(0, n1 + (n1 == 0), {PANEL}):
        count = least({PANEL}, n1 - k)
        column = j
        while column < j + columns:
            y_at = at({p.y}, y_from + column * n1 + k)
            y_step = 1
            if panel != 0:
                turned(count, columns, y_at, n1, to)
                y_at = to
                y_step = WIDTH
            out_at = at(out, (batch * n0 + i) * n2 + column)
            product(rows, step, count, {_rows(p)}, y_at, y_step, out_at, n2, k)
            column += step
"""


def _finished(p: Product, epilogue: str) -> str:
    """What is done to a piece when its sums are complete and still near."""
    if not epilogue:
        return ""
    row, column = p.place
    return f"""\
for {row} in range(i, i + rows):
    for {column} in range(j, j + columns):
        v = out[(batch * n0 + {row}) * n2 + {column}]
        out[(batch * n0 + {row}) * n2 + {column}] = {epilogue}
"""
