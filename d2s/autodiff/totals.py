"""Cotangents gathered while a gradient Program is recorded, and whether they are there at all.

A total may be absent, and whether it is may depend on the path a run took: then a bool goes along. An absent total is held
as -0.0, for -0.0 + g is g for every g: a first contribution keeps its bits.

>>> Total(None).present is None
True
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

from d2s import types
from d2s.ir.program import Value
from d2s.ops import OPS
from d2s.ops.control import called_as
from d2s.ops.dispatch import current, either
from d2s.types import Type

FLAG = Type(types.bool_)


@dataclasses.dataclass(slots=True)
class Total:
    """A cotangent gathered so far; `present` is None where it surely is, else the bool that says so at run time."""

    value: Any
    present: Any = None


Totals = dict[Value, Total]  # by the forward value it belongs to; a value not in it surely has none


def add(totals: Totals, value: Value, more: Total) -> None:
    """Adds a contribution on the right; the extents of what is gathered have the names that those of the value have."""
    if more.value.value.type.shape != value.type.shape and not value.type.listed:
        more = Total(called_as(more.value, value.type.shape), more.present)
    old = totals.get(value)
    if old is None:
        totals[value] = more
        return
    sure = old.present is None or more.present is None
    present = None if sure else OPS["where"](old.present, True, more.present)
    totals[value] = Total(_sum(old, more), present)


def _sum(old: Total, more: Total) -> Any:
    """What two contributions come to; for a gradient that has one itself, the one that is there alone is the sum under another
    name, as in eager code: adding -0.0 to it would make another tensor."""
    around: Any = current()
    if not around.connected or (old.present is None and more.present is None):
        return OPS["add"](old.value, more.value)
    if old.present is not None:
        return either(old.present, lambda: _sum(Total(old.value), more), lambda: more.value)
    return either(more.present, lambda: _sum(old, Total(more.value)), lambda: old.value)


def nothing(like: Any) -> Any:
    """An absent total of the shape and dtype of `like`."""
    return OPS["spread"](current().constant(-0.0, Type(like.value.type.dtype)), like, None, False)


def presence(total: Total | None) -> Any:
    """The bool of a total, as a symbol."""
    if total is not None and total.present is not None:
        return total.present
    return current().constant(total is not None, FLAG)


def told(totals: Iterable[Total]) -> None:
    """Has the totals of lists say of each item whether it is there; to count the items makes another value of a list."""
    for total in totals:
        if total.value.value.type.listed and total.present is None:
            total.value, count = OPS["list_length"](total.value)
            total.present = OPS["list_full"](count, current().constant(True, FLAG))
