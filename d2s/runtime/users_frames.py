"""Frames of the user's code for what a run does there: exceptions, logging and warnings find file, line and function in them.

In: `file:line` of the user's, and what is called or raised there. Out: the same, called or raised as if by that line.

>>> import sys
>>> def asked():
...     caller = sys._getframe(1).f_code
...     return caller.co_filename, caller.co_firstlineno, caller.co_name
>>> framed(asked, "net.py:7", None, {})()
('net.py', 7, '<module>')
"""

import ast
import functools
import linecache
import sys
import types
from collections.abc import Callable
from typing import Any

from d2s.parsing import tree_of

_CALLING = "def caller(call, /, *args, **kwargs): return call(*args, **kwargs)"
_PLACE = "d2s_place"
_RAISING = "def raiser(error): raise error"


def framed(function: Callable[..., Any], where: str, columns: tuple[int, int] | None, scope: dict[str, Any]) -> Any:
    """A function that is called by the user's line; `scope` are the globals there, `columns` what of the line calls it."""
    code = _code_at(_CALLING, where, columns, _edition(where))
    if code is None:
        return function
    made = functools.partial(types.FunctionType(code, scope), function)
    vars(made)[_PLACE] = where, columns
    return made


def straight(made: Callable[..., Any], count: int) -> Callable[..., Any]:
    """What `framed` has made, for so many arguments in order: the call of it takes a third.

    >>> straight(framed(max, "net.py:7", None, {}), 2)(3, 4)
    4
    """
    if not isinstance(made, functools.partial) or _PLACE not in vars(made):
        return made
    where, columns = vars(made)[_PLACE]
    names = ", ".join(f"a{k}" for k in range(count))
    text = f"def caller({names}{', ' * bool(count)}call): return call({names})"
    code = _code_at(text, where, columns, _edition(where))
    return made if code is None else types.FunctionType(code, made.func.__globals__, None, made.args)


def raised_at(error: Any, where: str) -> Any:
    """The exception with the user's line in its traceback, as if it came from there."""
    code = _code_at(_RAISING, where, None, _edition(where))
    if code is not None:
        try:
            types.FunctionType(code, {})(error)
        except type(error):
            error.__traceback__ = error.__traceback__.tb_next  # the frame that is here
    return error


def _edition(where: str) -> Any:
    """What tells a file from the same file behind an edit."""
    file = where.rpartition(":")[0]
    linecache.getlines(file)
    return linecache.cache.get(file, ())[:2]


@functools.lru_cache(maxsize=1024)
def _code_at(text: str, where: str, columns: tuple[int, int] | None, edition: Any) -> types.CodeType | None:
    """The code of a function that stands in one line of the user's; None where there is no such line."""
    file, _, number = where.rpartition(":")
    if not file or not number.isdigit():
        return None
    line, tree = int(number), tree_of(text)
    shown = linecache.getline(file, line)
    indented = len(shown) - len(shown.lstrip())
    start, end = (len(shown[:column].encode()) for column in columns or (indented, len(shown.rstrip())))
    for node in ast.walk(tree):
        if "lineno" in node._attributes:
            vars(node).update(lineno=line, end_lineno=line, col_offset=start, end_col_offset=end)
    (code,) = (part for part in compile(tree, file, "exec").co_consts if isinstance(part, types.CodeType))
    name = _function_at(file, line)
    return code.replace(co_name=name, **({"co_qualname": name} if sys.version_info >= (3, 11) else {}))  # type: ignore[arg-type]


def _function_at(file: str, line: int) -> str:
    """The name of the innermost function that a line stands in, as tracebacks have it."""
    try:
        tree = tree_of("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):  # a prompt that was shown, too
        return "<module>"
    around = [node for node in ast.walk(tree) if line in range(*_lines(node))]
    named = [node.name for node in around if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return named[-1] if named else "<lambda>" if any(isinstance(node, ast.Lambda) for node in around) else "<module>"


def _lines(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 0), getattr(node, "end_lineno", -1) + 1
