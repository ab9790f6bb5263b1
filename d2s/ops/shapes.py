"""Type rules shared by op families.

In: shapes whose extents are ints or names. Out: the resulting shape, and pairs of extents a run must find equal.

>>> broadcast("add", [("n", 4), (4,)])
(('n', 4), [])
>>> broadcast("add", [("n", 4), ("m", 1)])
(('n', 4), [('n', 'm')])
"""

import operator
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, CaptureError, DTypeError, ShapeError, brief
from d2s.extents import Extent
from d2s.ops.dispatch import current
from d2s.reckoned import comes_to, reckoned, source
from d2s.types import NUMBERS, Dim, Shape, Type

_FOUND = re.compile(r"[mg](\d*|_\w+)")  # of a capture, and of a file, where each is called like a variable


def broadcast(name: str, shapes: Sequence[Shape]) -> tuple[Shape, list[tuple[Dim, Dim]]]:
    """NumPy's broadcasting; an extent known by name only counts as not 1."""
    if all(s == shapes[0] for s in shapes):
        return tuple(shapes[0]), []
    rank = max(map(len, shapes))
    result: list[Dim] = []
    equal: list[tuple[Dim, Dim]] = []
    for axis in range(rank):
        dims = [s[axis - rank] for s in shapes if len(s) >= rank - axis]
        wide = [d for d in dims if isinstance(d, str) or d != 1]
        known = sorted((d for d in wide if isinstance(d, int)), reverse=True)
        if known and known[0] != known[-1]:
            listed = " and ".join(str(list(s)) for s in shapes)
            raise ShapeError("D2S0002", f"{name}(): shapes {listed} do not broadcast: axis {axis - rank} has {dims}")
        result.append(known[0] if known else wide[0] if wide else 1)
        equal += [(result[-1], d) for d in dict.fromkeys(wide) if d != result[-1]]
    return tuple(result), equal


def one_axis(axis: Any, rank: int, name: str) -> int:
    """An `axis` argument that names one of so many axes, counted from 0."""
    if not isinstance(axis, int | np.integer) or isinstance(axis, bool) or not -rank <= axis < rank:
        raise ArgumentError("D2S0004", f"{name}(): axis {brief(axis)} is not one of {rank} axes")
    return int(axis) % rank


def whole_numbers(value: Any, name: str, argument: str) -> tuple[int, ...]:
    """A list of ints, or an integer tensor that holds them."""
    held = current().type_of(value)
    if held is not None and len(held.shape) == 1 and held.dtype.kind == "i":
        value = value.tolist()
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(whole_number(v, name, argument) for v in listed)


def extents(value: Any, name: str, argument: str) -> tuple[Dim, ...]:
    """The same of a shape: a number of run time that is an extent of a tensor stands for it by its name."""
    if not isinstance(value, list | tuple):
        return whole_numbers(value, name, argument)
    named = getattr(current(), "extent_name", lambda number: None)
    return tuple(named(d) or whole_number(d, name, argument) for d in value)


def whole_number(value: Any, name: str, argument: str) -> int:
    if isinstance(value, Extent):
        return value  # type: ignore[return-value]
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        found = operator.index(value)
    except TypeError:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' holds {brief(value)}, expected ints") from None
    if not -(1 << 63) <= found < 1 << 63:
        raise ArgumentError("D2S0004", f"{name}(): '{argument}' holds {brief(found)}, expected ints of 64 bits")
    return found


def fitting(name: str, argument: str, have: Shape, want: Shape) -> list[tuple[Dim, Dim]]:
    """The pairs of extents a run must find equal where one shape must be another; ShapeError where it cannot be."""
    pairs = list(zip(have, want, strict=False))
    if len(have) != len(want) or any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs):
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(have)}, expected {list(want)}")
    return [(a, b) for a, b in pairs if a != b]


def unnamed(name: str, what: str) -> CaptureError:
    """The refusal of a result whose extents cannot be said by those of the inputs: calls are captured size by size then."""
    return CaptureError("D2S1001", f"{name}(): {what} is known at run time only", hint="use sizes that do not change")


def following(dim: Dim, times: int = 1, plus: int = 0, by: int = 1) -> Dim:
    """(dim * times + plus) / by, an extent that follows from an open one."""
    if isinstance(dim, Extent):
        return (dim * times + plus) // by if by != 1 else dim * times + plus  # type: ignore[no-any-return]
    return reckoned(dim, times, plus, by)


def is_found(dim: Dim) -> bool:
    """Whether an extent is one that a run finds (`ops/found.py`), or follows from one: its name is one that a recorder gave."""
    of = source(dim)
    return isinstance(of, str) and _FOUND.fullmatch(of) is not None


def may_be_one(dim: Dim) -> bool:
    """Whether an open extent is 1 in some run: what a call names is 2 or more, but not all that follows from it."""
    return comes_to(dim, 1, least=0 if is_found(dim) else 2) if uncountable(dim) else is_found(dim)


def uncountable(dim: Dim) -> bool:
    """Whether an extent is a name that nothing can be counted with; an `Extent` of a declared program can."""
    return isinstance(dim, str) and not isinstance(dim, Extent)


def tensor_type(x: Any, name: str, argument: str) -> Type:
    """The type of an argument that is a tensor."""
    held = current().type_of(x)
    if held is None or held.python:
        got = type(x).__name__ if held is None else str(held)
        raise DTypeError("D2S0001", f"{name}(): argument '{argument}' expects a Tensor, got {got}")
    return held


def tensors(name: str, **given: Any) -> None:
    """Refuses arguments that are no tensors."""
    for argument, value in given.items():
        tensor_type(value, name, argument)


def operands(name: str, **given: Any) -> None:
    """Refuses arguments that are neither tensors nor numbers."""
    for argument, value in given.items():
        if not isinstance(value, NUMBERS) and current().type_of(value) is None:
            message = f"{name}(): argument '{argument}' expects a Tensor or a number, got {type(value).__name__}"
            raise DTypeError("D2S0001", message)


def options(name: str, **given: Any) -> None:
    """The same of arguments that may be left out."""
    operands(name, **{argument: value for argument, value in given.items() if value is not None})


def some_axes(name: str, argument: str, x: Any) -> Shape:
    """The shape of an argument that is a tensor of one axis or more."""
    shape = tensor_type(x, name, argument).shape
    if not shape:
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape [], expected at least one axis")
    return shape
