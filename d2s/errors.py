"""Every complaint of d2s: a coded exception that says what happened, where, and the way out.

In: a code of `pages`, the message in the user's own names, the user's line. Out: an exception to raise. `python -m d2s explain
D2S0002` prints the page of a code.

>>> str(ShapeError("D2S0002", "'x' has 3 columns, 'w' has 4 rows", hint="transpose 'w'"))
"[D2S0002] 'x' has 3 columns, 'w' has 4 rows\\n  way out: transpose 'w'"
"""

import linecache
import reprlib
import unicodedata
from typing import Any

from d2s.pages import PAGES


class _Brief(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong, self.maxlist, self.maxtuple = 3, 60, 60, 40, 16, 16

    def repr_int(self, x: int, level: int) -> str:
        return super().repr_int(x, level) if abs(x) < 1 << 1000 else f"an int of {x.bit_length()} bits"  # type: ignore[misc,no-any-return]

    def repr_instance(self, x: Any, level: int) -> str:
        """What stands for a value of a run says what that will be."""
        stands = getattr(type(x), "stands_for", None)
        return stands(x) if stands else super().repr_instance(x, level)  # type: ignore[no-any-return]


def brief(value: object) -> str:
    """A value as a message shows it: one short line, whatever it is, also where its own repr() fails or does not end.

    >>> brief([[[[1]]]]), brief(10**9)
    ('[[[[...]]]]', '1000000000')
    """
    return " ".join(_Brief().repr(value).split())


def kind_of(value: object) -> str:
    """The class of a value as a message names it; what stands for a number of a run says that it does.

    >>> kind_of(1.5)
    'float'
    """
    stands = getattr(type(value), "stands_for_number", None)
    return (stands and stands(value)) or type(value).__name__


class D2SError(Exception):
    """Base of all coded errors; `code` is a key of PAGES, `where` is `file:line` or empty; `columns` are what is meant."""

    def __init__(
        self, code: str, message: str, *, where: str = "", hint: str = "", columns: tuple[int, int] | None = None
    ) -> None:
        assert code in PAGES, code
        self.code, self.message, self.where, self.hint, self.columns = code, message, where, hint, columns
        super().__init__(self._text())

    def at(self, where: str) -> "D2SError":
        """The same error at a line, if it has none yet."""
        if self.where or not where:
            return self
        return type(self)(self.code, self.message, where=where, hint=self.hint)

    def forget_line(self) -> None:
        """Has the text that eager code, whose traceback shows the line, gives it."""
        D2SError.__init__(self, self.code, self.message, hint=self.hint)

    def __reduce__(self) -> tuple[object, ...]:
        """A copy, or what another process gets, is the same error."""
        return _again, (type(self), self.code, self.message, self.where, self.hint, self.columns)

    @property
    def diagnostic(self) -> dict[str, object]:
        """What the message says, in parts: for editors, logs and tests.

        >>> CaptureError("D2S1003", "a thing", where="net.py:3", hint="another").diagnostic["line"]
        3
        """
        path, _, line = self.where.rpartition(":")
        parts: dict[str, object] = {"code": self.code, "meaning": PAGES[self.code].meaning, "message": self.message}
        parts |= {"file": path, "line": int(line) if line else 0, "column": self.columns[0] + 1 if self.columns else 0}
        return parts | {"text": self._line().strip(), "way_out": self.hint or PAGES[self.code].way_out}

    def _line(self) -> str:
        """The user's line."""
        path, _, line = self.where.rpartition(":")
        return linecache.getline(path, int(line)).rstrip() if path.endswith(".py") or path in linecache.cache else ""

    def _text(self) -> str:
        lines = [f"[{self.code}] {self.message}"]
        if self.where:
            text = self._line()
            place = self.where + (f":{self.columns[0] + 1}" if self.columns else "")
            lines += [f"  at {place}", *(_marked(text, self.columns) if text.strip() else [])]
        return "\n".join(lines + ([f"  way out: {self.hint}"] if self.hint else []))


_WIDEST = 120  # of a longer line that much is shown, with what is meant


def _marked(text: str, columns: tuple[int, int] | None) -> list[str]:
    """A line, and carets under what of it is meant.

    >>> [line[-22:] for line in _marked("y = " + "x + " * 100 + "nope", (404, 408))]
    ['+ x + x + x + x + nope', '                  ^^^^']
    """
    bare = len(text) - len(text.lstrip())
    first, last = columns or (bare, len(text))
    start = bare if len(text) - bare <= _WIDEST else min(max(bare, first - _WIDEST // 3), max(bare, len(text) - _WIDEST))
    end = min(len(text), start + _WIDEST)
    before, behind = "..." * (start > bare), "..." * (end < len(text))
    carets = "^" * max(1, _width(text[first : min(last, end)]))
    return [f"    {before}{text[start:end]}{behind}", " " * (4 + len(before) + _width(text[start:first])) + carets]


def _width(text: str) -> int:
    """How many places a text takes: Chinese characters take two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _again(kind: type[D2SError], code: str, message: str, where: str, hint: str, columns: tuple[int, int] | None) -> D2SError:
    return kind(code, message, where=where, hint=hint, columns=columns)


class ShapeError(D2SError, ValueError):
    """Shapes that do not fit together."""


class DTypeError(D2SError, TypeError):
    """Dtypes or Python types that do not fit."""


class ArgumentError(D2SError, ValueError):
    """An argument's value is not one the function takes."""


class PythonIntOverflow(D2SError, OverflowError):
    """A Python integer left 64 bits inside a captured function."""


class IndexRangeError(D2SError, IndexError):
    """An index, or the form of one, that a tensor does not have."""


class TooDeep(D2SError, RecursionError):
    """Calls of a captured function stand too deep in one another."""


class GradientError(D2SError, RuntimeError):
    """A gradient that cannot be computed."""


class CaptureError(D2SError, RuntimeError):
    """A function, or a part of it, that cannot become a graph."""


class MismatchError(D2SError, AssertionError):
    """Eager and static results differ; `first` says which node is the first that does, as far as that is known."""

    first = ""


class NumericError(D2SError, FloatingPointError):
    """A nan or an infinity, where a check was asked for."""

    def in_gradient_of(self, what: str, line: str) -> "NumericError":
        """The same, found in a sweep."""
        return NumericError(self.code, f"in the gradient of {what}: {self.message}", where=line or self.where, hint=self.hint)


class FormatError(D2SError, ValueError):
    """A file that is damaged or foreign."""


class ExchangeError(D2SError, BufferError):
    """Memory that cannot be handed over to another library, or taken from it."""


class FileError(D2SError, OSError):
    """A file or folder that the system refuses."""


class WorkerError(D2SError, RuntimeError):
    """A process of a DataLoader that does not do its part."""


class MissingName(D2SError, AttributeError):
    """A name of Paddle's that d2s has not."""


class MissingModule(D2SError, ModuleNotFoundError):
    """A module of Paddle's that d2s has not."""


class UnknownKeyword(D2SError, TypeError):
    """An argument given by a name that Paddle's function has and d2s's has not, or that neither has."""


class InternalError(D2SError, RuntimeError):
    """An invariant of d2s itself is broken."""


def another(cls: type[BaseException], args: tuple[object, ...], attributes: dict[str, object]) -> Any:
    """An exception of a class that has these, without what an `__init__` of the user's does.

    >>> another(StopIteration, (3,), {"note": "last"}).value
    3
    """
    builtin: Any = next(kind for kind in cls.__mro__ if not kind.__flags__ & _MADE_BY_CLASS)
    made = builtin.__new__(cls, *args)
    builtin.__init__(made, *args)
    made.args = args
    vars(made).update(attributes)
    return made


_MADE_BY_CLASS = 1 << 9  # what CPython calls a heap type


class Raised:
    """An exception that a run raises where it comes to a certain place; as text it can only be read."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        return "'" + repr(f'"{type(self.error).__name__}: {self.error}')[2:]  # always in the one kind of quotes

    def again(self) -> Exception:
        """The exception, as if raised for the first time."""
        error = another(type(self.error), self.error.args, vars(self.error))
        error.__cause__, error.__context__ = self.error.__cause__, self.error.__context__
        error.__suppress_context__ = self.error.__suppress_context__
        return error
