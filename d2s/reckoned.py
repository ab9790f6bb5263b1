"""Extents that follow from others by whole numbers: `n1+1/2` is `n1`, one more, halved. They are read from left to right.

Where windows slide over an axis of which only a call knows the extent, the result has such an extent; so have what is padded
and what is resized. Each has one name, however it came about: three halvings that round up are `n1+7/8`. So equal names are
equal extents, as everywhere. A quotient is rounded down, and what would be less than 0 is 0.

In: an extent. Out: a number where it is one, else a name.

>>> half = reckoned("n1", plus=1, by=2)
>>> half, reckoned(half, plus=1, by=2), reckoned(half, times=2), reckoned(9, plus=1, by=2)
('n1+1/2', 'n1+3/4', 'n1+1/2*2', 5)
>>> source("n1+1/2*2"), come_to("n1+1/2*2", {"n1": 8}.__getitem__)
('n1', 8)
>>> comes_to("n1+1/2*2", 5, least=2), comes_to("n1+1/2*2", 6, least=2)
(False, True)
"""

import bisect
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from d2s.errors import CaptureError
from d2s.types import Dim

MOST = 1 << 40  # of a number in a name: no axis is as long
MOST_STEPS = 60  # of a name
_NAME = re.compile(rf"[^\W\d]\w*([*+/-]\d{{1,15}}){{1,{MOST_STEPS}}}")
_LAST = re.compile(r"(?P<of>.+?)(\*(?P<times>\d+))?(?P<plus>[+-]\d+)?(/(?P<by>\d+))?")


class Steps(NamedTuple):
    """(of * times + plus) / by."""

    of: Dim
    times: int
    plus: int
    by: int


def is_reckoned(dim: Dim) -> bool:
    """Whether an extent is the name of one that follows from another."""
    return type(dim) is str and _NAME.fullmatch(dim) is not None


def reckoned(dim: Dim, times: int = 1, plus: int = 0, by: int = 1) -> Dim:
    """(dim * times + plus) / by, by its one name."""
    if isinstance(dim, int):
        return max((dim * times + plus) // by, 0)
    before = last_steps(dim)
    if before.by == 1:
        whole = Steps(before.of, before.times * times, before.plus * times + plus, by)
    elif times == 1:
        whole = Steps(before.of, before.times, before.plus + plus * before.by, before.by * by)
    else:
        whole = Steps(dim, times, plus, by)
    return _named(whole)


def _named(steps: Steps) -> Dim:
    """The name in lowest terms: of whole numbers, a common factor may go before the quotient is rounded."""
    common = math.gcd(steps.times, steps.by)
    times, plus, by = steps.times // common, steps.plus // common, steps.by // common
    factor = f"*{times}" if times != 1 else ""
    name = f"{steps.of}{factor}{f'{plus:+d}' if plus else ''}{f'/{by}' if by != 1 else ''}"
    if max(times, abs(plus), by) > MOST or min(times, by) < 1 or (name != steps.of and not is_reckoned(name)):
        raise CaptureError("D2S1001", f"an extent made of {steps.of} is known at run time only", hint="use fewer steps")
    return name


def last_steps(name: str) -> Steps:
    """How an extent follows from the one before it."""
    found = _LAST.fullmatch(name)
    if found is None:
        return Steps(name, 1, 0, 1)
    return Steps(found["of"], int(found["times"] or 1), int(found["plus"] or 0), int(found["by"] or 1))


def source(dim: Dim) -> Dim:
    """The extent that all of it follows from."""
    while is_reckoned(dim):
        dim = last_steps(str(dim)).of
    return dim


def come_to(dim: Dim, known: Callable[[str], Dim]) -> Dim:
    """What an extent is where its source is a number, or has another name."""
    if not is_reckoned(dim):
        return known(dim) if isinstance(dim, str) else dim
    of, times, plus, by = last_steps(str(dim))
    return reckoned(come_to(of, known), times, plus, by)


def comes_to(dim: Dim, number: int, least: int) -> bool:
    """Whether an extent is a number where its source is some number that is no less than a least one."""

    def at(of: int) -> Any:
        return come_to(dim, lambda name: of)

    return bool(at(least + bisect.bisect_left(range(least, MOST), number, key=at)) == number)
