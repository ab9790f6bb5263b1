"""`load`: a model from files as a layer that needs no source.

In: files that d2s, or Paddle, wrote. Out: a layer, called, trained and saved like any other.

>>> import tempfile
>>> path = tempfile.mkdtemp() + "/net"
>>> d2s.jit.save(d2s.nn.Linear(2, 1), path, input_spec=[d2s.static.InputSpec([None, 2], name="x")])
>>> print(str(load(path)).replace(path, "net"))
TranslatedLayer('net': forward(x: f32[n0,2]) -> f32[n0,1]; 2 parameters of 3 numbers)
"""

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from d2s import export
from d2s.arguments import expect
from d2s.capture.branch import switch
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer, capturing
from d2s.convert.attributes import get_attribute, set_attribute
from d2s.convert.calls import RECORDED
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, FormatError
from d2s.export.model import BUFFER, CHOSEN, JOINED, PARAMETER, REPLACED, Training, second_names
from d2s.export.paddle_format import FORWARD, damage_named
from d2s.ir.program import Program, Value
from d2s.jit import returned
from d2s.jit.loaded_ways import Way, in_inference, in_training
from d2s.jit.to_static import StaticFunction
from d2s.nn.layer import Layer, Parameter
from d2s.once import once
from d2s.runtime import launch, modes
from d2s.static.program import current_recording
from d2s.types import NUMBERS, Dim, Type


def load(path: str, model_filename: str | None = None, params_filename: str | None = None) -> "TranslatedLayer":
    """The layer in `path.pdmodel`, or in a folder of Paddle 1.x, whose files may have names of their own.

    It is in eval mode, and trained and saved like any other.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/twice"
    >>> d2s.jit.save(d2s.to_static(lambda x: x * 2.0), path, input_spec=[d2s.static.InputSpec([None])])
    >>> d2s.jit.load(path)(d2s.to_tensor([1.5])).tolist()
    [3.0]
    """
    expect("load", "path", path, str | os.PathLike, "a path")
    expect("load", "model_filename", model_filename, str | None, "a str")
    expect("load", "params_filename", params_filename, str | None, "a str")
    name = os.fspath(path)
    name = name if os.path.exists(f"{name}.pdmodel") else name.removesuffix(".pdmodel")
    if model_filename or params_filename or (os.path.isdir(name) and not os.path.exists(f"{name}.pdmodel")):
        return TranslatedLayer({FORWARD: export.load_folder(name, model_filename, params_filename)}, name)
    return TranslatedLayer(export.load_methods(name), name)


class _Method:
    """One method of a loaded layer: how it runs in inference and in training, and what it reads of the layer."""

    def __init__(self, name: str, model: export.Model, layer: "TranslatedLayer") -> None:
        self.name, self.model, self.layer = name, model, layer
        with damage_named(layer.path):
            self.inference = in_inference(model)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        way = self.way
        held = self.layer.held(self.model, way.stored)
        if current_recording() is not None or _one_twice((*args, *kwargs.values(), *held)):
            return self.captured(*args, **kwargs)
        found = self._left(way, self._fed(way, args, kwargs), held)
        numbers = (_number(x) if value.type.python else x for value, x in zip(way.results, found, strict=True))
        return returned.result(way.returns, numbers)

    def inlined(self, tracer: Tracer, *args: Any, **kwargs: Any) -> Any:
        """A call in a captured function: the graph becomes a part of that one."""
        layer = self.layer
        read = functools.partial(modes.read, layer, "training")
        tracer.guard((id(layer), "attribute", "training"), "loaded.training", read, source=("attribute", layer, "training"))
        way = self.way
        given = self._fed(way, args, kwargs)
        return returned.result(way.returns, iter(self._left(way, given, self.layer.held(self.model, way.stored))), OneOf)

    def _fed(self, way: Way, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        extents: dict[str, tuple[Dim, str]] = {}
        return [_fed(value, x, extents) for value, x in zip(way.taken, self._bound(way, args, kwargs), strict=True)]

    def _left(self, way: Way, given: Sequence[Any], held: Sequence[Any]) -> Sequence[Any]:
        """A run; the results of it, where what it changes is changed."""
        found = way.run([*given, *held])
        behind = iter(found[len(way.results) :])
        for name, how in way.changes:
            tag = next(behind) if how in CHOSEN else None
            self.layer.change(self.model, name, how, next(behind), tag)
        return found[: len(way.results)]

    @once
    def trained(self) -> Way | str:
        """How it runs in training, which is read where that begins; or why it does not."""
        with damage_named(self.layer.path):
            return in_training(self.model, self.inference)

    @property
    def way(self) -> Way:
        """How it runs as things stand."""
        if not modes.read(self.layer, "training"):
            return self.inference
        if isinstance(self.trained, str):
            message = f"train(): '{self.name}' cannot be trained once it is loaded: {self.trained}"
            raise ArgumentError("D2S0004", message, hint="eval(), or train it before it is saved")
        return self.trained

    @once
    def captured(self) -> StaticFunction:
        """The method as a function that is captured: what is given twice is one input there, as it has one gradient."""
        return StaticFunction(_Method.__call__, None, self)

    def _bound(self, way: Way, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in order, by place or by name."""
        names = [value.name for value in way.taken]
        given = dict(zip(names, args, strict=False))
        wrong = [name for name in kwargs if name not in names or name in given]
        missing = [name for name in names if name not in given | kwargs]
        if wrong or missing or len(args) > len(names):
            what = [f"'{name}' is not expected" for name in wrong] + [f"'{name}' is missing" for name in missing]
            what = what or [f"{len(args)} arguments came"]
            left = self.model.notes.get("left out")
            hint = f"what it returned did not depend on {left} when it was saved" if left else ""
            raise ArgumentError("D2S0001", f"{self.name}() takes {', '.join(names) or 'nothing'}: {what[0]}", hint=hint)
        return [(given | kwargs)[name] for name in names]

    def stored(self) -> export.Model:
        """The model, with the values as they are now."""
        held = self.layer.held(self.model, list(self.model.parameters))
        pairs = zip(self.model.parameters.items(), held, strict=True)
        now = {n: dataclasses.replace(p, array=t.array, trainable=not t.stop_gradient) for (n, p), t in pairs}
        return dataclasses.replace(self.model, parameters=now)

    def signature(self) -> str:
        types = [str(value.type) for value in self.model.program.outputs]
        takes = ", ".join(f"{value.name}: {value.type}" for value in self.inference.taken)
        return f"{self.name}({takes}) -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}"


def _one_twice(given: Sequence[Any]) -> bool:
    """Whether a tensor that wants a gradient stands in two places."""
    wanting = [id(x) for x in given if isinstance(x, Tensor) and not x.stop_gradient]
    return len(set(wanting)) < len(wanting)


RECORDED[_Method.__call__] = lambda tracer, method, *args, **kwargs: method.inlined(tracer, *args, **kwargs)


def _number(found: Any) -> Any:
    """A Python number, or a list of them, as it was before saving."""
    return list(map(_number, found)) if isinstance(found, list) else found.item()


def _fed(wanted: Value, given: Any, extents: dict[str, tuple[Dim, str]]) -> Any:
    """An argument, or the symbol of one, if it is what the graph was captured for."""
    tensor = given
    if wanted.type.python and isinstance(given, NUMBERS):
        tensor = Tensor(np.array(given, wanted.type.dtype.numpy))
    elif isinstance(given, np.ndarray):
        tensor = to_tensor(given)
    got = launch.type_of(tensor.array) if isinstance(tensor, Tensor) else None
    got = tensor.value.type if isinstance(tensor, SymbolicTensor) else got
    why = _difference(wanted.name, wanted.type, got, extents) if got else ""
    if why is None:
        return tensor
    hint = f"{wanted.name}.astype('{wanted.type.dtype.name}')" if got and got.dtype is not wanted.type.dtype else ""
    raise ArgumentError("D2S0002", f"'{wanted.name}' expects {wanted.type}, got {got or type(given).__name__}{why}", hint=hint)


def _difference(name: str, wanted: Type, got: Type, extents: dict[str, tuple[Dim, str]]) -> str | None:
    """None where a type is the wanted one; else what there is to say besides the two types."""
    if wanted.dtype is not got.dtype or len(wanted.shape) != len(got.shape):
        return ""
    for dim, size in zip(wanted.shape, got.shape, strict=True):
        known, by = extents.setdefault(dim, (size, name)) if isinstance(dim, str) else (dim, "")
        if known != size:
            return f": {dim} is {known} in '{by}'" if by else ""
    return None


class TranslatedLayer(Layer):
    """A loaded model as a layer, with all methods it was saved with."""

    def __init__(self, models: Mapping[str, export.Model], path: str) -> None:
        super().__init__()
        self.path = path
        held: dict[str, Tensor] = {}
        self._methods: dict[str, _Method] = {}
        self._replaced = {_called(m, n) for m in models.values() for n, how in _changes(m) if how in (REPLACED, *CHOSEN)}
        for name, model in models.items():
            for stored in model.parameters.values():
                self._hold(held, stored)
            self._methods[name] = _Method(name, model, self)
            for second, first in second_names(model).items():
                if first in held and second not in held:
                    self._register(second, held[first])
        self.eval()

    def held(self, model: export.Model, names: Sequence[str]) -> list[Any]:
        """Stored values as they are now."""
        called = [_called(model, name) for name in names]
        return [get_attribute(self, name) if name in self._replaced else self._tensor(name) for name in called]

    def _tensor(self, name: str) -> Tensor:
        return self._parameters[name] if name in self._parameters else self._buffers[name]  # type: ignore[return-value]

    def change(self, model: export.Model, name: str, how: str, value: Any, tag: Any) -> None:
        """Leaves in a stored value what training made of it; of a run in which it stays as it is, a tag says so."""
        if how == REPLACED:
            set_attribute(value, self, _called(model, name))
            return
        (found,), tracer = self.held(model, [name]), capturing()
        if how in CHOSEN:
            one = _by_tag(tracer, tag, (value, found) if how == CHOSEN[0] else (found, value))
            set_attribute(one, self, _called(model, name))
            return
        found = tracer.lift(found) if tracer and isinstance(found, Tensor) else found
        if how == JOINED:
            found._become(value)
        else:
            found.set_value(value)

    def _hold(self, held: dict[str, Tensor], stored: export.Parameter) -> None:
        """The tensor of a stored value: one for all methods that have it."""
        name = stored.structured_name
        if name not in held:
            parameter = stored.kind == PARAMETER
            held[name] = (Parameter if parameter else Tensor)(stored.array, not stored.trainable)
            self._register(name, held[name])
            if not parameter and stored.kind != BUFFER:
                self._non_persistable_buffer_names_set.add(name)
        elif launch.type_of(held[name].array) != launch.type_of(stored.array):
            raise FormatError("D2S3001", f"'{name}' is not the same in all methods")

    def _register(self, name: str, tensor: Tensor) -> None:
        if isinstance(tensor, Parameter):
            self._parameters[name] = tensor
        else:
            self._buffers[name] = tensor

    def __getattr__(self, name: str) -> Any:
        methods = self.__dict__.get("_methods", {})
        return methods[name] if name in methods else super().__getattr__(name)

    @property
    def training(self) -> bool:
        """Whether batch norms take the batch's own averages, and dropout drops, as they did before saving."""
        return bool(self.__dict__.get("_training", True))

    @training.setter
    def training(self, mode: bool) -> None:
        self.__dict__["_training"] = mode

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.method(FORWARD)(*args, **kwargs)

    def method(self, name: str) -> _Method:
        """A method by its name."""
        if name not in self._methods:
            raise ArgumentError("D2S0004", f"'{self.path}' has no method {name!r:.60}", hint=", ".join(self._methods))
        return self._methods[name]

    def program(self, method_name: str = FORWARD) -> Program:
        """The Program of a method."""
        return self.method(method_name).model.program

    def models(self) -> dict[str, export.Model]:
        """What was loaded, with the parameters as they are now."""
        return {name: method.stored() for name, method in self._methods.items()}

    def extra_repr(self) -> str:
        arrays = [p.array for p in self.parameters()]
        buffers = f", {len(self._buffers)} buffers" if self._buffers else ""
        signatures = ", ".join(method.signature() for method in self._methods.values())
        return f"{self.path!r}: {signatures}; {len(arrays)} parameters of {sum(a.size for a in arrays)} numbers{buffers}"


def _by_tag(tracer: Tracer | None, tag: Any, values: tuple[Any, Any]) -> Any:
    """One of two."""
    if tracer is None:
        return values[0 if tag.item() == 0 else 1]
    return switch(tracer, OneOf(tag, values), lambda one: [one])[0]


def _called(model: export.Model, name: str) -> str:
    """What a stored value is called in the layer."""
    return model.parameters[name].structured_name


def _changes(model: export.Model) -> list[tuple[str, str]]:
    return model.training.changes if isinstance(model.training, Training) else []
