"""Memory for arrays. What does not fit into the machine is refused before anything is allocated, in the user's words.

Much at once is compared with what is free just then, by Python's ways and by native ones, which ask here (`native_objects`).

>>> allocated("full", (2, 3), np.dtype("float32")).shape
(2, 3)
"""

import contextlib
import functools
import inspect
import math
import os
import sys
import weakref
from collections.abc import Callable, Sequence

import numpy as np

from d2s.errors import ArgumentError, brief

LINE = 64  # bytes of the cache that come together
LARGE = 1 << 16  # bytes of an array for whose sake it is worth a little time where it begins


@functools.cache
def available() -> int:
    """The bytes of memory there are."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 40


def _free() -> int:
    """The bytes that are not in use, where the system says so."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError, IndexError):
        return available()


def check(name: str, shape: Sequence[int], dtype: np.dtype) -> None:
    """Refuses a result that no memory holds; a system may promise such memory and end the process that uses it."""
    if not fits(math.prod(shape) * dtype.itemsize):
        raise no_room(name, shape, dtype)


def asked_from() -> int:
    """From how many bytes on it is asked what is free."""
    return available() // 8


def fits(size: int, beside: int = 0) -> bool:
    """Whether there are so many bytes; `beside` are in use for the same by now."""
    return 0 <= size <= available() and (size + beside <= asked_from() or size <= _free())


def allocated(name: str, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """A new array of any values, for a result of `name`."""
    check(name, shape, dtype)
    try:
        return _on_a_line(np.empty, shape, dtype)
    except (MemoryError, ValueError):
        raise no_room(name, shape, dtype) from None


def _on_a_line(new: Callable[..., np.ndarray], shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """A large array begins where a line of the cache does: each vector that lies on two lines is read, or written, twice."""
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return new(shape, dtype)
    room = new(size + LINE, np.uint8)
    return np.ndarray(shape, dtype, room, -room.__array_interface__["data"][0] % LINE)


def copied(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in a dtype, in row-major order."""
    found = _on_a_line(np.empty, array.shape, dtype)
    np.copyto(found, array, casting="unsafe")
    return found


def zeros(name: str, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """A new array of zeros that `name` makes."""
    check(name, shape, dtype)
    try:
        return _on_a_line(np.zeros, shape, dtype)
    except (MemoryError, ValueError):
        raise no_room(name, shape, dtype) from None


def space(size: int, wished: int = 0, beside: int = 0) -> np.ndarray:
    """So many bytes for values that are on their way, of which others have some by now; a size that left 64 bits is below 0.

    As many as are wished where that is not much: memory that nobody has written to yet counts as free.
    """
    found = max(size, wished) if size >= 0 and wished + beside <= asked_from() else size
    if fits(found, beside):
        with contextlib.suppress(MemoryError):
            return np.empty(found, np.uint8)
    said = f"{size} bytes" if size >= 0 else "more than 2**63 bytes"
    raise ArgumentError("D2S0004", f"a graph's values on their way take {said}: they do not fit into memory")


_kept: "dict[int, weakref.ref[np.ndarray]]" = {}  # what stays between runs, by its identity


def kept(size: int, instead: int) -> np.ndarray | None:
    """So many bytes that stay between runs, where others go; None where they would be much, or all that stays would."""
    all_kept = sum(len(array) for held in [*_kept.values()] if (array := held()) is not None)
    if size > asked_from() or all_kept - instead + size > 2 * asked_from() or not fits(size):
        return None
    try:
        found = np.empty(size, np.uint8)
    except MemoryError:
        return None
    key = id(found)
    _kept[key] = weakref.ref(found, lambda _: _kept.pop(key, None))  # type: ignore[arg-type,return-value]
    return found


def no_room(name: str, shape: Sequence[int | str], dtype: np.dtype) -> ArgumentError:
    """The refusal of such a tensor."""
    kind = f"{'an' if dtype.name[0] == 'i' else 'a'} {dtype}"
    return ArgumentError("D2S0004", f"{_asked(name)}(): {kind} tensor of shape {brief(list(shape))} does not fit into memory")


def _asked(name: str) -> str:
    """What the user called: the outermost function of d2s under the user's code, for whose sake `name` is made."""
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        code, made_for = frame.f_code, frame.f_locals.get("self")
        if code.co_name in ("__call__", "__init__", "_otherwise") and made_for is not None:
            name = getattr(made_for, "__name__", type(made_for).__name__)  # an op; a layer; a function made static
        elif not (code.co_name.startswith(("_", "<")) or code.co_flags & inspect.CO_NESTED or code.co_filename == _HERE):
            name = code.co_name  # nested ones stand around those that users call
        frame = frame.f_back  # type: ignore[assignment]
    return name


_HERE = _asked.__code__.co_filename  # as code objects spell it
_PACKAGE = _HERE.removesuffix("memory.py")
