"""A model that was read as a declared program: an Executor runs it, and more can be declared behind it.

In: a Model, whose open extents have names. Out: a program, the names of its feeds, and its fetches.

>>> from d2s.export import Model
>>> from d2s.ir.text import parse
>>> graph = parse("program f(x: f32[n,2]) -> (f32[n,2]) { %0: f32[n,2] = tanh(x) return %0 }")
>>> program, feeds, (y,) = loaded(Model(graph, ["x"], {}, ["y"]))
>>> feeds, y.name, y.shape
(['x'], 'y', [-1, 2])
"""

from typing import Any

import numpy as np

from d2s.eager.tensor import Tensor
from d2s.export import Model
from d2s.export.streams import to_run
from d2s.extents import Ledger
from d2s.ir.program import Program as Graph
from d2s.ir.program import Value
from d2s.nn.parameter import Parameter
from d2s.static.program import Program
from d2s.static.recording import Recording, awaiting
from d2s.static.scope import global_scope
from d2s.static.variable import Drawn, Fed, Held, Variable


def _opened(graph: Graph, recording: Recording) -> None:
    """The nodes of a model as a recording has them: open extents are those of axes."""
    for value in graph.inputs:
        value.type = recording.ledger.opened(value.type, value)
    for node in graph.nodes:
        node.attrs = {name: _attr(attr, recording.ledger) for name, attr in node.attrs.items()}
        for region in node.regions().values():
            _opened(region, recording)
        for value in node.outputs:
            value.type = recording.ledger.opened(value.type, value)


def _attr(value: Any, ledger: Ledger) -> Any:
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_attr(part, ledger) for part in value)
    return ledger.axis(value, ledger.feeds[value]) if isinstance(value, str) and value in ledger.feeds else value


def loaded(model: Model, with_values: bool = True) -> tuple[Program, list[str], list[Any]]:
    """The program of a model. Its parameters are those of their names in the scope, which take the values of the file."""
    program, graph = Program(), to_run(model.program)
    recording = program.recording
    _opened(graph, recording)
    recording.builder.inputs, recording.builder.nodes = list(graph.inputs), list(graph.nodes)
    state = graph.inputs[len(model.program.inputs) :]
    if state:
        recording.seed, recording.counter = Variable(recording, state[0]), Variable(recording, graph.outputs[-1])
        recording.roles |= {value: Drawn(part) for part, value in enumerate(state)}
    for value in model.program.inputs:
        if value.name in model.parameters:
            tensor = _tensor(model, value.name, with_values)
            recording.roles[value] = Held(tensor)
            recording.lifted[id(tensor)] = tensor, Variable(recording, value)
        else:
            recording.roles[value] = Fed(value.name)
            recording.names[value.name] = Variable(recording, value)
            recording.stopped.add(value)
    fetches = []
    for declared, name in zip(model.program.outputs, model.fetches, strict=True):
        fetches.append(_own(recording, declared))
        recording.names.setdefault(name, fetches[-1])
    return program, list(model.feeds), fetches


def _own(recording: Recording, value: Value) -> Variable:
    """A fetch as a value of its own, also where it is an input."""
    if value not in recording.roles:
        return Variable(recording, value)
    attrs = {"dtype": value.type.dtype, "python": False}
    return recording.add("cast", [value], [value.type], attrs)[0]  # type: ignore[no-any-return]


def _tensor(model: Model, name: str, with_values: bool) -> Tensor:
    stored = model.parameters[name]
    found = Parameter(np.array(stored.array), stop_gradient=not stored.trainable, name=stored.structured_name)
    awaiting[id(found)] = found
    if with_values:
        known = global_scope().tensors.get(found.name)
        fits = known is not None and known.array.shape == found.array.shape and known.array.dtype == found.array.dtype
        (global_scope().place(found) if fits else global_scope().started(found)).set_value(stored.array)
    return found
