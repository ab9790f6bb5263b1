"""`save`: the methods of a layer, or a function, captured for Paddle's inference files.

In: a layer or function and what its arguments will be. Out: `path.pdmodel`, `path.pdiparams`, `path.pdiparams.info`, and
`path.NAME.pdmodel`, `path.NAME.pdiparams` for each further method that is static.

>>> import tempfile
>>> path = tempfile.mkdtemp() + "/double"
>>> save(lambda x: x * 2.0, path, input_spec=[InputSpec([None, 2])])
>>> d2s.jit.load(path)(d2s.to_tensor([[1.0, 2.0]])).numpy().tolist()
[[2.0, 4.0]]
"""

import functools
import inspect
import re
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import export, forks
from d2s.arguments import expect
from d2s.capture.tree import flatten, rebuild
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, D2SError, FormatError
from d2s.export import own_notes
from d2s.export.model import BUFFER, CONSTANT, PARAMETER, Role, Training
from d2s.export.paddle_format import FORWARD
from d2s.export.paddle_writer import text_of
from d2s.ir.program import Program, Value
from d2s.jit import returned, signature
from d2s.jit.saved_body import Body, body_of
from d2s.jit.signature import Key
from d2s.jit.to_static import StaticFunction, to_static
from d2s.jit.translated_layer import TranslatedLayer
from d2s.jit.variant import Variant
from d2s.nn.layer import Layer
from d2s.runtime import launch, modes
from d2s.static.input_spec import InputSpec
from d2s.types import Type

ANY = 2  # the extent that stands for any while a function is captured for a file
# Paddle's; what d2s writes is as they ask for, whatever they say
_CONFIGS = ("clip_extra", "combine_params", "with_hook", "skip_prune_program", "input_names_after_prune")


class _Captured(NamedTuple):
    """One method: what it does in inference, and in training if that is something else, or why a file cannot hold that."""

    body: Body
    training: Body | str | None


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
    models = _written({FORWARD: made}, layer, input_spec, training=False)
    _warn(layer, models)
    return models[FORWARD]


def _warn(layer: Any, models: Mapping[str, export.Model]) -> None:
    """One warning of all that was left out."""
    found = []
    for name, model in models.items():
        if "left out" in model.notes and not isinstance(layer, TranslatedLayer):
            listed = ", ".join(map(repr, model.notes["left out"]))
            found.append(f"nothing {name}() returns depends on {listed}: what is loaded takes ({', '.join(model.feeds)})")
        if "noted" in model.notes and not isinstance(layer, TranslatedLayer):
            found.append(f"a file does not hold what {name}() does besides its results: {', '.join(model.notes['noted'])}")
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


def _written(
    functions: Mapping[str, Any], layer: Any, input_spec: Sequence[Any] | None, training: bool = True
) -> dict[str, export.Model]:
    """The models of some methods; a tensor that several of them read has one name in all."""
    expect("save", "input_spec", input_spec, list | tuple | None, "a list")
    statics = {name: one if isinstance(one, StaticFunction) else to_static(one) for name, one in functions.items()}
    specs = {name: input_spec if name == FORWARD else None for name in statics}
    inner = [layer, *layer.sublayers()] if isinstance(layer, Layer) else []
    with forks.capturing, modes.assumed(inner, False):  # as Paddle's files; what training does stands beside
        found = {name: _captured(name, static, specs[name]) for name, static in statics.items()}
        captured = {name: _Captured(body_of(*one), None) for name, one in found.items()}
        for name, (variant, _) in found.items() if training else ():
            other = _in_training(variant, inner, functools.partial(_captured, name, statics[name], specs[name]))
            captured[name] = captured[name]._replace(training=other)
    captured = {name: _holding_all(each) for name, each in captured.items()}
    roles = _roles(layer) if isinstance(layer, Layer) else {}
    if training and isinstance(layer, Layer):
        first = next(iter(captured))
        captured[first] = _holding(captured[first], _unread(layer, captured.values()))
    models = {name: _model(each, roles) for name, each in captured.items()}
    _name(models, captured, roles)
    if isinstance(layer, Layer):
        _note_second_names(layer, roles, models)
    return models


def _in_training(variant: Variant, inner: Sequence[Any], capture: Callable[[], tuple[Variant, list[str]]]) -> Body | str | None:
    """What is captured where all is in training that was asked whether it is, if any was."""
    sources = [guard.source for guard in variant.captured.guards if guard.source is not None]
    asked = [one for kind, one, name in sources if kind == "attribute" and name == "training" and isinstance(one, Layer)]
    if all(modes.read(one, "training") for one in asked):
        return None
    layers = [part for one in asked for part in one.sublayers()]
    with modes.assumed([*asked, *layers, *inner], True):
        try:
            return body_of(*capture(), changing=True)
        except D2SError as error:
            return error.message.removeprefix("save(): ")
        except Exception as error:  # of the user's code, which nobody has asked to train
            return f"{type(error).__name__}: {error}"


def _holding_all(each: _Captured) -> _Captured:
    """The same with what only training reads among the inputs."""
    if not isinstance(each.training, Body):
        return each
    tensors, others = each.body.tensors, each.training
    pairs = zip(others.tensors, others.program.inputs[len(others.feeds) :], strict=True)
    return _holding(each, [(t, v.type, v.name) for t, v in pairs if not any(t is known for known in tensors)])


def _unread(layer: Layer, captured: Collection[_Captured]) -> list[tuple[Tensor, Type, str]]:
    """What belongs to a layer's state, and no method of it reads."""
    read = {id(tensor) for each in captured for tensor in each.body.tensors}
    state = {id(tensor): (tensor, name) for name, tensor in layer.state_dict(use_hook=False).items()}
    return [(t, launch.type_of(t.array), name) for key, (t, name) in state.items() if key not in read]


def _holding(each: _Captured, more: Sequence[tuple[Tensor, Type, str]]) -> _Captured:
    """The same with stored values among the inputs that nothing reads in inference."""
    program, tensors = each.body.program, each.body.tensors
    names = _distinct([name for *_, name in more], {value.name for value in program.inputs})
    inputs = (*program.inputs, *(Value(of, name) for (_, of, _), name in zip(more, names, strict=True)))
    whole = Program(program.name, inputs, program.nodes, program.outputs)
    return each._replace(body=each.body._replace(program=whole, tensors=[*tensors, *(t for t, *_ in more)]))


# --- captures ----------------------------------------------------------------------------------------------------------------


def _captured(method: str, static: StaticFunction, input_spec: Sequence[Any] | None) -> tuple[Variant, list[str]]:
    spec = list(input_spec if input_spec is not None else static.input_spec or [])
    without = not spec and not (input_spec is None and static.variants) and _takes_nothing(static)
    if not spec and not static.variants and not without:
        said = "input_spec=[InputSpec(...), ...]"
        hint = said if method == FORWARD else f"@to_static({said})"
        raise ArgumentError("D2S0004", f"save(): what are the arguments of '{static.__name__}'?", hint=hint)
    if not spec and not without:
        return _again(static, static.variants[0][0])
    fresh = StaticFunction(static.function, spec, static.owner)
    fresh.stays_open = True
    values = fresh._as_told(_example)
    leaves, skeleton = flatten(fresh._arguments(values))
    names = fresh._names(fresh._arguments(values))
    specs = fresh._specs(values) or [None] * len(names)
    called = [s.name if s is not None and s.name else name for s, name in zip(specs, names, strict=True)]
    return fresh._variant(leaves, skeleton, values), called


def _takes_nothing(static: StaticFunction) -> bool:
    """Whether it can be called without arguments."""
    left = list(static.signature().parameters.values())[static.owner is not None :]
    return all(p.default is not p.empty or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in left)


def _again(static: StaticFunction, key: Key) -> tuple[Variant, list[str]]:
    """What was called before, captured as it is in inference."""
    variant = next(v for k, v in static.variants if k is key)
    fixed = iter(variant.kept)
    leaves = [_zeros(leaf.shape, leaf.dtype) if leaf.dtype and leaf.fixed is None else next(fixed) for leaf in key.leaves]
    names = static._names(rebuild(key.skeleton, leaves))
    parameters = static.signature().parameters
    defaults = [parameters[name].default if name in parameters else None for name in names]
    known = signature.with_defaults(key, leaves, defaults)
    return Variant(static._python, static.__name__, known, leaves, names), names


def _example(spec: Any) -> Any:
    if not isinstance(spec, InputSpec):
        leaves, skeleton = flatten(spec)
        return spec if skeleton is None else rebuild(skeleton, map(_example, leaves))
    return _zeros(spec.shape, spec.dtype)


def _zeros(shape: Sequence[Any], dtype: Any) -> Tensor:
    return Tensor(np.zeros([d if isinstance(d, int) else ANY for d in shape], dtype.numpy))


# --- models ------------------------------------------------------------------------------------------------------------------


def _model(method: _Captured, roles: Mapping[int, Role]) -> export.Model:
    body = method.body
    parameters = {}
    for value, tensor in zip(body.program.inputs[len(body.feeds) :], body.tensors, strict=True):
        kind = CONSTANT if tensor.stop_gradient else PARAMETER
        role = roles.get(id(tensor)) or Role(value.name, not tensor.stop_gradient, kind)
        parameters[value.name] = export.Parameter(tensor.array, *role)
    fetches = returned.names(body.returns, len(body.program.outputs))
    notes = {"returns": body.returns} | ({"left out": body.left_out} if body.left_out else {})
    notes |= {"noted": list(dict.fromkeys(body.noted))} if body.noted else {}
    return export.Model(body.program, list(body.feeds.values()), parameters, fetches, notes)


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
    bodies = [body for each in captured.values() for body in each if isinstance(body, Body)]
    taken = {_label(name) for body in bodies for name in body.feeds.values()}
    labels: dict[int, str] = {}
    for tensor in (tensor for each in captured.values() for tensor in each.body.tensors):
        if id(tensor) not in labels:
            wanted = roles[id(tensor)].structured_name if id(tensor) in roles else "constant"
            (labels[id(tensor)],) = _distinct([_label(wanted)], taken)
    for body in bodies:
        names = [*_distinct(map(_label, body.feeds.values()), set()), *(labels[id(t)] for t in body.tensors)]
        for value, name in zip(body.program.inputs, names, strict=True):
            value.name = name
    for method, model in models.items():
        body, training = captured[method]
        stored = {labels[id(t)]: p for t, p in zip(body.tensors, model.parameters.values(), strict=True)}
        for (name, parameter), tensor in zip(stored.items(), body.tensors, strict=True):
            parameter.structured_name = parameter.structured_name if id(tensor) in roles else name
        model.feeds, model.parameters = [v.name for v in body.feeds], stored
        if isinstance(training, Body):
            changes = [(labels[id(tensor)], how) for tensor, how in training.changes]
            found = Training(text_of(training.program), len(training.feeds), changes, training.returns)
            model.training = _fitting(model, found) if _differs(found, model) else None
        else:
            model.training = training


def _differs(training: Training, model: export.Model) -> bool:
    return training.program != text_of(model.program) or training.returns != model.notes["returns"]


def _fitting(model: export.Model, training: Training) -> Training | str:
    """What will be read of the file again, or why it will not."""
    try:
        own_notes.in_training(model, training)
    except FormatError as error:
        return error.message
    return training


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
