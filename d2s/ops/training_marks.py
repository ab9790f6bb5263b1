"""What training would do at a place, noted there while a file of others is read as it is in inference.

In: the result that stands at such a place. Out: notes for who listens: `norm` with its momentum, `drop` with its settings.

>>> from d2s.ir.program import Value
>>> from d2s.ops.recording import Recorder
>>> from d2s.types import Type, float32
>>> place = Symbolic(Recorder("f"), Value(Type(float32), "x"))
>>> with noted() as marks:
...     note(place, "norm", 0.9)
>>> marks
[(<Value x: f32[]>, ['norm', 0.9])]
>>> note(place, "norm", 0.9)  # nobody listens
"""

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

from d2s.ir.program import Program
from d2s.ops.recording import Symbolic

PLACED, INSIDE = "training", "training inside"  # what both are called among the notes of a file
Marks = list[tuple[Any, list[Any]]]
_listening = threading.local()


@contextlib.contextmanager
def noted() -> Iterator[Marks]:
    """What is noted in this thread meanwhile."""
    before = getattr(_listening, "marks", None)
    found: Marks = []
    _listening.marks = found
    try:
        yield found
    finally:
        _listening.marks = before


def note(place: Any, *what: Any) -> None:
    """Says what training does instead of making this result."""
    if isinstance(place, Symbolic) and getattr(_listening, "marks", None) is not None:
        _listening.marks.append((place.value, list(what)))


def placed(program: Program, marks: Marks) -> list[list[Any]]:
    """The notes by the number of the node that makes the result; of those inside of regions see `inside`."""
    numbers = {value: n for n, node in enumerate(program.nodes) for value in node.outputs}
    return [[numbers[value], *what] for value, what in marks if value in numbers]


def inside(program: Program, marks: Marks) -> list[str]:
    """The kinds of what training would do in an `if` or a loop."""
    outside = {value for node in program.nodes for value in node.outputs}
    within = {value for node in program.every_node() for value in node.outputs} - outside
    return sorted({what[0] for value, what in marks if value in within})
