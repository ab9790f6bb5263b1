"""A generator turned inside out: what it yields is given to a function, which is the body of the loop over it.

In: a generator function. Out: a plain function with the parameter `_d2s_emit`; where the loop may be left, a true answer of the
body ends the generator. So a `yield` may stand in an `if` on a tensor. What a `yield` is asked to give stays: see `fence`.

>>> from d2s.ast_transforms.function import shown
>>> def turned(function):
...     function.loop = "leaving"
...     transform(function)
>>> shown('''
... def f(x):
...     yield x
...     yield from g(x)''', turned)
def f(x, *, _d2s_emit):
    if _d2s.emit(_d2s_emit, x):
        return
    for item_4 in g(x):
        if _d2s.emit(_d2s_emit, item_4):
            return
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote
from d2s.ast_transforms.trees import walk

EMIT = "_d2s_emit"
_EMIT = f"_d2s.emit({EMIT}, value)"


def transform(function: Function) -> None:
    """Turns a generator that a loop runs inside out."""
    if function.loop:
        _Inverted(function, _EMIT if function.loop == "staying" else f"if {_EMIT}:\n    return").generic_visit(function.tree)
        args = function.tree.args
        args.kwonlyargs.append(gast.copy_location(gast.Name(EMIT, gast.Param(), None, None), function.tree))
        args.kw_defaults.append(None)


def protects(function: Function) -> bool:
    """Whether what happens in the body of a loop over a generator can be seen inside: a `yield` stands in a `try` or `with`."""
    around = [node for node in walk(function.tree) if isinstance(node, (gast.Try, gast.With))]
    return any(isinstance(inner, (gast.Yield, gast.YieldFrom)) for node in around for inner in walk(node))


class _Inverted(Rewriter):
    def __init__(self, function: Function, text: str) -> None:
        super().__init__(function)
        self.text = text

    def emitted(self, node: gast.Yield) -> list[gast.stmt]:
        value = node.value or gast.copy_location(gast.Constant(None, None), node)
        return quote(self.text, node, value=value)

    def visit_Expr(self, node: gast.Expr) -> gast.stmt | list[gast.stmt]:
        if isinstance(node.value, gast.Yield):
            return self.emitted(node.value)
        if not isinstance(node.value, gast.YieldFrom):
            return node
        name = self.function.fresh(f"item_{node.lineno}")
        return quote(
            "for item in values:\n    statements",
            node,
            item=name,
            values=node.value.value,
            statements=quote(self.text, node, value=name),
        )

    def visit_Assign(self, node: gast.Assign) -> gast.stmt | list[gast.stmt]:
        """Nothing is sent to a generator that a loop runs over."""
        if not isinstance(node.value, gast.Yield):
            return node
        found, node.value = self.emitted(node.value), gast.copy_location(gast.Constant(None, None), node.value)
        return [*found, node]

    def visit_Return(self, node: gast.Return) -> gast.stmt | list[gast.stmt]:
        """Nobody sees what the generator of a loop returns."""
        return [*self.emitted(node.value), *quote("return", node)] if isinstance(node.value, gast.Yield) else node
