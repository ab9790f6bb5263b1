"""One capture at a time in all the process. In: nothing; out: `held()`, a lock to stand in; a forked child has one of its own.

>>> with held():
...     pass
"""

import os
import threading
from contextlib import AbstractContextManager

from d2s.codegen import cache

_lock = threading.RLock()
_waited = False


def held() -> AbstractContextManager[bool]:
    """The lock that whoever captures, or changes what was captured, holds."""
    return _lock


def _wait() -> None:
    """Before a fork: what Python locks during a capture (cached properties, before 3.12) would stay locked in the child."""
    global _waited
    _waited = _lock.acquire(timeout=cache.PATIENCE)


def _go_on() -> None:
    if _waited:
        _lock.release()


def _renew() -> None:
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_renew)
