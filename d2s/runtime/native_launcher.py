"""The door of eager code in native text: a repeated call of an op on tensors does almost nothing in Python.

A `Door` belongs to one op and is called with the tuple of its arguments. What it has learned - argument types and extents →
kernel, output, attributes - stands in a table of `Case`s. Where a case fits it allocates the output, runs the kernel and
makes the tensor and its tape node; where none does, or anything is unusual, it answers None and Python goes the plain way,
which finds the same bits or the error. The text is LLVM IR (`native_text`), kept as an object like a kernel. It reads
CPython's and NumPy's objects by offset, so `usable` compares what it finds with what Python says, once per process, before
anything trusts it.

>>> x = d2s.to_tensor([1.0, 2.0])
>>> for _ in range(3):
...     y = x + x  # the third time natively, where there is a door
>>> d2s.add.door is None or d2s.add.door((x, x)).tolist() == [2.0, 4.0]
True
"""

import ctypes
import functools
import platform
import sys
import sysconfig
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from d2s import memory
from d2s.codegen import cache
from d2s.codegen.host import native_object
from d2s.runtime import native_door, native_objects, native_tape, user_lines
from d2s.runtime.native_text import HEAD, MULTIPLIER, PYTHON, REGISTERS, whole

BUCKETS = 256
LARGEST = 1 << 15  # steps of a kernel's loops above which other threads run meanwhile
CASES = 4096  # a door learns no more than this
ARGUMENTS = 8  # a door is given no more than this

# Where CPython keeps what we ask of a frame, in bytes: in a thread's state the frame that runs, or (unless -1) what it lies in;
# in a frame its code, the one below, its instruction - a number (1) or a pointer (0) - and who owns it (0: it does not say).
FRAMES = {
    (3, 10): (24, -1, 32, 24, 96, 0, 1),
    (3, 11): (56, 8, 32, 48, 56, 69, 0),
    (3, 12): (56, 0, 0, 8, 56, 70, 0),
    (3, 13): (72, -1, 0, 8, 56, 70, 0),
}
FRAME = ("top_at", "through_at", "frame_code", "frame_back", "frame_instruction", "frame_owner")
KINDS = {"float32": 0, "float64": 1, "int8": 10, "uint8": 10, "int16": 11, "int32": 12, "int64": 13}


@functools.cache
def symbols() -> dict[str, int]:
    """The addresses of the native text, which is loaded, or made, the first time."""
    return linked(whole(native_objects.TEXT, native_tape.TEXT, native_door.TEXT), ["door", "probe"])


def linked(text: str, exports: Sequence[str]) -> dict[str, int]:
    """The addresses of functions of a text that calls CPython."""
    imports = {name: _pointer(getattr(ctypes.pythonapi, name)) for name in PYTHON}
    return cache.linked(f"native\n{text}", lambda: native_object(text), exports, imports=imports)


def _pointer(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class _MethodDef(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("meth", ctypes.c_void_p), ("flags", ctypes.c_int), ("doc", ctypes.c_char_p))


METH_O = 0x0008


@functools.cache
def _method(address: int, flags: int) -> _MethodDef:
    """Never freed: functions that a collection finds last, when Python ends, are still asked what they are."""
    made = _MethodDef(b"door", address, flags, None)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    return made


def builtin(address: int, self: Any, flags: int = METH_O) -> Callable[..., Any]:
    """A native function of an object and one argument, or what else `flags` say, as Python calls it."""
    new = ctypes.pythonapi.PyCMethod_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p]
    function: Callable[..., Any] = new(ctypes.addressof(_method(address, flags)), self, None, None)
    return function


class Classes(NamedTuple):
    """What a door makes, and what it asks: a tensor and a node as templates, the tape's counter and its mode."""

    tensor: Any
    node: Any
    order: Any
    mode: Any


class Case(NamedTuple):
    """What a door does for one kind of call."""

    arguments: tuple[Any, ...]
    kernel: int
    results: Sequence[tuple[tuple[int, ...], np.dtype]]
    extents: Sequence[int]
    records: bool
    attrs: dict[str, Any]
    number: np.dtype


class Door:
    """One op's native entry: `call(arguments)` is a tensor, a tuple of them where the op has several results, or None."""

    def __init__(self, classes: Classes, op: Any, arrays: int) -> None:
        self.classes, self.op, self.arrays, self.learned = classes, op, arrays, 0
        self.kept: list[Any] = [classes, op]  # what the table points at
        words, templates = layout(classes)
        self.kept += templates
        self.head = np.zeros(len(HEAD) - 1 + BUCKETS, np.int64)
        words |= {"arrays": arrays, "op": id(op), "buckets": 0}
        self.head[: len(HEAD)] = [words[name] for name in HEAD]
        self.call = builtin(symbols()["door"], self.head)

    def learn(self, case: Case) -> None:
        """Adds a case."""
        arrays = self.arrays + len(case.results)
        if self.learned >= CASES or max(len(case.arguments), len(case.results)) > ARGUMENTS:
            return
        if arrays + len(case.extents) + 1 > REGISTERS:
            return
        self.learned += 1
        words = self.signature(case.arguments)
        table, extents, *dims = (np.array(w, np.int64) for w in (words, case.extents, *(shape for shape, _ in case.results)))
        made = [(id(of), len(shape), d.ctypes.data) for (shape, of), d in zip(case.results, dims, strict=True)]
        rows = np.array(made, np.int64)
        bucket = HEAD.index("buckets") + _bucket(words)
        number = np.iinfo(case.number) if case.number.kind in "iu" else None
        row = np.array(
            [
                *(self.head[bucket], len(words), table.ctypes.data, case.kernel, len(made), rows.ctypes.data),
                *(len(extents), extents.ctypes.data, case.records),
                *(_steps(case.extents) >= LARGEST, id(case.attrs), id(case.number), KINDS.get(case.number.name, 1)),
                *((number.min, number.max) if number else (0, 0)),
            ],
            np.int64,
        )
        attributes = case.arguments[self.arrays :]  # told by identity; the tensors may go, and with them their history
        self.kept.append((case._replace(arguments=attributes), row, rows, table, extents, dims))
        self.head[bucket] = row.ctypes.data  # last: a case is whole when it can be found

    def signature(self, arguments: Sequence[Any]) -> list[int]:
        """The words the native text finds for these arguments."""
        words: list[int] = []
        for k, x in enumerate(arguments):
            if k < self.arrays and type(x) not in (int, float):
                words += [descr_word(x.array.dtype), x.array.ndim, *x.array.shape]
            else:
                words.append(id(type(x)) if k < self.arrays else id(x))
        return words


def _steps(extents: Sequence[int]) -> int:
    return functools.reduce(lambda a, b: a * b, extents, 1)


def descr_word(dtype: np.dtype) -> int:
    """Kind, type letter, byte order, flags and type number of a dtype, as they lie together in memory."""
    return ctypes.c_int64.from_address(id(dtype) + 24).value


def _bucket(words: Sequence[int]) -> int:
    h = 0
    for word in words:
        h = ((h ^ (word & (1 << 64) - 1)) * MULTIPLIER) & (1 << 64) - 1
    return h >> 56


def layout(
    classes: Classes, filled: Sequence[str] = ("edges", "order", "op", "attrs", "saved", "code", "at")
) -> tuple[dict[str, int], list[Any]]:
    """The words of a head that are the same for all ops, and what they point at; `filled`: what a node is given natively."""
    tensor, node = type(classes.tensor), type(classes.node)
    at, node_at = offsets(tensor), offsets(node)
    templates = [template(classes.tensor, at, ("array", "stopped", "node")), template(classes.node, node_at, filled)]
    api = _numpy_api()
    words = {"tensor_type": id(tensor), "array_at": at["array"], "stop_at": at["stopped"], "node_at": at["node"]}
    words |= {"float_type": id(float), "int_type": id(int), "new_array": api[94], "array_type": api[2]}
    words |= {"set_base": api[282], "byte_descr": id(_BYTE), "size_at": _size_of_item()}
    words |= {"asked_from": memory.asked_from(), "fits": id(memory.fits)}
    words |= {"true": id(True), "false": id(False), "none": id(None), "order": id(classes.order), "mode": id(classes.mode)}
    words |= {"tensor_template": templates[0].ctypes.data, "node_template": templates[1].ctypes.data}
    words |= {f"{name}_at": node_at[name] for name in filled} | {"recording": id(_RECORDING)}
    frames, package = _frames()
    return words | frames, [*templates, package]


_RECORDING = sys.intern("recording")
_BYTE = np.dtype(np.uint8)


def _size_of_item() -> int:
    """Where a dtype keeps the bytes of an element."""
    for at in (32, 40):  # NumPy 1, NumPy 2
        if all(ctypes.c_int32.from_address(id(d) + at).value == d.itemsize for d in map(np.dtype, ("u1", "f2", "i4", "f8"))):
            return at
    raise NotImplementedError("dtypes are laid out in another way than known")


def offsets(cls: type) -> dict[str, int]:
    """Where the slots of a class lie in its objects."""
    if cls.__dictoffset__:
        raise NotImplementedError(f"{cls.__name__} has a __dict__")
    found = {}
    for owner in cls.__mro__:
        names = owner.__dict__.get("__slots__", ())
        for name in (names,) if isinstance(names, str) else names:
            if name != "__weakref__":
                found[name] = _member(owner, name)
    return found


def _member(cls: type, name: str) -> int:
    """Where a slot, or a member of a class written in C, lies."""
    definition = ctypes.c_int64.from_address(id(cls.__dict__[name]) + 40).value
    return ctypes.c_int64.from_address(definition + 16).value


def template(example: Any, at: dict[str, int], without: Sequence[str]) -> np.ndarray:
    """How to fill the slots of a new object as those of the example, but for those the door fills itself."""
    pairs = []
    for name in at:
        if name not in without and hasattr(example, name):
            value = getattr(example, name)
            if isinstance(value, (list, dict, set)):
                raise NotImplementedError(f"{name} of a new {type(example).__name__} is not a constant")
            pairs += [at[name], ctypes.c_int64.from_address(id(example) + at[name]).value]
    return np.array([id(type(example)), len(pairs) // 2, *pairs], np.int64)


def _frames() -> tuple[dict[str, int], np.ndarray]:
    """How to find the user's frame, and the name of the package; where that is not known, nodes do not know their line."""
    text = user_lines.PACKAGE
    known = FRAMES.get(sys.version_info[:2]) if text.isascii() and len(text) >= 8 else None
    *places, counted = known or (0,) * (len(FRAME) + 1)
    package = np.frombuffer(text.encode() + bytes(8), np.int64, len(text) // 8 + 1).copy()
    words = dict(zip(FRAME, places, strict=True))
    words |= {"code_type": id(types.CodeType), "filename_at": _member(types.CodeType, "co_filename")}
    words |= {"code_start": 0 if counted else types.CodeType.__basicsize__, "text_at": sys.getsizeof("") - 1}
    words |= {"package": package.ctypes.data, "package_words": len(text) // 8, "package_length": len(text)}
    return words, package


@functools.cache
def _numpy_api() -> Any:
    core = sys.modules.get("numpy._core.multiarray") or sys.modules["numpy.core.multiarray"]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = pointer(core._ARRAY_API, None)
    return (ctypes.c_int64 * 300).from_address(table or 0)


def usable(classes: Classes) -> bool:
    """Whether doors do here what they are meant to; the plain way is taken where they do not."""
    known = sys.platform == "linux" and platform.machine() == "x86_64" and sys.implementation.name == "cpython"
    if not known or sys.version_info >= (3, 15) or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return False
    try:
        return isinstance(classes.mode.recording, bool) and _checked(classes)
    except (RuntimeError, AttributeError, OSError, NotImplementedError, KeyError):  # another LLVM, NumPy or class than known
        return False


def _checked(classes: Classes) -> bool:
    """One call with a kernel that tells what it got, against `arr.ctypes.data`; and calls that must be declined."""
    make = type(classes.tensor)
    array, attrs = np.arange(6, dtype=np.int64).reshape(2, 3), {"check": 1}
    door = Door(classes._replace(mode=types.SimpleNamespace(recording=True)), usable, 2)  # whatever the mode is just now
    arguments = (make(array, False), 7, _RECORDING)
    door.learn(Case(arguments, symbols()["probe"], [((2,), array.dtype)], [41], True, attrs, array.dtype))
    watched = (array, arguments[0], attrs)
    counts = [sys.getrefcount(o) for o in watched]
    right = _declines(door, make, array) and _does(door, arguments, array, attrs, make(array.copy()))
    return right and counts == [sys.getrefcount(o) for o in watched]


_USER = compile("(\n0,\n*map(call, [0]))", "<not d2s>", "eval")


def _declines(door: Door, make: Any, array: np.ndarray) -> bool:
    """Another object for an attribute, an array with gaps, another dtype, and what is no tensor."""
    odd = [(make(array), 7, "other"), (array, 7, _RECORDING)]
    odd += [(make(a), 7, _RECORDING) for a in (array[:, :2], array.astype(np.int32))]
    return all(door.call(arguments) is None for arguments in odd)


def _does(door: Door, arguments: tuple[Any, ...], array: np.ndarray, attrs: dict[str, Any], plain: Any) -> bool:
    """Whether result and node are what Python would have made; called by code that is not d2s's, on its third line."""
    order = next(door.classes.order)
    (_, (result, place)) = eval(_USER, {"call": lambda _: (door.call(arguments), user_lines.here())})
    node = result.node
    others = [name for name in offsets(type(plain)) if name not in ("array", "stopped", "node")]
    return (
        type(result) is type(plain)
        and result.array.tolist() == [array.ctypes.data, 41]
        and all(getattr(result, name, None) == getattr(plain, name, None) for name in others)
        and (result.stop_gradient, node.op, node.released) == (False, usable, False)
        and (node.attrs is attrs and node.edges[0] is arguments[0] and node.edges[1] is None and node.order > order)
        and (node.code, node.at) == (place if _frames()[0]["top_at"] else (None, 0))
        and (node.saved[0] is array and node.saved[1].tolist() == 7 and node.saved[2] is result.array)
    )
