"""The locks of the process that a fork waits for, so that nothing another thread was at is half made in the child, for ever.

In: nothing. Out: `capturing`, `linking`, `parsing`, which whoever does that holds, in this order where it holds several, and
`importing`, which any number of threads may be at. They stand here, and not where they are used, because a fork asks for what
was registered when it began: a module that is imported while it waits would come too late. So would Python's own two that
have hooks for forks and are imported on the way to a first call; they are imported here.

>>> with capturing, linking, parsing, importing:
...     pass
"""

import concurrent.futures.thread  # noqa: F401
import logging  # noqa: F401
import os
import threading
from typing import Any

PATIENCE = 20.0  # seconds a fork waits for each


class _Importing:
    """Lets any number of threads in - they wait for one another as Python has it -, and a fork when no other is inside."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.inside: list[int] = []  # a thread once for each import that it is at

    def __enter__(self) -> None:
        with self.changed:
            self.inside.append(threading.get_ident())

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.inside.remove(threading.get_ident())
            self.changed.notify_all()

    def acquire(self, timeout: float) -> bool:
        if not self.changed.acquire(timeout=timeout):
            return False
        self.changed.wait_for(lambda: set(self.inside) <= {threading.get_ident()}, timeout)
        return True

    def release(self) -> None:
        self.changed.release()

    def renew(self) -> None:
        self.changed = threading.Condition()
        self.inside = [thread for thread in self.inside if thread == threading.get_ident()]


class _Waiting:
    """A fork on its way: what it has taken it gives back on both sides, where the thread that forked goes on."""

    def __init__(self) -> None:
        self.taken: list[Any] = []

    def wait(self) -> None:
        self.taken = [lock for lock in (capturing, linking, parsing, importing) if lock.acquire(timeout=PATIENCE)]

    def go_on(self) -> None:
        while self.taken:
            self.taken.pop().release()

    def begin(self) -> None:
        """In the child: a lock that was not to be had belongs to a thread that is not there."""
        for lock in (capturing, linking, parsing):
            if lock not in self.taken:
                lock._at_fork_reinit()  # type: ignore[attr-defined]
        self.go_on()
        importing.renew()


capturing = threading.RLock()
linking = threading.RLock()  # LLVM locks while it links
parsing = threading.RLock()
importing = _Importing()  # a module that was being imported would be locked, and half made
_waiting = _Waiting()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_waiting.wait, after_in_parent=_waiting.go_on, after_in_child=_waiting.begin)
