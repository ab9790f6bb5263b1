"""PYTHON -> PYTHON: a function is rewritten so that every decision, call and load asks a runtime first.

In: a plain Python function, and the runtime its new text reaches as `_d2s`. Out: `Converted`, with the same meaning as
long as the runtime gives each question Python's own answer. Nothing here knows of tensors.

>>> import operator, types
>>> runtime = types.SimpleNamespace(not_=operator.not_)
>>> converted = convert_function(lambda x: not x, runtime)
>>> print(converted.text.splitlines()[1].strip(), converted.function(0))
return _d2s.not_(x) True
"""

import dataclasses
import types

from d2s.ast_transforms import (
    annotations,
    asserts,
    calls,
    comprehensions,
    definitions,
    deletes,
    exits,
    fence,
    for_loop,
    if_else,
    imports,
    inverted,
    load,
    loads,
    logical,
    match,
    operators,
    outer,
    protect,
    raises,
    returns,
    source,
    stores,
    texts,
    walrus,
    while_loop,
)
from d2s.ast_transforms.function import Function
from d2s.ast_transforms.scopes import bound
from d2s.errors import CaptureError
from d2s.once import once
from d2s.stages import stage

PIPELINE = (
    fence,  # first: refuse before any work, in the user's own text
    imports,  # before the analysis of names: they become assignments
    inverted,  # before all that asks where control goes
    annotations,  # before `if_else`: a nonlocal name may not be annotated
    definitions,  # before the analysis of names: a class is assigned anew
    outer,  # before the analysis of names: a variable of others is none of the function's
    deletes,  # before the analysis of names: a deleted variable is assigned nothing
    asserts,  # before `returns`: it makes `if` statements
    raises,  # behind `asserts`, which raises; before `calls`: what it writes are the runtime's
    match,  # before `exits`: it makes `if` statements
    walrus,  # behind `match` and `asserts`, whose tests may bind names; before `exits`: it makes a `break`
    exits,  # before `returns`: a `return` in a loop becomes one behind it
    stores,  # before `loads`: what is read of a store's target is a load
    returns,  # before `loads`: it moves statements, and the analysis of names wants their last order
    texts,  # before `calls`: what it writes are the runtime's
    operators,  # behind `stores` and `texts`, which take some apart; before `loads`: what `y += x` reads is a load
    loads,  # before `calls`, `logical`: a read inside a lambda is still seen where it stands
    calls,  # before `logical`: only the user's calls are there to wrap
    logical,  # before `if_else`: tests are part of the statement
    comprehensions,  # behind `loads` and `calls`, which do not look into lambdas
    if_else,  # inner before outer, by the analysis made for `loads`
    while_loop,  # its bodies hold the functions of `if_else`
    for_loop,  # its bodies hold the functions of both
    protect,  # last, like `for_loop`: statements of other kinds move with what holds them
)


@dataclasses.dataclass(frozen=True)
class Converted:
    """A rewritten function; `text` is how a person reads it."""

    function: types.FunctionType
    filename: str
    firstlineno: int
    _rewritten: Function = dataclasses.field(repr=False)
    protects: bool = False  # whether it yields inside a `try` or `with`

    @once
    def text(self) -> str:
        return self._rewritten.text()


def convert_function(fn: types.FunctionType, runtime: object, loop: str = "") -> Converted:
    """Rewrites `fn`; every transform reports its result as a stage. `loop`: a generator, turned inside out for one."""
    try:
        return _convert(fn, runtime, loop)
    except RecursionError:
        where = f"{fn.__code__.co_filename}:{fn.__code__.co_firstlineno}"
        hint = "move some of its branches into functions of their own"
        raise CaptureError("D2S1003", f"'{fn.__name__}' is nested too deeply", where=where, hint=hint) from None


def _convert(fn: types.FunctionType, runtime: object, loop: str) -> Converted:
    function = source.read(fn)
    code = fn.__code__
    function.loop, function.variables = loop, {*bound(function.tree.body)} & {*code.co_varnames, *code.co_cellvars}
    stage(f"source:{fn.__name__}", function.text, "py")
    protects = inverted.protects(function)
    for module in PIPELINE:
        module.transform(function)
        stage(f"{module.__name__.rpartition('.')[2]}:{fn.__name__}", function.text, "py")
    return Converted(load.build(function, fn, runtime), code.co_filename, code.co_firstlineno, function, protects)
