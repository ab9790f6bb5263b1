"""`try` and `with` become calls: body, handlers and ends a function each, and the variables they change handed over by name.

In: a function whose `try` and `with` statements are left at their ends or by exceptions only (`exits` saw to that). Out: the
same, asking the runtime to run each. What is caught is still decided by Python's own rules, one `except` after the other.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     try:
...         x = g(x)
...     except ValueError:
...         x = None
...     return x''', transform)
def f(x):
<BLANKLINE>
    def body_3():
        nonlocal x
        x = g(x)
<BLANKLINE>
    def handle_3(raised):
        nonlocal x
        if _d2s.catches(raised, ValueError):
            x = None
        else:
            raise
<BLANKLINE>
    def otherwise_3():
        pass
<BLANKLINE>
    def finish_3():
        pass
<BLANKLINE>
    def get_3():
        return x,
<BLANKLINE>
    def set_3(values):
        nonlocal x
        x, = values
    _d2s.protected(body_3, handle_3, otherwise_3, finish_3, get_3, set_3, (
        'x',))
    return x
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote

_TRY = """
def body(own_0=own_0):
    nonlocal shared_0
    body_statements
def handle(raised, own_1=own_1):
    nonlocal shared_1
    handlers
def otherwise(own_2=own_2):
    nonlocal shared_2
    otherwise_statements
def finish(own_3=own_3):
    nonlocal shared_3
    finish_statements
STATE
_d2s.protected(body, handle, otherwise, finish, get, set, names)
"""
_WITH = """
def body(item, own_1=own_1):
    nonlocal shared_1
    begin
    statements
STATE
_d2s.within(lambda: manager, body, get, set, names)
"""
_HANDLER = """
if _d2s.catches(raised, kind):
    statements
else:
    others
"""


def transform(function: Function) -> None:
    """Rewrites all `try` and `with` statements that are regions."""
    _Protect(function).generic_visit(function.tree)


class _Protect(Rewriter):
    visit_FunctionDef = Rewriter.generic_visit  # the functions of other regions; those of the user hold none

    def visit_Try(self, node: gast.Try) -> gast.Try | list[gast.stmt]:
        self.generic_visit(node)
        if node not in self.function.scopes.regions:
            return node
        raised = self.function.fresh("raised")
        handlers = quote("raise", node)
        for handler in reversed(node.handlers):
            handlers = self.handler(handler, raised, handlers)
        parts = {"body_statements": node.body, "handlers": handlers, "raised": raised}
        parts |= {"otherwise_statements": node.orelse, "finish_statements": node.finalbody}
        return self.function.region(_TRY, node, "body", "handle", "otherwise", "finish", **parts)

    def handler(self, node: gast.ExceptHandler, raised: str, others: list[gast.stmt]) -> list[gast.stmt]:
        statements = node.body
        if node.name:
            name, text = node.name.id, gast.copy_location(gast.Constant(node.name.id, None), node)
            statements = quote("name = raised", node, name=name, raised=raised) + statements
            statements += quote("name = _d2s.Undefined(text)", node, name=name, text=text)
        kind = node.type or gast.copy_location(gast.Name("BaseException", gast.Load(), None, None), node)
        return quote(_HANDLER, node, raised=raised, kind=kind, statements=statements, others=others)

    def visit_With(self, node: gast.With) -> gast.With | list[gast.stmt]:
        self.generic_visit(node)
        if node not in self.function.scopes.regions:
            return node
        (item,) = node.items
        name = self.function.fresh("item")
        begin = quote("target = item", node, target=item.optional_vars, item=name) if item.optional_vars else []
        parts = {"item": name, "begin": begin, "statements": node.body, "manager": item.context_expr}
        return self.function.region(_WITH, node, "body", **parts)
