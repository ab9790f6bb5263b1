"""`del` becomes what it does: a variable has no value from here on, an item or an attribute is taken away by the runtime.

In: a function. Out: the same without `del`. A deleted variable is read first, because deleting it a second time is an error;
that each read of it asks from then on whether there is a value, `loads` sees to.

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

import gast

from d2s.ast_transforms.function import Function, Rewriter, mangled
from d2s.ast_transforms.quote import quote
from d2s.ast_transforms.stores import Slices


def transform(function: Function) -> None:
    """Rewrites the `del` statements of `function`."""
    _Deletes(function).generic_visit(function.tree)


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
