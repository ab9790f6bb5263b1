"""Names of modules and of outer functions: what a function reads of them is guarded, what it assigns is written by each call.

>>> def counter():
...     n = 0
...     def count():
...         assign(n + 1, lambda: n)
...         return n
...     return count
>>> counter()()
1
"""

import dis
import functools
import types
from collections.abc import Callable
from typing import Any

from d2s.ast_transforms.load import is_rewritten
from d2s.capture.guards import Source
from d2s.capture.symbolic import Tracer, capturing
from d2s.capture.variables import Holder, Variable, found_in, guard_key, place_key, put_in

_GLOBAL = ("LOAD_GLOBAL", "LOAD_NAME")
_OUTER = ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF")


def guard_names(tracer: Tracer, function: types.FunctionType) -> None:
    """The globals and the closure a function reads become part of what the capture depends on."""
    scope, code = function.__globals__, function.__code__
    where = f"{code.co_filename}:{code.co_firstlineno}"
    made_here = is_rewritten(code)  # its variables are the capture's own, or guarded where it was made
    if not made_here:
        tracer.guard((id(function), "code"), f"'{function.__name__}'", lambda: function, source=("value", function, None))
    for name in _loaded(code, _GLOBAL):
        source = "item" if name in scope else "found", scope, name
        _guard(tracer, guard_key(scope, name), scope, name, where, source)
    read = _loaded(code, _OUTER)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        if name in read and not made_here:
            _guard(tracer, guard_key(cell, name), cell, name, where, ("attribute", cell, "cell_contents"))


def _guard(tracer: Tracer, key: Any, holder: Holder, name: str, where: str, source: Source) -> None:
    if key in tracer.root.lifts:
        return
    variable: Any = tracer.root.heap.places.get(place_key(holder, name))
    if variable is None:
        tracer.guard(key, name, functools.partial(found_in, holder, name), where, source)
    elif not variable.inside:
        with variable.as_before():
            tracer.guard(key, name, functools.partial(found_in, holder, name), where, source)
        variable.ask()


def assign(value: Any, variable: Callable[[], Any]) -> None:
    """`variable = value`, of the variable that a function reads."""
    holder, name = _meant(variable)
    tracer = capturing()
    if tracer is None:
        put_in(holder, name, value)
        return
    root = tracer.root
    place: Any = root.heap.place(place_key(holder, name), lambda: Variable(holder, name))
    if guard_key(holder, name) in root.guards and not place.asked:
        place.ask()
    root.heap.set(place, value)


def own(variable: Callable[[], Any]) -> None:
    """Says that a variable which functions nested in this one assign is made here."""
    holder, name = _meant(variable)
    tracer = capturing()
    if tracer:
        heap = tracer.root.heap
        heap.place(place_key(holder, name), lambda: Variable(holder, name, heap.here(), inside=True))


def _meant(variable: Callable[[], Any]) -> tuple[Holder, str]:
    """Where the variable is that a function reads, and its name."""
    cells, code = variable.__closure__, variable.__code__  # type: ignore[attr-defined]
    return (cells[0], code.co_freevars[0]) if cells else (variable.__globals__, code.co_names[0])  # type: ignore[attr-defined]


@functools.lru_cache(maxsize=1024)
def _loaded(code: types.CodeType, instructions: tuple[str, ...]) -> frozenset[str]:
    """The names that a function and those nested in it load in one of these ways."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in instructions}
    inner = (_loaded(c, instructions) for c in code.co_consts if isinstance(c, types.CodeType))
    return frozenset(found).union(*inner)
