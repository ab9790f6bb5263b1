"""Every call goes through the runtime, which may convert the callee first.

In: a function. Out: the same with `_d2s.call(f)(x)` for `f(x)`: callee before arguments, as Python has it.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     return g(x, *h(x))''', transform)
def f(x):
    return _d2s.call_starred(g)(x, *_d2s.starred(_d2s.call(h)(x)))

`super()` is not wrapped; its arguments are written out, because in the function of a region Python would not find them.
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression


def transform(function: Function) -> None:
    """Rewrites all calls of `function`."""
    _Calls(function).generic_visit(function.tree)


def _is_runtime(node: gast.expr) -> bool:
    return isinstance(node, gast.Attribute) and isinstance(node.value, gast.Name) and node.value.id == "_d2s"


class _Calls(Rewriter):
    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        if isinstance(node.func, gast.Name) and node.func.id == "super" and not node.args:
            return self._super(node)
        if not _is_runtime(node.func):
            node.func = quote_expression("_d2s.call_starred(f)" if self._starred(node) else "_d2s.call(f)", node, f=node.func)
        return node

    def _starred(self, node: gast.Call) -> bool:
        """Has the runtime take apart what stars do; whether there are any."""
        stars = [part for part in node.args if isinstance(part, gast.Starred)]
        named = [keyword for keyword in node.keywords if keyword.arg is None]
        for part in stars:
            part.value = quote_expression("_d2s.starred(x)", part, x=part.value)
        for keyword in named:
            keyword.value = quote_expression("_d2s.starred_named(x)", node, x=keyword.value)
        return bool(stars or named)

    def _super(self, node: gast.Call) -> gast.expr:
        args = self.function.tree.args
        first = [*args.posonlyargs, *args.args][:1]
        return quote_expression("super(__class__, this)", node, this=first[0].id) if first else node
