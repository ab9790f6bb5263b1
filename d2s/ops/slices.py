"""Slices: the parts of axes between bounds, also where only a run knows these or how long the axis is.

>>> strided_slice(d2s.to_tensor([1, 2, 3, 4]), [0], [3], [0], [-2]).numpy().tolist()
[4, 2]
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError
from d2s.ops.dispatch import current
from d2s.ops.found import finds_extents, stretch_of
from d2s.ops.shapes import is_found, one_axis, tensor_type, whole_number, whole_numbers
from d2s.ops.slicing import part, sliced, stretch
from d2s.reckoned import is_reckoned
from d2s.types import Dim

_END = (1 << 31) - 1  # what Paddle's files have where a slice goes to the end


def slice(input: Any, axes: Any, starts: Any, ends: Any) -> Any:
    """The values from starts up to ends along some axes; what lies beyond an axis is cut off.

    >>> d2s.slice(d2s.to_tensor([1, 2, 3, 4]), [0], [1], [-1]).numpy().tolist()
    [2, 3]
    """
    return strided_slice(input, axes, starts, ends, [1] * len(whole_numbers(axes, "slice", "axes")))


def strided_slice(x: Any, axes: Any, starts: Any, ends: Any, strides: Any) -> Any:
    """The values from starts up to ends along some axes, in steps.

    >>> d2s.strided_slice(d2s.to_tensor([1, 2, 3, 4]), [0], [3], [0], [-2]).numpy().tolist()
    [4, 2]
    """
    name, shape = "strided_slice", tensor_type(x, "strided_slice", "x").shape
    along = [one_axis(a, len(shape), name) for a in whole_numbers(axes, name, "axes")]
    given = [_bounds(v, name, a) for v, a in ((starts, "starts"), (ends, "ends"))] + [whole_numbers(strides, name, "strides")]
    if any(len(v) != len(along) for v in given):
        raise ArgumentError("D2S0004", f"{name}(): {len(along)} 'axes', but {[len(v) for v in given]} starts, ends and strides")
    stretches = dict(zip(along, zip(*given, strict=True), strict=True))
    found = {a: stretches.pop(a) for a in along if _is_found(shape[a], stretches[a])}
    x = part(x, shape, {a: stretch(name, shape[a], *v) for a, v in stretches.items()}) if stretches or not found else x
    for a, (begin, end, step) in found.items():
        x = open_part(x, a, begin, end, step)
    return x


def _bounds(given: Any, name: str, argument: str) -> Sequence[Any]:
    """Ints, or numbers of run time."""
    if finds_extents() and isinstance(given, (list, tuple)):
        return [n if current().type_of(n) is not None else whole_number(n, name, argument) for n in given]
    return whole_numbers(given, name, argument)


def _is_found(dim: Dim, bounds: Sequence[Any]) -> bool:
    """Whether a run finds how much is left of an axis."""
    whole = type(dim) is str or any(not isinstance(n, int) for n in bounds[:2])
    if whole and finds_extents() and not bounds[2]:
        raise ArgumentError("D2S0004", "strided_slice(): a slice step is 0")
    return whole and finds_extents()


def open_part(x: Any, axis: int, start: Any, stop: Any, step: int) -> Any:
    """Part of an axis where only a run knows the bounds of a slice, or how long the axis is.

    Of `x[:1]` and `x[-1:]` it is known that they are one row, so that they broadcast; a run that has none refuses.
    """
    dim = current().type_of(x).shape[axis]  # type: ignore[union-attr]
    if step != 1 or not isinstance(dim, str) or is_found(dim) or is_reckoned(dim) or not _is_one(start, stop):
        return stretch_of(x, axis, start, stop, step)
    return sliced(x, (axis,), (start or 0,), (1,), (1,), ())


def _is_one(start: Any, stop: Any) -> bool:
    """Whether bounds are those of the first row, or of the last one."""
    if any(type(bound) not in (int, type(None)) for bound in (start, stop)):
        return False
    return (start or 0, stop) == (0, 1) or (start == -1 and (stop is None or stop >= _END))
