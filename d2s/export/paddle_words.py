"""Paddle's ops said in ops of d2s, for reading files; this module holds the table, and what its entries are written with.

In: an op of a file in a frame of the reader. Out: nodes, by calling ops on symbols.

>>> "addmm" in READ
True
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, Protocol

from d2s import types
from d2s.export.file_recorder import FileRecorder, FileSymbol
from d2s.export.paddle_blocks import Op, fail
from d2s.ir.program import Node, Value
from d2s.ops import OPS
from d2s.ops.found import length
from d2s.ops.join import stack
from d2s.ops.rows import row
from d2s.types import Dim, DType, Shape, Type

MAX_WRITTEN_OUT = 256  # numbers of a tensor that stands in an attribute
MAX_RESULT = 1 << 40  # elements


class Frame(Protocol):
    """What a reading needs of the frame it stands in."""

    recorder: FileRecorder
    env: dict[str, Value]
    maker: dict[Value, Node]
    known: dict[Value, list[Dim]]
    where: str
    version: int  # of the Paddle that wrote the file: 2006002 is 2.6.2
    whole_parts: bool  # parts of open axes are as long as the file asks for

    def get(self, name: str) -> Value: ...


class Reading:
    """One op of a file: its inputs as symbols, its attributes checked."""

    def __init__(self, frame: Frame, op: Op) -> None:
        self.frame, self.op, self.take = frame, op, op.take

    def fail(self, why: str) -> NoReturn:
        fail(f"{self.op.type} {why}", self.frame.where)

    def symbol(self, value: Value) -> Any:
        return FileSymbol(self.frame.recorder, value)

    def x(self, slot: str = "X") -> Any:
        return self.symbol(self.frame.get(self.op.one(slot)))

    def has(self, slot: str) -> bool:
        return slot in self.op.inputs

    def many(self, slot: str = "X") -> list[Any]:
        return [self.symbol(self.frame.get(name)) for name in self.op.inputs.get(slot, [])]

    def type(self, symbol: Any) -> Type:
        found: Type = symbol.value.type
        return found

    def shape(self, symbol: Any) -> Shape:
        return self.type(symbol).shape

    def only(self, *slots: str) -> None:
        """Refuses inputs nobody here knows."""
        if set(self.op.inputs) - set(slots):
            self.fail(f"with inputs {sorted(self.op.inputs)}")

    def channels_last(self, attribute: str = "data_format") -> bool:
        return self.take(attribute, "NCHW") in ("NHWC", "NDHWC", "NLC")

    # numbers and extents that are known

    def constant(self, number: float, dtype: DType) -> Any:
        if dtype.kind == "b":
            number = bool(number)
        elif dtype.kind == "i":
            if number != number or abs(number) == float("inf"):
                self.fail(f"with the number {number}")
            number = int(number)
        types.array_of(number, dtype)
        return self.frame.recorder.constant(number, Type(dtype))

    def number(self, symbol: Any) -> Any:
        """The number a symbol is, if the file says it."""
        node = self._maker(symbol)
        if node is None:
            self.fail("with a number that only a run knows")
        return node.attrs["value"]

    def open(self, symbol: Any) -> bool:
        """Whether only a run has the number a symbol is."""
        return symbol.value not in self.frame.known and self._maker(symbol) is None

    def _maker(self, symbol: Any) -> Node | None:
        """The constant that a symbol is, in whatever shape."""
        node = self.frame.maker.get(symbol.value)
        while node and node.op in ("cast", "reshape", "squeeze", "unsqueeze", "expand"):
            node = self.frame.maker.get(node.inputs[0])
        return node if node and node.op == "constant" else None

    def know(self, symbol: Any, dims: Sequence[Dim]) -> Any:
        """Notes the numbers of a vector that came of shapes."""
        self.frame.known[symbol.value] = list(dims)
        return symbol

    def dims(self, symbols: Sequence[Any]) -> list[Dim]:
        """The extents some vectors, or single numbers, are."""
        found: list[Dim] = []
        for symbol in symbols:
            known = self.frame.known.get(symbol.value)
            found += known if known is not None else [int(self.number(symbol))]
        return found

    def wanted(self, attribute: str, whole: str, parts: str) -> list[Dim]:
        """A list that stands in an attribute, in one vector, or in several."""
        if self.has(whole):
            return self.dims([self.x(whole)])
        if self.has(parts):
            return self.dims(self.many(parts))
        return list(self.take(attribute, []))

    def numbers(self, attribute: str, whole: str, parts: str) -> list[Any]:
        """The same list; what only a run knows is a symbol of one value."""
        if whole and self.has(whole):
            return self._each(self.x(whole))
        if parts and self.has(parts):
            return [n for x in self.many(parts) for n in self._each(x)]
        return list(self.take(attribute, []))

    def _each(self, x: Any) -> list[Any]:
        """The numbers of a vector, or the one a symbol is."""
        if not self.open(x):
            return list(self.dims([x]))
        if self.shape(x) == ():
            return [x]
        if len(self.shape(x)) != 1 or not isinstance(count := self.shape(x)[0], int) or count > MAX_WRITTEN_OUT:
            self.fail(f"of numbers {self.type(x)}")
        if count == 1:
            return [OPS["squeeze"](x, 0)]
        return [row(x, self.constant(k, types.int64)) for k in range(count)]

    def extent(self, name: Dim) -> Any:
        """An extent as a number of run time."""
        having = next((v for v in self.frame.env.values() if name in v.type.shape), None)
        if having is None:
            self.fail(f"of an extent {name} that nothing here has")
        return length(self.symbol(having), having.type.shape.index(name))

    # tensors of some shape

    def scalars(self, dtype: DType) -> list[Any]:
        """The numbers that stand in the file: since Paddle 2.5 as scalars, before in a list of their dtype."""
        held = {"b": "bool_values", "f": f"fp{8 * dtype.size}_values", "i": f"int{8 * dtype.size}_values"}[dtype.kind]
        found = self.op.attrs.get("values", self.op.attrs.get(held))
        if not isinstance(found, list) or not all(isinstance(n, int | float) for n in found):
            self.fail("of no numbers")
        if len(found) > MAX_WRITTEN_OUT:
            self.fail(f"of {len(found)} numbers; {MAX_WRITTEN_OUT} are the most")
        return found

    def tensor(self, numbers: Sequence[Any], dtype: DType, dims: Sequence[int]) -> Any:
        """A tensor whose values the file says."""
        if any(d < 0 for d in dims) or _size(dims) != len(numbers):
            self.fail(f"of {len(numbers)} numbers in the shape {list(dims)[:32]}")
        if not numbers:
            return OPS["expand"](self.constant(0, dtype), list(dims))
        ones = [self.constant(n, dtype) for n in numbers]
        found = ones[0] if not dims else stack(ones)
        return found if len(dims) < 2 else self.reshaped(found, dims)

    def like(self, dims: Sequence[Dim], dtype: DType) -> Any:
        """A tensor of a shape, of which nobody reads more than that."""
        names = [d for d in dims if isinstance(d, str)]
        defining = [next((v for v in self.frame.env.values() if name in v.type.shape), None) for name in names]
        if None in defining:
            self.fail(f"of a shape {list(dims)} that no input has")
        given = [self.symbol(v) for v in dict.fromkeys(defining) if v]
        return OPS["hole"](*given, dtype=dtype, shape=tuple(dims), python=False)

    def expanded(self, x: Any, dims: Sequence[Dim]) -> Any:
        """x in a larger shape, in which -1 is what x has there."""
        have, extra = self.shape(x), len(dims) - len(self.shape(x))
        want = tuple(have[k - extra] if d == -1 and k >= extra else d for k, d in enumerate(dims))
        told = [d if isinstance(d, int) and isinstance(h, str) else 0 for h, d in zip(have, want[extra:], strict=False)]
        if extra >= 0 and any(told) and _size(want) <= MAX_RESULT:
            x = OPS["reshape"](x, told)  # a run with another extent is refused
            have = self.shape(x)
        if any(isinstance(d, int) and d < 0 for d in want) or extra < 0 or _size(want) > MAX_RESULT:
            self.fail(f"to the shape {list(dims)}")
        if all(isinstance(d, int) or (k >= extra and have[k - extra] == d) for k, d in enumerate(want)):
            return OPS["expand"](x, [d if isinstance(d, int) else -1 for d in want])
        return OPS["expand_as"](x, self.like(want, self.type(x).dtype))

    def reshaped(self, x: Any, dims: Sequence[Dim]) -> Any:
        """x in another shape: 0 is what x has there, one -1 what is left."""
        have = self.shape(x)
        plain = [0 if isinstance(d, str) and have[k : k + 1] == (d,) else d for k, d in enumerate(dims)]
        names = [k for k, d in enumerate(plain) if isinstance(d, str)]
        if len(names) == 1 and -1 not in plain:
            plain[names[0]] = -1
        elif names:
            left = [have[k] if d == 0 else d for k, d in enumerate(plain)]
            left = [_left_over(have, left) if d == -1 else d for d in left]
            return OPS["reshape_like"](x, self.like(left, self.type(x).dtype))
        return OPS["reshape"](x, plain)

    def full(self, number: float, dtype: DType, dims: Sequence[Dim]) -> Any:
        one = self.constant(number, dtype)
        return self.expanded(one, dims) if dims else one


def _left_over(have: Sequence[Dim], dims: Sequence[Dim]) -> Dim:
    """What the one -1 of a shape is, if it is an extent of x, or a number; else -1.

    >>> _left_over(("m0", 1, "n0"), (-1, "n0")), _left_over(("n0", 6), (2, "n0", -1)), _left_over(("n0", "n1"), (-1, 1))
    ('m0', 3, -1)
    """
    names = list((Counter(d for d in have if isinstance(d, str)) - Counter(d for d in dims if isinstance(d, str))).elements())
    more = Counter(d for d in dims if isinstance(d, str)) - Counter(d for d in have if isinstance(d, str))
    whole, others = _size(have), _size([d for d in dims if d != -1])
    if more or len(names) > 1 or not others or whole % others:
        return -1
    return (names[0] if whole == others else -1) if names else whole // others


def _size(dims: Sequence[Dim]) -> int:
    found = 1
    for d in dims:
        found *= d if isinstance(d, int) else 1
    return found


Read = Callable[[Reading], Any]
READ: dict[str, Read] = {}


def reads(names: str) -> Callable[[Read], Read]:
    """Declares what some of Paddle's ops mean: a symbol for the slot "Out", or symbols by slot."""

    def declare(read: Read) -> Read:
        READ.update(dict.fromkeys(names.split(), read))
        return read

    return declare
