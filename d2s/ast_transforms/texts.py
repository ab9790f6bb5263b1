"""Texts put together of values: a value that only a run has makes a text that only a run has.

In: a function. Out: the same with a call of the runtime for each f-string, and for `%` of a text that stands there.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     return f'{x!r} is {x:.2f}' + '%s' % x''', transform)
def f(x):
    return _d2s.text(_d2s.formatted(x, 114), ' is ', _d2s.formatted(x, -1, _d2s.text('.2f'))) + _d2s.percent('%s', x)
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression


def transform(function: Function) -> None:
    """Rewrites all texts of `function`."""
    _Texts(function).generic_visit(function.tree)


class _Texts(Rewriter):
    def visit_JoinedStr(self, node: gast.JoinedStr) -> gast.expr:
        self.generic_visit(node)
        call = quote_expression("_d2s.text()", node)
        call.args = node.values
        return call

    def visit_FormattedValue(self, node: gast.FormattedValue) -> gast.expr:
        self.generic_visit(node)
        conversion = gast.copy_location(gast.Constant(node.conversion, None), node)
        call = quote_expression("_d2s.formatted(value, conversion)", node, value=node.value, conversion=conversion)
        call.args += [node.format_spec] if node.format_spec else []
        return call

    def visit_BinOp(self, node: gast.BinOp) -> gast.expr:
        text = isinstance(node.left, gast.JoinedStr) or (
            isinstance(node.left, gast.Constant) and isinstance(node.left.value, str)
        )
        self.generic_visit(node)
        if not isinstance(node.op, gast.Mod) or not text:
            return node
        return quote_expression("_d2s.percent(template, values)", node, template=node.left, values=node.right)
