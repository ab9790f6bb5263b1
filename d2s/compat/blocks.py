"""What a `with` block of a declared program writes: the variables are others inside of it, and what they were behind it.

>>> with writing(None) as written:
...     bool(open_blocks)
True
>>> written.taken_back(), bool(open_blocks)
([], False)
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from d2s.eager.tensor import Tensor
from d2s.static.program import declaring
from d2s.static.recording import Recording, Variable


class Written:
    """The variables a block writes, as they were before."""

    def __init__(self, region: Recording | None) -> None:
        self.region = region
        self.before: dict[int, tuple[Variable, Any, Any]] = {}
        self.tensors: dict[int, Tensor] = {}  # of variables that stand for tensors of the program

    def standing_for(self, tensor: Tensor) -> Variable:
        """The variable that is written where a tensor of the program is."""
        found: Variable = declaring("assign").root.lift(tensor)
        self.tensors[id(found)] = tensor
        return found

    def written(self, variable: Variable) -> Any:
        """What users know that variable as."""
        return self.tensors.get(id(variable), variable)

    def note(self, variable: Variable) -> None:
        """It is about to be another."""
        self.before.setdefault(id(variable), (variable, variable.recorder, variable.value))

    def taken_back(self) -> list[tuple[Variable, Variable]]:
        """The variables, which are again what they were, and what the block made of them."""
        found = []
        for variable, recorder, value in self.before.values():
            found.append((variable, Variable(variable.recorder, variable.value)))
            variable.recorder, variable.value = recorder, value
        return found


open_blocks: list[Written] = []


@contextlib.contextmanager
def writing(region: Recording | None) -> Iterator[Written]:
    """What is written in the `with` block, which is recorded into a region."""
    open_blocks.append(Written(region))
    try:
        yield open_blocks[-1]
    finally:
        open_blocks.pop()
