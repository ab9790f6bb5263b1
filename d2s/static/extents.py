"""Extents that only a feed will tell, while a program is declared: numbers that no model has, and can be found again.

A declared program is recorded once and run for feeds of any extents. What is recorded follows Python's shapes, so an open
extent must be a number there: a large one with many divisors, one for each axis. Types of a run are inferred anew for its
feeds; numbers in attributes that were computed from open extents are recognised by their size.

In: an axis; later a number of an attribute, and what the extents are in a run. Out: the number in that run.

>>> recorded = 28 * OPEN[0] + 1
>>> actual(recorded, {0: 64})
1793
>>> actual(784, {0: 64})
784
"""

from collections.abc import Mapping
from typing import Any, NoReturn

from d2s.errors import CaptureError
from d2s.types import Dim

OPEN = (1081080, 1_441_440_000_000, *(2_162_160 * 10**k for k in range(18, 48, 6)))
"""By axis; the smallest may stand in numbers of 64 bits with a factor, or with the next one."""
MANY = -1  # an open extent that feeds of one run have differently
_DIVISORS = range(1, 9)
_NEAR = 2  # how far from a multiple a number may be, as in `n - 1`
_LARGEST_FACTOR = 10**5


class Extent(int):
    """An open extent as Python code sees it: counted with, but no number of anything else."""

    def _unknown(self, *_: Any) -> NoReturn:
        raise CaptureError(
            "D2S1001", "an extent of a declared program is known at run time only", hint="give it in static.data()"
        )

    __float__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _unknown

    def __add__(self, other: Any) -> Any:
        return _kept(int.__add__(self, other))

    def __sub__(self, other: Any) -> Any:
        return _kept(int.__sub__(self, other))

    def __mul__(self, other: Any) -> Any:
        return _kept(int.__mul__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return _kept(int.__rsub__(self, other))

    def __floordiv__(self, other: Any) -> Any:
        return _kept(int.__floordiv__(self, other))

    def __neg__(self) -> Any:
        return _kept(int.__neg__(self))

    __radd__, __rmul__ = __add__, __mul__


class Upwards(int):
    """A number that was divided, and rounded upwards."""


def _kept(result: Any) -> Any:
    return result if result is NotImplemented else Extent(result)


def is_open(dim: Dim) -> bool:
    """Whether an extent of a recorded type follows from a feed's."""
    return isinstance(dim, int) and dim >= OPEN[0] // max(_DIVISORS) and _parts(dim) is not None


def is_reciprocal(number: float) -> bool:
    """Whether a float is 1 by a number that follows from a feed's extents."""
    inverse = round(1 / number) if 1e-18 < abs(number) < 1e-5 else 0
    return bool(inverse) and 1 / inverse == number and is_open(abs(inverse))


def actual(number: int, extents: Mapping[int, Dim]) -> Dim:
    """A recorded number as it is where open extents are these, which may be names."""
    found = _parts(number) if abs(number) >= OPEN[0] // max(_DIVISORS) else None
    if found is None:
        return number
    factors, rest, divisor = found
    result: Any = rest
    for axes, factor in factors:
        product: Any = factor
        for axis in axes:
            if axis not in extents:
                return number
            if extents[axis] == MANY:
                message = f"feeds differ in their extent {axis}, and an attribute of this program is computed from it"
                raise CaptureError("D2S1001", message, hint="give the extents in static.data()")
            product = _times(product, extents[axis])
        result = product if result == 0 else _plus(product, result)
    if isinstance(number, Upwards):
        return -(-result // divisor)  # type: ignore[no-any-return]
    if divisor > 1 and (isinstance(result, str) or result % divisor):
        raise CaptureError("D2S1001", f"an extent of {result} cannot be divided by {divisor}, as it was when this was declared")
    return result if isinstance(result, str) else int(result) // divisor


def _times(factor: Any, extent: Dim) -> Any:
    if isinstance(extent, int) and isinstance(factor, int):
        return factor * extent
    return extent if factor == 1 else _unnamed()


def _plus(x: Any, y: Any) -> Any:
    return x + y if isinstance(x, int) and isinstance(y, int) else _unnamed()


def _unnamed() -> NoReturn:
    message = "an attribute of this program is computed from an open extent"
    raise CaptureError("D2S1001", message + ", which a file cannot say", hint="give the extent in static.data()")


def _parts(number: int) -> tuple[list[tuple[tuple[int, ...], int]], int, int] | None:
    """A number as factors of products of open extents, what is left, and what all of that is divided by; None if it is none."""
    for divisor in _DIVISORS:
        factors, rest = _factors(abs(number) * divisor)
        if factors and abs(rest) <= _NEAR * divisor and all(f <= _LARGEST_FACTOR for _, f in factors):
            sign = 1 if number > 0 else -1
            return [(axes, sign * f) for axes, f in factors], sign * rest, divisor
    return None


def _factors(number: int) -> tuple[list[tuple[tuple[int, ...], int]], int]:
    units: list[tuple[tuple[int, ...], int]] = [((axis,), OPEN[axis]) for axis in range(len(OPEN))] + [
        ((0, 1), OPEN[0] * OPEN[1])
    ]
    found: list[tuple[tuple[int, ...], int]] = []
    for axes, unit in sorted(units, key=lambda u: -u[1]):
        factor = (number + _NEAR * len(_DIVISORS)) // unit
        if factor:
            found.append((axes, factor))
            number -= factor * unit
    return found, number
