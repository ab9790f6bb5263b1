"""Who called whom, for what says so of a line further out: `warnings.warn(..., stacklevel=2)`, and logging's `stacklevel`.

In: such a function and what it is called with. Out: a function for a step of the run, and what it is given: it looks for the
line among those by which the user's functions called one another at capture, then among those around the call itself, and warns
or logs as that line would.

>>> by_level(warnings.warn, ("late",), {}) is None
True
>>> found, args, kwargs = by_level(warnings.warn, ("late", UserWarning, 2), {})
>>> args, kwargs
(('late', <class 'UserWarning'>), {})
"""

import functools
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from d2s.ast_transforms.load import is_rewritten
from d2s.capture import trace
from d2s.capture.users_code import in_package, refuse
from d2s.convert.recursion import entered
from d2s.runtime.users_frames import framed

Line = tuple[str, dict[str, Any]]  # `file:line`, and the globals there
_LEVEL = 2  # the place of `stacklevel` among what `warnings.warn` is given


def by_level(
    function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]] | None:
    """What a step calls, and with what; None where it is the line itself that is told of."""
    prefixes = kwargs.get("skip_file_prefixes", ())
    placed = function is warnings.warn and len(args) > _LEVEL
    level = args[_LEVEL] if placed else kwargs.get("stacklevel", 1)
    if type(level) is not int or not all(type(prefix) is str for prefix in prefixes):
        refuse("D2S1004", "a stacklevel that only a run will tell", "give it an int")
    level = max(level, 2) if prefixes else level
    if level < 2:
        return None
    if placed:
        kwargs = {**dict(zip(("source",), args[_LEVEL + 1 :], strict=False)), **kwargs}
        args = args[:_LEVEL]
    kwargs = {name: value for name, value in kwargs.items() if name not in ("stacklevel", "skip_file_prefixes")}
    return functools.partial(_called_from, function, tuple(_at_capture()), level, tuple(prefixes)), args, kwargs


def _called_from(
    function: Any, inside: Sequence[Line], level: int, prefixes: tuple[str, ...], *args: Any, **kwargs: Any
) -> Any:
    """The call, as the line so many calls further out would make it."""
    lines = (*inside, *_around())
    seen = [lines[0], *(line for line in lines[1:] if not prefixes or not line[0].startswith(prefixes))]
    if level > len(seen):
        return function(*args, **kwargs, stacklevel=sys.getrecursionlimit())  # Python says what it says where nobody is left
    where, scope = seen[level - 1]
    called: Callable[..., Any] = framed(function, where, None, scope)
    return called(*args, **kwargs)


def _at_capture() -> Iterator[Line]:
    """Where the user's functions are that a capture is in, the innermost first; each is several of Python's."""
    frame: Any = sys._getframe(1)
    within = False
    while frame and frame.f_code not in _BEGINNING:
        if frame.f_code is entered.__code__:
            within = False
        elif not _is_ours(frame):
            rewritten = is_rewritten(frame.f_code)
            if not (within and rewritten):
                yield _line(frame)
            within = rewritten
        frame = frame.f_back


_BEGINNING = (trace.trace.__code__,)


def _around() -> Iterator[Line]:
    """Where the captured function is called, and what calls that."""
    frame: Any = sys._getframe(1)
    while frame and _is_ours(frame):
        frame = frame.f_back
    while frame:
        yield _line(frame)
        frame = frame.f_back


def _is_ours(frame: types.FrameType) -> bool:
    """Whether d2s runs there, or a text that it has made."""
    return in_package(frame.f_code.co_filename) or "__name__" not in frame.f_globals


def _line(frame: types.FrameType) -> Line:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}", frame.f_globals
