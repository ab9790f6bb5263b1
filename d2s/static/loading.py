"""A model that was read as a declared program: an Executor runs it, and more can be declared behind it.

In: a Model, whose open extents have names. Out: a program, the names of its feeds, and its fetches.

>>> from d2s.export import Model
>>> from d2s.ir.text import parse
>>> graph = parse("program f(x: f32[n,2]) -> (f32[n,2]) { %0: f32[n,2] = tanh(x) return %0 }")
>>> program, feeds, (y,) = loaded(Model(graph, ["x"], {}, ["y"]))
>>> feeds, y.name, y.shape
(['x'], 'y', [-1, 2])
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.export import Model
from d2s.ir.program import Node, Value
from d2s.nn.parameter import Parameter
from d2s.static.extents import OPEN
from d2s.static.program import Program
from d2s.static.recording import Fed, Held, Variable, awaiting
from d2s.static.replay import Replay
from d2s.static.scope import global_scope
from d2s.types import Type


class _Opened(Replay):
    """The nodes of a model with numbers for the names of its open extents."""

    def __init__(self, model: Model, numbers: dict[str, int]) -> None:
        self.numbers = numbers
        program = Program()
        self.program, recording = program, program.recording
        recording.builder.inputs, recording.builder.nodes = list(model.program.inputs), list(model.program.nodes)
        super().__init__(recording, {})

    def type(self, of: Type) -> Type:
        return Type(of.dtype, tuple(self.numbers.get(d, d) if isinstance(d, str) else d for d in of.shape), of.python)

    def _attr(self, value: Any) -> Any:
        if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
            return type(value)(self._attr(part) for part in value)
        return self.numbers.get(value, value) if isinstance(value, str) else value


def loaded(model: Model, with_values: bool = True) -> tuple[Program, list[str], list[Any]]:
    """The program of a model. Its parameters are those of their names in the scope, which take the values of the file."""
    opened = _Opened(model, dict(_numbers(model)))
    program, recording = opened.program, opened.program.recording
    recording.builder.inputs, recording.builder.nodes = opened.builder.inputs, opened.builder.nodes
    for declared in model.program.inputs:
        value = opened.values[declared]
        if declared.name in model.parameters:
            tensor = _tensor(model, declared.name, with_values)
            recording.roles[value] = Held(tensor)
            recording.lifted[id(tensor)] = tensor, Variable(recording, value)
        else:
            recording.roles[value] = Fed(declared.name)
            recording.names[declared.name] = Variable(recording, value)
            recording.stopped.add(value)
    fetches = []
    for declared, name in zip(model.program.outputs, model.fetches, strict=True):
        fetches.append(Variable(recording, _own(opened, declared)))
        recording.names.setdefault(name, fetches[-1])
    return program, list(model.feeds), fetches


def _own(opened: _Opened, declared: Value) -> Value:
    """A fetch as a value of its own, also where it is an input."""
    value = opened.values[declared]
    if value not in opened.recording.roles:
        return value
    out = Value(value.type)
    opened.builder.nodes.append(Node("cast", (value,), (out,), {"dtype": value.type.dtype, "python": False}))
    return out


def _numbers(model: Model) -> Iterator[tuple[str, int]]:
    """A number for each name of an extent: that of the first axis it stands at, and no other has."""
    taken: dict[str, int] = {}
    for value in model.program.inputs:
        for axis, d in enumerate(value.type.shape):
            if isinstance(d, str) and d not in taken:
                free = [k for k in (axis, *range(len(OPEN))) if k not in taken.values() and k < len(OPEN)]
                taken[d] = free[0] if free else axis
    return ((name, OPEN[axis]) for name, axis in taken.items())


def _tensor(model: Model, name: str, with_values: bool) -> Tensor:
    stored = model.parameters[name]
    found = Parameter(np.array(stored.array), stop_gradient=not stored.trainable, name=stored.structured_name)
    awaiting[id(found)] = found
    if with_values:
        known = global_scope().tensors.get(found.name)
        fits = known is not None and known.array.shape == found.array.shape and known.array.dtype == found.array.dtype
        (global_scope().place(found) if fits else global_scope().started(found)).set_value(stored.array)
    return found
