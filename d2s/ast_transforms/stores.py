"""Stores into items and attributes go through the runtime, which knows whether the object may be changed.

In: a function. Out: the same with a call for each such store: the value first, then what is stored into, as Python has it. The
runtime is asked what is taken apart, too.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x, y):
...     x[0] = y
...     x.n += 1
...     a, x[1:] = y''', transform)
def f(x, y):
    _d2s.set_item(y, x, 0)
    owner_4 = x
    _d2s.set_attribute(_d2s.changed(owner_4.n, 1, '+'), owner_4, 'n')
    a, part_5 = _d2s.taken_into(y, 2)
    _d2s.set_item(part_5, x, slice(1, None, None))
"""

from typing import Any

import gast

from d2s.ast_transforms.function import Function, Rewriter, mangled
from d2s.ast_transforms.quote import quote, quote_expression

SIGNS = {"Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**"}
SIGNS |= {"LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^"}
TAKEN_APART = (gast.Tuple, gast.List)
STORED = (gast.Attribute, gast.Subscript)


def transform(function: Function) -> None:
    """Rewrites the stores of `function`."""
    _Stores(function).generic_visit(function.tree)


class Slices(Rewriter):
    """Writes `slice(a, b, c)` for `a:b:c`."""

    def visit_Slice(self, node: gast.Slice) -> gast.expr:
        self.generic_visit(node)
        none = gast.copy_location(gast.Constant(None, None), node)
        parts = {name: getattr(node, name) or none for name in ("lower", "upper", "step")}
        return quote_expression("slice(lower, upper, step)", node, slice=self.function.fresh("slice"), **parts)


class _Stores(Rewriter):
    def visit_Assign(self, node: gast.Assign) -> Any:
        apart = all(isinstance(target, TAKEN_APART) for target in node.targets)
        if apart and not (_is_plain(node.value) and all(map(_is_flat, node.targets))):
            node.value = taken_into(node.targets, node.value)
        inner = [part for target in node.targets for part in stored(target)]
        if not inner:
            return node
        if len(node.targets) == 1 and node.targets[0] in inner:
            return self.store(node.targets[0], node.value)
        behind: list[gast.stmt] = []
        names = iter(self.function.fresh(f"part{'_' * k}_{node.lineno}") for k in range(len(inner)))
        node.targets = [self.named(target, names, behind) for target in node.targets]
        return [node, *behind]

    def named(self, target: gast.expr, names: Any, behind: list[gast.stmt]) -> gast.expr:
        """The target with names for what is stored into, and the stores of these."""
        if isinstance(target, STORED):
            name = next(names)
            behind += self.store(target, quote_expression(name, target))
            return gast.copy_location(gast.Name(name, gast.Store(), None, None), target)
        if isinstance(target, gast.Starred):
            target.value = self.named(target.value, names, behind)
        elif isinstance(target, TAKEN_APART):
            target.elts = [self.named(part, names, behind) for part in target.elts]
        return target

    def store(self, target: gast.expr, value: gast.expr) -> list[gast.stmt]:
        parts = {"value": value, "owner": target.value}
        if isinstance(target, gast.Attribute):
            name = gast.copy_location(gast.Constant(mangled(target.attr, self.function.class_name), None), target)
            return quote("_d2s.set_attribute(value, owner, name)", target, name=name, **parts)
        key = Slices(self.function).visit(target.slice)
        return quote("_d2s.set_item(value, owner, key)", target, key=key, **parts)

    def visit_AugAssign(self, node: gast.AugAssign) -> Any:
        """`x[i] += v`: what is stored into is evaluated once, and read before the value."""
        target = node.target
        if not isinstance(target, STORED):
            return node
        owner, key = (self.function.fresh(f"{name}_{node.lineno}") for name in ("owner", "key"))
        before = quote("owner = x", node, owner=owner, x=target.value)
        target.value = quote_expression(owner, target)
        if isinstance(target, gast.Subscript):
            before += quote("key = k", node, key=key, k=Slices(self.function).visit(target.slice))
            target.slice = quote_expression(key, target)
        read = gast.copy_location(type(target)(*(getattr(target, f) for f in target._fields[:-1]), gast.Load()), target)
        sign = gast.copy_location(gast.Constant(SIGNS[type(node.op).__name__], None), node)
        changed = quote_expression("_d2s.changed(read, value, sign)", node, read=read, value=node.value, sign=sign)
        return [*before, *self.store(target, changed)]


def taken_into(targets: list[gast.expr], value: gast.expr) -> gast.expr:
    """What the runtime makes of a value that is taken apart: as many parts as one target has, a star's in a list of its own."""
    if len(targets) > 1:
        return quote_expression("_d2s.spread(x)", value, x=value)
    return quote_expression(f"_d2s.taken_into(x, {', '.join(map(repr, _counts(targets[0])))})", value, x=value)


def _is_plain(value: Any) -> bool:
    """Whether its parts can be counted in the text."""
    return isinstance(value, TAKEN_APART) and not any(isinstance(part, gast.Starred) for part in value.elts)


def _is_flat(target: Any) -> bool:
    return not any(isinstance(part, TAKEN_APART) for part in target.elts)


def _counts(target: Any) -> tuple[Any, ...]:
    """How many targets there are, or how many before and behind a star, which is taken off; then those of targets inside."""
    parts = target.elts
    star = next((k for k, part in enumerate(parts) if isinstance(part, gast.Starred)), None)
    counts = (len(parts), None) if star is None else (star, len(parts) - star - 1)
    if star is not None:
        parts[star] = parts[star].value
    inside = tuple((k, _counts(part)) for k, part in enumerate(parts) if k != star and isinstance(part, TAKEN_APART))
    return (*counts, inside) if inside else counts if star is not None else counts[:1]


def stored(target: gast.expr) -> list[gast.expr]:
    """The items and attributes that an assignment to `target` stores into."""
    if isinstance(target, STORED):
        return [target]
    if isinstance(target, gast.Starred):
        return stored(target.value)
    return [part for inner in target.elts for part in stored(inner)] if isinstance(target, TAKEN_APART) else []
