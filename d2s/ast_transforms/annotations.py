"""Annotations of local variables go: Python never evaluates them, and a `nonlocal` name may not have one.

In: a function. Out: the same with plain assignments.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     y: int = x
...     return y''', transform)
def f(x):
    y = x
    return y
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote


def transform(function: Function) -> None:
    """Drops the annotations of all local variables."""
    _Annotations(function).generic_visit(function.tree)


class _Annotations(Rewriter):
    def visit_AnnAssign(self, node: gast.AnnAssign) -> list[gast.stmt]:
        if node.value is None:
            return quote("pass", node)
        return quote("target = value", node, target=node.target, value=node.value)
