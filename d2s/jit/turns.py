"""Calls that read places and write them: for other threads one step, from what is read to what is written.

In: what a capture changes of what it reads. Out: a lock, or several taken in one order, to stand in; captures that change parts
of one owner share its lock.

>>> import types
>>> box = types.SimpleNamespace(n=1)
>>> turn = turn_of([("attribute", box, "n")])
>>> with turn, turn:
...     box.n += 1
>>> turn is turn_of([("attribute", box, "m")]), turn_of([])
(True, None)
"""

import os
import threading
import weakref
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from d2s.capture.trace import Captured, read_of

Turn = AbstractContextManager[Any]
_locks: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # by the id of an owner, whom captures keep
_making = threading.Lock()


class _Several:
    """Locks that are taken together."""

    def __init__(self, locks: Sequence[Any]) -> None:
        self.locks = locks

    def __enter__(self) -> None:
        taken = []
        try:
            for lock in self.locks:
                lock.acquire()
                taken.append(lock)
        except BaseException:  # Ctrl-C, while another thread had it
            self._give_back(taken)
            raise

    def __exit__(self, *_: object) -> None:
        self._give_back(self.locks)

    def _give_back(self, locks: Sequence[Any]) -> None:
        for lock in locks:
            lock.release()


def turn_of(targets: Sequence[Any]) -> Turn | None:
    """For calls that change this; None where that is nothing."""
    keys = sorted({id(owner) for owner in map(_owner, targets) if owner is not None})
    with _making:
        locks = [_locks.setdefault(key, threading.RLock()) for key in keys]
    return None if not locks else locks[0] if len(locks) == 1 else _Several(locks)


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


def _renew() -> None:
    """In a forked child: the threads that held locks are not there."""
    _making._at_fork_reinit()  # type: ignore[attr-defined]
    for lock in list(_locks.values()):
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
