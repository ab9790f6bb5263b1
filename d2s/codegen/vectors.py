r"""Vectors of the host: how many numbers one holds, how many there are, and how LLVM spells them.

In: the host's features, a dtype. Out: a `Unit`, `Numbers`, and lines of LLVM IR that others put into their loops.

>>> numbers("f64", Unit(64, 32)).vector
'<8 x double>'
>>> print(*splat(numbers("f32", Unit(16, 32)), "x", "%one"), sep="\n")
  %x_first = insertelement <4 x float> poison, float %one, i32 0
  %x = shufflevector <4 x float> %x_first, <4 x float> poison, <4 x i32> zeroinitializer
"""

from collections.abc import Iterator
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


def in_bytes(n: Numbers, *strides: str) -> Iterator[str]:
    """%a_row_bytes ... of strides that count elements."""
    yield from (f"  %{s}_bytes = mul i64 %{s}, {n.size}" for s in strides)
