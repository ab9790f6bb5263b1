"""`del` becomes what it does: a variable has no value from here on, an item or an attribute is taken away by the runtime.

In: a function. Out: the same without `del`. A deleted variable is read first, because deleting it a second time is an error;
that each read of it asks from then on whether there is a value, `loads` sees to. So it is with the name of a caught exception.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x, y):
...     del x, y[0], y.n''', transform)
def f(x, y):
    x
    x = _d2s.Undefined('x')
    _d2s.delete_item(y, 0)
    _d2s.delete_attribute(y, 'n')
"""

import collections

import gast

from d2s.ast_transforms.function import Function, Rewriter, mangled
from d2s.ast_transforms.quote import quote
from d2s.ast_transforms.stores import Slices
from d2s.ast_transforms.trees import walk


def transform(function: Function) -> None:
    """Rewrites the `del` statements of `function`."""
    _Deletes(function).generic_visit(function.tree)
    function.unbound |= _deleted_by_handlers(function.tree)


def _deleted_by_handlers(tree: gast.AST) -> set[str]:
    """The names of caught exceptions that are read elsewhere than in their handlers, behind which they have no value."""
    handlers = [node for node in walk(tree) if isinstance(node, gast.ExceptHandler) and node.name]
    names = {handler.name.id for handler in handlers}
    reads = collections.Counter(_read(tree, names))
    for handler in handlers:
        reads.subtract(name for name in _read(handler, names) if name == handler.name.id)
    return {name for name, count in reads.items() if count > 0}


def _read(node: gast.AST, names: set[str]) -> list[str]:
    loaded = (n.id for n in walk(node) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
    return [name for name in loaded if name in names]


class _Deletes(Rewriter):
    def visit_Delete(self, node: gast.Delete) -> list[gast.stmt]:
        return [statement for target in node.targets for statement in self.deleted(target)]

    def deleted(self, target: gast.expr) -> list[gast.stmt]:
        if isinstance(target, (gast.Tuple, gast.List)):
            return [statement for part in target.elts for statement in self.deleted(part)]
        if isinstance(target, gast.Subscript):
            key = Slices(self.function).visit(target.slice)
            return quote("_d2s.delete_item(owner, key)", target, owner=target.value, key=key)
        if isinstance(target, gast.Attribute):
            name = gast.copy_location(gast.Constant(mangled(target.attr, self.function.class_name), None), target)
            return quote("_d2s.delete_attribute(owner, name)", target, owner=target.value, name=name)
        self.function.unbound.add(target.id)
        text = gast.copy_location(gast.Constant(target.id, None), target)
        return quote("name\nname = _d2s.Undefined(text)", target, name=target.id, text=text)
