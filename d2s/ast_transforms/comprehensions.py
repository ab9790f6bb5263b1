"""Comprehensions become functions of their items, so that the runtime can make one for each list that the items may be in.

In: a function whose loads and calls are rewritten. Out: the same with `_d2s.of_items` for comprehensions.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(parts):
...     return _d2s.made([-n for n in _d2s.iterate(parts)])''', transform)
def f(parts):
    return _d2s.of_items(parts, lambda items_3: [(-n) for n in items_3])
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression


def transform(function: Function) -> None:
    """Rewrites the comprehensions of `function`; one that binds a name outside of itself stays as it is."""
    _Comprehensions(function).generic_visit(function.tree)


class _Comprehensions(Rewriter):
    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        self.generic_visit(node)  # those that other transforms have made
        return node

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        made = node.args[0] if node.args else None
        if not isinstance(node.func, gast.Attribute) or not isinstance(made, gast.ListComp | gast.SetComp | gast.DictComp):
            return node
        iterate = made.generators[0].iter
        asked = isinstance(iterate, gast.Call) and gast.unparse(iterate.func) == "_d2s.iterate"
        if node.func.attr != "made" or not asked or any(isinstance(inner, gast.NamedExpr) for inner in gast.walk(made)):
            return node
        items = self.function.fresh(f"items_{node.lineno}")
        made.generators[0].iter = quote_expression(items, node)
        return quote_expression("_d2s.of_items(x, lambda one: y)", node, x=iterate.args[0], one=items, y=made)
