"""Where the largest or the smallest element stands: the first of them, and nan before all.

In: values, and an axis or none. Out: places along the axis, or in a row of all values.

>>> from d2s.types import float32, int64
>>> argmax.infer([Type(float32, ("n", 4))], {"axis": 1, "keepdim": False, "dtype": int64})
(i64[n],)
"""

from typing import Any

from d2s import types
from d2s.errors import ArgumentError, DTypeError
from d2s.ops.op import Op, Share, flag, op
from d2s.ops.reduce import kept_shape
from d2s.ops.softmax import no_bools, one_axis
from d2s.ops.tree import WIDTH
from d2s.types import DType, Type, int32, int64


def _first_rules(of: Op, name: str, sign: str) -> None:
    """Rules of an op that says where the largest (smallest) element stands, the first of them; nan comes before all."""

    @of.rule("canonical")
    def _(x, axis, keepdim, dtype):
        named = None if axis is None else one_axis(axis, len(x.shape), of.name)
        return {"axis": named if x.shape else None, "keepdim": flag(keepdim, "keepdim"), "dtype": types.dtype(dtype)}

    @of.rule("infer")
    def _(x, axis, keepdim, dtype):
        no_bools(of.name, x)
        _counting(of.name, dtype)
        axes = tuple(range(len(x.shape))) if axis is None else (axis,)
        if any(x.shape[a] == 0 for a in axes):
            raise ArgumentError("D2S0004", f"{of.name}(): 'x' has shape {list(x.shape)}: there is nothing to choose from")
        return Type(dtype, kept_shape(x.shape, axes, keepdim))

    @of.rule("kernel")
    def _(x, out, axis, keepdim, dtype):
        if axis is None or axis == len(x.shape) - 1:
            split = 0 if axis is None else axis
            return [x.shape[:split], x.shape[split:]], _IN_A_ROW.format(join=name), Share("n0", "1 + 16384 // (1 + n1)"), ""
        body = _IN_A_COLUMN.format(local=f"{x.dtype.short}_local64", sign=sign, width=WIDTH)
        extents = [x.shape[:axis], x.shape[axis : axis + 1], x.shape[axis + 1 :]]
        return extents, body, Share(f"n0 * ((n2 + {WIDTH - 1}) // {WIDTH})", "1 + 256 // (1 + n1)"), ""

    @of.rule("vjp")
    def _(g, out, x, axis, keepdim, dtype):
        return (None,)


_IN_A_ROW = """\
for piece in range(lo, hi):
    at = piece * n1
    lanes = lanes_of(x[at])
    if n1 > 63:
        for block in range(n1 >> 6):
            lanes = lanes_{join}(lanes, lanes_at(x, at + (block << 6)))
        lanes = lanes_{join}(lanes, lanes_at(x, at + n1 - 64))
    else:
        for e in range(1, n1):
            lanes = lanes_{join}(lanes, lanes_of(x[at + e]))
    best = fold_{join}(lanes)
    e, hits = 0, 0
    while (e + 64 < n1) & (hits == 0):
        for lane in range(64):
            hits += select((x[at + e + lane] == best) | (x[at + e + lane] != x[at + e + lane]), 1, 0)
        e += select(hits == 0, 64, 0)
    while (x[at + e] != best) & (x[at + e] == x[at + e]):
        e += 1
    out[piece] = e
"""
_IN_A_COLUMN = """\
best, place = {local}(), i64_local64()
blocks = (n2 + {width} - 1) // {width}
for part in range(lo, hi):
    column, piece = part % blocks * {width}, part // blocks
    start = piece * n1 * n2 + column
    width = select(n2 - column < {width}, n2 - column, {width})
    for j in range(width):
        best[j] = x[start + j]
        place[j] = 0
    for e in range(1, n1):
        for j in range(width):
            v = x[start + e * n2 + j]
            better = (v {sign} best[j]) | ((v != v) & (best[j] == best[j]))
            best[j] = select(better, v, best[j])
            place[j] = select(better, e, place[j])
    for j in range(width):
        out[piece * n2 + column + j] = place[j]
"""


def _counting(name: str, dtype: DType) -> None:
    if dtype not in (int32, int64):
        raise DTypeError("D2S0003", f"{name}(): places are counted in int32 or int64, not in {dtype.name}")


@op(paddle="arg_max", onnx="ArgMax", some=True)
def argmax(x, axis: Any = None, keepdim: bool = False, dtype: Any = "int64"):
    """Where the largest element stands along an axis, or of all in a row: the first of them, or the first nan.

    >>> d2s.argmax(d2s.to_tensor([[1.0, 5.0], [7.0, 4.0]]), axis=1).numpy().tolist()
    [1, 0]
    """


@op(paddle="arg_min", onnx="ArgMin", some=True)
def argmin(x, axis: Any = None, keepdim: bool = False, dtype: Any = "int64"):
    """Where the smallest element stands along an axis, or of all in a row: the first of them, or the first nan.

    >>> d2s.argmin(d2s.to_tensor([[1.0, 5.0], [7.0, 4.0]]), axis=1).numpy().tolist()
    [0, 1]
    """


_first_rules(argmax, "max", ">")
_first_rules(argmin, "min", "<")
