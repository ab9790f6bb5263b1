"""Every complaint of d2s: a coded exception that says what happened, where, and the way out.

In: a code of CODES, the message in the user's own names, the user's line. Out: an exception to raise.

>>> str(ShapeError("D2S0002", "'x' has 3 columns, 'w' has 4 rows", hint="transpose 'w'"))
"[D2S0002] 'x' has 3 columns, 'w' has 4 rows\\n  way out: transpose 'w'"
"""

import linecache

CODES = {
    "D2S0001": "an argument has a type this function does not take",
    "D2S0002": "shapes that do not fit together",
    "D2S0003": "dtypes that do not fit together",
    "D2S0004": "an argument has a value this function does not take",
    "D2S0005": "a Python integer of a captured function left the 64 bits it has there",
    "D2S0006": "a gradient that cannot be computed",
    "D2S1001": "Python needs to know a value that only a run will tell",
    "D2S1002": "the arms of an `if`, or the trips of a loop, leave a variable in forms that cannot be joined",
    "D2S1003": "a statement that cannot become part of a graph yet",
    "D2S1004": "a call whose effect would happen at capture only",
    "D2S1005": "the source text of a function is not available",
    "D2S2001": "eager and static results differ",
    "D2S3001": "a file that is damaged or of another format",
    "D2S3002": "a value or operation that has no spelling in this file format",
    "D2S9001": "an invariant of d2s itself is broken: please report it",
}


class D2SError(Exception):
    """Base of all coded errors; `code` is a key of CODES, `where` is `file:line` or empty."""

    def __init__(self, code: str, message: str, *, where: str = "", hint: str = "") -> None:
        assert code in CODES, code
        self.code, self.message, self.where, self.hint = code, message, where, hint
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"[{self.code}] {self.message}"]
        if self.where:
            path, _, line = self.where.rpartition(":")
            text = linecache.getline(path, int(line)).rstrip() if path.endswith(".py") or path in linecache.cache else ""
            bare = text.lstrip()
            lines += [f"  at {self.where}", f"    {bare}", "    " + "^" * len(bare)] if bare else [f"  at {self.where}"]
        return "\n".join(lines + ([f"  way out: {self.hint}"] if self.hint else []))


class ShapeError(D2SError, ValueError):
    """Shapes that do not fit together."""


class DTypeError(D2SError, TypeError):
    """Dtypes or Python types that do not fit."""


class ArgumentError(D2SError, ValueError):
    """An argument's value is not one the function takes."""


class PythonIntOverflow(D2SError, OverflowError):
    """A Python integer left 64 bits inside a captured function."""


class GradientError(D2SError, RuntimeError):
    """A gradient that cannot be computed."""


class CaptureError(D2SError, RuntimeError):
    """A function, or a part of it, that cannot become a graph."""


class MismatchError(D2SError, AssertionError):
    """Eager and static results differ."""


class FormatError(D2SError, ValueError):
    """A file that is damaged or foreign."""


class InternalError(D2SError, RuntimeError):
    """An invariant of d2s itself is broken."""
