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
from d2s.capture.forms import OneOf
from d2s.capture.symbolic import SymbolicTensor, Tracer
from d2s.convert.calls import RECORDED
from d2s.eager.tensor import Tensor, to_tensor
from d2s.errors import ArgumentError, FormatError
from d2s.export.model import BUFFER, PARAMETER
from d2s.export.paddle_format import FORWARD
from d2s.export.streams import draws, to_run
from d2s.ir.program import Program, Value
from d2s.jit import returned
from d2s.jit.graph import Graph
from d2s.jit.inlining import inlined
from d2s.jit.to_static import StaticFunction
from d2s.jit.training_form import TrainingForm, marks_of
from d2s.nn.layer import Layer, Parameter
from d2s.runtime import launch, random_state
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
    name = os.fspath(path).removesuffix(".pdmodel")
    if model_filename or params_filename or (os.path.isdir(name) and not os.path.exists(f"{name}.pdmodel")):
        return TranslatedLayer({FORWARD: export.load_folder(name, model_filename, params_filename)}, name)
    return TranslatedLayer(export.load_methods(name), name)


class _Method:
    """One graph of a loaded layer: what it takes, what it reads of the layer, and what it returns."""

    def __init__(self, name: str, model: export.Model, held: list[Tensor]) -> None:
        self.name, self.model, self.held, self.graph = name, model, held, Graph(to_run(model.program))
        self.draws = draws(model.program)
        self.taken: tuple[Value, ...] = model.program.inputs[: len(model.feeds)]
        self.marks, self.training = marks_of(model), False
        count = len(model.fetches)
        self.returns = model.notes["returns"] if "returns" in model.notes else returned.several(count)
        if returned.count(self.returns) != count:
            raise FormatError("D2S3001", "the note on what the function returns does not fit its outputs")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if current_recording() is not None or _one_twice((*args, *kwargs.values(), *self.held)):
            return self.captured(*args, **kwargs)
        extents: dict[str, tuple[Dim, str]] = {}
        tensors = [_fed(value, x, extents) for value, x in zip(self.taken, self._bound(args, kwargs), strict=True)]
        run = self.form if self.trains else self._drawn if self.draws else self.graph
        outputs = zip(self.model.program.outputs, run([*tensors, *self.held]), strict=False)
        return returned.result(self.returns, (_number(found) if value.type.python else found for value, found in outputs))

    @property
    def trains(self) -> bool:
        """Whether training does something else than inference, and is what is going on."""
        if self.training and (kinds := self.model.notes.get("training inside")):
            what = "takes the batch's own averages" if "norm" in kinds else "drops values"
            message = f"train(): '{self.name}' {what} in an `if` or a loop, where a loaded layer does not"
            raise ArgumentError("D2S0004", message, hint="eval(), or train it before it is saved")
        return self.training and bool(self.marks)

    def _drawn(self, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
        """A run that draws from the stream of the process."""
        with random_state.held() as state:
            *found, left = self.graph([*inputs, *(Tensor(np.array(n)) for n in state)])
            random_state.move_to(left.item())
        return found

    @functools.cached_property
    def captured(self) -> StaticFunction:
        """The method as a function that is captured: what is given twice is one input there, as it has one gradient."""
        return StaticFunction(_Method.__call__, None, self)

    @functools.cached_property
    def form(self) -> TrainingForm:
        """The graph as it is in training."""
        if self.draws:
            message = (
                f"train(): '{self.name}' draws random numbers, and batch norms or dropout that training needs stand among them"
            )
            raise ArgumentError("D2S0004", message, hint="eval(), or train it before it is saved")
        return TrainingForm(self.model.program, len(self.taken), self.marks)

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The arguments in order, by place or by name."""
        names = [value.name for value in self.taken]
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
        pairs = zip(self.model.parameters.items(), self.held, strict=True)
        now = {n: dataclasses.replace(p, array=t.array, trainable=not t.stop_gradient) for (n, p), t in pairs}
        return dataclasses.replace(self.model, parameters=now)

    def signature(self) -> str:
        types = [str(value.type) for value in self.model.program.outputs]
        takes = ", ".join(f"{value.name}: {value.type}" for value in self.taken)
        return f"{self.name}({takes}) -> {types[0] if len(types) == 1 else '(' + ', '.join(types) + ')'}"


def _one_twice(given: Sequence[Any]) -> bool:
    """Whether a tensor that wants a gradient stands in two places."""
    wanting = [id(x) for x in given if isinstance(x, Tensor) and not x.stop_gradient]
    return len(set(wanting)) < len(wanting)


def _inlined(tracer: Tracer, method: _Method, *args: Any, **kwargs: Any) -> Any:
    """A call in a captured function: the graph becomes a part of that one."""
    read = functools.partial(getattr, method, "training")
    tracer.guard((id(method), "attribute", "training"), "loaded.training", read, source=("attribute", method, "training"))
    extents: dict[str, tuple[Dim, str]] = {}
    given = [_fed(value, x, extents) for value, x in zip(method.taken, method._bound(args, kwargs), strict=True)]
    found: Sequence[Any]
    if method.trains:
        found = method.form([*given, *method.held])
    else:
        marks = {mark[0]: mark[1:] for mark in method.marks}
        found = inlined(tracer, method.model.program, [*given, *method.held], marks)
    return returned.result(method.returns, iter(found), OneOf)


RECORDED[_Method.__call__] = _inlined


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
        for name, model in models.items():
            self._methods[name] = _Method(name, model, [self._hold(held, p) for p in model.parameters.values()])
            for second, first in _second_names(model, held):
                self._register(second, held[first])
        self.eval()

    def _hold(self, held: dict[str, Tensor], stored: export.Parameter) -> Tensor:
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
        return held[name]

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
        for method in self.__dict__.get("_methods", {}).values():
            method.training = mode

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


def _second_names(model: export.Model, held: Mapping[str, Tensor]) -> list[tuple[str, str]]:
    """Further names of tensors in the layer that was saved."""
    noted = model.notes.get("also", {})
    pairs = list(noted.items()) if isinstance(noted, dict) else []
    return [(second, first) for second, first in pairs if isinstance(first, str) and first in held and second not in held]
