"""Variables of the module and of outer functions: each assignment goes through the runtime, which knows whose variable it is.

In: a function with `global` and `nonlocal`. Out: the same without them; what a lambda reads says which variable is meant. Where
functions nested in this one assign its variables, the runtime is told first that these are made here.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     global total
...     total += x
...     y, total = total, 1''', transform)
def f(x):
    pass
    _d2s.assign(_d2s.changed(total, x, '+'), lambda : total)
    y, outer_5 = total, 1
    _d2s.assign(outer_5, lambda : total)
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.scopes import FUNCTIONS, bound, own_nodes, parameters_of
from d2s.ast_transforms.stores import SIGNS, STORED
from d2s.ast_transforms.trees import walk
from d2s.errors import CaptureError


def transform(function: Function) -> None:
    """Rewrites all assignments of `function` to variables that are not its own."""
    if not any(isinstance(node, (gast.Global, gast.Nonlocal)) for node in walk(function.tree)):
        return
    names = declared(function.tree)
    if names:
        function.unbound |= names  # that they have a value is for each read to see
        _Outer(function, names).generic_visit(function.tree)
        _refuse_others(function, names)
    inside = _assigned_inside(function.tree)
    if inside:
        body, start = function.tree.body, int(gast.get_docstring(function.tree) is not None)
        body[start:start] = [s for name in inside for s in quote("_d2s.own(lambda: name)", body[start], name=name)]


def declared(tree: gast.FunctionDef) -> set[str]:
    """The names that a function declares as those of others."""
    found = (node for statement in tree.body for node in own_nodes(statement))
    return {name for node in found if isinstance(node, (gast.Global, gast.Nonlocal)) for name in node.names}


def _assigned_inside(tree: gast.FunctionDef) -> list[str]:
    """The variables of a function that functions nested in it assign."""
    nested = [node for statement in tree.body for node in own_nodes(statement) if isinstance(node, (*FUNCTIONS, gast.ClassDef))]
    names = {n for fn in nested for node in walk(fn) if isinstance(node, gast.Nonlocal) for n in node.names}
    return sorted(names & (parameters_of(tree.args) | set(bound(tree.body))) - declared(tree))


def _refuse_others(function: Function, names: set[str]) -> None:
    """Of what binds names only assignments are rewritten."""
    for statement in function.tree.body:
        for node in own_nodes(statement):
            name = getattr(node, "id", getattr(node, "name", None))
            if name in names and (not isinstance(node, gast.Name) or _stores(node)):
                message = f"'{function.tree.name}' binds '{name}', a variable of others, other than by an assignment"
                raise CaptureError("D2S1003", message, where=function.where(node), hint="assign to a variable of its own first")


def _stores(node: gast.Name) -> bool:
    return not isinstance(node.ctx, gast.Load)


class _Outer(Rewriter):
    def __init__(self, function: Function, names: set[str]) -> None:
        super().__init__(function)
        self.names = names

    def visit_Global(self, node: gast.stmt) -> list[gast.stmt]:
        return quote("pass", node)

    visit_Nonlocal = visit_Global

    def visit_Assign(self, node: gast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) == 1 and self.meant(target):
            return self.store(target, node.value)
        if not any(map(self.within, node.targets)):
            return node
        behind: list[gast.stmt] = []
        node.targets = [self.kept(target, behind) for target in node.targets]
        return [node, *behind]

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        if not self.meant(node.target):
            return node
        sign = gast.copy_location(gast.Constant(SIGNS[type(node.op).__name__], None), node)
        read = quote_expression(node.target.id, node.target)
        changed = quote_expression("_d2s.changed(read, value, sign)", node, read=read, value=node.value, sign=sign)
        return self.store(node.target, changed)

    def meant(self, target: gast.expr) -> bool:
        return isinstance(target, gast.Name) and target.id in self.names

    def within(self, target: gast.expr) -> bool:
        return any(isinstance(part, gast.Name) and part.id in self.names and _stores(part) for part in walk(target))

    def store(self, target: gast.Name, value: gast.expr) -> list[gast.stmt]:
        return quote("_d2s.assign(value, lambda: name)", target, value=value, name=target.id)

    def kept(self, target: gast.expr, behind: list[gast.stmt]) -> gast.expr:
        """The target with variables of its own, and the stores of these behind it: from left to right, as Python has it."""
        if self.meant(target) or isinstance(target, STORED):
            name = self.function.fresh(f"outer{'_' * len(behind)}_{target.lineno}")
            value = quote_expression(name, target)
            behind += (
                self.store(target, value) if self.meant(target) else [gast.copy_location(gast.Assign([target], value), target)]
            )
            return gast.copy_location(gast.Name(name, gast.Store(), None, None), target)
        if isinstance(target, gast.Starred):
            target.value = self.kept(target.value, behind)
        elif isinstance(target, (gast.Tuple, gast.List)):
            target.elts = [self.kept(part, behind) for part in target.elts]
        return target
