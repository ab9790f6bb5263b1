"""Indices of tensors while a function is captured: numbers and bounds of run time, and masks, as what ops take.

In: a tensor and what stands in the brackets. Out: the part of the tensor, or the index without what ops do not know. How long
a part between bounds of run time is, and how often a mask holds, a run finds.

>>> from d2s import types
>>> from d2s.ops.dispatch import handling
>>> from d2s.types import Type
>>> tracer = Tracer("f")
>>> x, n = tracer.input(Type(types.float32, (4, 2)), "x"), tracer.input(Type(types.int64), "n")
>>> with handling(tracer):
...     item_of_tensor(tracer, x, slice(None, n)).value.type
f32[m0,2]
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from d2s.capture.alternatives import whole_by_path
from d2s.capture.branch import branch
from d2s.capture.containers import by_path, plain_kind
from d2s.capture.forms import Later, OneOf
from d2s.capture.steps import item, operand_of, tensor_of
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.capture.users_code import refuse
from d2s.eager.holding import as_index, inside, row_meant
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, IndexRangeError, ShapeError, brief
from d2s.ops import OPS
from d2s.ops.found import cut, extents_of, length, number, numbers_of, places_along
from d2s.ops.item import get_item, understood, whole_bound
from d2s.ops.join import stack
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import unnamed
from d2s.ops.slices import open_part
from d2s.types import bool_

_SYMBOLS = Tensor | SymbolicTensor


def item_of_tensor(tracer: Tracer, owner: Any, key: Any) -> Any:
    """Part of a tensor."""
    symbol, entries = tracer.symbol_of(owner), []
    for entry, axis in _with_axes(owner, key):
        if _is_open(owner, entry, axis):
            symbol = _part(tracer, symbol, axis, *_bounds(entry))
            entry = slice(None)
        entries += _entries(tracer, owner, entry, axis)
    return get_item(symbol, tuple(entries))


def key_of(key: Any) -> Any:
    """An index whose entries are what ops know: numbers and arrays that a run has as objects are its numbers and tensors."""
    if type(key) is tuple:
        return tuple(map(key_of, key))
    if isinstance(key, slice):
        return slice(*map(key_of, _parts(key)))
    if plain_kind(key) is list and any(isinstance(place, Later) for place in key):
        return list(map(key_of, key))
    if isinstance(key, Later):
        return tensor_of(key) if isinstance(key.example, list) else operand_of(key)
    return whole_by_path(key)


def holds_objects(key: Any) -> bool:
    """Whether an index, an entry of it or a bound is an object that only a run has."""
    if type(key) is tuple:
        return any(map(holds_objects, key))
    return any(isinstance(part, Later) for part in (key, *_parts(key)))


def _parts(key: Any) -> tuple[Any, ...]:
    return (key.start, key.stop, key.step) if isinstance(key, slice) else ()


def _part(tracer: Tracer, symbol: Any, axis: int, start: Any, stop: Any, step: int) -> Any:
    """A slice between bounds of run time; of `i:i+1` it is known that it is one row, which a run that has none refuses."""
    known = isinstance(start, SymbolicTensor) and isinstance(stop, SymbolicTensor) and step == 1
    if not known or tracer.number(OPS["add"](start, 1).value) != tracer.number(stop.value):
        return open_part(symbol, axis, start, stop, step)
    place, size = number(start), length(symbol, axis)

    def no_row() -> list[Any]:
        message = f"a part i:i+1 of axis {axis} has no row in this run; the graph was captured for one"
        raise ShapeError("D2S0002", message, hint="x[i] has one row less, or fails as eager code does")

    branch(tracer, OPS["bitwise_or"](OPS["less_than"](place, 0), OPS["greater_equal"](place, size)), (no_row, list))
    return cut(symbol, place, number(1), axis, 1, (1,))


def element(symbol: SymbolicTensor, *at: Any) -> Any:
    """`symbol.item()`; or the element at a place: its number in the row of all, or one index for each axis."""
    tracer = capturing()
    if tracer is None or not at:
        return item(symbol)
    row = OPS["flatten"](symbol) if row_meant(at, symbol.ndim) else symbol
    return item(get_item(row, tuple(_inside(tracer, index, end) for index, end in zip(at, extents_of(row), strict=True))))


def _inside(tracer: Tracer, index: Any, end: Any) -> Any:
    """An index, from 0 on, of so many values: a run complains of one beyond that only it knows."""
    asked = tracer.symbol_of(index) if isinstance(index, _SYMBOLS) else None
    if asked is not None:
        index = item(asked)
        if index.dtype.kind == "f":
            raise DTypeError("D2S0001", f"item(): an index is an int, not {index.value.type}")
    elif isinstance(end, int):
        return inside(index, end)
    else:
        index = as_index(index)

    def beyond() -> list[Any]:
        raise IndexRangeError("D2S0007", "item(): an index is out of range in this run, it is one from 0 on")

    outside = [OPS["less_than"](number(index), 0), OPS["greater_equal"](number(index), number(end))]
    branch(tracer, OPS["bitwise_or"](*outside), (beyond, list))
    return index


SymbolicTensor.item = element  # type: ignore[method-assign]


def places_of(tracer: Tracer, owner: SymbolicTensor, key: Any) -> tuple[Any, ...]:
    """The index of a part that is assigned to: the places of what has bounds of run time."""
    pairs = list(_with_axes(owner, key))
    if any(_is_open(owner, entry, axis) for entry, axis in pairs):
        return _grid(tracer, owner, pairs)
    return tuple(one for entry, axis in pairs for one in _entries(tracer, owner, entry, axis))


def _grid(tracer: Tracer, owner: SymbolicTensor, pairs: list[tuple[Any, int]]) -> tuple[Any, ...]:
    """The same where bounds of run time are among slices and ints: places that meet each other, as rows meet columns.

    What stands between the first and the last of them is said by places, too, so that the axes keep their order.
    """
    if not all(isinstance(entry, slice) or entry is ... or _is_place(entry) for entry, _ in pairs):
        message = "assignment between bounds of run time, beside an index of another kind"
        refuse("D2S1003", message, "take the part with one index, assign to it by the other, and put it back")
    understood(owner.value.type.shape, tuple(slice(None) if _is_open(owner, entry, axis) else entry for entry, axis in pairs))
    entries: list[Any] = [slice(None)] * owner.ndim
    for entry, axis in pairs:
        if entry is not ...:
            entries[axis] = entry
    meant = [k for k, entry in enumerate(entries) if not isinstance(entry, slice) or _is_open(owner, entry, k)]
    along = [k for k in range(meant[0], meant[-1] + 1) if isinstance(entries[k], slice)]
    for k in along:
        entries[k] = _numbers_along(tracer, owner, k, entries[k])
        for _ in along[along.index(k) + 1 :]:
            entries[k] = unsqueeze(entries[k], -1)
    return tuple(one for k, entry in enumerate(entries) for one in _entries(tracer, owner, entry, k))


def _is_place(entry: Any) -> bool:
    """Whether an entry is one place of an axis, known or of run time."""
    if isinstance(entry, _SYMBOLS):
        return not entry.ndim and entry.dtype.kind == "i"
    return type(entry) is int


def _numbers_along(tracer: Tracer, owner: SymbolicTensor, axis: int, entry: slice) -> Any:
    """The places along an axis that a slice names."""
    dim = owner.value.type.shape[axis]
    if isinstance(dim, str) or _is_open(owner, entry, axis):
        return numbers_of(owner, axis, *_bounds(entry))
    return _made(tracer, range(dim)[entry])


def _with_axes(owner: Any, key: Any) -> Iterator[tuple[Any, int]]:
    """The entries of an index, each with the first axis it is about."""
    entries = key if isinstance(key, tuple) else (key,)
    used, axis = sum(map(_axes, entries)), 0
    if used > owner.ndim:
        raise IndexRangeError("D2S0007", f"{used} indices for a tensor of {owner.ndim} axes")
    for entry in entries:
        yield entry, axis
        axis += owner.ndim - used if entry is ... else _axes(entry)


def _axes(entry: Any) -> int:
    """How many axes an entry is about."""
    if entry is None or entry is ...:
        return 0
    return entry.ndim if _is_mask(entry) else 1


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, _SYMBOLS) and entry.dtype is bool_


def _is_open(owner: Any, entry: Any, axis: int) -> bool:
    """Whether only a run knows how long the part is that a slice names."""
    if not isinstance(entry, slice):
        return False
    bounds = (entry.start, entry.stop, entry.step)
    if any(isinstance(b, _SYMBOLS) for b in bounds):
        return True
    open_axis = isinstance(owner, SymbolicTensor) and axis < owner.ndim and isinstance(owner.value.type.shape[axis], str)
    return open_axis and (entry.start or 0, entry.stop, entry.step or 1) != (0, None, 1)


def _bounds(entry: slice) -> tuple[Any, Any, Any]:
    """Start, stop and step; the bounds are ints, of run time or not."""
    step = 1 if entry.step is None else entry.step
    if isinstance(step, _SYMBOLS):
        refuse("D2S1001", "a slice of a tensor in steps that only a run will tell", "use a Python int")
    return _bound(entry.start), _bound(entry.stop), whole_bound(step)


def _bound(bound: Any) -> Any:
    """A bound of a slice; of a tensor of one value, that."""
    if not isinstance(bound, _SYMBOLS):
        return whole_bound(bound)
    if bound.dtype.kind != "i":
        raise ArgumentError("D2S0004", f"indexing(): 'slice' holds {brief(bound)}, expected ints")
    if any(d != 1 for d in bound.shape):
        raise ArgumentError("D2S0004", f"a tensor of shape {list(bound.shape)} is not one Python value")
    return OPS["reshape"](bound, []) if bound.ndim else bound


def _entries(tracer: Tracer, owner: Any, entry: Any, axis: int) -> list[Any]:
    """One entry as ops take it."""
    if plain_kind(entry) is list:
        return _listed(tracer, owner, entry, axis)
    if isinstance(entry, bool | OneOf):
        refuse(
            "D2S1003", "indexing of a tensor by a bool, or by one of several values, is not part of graphs yet", "use an `if`"
        )
    if _is_mask(entry):
        return _places(tracer, owner, entry, axis)
    if isinstance(entry, SymbolicTensor) and entry.value.type.python:
        if entry.dtype.kind == "f":
            raise IndexRangeError("D2S0001", f"{brief(entry)} is no index: ints, slices, None, ... and tensors of integers are")
        _look_at(tracer, owner, entry, axis)
        return [OPS["cast"](entry, "int64")]
    return [entry]


def _look_at(tracer: Tracer, owner: Any, place: SymbolicTensor, axis: int) -> None:
    """Has a run complain of a place beyond an axis where nothing may be read, and so nobody else would."""
    shape = tracer.symbol_of(owner).value.type.shape  # type: ignore[union-attr]
    if all(isinstance(d, int) and d for k, d in enumerate(shape) if k != axis):
        return
    size, found = length(owner, axis), number(place)
    of = f" of {shape[axis]} values" if isinstance(shape[axis], int) else ""

    def beyond() -> list[Any]:
        raise IndexRangeError("D2S0007", f"indexing(): an index is out of range for axis {axis}{of}")

    outside = [OPS["less_than"](found, OPS["neg"](size)), OPS["greater_equal"](found, size)]
    branch(tracer, OPS["bitwise_or"](*outside), (beyond, list))


def _listed(tracer: Tracer, owner: Any, entry: list[Any], axis: int) -> list[Any]:
    """A list of places, or of bools that say which they are."""
    entry = entry if by_path(entry) else [int(one) if isinstance(one, np.integer) else one for one in entry]
    kinds = {type(one) for one in entry}
    if not by_path(entry) and not kinds <= {int} and all(map(_is_int, entry)):
        numbers = [one if isinstance(one, SymbolicTensor) else tracer.symbol_of(int(one)) for one in entry]
        return [stack([OPS["cast"](one, "int64", python=False) for one in numbers])]
    if kinds not in ({int}, {bool}, set()) or by_path(entry):
        refuse(
            "D2S1003", "indexing of a tensor by a list of other things than ints is not part of graphs yet", "make it a tensor"
        )
    places = list(entry)
    if kinds == {bool}:
        extent = tracer.symbol_of(owner).value.type.shape[axis]  # type: ignore[union-attr]
        if extent != len(entry):
            raise IndexRangeError("D2S0007", f"a mask of shape [{len(entry)}] does not fit an axis of {extent} values")
        places = [place for place, holds in enumerate(entry) if holds]
    return [_made(tracer, places)]


def _is_int(place: Any) -> bool:
    """Whether it is an int, known or of run time."""
    found = isinstance(place, SymbolicTensor) and place.value.type.python and place.dtype.kind == "i"
    return found or (isinstance(place, int | np.integer) and not isinstance(place, bool))


def _made(tracer: Tracer, places: Sequence[int]) -> Tensor:
    """Places that every call has."""
    return tracer.data(Tensor(np.array(places, np.int64)))


def _places(tracer: Tracer, owner: Any, mask: Any, axis: int) -> list[Any]:
    """The places where a mask holds, a tensor for each of its axes."""
    have = tracer.symbol_of(mask)
    assert have is not None
    if not have.ndim:
        refuse("D2S1003", "indexing of a tensor by one bool of run time is not part of graphs yet", "use an `if`")
    dims, want = have.value.type.shape, tracer.symbol_of(owner).value.type.shape[axis : axis + have.ndim]  # type: ignore[union-attr]
    if dims != want and not all(isinstance(d, int) for d in dims + want):
        raise unnamed("indexing", f"whether a mask of shape {list(dims)} fits axes of {list(want)} values")
    if dims != want:
        raise IndexRangeError("D2S0007", f"a mask of shape {list(dims)} does not fit axes of {list(want)} values")
    return places_along(have)
