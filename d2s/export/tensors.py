"""The tensors of `.pdiparams` and what `.pdiparams.info` says of them. In: arrays by name, or bytes. Out: the other.

>>> data = write_parameters({"w": np.ones((2, 3), "float32")})
>>> read_parameters(data, ["w"])["w"].shape
(2, 3)
>>> read_info(write_info({"w": Role("fc.weight")}))
{'w': Role(structured_name='fc.weight', trainable=True, kind='parameter')}
"""

import io
import math
import pickle
import pickletools
import struct
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from d2s import types
from d2s.errors import FormatError
from d2s.export import protobuf
from d2s.export.model import BUFFER, CONSTANT, PARAMETER, Role
from d2s.types import DType

NUMBERS: dict[DType, int] = {
    types.bool_: 0, types.int16: 1, types.int32: 2, types.int64: 3,
    types.float32: 5, types.float64: 6, types.uint8: 20, types.int8: 21,
}  # fmt: skip
_FOREIGN = {4: "float16", 19: "a length", 22: "bfloat16", 23: "complex64", 24: "complex128"}
_DTYPES = {number: dtype for dtype, number in NUMBERS.items()}
_MAX_RANK = 32
_HEAD = struct.Struct("<IQIi")  # version, levels of detail, version of what follows, length of the description
_SAFE_OPCODES = """PROTO FRAME MARK STOP EMPTY_DICT DICT SETITEM SETITEMS BINUNICODE SHORT_BINUNICODE UNICODE
    NEWTRUE NEWFALSE PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET"""


def dtype_of(number: int) -> DType:
    """The dtype a file means by a number."""
    if number not in _DTYPES:
        raise FormatError("D2S3001", f"{_FOREIGN.get(number, number)} is no dtype of d2s")
    return _DTYPES[number]


def write_parameters(arrays: Mapping[str, np.ndarray]) -> bytes:
    """The tensors one after another, in the order of their sorted names; the names stand in the `.pdmodel` only."""
    out = bytearray()
    for name in sorted(arrays):
        array = arrays[name]
        described = protobuf.encode("TensorDesc", {"data_type": NUMBERS[types.dtype(array.dtype)], "dims": array.shape})
        out += _HEAD.pack(0, 0, 0, len(described)) + described + array.tobytes()
    return bytes(out)


def read_parameters(data: bytes, names: Iterable[str]) -> dict[str, np.ndarray]:
    """The tensors of these names, each an array of its own; FormatError where the bytes do not fit."""
    view, found = memoryview(data), {}
    for name in sorted(names):
        try:
            found[name], view = _read_tensor(view)
        except FormatError as error:
            message = f"parameter '{name}': {error.message}, in the tensor at byte {len(data) - len(view)}"
            raise FormatError("D2S3001", message) from None
    if view:
        message = f"{len(view)} bytes stand behind the last parameter, from byte {len(data) - len(view)} on"
        raise FormatError("D2S3001", message)
    return found


def _read_tensor(view: memoryview) -> tuple[np.ndarray, memoryview]:
    raw, view = _split(view, _HEAD.size)
    version, levels, inner, size = _HEAD.unpack(raw)
    if version or levels or inner:
        raise FormatError("D2S3001", f"tensor version {version}.{inner} with {levels} levels of detail")
    raw, view = _split(view, size)
    described = protobuf.decode("TensorDesc", raw)
    dtype, dims = dtype_of(described["data_type"]), described["dims"]
    if len(dims) > _MAX_RANK or min(dims, default=0) < 0 or math.prod(d or 1 for d in dims) >= 1 << 48:
        raise FormatError("D2S3001", f"dims {dims[:_MAX_RANK]}")
    raw, view = _split(view, math.prod(dims) * dtype.size)
    if dtype is types.bool_ and raw and max(raw) > 1:
        raise FormatError("D2S3001", "a bool that is neither 0 nor 1")
    return np.frombuffer(raw, dtype.numpy).reshape(dims).copy(), view


def _split(view: memoryview, size: int) -> tuple[memoryview, memoryview]:
    if not 0 <= size <= len(view):
        raise FormatError("D2S3001", f"{size} bytes are wanted, {len(view)} are left")
    return view[:size], view[size:]


def write_info(roles: Mapping[str, Role]) -> bytes:
    """The pickle Paddle wants: plain strings and bools, nothing that names code."""
    return pickle.dumps({sys.intern(name): _written(role) for name, role in roles.items()}, protocol=2)  # equal strings are one


def _written(role: Role) -> dict[str, Any]:
    """As Paddle has it: only parameters have `trainable`, and what is not in the state of a layer has no name there."""
    found: dict[str, Any] = {} if role.kind == CONSTANT else {"structured_name": sys.intern(role.structured_name)}
    found["stop_gradient"] = not role.trainable
    return found | ({"trainable": bool(role.trainable)} if role.kind == PARAMETER else {})


def read_info(data: bytes) -> dict[str, Role]:
    """The roles by variable name. Nothing is unpickled that could do more than make dicts."""
    stream = io.BytesIO(data)
    try:
        _scan(data)
        loaded = _Closed(stream).load()
        return {_plain(name, str): _entry(name, entry) for name, entry in loaded.items()}
    except FormatError:
        raise
    except Exception as error:  # a damaged pickle raises whatever it likes
        message = f"the .info file is damaged before byte {stream.tell() or len(data)}: {type(error).__name__}"
        raise FormatError("D2S3001", message) from None


def _entry(name: str, entry: Any) -> Role:
    kind = PARAMETER if "trainable" in entry else BUFFER if "structured_name" in entry else CONSTANT
    trainable = entry.get("trainable", not entry["stop_gradient"])
    return Role(_plain(entry.get("structured_name", name), str), _plain(trainable, bool), kind)


def _scan(data: bytes) -> None:
    for opcode, argument, at in pickletools.genops(data):
        if opcode.name not in _SAFE_OPCODES.split():
            raise FormatError("D2S3001", f"the .info file holds {opcode.name} at byte {at}, which it does not need")
        if "PUT" in opcode.name and not 0 <= int(argument or 0) < len(data):  # an unpickler allocates up to that index
            raise FormatError("D2S3001", f"the .info file wants memo {argument}")


class _Closed(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> NoReturn:
        raise FormatError("D2S3001", f"the .info file names {module}.{name}")


def _plain(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise FormatError("D2S3001", f"the .info file holds a {type(value).__name__} where a {kind.__name__} belongs")
    return value
