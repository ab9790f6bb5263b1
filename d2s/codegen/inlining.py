"""Functions of a kernel's text put in the place of their calls, as text: Numba's own way copies all it has, for each of them.

In: a text. Out: its syntax tree, in which functions marked `@inlined` stand where they were called. Calls in a place that is
not come to each time - behind `and`, `or` and `if`, in the test of a `while` - stay, and so do functions that return at many
places: Numba puts those in.

>>> text = "@inlined\\ndef half(x):\\n    y = x * 0.5\\n    return y\\ndef kernel(r, o):\\n    v = half(half(r[0]))\\n"
>>> print(ast.unparse(unfolded(text)))
def kernel(r, o):
    x__1 = r[0]
    y__1 = x__1 * 0.5
    y__2 = y__1 * 0.5
    v = y__2
"""

import ast
import copy
import itertools
from collections.abc import Sequence
from typing import Any

from d2s.parsing import tree_of

MARK = "inlined"
RESULT = "returned"


def unfolded(text: str) -> ast.Module:
    """The tree of a text, without the functions that nothing calls any more."""
    tree = tree_of(text)
    known: dict[str, ast.FunctionDef] = {}
    number = itertools.count(1)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            function.body = _block(function.body, known, number)
            if _is_marked(function) and _ends_with_its_only_return(_returning_once(function)):
                known[function.name] = function
    called = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.FunctionDef) and _is_marked(node)) or node.name in called
    ]
    return ast.fix_missing_locations(tree)


def _is_marked(function: ast.FunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == MARK for mark in function.decorator_list)


def _returning_once(function: ast.FunctionDef) -> ast.FunctionDef:
    """What returns in an `if` or out of a loop, and else at its end, does so at its end only."""
    *_, early, last = [None, None, *function.body]
    if isinstance(last, ast.Return) and last.value and isinstance(early, ast.If | ast.For) and not early.orelse:
        stops = [ast.Break()] if isinstance(early, ast.For) else []
        ifs = [early, *(node for node in early.body if isinstance(node, ast.If))] if stops else [early]
        for node in ifs:
            if isinstance(node.body[-1], ast.Return) and node.body[-1].value:
                node.body[-1:] = [_kept(node.body[-1].value), *stops]
                early.orelse = [_kept(last.value)]
        if early.orelse:
            last.value = ast.Name(RESULT, ast.Load())
    return function


def _kept(value: ast.expr) -> ast.stmt:
    return ast.Assign([ast.Name(RESULT, ast.Store())], value, lineno=0)


def _ends_with_its_only_return(function: ast.FunctionDef) -> bool:
    """Or has none. What it is given is by position, without defaults."""
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    given = function.args
    plain = not (given.vararg or given.kwarg or given.kwonlyargs or given.defaults or given.posonlyargs)
    return plain and all(node is function.body[-1] and node.value is not None for node in returns)


def _block(statements: Sequence[ast.stmt], known: dict[str, ast.FunctionDef], number: Any) -> list[ast.stmt]:
    """Statements, with what they call in front of them."""
    found: list[ast.stmt] = []
    for statement in statements:
        calls = _Calls(known, number)
        for name in ("body", "orelse"):
            if isinstance(statement, ast.For | ast.While | ast.If):
                setattr(statement, name, _block(getattr(statement, name), known, number))
        if isinstance(statement, ast.Expr) and calls.is_procedure(statement.value):
            calls.put(statement.value)
            found += calls.before
            continue
        if not isinstance(statement, ast.While):
            calls.enter(statement)
        found += [*calls.before, statement]
    return found


class _Calls(ast.NodeTransformer):
    """Takes the calls out of one statement: `before` is what stands in front of it then."""

    def __init__(self, known: dict[str, ast.FunctionDef], number: Any) -> None:
        self.known, self.number, self.before = known, number, list[ast.stmt]()

    def is_procedure(self, node: ast.AST) -> bool:
        return self._is_known(node) and not isinstance(self.known[node.func.id].body[-1], ast.Return)  # type: ignore[attr-defined]

    def _is_known(self, node: ast.AST) -> bool:
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.known
        return named and not node.keywords  # type: ignore[attr-defined]

    def enter(self, statement: ast.stmt) -> None:
        """All of a simple statement; of others what is computed once, in front."""
        inside = {ast.For: "iter", ast.If: "test"}.get(type(statement))  # type: ignore[call-overload]
        if inside:
            setattr(statement, inside, self.visit(getattr(statement, inside)))
        elif not isinstance(statement, ast.For | ast.If):
            self.generic_visit(statement)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test = self.visit(node.test)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values[0] = self.visit(node.values[0])
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return self.put(node) if self._is_known(node) and not self.is_procedure(node) else node

    def put(self, node: Any) -> ast.AST:
        """A function's statements in front of what calls it; returns what it does."""
        function = copy.deepcopy(self.known[node.func.id])
        own = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        suffix = f"__{next(self.number)}"
        given = [self.visit(argument) for argument in node.args] if self.is_procedure(node) else node.args
        named = {argument.arg: value for argument, value in zip(function.args.args, given, strict=True)}
        plain: dict[str, ast.expr] = {}
        plain |= {
            name: value for name, value in named.items() if name not in own and isinstance(value, ast.Name | ast.Constant)
        }
        renaming = _Renaming(own | named.keys() - plain.keys(), suffix, plain)
        function.body = [renaming.visit(statement) for statement in function.body]
        rest = {name: value for name, value in named.items() if name not in plain}
        self.before += [ast.Assign([ast.Name(name + suffix, ast.Store())], value, lineno=0) for name, value in rest.items()]
        returned = function.body[-1]
        self.before += function.body[:-1] if isinstance(returned, ast.Return) else function.body
        return returned.value if isinstance(returned, ast.Return) and returned.value else node  # type: ignore[no-any-return]


def _is_plain(value: ast.expr) -> bool:
    """Whether it may stand wherever a parameter does."""
    return isinstance(value, ast.Name | ast.Constant)


class _Renaming(ast.NodeTransformer):
    """Gives names that are a function's own a suffix, and puts what is given in the place of parameters."""

    def __init__(self, own: set[str], suffix: str, given: dict[str, ast.expr]) -> None:
        self.own, self.suffix, self.given = own, suffix, given

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id in self.own:
            node.id += self.suffix
        return copy.deepcopy(self.given[node.id]) if node.id in self.given else node
