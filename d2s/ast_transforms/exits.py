"""`break`, `continue` and `return` in loops, and `else` behind them: flags, so that every loop ends at its head.

In: a function. Out: the same with loops that are left only where they ask for the next trip: by the test of a `while`, or by
the flag at the end of a `for`, whose name it has as `stop`. What a `return` in a loop gives is kept, and returned behind it.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     while x > 0:
...         if x > 9:
...             return x
...         if x < 5:
...             break
...         x = x - 1
...     else:
...         x = 0
...     return -x''', transform)
def f(x):
    left_3 = False
    result_3 = _d2s.Undefined('return')
    while not left_3 and x > 0:
        if x > 9:
            result_3 = x
            left_3 = True
        elif x < 5:
            left_3 = True
        else:
            x = x - 1
    if not left_3:
        x = 0
    if _d2s.defined(result_3):
        return result_3
    return -x
"""

import copy

import gast

from d2s.ast_transforms.function import Function, Rewriter
from d2s.ast_transforms.quote import quote, quote_expression

_FINISHED = """
try:
    inner
except BaseException:
    finish
    if not left:
        raise
else:
    again
"""


def transform(function: Function) -> None:
    """Rewrites the loops of `function` that are left early or have an `else`, and what leaves a `try`; inner before outer."""
    _Exits(function).generic_visit(function.tree)


class _Exits(Rewriter):
    def visit_While(self, node: gast.While) -> list[gast.stmt]:
        self.generic_visit(node)
        exits = _Leaving(self.function, node)
        node.body = exits.block(node.body) or quote("pass", node)
        if exits.leaves:
            node.test = quote_expression("not left and test", node.test, left=exits.left, test=node.test)
            node.stop = exits.left
        return exits.around(node)

    def visit_For(self, node: gast.For) -> list[gast.stmt]:
        self.generic_visit(node)
        exits = _Leaving(self.function, node)
        node.body = exits.block(node.body) or quote("pass", node)
        if exits.leaves:
            node.stop = exits.left
            node.body += quote("if left:\n    break", node, left=exits.left)  # the last: else one item too many were taken
        return exits.around(node)

    def visit_Try(self, node: gast.Try) -> list[gast.stmt]:
        self.generic_visit(node)
        exits = _LeavingProtected(self.function, node)
        node.body = exits.block(node.body) or quote("pass", node)
        for handler in node.handlers:
            handler.body = exits.block(handler.body) or quote("pass", node)
        node.orelse = exits.block(node.orelse)
        if node.orelse and exits.leaves:
            node.orelse = quote("if not left:\n    otherwise", node.orelse[0], left=exits.left, otherwise=node.orelse)
        return self.finished(node, exits)

    def finished(self, node: gast.Try, exits: "_LeavingProtected") -> list[gast.stmt]:
        """What leaves the `finally` goes before what left the rest, and what was raised is forgotten: that is caught then."""
        last = _LeavingProtected(self.function, node.finalbody[0] if node.finalbody else node)
        node.finalbody = last.block(node.finalbody) or ([gast.copy_location(gast.Pass(), node)] if node.finalbody else [])
        before, behind = exits.sides()
        if last.leaves:
            inner = [node] if node.handlers else node.body
            parts = {"inner": inner, "finish": node.finalbody, "again": copy.deepcopy(node.finalbody), "left": last.left}
            node.finalbody = []
            outside, behind_all = last.sides()
            return [*outside, *before, *quote(_FINISHED, node, **parts), *behind_all, *behind]
        return [*before, node, *behind]

    def visit_With(self, node: gast.With) -> list[gast.stmt]:
        """Of several managers each gets a statement of its own."""
        *outer, last = node.items
        node.items = [last]
        self.generic_visit(node)
        exits = _LeavingProtected(self.function, node)
        node.body = exits.block(node.body) or quote("pass", node)
        for item in reversed(outer):
            node = gast.copy_location(gast.With([item], [node], None), node)
        return exits.around(node)


class _Leaving:
    """One loop: its flags, as far as it needs them."""

    def __init__(self, function: Function, loop: gast.stmt) -> None:
        self.function, self.loop = function, loop
        self.left, self.result = (function.fresh(f"{name}_{loop.lineno}") for name in ("left", "result"))
        self.leaves = self.returns = False
        self.skips = 0

    def block(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        """`statements` as the end of a trip: no exit is left in them."""
        for index, node in enumerate(statements):
            done = statements[:index]
            if isinstance(node, (gast.Break, gast.Continue, gast.Return)):
                return done + self.exit(node)
            if isinstance(node, gast.Raise):
                return [*done, node]
            if isinstance(node, gast.If) and _exits(node):
                return done + self.branch(node, statements[index + 1 :])
        return statements

    def exit(self, node: gast.stmt) -> list[gast.stmt]:
        """What an exit sets."""
        if isinstance(node, gast.Continue):
            return []
        self.leaves = True
        found = quote("left = True", node, left=self.left)
        if isinstance(node, gast.Return):
            self.returns = True
            value = node.value or gast.copy_location(gast.Constant(None, None), node)
            found = quote("result = value", node, result=self.result, value=value) + found
        return found

    def branch(self, node: gast.If, rest: list[gast.stmt]) -> list[gast.stmt]:
        """An `if` with exits: what follows it moves into the arm that goes on, or stands under a flag if both may."""
        ends = [_surely_exits(arm) for arm in (node.body, node.orelse)]
        if not rest or any(ends):
            node.body = self.arm(node, node.body + ([] if ends[0] else rest))
            node.orelse = self.block(node.orelse + ([] if ends[1] else rest))
            return [node]
        self.skips += 1
        skipped = self.function.fresh(f"skip_{self.skips}_{self.loop.lineno}")
        _mark(node, quote("skipped = True", node, skipped=skipped))
        node.body, node.orelse = self.arm(node, node.body), self.block(node.orelse)
        start = quote("skipped = False", node, skipped=skipped)
        return [*start, node, *quote("if not skipped:\n    rest", rest[0], skipped=skipped, rest=self.arm(node, rest))]

    def arm(self, node: gast.If, statements: list[gast.stmt]) -> list[gast.stmt]:
        """The same, where Python wants at least one statement."""
        return self.block(statements) or quote("pass", node)

    def around(self, node: gast.stmt) -> list[gast.stmt]:
        """The loop between what its flags start as and what they lead to."""
        before: list[gast.stmt] = []
        behind: list[gast.stmt] = []
        otherwise = node.orelse
        node.orelse = []
        if self.leaves:
            before = quote("left = False", node, left=self.left)
        if otherwise:
            unless = quote("if not left:\n    otherwise", otherwise[0], left=self.left, otherwise=otherwise)
            behind += unless if self.leaves else otherwise
        if self.returns:
            before += quote("result = _d2s.Undefined('return')", node, result=self.result)
            behind += quote("if _d2s.defined(result):\n    return result", node, result=self.result)
        return [*before, node, *behind]


class _LeavingProtected(_Leaving):
    """One `try` or `with`: what leaves it is done behind it."""

    def __init__(self, function: Function, node: gast.stmt) -> None:
        super().__init__(function, node)
        self.jumps: dict[type, str] = {}

    def exit(self, node: gast.stmt) -> list[gast.stmt]:
        if isinstance(node, gast.Return):
            return super().exit(node)
        self.leaves = True
        name = f"{type(node).__name__.lower()}_{self.loop.lineno}"
        flag = self.jumps.setdefault(type(node), self.function.fresh(name))
        return quote("flag = left = True", node, flag=flag, left=self.left)

    def around(self, node: gast.stmt) -> list[gast.stmt]:
        before, behind = self.sides()
        return [*before, node, *behind]

    def sides(self) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """What stands in front of the statement, and what behind it."""
        node = self.loop
        before = quote("left = False", node, left=self.left) if self.leaves else []
        behind = []
        for kind, flag in self.jumps.items():
            before += quote("flag = False", node, flag=flag)
            behind += quote(f"if flag:\n    {kind.__name__.lower()}", node, flag=flag)
        if self.returns:
            before += quote("result = _d2s.Undefined('return')", node, result=self.result)
            behind += quote("if _d2s.defined(result):\n    return result", node, result=self.result)
        return before, behind


def _exits(node: gast.stmt) -> bool:
    """Whether an `if` holds an exit of the loop around it."""
    inner = [*node.body, *node.orelse]
    return any(isinstance(n, (gast.Break, gast.Continue, gast.Return)) or (isinstance(n, gast.If) and _exits(n)) for n in inner)


def _surely_exits(statements: list[gast.stmt]) -> bool:
    """Whether control never comes to the end of `statements`."""
    for node in statements:
        if isinstance(node, (gast.Break, gast.Continue, gast.Return, gast.Raise)):
            return True
        if isinstance(node, gast.If) and _surely_exits(node.body) and _surely_exits(node.orelse):
            return True
    return False


def _mark(node: gast.If, flag: list[gast.stmt]) -> None:
    """Puts `flag` in front of every exit in an `if`."""
    for arm in (node.body, node.orelse):
        for index, inner in reversed(list(enumerate(arm))):
            if isinstance(inner, (gast.Break, gast.Continue, gast.Return)):
                arm[index:index] = flag
            elif isinstance(inner, gast.If):
                _mark(inner, flag)
