"""Templates: new code is written as Python text with placeholders, never put together node by node.

In: a text, the node it takes the place of (new nodes get its line), and a part for each placeholder. A part is a `str`
(the placeholder is renamed), a tuple of `str` (it becomes these names), a tree (an expression) or a list (statements).
Out: gast statements, or an expression.

>>> at = gast.parse("x.y").body[0]
>>> new = quote("def f(name):\\n    nonlocal both\\n    body\\n    both = g(what)", at, f="f_1", both=("p", "q"),
...     body=[], what=at.value, name="n")
>>> print(gast.unparse(new[0]).strip())
def f_1(n):
    nonlocal p, q
    p, q = g(x.y)
"""

import functools
from typing import Any

import gast

from d2s.ast_transforms.trees import Transformer, copied


def quote(text: str, at: gast.AST, /, **parts: Any) -> list[gast.stmt]:
    """The statements of `text`, with the location of `at`."""
    return _Fill(parts).visit(copied(_template(text), at)).body


@functools.lru_cache(maxsize=1024)
def _template(text: str) -> gast.Module:
    return gast.parse(text)


def quote_expression(text: str, at: gast.AST, /, **parts: Any) -> gast.expr:
    """The expression `text`, with the location of `at`."""
    return quote(text, at, **parts)[0].value


class _Fill(Transformer):
    def __init__(self, parts: dict[str, Any]) -> None:
        self.parts = parts

    def visit_Name(self, node: gast.Name) -> Any:
        part = self.parts.get(node.id, node.id)
        if isinstance(part, str):
            node.id = part
            return node
        if not isinstance(part, tuple):
            return part
        names = [gast.copy_location(gast.Name(name, node.ctx, None, None), node) for name in part]
        return names if isinstance(node.ctx, gast.Param) else gast.copy_location(gast.Tuple(names, node.ctx), node)

    def visit_arguments(self, node: gast.arguments) -> Any:
        defaults, node.defaults = node.defaults, []
        self.generic_visit(node)
        named = [(name, default) for default in defaults for name in self.parts[default.id]]
        node.defaults = [gast.copy_location(gast.Name(name, gast.Load(), None, None), at) for name, at in named]
        return node

    def visit_Expr(self, node: gast.Expr) -> Any:
        part = self.parts.get(node.value.id) if isinstance(node.value, gast.Name) else None
        return part if isinstance(part, list) else self.generic_visit(node)

    def visit_Nonlocal(self, node: gast.Nonlocal) -> Any:
        node.names = list(self.parts[node.names[0]])
        return node if node.names else None

    visit_Global = visit_Nonlocal

    def visit_FunctionDef(self, node: gast.FunctionDef) -> Any:
        self.generic_visit(node)
        node.name = self.parts.get(node.name, node.name)
        node.body = node.body or [gast.copy_location(gast.Pass(), node)]
        return node

    visit_ClassDef = visit_FunctionDef
