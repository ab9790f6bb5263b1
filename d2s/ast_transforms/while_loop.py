"""`while` statements become calls: test and body a function each, and the variables they change handed over by name.

In: a function whose loops are left at their heads only. Out: the same, asking the runtime to run each loop, and telling it
whether a flag in the test ends it early, and whether only what is raised ends it.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     while x < 9:
...         x = x * 2
...     return x''', transform)
def f(x):
<BLANKLINE>
    def test_3():
        return x < 9
<BLANKLINE>
    def body_3():
        nonlocal x
        x = x * 2
<BLANKLINE>
    def get_3():
        return x,
<BLANKLINE>
    def set_3(values):
        nonlocal x
        x, = values
    _d2s.while_loop(test_3, body_3, get_3, set_3, ('x',), False, False)
    return x
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression

_TEMPLATE = """
def test():
    nonlocal shared_0
    return question
def body(own_1=own_1):
    nonlocal shared_1
    statements
STATE
_d2s.while_loop(test, body, get, set, names, leaves, endless)
"""


def transform(function: Function) -> None:
    """Rewrites all `while` statements that are regions."""
    _WhileLoop(function).generic_visit(function.tree)


class _WhileLoop(Rewriter):
    visit_FunctionDef = Rewriter.generic_visit  # the functions of `if_else`; those of the user hold no regions

    def visit_While(self, node: gast.While) -> gast.While | list[gast.stmt]:
        self.generic_visit(node)
        if node not in self.function.scopes.regions:
            return node
        leaves = quote_expression(repr(hasattr(node, "stop")), node)
        endless = quote_expression(repr(isinstance(node.test, gast.Constant) and bool(node.test.value)), node)
        return self.function.region(_TEMPLATE, node, "test", "body", statements=node.body, leaves=leaves, endless=endless)
