"""What cannot become part of a graph yet is refused here, at the user's line, before anything is rewritten.

In: a function. Out: nothing, or a CaptureError.

>>> from d2s.ast_transforms.function import shown
>>> shown('''
... def f(x):
...     class K:
...         print("K")''', transform)
Traceback (most recent call last):
d2s.errors.CaptureError: [D2S1003] 'f' holds a class that does more than define: that would be done at capture only
  at <text>:3
  way out: define the class outside
"""

import itertools

import gast

from d2s.ast_transforms.function import Function
from d2s.ast_transforms.scopes import own_nodes
from d2s.ast_transforms.stores import stored
from d2s.ast_transforms.trees import walk
from d2s.errors import CaptureError

_ASYNC = ("`async` part", "an event loop would decide when it goes on", "await outside and pass the result in")
_YIELD = ("`yield` inside an expression", "it may be evaluated or not", "assign its value to a variable first")
_REFUSED = {
    "AsyncFunctionDef": _ASYNC,
    "Yield": _YIELD,
    "YieldFrom": _YIELD,
    "With": ("`with` around a `yield`", "a graph cannot stop half way", "yield behind it"),
    "Try": ("`try` around a `yield`", "a graph cannot stop half way", "yield behind it"),
    "TryStar": ("`except*`", "a graph cannot split exceptions", "use `except`"),
    "ClassDef": ("class that does more than define", "that would be done at capture only", "define the class outside"),
    "TypeAlias": ("`type` statement", "it would run at capture only", "move it to the top of the file"),
    "Attribute": ("store to an attribute", "only an assignment may store there", "assign to a variable first"),
    "Subscript": ("store to an item", "only an assignment may store there", "assign to a variable first"),
    "Call": ("look at its own frame", "its variables are spread over several functions", "name the variables you need"),
    "Name": ("variable '_d2s'", "rewritten code uses that name", "rename the variable"),
    "comprehension": _ASYNC,
}

_HARMLESS = {
    "Attribute": lambda node: isinstance(node.ctx, gast.Load),
    "Subscript": lambda node: isinstance(node.ctx, gast.Load),
    "Call": lambda node: not _looks_at_frame(node),
    "Name": lambda node: node.id != "_d2s",
    "comprehension": lambda node: not node.is_async,
    "With": lambda node: not _yields(node),
    "Try": lambda node: not _yields(node),
    "ClassDef": lambda node: all(map(_defines, node.body)),
}
_IN_A_LOOP = ("With", "Try")  # of a generator that is turned inside out


def transform(function: Function) -> None:
    """Raises for the first statement or expression of `function` that is beyond the fence."""
    assigned: set[gast.AST] = set()  # or a whole statement: these may stand there
    for node in itertools.chain([function.tree], *map(own_nodes, function.tree.body)):
        kind = type(node).__name__
        if kind in ("Assign", "AugAssign", "AnnAssign"):
            assigned.update(part for t in (node.targets if kind == "Assign" else [node.target]) for part in stored(t))
        if kind == "Delete":
            assigned.update(part for target in node.targets for part in stored(target))
        if kind in ("Expr", "Assign", "Return") and isinstance(node.value, (gast.Yield, gast.YieldFrom)):
            assigned.add(node.value)
        if kind in _REFUSED and node not in assigned and not _harmless(function, node):
            what, why, way_out = _REFUSED[kind]
            where = function.where(node.target if isinstance(node, gast.comprehension) else node)
            message = f"'{function.tree.name}' holds a {what}: {why}"
            raise CaptureError("D2S1003", message, where=where, hint=way_out)


def _harmless(function: Function, node: gast.AST) -> bool:
    kind = type(node).__name__
    return (function.loop and kind in _IN_A_LOOP) or (kind in _HARMLESS and _HARMLESS[kind](node))


def _yields(node: gast.AST) -> bool:
    return any(isinstance(inner, (gast.Yield, gast.YieldFrom)) for inner in own_nodes(node))


def _defines(node: gast.stmt) -> bool:
    """Whether a statement of a class gives a name a method or a value that is there already, and does nothing else."""
    if isinstance(node, (gast.FunctionDef, gast.Pass)):
        return all(isinstance(decorator, (gast.Name, gast.Attribute)) for decorator in getattr(node, "decorator_list", ()))
    if isinstance(node, gast.Expr):
        return isinstance(node.value, gast.Constant)
    targets = node.targets if isinstance(node, gast.Assign) else [node.target] if isinstance(node, gast.AnnAssign) else []
    return bool(targets) and all(isinstance(t, gast.Name) for t in targets) and (node.value is None or _is_known(node.value))


def _is_known(node: gast.expr) -> bool:
    inner = list(walk(node))
    called = [n.func for n in inner if isinstance(n, gast.Call)]
    read = [n for n in inner if isinstance(n, (gast.Attribute, gast.Subscript)) and n not in called]
    names = [getattr(f, "attr", getattr(f, "id", "")) for f in called]
    return not read and not any(isinstance(n, _ASKING) for n in inner) and set(names) <= _OF_CLASSES


_ASKING = (gast.Await, gast.BinOp, gast.Compare, gast.BoolOp, gast.IfExp, gast.NamedExpr, gast.comprehension, gast.JoinedStr)
_OF_CLASSES = {"field", "auto"}  # functions that say something of an attribute


def _looks_at_frame(node: gast.Call) -> bool:
    name = node.func.id if isinstance(node.func, gast.Name) else ""
    return name in ("locals", "globals", "eval", "exec") or (name in ("vars", "dir") and not node.args)
