"""Locks of what captures and calls change: for other threads what they do with it is one step.

In: objects that are changed. Out: a lock for each of them, or several taken in one order. Where Python acts in a call - steps
in a graph, eager code, a capture - it may wait for a thread that waits for the lock: nobody waits for ever for one that such a
call has.

>>> found = [1]
>>> turn = lock_of(found)
>>> with had(turn), acting(turn):
...     found.append(2)
>>> turn is lock_of(found), lock_of()
(True, None)
"""

import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Found = TypeVar("Found")
SOON = 0.2  # seconds
PATIENCE = 20.0  # seconds; a call that Python acts in may have the lock for so long


class _Lock(type(threading.RLock())):  # type: ignore[misc]
    """Of one owner: while Python acts in a call that has it, that may be said."""

    acting = 0


class _Several:
    """Locks that are had together."""

    def __init__(self, locks: Sequence[_Lock]) -> None:
        self.locks = locks

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        taken = list[_Lock]()
        try:
            for lock in self.locks:
                if not lock.acquire(blocking, timeout):
                    break
                taken.append(lock)
            return len(taken) == len(self.locks)
        finally:  # also where Ctrl-C comes while another thread has one
            if len(taken) < len(self.locks):
                _give_back(taken)

    def release(self) -> None:
        _give_back(self.locks)


Turn = _Lock | _Several
_locks: weakref.WeakValueDictionary[int, _Lock] = weakref.WeakValueDictionary()  # by the id of an owner, whom captures keep
_making = threading.Lock()


def _give_back(locks: Sequence[_Lock]) -> None:
    for lock in locks:
        lock.release()


def locks_of(turn: Turn | None) -> Sequence[_Lock]:
    return () if turn is None else turn.locks if isinstance(turn, _Several) else [turn]


def lock_of(*owners: Any) -> Turn | None:
    """For calls that change these; None where that is nothing."""
    keys = sorted({id(owner) for owner in owners})
    with _making:
        return _one([_locks.setdefault(key, _Lock()) for key in keys])


def together(turns: Iterable[Turn | None]) -> Turn | None:
    """All of these."""
    found = {id(lock): lock for turn in turns for lock in locks_of(turn)}
    with _making:
        order = {id(lock): key for key, lock in _locks.items()}
    return _one(sorted(found.values(), key=lambda lock: order[id(lock)]))


def _one(locks: Sequence[_Lock]) -> Turn | None:
    return None if not locks else locks[0] if len(locks) == 1 else _Several(locks)


def in_time(turn: Turn) -> bool:
    """Waits for a turn that was not to be had at once; whether it is: not where that would perhaps take for ever."""
    while not turn.acquire(True, PATIENCE):
        if any(lock.acting for lock in locks_of(turn)):
            message = (
                f"a call of another thread has had what this one changes for {PATIENCE:g} seconds: it goes on beside that, "
            )
            warnings.warn(f"{message}and of what both change one may be lost", RuntimeWarning, stacklevel=2)
            return False
    return True


class had:
    """A turn, in a `with` block."""

    __slots__ = ("locks", "turn")

    def __init__(self, turn: Turn | None) -> None:
        self.turn = turn

    def __enter__(self) -> None:
        turn = self.turn
        self.locks = locks_of(turn) if turn is not None and (turn.acquire(False) or in_time(turn)) else ()

    def __exit__(self, *_: object) -> None:
        _give_back(self.locks)


class acting(had):
    """The same, where Python acts in the block."""

    __slots__ = ()

    def __enter__(self) -> None:
        super().__enter__()
        for lock in self.locks:
            lock.acting += 1

    def __exit__(self, *_: object) -> None:
        for lock in self.locks:
            lock.acting -= 1
        super().__exit__()


class Awaited(BaseException):
    """Ends a capture that changes what a call of another thread has: that call may wait for the capture."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn


class _Captures(threading.local):
    waited: list[Turn] | None = None  # for which this thread has waited before it began to capture


_captures = _Captures()


def with_turns(capture: Callable[[Turn | None], Found]) -> Found:
    """What a capture makes; where others have what it changes it is made anew, given their turn to wait for in front of it."""
    around, waited = _captures.waited, list[Turn]()
    while True:
        _captures.waited = waited
        try:
            return capture(together(waited))
        except Awaited as awaited:
            waited.append(awaited.turn)
        finally:
            _captures.waited = around


class soon(acting):
    """The same in a capture, which others wait for: who has the lock may be one of them."""

    __slots__ = ()

    def __enter__(self) -> None:
        turn, waited = self.turn, _captures.waited
        found = turn is None or turn.acquire(True, SOON)
        if turn is not None and not found and waited is None:
            found = in_time(turn)
        elif turn is not None and not found and turn not in (waited or ()):
            raise Awaited(turn)
        self.locks = locks_of(turn) if found else ()
        for lock in self.locks:
            lock.acting += 1


def _renew() -> None:
    """In a forked child: the threads that held locks are not there."""
    _making._at_fork_reinit()  # type: ignore[attr-defined]
    for lock in list(_locks.values()):
        if not lock._is_owned():  # by the thread that forked
            lock._at_fork_reinit()
            lock.acting = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
