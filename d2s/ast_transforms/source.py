"""From a function to its text: the tree of its `def` or `lambda`, with the line numbers of the user's file.

In: a plain Python function. Out: a `Function` without decorators, annotations and defaults: those were evaluated when
the function was made, and are not evaluated again. A lambda becomes a function with one `return`.

The whole file is parsed, so that no text has to be cut out and dedented, and the class around a method is seen.

>>> import textwrap
>>> print(read(textwrap.indent).text().splitlines()[0])
def indent(text, prefix, predicate=...):
"""

import ast
import functools
import linecache
import types
from collections.abc import Iterator

import gast

from d2s.ast_transforms.function import Function, mangled
from d2s.ast_transforms.origins import texts
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.scopes import every_parameter
from d2s.errors import CaptureError
from d2s.parsing import tree_of

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Found = tuple[Definition, str | None]  # with the name of the class around it
_FAR = 10**6  # a line no file has: marks a candidate
_ASSERTIONS = "@pytest_ar"  # the name by which a test runner, which compiles asserts its own way, is known


def read(fn: types.FunctionType) -> Function:
    """The tree of `fn`."""
    text, found = "", None
    for text in texts(fn):
        found = _found(fn, text)
        if found:
            break
    if not found:
        raise _unavailable(fn)
    node, class_name = found
    return Function(_bare(gast.ast_to_gast(node)), fn.__code__.co_filename, class_name, _imported(text))


def _found(fn: types.FunctionType, text: str) -> Found | None:
    """The definition of `fn` in a text, if it is one of `fn`."""
    candidates = [found for found in _definitions(_parse(text)) if _fits(fn.__code__, *found)]
    if len(candidates) > 1:
        return _told_apart(fn, text, candidates)
    return candidates[0] if candidates and _runs(fn, text) else None


def _unavailable(fn: types.FunctionType) -> CaptureError:
    where = f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
    there = bool(linecache.getlines(fn.__code__.co_filename, fn.__globals__))
    what, way_out = "is not available", "put the function in a file, or its text in linecache.cache"
    if there:
        what, way_out = "differs from the code that runs", "import the file again"
    return CaptureError("D2S1005", f"the source text of '{fn.__name__}' {what}", where=where, hint=way_out)


@functools.lru_cache(maxsize=8)
def _parse(text: str) -> ast.Module:
    try:
        return tree_of(text)
    except SyntaxError:
        return ast.Module([], [])


@functools.lru_cache(maxsize=8)
def _imported(text: str) -> tuple[str, ...]:
    """The names that the module's own statements import."""
    names = [alias.asname or alias.name.partition(".")[0] for node in _own(_parse(text)) for alias in node.names]
    return tuple(sorted({name for name in names if name != "*"}))


def _own(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif not isinstance(child, Definition | ast.ClassDef | ast.expr):
            yield from _own(child)


def _definitions(node: ast.AST, class_name: str | None = None) -> Iterator[Found]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Definition):
            yield child, class_name
        yield from _definitions(child, child.name if isinstance(child, ast.ClassDef) else class_name)


def _fits(code: types.CodeType, node: Definition, class_name: str | None) -> bool:
    """Whether `code` may come from `node`: first line (a decorator's, if any), name and parameters are the same."""
    first = min(part.lineno for part in [*getattr(node, "decorator_list", ()), node])
    if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
        return False
    args = node.args
    names = [arg.arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg] if arg]
    return tuple(mangled(name, class_name) for name in names) == code.co_varnames[: len(names)]


def _runs(fn: types.FunctionType, text: str) -> bool:
    """Whether the text still compiles to the code of `fn`."""
    wanted = fn.__code__
    places = (c for c in _compiled(text, wanted.co_filename) if c.co_firstlineno == wanted.co_firstlineno)
    rewritten = any(_ASSERTIONS in code.co_names for code in _codes(wanted))
    return rewritten or any(_meaning(code) == _meaning(wanted) for code in places)


@functools.lru_cache(maxsize=8)
def _compiled(text: str, filename: str) -> list[types.CodeType]:
    return list(_codes(compile(_parse(text), filename, "exec", dont_inherit=True)))


def _told_apart(fn: types.FunctionType, text: str, candidates: list[Found]) -> Found | None:
    """The first of several lambdas on one line that compiles to the code of `fn`; equal code has equal meaning."""
    module = tree_of(text)
    twins = [node for node, class_name in _definitions(module) if _fits(fn.__code__, node, class_name)]
    for index, twin in enumerate(twins):
        twin.lineno = twin.end_lineno = _FAR + index
    for code in _codes(compile(module, fn.__code__.co_filename, "exec", dont_inherit=True)):
        if code.co_firstlineno >= _FAR and _meaning(code) == _meaning(fn.__code__):
            return candidates[code.co_firstlineno - _FAR]
    return None


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _meaning(code: types.CodeType) -> tuple[object, ...]:
    constants = [_constant(c) for c in code.co_consts]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, constants


def _constant(value: object) -> object:
    """What tells a constant from others; the order in which a set shows its items is that of the process that compiled it."""
    if isinstance(value, types.CodeType):
        return _meaning(value)
    return sorted(map(repr, value)) if isinstance(value, frozenset) else repr(value)


def _bare(node: gast.AST) -> gast.FunctionDef:
    if isinstance(node, gast.Lambda):
        name, lambda_ = f"lambda_{node.lineno}", node
        node = quote("def name():\n    return value", lambda_, name=name, value=lambda_.body)[0]
        node.args = lambda_.args
    node.decorator_list, node.returns, node.type_params, args = [], None, [], node.args
    for arg in every_parameter(args):
        arg.annotation = None
    args.defaults = [quote_expression("...", default) for default in args.defaults]
    args.kw_defaults = [default and quote_expression("...", default) for default in args.kw_defaults]
    return node
