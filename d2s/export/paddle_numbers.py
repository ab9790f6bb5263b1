"""Numbers in Paddle's files: constants, and single numbers that meet tensors.

In: a writer, and a node whose inputs have variables. Out: Paddle's ops.

>>> from d2s.ir.text import parse
>>> program = parse("program f(x: f32[2]) -> (f32[2]) { %0: f32[] = constant(value=2.0) %1: f32[2] = add(x, %0) return %1 }")
>>> meets_tensor(program.nodes[1], 1), meets_tensor(program.nodes[1], 0)
(True, False)
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

from d2s.export.paddle_pen import Longs, Pen, Writer
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Node, Value
from d2s.types import DType, Type

_ARITHMETIC = {"add", "subtract", "multiply", "divide"}


def number(writer: Writer, block: Any, name: str, of: Type, value: Any) -> None:
    """Writes a variable every value of which is one number."""
    (_wide if of.dtype.kind == "i" else _fill)(writer, block, name, of, value)


def filling(dtype: DType, shape: Iterable[int], value: Any) -> dict[str, Any]:
    """The attributes of an op that fills a tensor with one number."""
    text = repr(value) if isinstance(value, float) else str(int(value))
    with np.errstate(over="ignore"):
        rough = float(np.float32(value))  # Paddle goes by the text
    return {"shape": Longs(shape), "dtype": NUMBERS[dtype], "value": rough, "str_value": text, "force_cpu": False}


def is_read_as_it_is(value: int) -> bool:
    """Whether an integer stays what it is where Paddle reads it through a float."""
    return int(np.float32(value)) == value


def _fill(writer: Writer, block: Any, name: str, of: Type, value: Any) -> None:
    writer.op(block, "fill_constant", {}, [name], filling(of.dtype, map(int, of.shape), value))


def _wide(writer: Writer, block: Any, name: str, of: Type, value: int) -> None:
    """An integer of more than 24 bits is `high * 2**24 + low`."""
    if is_read_as_it_is(value):
        _fill(writer, block, name, of, value)
        return
    high, base, product, low = (writer.variable(block, of) for _ in range(4))
    _wide(writer, block, high, of, value >> 24)
    _fill(writer, block, base, of, 1 << 24)
    _fill(writer, block, low, of, value & (1 << 24) - 1)
    writer.op(block, "elementwise_mul", {"X": [high], "Y": [base]}, [product], {"axis": -1})
    writer.op(block, "elementwise_add", {"X": [product], "Y": [low]}, [name], {"axis": -1})


def constant(writer: Writer, block: Any, node: Node) -> None:
    """A constant, as one value of an axis where all that read it are sums and products with tensors."""
    (out,) = node.outputs
    writer.constants[out] = node.attrs["value"]
    readers = writer.readers.get(out, [])
    if readers and all(reader is not None and _only_meets(reader, out) for reader in readers):
        of = Type(out.type.dtype, (1,))
        writer.names[out] = writer.variable(block, of)
        writer.lines.add(out)
        number(writer, block, writer.names[out], of, node.attrs["value"])
    elif out.type.dtype.kind == "f" and any(reader is not None and reader.op in _ARITHMETIC for reader in readers):
        made = writer.variable(block, out.type)  # oneDNN's kernels refuse a constant beside another single number, not its copy
        number(writer, block, made, out.type, node.attrs["value"])
        writer.op(block, "assign", {"X": [made]}, [writer.define(block, out)], {})
    else:
        number(writer, block, writer.define(block, out), out.type, node.attrs["value"])


def meets_tensor(node: Node, k: int) -> bool:
    """Whether input k is a single number that is added to a tensor, or repeated: oneDNN's kernels, which Paddle's inference
    takes, want an axis of it."""
    if node.op in ("expand", "filled"):
        return k == 0 and not node.inputs[0].type.shape and bool(node.outputs[0].type.shape)
    return node.op in _ARITHMETIC and not node.inputs[k].type.shape and bool(node.outputs[0].type.shape)


def _only_meets(node: Node, value: Value) -> bool:
    return all(meets_tensor(node, k) for k, given in enumerate(node.inputs) if given is value)


def operands(writer: Writer, block: Any, node: Node) -> list[str]:
    """The variables of a node's inputs, single numbers among them with an axis where they want one."""
    names = [writer.names[value] for value in node.inputs]
    for k, value in enumerate(node.inputs):
        if meets_tensor(node, k) and value not in writer.lines:
            names[k] = Pen(writer, block, node).reshaped(names[k], value.type, (1,))
    return names
