"""How ops are spelled in Paddle's files: one row per op, read both ways. The name itself stands with the op.

In: a Node, or Paddle's attributes. Out: the other side's attributes. Ops that need more than a row (`cond`,
`while_loop`, `constant`, `where`) have their own functions in the writer and in the reader.

>>> SPELLINGS["matmul"].slots, OF_PADDLE["matmul_v2"]
(('X', 'Y'), 'matmul')
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from d2s.export.tensors import NUMBERS, dtype_of
from d2s.ir.program import Node
from d2s.ops import OPS
from d2s.types import Type

Attrs = dict[str, Any]
Take = Callable[[str, Any], Any]  # (name, default) -> an attribute of a file, of the default's type

_ALL = "b1 u8 i8 i16 i32 i64 f32 f64"


@dataclasses.dataclass(frozen=True)
class Spelling:
    """One op: Paddle's names of its inputs, the dtypes Paddle has kernels for, and its attributes."""

    slots: tuple[str, ...]
    dtypes: str = _ALL
    fixed: Attrs = dataclasses.field(default_factory=dict)  # written, the same for every node
    write: Callable[[Node], Attrs] = lambda node: {}
    read: Callable[[Take, Sequence[Type]], Attrs] = lambda take, types: {}


def _write_cast(node: Node) -> Attrs:
    return {"in_dtype": NUMBERS[node.inputs[0].type.dtype], "out_dtype": NUMBERS[node.attrs["dtype"]]}


def _read_cast(take: Take, types: Sequence[Type]) -> Attrs:
    return {"dtype": dtype_of(take("out_dtype", 0)), "python": False}


def _write_matmul(node: Node) -> Attrs:
    return {"trans_x": node.attrs["transpose_x"], "trans_y": node.attrs["transpose_y"]}


def _read_matmul(take: Take, types: Sequence[Type]) -> Attrs:
    return {"transpose_x": take("trans_x", False), "transpose_y": take("trans_y", False)}


def _write_sum(node: Node) -> Attrs:
    have, want = node.inputs[0].type, node.outputs[0].type.dtype
    everything, same = len(node.attrs["axis"]) == len(have.shape), have.dtype is want
    return {
        "dim": [] if everything else list(node.attrs["axis"]),
        "keep_dim": node.attrs["keepdim"],
        "reduce_all": everything,
        "in_dtype": -1 if same else NUMBERS[have.dtype],
        "out_dtype": -1 if same else NUMBERS[want],
    }


def _read_sum(take: Take, types: Sequence[Type]) -> Attrs:
    axis = tuple(take("dim", []))
    return {"axis": None if take("reduce_all", False) or not axis else axis, "keepdim": take("keep_dim", False)}


def _write_clip(node: Node) -> Attrs:
    low, high = node.attrs["min"], node.attrs["max"]
    return {"min": -math.inf if low is None else low, "max": math.inf if high is None else high}


def _read_clip(take: Take, types: Sequence[Type]) -> Attrs:
    low, high = take("min", -math.inf), take("max", math.inf)
    return {"min": None if low == -math.inf else low, "max": None if high == math.inf else high}


_X, _XY = ("X",), ("X", "Y")
_AXIS = {"axis": -1}  # broadcasting from the right
_SCALE = {"scale": -1.0, "bias": 0.0, "bias_after_scale": True}

SPELLINGS = {
    "add": Spelling(_XY, "i16 i32 i64 f32 f64", _AXIS),
    "subtract": Spelling(_XY, "i16 i32 i64 f32 f64", _AXIS),
    "multiply": Spelling(_XY, "b1 i32 i64 f32 f64", _AXIS),
    "neg": Spelling(_X, "i8 i16 i32 i64 f32 f64 u8", _SCALE),
    "relu": Spelling(_X, "f32 f64"),
    "tanh": Spelling(_X, "f32 f64"),
    "equal": Spelling(_XY, fixed=_AXIS),
    "not_equal": Spelling(_XY, fixed=_AXIS),
    "less_than": Spelling(_XY, fixed=_AXIS),
    "less_equal": Spelling(_XY, fixed=_AXIS),
    "greater_than": Spelling(_XY, fixed=_AXIS),
    "greater_equal": Spelling(_XY, fixed=_AXIS),
    "divide": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "floor_divide": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "remainder": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "pow": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "square": Spelling(_X, "i32 i64 f32 f64"),
    "abs": Spelling(_X, "i32 i64 f32 f64"),
    "reciprocal": Spelling(_X, "f32 f64"),
    "sign": Spelling(_X, "f32 f64"),
    "exp": Spelling(_X, "f32 f64"),
    "expm1": Spelling(_X, "f32 f64"),
    "log": Spelling(_X, "f32 f64"),
    "log1p": Spelling(_X, "f32 f64"),
    "log2": Spelling(_X, "f32 f64"),
    "log10": Spelling(_X, "f32 f64"),
    "sqrt": Spelling(_X, "f32 f64"),
    "rsqrt": Spelling(_X, "f32 f64"),
    "sigmoid": Spelling(_X, "f32 f64"),
    "erf": Spelling(_X, "f32 f64"),
    "sin": Spelling(_X, "f32 f64"),
    "cos": Spelling(_X, "f32 f64"),
    "tan": Spelling(_X, "f32 f64"),
    "asin": Spelling(_X, "f32 f64"),
    "acos": Spelling(_X, "f32 f64"),
    "atan": Spelling(_X, "f32 f64"),
    "sinh": Spelling(_X, "f32 f64"),
    "cosh": Spelling(_X, "f32 f64"),
    "floor": Spelling(_X, "f32 f64"),
    "ceil": Spelling(_X, "f32 f64"),
    "trunc": Spelling(_X, "f32 f64"),
    "isnan": Spelling(_X, "i32 i64 f32 f64"),
    "isinf": Spelling(_X, "i32 i64 f32 f64"),
    "isfinite": Spelling(_X, "i32 i64 f32 f64"),
    "maximum": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "minimum": Spelling(_XY, "i32 i64 f32 f64", _AXIS),
    "fmax": Spelling(_XY, "i32 i64 f32 f64"),
    "fmin": Spelling(_XY, "i32 i64 f32 f64"),
    "clip": Spelling(_X, "f32", write=_write_clip, read=_read_clip),
    "logical_and": Spelling(_XY),
    "logical_or": Spelling(_XY),
    "logical_xor": Spelling(_XY),
    "bitwise_and": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_or": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_xor": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_not": Spelling(_X, "b1 u8 i8 i16 i32 i64"),
    "where": Spelling(("Condition", "X", "Y"), "i32 i64 f32 f64"),
    "cast": Spelling(_X, fixed={"use_mkldnn": False}, write=_write_cast, read=_read_cast),
    "matmul": Spelling(_XY, "i32 i64 f32 f64", write=_write_matmul, read=_read_matmul),
    "dot": Spelling(_XY, "i32 i64 f32 f64"),
    "sum": Spelling(_X, write=_write_sum, read=_read_sum),
    "constant": Spelling(()),
    "cond": Spelling(("Cond", "Input")),
    "while_loop": Spelling(("Condition", "X")),
}
SEVERAL = {"linear": Spelling((), "i32 i64 f32 f64")}  # one of ours that the writer spells as several of Paddle's
OF_PADDLE = {OPS[name].paddle or "": name for name in SPELLINGS}


def refusal(node: Node) -> str:
    """Why a node cannot be written, or nothing."""
    spelling = SEVERAL.get(node.op) or SPELLINGS.get(node.op)
    if not spelling or (not OPS[node.op].paddle and node.op not in SEVERAL):
        return node.op
    if any(v.type.dtype not in NUMBERS for v in node.inputs + node.outputs):
        return f"{node.op} of a stack"
    if node.op == "sum" and not node.attrs["axis"] and node.inputs[0].type.shape:
        return "sum over no axis"  # no axis is every axis there
    dtype = node.inputs[-1].type.dtype if spelling.dtypes is not _ALL else None
    return f"{node.op} of {dtype.name}" if dtype and dtype.short not in spelling.dtypes.split() else ""
