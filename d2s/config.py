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

KNOBS = {  # name: (default, what it does)
    "DUMP": ("", "folder that gets every stage as a numbered file"),
    "PRINT": ("", "names of stages to print, separated by commas"),
    "CHECK": ("0", "1: verify the program after each pass; 2: also run the interpreter beside and compare"),
    "EXECUTOR": ("numba", "numba: the compiled executor; interpreter: node by node"),
    "EAGER": ("0", "1: to_static functions run as the plain Python they are"),
}
_values = {name: os.environ.get("D2S_" + name, default) for name, (default, _) in KNOBS.items()}


def knob(name: str) -> str:
    """The value of a knob now."""
    return _values[name]


@contextlib.contextmanager
def config(**knobs: object) -> Iterator[None]:
    """Sets knobs inside a `with` block."""
    for name in knobs:
        if name not in KNOBS:
            raise ArgumentError("D2S0004", f"'{name}' is not a knob", hint=f"one of {', '.join(KNOBS)}")
    before = dict(_values)
    _values.update({name: str(value) for name, value in knobs.items()})
    try:
        yield
    finally:
        _values.clear()
        _values.update(before)
