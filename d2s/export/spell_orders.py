"""Paddle's words for orders, running totals, and reductions.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["cumsum"].narrow
True
"""

import math

from d2s.export.paddle_pen import Long, Pen, spells
from d2s.export.tensors import NUMBERS
from d2s.types import Type

_FLOATS, _NUMBERS = "f32 f64", "i32 i64 f32 f64"


# --- orders and running totals -----------------------------------------------------------------------------------------------


@spells("sorted", _NUMBERS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "descending": pen.attrs["descending"]}
    pen.write("argsort", {"X": pen.names[0]}, attrs, also={"Indices": 1})


@spells("argmax argmin", _NUMBERS)
def _(pen: Pen) -> None:
    axis, dtype = pen.attrs["axis"], pen.attrs["dtype"]
    attrs = {"axis": Long(0 if axis is None else axis), "keepdims": pen.attrs["keepdim"], "flatten": axis is None}
    attrs["dtype"] = NUMBERS[dtype]
    if not pen.types[0].shape:
        attrs |= {"flatten": True, "keepdims": False}
    pen.write(f"arg_{pen.node.op[3:]}", {"X": pen.names[0]}, attrs)


@spells("cumsum", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        pen.copy(pen.names[0])
        return
    attrs = {"axis": pen.attrs["axis"], "flatten": False, "exclusive": False, "reverse": pen.attrs["reverse"]}
    pen.write("cumsum", {"X": pen.names[0]}, attrs)


@spells("logcumsumexp", _FLOATS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "flatten": False, "exclusive": False, "reverse": False}
    pen.write("logcumsumexp", {"X": pen.names[0]}, attrs)


@spells("cumprod", _NUMBERS)
def _(pen: Pen) -> None:
    pen.write("cumprod", {"X": pen.names[0]}, {"dim": pen.attrs["axis"]})


@spells("cummax cummin", _NUMBERS)
def _(pen: Pen) -> None:
    attrs = {"axis": pen.attrs["axis"], "dtype": NUMBERS[pen.attrs["dtype"]]}
    pen.write(pen.node.op, {"x": pen.names[0]}, attrs, out="out", also={"indices": 1})


# --- reductions --------------------------------------------------------------------------------------------------------------


@spells("prod", _NUMBERS, judged=0)
def _(pen: Pen) -> None:
    source, have, want = pen.names[0], pen.types[0], pen.outputs[0].dtype
    if have.dtype is not want:
        source = pen.cast(source, have, want)
    axes = list(pen.attrs["axis"])
    if not axes and have.shape:
        pen.copy(source)
        return
    pen.reduced("reduce_prod", source, Type(want, have.shape), axes, None, pen.attrs["keepdim"])


@spells("per_element", _FLOATS)
def _(pen: Pen) -> None:
    x, like = pen.types
    axes, less = list(pen.attrs["axis"]), pen.attrs["less"]
    extents = [like.shape[a] for a in axes]
    known = [d for d in extents if isinstance(d, int)]
    if len(known) == len(extents):
        count = pen.number(float(max(math.prod(known) - less, 0)), x.dtype, [1] if x.shape else [])
    else:
        ones = pen.write("fill_any_like", {"X": pen.names[1]}, {"value": 1.0, "dtype": NUMBERS[x.dtype]}, like)
        whole = pen.reduced("reduce_sum", ones, like, axes, x, keep=len(x.shape) == len(like.shape))
        count = pen.write("relu", {"X": pen.scaled(whole, x, bias=-float(less))}, {}, x)
    pen.two("elementwise_div", pen.names[0], count, None)


@spells("mean", _FLOATS)
def _(pen: Pen) -> None:
    _totalled(pen, "reduce_mean")


@spells("max min amax amin", _NUMBERS)
def _(pen: Pen) -> None:
    _totalled(pen, "reduce_max" if "max" in pen.node.op else "reduce_min")


def _totalled(pen: Pen, kind: str) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.copy(pen.names[0])  # no axis is every axis there
        return
    pen.reduced(kind, pen.names[0], pen.types[0], axes, None, pen.attrs["keepdim"])


@spells("logsumexp", _FLOATS)
def _(pen: Pen) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.copy(pen.names[0])
        return
    attrs = {"axis": axes, "keepdim": pen.attrs["keepdim"], "reduce_all": len(axes) == len(pen.types[0].shape)}
    pen.write("logsumexp", {"X": pen.names[0]}, attrs)


@spells("softmax log_softmax", _FLOATS)
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        nothing = pen.two("elementwise_sub", pen.names[0], pen.names[0], pen.types[0])  # or a nan
        pen.write("exp", {"X": nothing}) if pen.node.op == "softmax" else pen.copy(nothing)
        return
    pen.write(pen.node.op, {"X": pen.names[0]}, {"axis": pen.attrs["axis"]})
