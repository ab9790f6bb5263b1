"""`and`, `or`, `not`, ternaries and chained comparisons become calls; what Python evaluates lazily becomes a lambda.

In: a function. Out: the same, asking the runtime for each of these decisions.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x, y):
...     return x if 0 < y < g(x) and not x else y''', transform)
def f(x, y):
    return _d2s.if_exp(_d2s.both(lambda : _d2s.both(lambda : _d2s.binary(0,
        '<', y), lambda : _d2s.binary(y, '<', g(x))), lambda : _d2s.not_(x)
        ), lambda : x, lambda : y)

>>> shown('''
... def f(x, y):
...     return x < g(y) < y''', transform)
def f(x, y):
    return (lambda left, middle: _d2s.and_(lambda : _d2s.binary(left, '<',
        middle), lambda : _d2s.binary(middle, '<', y)))(x, g(y))

Where only the truth of a result is asked - by `if`, `while`, `not` or a ternary - `and` and `or` are `both` and `either`.

>>> shown('''
... def f(x, y):
...     if x and y:
...         return 1''', transform)
def f(x, y):
    if _d2s.both(lambda : x, lambda : y):
        return 1

Operands that bind a name by `:=` stay as they are: in a lambda the name would be the lambda's own.
"""

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.operators import sign
from d2s.ast_transforms.quote import quote_expression
from d2s.ast_transforms.trees import walk


def transform(function: Function) -> None:
    """Rewrites all decisions inside the expressions of `function`."""
    _Logical(function).generic_visit(function.tree)


def _binds(*nodes: gast.expr) -> bool:
    return any(isinstance(inner, gast.NamedExpr) for node in nodes for inner in walk(node))


def _lazy(name: str, at: gast.expr, operands: list[gast.expr]) -> gast.expr:
    call = quote_expression(f"_d2s.{name}()", at)
    call.args = [quote_expression("lambda: operand", operand, operand=operand) for operand in operands]
    return call


_NAMED = {gast.Is: "is_", gast.IsNot: "is_not", gast.In: "in_", gast.NotIn: "not_in"}
_EQUALITY = {gast.Eq: "equal", gast.NotEq: "not_equal"}
_SIGNS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">="}


class _Logical(Rewriter):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.asked: set[gast.expr] = set()  # of these only the truth matters

    def visit(self, node: gast.AST) -> gast.AST:
        if isinstance(node, (gast.If, gast.While, gast.IfExp)):
            self._ask(node.test)
        elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            self._ask(node.operand)
        return super().visit(node)

    def _ask(self, node: gast.expr) -> None:
        self.asked.add(node)
        for operand in node.values if isinstance(node, gast.BoolOp) else ():
            self._ask(operand)

    def visit_BoolOp(self, node: gast.BoolOp) -> gast.expr:
        self.generic_visit(node)
        names = ("both", "either") if node in self.asked else ("and_", "or_")
        return node if _binds(*node.values) else _lazy(names[isinstance(node.op, gast.Or)], node, node.values)

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.expr:
        self.generic_visit(node)
        return quote_expression("_d2s.not_(x)", node, x=node.operand) if isinstance(node.op, gast.Not) else node

    def visit_IfExp(self, node: gast.IfExp) -> gast.expr:
        self.generic_visit(node)
        if _binds(node.body, node.orelse):
            return node
        parts = {"test": node.test, "a": node.body, "b": node.orelse}
        return quote_expression("_d2s.if_exp(test, lambda: a, lambda: b)", node, **parts)

    def visit_Compare(self, node: gast.Compare) -> gast.expr:
        self.generic_visit(node)
        if len(node.ops) == 1:
            return self._one(node)
        return node if type(node.ops[0]) in _NAMED or _binds(node) else self._chain(node, node.left, node.ops, node.comparators)

    def _one(self, node: gast.Compare) -> gast.expr:
        """Whether two names are one object, and what a container holds, may differ from path to path; which of two objects is
        greater, a class of the user's may say."""
        name, operands = (_NAMED | _EQUALITY).get(type(node.ops[0])), {"x": node.left, "y": node.comparators[0]}
        if name:
            return quote_expression(f"_d2s.{name}(x, y)", node, **operands)
        return quote_expression("_d2s.binary(x, sign, y)", node, sign=sign(node, _SIGNS[type(node.ops[0])]), **operands)

    def _chain(self, at: gast.Compare, left: gast.expr, ops: list[gast.cmpop], rights: list[gast.expr]) -> gast.expr:
        if len(ops) == 1 or isinstance(rights[0], (gast.Name, gast.Constant)):
            first = self._one(gast.copy_location(gast.Compare(left, ops[:1], rights[:1]), at))
            rest = [self._chain(at, rights[0], ops[1:], rights[1:])] if ops[1:] else []
            return _lazy("both" if at in self.asked else "and_", at, [first, *rest]) if rest else first
        names = {name: self.function.fresh(name) for name in ("left", "middle")}
        inner, middle = (quote_expression(name, at) for name in names.values())
        parts = {"both": self._chain(at, inner, ops, [middle, *rights[1:]]), "first": left, "second": rights[0]}
        return quote_expression("(lambda left, middle: both)(first, second)", at, **names, **parts)
