"""`x[...]` and `x[...] = v` in ops, for tensors of any handler.

In: an index of ints, slices, None, Ellipsis, bools and integer tensors, in NumPy's order. Out: a tensor. The basic part of
an index is one stretch of some axes; index tensors then take from, or put into, what that leaves.

>>> x = d2s.to_tensor([[1, 2, 3], [4, 5, 6]])
>>> get_item(x, (slice(None), d2s.to_tensor([2, 0]))).numpy().tolist()
[[3, 1], [6, 4]]
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from d2s.errors import IndexRangeError, brief
from d2s.extents import Extent
from d2s.ops.compare import cast
from d2s.ops.create import full, number_of
from d2s.ops.dispatch import current
from d2s.ops.gather import take_at
from d2s.ops.scatter import filling, put_at
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import whole_number
from d2s.ops.slicing import Stretch, at, columns, set_slice, sliced, stretch
from d2s.ops.widened import together
from d2s.types import Shape, Type, int64


class Item(NamedTuple):
    """An index, understood.

    A stretch of some axes (as attributes, the shape of what that leaves), axes put in, and tensors for axes of what is left.
    """

    basic: tuple[Any, ...]
    left: Shape
    added: tuple[int, ...]
    tensors: Sequence[Any]
    axes: tuple[int, ...]
    front: bool

    @property
    def whole(self) -> bool:
        """Whether the basic part is everything."""
        return not self.basic[0]


class _Reader:
    """Goes through an index from left to right."""

    def __init__(self, shape: Shape) -> None:
        self.shape, self.axis, self.place = shape, 0, 0  # of x; of what the basic part leaves
        self.stretches: dict[int, Stretch] = {}
        self.dropped: list[int] = []
        self.added: list[int] = []
        self.tensors: list[tuple[Any, int]] = []
        self.advanced: list[int] = []  # which entries are ints or tensors

    def entry(self, n: int, entry: Any) -> None:
        """Entry number n: `self.axis` is the axis it is about, `self.place` where that comes to stand."""
        if isinstance(entry, bool):
            self.tensors.append((full([int(entry)], 0, int64), self.place))
            self.advanced.append(n)
        if entry is None or isinstance(entry, bool):
            self.added.append(self.place)
        elif isinstance(entry, slice):
            self.stretches[self.axis] = stretch("indexing", self.shape[self.axis], *map(whole_bound, _parts(entry)))
        elif _is_tensor(entry):
            self.tensors.append((entry, self.place))
            self.advanced.append(n)
        else:
            self.stretches[self.axis] = at("indexing", self.shape[self.axis], self.axis, _index(entry))
            self.dropped.append(self.axis)
            self.advanced.append(n)
        self.place += not (self.dropped and self.dropped[-1] == self.axis)
        self.axis += uses_axis(entry)

    def left(self) -> Shape:
        """The shape of the basic part, without axes put in."""
        extents = {**dict(enumerate(self.shape)), **{k: s.size for k, s in self.stretches.items()}}
        return tuple(d for k, d in extents.items() if k not in self.dropped)


def uses_axis(entry: Any) -> bool:
    return not (entry is None or isinstance(entry, bool))


def _parts(entry: slice) -> tuple[Any, Any, Any]:
    return entry.start, entry.stop, entry.step


def whole_bound(value: Any) -> int | None:
    """A bound of a slice that a call knows."""
    return None if value is None else whole_number(value, "indexing", "slice")


def _is_tensor(entry: Any) -> bool:
    held = current().type_of(entry)
    if held is not None and held.dtype.kind != "i":
        raise IndexRangeError("D2S0003", f"an index holds {held.dtype.name}, expected integers or bools")
    return held is not None


def _index(entry: Any) -> int:
    try:
        return whole_number(entry, "indexing", "index")
    except ValueError:
        got = type(entry).__name__
        message = f"{brief(entry)} ({got}) is no index: ints, slices, None, ..., and integer or bool tensors are"
        raise IndexRangeError("D2S0001", message) from None


def understood(shape: Shape, index: Any) -> Item:
    """What an index of a tensor of that shape says; of one without tensors it is remembered."""
    entries = index if isinstance(index, tuple) else (index,)
    key = tuple(map(_plain, entries))
    open_shape = any(isinstance(d, Extent) for d in shape)
    return _read(shape, list(entries)) if _OTHER in key or open_shape else _remembered(shape, key)


_OTHER = "other"


def _plain(entry: Any) -> Any:
    """A hashable form of an entry that is no tensor."""
    if type(entry) is slice:
        bounds = _parts(entry)
        return bounds if all(type(b) in (int, type(None)) for b in bounds) else _OTHER
    return entry if type(entry) is int or entry is None or entry is Ellipsis else _OTHER


@functools.lru_cache(maxsize=4096)
def _remembered(shape: Shape, key: tuple[Any, ...]) -> Item:
    return _read(shape, [slice(*entry) if isinstance(entry, tuple) else entry for entry in key])


def _read(shape: Shape, given: list[Any]) -> Item:
    entries, reader = _complete(shape, given), _Reader(shape)
    for n, entry in enumerate(entries):
        if entry is Ellipsis:
            whole = len(shape) - sum(map(uses_axis, entries[:n] + entries[n + 1 :]))
            reader.axis, reader.place = reader.axis + whole, reader.place + whole
        else:
            reader.entry(n, entry)
    tensors, axes = [_number(t) for t, _ in reader.tensors], tuple(place for _, place in reader.tensors)
    basic = columns(shape, reader.stretches, tuple(reader.dropped))
    return Item(basic, reader.left(), tuple(reader.added), together(tensors), axes, _in_front(reader.advanced, axes))


def _in_front(advanced: Sequence[int], axes: tuple[int, ...]) -> bool:
    """NumPy's rule: where ints and tensors are not neighbours, in the index or in the tensor, their axes come first."""
    apart = [list(places) != list(range(places[0], places[0] + len(places))) for places in (advanced, axes) if places]
    return bool(axes) and any(apart)


def _number(index: Any) -> Any:
    """An index tensor; a Python int of run time is one."""
    return cast(index, int64) if current().type_of(index).python else index  # type: ignore[union-attr]


def _complete(shape: Shape, entries: list[Any]) -> list[Any]:
    """The entries with exactly one Ellipsis."""
    dots = sum(e is Ellipsis for e in entries)
    used = sum(map(uses_axis, entries)) - dots
    if dots > 1 or used > len(shape):
        message = "an index has one '...' at most" if dots > 1 else f"{used} indices for a tensor of {len(shape)} axes"
        raise IndexRangeError("D2S0007", message)
    return entries if dots else [*entries, Ellipsis]


def _shape_of(x: Any) -> Shape:
    return current().type_of(x).shape  # type: ignore[union-attr]


def get_item(x: Any, index: Any) -> Any:
    """`x[index]`, a tensor of its own."""
    item = understood(_shape_of(x), index)
    if item.tensors:
        return take_at(_basic(x, item), *item.tensors, axes=item.axes, front=item.front)
    found = sliced(x, *item.basic)
    return unsqueeze(found, item.added) if item.added else found


def _basic(x: Any, item: Item) -> Any:
    """The basic part of an index: x itself, where that is everything."""
    found = x if item.whole else sliced(x, *item.basic)
    return unsqueeze(found, item.added) if item.added else found


def set_item(x: Any, index: Any, value: Any) -> Any:
    """A new tensor: x with a value at an index, repeated where that has more places."""
    held = current().type_of(x)
    item = understood(held.shape, index)  # type: ignore[union-attr]
    new, base = _converted(value, held), _added(item.left, item.added)  # type: ignore[arg-type]
    if item.tensors:
        new = filling("assignment", new, _taken(base, _shape_of(item.tensors[0]), item), x, *item.tensors)
        new = put_at(_basic(x, item), new, *item.tensors, axes=item.axes, front=item.front)
    else:
        new = filling("assignment", new, base, x)
    if _shape_of(new) and item.added:
        new = squeeze(new, item.added)
    return new if item.tensors and item.whole else set_slice(x, new, *item.basic)


def written(x: Any, index: Any, value: Any) -> Any:
    """What an assignment writes where ints, slices, None and ... point, perhaps to be repeated; None for other indices."""
    held = current().type_of(x)
    item = understood(held.shape, index)  # type: ignore[union-attr]
    if item.tensors:
        return None
    return filling("assignment", _converted(value, held), _added(item.left, item.added), x)  # type: ignore[arg-type]


def _added(shape: Shape, added: Sequence[int]) -> Shape:
    old = iter(shape)
    return tuple(1 if k in added else next(old) for k in range(len(shape) + len(added)))


def _taken(base: Shape, index: Shape, item: Item) -> Shape:
    rest = [(k, d) for k, d in enumerate(base) if k not in item.axes]
    before = () if item.front else tuple(d for k, d in rest if k < item.axes[0])
    return (*before, *index, *(d for k, d in rest if item.front or k > item.axes[0]))


def _converted(value: Any, to: Type) -> Any:
    """A value in the dtype of what it is written into."""
    held = current().type_of(value)
    return value if held == Type(to.dtype, held.shape if held else ()) else number_of(value, to.dtype)
