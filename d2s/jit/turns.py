"""Calls that read places and write them: for other threads one step, from what is read to what is written.

In: what a capture changes of what it reads. Out: the locks of that, to be had in such a call.

>>> import types
>>> box = types.SimpleNamespace(n=1)
>>> turn_of([("attribute", box, "n")]) is turn_of([("attribute", box, "m")]), turn_of([])
(True, None)
"""

from collections.abc import Sequence
from typing import Any

from d2s.capture.locks import Turn, lock_of
from d2s.capture.trace import Captured, read_of


def turn_of(targets: Sequence[Any]) -> Turn | None:
    """For calls that change this; None where that is nothing."""
    return lock_of(*(owner for owner in map(_owner, targets) if owner is not None))


def changed_reads(captured: Captured) -> list[Any]:
    """What a capture changes that it also reads, or knows."""
    known = {guard.key for guard in captured.guards} | captured.lifts.keys()
    return [target for target in captured.stores if target[0] not in ("attribute", "variable") or read_of(target)[0] in known]


def _owner(target: Any) -> Any:
    """Whose place it is that is written, where that was there at the capture."""
    kind, owner, *_ = target
    if kind in ("attribute", "variable"):
        return owner
    return owner[1] if kind in ("content", "more", "tensor") and owner[0] == "outside" else None
