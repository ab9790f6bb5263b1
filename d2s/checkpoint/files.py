"""`save` and `load`: states and nests of tensors in files, or in memory.

In: tensors in dicts, lists and tuples, with plain values among them. Out: a file Paddle 2 and 3 read; and back, from theirs.
A state - a dict of tensors by name - is written as arrays and a table of the tensors' own names, anything else with each
tensor as a pair of its name and its array: so does Paddle.

>>> import io
>>> file = io.BytesIO()
>>> save({"weight": d2s.to_tensor([1.0, 2.0]), "epoch": 3}, file)
>>> _ = file.seek(0)
>>> found = load(file)
>>> found["weight"].tolist(), found["epoch"]
([1.0, 2.0], 3)
"""

import io
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from d2s import later
from d2s.checkpoint import pickle_reader, pickle_writer
from d2s.checkpoint.whole_files import refuse_other, replaced
from d2s.eager.tensor import Tensor
from d2s.errors import ArgumentError, DTypeError, FileError, FormatError, brief
from d2s.types import TENSOR_DTYPES

NAMES = "StructuredToParameterName@@"  # the table of the tensors' own names
PARTS = "UnpackBigParamInfor@@"  # where Paddle wrote one array as several
_HELD = {d.numpy for d in TENSOR_DTYPES}
_state_of_model = later.function("d2s.export.states", "state_of")


def save(obj: Any, path: Any, protocol: int = 4) -> None:
    """Writes tensors, in dicts, lists and tuples with plain values, to a file (or a BytesIO), at once or not at all.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/model.pdparams"
    >>> layer = d2s.nn.Linear(2, 1)
    >>> d2s.save(layer.state_dict(), path)
    >>> layer.set_state_dict(d2s.load(path))
    ([], [])
    """
    if not isinstance(protocol, int) or isinstance(protocol, bool) or not 2 <= protocol <= 4:
        raise ArgumentError("D2S0004", f"save(): 'protocol' is {brief(protocol)}, expected 2, 3 or 4")
    written = pickle_writer.pieces(_state(obj) if _is_state(obj) else _nest(obj, 0), protocol)
    if isinstance(path, io.BytesIO):
        path.write(b"".join(written))
        return
    with replaced(_path(path, "save")) as file:
        file.writelines(written)


def load(
    path: Any,
    return_numpy: bool = False,
    keep_name_table: bool = False,
    model_filename: str | None = None,
    params_filename: str | None = None,
) -> Any:
    """What `save`, d2s's or Paddle's, wrote to a file or a BytesIO; with `return_numpy`, arrays in place of tensors.

    Of a model that `jit.save` or `save_inference_model` wrote, by its prefix or its folder, the state of the layer; the files
    of a folder may have names of their own.

    Nothing that is read is executed: what is damaged, hostile or unknown is a FormatError.

    >>> import io
    >>> file = io.BytesIO()
    >>> d2s.save([d2s.to_tensor([1, 2]), "text"], file)
    >>> _ = file.seek(0)
    >>> d2s.load(file, return_numpy=True)
    [array([1, 2]), 'text']
    """
    made: Callable[[str, np.ndarray], Any] = (lambda name, array: array) if return_numpy else _tensor
    if isinstance(path, io.BytesIO):
        return _understood(pickle_reader.read(path), made, keep_name_table)
    name = _path(path, "load")
    if not os.path.isfile(name) and (os.path.isfile(f"{name}.pdmodel") or os.path.isdir(name)):
        return {key: made("", array) for key, array in _state_of_model(name, model_filename, params_filename).items()}
    try:
        refuse_other(name)
        with open(name, "rb") as file:
            return _understood(pickle_reader.read(file), made, keep_name_table)
    except OSError as error:
        raise FileError("D2S3004", f"{name} cannot be read: {error.strerror}") from None
    except FormatError as error:
        raise (error if name in error.message else FormatError(error.code, f"{name}: {error.message}")) from None


# --- from tensors to plain values


def _is_state(obj: Any) -> bool:
    """Whether it is a dict of tensors, and of values without any, by name."""
    return isinstance(obj, dict) and all(isinstance(v, Tensor) or not _holds_tensor(v, 0) for v in obj.values())


def _holds_tensor(value: Any, depth: int) -> bool:
    if isinstance(value, Tensor) or depth > pickle_writer.DEEPEST:
        return True
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple | set) else ()
    return any(_holds_tensor(held, depth + 1) for held in inside)


def _state(obj: dict[Any, Any]) -> dict[Any, Any]:
    found = {key: value.array if isinstance(value, Tensor) else value for key, value in obj.items()}
    return found | {NAMES: {key: value.name for key, value in obj.items() if isinstance(value, Tensor)}}


def _nest(value: Any, depth: int) -> Any:
    if isinstance(value, Tensor):
        return pickle_writer.Named(value.name, value.array)
    if depth > pickle_writer.DEEPEST:
        return value  # which the writer refuses
    if isinstance(value, dict):
        return {key: _nest(held, depth + 1) for key, held in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_nest(held, depth + 1) for held in value)
    return value


# --- from plain values to tensors


def _understood(value: Any, made: Callable[[str, np.ndarray], Any], keep_name_table: bool) -> Any:
    if isinstance(value, dict) and isinstance(value.get(NAMES), dict):
        names, value = value[NAMES], _joined(value)
        tensors = {key for key, held in value.items() if key in names and isinstance(held, np.ndarray)}
        found = {key: made(str(names[key]), held) if key in tensors else held for key, held in value.items()}
        return found if keep_name_table else {key: v for key, v in found.items() if key != NAMES}
    return made("", value) if isinstance(value, np.ndarray) else _with_tensors(value, made, {})


def _with_tensors(value: Any, made: Callable[[str, np.ndarray], Any], known: dict[int, Any]) -> Any:
    """Pairs of a name and an array as tensors. What stands in several places of the file is one object, as it was."""
    if not isinstance(value, dict | list | tuple):
        return value
    if id(value) not in known:
        known[id(value)] = _container_with_tensors(value, made, known)
    return known[id(value)]


def _container_with_tensors(value: Any, made: Callable[[str, np.ndarray], Any], known: dict[int, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _with_tensors(held, made, known) for key, held in value.items()}
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], np.ndarray):
        return made(*value)
    return type(value)(_with_tensors(held, made, known) for held in value)


def _joined(state: dict[Any, Any]) -> dict[Any, Any]:
    """A state whose large arrays are whole again."""
    if not isinstance(state.get(PARTS), dict):
        return state
    state = dict(state)
    try:
        for key, about in state.pop(PARTS).items():
            parts = [state.pop(part).reshape(-1) for part in about["slices"]]
            state[key] = np.concatenate(parts).reshape(about["OriginShape"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError("D2S3001", f"an array in several parts is damaged: {type(error).__name__}") from None
    return state


def _tensor(name: str, array: np.ndarray) -> Tensor:
    if array.dtype not in _HELD:
        brain = array.dtype == np.uint16  # as Paddle writes it: the upper halves of float32s
        hint = "return_numpy=True" + (", and (bits.astype('uint32') << 16).view('float32') of each" if brain else "")
        what = "bfloat16" if brain else array.dtype.name
        raise FormatError("D2S3002", f"'{name:.60}' holds {what}, which d2s does not", hint=hint)
    found = Tensor(array)
    found.name = name
    return found


# --- files


def _path(path: Any, function: str) -> str:
    try:
        found = os.fspath(path)
    except TypeError:
        got = type(path).__name__
        raise DTypeError("D2S0001", f"{function}(): 'path' expects a path or a BytesIO, got {got}") from None
    if not isinstance(found, str) or not os.path.basename(found) or "\0" in found:
        raise ArgumentError("D2S0004", f"{function}(): {brief(found)} is no path of a file")
    return found
