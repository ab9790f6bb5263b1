"""`save`: the methods of a layer, or a function, captured for Paddle's inference files.

In: a layer or function and what its arguments will be. Out: `path.pdmodel`, `path.pdiparams`, `path.pdiparams.info`, and
`path.NAME.pdmodel`, `path.NAME.pdiparams` for each further method that is static.

>>> import tempfile
>>> path = tempfile.mkdtemp() + "/double"
>>> save(lambda x: x * 2.0, path, input_spec=[InputSpec([None, 2])])
>>> d2s.jit.load(path)(d2s.to_tensor([[1.0, 2.0]])).numpy().tolist()
[[2.0, 4.0]]
"""

import contextlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import export
from d2s.arguments import expect
from d2s.capture.result import Made
from d2s.capture.result import leaves as leaves_of
from d2s.capture.trace import Captured
from d2s.capture.tree import flatten, rebuild
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError
from d2s.export.model import BUFFER, CONSTANT, PARAMETER, Role
from d2s.export.paddle_format import FORWARD
from d2s.export.streams import for_file
from d2s.ir.program import Program, Value
from d2s.jit import returned
from d2s.jit.signature import Key
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.translated_layer import TranslatedLayer
from d2s.jit.variant import Variant
from d2s.nn.layer import Layer
from d2s.ops.training_marks import Marks, inside, noted, placed
from d2s.static.input_spec import InputSpec

ANY = 2  # the extent that stands for any while a function is captured for a file
# Paddle's; what d2s writes is as they ask for, whatever they say
_CONFIGS = ("clip_extra", "combine_params", "with_hook", "skip_prune_program", "input_names_after_prune")


class _Captured(NamedTuple):
    """One method: its capture, and what each of its leaves is called in the file."""

    variant: Variant
    names: list[str]
    marks: Marks  # what training would do at some of its values


def save(layer: Any, path: str, input_spec: Sequence[Any] | None = None, *, skip_forward: bool = False, **configs: Any) -> None:
    """Writes a Layer, all its static methods, or a function, as it is in inference, for use anywhere.

    Inputs nothing depends on are left out of the file, with a warning.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/net"
    >>> net = d2s.nn.Linear(2, 3)
    >>> d2s.jit.save(net, path, input_spec=[d2s.static.InputSpec([None, 2])])
    >>> x = d2s.ones([4, 2])
    >>> d2s.equal_all(d2s.jit.load(path)(x), net(x)).item()
    True
    """
    unknown = sorted(configs.keys() - {*_CONFIGS})
    if unknown:
        hint = f"input_spec, skip_forward, {', '.join(_CONFIGS)}"
        raise ArgumentError("D2S0004", f"save(): '{unknown[0]}' is no option", hint=hint)
    models = _models(layer, input_spec, skip_forward)
    _warn(layer, models)
    export.save_methods(models, path)


def model_of(layer: Any, input_spec: Sequence[Any] | None = None) -> export.Model:
    """What a file of a Layer's forward, or of a function, holds."""
    if isinstance(layer, TranslatedLayer):
        return layer.models()[FORWARD]
    made = layer.forward if isinstance(layer, Layer) else layer
    models = _written({FORWARD: made}, layer, input_spec)
    _warn(layer, models)
    return models[FORWARD]


def _warn(layer: Any, models: Mapping[str, export.Model]) -> None:
    """One warning of all inputs that were left out."""
    found = []
    for name, model in models.items():
        if "left out" in model.notes and not isinstance(layer, TranslatedLayer):
            listed = ", ".join(map(repr, model.notes["left out"]))
            found.append(f"nothing {name}() returns depends on {listed}: what is loaded takes ({', '.join(model.feeds)})")
    if found:
        warnings.warn(f"save(): {'; '.join(found)}", stacklevel=3)


def _models(layer: Any, input_spec: Sequence[Any] | None, skip_forward: bool) -> dict[str, export.Model]:
    if isinstance(layer, TranslatedLayer):
        return layer.models()
    expect("save", "layer", layer, Callable, "a Layer or a function")
    if not isinstance(layer, Layer):
        return _written({FORWARD: layer}, layer, input_spec)
    functions: dict[str, Any] = {} if skip_forward else {FORWARD: layer.captured_as()}
    for name in dir(layer):
        if name != FORWARD and isinstance(inspect.getattr_static(layer, name, None), StaticFunction):
            functions[name] = getattr(layer, name)
    if not functions:
        raise ArgumentError("D2S0004", f"save(): no method of '{type(layer).__name__}' besides forward() is static")
    return _written(functions, layer, input_spec)


def _written(functions: Mapping[str, Any], layer: Any, input_spec: Sequence[Any] | None) -> dict[str, export.Model]:
    """The models of some methods; a tensor that several of them read has one name in all."""
    expect("save", "input_spec", input_spec, list | tuple | None, "a list")
    captured = {}
    with _as_in_inference(layer):
        for name, function in functions.items():
            static = function if isinstance(function, StaticFunction) else to_static(function)
            with noted() as marks:
                found = _captured(name, static, input_spec if name == FORWARD else None)
            captured[name] = _Captured(*found, marks)
    roles = _roles(layer) if isinstance(layer, Layer) else {}
    models = {name: _model(each, roles) for name, each in captured.items()}
    _name(models, captured, roles)
    if isinstance(layer, Layer):
        _note_second_names(layer, roles, models)
    return models


@contextlib.contextmanager
def _as_in_inference(layer: Any) -> Iterator[None]:
    """Files hold what a layer does in inference, as Paddle's do, in whatever mode it is."""
    inner = [layer, *layer.sublayers()] if isinstance(layer, Layer) else []
    modes = [one.training for one in inner]
    try:
        for one in inner:
            one.training = False
        yield
    finally:
        for one, mode in zip(inner, modes, strict=True):
            one.training = mode


# --- captures ----------------------------------------------------------------------------------------------------------------


def _captured(method: str, static: StaticFunction, input_spec: Sequence[Any] | None) -> tuple[Variant, list[str]]:
    spec = list(input_spec if input_spec is not None else static.input_spec or [])
    if not spec and not static.variants:
        said = "input_spec=[InputSpec(...), ...]"
        hint = said if method == FORWARD else f"@to_static({said})"
        raise ArgumentError("D2S0004", f"save(): what are the arguments of '{static.__name__}'?", hint=hint)
    if not spec:
        return _again(static, static.variants[0][0])
    fresh = StaticFunction(static.function, spec, static.owner)
    fresh.stays_open = True
    values = fresh._values(tuple(_example(s) for s in spec), {})
    leaves, skeleton = flatten(fresh._arguments(values))
    names = fresh._names(fresh._arguments(values))
    specs = fresh._specs(values)
    called = [s.name if s is not None and s.name else name for s, name in zip(specs, names, strict=True)]
    return fresh._variant(leaves, skeleton, values), called


def _again(static: StaticFunction, key: Key) -> tuple[Variant, list[str]]:
    """What was called before, captured as it is in inference."""
    variant = next(v for k, v in static.variants if k is key)
    fixed = iter(variant.kept)
    leaves = [_zeros(leaf.shape, leaf.dtype) if leaf.dtype and leaf.fixed is None else next(fixed) for leaf in key.leaves]
    names = static._names(rebuild(key.skeleton, leaves))
    return Variant(static._python, static.__name__, key, leaves, names), names


def _example(spec: Any) -> Any:
    if not isinstance(spec, InputSpec):
        leaves, skeleton = flatten(spec)
        return spec if skeleton is None else rebuild(skeleton, map(_example, leaves))
    return _zeros(spec.shape, spec.dtype)


def _zeros(shape: Sequence[Any], dtype: Any) -> Tensor:
    return Tensor(np.zeros([d if isinstance(d, int) else ANY for d in shape], dtype.numpy))


# --- models ------------------------------------------------------------------------------------------------------------------


def _model(method: _Captured, roles: Mapping[int, Role]) -> export.Model:
    captured, program = method.variant.captured, method.variant.graph.program
    _check(method.variant)
    fed = dict(zip(captured.arguments, program.inputs, strict=False))
    state = program.inputs[len(program.inputs) - 2 * captured.draws :]
    held_inputs = program.inputs[len(fed) : len(program.inputs) - len(state)]
    lifted = {id(t): value for t, value in zip(captured.lifted, held_inputs, strict=True)}
    outputs, (returns, held) = [], returned.described(captured.result)
    for kind, at in held:
        if kind in ("container", "object") or (kind == "outside" and id(at) not in lifted):
            what = f"{at!r}" if kind == "outside" else f"a {at.__name__}" if kind == "object" else "a list it was given"
            raise ArgumentError("D2S0004", f"save(): '{program.name}' returns {what}; a file holds tensors only")
        outputs.append(program.outputs[at] if kind == "output" else fed[at] if kind == "argument" else lifted[id(at)])
    names = {v: method.names[n] for n, v in fed.items()}
    feeds = _used(program, outputs, names)
    whole = Program(program.name, (*feeds, *lifted.values(), *state), program.nodes, (*outputs, *_left(captured, program)))
    whole = for_file(whole) if captured.draws else whole
    parameters = {}
    for tensor in captured.lifted:
        value = lifted[id(tensor)]
        kind = CONSTANT if tensor.stop_gradient else PARAMETER
        role = roles.get(id(tensor)) or Role(value.name, not tensor.stop_gradient, kind)
        parameters[value.name] = export.Parameter(tensor.array, *role)
    fetches = [f"output_{n}" for n in range(len(outputs))]
    found = {"left out": [n for v, n in names.items() if v not in feeds], "training": placed(whole, method.marks)}
    found["training inside"] = inside(whole, method.marks)
    notes = {"returns": returns} | {what: listed for what, listed in found.items() if listed}
    return export.Model(whole, list(feeds.values()), parameters, fetches, notes)


def _left(captured: Captured, program: Program) -> list[Value]:
    """Where a run of a Program that draws leaves the stream."""
    if not captured.draws:
        return []
    assert isinstance(captured.stored, Made)
    left = [part for (kind, *_), part in zip(captured.stores, captured.stored.parts, strict=True) if kind == "stream"]
    return [program.outputs[at] for part in left for _, at in leaves_of(part)] or [program.inputs[-1]]


def _check(variant: Variant) -> None:
    """Refuses what does more than to compute, and to draw random numbers."""
    captured, program = variant.captured, variant.graph.program
    steps = [str(node.attrs["call"]) for node in program.every_node() if node.op == "host"]
    if any(kind != "stream" for kind, *_ in captured.stores) or captured.reads or steps:
        does = f"calls {steps[0]}" if steps else "changes what was there before"
        raise ArgumentError("D2S0004", f"save(): '{program.name}' {does}: a file cannot hold that")


def _used(program: Program, outputs: Sequence[Value], names: Mapping[Value, str]) -> dict[Value, str]:
    """The inputs something depends on."""
    read = {*outputs}.union(*(node.inputs for node in program.nodes))
    needed, defined = _extents(program, outputs), set[str]()
    used = set()
    for value in sorted(names, key=lambda v: v not in read):
        extents = {d for d in value.type.shape if isinstance(d, str)}
        if value in read or extents & needed - defined:
            used.add(value)
            defined |= extents
    return {value: name for value, name in names.items() if value in used}


def _extents(program: Program, outputs: Sequence[Value]) -> set[str]:
    """The named extents a run has to know."""
    values = [*outputs, *(v for node in program.nodes for v in node.outputs)]
    return {d for v in values for d in v.type.shape if isinstance(d, str)}


# --- names -------------------------------------------------------------------------------------------------------------------


def _roles(layer: Layer) -> dict[int, Role]:
    """What each tensor of a layer is there, by id; it is called by the first of its names."""
    state = layer.state_dict(use_hook=False)
    parameters = {id(p) for p in layer.parameters()}
    found = {id(b): Role(name, not b.stop_gradient, CONSTANT) for name, b in layer.named_buffers()}
    for name, tensor in reversed(state.items()):
        found[id(tensor)] = Role(name, not tensor.stop_gradient, PARAMETER if id(tensor) in parameters else BUFFER)
    return found


def _name(models: dict[str, export.Model], captured: Mapping[str, _Captured], roles: Mapping[int, Role]) -> None:
    """Names inputs as the user has them: a tensor is called alike in all methods, an argument as its InputSpec says."""
    taken = {_label(name) for model in models.values() for name in model.feeds}
    labels: dict[int, str] = {}
    for method, model in models.items():
        program, fed = model.program, len(model.feeds)
        feeds = _distinct(map(_label, model.feeds), set())
        for tensor in captured[method].variant.captured.lifted:
            if id(tensor) not in labels:
                wanted = roles[id(tensor)].structured_name if id(tensor) in roles else "constant"
                (labels[id(tensor)],) = _distinct([_label(wanted)], taken)
        names = [*feeds, *(labels[id(t)] for t in captured[method].variant.captured.lifted)]
        stored = dict(zip(names[fed:], model.parameters.values(), strict=True))
        for value, name in zip(program.inputs, names, strict=True):
            value.name = name
        for (name, parameter), tensor in zip(stored.items(), captured[method].variant.captured.lifted, strict=True):
            parameter.structured_name = parameter.structured_name if id(tensor) in roles else name
        model.feeds, model.parameters = feeds, stored


def _label(name: str) -> str:
    plain = re.sub(r"\W", "_", name, flags=re.ASCII)
    return plain if plain.isidentifier() else f"_{plain}"


def _distinct(wanted: Any, taken: set[str]) -> list[str]:
    """The names, with a number behind those that are taken."""
    found = []
    for name in wanted:
        number, free = 0, name
        while free in taken:
            number, free = number + 1, f"{name}_{number + 1}"
        taken.add(free)
        found.append(free)
    return found


def _note_second_names(layer: Layer, roles: Mapping[int, Role], models: Mapping[str, export.Model]) -> None:
    """A tensor that stands twice in a layer stands twice in the state of what is loaded."""
    second = {name: roles[id(t)].structured_name for name, t in layer.state_dict(use_hook=False).items()}
    for model in models.values():
        stored = {p.structured_name for p in model.parameters.values()}
        also = {name: first for name, first in second.items() if name != first and first in stored}
        if also:
            model.notes["also"] = also
