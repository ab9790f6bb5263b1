"""Functions and classes defined inside: what decorates them is called through the runtime, which is told of new classes.

In: a function. Out: the same; bodies of what is defined stay as they are, until that is called.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     @twice
...     def g(y):
...         return y
...     class K:
...         size = 3
...     return g(K(x))''', transform)
def f(x):
<BLANKLINE>
    @_d2s.decorator(twice)
    def g(y):
        return y
<BLANKLINE>
<BLANKLINE>
    class K:
        size = 3
    K = _d2s.new_class(K)
    return g(K(x))
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression


def transform(function: Function) -> None:
    """Rewrites all definitions in `function`."""
    _Definitions(function).generic_visit(function.tree)


class _Definitions(Rewriter):
    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return super().visit_FunctionDef(self._decorated(node))

    def visit_ClassDef(self, node: gast.ClassDef) -> list[gast.stmt]:
        noted = quote("name = _d2s.new_class(name)", node, name=node.name)
        return [super().visit_ClassDef(self._decorated(node)), *noted]

    def _decorated(self, node: Any) -> Any:
        node.decorator_list = [quote_expression("_d2s.decorator(f)", f, f=f) for f in node.decorator_list]
        return node
