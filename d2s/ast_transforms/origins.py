"""Where the text of a function may be: its file, the command line, what was typed, a string that a caller still holds.

In: a plain Python function. Out: texts, the likeliest first. Only that of a file is known to be the one the code came from; of
the others `source` takes the first that compiles to the very code that runs.

>>> import textwrap
>>> next(texts(textwrap.indent)).startswith('\"\"\"Text wrapping')
True
"""

import linecache
import sys
import types
from collections.abc import Iterator

_TYPED = 400  # lines of history that are looked at
_LONGEST = 200_000  # characters of a string that may be a program


def texts(fn: types.FunctionType) -> Iterator[str]:
    """The text of the file `fn` came from; where there is none, what else may be its text."""
    linecache.checkcache(fn.__code__.co_filename)  # a file edited and loaded again has another text
    text = "".join(linecache.getlines(fn.__code__.co_filename, fn.__globals__))
    if text:
        yield text
        return
    yield from _of_command_line()
    yield from _typed(fn.__code__)
    yield from _held(fn.__code__)


def _of_command_line() -> Iterator[str]:
    """The program of `python -c program`."""
    given = sys.orig_argv
    if "-c" in given[:-1]:
        yield given[given.index("-c") + 1]


def _typed(code: types.CodeType) -> Iterator[str]:
    """Statements of an interactive session, the latest first: from a line that names the function to one behind it."""
    readline = sys.modules.get("readline")
    count = readline.get_current_history_length() if readline and code.co_filename == "<stdin>" else 0
    lines = [readline.get_history_item(n) or "" for n in range(max(1, count - _TYPED), count + 1)] if readline else []
    for first in reversed(range(len(lines))):
        if _begins(lines[first], code):
            for behind in range(first + 1, len(lines) + 1):
                yield "\n" * (code.co_firstlineno - 1) + "\n".join(lines[first:behind]) + "\n"


def _begins(line: str, code: types.CodeType) -> bool:
    return line.startswith((f"def {code.co_name}", "@")) or (code.co_name == "<lambda>" and "lambda" in line)


def _held(code: types.CodeType) -> Iterator[str]:
    """Strings in the variables and constants of all callers that may be what was given to `exec`."""
    wanted = "lambda" if code.co_name == "<lambda>" else f"def {code.co_name}"
    frame: types.FrameType | None = sys._getframe(1)
    while frame:
        for value in (*frame.f_locals.values(), *frame.f_code.co_consts):
            if type(value) is str and len(value) < _LONGEST and wanted in value:
                yield value
        frame = frame.f_back
