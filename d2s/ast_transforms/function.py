"""What the transforms hand from one to the next, and the walk most of them share.

In: a tree with its file and class. Out: the same, rewritten in place; `text` is how a person reads it.

>>> shown('''
... def f(x):
...     return x''', lambda function: None)
def f(x):
    return x
"""

import ast
import contextlib
import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import gast

from d2s.ast_transforms.quote import quote, quote_expression
from d2s.ast_transforms.scopes import Scopes, analyse
from d2s.ast_transforms.trees import Transformer, walk
from d2s.once import once
from d2s.parsing import tree_of

with warnings.catch_warnings():  # astor 0.8.1 looks at names that Python 3.12 calls old
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor

_STATE = """
def get():
    return state
def set(values):
    nonlocal state
    state = values
"""


@dataclasses.dataclass
class Function:
    """One function on its way through the pipeline; `class_name` is the class whose privacy (`__k`) it shares."""

    tree: gast.FunctionDef
    filename: str
    class_name: str | None = None
    imported: tuple[str, ...] = ()  # names the module imports: methods of these Python calls in another way
    loop: str = ""  # a generator that is run by a loop: "leaving" if that may be left early, else "staying"
    regions_made: set[str] = dataclasses.field(default_factory=set)  # names of functions that transforms have made
    unbound: set[str] = dataclasses.field(default_factory=set)  # variables that may have no value
    variables: set[str] = dataclasses.field(default_factory=set)  # its own, also those only unreached code binds

    @once
    def scopes(self) -> Scopes:
        """The analysis, made when a transform first asks: the later ones change no statement it speaks of."""
        return analyse(self.tree)

    @once
    def _taken(self) -> set[str]:
        return {getattr(node, field) for node in walk(self.tree) for field in ("id", "name") if hasattr(node, field)}

    def fresh(self, name: str) -> str:
        """`name`, or something close to it that the user does not use."""
        while name in self._taken:
            name += "_"
        return name

    def region(self, template: str, node: gast.stmt, *made: str, **parts: Any) -> list[gast.stmt]:
        """`template` for a region: the functions it makes are named after the line, `state` are the region's names."""
        region = self.scopes.regions[node]
        parts |= {name: self.fresh(f"{name}_{node.lineno}") for name in (*made, "get", "set")}
        self.regions_made.update(of for of in parts.values() if isinstance(of, str))
        parts |= {"values": self.fresh("values"), "state": region.names, "question": getattr(node, "test", None)}
        for kind, names in (("shared", region.shared), ("own", region.own)):
            parts |= {f"{kind}_{n}": of for n, of in enumerate(names)}
        parts["names"] = quote_expression(repr(region.names), node)
        return quote(template.replace("STATE\n", _STATE), node, **parts)

    def where(self, node: gast.AST) -> str:
        """The user's line, for a complaint."""
        return f"{self.filename}:{node.lineno}"

    def text(self) -> str:
        """The function as Python text: astor's, or that of `ast` where astor's reads back as something else."""
        tree = gast.gast_to_ast(self.tree)
        with warnings.catch_warnings(), contextlib.suppress(SyntaxError):
            warnings.simplefilter("ignore", DeprecationWarning)
            text = astor.to_source(tree)
            if ast.dump(tree_of(text).body[0]) == ast.dump(tree):
                return text
        return ast.unparse(tree) + "\n"


class Rewriter(Transformer):
    """Visits what the function evaluates itself; of what is defined in it that is decorators, defaults and base classes."""

    def __init__(self, function: Function) -> None:
        self.function = function

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        node.args.defaults = [self.visit(default) for default in node.args.defaults]
        node.args.kw_defaults = [default and self.visit(default) for default in node.args.kw_defaults]
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        return self.visit_Lambda(node)

    def visit_ClassDef(self, node: gast.ClassDef) -> Any:
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.bases = [self.visit(base) for base in node.bases]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node


def mangled(name: str, class_name: str | None) -> str:
    """A private name of a class as Python spells it elsewhere."""
    class_name = (class_name or "").lstrip("_")
    return f"_{class_name}{name}" if class_name and name.startswith("__") and not name.endswith("__") else name


def shown(text: str, transform: Callable[[Function], None]) -> None:
    """Prints what one transform makes of a text: the before -> after of the docstrings."""
    function = Function(gast.parse(text).body[0], "<text>")
    transform(function)
    print(function.text().rstrip())
