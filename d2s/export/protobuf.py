"""The protobuf wire format, for the messages of a `.pdmodel` and of VisualDL's logs.

In: a message name and a dict, or bytes. Out: the other.

Field numbers are those Paddle publishes; unknown fields are skipped, absent ones read as zero.

>>> encode("TensorDesc", {"data_type": 5, "dims": [-1, 4]}).hex()
'080510ffffffffffffffffff011004'
>>> decode("TensorDesc", bytes.fromhex("080510ffffffffffffffffff011004"))
{'data_type': 5, 'dims': [-1, 4]}
"""

import struct
from collections.abc import Iterator
from typing import Any

from d2s.errors import FormatError

Message = dict[str, Any]

# field number: (name, kind); a kind is int, float, double, text or a message, with * where the field repeats
SCHEMA: dict[str, dict[int, tuple[str, str]]] = {
    "ProgramDesc": {
        1: ("blocks", "BlockDesc*"), 4: ("version", "Version"),
        1000: ("notes", "text"),  # no number of Paddle's: both its generations skip the field
    },
    "Version": {1: ("version", "int")},
    "BlockDesc": {
        1: ("idx", "int"), 2: ("parent_idx", "int"), 3: ("vars", "VarDesc*"), 4: ("ops", "OpDesc*"),
        5: ("forward_block_idx", "int"),
    },
    "VarDesc": {
        1: ("name", "text"), 2: ("type", "VarType"), 3: ("persistable", "int"), 4: ("need_check_feed", "int"),
        5: ("is_parameter", "int"), 6: ("stop_gradient", "int"),
    },
    "VarType": {1: ("type", "int"), 3: ("lod_tensor", "LoDTensorDesc")},
    "LoDTensorDesc": {1: ("tensor", "TensorDesc"), 2: ("lod_level", "int")},
    "TensorDesc": {1: ("data_type", "int"), 2: ("dims", "int*")},
    "OpDesc": {1: ("inputs", "OpVar*"), 2: ("outputs", "OpVar*"), 3: ("type", "text"), 4: ("attrs", "OpAttr*")},
    "OpVar": {1: ("parameter", "text"), 2: ("arguments", "text*")},
    "OpAttr": {
        1: ("name", "text"), 2: ("type", "int"), 3: ("i", "int"), 4: ("f", "float"), 5: ("s", "text"),
        6: ("ints", "int*"), 7: ("floats", "float*"), 8: ("strings", "text*"), 10: ("b", "int"), 11: ("bools", "int*"),
        12: ("block_idx", "int"), 13: ("l", "int"), 15: ("longs", "int*"), 16: ("float64s", "double*"),
        19: ("float64", "double"), 20: ("scalar", "Scalar*"), 21: ("scalars", "Scalar*"),
    },
    "Scalar": {1: ("type", "int"), 2: ("b", "int"), 3: ("i", "int"), 4: ("r", "double")},
    "Record": {1: ("values", "RecordValue*")},  # of VisualDL's logs
    "RecordValue": {1: ("id", "int"), 2: ("tag", "text"), 3: ("timestamp", "int"), 4: ("value", "float")},
}  # fmt: skip
_FIXED = {"float": ("<f", 5), "double": ("<d", 1)}  # how packed, and the wire type of one alone
_ZERO = {"int": 0, "float": 0.0, "double": 0.0, "text": ""}
_VARINT, _SIZED = 0, 2


def encode(message: str, fields: Message) -> bytes:
    """The bytes of a message; fields that are not in the dict are not written."""
    out = bytearray()
    for number, (name, kind) in SCHEMA[message].items():
        if name in fields:
            for value in fields[name] if kind.endswith("*") else [fields[name]]:
                out += _field(number, kind.rstrip("*"), value)
    return bytes(out)


def _field(number: int, kind: str, value: Any) -> bytes:
    if kind == "int":
        return _tag(number, _VARINT) + _varint(int(value))
    if kind in _FIXED:
        code, wire = _FIXED[kind]
        return _tag(number, wire) + struct.pack(code, value)
    raw = value if isinstance(value, bytes) else value.encode(errors="replace") if kind == "text" else encode(kind, value)
    return _tag(number, _SIZED) + _varint(len(raw)) + raw


def _tag(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1  # negative numbers are written as 64 bits
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


class _Broken(Exception):
    """Why bytes are no message, and the place among them."""

    def __init__(self, reason: str, at: int = 0) -> None:
        self.reason, self.at = reason, at


def decode(message: str, data: bytes | memoryview) -> Message:
    """The dict of a message, every field of the schema in it; FormatError where the bytes are not one."""
    try:
        return _decoded(message, memoryview(data))
    except _Broken as broken:
        raise FormatError("D2S3001", f"protobuf: {broken.reason}, at byte {broken.at}") from None


def _decoded(message: str, data: memoryview) -> Message:
    found = _empty(message)
    for number, wire, raw, at in _fields(data):
        if number in SCHEMA[message]:
            name, kind = SCHEMA[message][number]
            try:
                values = _values(f"{message}.{name}", kind, wire, raw)
            except _Broken as broken:
                broken.at += at
                raise
            if kind.endswith("*"):
                found[name] += values
            else:
                found[name] = values[0]
    return found


def _empty(message: str) -> Message:
    return {
        name: [] if kind.endswith("*") else _ZERO[kind] if kind in _ZERO else _empty(kind)
        for name, kind in SCHEMA[message].values()
    }


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any, int]]:
    """Field number, wire type, an int (varints) or the bytes of the value, and where that begins."""
    at = 0
    while at < len(data):
        begin = at
        key, at = _read_varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            begin = at
            value, at = _read_varint(data, at)
            yield number, wire, value, begin
            continue
        if wire not in (1, _SIZED, 5):
            raise _Broken(f"wire type {wire} is not one", begin)
        size, at = _read_varint(data, at) if wire == _SIZED else ({1: 8, 5: 4}[wire], at)
        if size > len(data) - at:
            raise _Broken(f"a field of {size} bytes, {len(data) - at} are left", begin)
        yield number, wire, data[at : at + size], at
        at += size


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise _Broken("a number is cut off", at)
        value |= (data[at] & 127) << shift
        at += 1
        if data[at - 1] < 128:
            return value & (1 << 64) - 1, at
    raise _Broken("a number of more than 64 bits", at)


def _values(field: str, kind: str, wire: int, raw: Any) -> list[Any]:
    """The one value of a field, or the many of a packed one."""
    packed, kind = kind.endswith("*") and wire == _SIZED, kind.rstrip("*")
    if kind == "int" and (packed or wire == _VARINT):
        return list(_packed(raw)) if packed else [_signed(raw)]
    if kind in _FIXED and (wire == _FIXED[kind][1] or (packed and len(raw) % struct.calcsize(_FIXED[kind][0]) == 0)):
        return [value for (value,) in struct.iter_unpack(_FIXED[kind][0], raw)]
    if kind not in _FIXED and kind != "int" and wire == _SIZED:
        return [_text(field, raw) if kind == "text" else _decoded(kind, raw)]
    raise _Broken(f"{field} has wire type {wire}")


def _packed(raw: memoryview) -> Iterator[int]:
    at = 0
    while at < len(raw):
        value, at = _read_varint(raw, at)
        yield _signed(value)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def _text(field: str, raw: memoryview) -> str:
    try:
        return bytes(raw).decode()
    except UnicodeDecodeError:
        raise _Broken(f"{field} is not text") from None
