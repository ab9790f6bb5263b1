"""Where the user's code stands: noted for next to nothing, spelled out when an error wants to say it.

In: a call made somewhere under the user's code. Out: the code object of the nearest frame outside of d2s and the offset of its
instruction, in bytes. The doors of eager code note the same natively (`native_text`).

>>> code, at = here()
>>> spelled(code, at).rpartition(":")[2]
'1'
"""

import os
import sys
from types import CodeType

_HERE = os.path.join("runtime", "user_lines.py")


def here() -> tuple[CodeType | None, int]:
    """The place of the nearest frame outside of d2s; (None, 0) where there is none."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    return (None, 0) if frame is None else (frame.f_code, frame.f_lasti)


PACKAGE = here.__code__.co_filename.removesuffix(_HERE)  # as code objects spell it


def spelled(code: CodeType | None, at: int) -> str:
    """`file:line` of a place; empty where there is none."""
    if code is None:
        return ""
    lines = (line for start, end, line in code.co_lines() if start <= at < end)
    return f"{code.co_filename}:{next(lines, None) or code.co_firstlineno}"
