"""`if` statements become calls: each arm a function, and the variables they change handed over by name.

In: a function whose `if` statements outside loops hold no `return`. Out: the same, asking the runtime at each `if` which
arm to run. An `if` that holds a `break`, `continue` or `return` stays as it is: a function cannot leave its caller.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     y = 0
...     if x > 0:
...         t = x + 1
...         y = t * 2
...     return y''', transform)
def f(x):
    y = 0
<BLANKLINE>
    def then_4():
        nonlocal y
        t = x + 1
        y = t * 2
<BLANKLINE>
    def otherwise_4():
        pass
<BLANKLINE>
    def get_4():
        return y,
<BLANKLINE>
    def set_4(values):
        nonlocal y
        y, = values
    _d2s.if_else(x > 0, then_4, otherwise_4, get_4, set_4, ('y',))
    return y
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter

_TEMPLATE = """
def then(own_0=own_0):
    nonlocal shared_0
    then_body
def otherwise(own_1=own_1):
    nonlocal shared_1
    otherwise_body
STATE
_d2s.if_else(question, then, otherwise, get, set, names)
"""


def transform(function: Function) -> None:
    """Rewrites all `if` statements that are regions."""
    _IfElse(function).generic_visit(function.tree)


class _IfElse(Rewriter):
    def visit_If(self, node: gast.If) -> gast.If | list[gast.stmt]:
        self.generic_visit(node)
        if node not in self.function.scopes.regions:
            return node
        arms = {"then_body": node.body, "otherwise_body": node.orelse}
        return self.function.region(_TEMPLATE, node, "then", "otherwise", **arms)
