"""Paddle's words for values one by one, for those that are not there, and for ends of runs.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> "clip" in SPELLED
True
"""

from d2s import types
from d2s.export.paddle_pen import Long, Longs, Pen, spells
from d2s.export.tensors import NUMBERS
from d2s.types import Type

_NUMBERS = "i32 i64 f32 f64"


@spells("relu sign", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    """Paddle has these of floats."""
    (x,), (name,) = pen.types, pen.names
    if x.dtype.kind == "f":
        pen.write(pen.node.op, {"X": name})
        return
    zero = pen.number(0, x.dtype)
    if pen.node.op == "relu":
        pen.two("elementwise_max", name, zero, None)
        return
    truth = Type(types.bool_, x.shape)
    above, below = (pen.cast(pen.two(kind, name, zero, truth), truth, x.dtype) for kind in ("greater_than", "less_than"))
    pen.two("elementwise_sub", above, below, None)


@spells("neg", "i8 i16 i32 i64 f32 f64 u8")
def _(pen: Pen) -> None:
    """Behind a product no `scale`: Paddle's inference would turn the stored matrix itself, whoever else reads it."""
    (x,), (name,) = pen.types, pen.names
    made = next((node for node in pen.writer.program.nodes if pen.node.inputs[0] in node.outputs), None)
    if made is None or made.op != "matmul":
        pen.scaled(name, None, -1.0)
        return
    shape = (1,) if x.shape else ()
    pen.two("elementwise_mul", name, pen.number(-1, x.dtype, shape), None)


@spells("atan2", "f32 f64")
def _(pen: Pen) -> None:
    """Paddle's takes two of one shape; a sum has that of both."""
    names, full = list(pen.names), pen.outputs[0].shape
    if any(have.shape != full for have in pen.types):
        like = pen.two("elementwise_add", names[0], names[1], Type(pen.types[0].dtype, full))
        pairs = zip(names, pen.types, strict=True)
        names = [pen.broadcast(name, have, like, Type(have.dtype, full)) for name, have in pairs]
    pen.write("atan2", {"X1": names[0], "X2": names[1]})


@spells("clip", "i32 i64 f32 f64")
def _(pen: Pen) -> None:
    """Where a bound is no float32, two comparisons are exact."""
    low, high, (x,) = pen.attrs["min"], pen.attrs["max"], pen.types
    upside_down = low is not None and high is not None and low > high
    if x.dtype is types.float32 and not upside_down:
        bounds = {"min": float("-inf") if low is None else float(low), "max": float("inf") if high is None else float(high)}
        pen.write("clip", {"X": pen.names[0]}, bounds)
        return
    bounds_there = [(kind, n) for kind, n in (("elementwise_max", low), ("elementwise_min", high)) if n is not None]
    held = pen.names[0]
    for n, (kind, bound) in enumerate(bounds_there):
        held = pen.two(kind, held, pen.number(bound, x.dtype), x if n + 1 < len(bounds_there) else None)
    if not bounds_there:
        pen.copy(held)


@spells("thresholded_relu", "f32 f64")
def _(pen: Pen) -> None:
    """Paddle 3 wants an attribute of its op of this name that Paddle 2 does not know."""
    (x,), (name,), threshold, value = pen.types, pen.names, pen.attrs["threshold"], pen.attrs["value"]
    above = pen.two("greater_than", name, pen.number(threshold, x.dtype), Type(types.bool_, x.shape))
    left = pen.broadcast(pen.number(value, x.dtype), Type(x.dtype), name, x)
    pen.write("where", {"Condition": above, "X": name, "Y": left})


@spells("bounded_log", "f32 f64")
def _(pen: Pen) -> None:
    logarithm = pen.write("log", {"X": pen.names[0]}, of=pen.types[0])
    pen.write("clip", {"X": logarithm}, {"min": -1e20, "max": 1e20})


# --- values that are not there, and ends of runs -----------------------------------------------------------------------------


@spells("hole")
def _(pen: Pen) -> None:
    """Nothing reads it: extents that only a run knows are 1."""
    of = pen.outputs[0]
    shape = Longs(d if isinstance(d, int) else 1 for d in of.shape)
    attrs = {"shape": shape, "dtype": NUMBERS[of.dtype], "value": 0.0, "str_value": "0", "force_cpu": False}
    pen.write("fill_constant", {}, attrs)


@spells("detached renewed unlearnt as_extent as_std own_gradient renamed")
def _(pen: Pen) -> None:
    pen.copy(pen.names[0])


@spells("fail")
def _(pen: Pen) -> None:
    false = pen.number(0, types.bool_)
    why = pen.cast(false, Type(types.bool_), types.int32)
    pen.writer.op(pen.block, "assert", {"Cond": [false], "Data": [why]}, {}, {"summarize": Long(-1)})
