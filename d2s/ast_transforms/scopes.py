"""The one analysis of names: which a statement reads and modifies, which are live after it, which may be unbound.

In: the tree of a function. Out: `Scopes`: its regions (the `if`, `while` and `for` statements that can become functions), each
with the names it has to hand over; the names some load of which may find them unbound; and the names that need a value
from the start, because such a load or a region may meet them unbound.

>>> tree = gast.parse('''
... def f(x):
...     if x > 0:
...         t = x + 1
...         y = t * 2
...     return y''').body[0]
>>> found = analyse(tree)
>>> found.regions[tree.body[0]].names, found.checked, found.undefined
(('y',), frozenset({'y'}), ('y',))

A name that a nested function or generator reads, or rebinds by `nonlocal`, is live everywhere: when it runs is unknown.
A name that a nested function rebinds is modified by every region, for the same reason. A name may be unbound where it is
read if it is live where the function begins.
"""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import gast

from d2s.ast_transforms.trees import parts, walk

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
EXITS = (gast.Return, gast.Raise, gast.Break, gast.Continue)
_PARTLY_EVALUATED = (gast.BoolOp, gast.IfExp, gast.Assert, *COMPREHENSIONS)
Names = frozenset[str]
Handed = dict[gast.stmt, Names]
NONE: Names = frozenset()


@dataclasses.dataclass(frozen=True)
class Region:
    """`names` go in and out by get/set. Per function made of it: the names it shares with the outside (nonlocal), and
    those it begins with but keeps to itself: what an arm or a trip does to them must not reach others (default arguments).
    All other names it modifies are its locals."""

    names: tuple[str, ...]
    shared: tuple[tuple[str, ...], ...]
    own: tuple[tuple[str, ...], ...]


@dataclasses.dataclass(frozen=True)
class Scopes:
    """What `analyse` finds."""

    regions: dict[gast.stmt, Region]
    checked: Names
    undefined: tuple[str, ...]


def analyse(tree: gast.FunctionDef) -> Scopes:
    """The facts about `tree`; nested functions are seen, their statements are not entered."""
    variables, parameters = bound(tree.body), parameters_of(tree.args)
    rebound = sorted({n for node in walk(tree) if isinstance(node, gast.Nonlocal) for n in node.names})
    rebound = [name for name in rebound if name in variables]
    said = _Said()
    flows = _Liveness(tree, said, _captured(tree).union(rebound)).flows
    flows = {node: flow for node, flow in flows.items() if _is_region(node)}
    modified = {node: tuple(dict.fromkeys([*bound(itertools.chain(*_arms(node))), *rebound])) for node in flows}
    carried = {node: flow.carried.intersection(modified[node]) for node, flow in flows.items()}
    handing = _Liveness(tree, said, NONE, carried)  # what regions hand over counts as read where they begin
    needed = handing.at_start.union(*(flow.late for flow in handing.flows.values())) - parameters
    regions: dict[gast.stmt, Region] = {}
    for node, around in _outer_first(tree, flows):
        handed = NONE.union(*(regions[outer].names for outer in around))
        regions[node] = _region(node, flows[node], handing.flows[node], modified[node], needed, handed)
    checked = (_Liveness(tree, said, NONE).at_start - parameters).intersection(variables)
    return Scopes(regions, checked, tuple(name for name in variables if name in needed))


def _outer_first(node: gast.AST, flows: "dict[gast.stmt, _Flow]", around: tuple[gast.stmt, ...] = ()) -> Iterator[Any]:
    """The regions, each with those it stands in."""
    if node in flows:
        yield node, around
        around = (*around, node)
    for child in parts(node):
        yield from _outer_first(child, flows, around)


def _region(
    node: gast.stmt, flow: "_Flow", handing: "_Flow", modified: tuple[str, ...], needed: Names, handed: Names
) -> Region:
    """`handed`: what the regions around it hand over; what it does to these is seen at their ends.

    `handing`: the flow in which what regions in an arm hand over counts as read there, as it was before.
    """
    asked = bound([node.test] if isinstance(node, (gast.If, gast.While)) else [])
    tested = handing.inside.intersection(asked)  # a default argument would miss what the test does to them
    early = (flow.inside & needed) | tested
    names = tuple(name for name in modified if name in flow.carried | early | handed)
    arms = [bound(arm) for arm in _arms(node)]
    shared = tuple(tuple(name for name in arm if name in needed.union(names)) for arm in arms)
    own = tuple(tuple(name for name in arm if name in handing.begun - needed.union(names)) for arm in arms)
    return Region(names, shared, own)


def children(node: gast.AST) -> Iterable[gast.AST]:
    """The parts of `node` evaluated in its own scope: all but the bodies of what is defined in it."""
    if isinstance(node, gast.ClassDef):
        return [*node.decorator_list, *node.bases, *node.keywords]
    if isinstance(node, FUNCTIONS):
        return [*getattr(node, "decorator_list", []), node.args, *filter(None, [getattr(node, "returns", None)])]
    return parts(node)


def own_nodes(node: gast.AST) -> Iterator[gast.AST]:
    """`node` and everything below it in its own scope, in the order of the text."""
    yield node
    for child in children(node):
        yield from own_nodes(child)


def bound(nodes: Iterable[gast.AST]) -> tuple[str, ...]:
    """The names that `nodes` bind, each once, in order of appearance."""
    return tuple(dict.fromkeys(name for node in nodes for name in _names(node, gast.Store)))


def reads(nodes: Iterable[gast.AST]) -> Names:
    """The names that `nodes` load in their own scope."""
    return frozenset(name for node in nodes for name in _names(node, gast.Load))


def targets(node: gast.AST) -> Names:
    """The names that a comprehension has for itself."""
    return frozenset(bound(generator.target for generator in node.generators))


def every_parameter(args: gast.arguments) -> list[gast.Name]:
    """All parameters, in the order Python stores them."""
    return [arg for arg in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg] if arg]


def parameters_of(args: gast.arguments) -> Names:
    """The names of all parameters."""
    return frozenset(arg.id for arg in every_parameter(args))


def ends(statements: list[gast.stmt]) -> int:
    """How many of `statements` control can come to the start of, counting none if it can come to their end."""
    for index, node in enumerate(statements, 1):
        if isinstance(node, EXITS) or (isinstance(node, gast.If) and ends(node.body) and ends(node.orelse)):
            return index
    return 0


def _names(node: gast.AST, context: type, surely: bool = False) -> Iterator[str]:
    if isinstance(node, gast.Name) and isinstance(node.ctx, context):
        yield node.id
    if isinstance(node, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)) and context is gast.Store:
        yield node.name
    if isinstance(node, gast.AugAssign) and isinstance(node.target, gast.Name) and context is gast.Load:
        yield node.target.id
    hidden = NONE
    if isinstance(node, COMPREHENSIONS):
        yield from _names(node.generators[0].iter, context, surely)
        hidden = targets(node)
    chained = isinstance(node, gast.Compare) and len(node.ops) > 1
    if not (surely and (chained or isinstance(node, _PARTLY_EVALUATED))):
        yield from (name for part in children(node) for name in _names(part, context, surely) if name not in hidden)


def _captured(tree: gast.FunctionDef) -> Names:
    kinds = (*FUNCTIONS, gast.GeneratorExp, gast.ClassDef)
    nested = [node for node in walk(tree) if isinstance(node, kinds) and node is not tree]
    return NONE.union(*map(_free, nested))


def _free(node: gast.AST) -> Names:
    if isinstance(node, gast.GeneratorExp):  # what it goes over first is asked for at once
        later = [node.elt, *(part for g in node.generators for part in g.ifs), *(g.iter for g in node.generators[1:])]
        return reads(later) - targets(node)
    if isinstance(node, gast.ClassDef):
        return reads(node.body)
    body = [node.body] if isinstance(node, gast.Lambda) else node.body
    return reads(body).difference(bound(body)) - parameters_of(node.args)


def _arms(node: gast.stmt) -> list[list[gast.AST]]:
    if isinstance(node, gast.If):
        return [node.body, node.orelse]
    if isinstance(node, gast.Try):
        return [node.body, node.handlers, node.orelse, node.finalbody]
    if isinstance(node, gast.With):
        return [[], [*(item.optional_vars for item in node.items if item.optional_vars), *node.body]]
    if isinstance(node, gast.For):
        return [[], [node.target, *(node.body[:-1] if hasattr(node, "stop") else node.body)]]  # not the flag at the end
    return [[node.test], node.body]


def _is_region(node: gast.stmt) -> bool:
    has_else = isinstance(node, (gast.For, gast.While)) and node.orelse
    return not has_else and not any(_escapes(part) for arm in _arms(node) for part in arm)


def _escapes(node: gast.AST, in_loop: bool = False) -> bool:
    """Whether control can leave `node` other than by its end or an exception: no function made of it could do that."""
    if isinstance(node, (gast.For, gast.While)):
        return any(_escapes(s, True) for s in node.body) or any(_escapes(s, in_loop) for s in node.orelse)
    if isinstance(node, (gast.Break, gast.Continue)):
        return not in_loop
    leaves = isinstance(node, (gast.Return, gast.Yield, gast.YieldFrom))  # a function that yields is another generator
    return leaves or any(_escapes(part, in_loop) for part in children(node))


@dataclasses.dataclass(frozen=True)
class _Flow:
    carried: Names  # live where the values of the region are handed over
    inside: Names  # that, and live where an arm begins
    begun: Names  # live where the functions made of its arms are made
    late: Names = NONE  # live where an arm begins, but not there


class _Said(dict[gast.AST, tuple[Names, Names]]):
    """Of each node the names that it surely binds, and those it reads: asked again wherever a loop leads round."""

    def __missing__(self, node: gast.AST) -> tuple[Names, Names]:
        self[node] = found = frozenset(_names(node, gast.Store, True)), reads([node])
        return found


class _Liveness:
    """Backwards over the statements: from the names live after one to those live before it; dead ones are left out.

    `always` is live everywhere; `handed` are names that a statement reads besides those of its text.
    """

    def __init__(self, tree: gast.FunctionDef, said: "_Said", always: Names, handed: Handed | None = None) -> None:
        self.said, self.always, self.handed, self.flows = said, always, handed or {}, dict[gast.stmt, _Flow]()
        self.loops: list[tuple[Names, Names]] = []  # live after, live at the head
        self.at_start = self.block(tree.body, NONE)

    def block(self, statements: list[gast.stmt], live: Names) -> Names:
        for node in reversed(statements[: ends(statements) or None]):
            live = getattr(self, type(node).__name__, self.simple)(node, live | self.always)
            live = live.union(self.handed.get(node, ()))
        return live | self.always

    def simple(self, node: gast.AST, live: Names) -> Names:
        bound, read = self.said[node]
        return live - bound | read

    def Return(self, node: gast.stmt, live: Names) -> Names:
        return self.said[node][1]

    Raise = Return

    def Break(self, node: gast.stmt, live: Names) -> Names:
        return self.loops[-1][isinstance(node, gast.Continue)]

    Continue = Break

    def If(self, node: gast.If, live: Names) -> Names:
        arms = self.block(node.body, live) | self.block(node.orelse, live)
        self.flows[node] = _Flow(live, live | arms, live | arms)
        return self.simple(node.test, arms)

    def While(self, node: gast.While, live: Names) -> Names:
        head, body = self._fixpoint(node, live, lambda body, after: self.simple(node.test, body | after))
        carried = live | head | body.intersection(bound([node.test]))  # the last: from the test to the body
        self.flows[node] = _Flow(carried, carried | body, live | head)
        return head

    def For(self, node: gast.For, live: Names) -> Names:
        own, stop = bound([node.target]), NONE.union([node.stop] if hasattr(node, "stop") else ())
        head, body = self._fixpoint(node, live, lambda body, after: body.difference(own) | after | stop)
        self.flows[node] = _Flow(live | head, live | head | body, live | head)
        return self.simple(node.iter, head)

    def Try(self, node: gast.Try, live: Names) -> Names:
        """Any statement of the body may lead to the handlers; the name of a caught exception is unbound behind its handler."""
        behind, outer = self.block(node.finalbody, live), self.always
        self.always = outer | behind
        handlers = NONE.union(*(self.handler(handler, behind) for handler in node.handlers))
        otherwise = self.block(node.orelse, behind)
        self.always |= handlers
        start = self.block(node.body, otherwise)
        self.always = outer
        carried = live | behind | handlers | otherwise | start
        self.flows[node] = _Flow(carried, carried, start, otherwise - start)
        return start

    def handler(self, node: gast.ExceptHandler, behind: Names) -> Names:
        name = NONE.union([node.name.id] if node.name else [])
        return (self.block(node.body, behind) - name) | (behind & name) | reads([node.type] if node.type else [])

    def With(self, node: gast.With, live: Names) -> Names:
        """An exception that the manager catches leads behind it from anywhere."""
        outer, self.always = self.always, self.always | live
        start = self.block(node.body, live)
        self.always = outer
        carried = live | start
        for item in reversed(node.items):
            start = self.simple(item.context_expr, start.difference(bound([item.optional_vars] if item.optional_vars else [])))
        self.flows[node] = _Flow(carried, carried, start)
        return start | live

    def _fixpoint(self, node: gast.stmt, live: Names, join: Callable[[Names, Names], Names]) -> tuple[Names, Names]:
        after, before, head = self.block(node.orelse, live), None, self.always
        while head != before:
            self.loops.append((live, head))
            body = self.block(node.body, head)
            self.loops.pop()
            before, head = head, join(body, after)
        return head, body
