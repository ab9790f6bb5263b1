"""Exceptions that the machinery of captures itself causes: they are nobody's of the user's, and no path may end in one.

In: an exception that came out of the user's code. Out: the same, or D2S9001 at the user's line.

>>> refuse_fault(ValueError("the user's"))
"""

import dis
import os
import types as python_types

from d2s.capture.users_code import has_text, in_library
from d2s.errors import CaptureError, D2SError

_HERE = os.path.dirname(os.path.abspath(__file__))
_MACHINERY = {"branch", "encode", "fitting", "forms", "fork", "heap", "leaves", "lengthening", "reads", "result", "stores"}
_MACHINERY |= {"trace", "training"}  # modules that do nothing in the user's name
_FILES = {os.path.join(_HERE, f"{name}.py") for name in _MACHINERY}


def line_of(error: BaseException) -> str:
    """The user's line an error came from."""
    frames = [(p.tb_frame.f_code.co_filename, p.tb_lineno) for p in _places(error)]
    return next((f"{file}:{line}" for file, line in reversed(frames) if not in_library(file) and has_text(file)), "")


def refuse_fault(error: Exception) -> None:
    """Ends a capture whose machinery fails: recorded as the user's, its exception would be raised by runs that come there."""
    places = _places(error)
    if isinstance(error, D2SError) or not places:
        return
    file = places[-1].tb_frame.f_code.co_filename
    if (
        file in _FILES
        or (isinstance(error, AssertionError) and os.path.dirname(file) == _HERE)
        or _is_misspelt(error, places[-1])
    ):
        message = f"this cannot be captured, which is a fault of d2s's own: {type(error).__name__}: {error}"
        raise CaptureError("D2S9001", message, where=line_of(error), hint="please report it") from error


def _is_misspelt(error: Exception, place: python_types.TracebackType) -> bool:
    """Whether a name that d2s's own text says is none: one of the user's is missed by a `raise`."""
    code = place.tb_frame.f_code
    ours = os.path.abspath(code.co_filename).startswith(os.path.dirname(_HERE) + os.sep)
    return ours and isinstance(error, NameError) and dis.opname[code.co_code[place.tb_lasti]] != "RAISE_VARARGS"


def _places(error: BaseException) -> list[python_types.TracebackType]:
    found, place = [], error.__traceback__
    while place:
        found.append(place)
        place = place.tb_next
    return found
