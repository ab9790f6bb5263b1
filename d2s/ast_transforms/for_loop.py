"""`for` statements become calls: the body a function of the item, and the variables a trip changes handed over by name.

In: a function whose loops are left at their heads only. Out: the same, asking the runtime to run each loop; a flag that ends
it early is given as a function that reads it.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(xs):
...     y = 0
...     for x in xs:
...         y = y + x
...     return y''', transform)
def f(xs):
    y = 0
<BLANKLINE>
    def body_4(item):
        nonlocal y
        x = item
        y = y + x
<BLANKLINE>
    def get_4():
        return y,
<BLANKLINE>
    def set_4(values):
        nonlocal y
        y, = values
    _d2s.for_loop(xs, body_4, None, get_4, set_4, ('y',))
    return y
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.stores import TAKEN_APART, taken_into

_TEMPLATE = """
def body(item, own_1=own_1):
    nonlocal shared_1
    begin
    statements
STATE
_d2s.for_loop(iterable, body, stop, get, set, names)
"""


def transform(function: Function) -> None:
    """Rewrites all `for` statements that are regions."""
    _ForLoop(function).generic_visit(function.tree)


class _ForLoop(Rewriter):
    visit_FunctionDef = Rewriter.generic_visit  # the functions of `if_else` and `while_loop`

    def visit_For(self, node: gast.For) -> gast.For | list[gast.stmt]:
        self.generic_visit(node)
        if node not in self.function.scopes.regions:
            return node
        item = self.function.fresh("item")
        value = quote_expression(item, node)
        value = taken_into([node.target], value) if isinstance(node.target, TAKEN_APART) else value
        begin = quote("target = value", node, target=node.target, value=value)
        flag = getattr(node, "stop", "")
        stop = quote_expression(f"lambda: {flag}" if flag else "None", node)
        parts = {
            "begin": begin,
            "statements": node.body[:-1] if flag else node.body,
            "iterable": node.iter,
            "stop": stop,
            "item": item,
        }
        return self.function.region(_TEMPLATE, node, "body", **parts)
