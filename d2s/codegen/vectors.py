r"""Vectors of the host: how many numbers one holds, how many there are, and how LLVM spells them.

In: the host's features, a dtype. Out: a `Unit`, `Numbers`, and lines of LLVM IR that others put into their loops.

>>> numbers("f64", Unit(64, 32)).vector
'<8 x double>'
>>> print(*splat(numbers("f32", Unit(16, 32)), "x", "%one"), sep="\n")
  %x_first = insertelement <4 x float> poison, float %one, i32 0
  %x = shufflevector <4 x float> %x_first, <4 x float> poison, <4 x i32> zeroinitializer
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d2s.codegen.host import cpu


class Unit(NamedTuple):
    """A CPU's vectors: bytes in one, and how many registers hold them."""

    bytes: int
    registers: int


class Numbers(NamedTuple):
    """How LLVM spells a vector of a dtype."""

    short: str
    scalar: str
    size: int
    lanes: int

    @property
    def suffix(self) -> str:
        return f"v{self.lanes}{self.short}"

    @property
    def vector(self) -> str:
        return f"<{self.lanes} x {self.scalar}>"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    @property
    def counter(self) -> str:
        return f"i{8 * self.size}"

    @property
    def indices(self) -> str:
        return f"<{self.lanes} x {self.counter}>"


def unit() -> Unit:
    """The host's."""
    features = set(cpu()[1].split(","))
    if "+avx512f" in features:
        return Unit(64, 32)
    if {"+avx2", "+fma"} <= features:
        return Unit(32, 16)
    return Unit(16, 32 if "+neon" in features else 16)


def numbers(short: str, of: Unit) -> Numbers:
    size = int(short[1:]) // 8
    return Numbers(short, {4: "float", 8: "double"}[size], size, of.bytes // size)


def splat(n: Numbers, to: str, value: str) -> Iterator[str]:
    """A number in all lanes."""
    yield f"  %{to}_first = insertelement {n.vector} poison, {n.scalar} {value}, i32 0"
    yield f"  %{to} = shufflevector {n.vector} %{to}_first, {n.vector} poison, <{n.lanes} x i32> zeroinitializer"


def element(n: Numbers, name: str, base: str, j: int) -> str:
    """The address of vector j behind a base."""
    return f"  %{name} = getelementptr {n.scalar}, ptr %{base}, i64 {j * n.lanes}"


def declared(n: Numbers) -> str:
    """What a text with masks and fmas calls."""
    return f"""\
declare {n.vector} @llvm.fma.{n.suffix}({n.vector}, {n.vector}, {n.vector})
declare {n.vector} @llvm.masked.load.{n.suffix}.p0(ptr, i32, {n.mask}, {n.vector})
declare void @llvm.masked.store.{n.suffix}.p0({n.vector}, ptr, i32, {n.mask})
declare void @llvm.prefetch.p0(ptr, i32, i32, i32)
"""


def in_bytes(n: Numbers, *strides: str) -> Iterator[str]:
    """%a_row_bytes ... of strides that count elements."""
    yield from (f"  %{s}_bytes = mul i64 %{s}, {n.size}" for s in strides)


def lines(listed: Iterable[str]) -> str:
    """Lines as a text."""
    return "".join(f"{line}\n" for line in listed)


def masks(n: Numbers, vectors: int, limit: str) -> str:
    """%mask0 ...: which lanes of each vector are columns."""
    ranges = [", ".join(f"{n.counter} {lane}" for lane in range(j * n.lanes, (j + 1) * n.lanes)) for j in range(vectors)]
    return f"""\
  %narrow = {f"trunc i64 %{limit} to i32" if n.counter == "i32" else f"add i64 %{limit}, 0"}
  %all_first = insertelement {n.indices} poison, {n.counter} %narrow, i32 0
  %all = shufflevector {n.indices} %all_first, {n.indices} poison, <{n.lanes} x i32> zeroinitializer
{lines(f"  %mask{j} = icmp slt {n.indices} <{lanes}>, %all" for j, lanes in enumerate(ranges))}"""


def masked(n: Numbers, name: str, base: str, j: int) -> str:
    """Vector j behind a base, or the columns of it that there are."""
    arguments = f"ptr %{name}_at, i32 {n.size}, {n.mask} %mask{j}, {n.vector} zeroinitializer"
    load = f"  %{name} = call {n.vector} @llvm.masked.load.{n.suffix}.p0({arguments})"
    return lines([element(n, f"{name}_at", base, j), load])


def stored(n: Numbers, value: str, base: str, j: int) -> str:
    """Stores vector j behind a base, or the columns of it that there are."""
    arguments = f"{n.vector} %{value}, ptr %{value}_at, i32 {n.size}, {n.mask} %mask{j}"
    return lines([element(n, f"{value}_at", base, j), f"  call void @llvm.masked.store.{n.suffix}.p0({arguments})"])
