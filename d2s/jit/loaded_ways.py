"""The ways in which a method of a loaded layer runs: as in inference, or as in training.

In: a Program of fed and stored values, what it returns, which stored values it changes. Out: what runs it, outside and inside
of captures.

>>> from d2s.ir.text import parse
>>> way = Way(parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[2] = tanh(x) return %0 }"), 1, None)
>>> way.run([d2s.zeros([2])])[0].tolist(), way.stored
([0.0, 0.0], [])
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from d2s.capture.symbolic import capturing
from d2s.eager.tensor import Tensor
from d2s.errors import FormatError
from d2s.export import Model, own_notes
from d2s.export.model import outputs_of
from d2s.export.streams import draws, to_run
from d2s.ir.program import Program
from d2s.jit import returned
from d2s.jit.graph import Graph
from d2s.jit.inlining import inlined
from d2s.jit.training_form import TrainingForm, marks_of
from d2s.once import once
from d2s.ops.training_marks import INSIDE
from d2s.runtime import random_state


class Way:
    """A Program whose inputs are `fed` ones, then stored values by their names; its last outputs are what some become."""

    def __init__(self, program: Program, fed: int, returns: Any, changes: Sequence[tuple[str, str]] = ()) -> None:
        self.program, self.returns, self.changes = program, returns, changes
        self.taken, self.stored = program.inputs[:fed], [v.name for v in program.inputs[fed:]]
        self.results = program.outputs[: len(program.outputs) - outputs_of(changes)]
        self.draws = draws(program)
        if returned.count(returns) != len(self.results):
            raise FormatError("D2S3001", "the note on what the function returns does not fit its outputs")

    @once
    def graph(self) -> Graph:
        return Graph(to_run(self.program))

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """All outputs: tensors, or symbols where it becomes a part of a captured function."""
        tracer = capturing()
        if tracer:
            return inlined(tracer, self.program, inputs)
        if not self.draws:
            return self.graph(inputs)
        with random_state.held() as state:
            *found, left = self.graph([*inputs, *(Tensor(np.array(n)) for n in state)])
            random_state.move_to(left.item())
        return found


class _InPieces(Way):
    """A graph of inference as it is in training, by what is known of some of its nodes."""

    def __init__(self, inference: Way, marks: Sequence[Sequence[Any]]) -> None:
        super().__init__(inference.program, len(inference.taken), inference.returns)
        self.form = TrainingForm(inference.program, len(inference.taken), marks)

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        return self.form(inputs)


def in_inference(model: Model) -> Way:
    """What a file holds."""
    returns = model.notes["returns"] if "returns" in model.notes else returned.several(len(model.fetches))
    return Way(model.program, len(model.feeds), returns)


def in_training(model: Model, inference: Way) -> Way | str:
    """What training does: what the file says of it, or what is known of nodes; or why it cannot be done."""
    if isinstance(model.training, str):
        return model.training
    if model.training is not None:
        program = own_notes.in_training(model, model.training)
        return Way(program, model.training.fed, model.training.returns, model.training.changes)
    marks, kinds = marks_of(model), model.notes.get(INSIDE)
    if kinds:
        does = "takes the batch's own averages" if "norm" in kinds else "drops values"
        return f"it {does} in an `if` or a loop of a file that another program has written"
    if marks and inference.draws:
        return "it draws random numbers, and batch norms or dropout that training needs stand among them"
    return _InPieces(inference, marks) if marks else inference
