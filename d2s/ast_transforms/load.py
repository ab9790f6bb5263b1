"""From a rewritten tree back to a function that stands where the user's stood.

In: a `Function`, the user's function it came from, the runtime. Out: a function with the user's globals, defaults,
closure cells, file name and line numbers. What the rewritten code needs (`_d2s`, the builtin `slice`) enters as closure
cells, so the user's globals stay as they are.

>>> function = Function(gast.parse("def f(x): return _d2s + x").body[0], "<text>")
>>> build(function, lambda x=1: x, 41)()
42
"""

import __future__

import ast
import inspect
import sys
import types
import weakref
from typing import Any

import gast

from d2s.ast_transforms.function import Function
from d2s.ast_transforms.quote import quote

_FUTURES = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})
_KEPT = ("__kwdefaults__", "__qualname__", "__annotations__", "__module__", "__doc__")
_rewritten: "weakref.WeakValueDictionary[int, types.CodeType]" = weakref.WeakValueDictionary()
_TEMPLATE = """
IMPORTS
def factory(free):
    global outside
    class scope:
        definition
"""


def build(function: Function, fn: types.FunctionType, runtime: object) -> types.FunctionType:
    """The rewritten function, in the place of `fn`."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))
    cells |= {"_d2s": types.CellType(runtime), function.fresh("slice"): types.CellType(slice)}
    code = _compile(function, tuple(cells), fn.__code__.co_flags & _FUTURES).replace(co_name=fn.__code__.co_name)
    code = _called_as_the_users(code, f"{fn.__qualname__}.<locals>.", function.regions_made)
    closure = tuple(cells.get(name, types.CellType()) for name in code.co_freevars)
    _note_rewritten(code)
    built = types.FunctionType(code, fn.__globals__, fn.__name__, fn.__defaults__, closure)
    for name in _KEPT:
        setattr(built, name, getattr(fn, name))
    built.__dict__.update(fn.__dict__)
    return built


def is_rewritten(code: types.CodeType) -> bool:
    """Whether code is part of a rewritten function: what runs it was made while that ran."""
    return _rewritten.get(id(code)) is code


def _note_rewritten(code: types.CodeType) -> None:
    _rewritten[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            _note_rewritten(constant)


def _called_as_the_users(code: Any, prefix: str, made: set[str]) -> Any:
    """The same with the user's names for what is defined in it: messages of Python's say them."""
    constants = list(code.co_consts)
    for k, inner in enumerate(constants):
        if isinstance(inner, types.CodeType):
            name, of_class = inner.co_name, not inner.co_flags & inspect.CO_OPTIMIZED
            inside = prefix if name in made else f"{prefix}{name}." if of_class else f"{prefix}{name}.<locals>."
            found = _called_as_the_users(inner, inside, made)
            if of_class:
                found = found.replace(co_consts=tuple(_called(one, prefix, name) for one in found.co_consts))
            constants[k] = found.replace(co_qualname=prefix + name) if sys.version_info >= (3, 11) else found
            constants = [_called(one, prefix, name) if sys.version_info < (3, 11) else one for one in constants]
    return code.replace(co_consts=tuple(constants))


def _called(constant: Any, prefix: str, name: str) -> Any:
    """The user's name for what Python calls so where it is defined now; any other constant as it is."""
    around = prefix[:-1].rpartition(".")[2]
    return prefix + name if type(constant) is str and constant.endswith(f".{around}.{name}") else constant


def _compile(function: Function, names: tuple[str, ...], flags: int) -> types.CodeType:
    """The code of `function` alone, made inside its class (for `__k` and `super`) inside a function (for closures).

    The class must not hide a global of the same name; underscores only as the name of a class make nothing private. Python
    compiles `module.name()` in a way of its own where it sees the import, and what is nested here must be known by its code.
    """
    scope, free = function.class_name or function.fresh("_"), tuple(name for name in names if name != "__class__")
    parts = {"factory": "_d2s_factory", "free": free, "scope": scope, "definition": [function.tree]}
    parts["outside"] = () if scope in free else (scope,)
    imports = f"import {', '.join(function.imported)}" if function.imported else ""
    module = gast.Module(quote(_TEMPLATE.replace("IMPORTS", imports), function.tree, **parts), [])
    tree = ast.fix_missing_locations(gast.gast_to_ast(module))
    code = compile(tree, function.filename, "exec", flags, dont_inherit=True)
    for _ in ("the factory", "the class", "the function"):
        code = next(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return code
