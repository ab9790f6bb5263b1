"""Captures that are not wanted any more: a `with` block in which a function captured before is not captured again.

>>> refuse_recompile("f", "k: 2 → 3", "")
>>> with fail_on_recompile():
...     refuse_recompile("f", "k: 2 → 3", "")
Traceback (most recent call last):
d2s.errors.CaptureError: [D2S1006] 'f' would be captured again: k: 2 → 3
  way out: keep what changed as it is, or make it a tensor or a float
"""

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

from d2s.errors import CaptureError
from d2s.jit.signature import Key, differences
from d2s.jit.variant import Variant

_forbidden = threading.local()


@contextlib.contextmanager
def fail_on_recompile() -> Iterator[None]:
    """In a `with` block of this, a function that was captured before and would be captured again raises instead.

    >>> f = d2s.to_static(lambda x, k: x * k)
    >>> _ = f(d2s.to_tensor([1.0]), 2)
    >>> try:
    ...     with fail_on_recompile():
    ...         f(d2s.to_tensor([1.0]), 3)
    ... except d2s.errors.CaptureError as error:
    ...     print(error.message)
    '<lambda>' would be captured again: k: 2 → 3
    """
    before = getattr(_forbidden, "now", False)
    _forbidden.now = True
    try:
        yield
    finally:
        _forbidden.now = before


def reason(variants: Sequence[tuple[Key, Variant]], call: Key, leaves: Sequence[Any], names: Sequence[str]) -> str:
    """Why none of these stands for a call: what is another than for the nearest of them, of several the one used last."""
    found = []
    for key, variant in variants:
        of_arguments = differences(key, call, names)
        found.append([*of_arguments, *variant.changes(None if of_arguments else leaves)])
    return min(found, key=len)[0]


def is_refused() -> bool:
    """Whether this is such a block."""
    return getattr(_forbidden, "now", False)


def refuse_recompile(name: str, why: str, where: str) -> None:
    """Raises in such a block."""
    if is_refused():
        hint = "keep what changed as it is, or make it a tensor or a float"
        raise CaptureError("D2S1006", f"'{name}' would be captured again: {why}", where=where, hint=hint)
