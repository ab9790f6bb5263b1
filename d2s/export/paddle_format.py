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
from collections.abc import Iterator

import numpy as np

from d2s import types
from d2s.errors import ArgumentError, D2SError, DTypeError, FileError, FormatError, brief
from d2s.export import own_notes, paddle_reader, paddle_writer, protobuf, tensors
from d2s.export.model import Model, Parameter
from d2s.types import Type

__all__ = ["Model", "Parameter", "load", "save"]
_DAMAGE = (D2SError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_MODEL, _PARAMETERS, _INFO = ".pdmodel", ".pdiparams", ".pdiparams.info"


def save(model: Model, prefix: str | os.PathLike[str]) -> None:
    """Writes the three files, each at once or not at all; nothing is written of a model that is refused."""
    _check(model)
    described, stored = paddle_writer.describe(model)
    values = tensors.write_parameters({name: p.array for name, p in stored.items()})
    described["notes"] = paddle_writer.notes_of(model, _digest(values))
    files = {
        _PARAMETERS: values,
        _INFO: tensors.write_info({name: (p.structured_name, p.trainable) for name, p in stored.items()}),
        _MODEL: protobuf.encode("ProgramDesc", described),
    }
    for ending, data in files.items():
        _replace(_path(prefix, ending), data)


def _path(prefix: str | os.PathLike[str], ending: str) -> str:
    try:
        found = os.fspath(prefix)
    except TypeError:
        raise DTypeError("D2S0001", f"a path is a str, not {type(prefix).__name__}") from None
    if not isinstance(found, str) or "\0" in found:
        raise ArgumentError("D2S0004", f"{brief(found)} is no path of a file")
    return f"{found}{ending}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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


def _replace(path: str, data: bytes) -> None:
    draft = f"{path}.{os.getpid()}.part"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, path)
    except OSError as error:
        raise FileError("D2S3004", f"{path} cannot be written: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(draft)


def load(prefix: str | os.PathLike[str]) -> Model:
    """The model of these files; a missing `.info` is made up for."""
    data = _bytes(prefix, _MODEL)
    described = protobuf.decode("ProgramDesc", data)
    names = paddle_reader.parameters(described)
    values = _bytes(prefix, _PARAMETERS, needed=bool(names))
    arrays = tensors.read_parameters(values, names)
    if own_notes.digest(described) not in ("", _digest(values)):
        message = f"{os.fspath(prefix)}{_PARAMETERS} is not the file that was written with {_MODEL}"
        raise FormatError("D2S3001", f"{message}: it is damaged, or saving was interrupted", hint="save the model again")
    info = _bytes(prefix, _INFO, needed=False)
    with damage_named(f"{os.fspath(prefix)}{_MODEL}"):
        return model_of(data, described, arrays, tensors.read_info(info) if info else {})


@contextlib.contextmanager
def damage_named(what: str) -> Iterator[None]:
    """Whatever goes wrong with a description is said of what it was read from."""
    try:
        yield
    except FormatError:
        raise
    except _DAMAGE as error:
        message = error.message if isinstance(error, D2SError) else repr(error)
        raise FormatError("D2S3001", f"{what} describes no program of d2s: {message}") from error


def model_of(
    data: bytes, described: protobuf.Message, arrays: dict[str, np.ndarray], info: dict[str, tuple[str, bool]]
) -> Model:
    """The model of a `.pdmodel`, its bytes and what was decoded of them, and the values of its parameters."""
    own = own_notes.own_model(data, described, info)
    if not own:
        model = paddle_reader.read(described, arrays, info)
        model.notes = own_notes.user_notes(described)
        return model
    model, names = own
    for (key, parameter), name in zip(model.parameters.items(), names, strict=False):
        model.parameters[key] = Parameter(arrays[name], parameter.structured_name, parameter.trainable)
    _check(model)
    return model


def _bytes(prefix: str | os.PathLike[str], ending: str, needed: bool = True) -> bytes:
    path = _path(prefix, ending)
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        if not needed:
            return b""
        raise FormatError("D2S3001", f"there is no file {path}") from None
    except OSError as error:
        raise FormatError("D2S3001", f"{path} cannot be read: {error.strerror}") from None
