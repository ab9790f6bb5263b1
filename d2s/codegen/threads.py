"""The one pool of threads: how many there are, and the address through which kernels share their work.

In: nothing, or a number of threads. Out: `fork()`, the address of `d2s_fork(part, r, o, count, grain)` for cache to link
kernels with. Where chunks begin depends on count and grain only, so that the bits of a result depend on no number of threads.

How many: `d2s.set_num_threads(n)`, else D2S_NUM_THREADS, else the cores this process may use; 1 is everything in the caller.
One caller has the pool at a time; others, and a part that forks itself, go through their chunks alone.

Workers are threads of the C library, started when the first work is shared, not Python's: they never touch the interpreter, so
that it can neither wait for them when it ends nor end under them, `threading.enumerate()`, profilers and debuggers do not
meet them, and starting one takes no lock of Python's. The process ends when Python does, whatever they do; their code and
their words of memory are never unloaded. Signals are blocked in them, so that Ctrl-C reaches the main thread and is raised
when its kernel is done. Without work they sleep. After a fork the child has none of them, and starts its own.

Kernels whose work is shared compute in the default floating-point state on every thread, the caller's included, which gets its
own back afterwards. (Other kernels compute in the caller's: who sets flush-to-zero for a whole thread gets what that means.)

>>> before = get_num_threads()
>>> set_num_threads(1)
>>> get_num_threads()
1
>>> set_num_threads(before)
"""

import ctypes
import functools
import os
import platform
import sys
from collections.abc import Callable
from typing import NamedTuple

from d2s.codegen import cache, cores
from d2s.codegen.host import native_object
from d2s.codegen.threads_text import MOST, POOL, SERIAL
from d2s.errors import ArgumentError, brief

SPINS = 2000  # looks at a word, a pause between two, until a thread that waits lets others run: 30 to 100 us
CROWDED = 50  # the same, where there are more threads than cores


class Pool(NamedTuple):
    """The native text loaded: an address, the two words it reads, how to forget workers, and how many threads it may have."""

    fork: int
    limit: ctypes.c_int64
    spins: ctypes.c_int64
    forget: Callable[[], None]
    most: int


def fork() -> int:
    """The address of `d2s_fork`."""
    return _pool().fork


def set_num_threads(n: int) -> None:
    """Sets how many threads kernels may use, the caller's among them.

    >>> set_num_threads(0)
    Traceback (most recent call last):
    d2s.errors.ArgumentError: [D2S0004] set_num_threads(): 'n' is 0, expected an int from 1 to 256
    """
    _use(_pool(), _checked(n, "set_num_threads(): 'n'"))


def get_num_threads() -> int:
    """How many threads kernels may use; 1 where this system has no pool."""
    return _pool().limit.value


def be_alone() -> None:
    """Has this process, one of several that work side by side, use one thread: now, or when the pool is loaded."""
    os.environ["D2S_NUM_THREADS"] = "1"
    if _pool.cache_info().currsize:
        set_num_threads(1)


def _checked(n: object, name: str) -> int:
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= MOST:
        raise ArgumentError("D2S0004", f"{name} is {brief(n)}, expected an int from 1 to {MOST}")
    return n


def _use(pool: Pool, n: int) -> None:
    pool.spins.value = SPINS if n <= cores.available() else CROWDED
    pool.limit.value = min(n, pool.most)


def _default() -> int:
    wanted = os.environ.get("D2S_NUM_THREADS")
    if wanted is None:
        return min(cores.available(), MOST)
    return _checked(int(wanted) if wanted.isdecimal() else wanted, "D2S_NUM_THREADS")


@functools.cache
def _pool() -> Pool:
    """The pool, or its serial twin where this system is not one it knows; with the number of threads a program begins with."""
    n = _default()
    pool = _parallel() or Pool(serial(), ctypes.c_int64(), ctypes.c_int64(), lambda: None, 1)
    _use(pool, n)
    return pool


def _parallel() -> Pool | None:
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return None
    try:
        at = _linked(SERIAL + POOL, ["d2s_fork", "limit", "spins", "forget", "lacking"])
    except RuntimeError:  # a C library without one of the functions
        return None
    if ctypes.CFUNCTYPE(ctypes.c_int64)(at["lacking"])():
        return None
    limit, spins = (ctypes.c_int64.from_address(at[name]) for name in ("limit", "spins"))
    return Pool(at["d2s_fork"], limit, spins, ctypes.CFUNCTYPE(None)(at["forget"]), MOST)


def serial() -> int:
    """The address of the twin of `d2s_fork` that does all chunks on the caller's thread."""
    return _linked(SERIAL, ["serial"])["serial"]


def _linked(text: str, names: list[str]) -> dict[str, int]:
    return cache.linked(f"threads\n{text}", lambda: native_object(text), names)


def _forget() -> None:
    if _pool.cache_info().currsize:
        _pool().forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
cache.provide("d2s_fork", fork)
