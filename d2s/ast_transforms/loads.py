"""Loads that can mean more than Python's own: attributes, items, iterables, and names that may be unbound.

In: a function. Out: the same, asking the runtime for each of these.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     for i in x.rows:
...         y = i[0, 1:]
...     return y''', transform)
def f(x):
    y = _d2s.Undefined('y')
    for i in _d2s.attribute(x, 'rows'):
        y = _d2s.item(i, (0, slice(1, None, None)))
    return _d2s.load(y, 'y')
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, mangled
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.scopes import targets
from d2s.ast_transforms.stores import Slices
from d2s.ast_transforms.trees import walk


def transform(function: Function) -> None:
    """Rewrites all loads of `function`, and gives names that may be unbound something to be."""
    never = _never_bound(function)
    function.unbound |= {*never}
    _Loads(function).generic_visit(function.tree)
    body = function.tree.body
    start = 1 if gast.get_docstring(function.tree) is not None else 0
    body[start:start] = [
        statement
        for name in (*never, *function.scopes.undefined)
        for statement in quote("name = _d2s.Undefined(text)", body[start], name=name, text=_constant(name, body[start]))
    ]


def _never_bound(function: Function) -> list[str]:
    """The variables that are read, and bound by nothing that is left of the function: they are no globals."""
    names = [node for node in walk(function.tree) if isinstance(node, gast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, gast.Load)}
    bound |= {getattr(node, "name", "") or "" for node in walk(function.tree) if not isinstance(node, gast.Name)}
    read = dict.fromkeys(node.id for node in names if node.id in function.variables - bound)
    return [*read]


def _constant(value: str | bool | None, at: gast.AST) -> gast.expr:
    return gast.copy_location(gast.Constant(value, None), at)


class _Loads(Slices):
    def __init__(self, function: Function) -> None:
        super().__init__(function)
        self.checked = function.scopes.checked | function.unbound

    def visit_Name(self, node: gast.Name) -> gast.expr:
        if not isinstance(node.ctx, gast.Load) or node.id not in self.checked:
            return node
        return quote_expression("_d2s.load(x, text)", node, x=node, text=_constant(node.id, node))

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        """Where `operators` has not taken it apart."""
        target, check = node.target, []
        if isinstance(target, gast.Name) and target.id in self.checked:
            check = quote("x = _d2s.load(x, text)", node, x=target.id, text=_constant(target.id, node))
        self.generic_visit(node)
        return [*check, node]

    def visit_Attribute(self, node: gast.Attribute) -> gast.expr:
        if isinstance(node.value, gast.Name) and node.value.id == "_d2s":
            return node
        self.generic_visit(node)
        name = _constant(mangled(node.attr, self.function.class_name), node)
        return quote_expression("_d2s.attribute(x, name)", node, x=node.value, name=name)

    def visit_Subscript(self, node: gast.Subscript) -> gast.expr:
        self.generic_visit(node)
        return quote_expression("_d2s.item(x, key)", node, x=node.value, key=node.slice)

    def visit_Dict(self, node: gast.Dict) -> gast.expr:
        self.generic_visit(node)
        pairs = zip(node.keys, node.values, strict=True)
        node.values = [value if key else quote_expression("_d2s.starred_keys(x)", value, x=value) for key, value in pairs]
        return self._made(node)

    def visit_List(self, node: gast.List) -> gast.expr:
        return node if self._stored_into(node) else self._together(node, "list") or self._made(node)

    def visit_Tuple(self, node: gast.Tuple) -> gast.expr:
        return node if self._stored_into(node) else self._together(node, "tuple") or node

    def visit_Set(self, node: gast.Set) -> gast.expr:
        self.generic_visit(node)
        return self._together(node, "set") or self._made(node)

    def _stored_into(self, node: Any) -> bool:
        self.generic_visit(node)
        return not isinstance(node.ctx, gast.Load)

    def _made(self, node: gast.expr) -> gast.expr:
        return quote_expression("_d2s.made(x)", node, x=node)

    def _together(self, node: Any, kind: str) -> gast.expr | None:
        """`[a, *b]` is put together by the runtime; None where there is no star."""
        if not any(isinstance(part, gast.Starred) for part in node.elts):
            return None
        call = quote_expression("_d2s.put_together(kind)", node, kind=_constant(kind, node))
        call.args += [self._part(part) for part in node.elts]
        return call

    def _part(self, part: gast.expr) -> gast.expr:
        starred = isinstance(part, gast.Starred)
        value = part.value if starred else part
        return quote_expression("(starred, x)", part, starred=_constant(starred, part), x=value)

    def visit_comprehension(self, node: gast.comprehension) -> gast.AST:
        self.generic_visit(node)
        node.iter = quote_expression("_d2s.iterate(x)", node.iter, x=node.iter)
        return node

    def visit_ListComp(self, node: gast.expr) -> gast.expr:
        first = node.generators[0]
        outer, iterable = self.checked, self.visit(first.iter)  # evaluated outside the comprehension's own scope
        self.checked, first.iter = outer - targets(node), _constant(None, node)
        self.generic_visit(node)
        self.checked, first.iter.args = outer, [iterable]
        return self._made(node)

    visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_ListComp
