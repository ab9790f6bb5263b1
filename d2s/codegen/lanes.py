"""The 64 lanes that sums and their kin run in, as one vector value of LLVM: what both compilers of kernel texts make of them.

In: a builder of LLVM IR and values. Out: values. `kind` is that of an element: "f", "i", or "u" for what has no sign.
A loop over an array of 64 would do the same, but LLVM keeps it in memory and takes it apart.

>>> sorted(JOINS)
['add', 'max', 'min', 'mul']
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir

COUNT = 64
LINE = 64  # bytes that come at once
_I32 = ir.IntType(32)


def vector_of(element: Any) -> Any:
    """The type of 64 lanes."""
    return ir.VectorType(element, COUNT)


def _indices(values: range) -> ir.Constant:
    return ir.Constant(ir.VectorType(_I32, len(values)), [_I32(v) for v in values])


def spread(builder: Any, value: Any) -> Any:
    """64 times a value."""
    none = ir.Constant(vector_of(value.type), ir.Undefined)
    first = builder.insert_element(none, value, _I32(0))
    return builder.shuffle_vector(first, none, ir.Constant(ir.VectorType(_I32, COUNT), [_I32(0)] * COUNT))


def place(builder: Any, pointer: Any, index: Any) -> Any:
    """Where 64 elements begin at an index."""
    return builder.bitcast(builder.gep(pointer, [index]), vector_of(pointer.type.pointee).as_pointer())


def ask(builder: Any, pointer: Any, index: Any, size: int) -> None:
    """Has the memory bring 64 elements of so many bytes, which need not be there."""
    byte = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, _I32, _I32, _I32])
    known = builder.module.globals.get("llvm.prefetch.p0")
    first = builder.bitcast(builder.gep(pointer, [index]), byte)
    for line in range(0, COUNT * size, LINE):
        at = builder.gep(first, [ir.IntType(64)(line)])
        known = known or ir.Function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(known, [at, *map(_I32, (0, 3, 1))])  # to read, for soon, no code


def _add(builder: Any, kind: str, a: Any, b: Any) -> Any:
    return builder.fadd(a, b) if kind == "f" else builder.add(a, b)


def _mul(builder: Any, kind: str, a: Any, b: Any) -> Any:
    return builder.fmul(a, b) if kind == "f" else builder.mul(a, b)


def _beyond(sign: str) -> Callable[..., Any]:
    """b where it is greater (less) than a or no number, else a: a maximum is one instruction, only nans take a second look."""

    def join(builder: Any, kind: str, a: Any, b: Any) -> Any:
        if kind == "f":
            found = builder.select(builder.fcmp_ordered(sign, b, a), b, a)
            return builder.select(builder.fcmp_unordered("uno", b, b), b, found)
        compare = builder.icmp_signed if kind == "i" else builder.icmp_unsigned
        return builder.select(compare(sign, b, a), b, a)

    return join


JOINS: dict[str, Callable[..., Any]] = {"add": _add, "mul": _mul, "max": _beyond(">"), "min": _beyond("<")}


def fold(builder: Any, join: Callable[..., Any], kind: str, lanes: Any) -> Any:
    """The upper half onto the lower one, six times."""
    half = COUNT // 2
    while half:
        none = ir.Constant(lanes.type, ir.Undefined)
        low, high = (builder.shuffle_vector(lanes, none, _indices(range(s, s + half))) for s in (0, half))
        lanes, half = join(builder, kind, low, high), half // 2
    return builder.extract_element(lanes, _I32(0))
