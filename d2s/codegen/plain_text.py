"""Kernel texts as plain Python: to step through, and to measure coverage of; slow, with the bits of the compiled kernel.

Numbers are as the compiler sees them: ints of 64 bits that wrap around, float32 with float32 is float32, anything mixed is
float64. So operators of a text become calls of the functions below; lines stay where they are, and a debugger shows them.

In: a kernel's text and what T is in it. Out: the function `kernel(r, o)` on addresses; None for texts that need what only
compiled code has (tiles, vectors, functions marked `@native`).

>>> x, out = np.array([1.5, 2.0], "float32"), np.zeros(1, "float32")
>>> text = "def kernel(r, o):\\n    x = f32_in(r[o[0]])\\n    out = f32_out(r[o[1]])\\n    out[0] = x[0] * x[1] + T(1)\\n"
>>> registers, operands = np.array([x.ctypes.data, out.ctypes.data]), np.arange(2, dtype="int32")
>>> plain_kernel(text, "f32")(registers.ctypes.data, operands.ctypes.data)
>>> out.tolist()
[4.0]
"""

import ast
import builtins
import ctypes
import functools
import linecache
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.codegen import lanes
from d2s.parsing import tree_of
from d2s.types import DType

Kernel = Callable[[int, int], None]
_C: dict[str, Any] = {
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
}
_C |= {"i64": ctypes.c_int64, "u8": ctypes.c_uint8, "b1": ctypes.c_uint8}


def wrapped(value: int, bits: int = 64) -> int:
    """An int as it is in so many bits."""
    half = 1 << (bits - 1)
    return (value + half) % (1 << bits) - half


def _unified(x: Any, y: Any) -> tuple[Any, Any]:
    """Two numbers in the one type that holds both."""
    floats = [type(v) for v in (x, y) if isinstance(v, np.floating | float)]
    if not floats:
        return int(x), int(y)
    if len(floats) == 2 and floats[0] is floats[1] is np.float32:
        return x, y
    return np.float64(x), np.float64(y)


def _floored(x: int, y: int) -> int:
    return 0 if y == 0 else x // y


def _of_numbers(of_ints: Callable[[Any, Any], Any], of_floats: Callable[[Any, Any], Any] | None = None) -> Callable[..., Any]:
    def computed(x: Any, y: Any) -> Any:
        x, y = _unified(x, y)
        if isinstance(x, int):
            found = of_ints(x, y)
            return wrapped(found) if isinstance(found, int) and not isinstance(found, bool) else found
        return (of_floats or of_ints)(x, y)

    return computed


def _shifted(shift: Callable[[int, int], int]) -> Callable[[Any, Any], int]:
    return lambda x, y: shift(x, y % 64)


_OPERATORS: dict[type, tuple[str, Any]] = {
    ast.Add: ("add", _of_numbers(operator.add)),
    ast.Sub: ("sub", _of_numbers(operator.sub)),
    ast.Mult: ("mul", _of_numbers(operator.mul)),
    ast.Div: ("div", _of_numbers(lambda x, y: np.float64(x) / np.float64(y), operator.truediv)),
    ast.FloorDiv: ("floordiv", _of_numbers(_floored)),
    ast.Mod: ("mod", _of_numbers(lambda x, y: 0 if y == 0 else x % y)),
    ast.BitAnd: ("and", lambda x, y: x & y),
    ast.BitOr: ("or", lambda x, y: x | y),
    ast.BitXor: ("xor", lambda x, y: x ^ y),
    ast.LShift: ("shl", _of_numbers(_shifted(operator.lshift))),
    ast.RShift: ("shr", _of_numbers(_shifted(operator.rshift))),
    ast.Lt: ("lt", _of_numbers(operator.lt)),
    ast.LtE: ("le", _of_numbers(operator.le)),
    ast.Gt: ("gt", _of_numbers(operator.gt)),
    ast.GtE: ("ge", _of_numbers(operator.ge)),
    ast.Eq: ("eq", _of_numbers(operator.eq)),
    ast.NotEq: ("ne", _of_numbers(operator.ne)),
}


class Unspoken(Exception):
    """A text says what only compiled code understands."""


class _Plain(ast.NodeTransformer):
    """Operators as calls; what is a float64 in a text is one in Python."""

    def called(self, kind: Any, node: ast.AST, *operands: ast.expr) -> ast.Call:
        if kind not in _OPERATORS:
            raise Unspoken(ast.unparse(node))
        name = ast.Name(f"_{_OPERATORS[kind][0]}_", ast.Load())
        return ast.copy_location(ast.Call(name, list(operands), []), node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return self.called(type(node.op), node, node.left, node.right)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if len(node.ops) > 1:
            raise Unspoken(ast.unparse(node))
        return self.called(type(node.ops[0]), node, node.left, node.comparators[0])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        read = tree_of(ast.unparse(node.target), "eval").body
        value = self.called(type(node.op), node, ast.copy_location(self.visit(read), node), node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if type(node.value) is not float:
            return node
        return ast.copy_location(ast.Call(ast.Name("float64", ast.Load()), [node], []), node)


class Pointer:
    """Elements of a dtype at an address."""

    def __init__(self, address: int, of: DType) -> None:
        self.memory = ctypes.cast(address, ctypes.POINTER(_C[of.short]))
        self.float = of.numpy.type if of.kind == "f" else None

    def __getitem__(self, place: int) -> Any:
        found = self.memory[place]
        return self.float(found) if self.float else found

    def __setitem__(self, place: int, value: Any) -> None:
        self.memory[place] = float(value) if self.float else int(value)


def _converted(of: DType) -> Callable[[Any], Any]:
    """What the name of a dtype does in a text."""
    if of.kind == "f":
        return of.numpy.type  # type: ignore[return-value]
    if of.kind == "b":
        return bool
    unsigned = of.short == "u8"

    def convert(value: Any) -> int:
        whole = int(value) if isinstance(value, int) or math.isfinite(value) else -(1 << 63)
        return whole % 256 if unsigned else wrapped(whole, 8 * of.size)

    return convert


def _fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z, rounded once, by the C library."""
    single = isinstance(x, np.float32)
    function = _libm().fmaf if single else _libm().fma
    return type(x)(function(float(x), float(y), float(z)))


@functools.cache
def _libm() -> Any:
    library = ctypes.CDLL(None)
    library.fmaf.restype, library.fmaf.argtypes = ctypes.c_float, [ctypes.c_float] * 3
    library.fma.restype, library.fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
    return library


def _select(condition: Any, x: Any, y: Any) -> Any:
    if type(x) is not type(y):
        x, y = _unified(x, y)
    return x if condition else y


def _bits(given: Any, made: Any) -> Callable[[Any], Any]:
    def read(x: Any) -> Any:
        found = given(x).view(made)
        return int(found) if isinstance(found, np.integer) else found

    return read


def _table(values: Sequence[float]) -> Callable[[int], Any]:
    return lambda place: np.float64(values[place])


def _namespace(T: str) -> dict[str, Any]:
    names: dict[str, Any] = {f"_{name}_": function for name, function in _OPERATORS.values()}
    for of in types.TENSOR_DTYPES:
        names |= {f"{of.short}{role}": functools.partial(Pointer, of=of) for role in ("", "_in", "_out", *_APART)}
        names[of.name if of.kind != "b" else "bool_"] = _converted(of)
    computed = types.dtype(T)
    names |= {"T": _converted(computed), "inlined": lambda function: function, "math": math, "range": range}
    names |= {f"local{size}": functools.partial(_local, computed, size) for size in (64, 4096)}
    names |= {f"{name}_of": getattr(np, name) for name in ("sqrt", "rint", "floor", "ceil", "trunc", "abs")}
    names |= {"lanes_at": _lanes_at, "lanes_put": _lanes_put, "lanes_ahead": lambda pointer, index: None}
    names |= {"sign_from": np.copysign, "fma": _fma, "select": _select, "table": _table}
    names |= {"bits_of": _bits(np.float64, np.int64), "float_of": _bits(np.int64, np.float64)}
    return names | {"bits32_of": _bits(np.float32, np.int32), "float32_of": _bits(np.int32, np.float32)}


def _lanes_at(pointer: Any, index: int) -> list[Any]:
    return [pointer[index + lane] for lane in range(lanes.COUNT)]


def _lanes_put(pointer: Any, index: int, values: Sequence[Any]) -> None:
    for lane, value in enumerate(values):
        pointer[index + lane] = value


_APART = tuple(f"_apart{k}" for k in range(8))


def _local(of: DType, size: int) -> list[Any]:
    return [_converted(of)(0)] * size


@functools.lru_cache(maxsize=1024)
def plain_kernel(text: str, T: str) -> Kernel | None:
    """The kernel of a text as a Python function; None where the text needs compiled code."""
    names = _namespace(T)
    try:
        tree = _Plain().visit(tree_of(text))
    except Unspoken:
        return None
    if not _free(tree) <= names.keys():
        return None
    file = f"<kernel {hash(text) & 0xFFFFFF:06x}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    exec(compile(ast.fix_missing_locations(tree), file, "exec"), names)
    function = names["kernel"]
    registers, operands = functools.partial(Pointer, of=types.int64), functools.partial(Pointer, of=types.int32)

    def kernel(r: int, o: int) -> None:
        with np.errstate(all="ignore"):
            if function.__code__.co_argcount == 2:
                function(registers(r), operands(o))
            else:
                function(registers(r), operands(o), 0, function(registers(r), operands(o), 0, -1))

    return kernel


def _free(tree: ast.Module) -> set[str]:
    """The names a text does not define itself."""
    made = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    made |= {a.arg for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for a in node.args.args}
    made |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    read = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    return read - made - {name for name in dir(builtins) if name in ("bool", "int", "float", "len")}
