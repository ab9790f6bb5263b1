"""A machine that reads pickles of plain values and arrays, and can do nothing else.

In: a file that can be read and told its size. Out: dicts, lists, tuples, sets, strings, bytes, numbers, None and arrays. Every
opcode that is not one of the table below, every name that is not one of `_NAMES`, every call but of these is a FormatError.
What is allocated is in proportion to what the file holds: nothing is copied again and again.

>>> import io, pickle
>>> read(io.BytesIO(pickle.dumps({"a": (1, [2.5, None])})))
{'a': (1, [2.5, None])}
>>> read(io.BytesIO(pickle.dumps(print)))
Traceback (most recent call last):
d2s.errors.FormatError: [D2S3001] byte 31: the file names builtins.print, which no data needs
"""

import math
import os
import pickle
import struct
from collections.abc import Callable
from typing import Any, BinaryIO, NoReturn

import numpy as np

from d2s.checkpoint.pickle_writer import DEEPEST, is_key
from d2s.errors import FormatError

MOST = 5_000_000  # opcodes of one file: of 250,000 arrays, or 10 seconds
_MARK = object()
_NAMES = {
    **{(f"numpy.{core}.multiarray", name): name for core in ("core", "_core") for name in ("_reconstruct", "scalar")},
    ("numpy", "ndarray"): "ndarray",
    ("numpy", "dtype"): "dtype",
    ("_codecs", "encode"): "encode",
    ("collections", "OrderedDict"): "dict",
    **{(builtins, name): name for builtins in ("builtins", "__builtin__") for name in ("tuple", "set", "bytes")},
}
_KINDS = {f"{kind}{size}" for kind, sizes in (("i", "1248"), ("u", "1248"), ("f", "248")) for size in sizes} | {"b1"}


class _Name:
    """What stands on the stack for a name of the table."""

    def __init__(self, meaning: str) -> None:
        self.meaning = meaning


class _DType:
    def __init__(self, spelled: str) -> None:
        self.numpy = np.dtype(spelled)


class _Array:
    """An array that is still to get its shape and its values."""

    def __init__(self) -> None:
        self.array: np.ndarray | None = None


def read(file: BinaryIO) -> Any:
    """The value a pickle describes."""
    machine = _Machine(file)
    try:
        return _Plain().value(machine.run(), 0)
    except FormatError:
        raise
    except (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError, struct.error) as error:
        machine.refuse(f"is damaged ({type(error).__name__})")


class _Machine:
    """A stack, marks on it, and a memo, as the pickle protocol has them."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.at = file, 0
        begin = file.tell()
        self.size = file.seek(0, os.SEEK_END) - begin
        file.seek(begin)
        self.stack: list[Any] = []
        self.memo: dict[int, Any] = {}
        self.left = 2 * self.size + 1000  # bytes and items that may still be made of others
        self.used: dict[int, Any] = {}  # bytes that are an array's memory by now

    def refuse(self, why: str) -> NoReturn:
        raise FormatError("D2S3001", f"byte {self.at}: the file {why}")

    def run(self) -> Any:
        count = 0
        while (opcode := self.take(1)[0]) != ord("."):
            step, count = _STEPS.get(opcode), count + 1
            if step is None:
                self.refuse(f"holds opcode {opcode:#04x}, which no data needs")
            if count > MOST:
                self.refuse(f"has more than {MOST} opcodes")
            step(self)
        if len(self.stack) != 1 or self.stack[0] is _MARK:
            self.refuse("ends with no value, or with several")
        return self.stack[0]

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            self.refuse("has the same bytes made into values again and again")

    def take(self, count: int) -> bytearray:
        """The next bytes, in memory of their own."""
        if not 0 <= count <= self.size - self.at:
            self.refuse(f"ends where {count} bytes are to follow")
        found = bytearray(count)
        if self.file.readinto(found) != count:  # type: ignore[attr-defined]
            self.refuse("was shortened while it was read")
        self.at += count
        return found

    def number(self, form: str) -> int:
        found: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return found

    def line(self) -> str:
        """The characters up to the end of a line."""
        found = bytearray()
        while (character := self.take(1)) != b"\n":
            found += character
            if len(found) > 100:
                self.refuse("holds a name of more than 100 characters")
        return found.decode()

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def pop(self, kind: Any = object) -> Any:
        if not self.stack or self.stack[-1] is _MARK:
            self.refuse("takes a value where there is none")
        if not isinstance(self.stack[-1], kind):
            self.refuse(f"puts a {type(self.stack[-1]).__name__} where it does not belong")
        return self.stack.pop()

    def top(self, kind: Any) -> Any:
        if not self.stack or type(self.stack[-1]) is not kind:
            self.refuse(f"fills no {kind.__name__}")
        return self.stack[-1]

    def since_mark(self) -> list[Any]:
        at = next((k for k in range(len(self.stack) - 1, -1, -1) if self.stack[k] is _MARK), None)
        if at is None:
            self.refuse("goes back to a mark that it never made")
        found = self.stack[at + 1 :]
        del self.stack[at:]
        return found

    def last(self, count: int) -> tuple[Any, ...]:
        return tuple(reversed([self.pop() for _ in range(count)]))

    def text(self, form: str) -> None:
        self.push(self.take(self.number(form)).decode("utf-8", "surrogatepass"))

    def data(self, form: str) -> None:
        self.push(self.take(self.number(form)))

    def keep(self, at: int) -> None:
        if not self.stack or self.stack[-1] is _MARK:
            self.refuse("keeps a value where there is none")
        self.memo[at] = self.stack[-1]

    def recall(self, form: str) -> None:
        at = self.number(form)
        if at not in self.memo:
            self.refuse(f"recalls value {at}, which it never kept")
        self.push(self.memo[at])

    def name(self, module: str, name: str) -> None:
        if (module, name) not in _NAMES:
            self.refuse(f"names {module:.50}.{name:.50}, which no data needs")
        self.push(_Name(_NAMES[module, name]))

    def stack_name(self) -> None:
        name, module = self.pop(str), self.pop(str)
        self.name(module, name)

    def put_items(self, pairs: list[Any]) -> None:
        if len(pairs) % 2:
            self.refuse("has a key without a value")
        held = self.top(dict)
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            held[self.key(key)] = value

    def add_items(self, values: list[Any]) -> None:
        held = self.top(set)
        held.update(self.key(value) for value in values)

    def key(self, value: Any) -> Any:
        """What a dict or a set may hold: values no file can choose to collide."""
        if not is_key(value):
            self.refuse(f"has a {type(value).__name__} for a key")
        return value

    def reduce(self) -> None:
        given, called = self.pop(tuple), self.pop(_Name)
        self.push(_CALLS.get(called.meaning, _Machine.uncalled)(self, *given))

    def uncalled(self, *given: Any) -> NoReturn:
        self.refuse("calls what is not to be called")

    def reconstruct(self, kind: Any, shape: Any, code: Any) -> _Array:
        if not isinstance(kind, _Name) or kind.meaning != "ndarray":
            self.refuse("makes an array that is none of NumPy's")
        return _Array()

    def dtype(self, spelled: Any, *flags: Any) -> _DType:
        if spelled not in _KINDS:
            self.refuse(f"holds values of dtype {spelled!r:.20}")
        return _DType(spelled)

    def encode(self, text: Any, how: Any) -> Any:
        if not isinstance(text, str) or how != "latin1":
            self.refuse("encodes text as what no file is written in")
        self.spend(len(text))
        return bytearray(text.encode("latin-1"))

    def scalar(self, dtype: Any, data: Any) -> Any:
        if not isinstance(dtype, _DType) or len(data) != dtype.numpy.itemsize:
            self.refuse("holds a number that is none")
        return np.frombuffer(data, dtype.numpy)[0].astype(dtype.numpy.newbyteorder("="))

    def made_tuple(self, values: Any) -> tuple[Any, ...]:
        if type(values) is not tuple:
            self.refuse("makes a tuple of what is none")
        return values

    def made_set(self, values: Any = ()) -> set[Any]:
        self.spend(len(values))
        return {self.key(value) for value in values}

    def made_bytes(self) -> bytes:
        return b""

    def made_dict(self) -> dict[Any, Any]:
        return {}

    def build(self) -> None:
        state = self.pop(tuple)
        held = self.stack[-1] if self.stack else None
        if isinstance(held, _DType):
            if state[1] not in ("<", ">", "|", "=") or any(part is not None for part in state[2:5]):
                self.refuse("holds a dtype of a kind no data has")
            held.numpy = held.numpy.newbyteorder(state[1])
        elif isinstance(held, _Array) and held.array is None:
            held.array = self.filled(*state)
        else:
            self.refuse("changes what is not to be changed")

    def filled(self, version: Any, shape: Any, dtype: Any, fortran: Any, data: Any) -> np.ndarray:
        """An array of a shape, a dtype and the bytes of its values."""
        plain = type(shape) is tuple and all(type(n) is int and 0 <= n < 1 << 48 for n in shape) and len(shape) <= 32
        if not plain or not isinstance(dtype, _DType) or not isinstance(data, bytes | bytearray):
            self.refuse("holds an array without a shape, a dtype or bytes")
        if math.prod(shape) * dtype.numpy.itemsize != len(data) or math.prod(n or 1 for n in shape) >= 1 << 60:
            self.refuse(f"holds {len(data)} bytes for an array of shape {list(shape)[:9]}")
        self.spend(len(data))
        memory = bytearray(data) if id(data) in self.used else data
        self.used[id(memory)] = memory
        found = np.frombuffer(memory, dtype.numpy).reshape(shape, order="F" if fortran else "C")
        if dtype.numpy.kind == "b" and len(data) and max(data) > 1:
            self.refuse("holds a bool that is neither 0 nor 1")
        return np.ascontiguousarray(found, found.dtype.newbyteorder("=")).reshape(shape)


_CALLS: dict[str, Callable[..., Any]] = {
    "_reconstruct": _Machine.reconstruct,
    "dtype": _Machine.dtype,
    "encode": _Machine.encode,
    "scalar": _Machine.scalar,
    "tuple": _Machine.made_tuple,
    "set": _Machine.made_set,
    "bytes": _Machine.made_bytes,
    "dict": _Machine.made_dict,
}


def _appended(m: _Machine, values: list[Any]) -> None:
    m.top(list).extend(values)


_STEPS: dict[int, Callable[[_Machine], Any]] = {
    0x80: lambda m: None if m.take(1)[0] <= 5 else m.refuse("is of a protocol that is not known"),
    0x95: lambda m: m.take(8),  # a frame's size: frames are read through
    ord("("): lambda m: m.push(_MARK),
    ord("0"): lambda m: m.pop(),
    ord("1"): lambda m: m.since_mark(),
    ord("N"): lambda m: m.push(None),
    0x88: lambda m: m.push(True),
    0x89: lambda m: m.push(False),
    ord("J"): lambda m: m.push(m.number("<i")),
    ord("K"): lambda m: m.push(m.number("<B")),
    ord("M"): lambda m: m.push(m.number("<H")),
    0x8A: lambda m: m.push(pickle.decode_long(bytes(m.take(m.number("<B"))))),
    ord("G"): lambda m: m.push(m.number(">d")),
    ord("X"): lambda m: m.text("<I"),
    0x8C: lambda m: m.text("<B"),
    0x8D: lambda m: m.text("<Q"),
    ord("B"): lambda m: m.data("<I"),
    ord("C"): lambda m: m.data("<B"),
    0x8E: lambda m: m.data("<Q"),
    ord("U"): lambda m: m.push(m.take(m.number("<B")).decode("latin-1")),  # strings of Python 2: short ones are text,
    ord("T"): lambda m: m.data("<I"),  # long ones bytes
    ord("]"): lambda m: m.push([]),
    ord("a"): lambda m: _appended(m, [m.pop()]),
    ord("e"): lambda m: _appended(m, m.since_mark()),
    ord("l"): lambda m: m.push(m.since_mark()),
    ord(")"): lambda m: m.push(()),
    ord("t"): lambda m: m.push(tuple(m.since_mark())),
    0x85: lambda m: m.push(m.last(1)),
    0x86: lambda m: m.push(m.last(2)),
    0x87: lambda m: m.push(m.last(3)),
    ord("}"): lambda m: m.push({}),
    ord("s"): lambda m: m.put_items([*m.last(2)]),
    ord("u"): lambda m: m.put_items(m.since_mark()),
    0x8F: lambda m: m.push(set()),
    0x90: lambda m: m.add_items(m.since_mark()),
    ord("c"): lambda m: m.name(m.line(), m.line()),
    0x93: lambda m: m.stack_name(),
    ord("R"): lambda m: m.reduce(),
    ord("b"): lambda m: m.build(),
    ord("q"): lambda m: m.keep(m.number("<B")),
    ord("r"): lambda m: m.keep(m.number("<I")),
    0x94: lambda m: m.keep(len(m.memo)),
    ord("h"): lambda m: m.recall("<B"),
    ord("j"): lambda m: m.recall("<I"),
}


class _Plain:
    """Values without the machine's own kinds; what the file shares stays shared, and nothing holds itself."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, Any]] = {}  # with what they were made of, which keeps the ids

    def value(self, value: Any, depth: int) -> Any:
        kind = type(value)
        if kind is bytearray:
            return bytes(value)
        if kind in (_Name, _DType) or (kind is _Array and value.array is None):
            raise FormatError("D2S3001", "the file holds a name, a dtype or an array without values for a value")
        if kind is _Array:
            return value.array
        if kind not in (dict, list, tuple):
            return value
        if depth > DEEPEST:
            raise FormatError("D2S3001", f"the file's containers lie more than {DEEPEST} deep in one another, or in themselves")
        if id(value) not in self.known:
            self.known[id(value)] = value, self._container(value, depth + 1)
        return self.known[id(value)][1]

    def _container(self, value: Any, depth: int) -> Any:
        if type(value) is dict:
            return {key: self.value(held, depth) for key, held in value.items()}
        return type(value)(self.value(held, depth) for held in value)
