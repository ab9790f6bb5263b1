"""Genuine Paddle inference files: `.pdmodel`, `.pdiparams`, `.pdiparams.info`.

In: a Model and a path without its ending. Out: the files; and back.

Nothing that is read is ever executed: what is damaged, hostile or unknown is a FormatError.

>>> import tempfile
>>> import numpy as np
>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[n,2], w: f32[2]) -> (f32[n,2]) { %0: f32[n,2] = add(x, w) return %0 }")
>>> with tempfile.TemporaryDirectory() as folder:
...     save(Model(program, ["x"], {"w": Parameter(np.ones(2, "float32"), "w")}, ["y"]), folder + "/net")
...     print(load(folder + "/net").program.nodes[0].outputs[0].type)
f32[n,2]
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from d2s import types
from d2s.checkpoint import whole_files
from d2s.errors import ArgumentError, D2SError, DTypeError, FormatError, brief
from d2s.export import own_notes, paddle_reader, paddle_writer, protobuf, tensors
from d2s.export.model import Model, Parameter, Role
from d2s.ops.training_marks import INSIDE, PLACED
from d2s.types import Type

__all__ = ["Model", "Parameter", "load", "load_methods", "save", "save_methods"]
_DAMAGE = (D2SError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
FORWARD = "forward"
_MODEL, _PARAMETERS, _INFO = ".pdmodel", ".pdiparams", ".pdiparams.info"


def save(model: Model, prefix: str | os.PathLike[str]) -> None:
    """Writes the three files, each at once or not at all; nothing is written of a model that is refused."""
    save_methods({FORWARD: model}, prefix)


def save_methods(models: Mapping[str, Model], prefix: str | os.PathLike[str]) -> None:
    """The same of several methods of a layer: `prefix.NAME.pdmodel`, and one `.info` for all, as Paddle has it.

    The models are written last. Each knows digests of what it was written with, so that a crash on the way is seen.
    """
    if not os.path.basename(_path(prefix, "")):
        raise ArgumentError("D2S0004", f"{brief(prefix)} names a folder and no file in it", hint="folder/name")
    for model in models.values():
        _check(model)
    described = {name: paddle_writer.describe(model) for name, model in models.items()}
    values = {
        name: tensors.write_parameters({v: p.array for v, p in stored.items()}) for name, (_, stored) in described.items()
    }
    info = tensors.write_info({v: p.role for _, stored in described.values() for v, p in stored.items()})
    texts = [paddle_writer.notes_of(model, {}).encode() for model in models.values()]
    shared = {"info": _digest(info), "methods": list(models), "together": _digest(info, *values.values(), *texts)}
    files = {_path(_of_method(prefix, name), _PARAMETERS): data for name, data in values.items()}
    files[_path(prefix, _INFO)] = info
    for name, (whole, _) in described.items():
        whole["notes"] = paddle_writer.notes_of(models[name], shared | {"values": _digest(values[name])})
        files[_path(_of_method(prefix, name), _MODEL)] = protobuf.encode("ProgramDesc", whole)
    with whole_files.together(_path(prefix, "")):
        whole_files.replace(files)


def _of_method(prefix: str | os.PathLike[str], name: str) -> str:
    return _path(prefix, "" if name == FORWARD else f".{name}")


def _path(prefix: str | os.PathLike[str], ending: str) -> str:
    try:
        found = os.fspath(prefix)
    except TypeError:
        raise DTypeError("D2S0001", f"a path is a str, not {type(prefix).__name__}") from None
    if not isinstance(found, str) or "\0" in found:
        raise ArgumentError("D2S0004", f"{brief(found)} is no path of a file")
    return f"{found}{ending}"


def _digest(*parts: bytes) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()


def _check(model: Model) -> None:
    inputs = model.program.inputs
    if [v.name for v in inputs] != [*model.feeds, *model.parameters] or len(model.fetches) != len(model.program.outputs):
        raise FormatError(
            "D2S3002", "the inputs of the program are not its feeds and then its parameters, or a fetch has no name"
        )
    for value in inputs[len(model.feeds) :]:
        array = model.parameters[value.name].array
        if value.type != Type(types.dtype(array.dtype), array.shape):
            raise FormatError(
                "D2S3002", f"parameter '{value.name}' is {value.type}, its value is {array.dtype}{list(array.shape)}"
            )


def load(prefix: str | os.PathLike[str]) -> Model:
    """The model of these files; a missing `.info` is made up for."""
    with whole_files.together(_path(prefix, "")):
        return _load(prefix, FORWARD)[0]


def load_methods(prefix: str | os.PathLike[str]) -> dict[str, Model]:
    """The models of all methods: those that were saved together, or of Paddle's files those that have the prefix."""
    with whole_files.together(_path(prefix, "")):
        return _load_methods(prefix)


def _load_methods(prefix: str | os.PathLike[str]) -> dict[str, Model]:
    there = _methods_there(prefix)
    if there and not os.path.exists(_path(prefix, _MODEL)):
        return {name: _load(prefix, name)[0] for name in there}
    model, seals = _load(prefix, FORWARD)
    found, told = {FORWARD: model}, seals.get("methods")
    for name in there if told is None else told:
        if not isinstance(name, str) or not name.isidentifier():
            raise FormatError("D2S3001", f"{_path(prefix, _MODEL)} names a method {name!r:.40}")
        if name != FORWARD:
            found[name], others = _load(prefix, name)
            _agree(_path(_of_method(prefix, name), _MODEL), seals.get("together") == others.get("together"))
    return found


def _methods_there(prefix: str | os.PathLike[str]) -> list[str]:
    """The methods besides `forward` whose files lie there; what has an `.info` of its own is another model."""
    folder, base = os.path.split(_path(prefix, ""))
    files = set(os.listdir(folder or ".")) if os.path.isdir(folder or ".") else set()
    names = sorted(f[len(base) + 1 : -len(_MODEL)] for f in files if f.startswith(f"{base}.") and f.endswith(_MODEL))
    return [n for n in names if n.isidentifier() and f"{base}.{n}{_INFO}" not in files]


def _agree(path: str, holds: bool) -> None:
    if not holds:
        message = f"{path} is not the file that was written with the others of its name"
        raise FormatError("D2S3001", f"{message}: it is damaged, or saving was interrupted", hint="save the model again")


def _load(prefix: str | os.PathLike[str], method: str) -> tuple[Model, dict[str, Any]]:
    """The model of a method, and the digests it was written with."""
    own = _of_method(prefix, method)
    data = read_bytes(_path(own, _MODEL))
    with damage_named(_path(own, _MODEL)):
        described = protobuf.decode("ProgramDesc", data)
        names, seals = paddle_reader.parameters(described), own_notes.seals(described)
    values, info = read_bytes(_path(own, _PARAMETERS), needed=bool(names)), read_bytes(_path(prefix, _INFO), False)
    with damage_named(_path(own, _PARAMETERS)):
        arrays = tensors.read_parameters(values, names)
    with damage_named(_path(prefix, _INFO)):
        roles = tensors.read_info(info) if info else {}
    _agree(_path(own, _PARAMETERS), seals.get("values", "") in ("", _digest(values)))
    _agree(_path(prefix, _INFO), not info or seals.get("info", "") in ("", _digest(info)))
    with damage_named(_path(own, _MODEL)):
        return model_of(data, described, arrays, roles), seals


@contextlib.contextmanager
def damage_named(what: str) -> Iterator[None]:
    """Whatever goes wrong with a description is said of what it was read from."""
    try:
        yield
    except FormatError as error:
        if what in error.message:
            raise
        raise FormatError(error.code, f"{what}: {error.message}", where=error.where, hint=error.hint) from None
    except _DAMAGE as error:
        message = error.message if isinstance(error, D2SError) else repr(error)
        raise FormatError("D2S3001", f"{what} describes no program of d2s: {message}") from error


def model_of(data: bytes, described: protobuf.Message, arrays: dict[str, np.ndarray], info: dict[str, Role]) -> Model:
    """The model of a `.pdmodel`, its bytes and what was decoded of them, and the values of its parameters."""
    own = own_notes.own_model(data, described, info)
    if not own:
        model = paddle_reader.read(described, arrays, info)
        kept = own_notes.user_notes(described)  # what was noted of nodes is not about these
        model.notes |= {what: said for what, said in kept.items() if what not in (PLACED, INSIDE)}
        return model
    model, names = own
    for (key, parameter), name in zip(model.parameters.items(), names, strict=False):
        model.parameters[key] = Parameter(arrays[name], *parameter.role)
    _check(model)
    return model


def read_bytes(path: str, needed: bool = True) -> bytes:
    """The bytes of a file; none of one that is not there, if it need not be."""
    try:
        return whole_files.read(path)
    except FileNotFoundError:
        if not needed:
            return b""
        raise FormatError("D2S3001", f"there is no file {path}") from None
