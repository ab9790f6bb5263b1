"""Operators ask the runtime, which knows whether a class of the user's answers them.

In: a function. Out: the same with a call of the runtime for each operator, but of constants.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x, y):
...     x -= y
...     return -x @ y + 2 * 3''', transform)
def f(x, y):
    x = _d2s.changed(x, y, '-')
    return _d2s.binary(_d2s.binary(_d2s.unary('-', x), '@', y), '+', 2 * 3)
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.stores import SIGNS

_UNARY = {"USub": "-", "UAdd": "+", "Invert": "~"}


def transform(function: Function) -> None:
    """Rewrites all operators of `function` but comparisons, which `logical` takes apart."""
    _Operators(function).generic_visit(function.tree)


def sign(at: gast.AST, text: str) -> gast.expr:
    return gast.copy_location(gast.Constant(text, None), at)


def is_constant(node: gast.AST) -> bool:
    """Whether a number is written there, and no object."""
    if isinstance(node, gast.BinOp):
        return is_constant(node.left) and is_constant(node.right)
    return isinstance(node.operand if isinstance(node, gast.UnaryOp) else node, gast.Constant)


class _Operators(Rewriter):
    def visit_BinOp(self, node: gast.BinOp) -> gast.expr:
        if is_constant(node):
            return node
        self.generic_visit(node)
        parts = {"x": node.left, "sign": sign(node, SIGNS[type(node.op).__name__]), "y": node.right}
        return quote_expression("_d2s.binary(x, sign, y)", node, **parts)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.expr:
        if is_constant(node) or isinstance(node.op, gast.Not):
            return self.generic_visit(node)
        self.generic_visit(node)
        return quote_expression("_d2s.unary(sign, x)", node, sign=sign(node, _UNARY[type(node.op).__name__]), x=node.operand)

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        """Of a name; `stores` has taken the others apart."""
        self.generic_visit(node)
        parts = {"x": node.target.id, "y": node.value, "sign": sign(node, SIGNS[type(node.op).__name__])}
        return quote("target = _d2s.changed(x, y, sign)", node, target=node.target.id, **parts)
