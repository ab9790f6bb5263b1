"""`:=` beside what is evaluated on some paths only becomes statements: in the lambda of an operand its name would be lost.

In: a function. Out: the same, where a whole test, value or result that binds names in operands of `and`, `or` or a ternary is
computed by `if` statements in front.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     if x > 0 and (y := g(x)) > 0:
...         return y''', transform)
def f(x):
    value_3 = x > 0
    if value_3:
        value_3 = (y := g(x)) > 0
    if value_3:
        return y
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.trees import parts, walk


def transform(function: Function) -> None:
    """Rewrites the statements of `function` that bind names on some paths through an expression."""
    _Walrus(function).generic_visit(function.tree)


def _binds(node: gast.AST | None) -> bool:
    return node is not None and any(isinstance(inner, gast.NamedExpr) for inner in walk(node))


def _lazily(node: gast.AST | None) -> bool:
    """Whether an expression that binds a name decides by itself what of it is evaluated: its operands go into lambdas."""
    if isinstance(node, gast.Compare) and len(node.ops) > 1:
        return _binds(node)
    if isinstance(node, gast.UnaryOp):
        return _lazily(node.operand)
    later = {gast.BoolOp: lambda n: n.values, gast.IfExp: lambda n: [n.body, n.orelse]}
    return type(node) in later and (any(map(_binds, later[type(node)](node))) or any(map(_lazily, parts(node))))


class _Walrus(Rewriter):
    def visit_If(self, node: gast.If) -> Any:
        self.generic_visit(node)
        return self.before(node, "test")

    def visit_Return(self, node: gast.Return) -> Any:
        return self.before(node, "value")

    visit_Assign = visit_Expr = visit_Return

    def visit_While(self, node: gast.While) -> gast.stmt:
        """A test of several statements is asked at the head of each trip."""
        self.generic_visit(node)
        if _binds(node.test) and not node.orelse:
            asked, name = self.computed(node.test)
            node.body = asked + quote("if not test:\n    break", node.test, test=name) + node.body
            node.test = gast.copy_location(gast.Constant(True, None), node.test)
        return node

    def before(self, node: gast.stmt, field: str) -> Any:
        if not _lazily(getattr(node, field)):
            return node
        asked, name = self.computed(getattr(node, field))
        setattr(node, field, quote_expression(name, node))
        return [*asked, node]

    def computed(self, node: gast.expr) -> tuple[list[gast.stmt], str]:
        """Statements that compute an expression, and the name of its value."""
        name = self.function.fresh(f"value_{node.lineno}")
        return self.into(name, node), name

    def into(self, name: str, node: gast.expr) -> list[gast.stmt]:
        if isinstance(node, gast.Compare) and len(node.ops) > 1:
            node = _compared(node)
        if not _lazily(node) or isinstance(node, gast.Compare):
            return quote("name = value", node, name=name, value=node)
        if isinstance(node, gast.UnaryOp):
            negated = gast.copy_location(gast.UnaryOp(node.op, quote_expression(name, node)), node)
            return self.into(name, node.operand) + quote("name = value", node, name=name, value=negated)
        if isinstance(node, gast.IfExp):
            then, otherwise = self.into(name, node.body), self.into(name, node.orelse)
            text = "if name:\n    then\nelse:\n    otherwise"
            return self.into(name, node.test) + quote(text, node, name=name, then=then, otherwise=otherwise)
        first, *rest = node.values
        asked = self.into(name, first)
        if rest:
            behind = self.into(name, gast.copy_location(gast.BoolOp(node.op, rest), node) if rest[1:] else rest[0])
            goes_on = "name" if isinstance(node.op, gast.And) else "not name"
            asked += quote(f"if {goes_on}:\n    behind", node, name=name, behind=behind)
        return asked


def _compared(node: gast.Compare) -> gast.expr:
    """A chain of comparisons as `and`, where what stands in its middle has a name."""
    if not all(isinstance(middle, (gast.NamedExpr, gast.Name, gast.Constant)) for middle in node.comparators[:-1]):
        return node
    parts, left = [], node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        parts.append(gast.copy_location(gast.Compare(left, [op], [right]), node))
        left = quote_expression(right.target.id, right) if isinstance(right, gast.NamedExpr) else right
    return gast.copy_location(gast.BoolOp(gast.And(), parts), node)
