"""What one set of Paddle's files holds, as both the writer and the reader see it.

In: a Program and what belongs to its inputs and outputs. Out: the same, as one record.

>>> Parameter(np.zeros(2), "fc.bias").trainable
True
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s.ir.program import Program

PARAMETER, BUFFER, CONSTANT = "parameter", "buffer", "constant"  # a constant has no place in a layer's state


class Role(NamedTuple):
    """What a stored value is in its layer; `structured_name` is its path there, `fc.weight`."""

    structured_name: str
    trainable: bool = True
    kind: str = PARAMETER


@dataclasses.dataclass
class Parameter:
    """An input whose value is stored, and its role."""

    array: np.ndarray
    structured_name: str
    trainable: bool = True
    kind: str = PARAMETER

    @property
    def role(self) -> Role:
        return Role(self.structured_name, self.trainable, self.kind)


WRITTEN, JOINED, REPLACED = "written", "joined", "replaced"  # values; values and history; by another tensor
CHOSEN = ("replaced where 0", "replaced where 1")  # by another tensor, in runs in which the output before it is that number


def outputs_of(changes: Sequence[tuple[Any, str]]) -> int:
    """How many outputs say what stored values become.

    >>> outputs_of([("mean", REPLACED), ("steps", CHOSEN[1])])
    3
    """
    return sum(2 if how in CHOSEN else 1 for _, how in changes)


@dataclasses.dataclass
class Training:
    """What a model does in training: the text of a Program whose inputs are `fed` ones, then stored values, by name.

    Its last outputs are what some stored values become: `changes` says which, and how. `own_notes.in_training` reads it.
    """

    program: str
    fed: int
    changes: list[tuple[str, str]]
    returns: Any


@dataclasses.dataclass
class Model:
    """A Program whose inputs are the fed ones, in order, then the parameters; `notes` is JSON that Paddle skips.

    `training`: what it does there, if that is something else, or why that is not known.
    """

    program: Program
    feeds: list[str]
    parameters: dict[str, Parameter]
    fetches: list[str]
    notes: dict[str, Any] = dataclasses.field(default_factory=dict)
    training: Training | str | None = None


def second_names(model: Model) -> dict[str, str]:
    """Further names of tensors in the layer that was saved, and the names they are stored by."""
    noted = model.notes.get("also", {})
    pairs = noted.items() if isinstance(noted, dict) else ()
    return {second: first for second, first in pairs if isinstance(first, str)}
