"""Open extents of a declared program as Python sees them: names that can be counted with, and are never a number.

What a run's extents are is not known while a program is declared. An `Extent` is a name in a type, like those of captures;
sums and products of it are extents again, which know of which axes of which values they are made. So nothing is guessed: a
run puts in what these axes are. Code that must know a number is refused. Where code only asks whether two extents are equal
it is answered by their names, and the answer is noted: a run whose feeds make it another one is refused (`Answer`).

In: axes of values. Out: names, and what they come to where the axes are known.

>>> ledger = Ledger()
>>> n = ledger.axis("n", ("x", 0))
>>> n * 28 + 1, n == 1, ledger.answers[-1].text()
('28*n+1', False, 'n is not 1')
>>> come_to((n * 28 + 1).meant, {("x", 0): 64}.__getitem__)
1793
"""

import sys
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from d2s.errors import CaptureError
from d2s.types import Dim, Type

Sum = Mapping[tuple[Any, ...], int]
"""A sum of products: how often each product of names (or axes, or computations) is taken."""

_RULES = ("op.py", ("infer", "requires"))  # runs ask these again, with numbers


class Computed(NamedTuple):
    """What a function makes of a sum; `text` says what it does, for the same text it does the same."""

    text: str
    function: Callable[[int], int]
    of: "tuple[tuple[tuple[Any, ...], int], ...]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Computed) and (self.text, self.of) == (other.text, other.of)

    def __hash__(self) -> int:
        return hash((self.text, self.of))


class Answer(NamedTuple):
    """What code was told while a program was declared: whether two sums are equal."""

    left: Sum
    right: Sum
    equal: bool
    said: str

    def text(self) -> str:
        return self.said

    def holds(self, known: Callable[[Any], Any]) -> bool:
        return (come_to(self.left, known) == come_to(self.right, known)) is self.equal


class Ledger:
    """What was answered while one program was declared."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.feeds: dict[str, tuple[Any, int]] = {}  # by name, the first axis that has it
        self.found: set[str] = set()  # the names of those that not even the extents of feeds tell, but only a run's values

    def opened(self, of: Type, value: Any) -> Type:
        """A type whose open extents are those of a value's axes, by the names they have."""
        if not any(isinstance(d, str) for d in of.shape):
            return of
        return Type(of.dtype, tuple(self._opened(d, (value, k)) for k, d in enumerate(of.shape)), of.python)

    def _opened(self, dim: Dim, axis: tuple[Any, int]) -> Dim:
        if isinstance(dim, Extent):
            return Extent(dim.said, {(axis,): 1}, self)
        if isinstance(dim, str):
            self.feeds.setdefault(dim, axis)
            return self.axis(dim, axis)
        return dim

    def of_feeds(self, extent: "Extent") -> "Extent":
        """An extent as made of the axes of feeds, where it is known by; the runs must agree."""
        meant = _renamed(extent.said, self.feeds)
        self.answers.append(Answer(extent.meant, meant, True, f"{extent} is made of the extents of feeds"))
        return Extent(extent.said, meant, self)

    def axis(self, name: str, axis: Hashable) -> "Extent":
        """The extent of an axis, by a name; equal names are taken for equal extents."""
        return Extent({(name,): 1}, {(axis,): 1}, self)

    def answer(self, left: "Extent", right: Any) -> bool:
        """Whether two extents are equal, as far as names tell."""
        said, meant = (right.said, right.meant) if isinstance(right, Extent) else (_constant(right), _constant(right))
        equal = dict(left.said) == dict(said)
        if dict(left.meant) != dict(meant) and not _asked_by_a_rule():
            text = f"{_text(left.said)} {'is' if equal else 'is not'} {_text(said)}"
            self.answers.append(Answer(left.meant, meant, equal, text))
        return equal


def agree(left: Sequence[Dim], right: Sequence[Dim]) -> bool:
    """Whether extents are one by one the same numbers, or have the same names; then the runs of a declared program must agree.

    >>> agree((2, "n"), (2, "n")), agree((2,), (3,)), agree((2,), ())
    (True, False, False)
    """
    if len(left) != len(right) or not all(type(a) is type(b) and str(a) == str(b) for a, b in zip(left, right, strict=True)):
        return False
    for a, b in zip(left, right, strict=True):
        if isinstance(a, Extent) and isinstance(b, Extent) and dict(a.meant) != dict(b.meant):
            a.ledger.answers.append(Answer(a.meant, b.meant, True, f"{a} is the same of all tensors that have it"))
    return True


class Extent(str):
    """An open extent: its text is made of names (`said`), its value of axes (`meant`)."""

    said: Sum
    meant: Sum
    ledger: Ledger
    __slots__ = ("ledger", "meant", "said")

    def __new__(cls, said: Sum, meant: Sum, ledger: Ledger) -> "Extent":
        found = super().__new__(cls, _text(said))
        found.said, found.meant, found.ledger = said, meant, ledger
        return found

    @property
    def is_found(self) -> bool:
        """Whether only a run's values tell it: code is answered nothing about it."""
        return bool(self.ledger.found) and any(name in self.ledger.found for name in _names(self.said))

    def _asked(self) -> None:
        if self.is_found and not _asked_by_a_rule():
            self._unknown()

    def _unknown(self, *_: Any) -> NoReturn:
        message = f"the extent {self} of a declared program is known at run time only"
        hint = "d2s.where(mask, x, y) keeps the size" if self.is_found else "give it in static.data()"
        raise CaptureError("D2S1001", message, hint=hint)

    __float__ = __int__ = __index__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __iter__ = __getitem__ = _unknown  # type: ignore[assignment]
    __rfloordiv__ = __rmod__ = _unknown

    def __lt__(self, other: Any) -> bool:
        return str.__lt__(self, other) if isinstance(other, str) and _asked_by_a_rule() else self._unknown()

    __le__ = __gt__ = __ge__ = _unknown  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if self is other or (self.is_found and isinstance(other, str) and str.__eq__(self, other)):
            return True
        self._asked()
        if isinstance(other, Extent) or (isinstance(other, int) and not isinstance(other, bool)):
            return self.ledger.answer(self, other)
        return str.__eq__(self, other) if isinstance(other, str) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return str.__hash__(self)

    def __bool__(self) -> bool:
        return self != 0

    def __add__(self, other: Any) -> Any:
        return self._made(other, _added)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Any:
        return self._made(other, _times)

    __rmul__ = __mul__

    def __neg__(self) -> Any:
        return self * -1

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, int | Extent) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __floordiv__(self, other: Any) -> Any:
        return self._made(other, _divided)

    def __mod__(self, other: Any) -> Any:  # type: ignore[override]
        """What is left is taken to be nothing; the runs must agree."""
        whole = self // other
        left = self - whole * other
        if isinstance(left, Extent):
            self.ledger.answers.append(Answer(left.meant, {}, True, f"{self} can be divided by {other}"))
        return 0

    def computed(self, text: str, function: Callable[[int], int]) -> Any:
        """What a function makes of this extent in a run; equal texts say that functions are equal."""
        self._asked()
        said, meant = ({(Computed(text, function, _key(part)),): 1} for part in (self.said, self.meant))
        return _extent(said, meant, self.ledger)

    def _made(self, other: Any, how: Callable[[Sum, Sum], Sum]) -> Any:
        if isinstance(other, bool) or not isinstance(other, int | Extent):
            return NotImplemented
        self._asked()
        said, meant = (other.said, other.meant) if isinstance(other, Extent) else (_constant(other), _constant(other))
        return _extent(how(self.said, said), how(self.meant, meant), self.ledger)


def _extent(said: Sum, meant: Sum, ledger: Ledger) -> Any:
    """An extent, or a number where it is one whatever a run is."""
    return meant.get((), 0) if all(product == () for product in meant) else Extent(said, meant, ledger)


def _names(what: Sum) -> Iterator[Any]:
    """All names a sum is made of."""
    for product in what:
        for part in product:
            yield from _names(dict(part.of)) if isinstance(part, Computed) else (part,)


def _renamed(what: Sum, names: Mapping[Any, Any]) -> Sum:
    total: Sum = {}
    for product, count in what.items():
        parts = [p._replace(of=_key(_renamed(dict(p.of), names))) if isinstance(p, Computed) else names[p] for p in product]
        total = _added(total, {_ordered(tuple(parts)): count})
    return total


def come_to(what: Sum, known: Callable[[Any], Any]) -> Any:
    """What a sum is where axes are numbers, or names; CaptureError for what is neither."""
    total: Sum = {}
    for product, count in what.items():
        part = _constant(count)
        for axis in product:
            part = _times(part, _value(axis, known))
        total = _added(total, part)
    if all(product == () for product in total):
        return total.get((), 0)
    if list(total.values()) == [1] and len(next(iter(total))) == 1:
        return next(iter(total))[0]
    message = f"an attribute of this program is {_text(total)}: computed from an open extent, which a file cannot say"
    raise CaptureError("D2S1001", message, hint="give the extent in static.data()")


def _value(axis: Any, known: Callable[[Any], Any]) -> Sum:
    if not isinstance(axis, Computed):
        found = known(axis)
        return _constant(found) if isinstance(found, int) else {(found,): 1}
    found = come_to(dict(axis.of), known)
    if isinstance(found, int):
        return _constant(axis.function(found))
    return {(Computed(axis.text, axis.function, (((found,), 1),)),): 1}


def axes(what: Sum) -> Iterator[Any]:
    """The axes a sum is made of."""
    for product in what:
        for axis in product:
            if isinstance(axis, Computed):
                yield from axes(dict(axis.of))
            else:
                yield axis


# --- sums of products --------------------------------------------------------------------------------------------------------


def _constant(number: int) -> Sum:
    return {(): int(number)} if number else {}


def _ordered(product: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(sorted(product, key=lambda part: part if isinstance(part, str) else repr(_plain(part))))


def _plain(part: Any) -> Any:
    return (part.text, part.of) if isinstance(part, Computed) else part


def _key(what: Sum) -> tuple[tuple[tuple[Any, ...], int], ...]:
    return tuple(sorted(what.items(), key=repr))


def _added(x: Sum, y: Sum) -> Sum:
    total = dict(x)
    for product, count in y.items():
        total[product] = total.get(product, 0) + count
    return {product: count for product, count in total.items() if count}


def _times(x: Sum, y: Sum) -> Sum:
    total: Sum = {}
    for one, count in x.items():
        for other, times in y.items():
            total = _added(total, {_ordered(one + other): count * times})
    return total


def _divided(x: Sum, y: Sum) -> Sum:
    """Rounded downwards: exactly where each product of x can be divided by the one that y is."""
    ((product, count),) = y.items() if len(y) == 1 else ((None, 0),)
    if product is not None and all(number % count == 0 and _contains(one, product) for one, number in x.items()):
        return {_without(one, product): number // count for one, number in x.items()}
    if product != ():
        raise CaptureError("D2S1001", f"{_text(x)} divided by {_text(y)}: extents of a declared program that only a run knows")
    return {(Computed(f"//{count}", lambda n: n // count, _key(x)),): 1}


def _contains(one: tuple[Any, ...], part: tuple[Any, ...]) -> bool:
    return all(one.count(axis) >= part.count(axis) for axis in part)


def _without(one: tuple[Any, ...], part: tuple[Any, ...]) -> tuple[Any, ...]:
    left = list(one)
    for axis in part:
        left.remove(axis)
    return tuple(left)


def _text(what: Sum) -> str:
    """`2*n0+1`."""
    found = "+".join(_product_text(product, count) for product, count in sorted(what.items(), key=lambda p: (not p[0], str(p))))
    return found.replace("+-", "-") or "0"


def _product_text(product: tuple[Any, ...], count: int) -> str:
    parts = [f"({_text(dict(p.of))}){p.text}" if isinstance(p, Computed) else str(p) for p in product]
    number = [] if count == 1 and parts else ["-"] if count == -1 and parts else [str(count)]
    return "*".join([*number, *parts]).replace("-*", "-")


def _asked_by_a_rule() -> bool:
    """Whether an op's rule asks: it is asked again by each run."""
    file, names = _RULES
    frame: Any = sys._getframe(1)
    while frame:
        if frame.f_code.co_name in names and frame.f_code.co_filename.endswith(file):
            return True
        frame = frame.f_back
    return False
