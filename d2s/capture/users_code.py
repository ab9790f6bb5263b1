"""The user's code as a capture sees it: which line runs, what a variable is called there, and how a capture ends there.

>>> in_library(linecache.__file__), in_package(linecache.__file__)
(True, False)
"""

import functools
import itertools
import linecache
import os
import sys
import sysconfig
import types as python_types
from collections.abc import Callable
from typing import Any, NoReturn

from d2s.errors import CaptureError
from d2s.runtime.users_frames import framed

_LIBRARIES = tuple({sysconfig.get_path(key) + os.sep for key in ("stdlib", "platstdlib", "purelib", "platlib")})
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


@functools.lru_cache(maxsize=4096)
def in_package(filename: str) -> bool:
    """Whether a file is one of d2s, and so not the user's."""
    return filename.startswith(_PACKAGE)


@functools.lru_cache(maxsize=4096)
def in_library(filename: str) -> bool:
    """Whether a file is d2s's, the standard library's or an installed package's."""
    return filename.startswith((_PACKAGE, *_LIBRARIES, "<frozen"))


def in_standard_library(filename: str) -> bool:
    installed = any(part in filename for part in ("site-packages", "dist-packages"))
    return in_library(filename) and not installed and not in_package(filename)


def is_generated(function: python_types.FunctionType) -> bool:
    """Whether a decorator such as `dataclass` wrote it."""
    code = function.__code__
    return code.co_filename == "<string>" and "__create_fn__" in getattr(code, "co_qualname", "__create_fn__")


def has_text(filename: str) -> bool:
    """Whether lines of a file can be shown: it exists, or is a cell or text that Python knows of."""
    return filename in linecache.cache or os.path.exists(filename)


def _user_frame() -> python_types.FrameType | None:
    """The innermost frame of the user's code; of a library's, where no user's is on the stack."""
    frame, found = sys._getframe(1), None
    while frame:
        name = frame.f_code.co_filename
        if not in_library(name):
            return frame
        found = found or (None if in_package(name) else frame)
        frame = frame.f_back  # type: ignore[assignment]
    return found


def user_line() -> str:
    """`file:line` of the user's code that is running; empty where there is none with a text."""
    frame = _user_frame()
    if not frame or not has_text(frame.f_code.co_filename):
        return ""
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def at_users_line(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as the line of the user's code calls it that is running, for those who look who called them."""
    frame = _user_frame()
    return framed(function, user_line(), user_columns(), frame.f_globals) if frame else function


def name_here(value: Any) -> str:
    """The variable by which the user's code that is running knows an object; empty if by none."""
    frame = _user_frame()
    known = {**frame.f_globals, **frame.f_locals} if frame else {}
    return next((name for name, held in reversed(known.items()) if held is value and not name.startswith("_")), "")


def refuse(code: str, message: str, hint: str = "") -> NoReturn:
    """Ends the capture at the user's line."""
    raise CaptureError(code, message, where=user_line(), hint=hint, columns=user_columns())


def refuse_call(function: Any) -> NoReturn:
    """Ends the capture at a call of what nobody knows."""
    name = getattr(function, "__qualname__", type(function).__name__)
    message = f"'{name}' is called: what it does would happen once, when the function is captured, and not at each call"
    refuse("D2S1004", message, "call it outside of the captured function")


def user_columns() -> tuple[int, int] | None:
    """What of the user's line is running: rewritten code has the places of the user's; None where Python does not keep them."""
    frame = _user_frame()
    if not frame or sys.version_info < (3, 11):
        return None
    positions = next(itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    first, last, start, end = positions
    if first != last or first != frame.f_lineno or start is None or end is None or start >= end:
        return None
    line = linecache.getline(frame.f_code.co_filename, first).encode()
    return len(line[:start].decode(errors="ignore")), len(line[:end].decode(errors="ignore"))  # Python counts bytes
