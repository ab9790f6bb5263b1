"""Comprehensions become functions of their items, so that the runtime can make one for each list that the items may be in.

In: a function whose loads and calls are rewritten. Out: the same with `_d2s.of_items` for comprehensions, `_d2s.of_generator`
for generators; for those with conditions `_d2s.kept` and `_d2s.generated`, which ask of each item whether it is kept.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(parts):
...     return _d2s.made([-n for n in _d2s.iterate(parts)])''', transform)
def f(parts):
    return _d2s.of_items(parts, lambda items_3: [(-n) for n in items_3])
>>> shown('''
... def f(x):
...     return _d2s.made([i for i in _d2s.iterate(x) if i])''', transform)
def f(x):
    return _d2s.kept('list', x, lambda item_3: [(i, lambda : i, False) for
        i in (item_3,)][0])
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote_expression
from d2s.ast_transforms.trees import walk

_KINDS = {gast.ListComp: "list", gast.SetComp: "set", gast.DictComp: "dict", gast.GeneratorExp: ""}


def transform(function: Function) -> None:
    """Rewrites the comprehensions of `function`; one that binds a name outside of itself stays as it is."""
    _Comprehensions(function).generic_visit(function.tree)


class _Comprehensions(Rewriter):
    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        self.generic_visit(node)  # those that other transforms have made
        return node

    def visit_Call(self, node: gast.Call) -> gast.expr:
        self.generic_visit(node)
        made: Any = node.args[0] if node.args else None
        if isinstance(made, gast.Call) and _called(node) == "_d2s.call(next)" and _called(made) == "_d2s.generated":
            made.args.append(gast.copy_location(gast.Constant(True, None), made))
        if not isinstance(node.func, gast.Attribute) or node.func.attr != "made" or type(made) not in _KINDS:
            return node
        bound = {inner.target.id for inner in walk(made) if isinstance(inner, gast.NamedExpr)}
        if not all(_asks(generator.iter) for generator in made.generators) or self.seen_outside(bound, made):
            return node
        if any(generator.ifs for generator in made.generators) or any(map(_counts, made.generators[1:])):
            return self.of_kept(node, made)
        if bound:
            return node
        function = "of_generator" if isinstance(made, gast.GeneratorExp) else "of_items"
        items = self.function.fresh(f"items_{node.lineno}")
        iterable, made.generators[0].iter = made.generators[0].iter.args[0], quote_expression(items, node)
        return quote_expression(f"_d2s.{function}(x, lambda one: y)", node, x=iterable, one=items, y=made)

    def seen_outside(self, names: set[str], made: gast.expr) -> bool:
        """Whether a name that a comprehension binds in the function around it is read elsewhere."""
        inside = set(walk(made))
        reads = (n for n in walk(self.function.tree) if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load))
        return any(read.id in names and read not in inside for read in reads)

    def of_kept(self, node: gast.expr, made: gast.expr) -> gast.expr:
        kind = _KINDS[type(made)]
        text = f"_d2s.kept({kind!r}, x, over)" if kind else "_d2s.generated(x, over)"
        element = made.elt if kind != "dict" else quote_expression("(key, value)", made, key=made.key, value=made.value)
        return quote_expression(text, node, x=made.generators[0].iter.args[0], over=self.over(made.generators, element, node))

    def over(self, generators: list[gast.comprehension], element: gast.expr, node: gast.expr) -> gast.expr:
        """A function of an item: whether it is kept, what stands for it, and whether that is iterated in turn."""
        first, *others = generators
        if others:
            inner = self.over(others, element, node)
            element = quote_expression("(x, over)", node, x=others[0].iter.args[0], over=inner)
        test = first.ifs[0] if first.ifs else gast.copy_location(gast.Constant(True, None), node)
        if first.ifs[1:]:
            test = quote_expression("_d2s.both()", node)
            test.args = [quote_expression("lambda: test", part, test=part) for part in first.ifs]
        text = f"lambda item: [(test, lambda: element, {bool(others)}) for target in (item,)][0]"
        item = self.function.fresh(f"item_{node.lineno}" + "_" * len(others))
        return quote_expression(text, node, item=item, test=test, element=element, target=first.target)


def _asks(iterable: gast.expr) -> bool:
    return isinstance(iterable, gast.Call) and _called(iterable) == "_d2s.iterate"


def _counts(generator: gast.comprehension) -> bool:
    """Whether it goes over a `range`, whose end may be an item of the one before."""
    over: Any = generator.iter
    return isinstance(over.args[0], gast.Call) and _called(over.args[0]) == "_d2s.call(range)"


def _called(call: gast.Call) -> str:
    return gast.unparse(call.func)
