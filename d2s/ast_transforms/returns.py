"""Early returns: what follows an arm that returns moves into the other arm, and the function has one `return` at its end.

In: a function. Out: the same without `return` in any `if` outside loops. In loops `return` stays: they stay Python.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     if x > 0:
...         return 1
...     y = x + 1
...     return y''', transform)
def f(x):
    if x > 0:
        ret = 1
    else:
        y = x + 1
        ret = y
    return ret

Where both arms of an `if` go on behind it, both get a copy of the rest: no flag, and no value that may be missing.
Where that would copy too much, all returns stay, and the `if` statements around them stay Python.
"""

import copy

import gast

from d2s.ast_transforms.function import Function
from d2s.ast_transforms.quote import quote
from d2s.ast_transforms.scopes import ends
from d2s.ast_transforms.trees import walk

_COPIES = 3_000  # nodes


def transform(function: Function) -> None:
    """Rewrites all early returns of `function`."""
    body = function.tree.body
    if any(map(_returns, body)):
        push = _Push(function)
        pushed = push.block(copy.deepcopy(body)) + quote("return ret", body[-1], ret=push.ret)
        function.tree.body = pushed if push.copied <= _COPIES else body


def _returns(node: gast.stmt) -> bool:
    """Whether `node` is an `if` that holds a `return` outside loops."""
    arms = [*node.body, *node.orelse] if isinstance(node, gast.If) else []
    return any(isinstance(inner, gast.Return) or _returns(inner) for inner in arms)


class _Push:
    def __init__(self, function: Function) -> None:
        self.function, self.ret, self.copied = function, function.fresh("ret"), 0

    def block(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        """`statements` as the end of the function: every path that comes to an end here sets `ret`."""
        for index, node in enumerate(statements):
            if isinstance(node, gast.Return):
                return statements[:index] + self._set(node, node.value)
            if isinstance(node, gast.Raise):
                return statements[: index + 1]
            if _returns(node) and self.copied <= _COPIES:
                rest = statements[index + 1 :]
                again = rest if ends(node.body) or ends(node.orelse) else self._copy(rest)
                node.body = self.block(node.body + ([] if ends(node.body) else rest))
                node.orelse = self.block(node.orelse + again)
                return statements[: index + 1]
        return statements + self._set(statements[-1] if statements else self.function.tree, None)

    def _set(self, at: gast.AST, value: gast.expr | None) -> list[gast.stmt]:
        return quote("ret = value", at, ret=self.ret, value=value or gast.copy_location(gast.Constant(None, None), at))

    def _copy(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        self.copied += sum(1 for node in statements for _ in walk(node))
        return copy.deepcopy(statements)
