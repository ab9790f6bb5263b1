"""Ops that Paddle has as they are: one row per op, read both ways. The name itself stands with the op.

In: a Node, or Paddle's attributes. Out: the other side's attributes. Ops that need more than a row are said by
the modules `spell_*`; regions, constants and `where` by the writer itself.

>>> SPELLINGS["matmul"].slots, OF_PADDLE["matmul_v2"]
(('X', 'Y'), 'matmul')
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from d2s import types
from d2s.errors import FormatError
from d2s.export.paddle_pen import ALL, NARROW, SPELLED
from d2s.export.tensors import NUMBERS
from d2s.ir.program import Node
from d2s.ops import OPS
from d2s.types import Type

Attrs = dict[str, Any]
Take = Callable[[str, Any], Any]  # (name, default) -> an attribute of a file, of the default's type


@dataclasses.dataclass(frozen=True)
class Spelling:
    """One op: Paddle's names of its inputs, the dtypes Paddle has kernels for, and its attributes."""

    slots: tuple[str, ...]
    dtypes: str = ALL
    fixed: Attrs = dataclasses.field(default_factory=dict)  # written, the same for every node
    write: Callable[[Node], Attrs] = lambda node: {}
    read: Callable[[Take, Sequence[Type]], Attrs] = lambda take, types: {}


def _write_cast(node: Node) -> Attrs:
    return {"in_dtype": NUMBERS[node.inputs[0].type.dtype], "out_dtype": NUMBERS[node.attrs["dtype"]]}


def _write_matmul(node: Node) -> Attrs:
    return {"trans_x": node.attrs["transpose_x"], "trans_y": node.attrs["transpose_y"]}


def _read_matmul(take: Take, types: Sequence[Type]) -> Attrs:
    return {"transpose_x": take("trans_x", False), "transpose_y": take("trans_y", False)}


def _write_sum(node: Node) -> Attrs:
    have, want = node.inputs[0].type, node.outputs[0].type.dtype
    everything = len(node.attrs["axis"]) == len(have.shape)
    same = have.dtype is want and want is not types.int32  # of which Paddle else makes an int64
    return {
        "dim": [] if everything else list(node.attrs["axis"]),
        "keep_dim": node.attrs["keepdim"],
        "reduce_all": everything,
        "in_dtype": -1 if same else NUMBERS[have.dtype],
        "out_dtype": -1 if same else NUMBERS[want],
    }


_X, _XY = ("X",), ("X", "Y")


def _floats(of: str, defaults: dict[str, float], **names: str) -> Spelling:
    """An activation whose numbers are attributes; `names` says where they are called otherwise here."""

    def write(node: Node) -> Attrs:
        return {paddle: float(node.attrs[names.get(paddle, paddle)]) for paddle in defaults}

    def read(take: Take, types: Sequence[Type]) -> Attrs:
        return {names.get(paddle, paddle): take(paddle, number) for paddle, number in defaults.items()}

    return Spelling(_X, of, write=write, read=read)


def _write_gelu(node: Node) -> Attrs:
    return {"approximate": node.attrs["approximate"]}


def _read_gelu(take: Take, types: Sequence[Type]) -> Attrs:
    return {"approximate": take("approximate", False)}


_AXIS = {"axis": -1}  # broadcasting from the right

SPELLINGS = {
    "add": Spelling(_XY, "i16 i32 i64 f32 f64", _AXIS),
    "subtract": Spelling(_XY, "i16 i32 i64 f32 f64", _AXIS),
    "multiply": Spelling(_XY, "b1 i32 i64 f32 f64", _AXIS),
    "relu": Spelling(_X, "f32 f64"),
    "sign": Spelling(_X, "f32 f64"),
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
    "asinh": Spelling(_X, "f32 f64"),
    "acosh": Spelling(_X, "f32 f64"),
    "atanh": Spelling(_X, "f32 f64"),
    "lgamma": Spelling(_X, "f32 f64"),
    "digamma": Spelling(_X, "f32 f64"),
    "erfinv": Spelling(_X, "f32 f64"),
    "atan2": Spelling(("X1", "X2"), "f32 f64"),
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
    "round": Spelling(_X, "f32 f64"),
    "silu": Spelling(_X, "f32 f64"),
    "relu6": Spelling(_X, "f32 f64"),
    "softsign": Spelling(_X, "f32 f64"),
    "log_sigmoid": Spelling(_X, "f32 f64"),
    "mish": Spelling(_X, "f32 f64", {"threshold": 20.0}),
    "hardswish": Spelling(_X, "f32 f64", {"threshold": 6.0, "scale": 6.0, "offset": 3.0}),
    "gelu": Spelling(_X, "f32 f64", write=_write_gelu, read=_read_gelu),
    "softplus": _floats("f32 f64", {"beta": 1.0, "threshold": 20.0}),
    "leaky_relu": _floats("f32 f64", {"alpha": 0.02}, alpha="negative_slope"),
    "elu": _floats("f32 f64", {"alpha": 1.0}),
    "selu": _floats("f32 f64", {"scale": 1.0507009873554805, "alpha": 1.6732632423543772}),
    "celu": _floats("f32 f64", {"alpha": 1.0}),
    "hardshrink": _floats("f32 f64", {"threshold": 0.5}),
    "softshrink": _floats("f32 f64", {"lambda": 0.5}, **{"lambda": "threshold"}),
    "hardsigmoid": _floats("f32 f64", {"slope": 0.2, "offset": 0.5}),
    "hardtanh": _floats("f32 f64", {"t_min": 0.0, "t_max": 24.0}, t_min="min", t_max="max"),
    "logical_not": Spelling(_X),
    "logical_and": Spelling(_XY),
    "logical_or": Spelling(_XY),
    "logical_xor": Spelling(_XY),
    "bitwise_and": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_or": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_xor": Spelling(_XY, "b1 u8 i8 i16 i32 i64"),
    "bitwise_not": Spelling(_X, "b1 u8 i8 i16 i32 i64"),
    "where": Spelling(("Condition", "X", "Y"), "i32 i64 f32 f64"),
    "cast": Spelling(_X, fixed={"use_mkldnn": False}, write=_write_cast),
    "matmul": Spelling(_XY, "i32 i64 f32 f64", write=_write_matmul, read=_read_matmul),
    "dot": Spelling(_XY, "i32 i64 f32 f64"),
    "sum": Spelling(_X, write=_write_sum),
    "constant": Spelling(()),
    "cond": Spelling(("Cond", "Input")),
    "while_loop": Spelling(("Condition", "X")),
}
OF_PADDLE = {OPS[name].paddle or "": name for name in SPELLINGS}


_RECURSION = dict.fromkeys(("call", "again"), "a function that calls itself as long as a tensor says so")


def unsaid(who: str, refused: Sequence[tuple[str, str]]) -> FormatError:
    """The complaint about all that a kind of file has no words for: what, and where it stands."""
    told = [(_RECURSION.get(what, what), where) for what, where in refused]
    listed = ", ".join(dict.fromkeys(f"{what} ({where})" if where else what for what, where in told))
    hint = "write it as a `while`, with a list of what is still to be done" if told[0][0] != refused[0][0] else ""
    return FormatError("D2S3002", f"{who} no spelling for {listed}", where=refused[0][1], hint=hint)


def refusal(node: Node) -> str:
    """Why a node cannot be written, or nothing."""
    if any(v.type.dtype not in NUMBERS for v in node.inputs + node.outputs):
        return f"{node.op} of a stack" if node.inputs and node.regions() else node.op
    if node.op in SPELLED:
        return SPELLED[node.op].refusal(node)
    spelling = SPELLINGS.get(node.op)
    if not spelling:
        return node.op
    dtype = node.inputs[-1].type.dtype if node.inputs else types.float32
    fits = spelling.dtypes is ALL or dtype.short in spelling.dtypes.split() or through_int32(node)
    return "" if fits else f"{node.op} of {dtype.name}"


def through_int32(node: Node) -> bool:
    """Whether Paddle has no kernel for small integers but one for int32: what comes out there wraps around to the same."""
    spelling = SPELLINGS.get(node.op)
    if not spelling or not node.inputs:
        return False
    known, short = spelling.dtypes.split(), node.inputs[-1].type.dtype.short
    return "i32" in known and short in NARROW.split() and short not in known
