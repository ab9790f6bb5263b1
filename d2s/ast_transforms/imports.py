"""`import` inside a function becomes assignments: the runtime finds the modules, which the capture depends on.

In: a function. Out: the same without `import`.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     import os.path
...     import math as m
...     from . import near
...     from math import pi, e as base''', transform)
def f(x):
    os = _d2s.outermost_module('os.path')
    m = _d2s.module('math')
    near = _d2s.imported('.', 'near', __package__)
    pi = _d2s.imported('math', 'pi')
    base = _d2s.imported('math', 'e')
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote


def transform(function: Function) -> None:
    """Rewrites all imports of `function`."""
    _Imports(function).generic_visit(function.tree)


class _Imports(Rewriter):
    def visit_Import(self, node: gast.Import) -> list[gast.stmt]:
        return [stmt for alias in node.names for stmt in _module(node, alias)]

    def visit_ImportFrom(self, node: gast.ImportFrom) -> list[gast.stmt]:
        module = f"{'.' * node.level}{node.module or ''}"
        package = ", __package__" if node.level else ""
        return [
            stmt
            for alias in node.names
            for stmt in quote(
                f"name = _d2s.imported({module!r}, {alias.name!r}{package})", node, name=alias.asname or alias.name
            )
        ]


def _module(node: gast.Import, alias: gast.alias) -> list[gast.stmt]:
    function = "module" if alias.asname else "outermost_module"
    called = alias.asname or alias.name.partition(".")[0]
    return quote(f"name = _d2s.{function}({alias.name!r})", node, name=called)
