"""The debug knobs: one table, read from the environment, changed for a while by `with d2s.config(...)`.

>>> with config(EXECUTOR="interpreter"):
...     knob("EXECUTOR")
'interpreter'
>>> knob("EXECUTOR")
'numba'
"""

import contextlib
import os
from collections.abc import Iterator

from d2s.errors import ArgumentError

KNOBS: dict[str, tuple[str, ...]] = {  # name: its values, the default first; ("",) takes any text
    "DUMP": ("",),  # folder that gets every stage as a numbered file
    "PRINT": ("",),  # stages to print, separated by commas: a kind, or a kind and a function's name as in `program:settle`
    "CHECK": ("0", "1", "2"),  # 1: verify the program after each pass; 2: also run the interpreter beside and compare
    "EXECUTOR": ("numba", "python", "interpreter"),  # compiled; the same steps and kernels in plain Python; or node by node
    "EAGER": ("0", "1"),  # 1: to_static functions run as the plain Python they are
}
STAGES = (  # the kinds of stages there are, in the order of the work; tests/test_stages.py compares this with what is reported
    *(
        "source",
        "fence",
        "imports",
        "inverted",
        "outer",
        "comprehensions",
        "annotations",
        "definitions",
        "asserts",
        "raises",
        "match",
        "walrus",
        "deletes",
        "exits",
        "stores",
        "returns",
        "texts",
        "operators",
        "loads",
        "calls",
        "logical",
    ),
    *("if_else", "while_loop", "for_loop", "protect"),
    *("recompiles", "program", "drop_dead", "forward", "backward"),
    *(
        "fold_constants",
        "drop_identities",
        "merge_equal",
        "join_rows",
        "group",
        "join_lines",
        "join_products",
        "tighten_loops",
        "plan",
        "kernel",
    ),
)


def _checked(name: str, value: str) -> str:
    if name not in KNOBS:
        raise ArgumentError("D2S0004", f"'{name}' is not a knob", hint=f"one of {', '.join(KNOBS)}")
    if KNOBS[name] != ("",) and value not in KNOBS[name]:
        raise ArgumentError("D2S0004", f"the knob {name} is '{value}'", hint=f"one of {', '.join(KNOBS[name])}")
    unknown = [s for s in value.split(",") if s.partition(":")[0] not in STAGES] if name == "PRINT" and value else []
    if unknown:
        message = f"the knob PRINT names '{unknown[0]}', which is no stage"
        raise ArgumentError("D2S0004", message, hint=f"one of {', '.join(STAGES)}")
    return value


unusual: set[str] = set()  # what makes static calls take the long way now: knobs, and whoever else wants to see each op


def _note() -> None:
    """Which knobs change what a call does."""
    for name, usual in (("EAGER", "0"), ("EXECUTOR", "numba"), ("CHECK", "01")):
        (unusual.discard if _values[name] in usual else unusual.add)(name)


_values = {name: _checked(name, os.environ.get("D2S_" + name, values[0])) for name, values in KNOBS.items()}
_note()


def knob(name: str) -> str:
    """The value of a knob now."""
    return _values[name]


def set_knobs(**knobs: object) -> None:
    """Sets knobs from now on."""
    _values.update({name: _checked(name, str(value)) for name, value in knobs.items()})
    _note()


@contextlib.contextmanager
def config(**knobs: object) -> Iterator[None]:
    """Sets knobs inside a `with` block."""
    before = dict(_values)
    set_knobs(**knobs)
    try:
        yield
    finally:
        _values.clear()
        _values.update(before)
        _note()
