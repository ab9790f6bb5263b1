"""`save` and `load`: a captured function as Paddle's inference files, and back as a layer that needs no source.

In: a layer or function and what its arguments will be. Out: `path.pdmodel`, `path.pdiparams`, `path.pdiparams.info`.

>>> import tempfile
>>> path = tempfile.mkdtemp() + "/double"
>>> save(lambda x: x * 2.0, path, input_spec=[InputSpec([None, 2])])
>>> load(path)(d2s.to_tensor([[1.0, 2.0]])).numpy().tolist()
[[2.0, 4.0]]
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import export
from d2s.arguments import expect
from d2s.capture.symbolic import capturing, refuse
from d2s.capture.tree import flatten, rebuild
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, FormatError
from d2s.ir.program import Program
from d2s.jit import returned
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.variant import Graph, Variant
from d2s.nn.layer import Layer, Parameter
from d2s.runtime import launch
from d2s.static.input_spec import InputSpec
from d2s.types import Type

ANY = 2  # the extent that stands for any while a function is captured for a file


def save(layer: Any, path: str, input_spec: Sequence[Any] | None = None) -> None:
    """Writes a Layer's forward, or a function, for inference anywhere."""
    export.save(model_of(layer, input_spec), path)


def model_of(layer: Any, input_spec: Sequence[Any] | None = None) -> export.Model:
    """What a file of a Layer's forward, or of a function, holds."""
    if isinstance(layer, TranslatedLayer):
        return layer.model()
    expect("save", "layer", layer, Callable, "a Layer or a function")
    made = layer.forward if isinstance(layer, Layer) else layer
    static = made if isinstance(made, StaticFunction) else to_static(made)
    variant = _variant(static, input_spec)
    named = (*layer.named_parameters(), *layer.named_buffers()) if isinstance(layer, Layer) else ()
    names = {id(tensor): name for name, tensor in named}
    return _model(variant, names)


def _variant(static: StaticFunction, input_spec: Sequence[Any] | None) -> Variant:
    expect("save", "input_spec", input_spec, list | tuple | None, "a list")
    spec = list(input_spec if input_spec is not None else static.input_spec or [])
    if not spec and not static.variants:
        raise ArgumentError(
            "D2S0004",
            f"save(): what are the arguments of '{static.__name__}'?",
            hint="input_spec=[InputSpec(...), ...]",
        )
    if not spec:
        return static.variants[0][1]
    arguments = [_example(s) for s in spec]
    return StaticFunction(static.function, spec, static.owner).concrete_program(*arguments)


def _example(spec: Any) -> Any:
    if not isinstance(spec, InputSpec):
        leaves, skeleton = flatten(spec)
        return spec if skeleton is None else rebuild(skeleton, map(_example, leaves))
    return Tensor(np.zeros([ANY if d is None else d for d in spec.shape], spec.dtype.numpy))


def _model(variant: Variant, names: dict[int, str]) -> export.Model:
    program, captured = variant.graph.program, variant.captured
    steps = [str(node.attrs["call"]) for node in program.every_node() if node.op == "host"]
    if captured.draws or captured.stores or captured.reads or steps:
        does = "draws random numbers" if captured.draws else f"calls {steps[0]}" if steps else "changes what was there before"
        raise ArgumentError(
            "D2S0004", f"save(): '{program.name}' {does}: a file cannot hold that", hint="eval() the layer first"
        )
    fed = dict(zip(captured.arguments, program.inputs, strict=False))
    lifted = {id(t): value for t, value in zip(captured.lifted, program.inputs[len(fed) :], strict=True)}
    outputs, (returns, held) = [], returned.described(captured.result)
    for kind, at in held:
        if kind == "container" or (kind == "outside" and id(at) not in lifted):
            message = (
                f"save(): the function returns {at!r}"
                if kind == "outside"
                else "save(): the function returns a list it was given"
            )
            raise ArgumentError("D2S0004", f"{message}; a file holds tensors only")
        outputs.append(program.outputs[at] if kind == "output" else fed[at] if kind == "argument" else lifted[id(at)])
    parameters = {}
    for tensor in captured.lifted:
        name = lifted[id(tensor)].name
        parameters[name] = export.Parameter(tensor.array, names.get(id(tensor), name), not tensor.stop_gradient)
    whole = Program(program.name, program.inputs, program.nodes, tuple(outputs))
    notes = {"returns": returns}
    return export.Model(whole, [v.name for v in fed.values()], parameters, [f"output_{n}" for n in range(len(outputs))], notes)


def load(path: str) -> "TranslatedLayer":
    """The layer in `path.pdmodel`; it is trained and saved like any other."""
    return TranslatedLayer(export.load(path), path)


class TranslatedLayer(Layer):
    """A loaded graph as a layer."""

    def __init__(self, model: export.Model, path: str) -> None:
        super().__init__()
        self.path, self._model, self._graph = path, model, Graph(model.program)
        self._held = {
            name: (p.structured_name, Parameter(p.array, stop_gradient=not p.trainable)) for name, p in model.parameters.items()
        }
        self._parameters |= dict(self._held.values())
        count = len(model.fetches)
        self._returns = model.notes["returns"] if "returns" in model.notes else returned.several(count)
        if returned.count(self._returns) != count:
            raise FormatError("D2S3001", "the note on what the function returns does not fit its outputs")

    def model(self) -> export.Model:
        """What was loaded, with the parameters as they are now."""
        pairs = ((name, structured, p) for name, (structured, p) in self._held.items())
        parameters = {name: export.Parameter(p.array, structured, not p.stop_gradient) for name, structured, p in pairs}
        return dataclasses.replace(self._model, parameters=parameters)

    def forward(self, *args: Any) -> Any:
        if capturing():
            refuse("D2S1003", "a loaded layer inside a captured function is not part of graphs yet", "call it outside")
        if len(args) != len(self._model.feeds):
            raise ArgumentError("D2S0001", f"'{self.path}' takes {', '.join(self._model.feeds)}; got {len(args)} arguments")
        extents: dict[str, int] = {}
        tensors = [self._fed(name, x, extents) for name, x in zip(self._model.feeds, args, strict=True)]
        outputs = self._graph([*tensors, *(p for _, p in self._held.values())])
        return returned.result(self._returns, iter(outputs))

    def _fed(self, name: str, value: Any, extents: dict[str, int]) -> Tensor:
        """An argument, if it is what the graph was captured for."""
        wanted = next(v.type for v in self._graph.program.inputs if v.name == name)
        tensor = value if isinstance(value, Tensor) else Tensor(np.array(value, wanted.dtype.numpy)) if wanted.python else None
        got = None if tensor is None else launch.type_of(tensor.array)
        if tensor is None or got is None or not _fits(wanted, got, extents):
            raise ArgumentError("D2S0002", f"'{name}' of '{self.path}' expects {wanted}, got {got or type(value).__name__}")
        return tensor

    def __repr__(self) -> str:
        inputs = ", ".join(f"{v.name}: {v.type}" for v in self._graph.program.inputs if v.name in self._model.feeds)
        return f"TranslatedLayer({inputs}) from '{self.path}'"


def _fits(wanted: Type, got: Type, extents: dict[str, int]) -> bool:
    if wanted.dtype is not got.dtype or len(wanted.shape) != len(got.shape):
        return False
    pairs = zip(wanted.shape, got.shape, strict=True)
    return all(d == n if isinstance(d, int) else extents.setdefault(d, n) == n for d, n in pairs)  # type: ignore[arg-type]
