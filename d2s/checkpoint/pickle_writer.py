"""Plain values and arrays as a pickle that Paddle 2 and 3 read, whatever NumPy they stand on.

In: dicts, lists, tuples, sets, strings, bytes, numbers, None and arrays. Out: pieces of bytes; those of an array are the
array's own memory, so that a large one is written without a copy.

>>> import pickle
>>> pickle.loads(b"".join(pieces({"a": [1, 2.5, None]}, 4)))
{'a': [1, 2.5, None]}
>>> pickle.loads(b"".join(pieces(np.ones(2, "float32"), 2))).tolist()
[1.0, 1.0]
"""

import pickle
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError

DEEPEST = 100  # containers inside one another
_LARGE = 1 << 32  # bytes from which only protocol 4 can say how many they are
_ARRAY = b"cnumpy.core.multiarray\n_reconstruct\n"  # NumPy 2 reads it, too; NumPy 1 knows no `numpy._core`
_EMPTY = b"cnumpy\nndarray\nK\x00\x85"


def pieces(value: Any, protocol: int) -> Iterator[Any]:
    """The pickle of a value, piece by piece."""
    yield bytes([0x80, protocol])
    yield from _Writer(protocol).value(value, 0)
    yield b"."


def is_key(value: Any) -> bool:
    """Whether a dict or a set that is saved may hold it."""
    return isinstance(value, str | bool | float | None) or (type(value) is int and -(1 << 63) < value < 1 << 63)


class Named:
    """An array with a name: how Paddle writes a tensor that is no value of a state."""

    def __init__(self, name: str, array: np.ndarray) -> None:
        self.name, self.array = name, array


class _Writer:
    def __init__(self, protocol: int) -> None:
        self.protocol = protocol
        self.builtins = b"c__builtin__\n" if protocol < 3 else b"cbuiltins\n"

    def value(self, value: Any, depth: int) -> Iterator[Any]:
        if depth > DEEPEST:
            raise ArgumentError("D2S0004", f"save(): containers lie more than {DEEPEST} deep in one another, or in themselves")
        kind = type(value)
        if value is None or kind is bool:
            yield {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif kind is int:
            yield _int(value)
        elif kind is float:
            yield b"G" + struct.pack(">d", value)
        elif isinstance(value, str):
            yield self.text(value)
        elif kind is bytes:
            yield from self.data(memoryview(value))
        elif isinstance(value, np.ndarray):
            yield from self.array(value)
        elif isinstance(value, np.generic):
            yield from self.number(value)
        elif isinstance(value, Named):
            yield self.builtins + b"tuple\n" + self.text(value.name)
            yield from self.array(value.array)
            yield b"\x86\x85R"
        else:
            yield from self.container(value, depth)

    def container(self, value: Any, depth: int) -> Iterator[Any]:
        if isinstance(value, dict):
            yield b"}("
            for key, held in value.items():
                yield from self.key(key)
                yield from self.value(held, depth + 1)
            yield b"u"
        elif isinstance(value, tuple):
            yield b"("
            yield from self.each(value, depth)
            yield b"t"
        elif isinstance(value, list):
            yield b"]("
            yield from self.each(value, depth)
            yield b"e"
        elif isinstance(value, set | frozenset):
            yield self.builtins + b"set\n]("
            for held in sorted(value, key=repr):
                yield from self.key(held)
            yield b"e\x85R"
        else:
            kept = "tensors, arrays, numbers, strings, None, and dicts, lists, tuples and sets of them"
            raise DTypeError("D2S0001", f"save(): a {type(value).__name__} is not saved; {kept} are")

    def key(self, key: Any) -> Iterator[Any]:
        if not is_key(key):
            raise DTypeError(
                "D2S0001", f"save(): a {type(key).__name__} is no key of a dict that is saved; strings and ints are"
            )
        return self.value(key, 0)

    def each(self, values: Any, depth: int) -> Iterator[Any]:
        for held in values:
            yield from self.value(held, depth + 1)

    def text(self, value: str) -> bytes:
        data = value.encode("utf-8", "surrogatepass")
        return b"X" + struct.pack("<I", len(data)) + data

    def data(self, data: memoryview) -> Iterator[Any]:
        if self.protocol < 3:
            yield b"c_codecs\nencode\n" + self.text(bytes(data).decode("latin-1")) + self.text("latin1") + b"\x86R"
        elif data.nbytes < _LARGE:
            yield b"B" + struct.pack("<I", data.nbytes)
            yield data
        elif self.protocol < 4:
            raise ArgumentError("D2S0004", "save(): 4 GB in one array need protocol=4")
        else:
            yield b"\x8e" + struct.pack("<Q", data.nbytes)
            yield data

    def array(self, array: np.ndarray) -> Iterator[Any]:
        shape: tuple[int, ...] = array.shape
        whole = np.ascontiguousarray(array).reshape(-1)
        yield _ARRAY + _EMPTY
        yield from self.data(memoryview(b"b"))
        yield b"\x87R(K\x01("
        for extent in shape:
            yield _int(extent)
        yield b"t" + self.dtype(array.dtype) + b"\x89"
        yield from self.data(whole.view(np.uint8).data if whole.size else memoryview(b""))
        yield b"tb"

    def number(self, value: np.generic) -> Iterator[Any]:
        yield b"cnumpy.core.multiarray\nscalar\n" + self.dtype(value.dtype)
        yield from self.data(memoryview(value.tobytes()))
        yield b"\x86R"

    def dtype(self, dtype: np.dtype) -> bytes:
        if dtype.kind not in "biuf":
            raise DTypeError("D2S0003", f"save(): arrays of {dtype} are not saved; those of bools, ints and floats are")
        order = b"|" if dtype.itemsize == 1 else b"<" if dtype.newbyteorder("<") == dtype else b">"
        named = b"cnumpy\ndtype\n" + self.text(dtype.str[1:]) + b"\x89\x88\x87R"
        return named + b"(K\x03X\x01\x00\x00\x00" + order + b"NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"


def _int(value: int) -> bytes:
    if -(1 << 31) <= value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    data = pickle.encode_long(value)
    if len(data) > 255:
        raise ArgumentError("D2S0004", f"save(): an int of {value.bit_length()} bits is not saved")
    return b"\x8a" + bytes([len(data)]) + data
