"""What Paddle's ops mean that work value by value, make values of numbers, or end a run.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "scale" in READ
True
"""

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from d2s import types
from d2s.errors import Raised
from d2s.export.paddle_words import Reading, reads
from d2s.export.read_extents import found_by
from d2s.export.tensors import dtype_of
from d2s.ir.program import Node, Program, Value
from d2s.ops import OPS
from d2s.ops.join import stack
from d2s.ops.training_marks import note
from d2s.types import Dim, Type

# --- value by value ----------------------------------------------------------------------------------------------------------


@reads("scale")
def _(r: Reading) -> Any:
    """`scale * x + bias`: Paddle's spelling of neg, and of arithmetic with constants."""
    x, scale, bias = r.x(), r.take("scale", 1.0), r.take("bias", 0.0)
    if set(r.op.inputs) != {"X"}:
        r.fail("with a computed factor, or with its bias first")
    if (scale, bias) == (-1.0, 0.0):
        return OPS["neg"](x)
    if bias and not r.take("bias_after_scale", True):
        return _times(r, _plus(r, x, bias), scale)
    return _plus(r, _times(r, x, scale), bias)


def _constant(r: Reading, x: Any, number: float) -> Any:
    dtype = r.type(x).dtype
    if dtype.kind == "b" or (dtype.kind == "i" and number != number // 1):
        r.fail(f"of {dtype.name} by {number}")
    return r.constant(number, dtype)


def _times(r: Reading, x: Any, factor: float) -> Any:
    return x if factor == 1 else x * _constant(r, x, factor)


def _plus(r: Reading, x: Any, number: float) -> Any:
    return x if number == 0 else x + _constant(r, x, number)


@reads("increment")
def _(r: Reading) -> Any:
    return _plus(r, r.x(), r.take("step", 1.0))


@reads("pow")
def _(r: Reading) -> Any:
    r.only("X")
    return OPS["pow"](r.x(), _constant(r, r.x(), r.take("factor", 1.0)))


@reads("sum")
def _(r: Reading) -> Any:
    return functools.reduce(operator.add, r.many())


@reads("clip")
def _(r: Reading) -> Any:
    low = r.number(r.x("Min")) if r.has("Min") else r.take("min", -math.inf)
    high = r.number(r.x("Max")) if r.has("Max") else r.take("max", math.inf)
    return OPS["clip"](r.x(), None if low == -math.inf else low, None if high == math.inf else high)


@reads("swish")
def _(r: Reading) -> Any:
    return OPS["silu"](r.x())


@reads("prelu")
def _(r: Reading) -> Any:
    x, alpha, mode = r.x(), r.x("Alpha"), r.take("mode", "all")
    rank, count = len(r.shape(x)), len(r.shape(alpha))
    if mode == "channel":
        axis = rank - 1 if r.channels_last() else 1
        alpha = r.reshaped(alpha, [-1 if k == axis else 1 for k in range(rank)])
    elif mode != "all" or count > 1:
        r.fail(f"by {mode!r:.20}")
    return OPS["where"](OPS["greater_than"](x, 0.0), x, x * alpha)


@reads("dropout")
def _(r: Reading) -> Any:
    """As in inference, however the file was saved."""
    x, p = r.x(), r.take("dropout_prob", 0.5)
    if not 0 < p <= 1:
        return x
    up = r.take("dropout_implementation", "downgrade_in_infer") == "upscale_in_train"
    found = OPS["cast"](x, r.type(x).dtype) if up else x * _constant(r, x, 1.0 - p)
    note(found, "drop", p, None, "upscale_in_train" if up else "downscale_in_infer")
    return found


@reads("cast")
def _(r: Reading) -> Any:
    x = r.x()
    found = OPS["cast"](x, dtype_of(r.take("out_dtype", 5)))
    known = r.frame.known.get(x.value)
    return found if known is None else r.know(found, known)


# --- what is made of numbers -------------------------------------------------------------------------------------------------


@reads("fill_constant")
def _(r: Reading) -> Any:
    r.only("ShapeTensor", "ShapeTensorList")
    dtype, text = dtype_of(r.take("dtype", 5)), r.take("str_value", "")
    number = _number(r, text, dtype.kind) if text else r.take("value", 0.0)
    listed = r.many("ShapeTensorList") if r.has("ShapeTensorList") else []
    if any(x.value not in r.frame.known for x in listed):
        return _full_of_found(r, r.constant(number, dtype), listed)
    dims = r.wanted("shape", "ShapeTensor", "ShapeTensorList")
    found = r.full(number, dtype, dims)
    if dtype.kind == "i" and dims in ([], [1]):
        r.know(found, [int(number)])
    return found


def _full_of_found(r: Reading, value: Any, listed: Sequence[Any]) -> Any:
    """A number in every place of a shape some of whose extents only a run finds."""
    shape, counts = [], []
    for x in listed:
        dim = r.frame.known.get(x.value, [""])[0]
        shape.append(dim if isinstance(dim, int) else -1)
        if not isinstance(dim, int):
            counts.append(OPS["cast"](OPS["reshape"](x, []), types.int64))
    finds = tuple(f"{found_by(r)[0]}_{k}" for k in range(len(counts)))
    return OPS["filled"](value, *counts, shape=tuple(shape), finds=finds)


def _number(r: Reading, text: str, kind: str) -> Any:
    try:
        return float(text) if kind == "f" or not text.lstrip("-").isdigit() else int(text)
    except ValueError:
        r.fail(f"of the number {text!r:.40}")


@reads("fill_constant_batch_size_like")
def _(r: Reading) -> Any:
    dtype, text = dtype_of(r.take("dtype", 5)), r.take("str_value", "")
    dims: list[Dim] = list(r.take("shape", []))
    like, source, to = r.shape(r.x("Input")), r.take("input_dim_idx", 0), r.take("output_dim_idx", 0)
    if not 0 <= source < len(like) or not 0 <= to < len(dims):
        r.fail(f"of axis {source}")
    dims[to] = like[source]
    return r.full(_number(r, text, dtype.kind) if text else r.take("value", 0.0), dtype, dims)


@reads("fill_any_like fill_zeros_like")
def _(r: Reading) -> Any:
    x, number = r.x(), r.take("dtype", -1)
    dtype = r.type(x).dtype if number < 0 else dtype_of(number)
    one = r.constant(r.take("value", 0.0), dtype)
    return OPS["expand_as"](one, x)


@reads("assign_value")
def _(r: Reading) -> Any:
    dtype, dims = dtype_of(r.take("dtype", 5)), r.take("shape", [])
    numbers = r.scalars(dtype)
    found = r.tensor(numbers, dtype, dims)
    return r.know(found, [int(n) for n in numbers]) if dtype.kind == "i" and len(dims) == 1 and numbers else found


@reads("shape")
def _(r: Reading) -> Any:
    x = r.x("Input")
    dims = r.shape(x)
    if not dims:
        r.fail("of a single number")
    each = [_extent(r, x, k) if isinstance(d, str) else r.constant(d, types.int32) for k, d in enumerate(dims)]
    return r.know(stack(each), dims)


def _extent(r: Reading, x: Any, axis: int) -> Any:
    return OPS["cast"](OPS["extent"](x, axis), types.int32)


@reads("size")
def _(r: Reading) -> Any:
    x = r.x("Input")
    found = r.constant(1, types.int64)
    for axis, d in enumerate(r.shape(x)):
        found = found * (r.constant(d, types.int64) if isinstance(d, int) else OPS["cast"](OPS["extent"](x, axis), types.int64))
    return found


@reads("range")
def _(r: Reading) -> Any:
    start, end, step = (r.x(slot) for slot in ("Start", "End", "Step"))
    if r.open(end) and (r.number(start), r.number(step)) == (0, 1):
        return OPS["counting"](OPS["cast"](end, types.int64), found_by(r))
    dtype, known = (
        r.type(start).dtype,
        [r.dims([s])[0] if s.value in r.frame.known else r.number(s) for s in (start, end, step)],
    )
    first, last, by = known
    if isinstance(first, str) or isinstance(by, str) or not by:
        r.fail(f"from {first} in steps of {by}")
    wide = types.float64 if dtype.kind == "f" else types.int64
    count: Any = _ramp_count(r, first, last, by)
    found = OPS["ramp"](r.constant(first, wide), r.constant(by, wide), count)
    return found if wide is dtype else OPS["cast"](found, dtype)


def _ramp_count(r: Reading, first: Any, last: Any, by: Any) -> Any:
    if isinstance(last, str):
        return last if (first, by) == (0, 1) else r.fail(f"from {first} to {last} in steps of {by}")
    count = -int((first - last) // by)
    return count if 0 <= count < 1 << 40 else 0 if count < 0 else r.fail(f"of {count} numbers")


# --- values that stay as they are, and ends of runs --------------------------------------------------------------------------


@reads("share_data memcpy")
def _(r: Reading) -> Any:
    return r.x()


@reads("print")
def _(r: Reading) -> Any:
    return r.x("In")


@reads("assert")
def _(r: Reading) -> Any:
    condition = r.x("Cond")
    if r.type(condition) != Type(types.bool_):
        r.fail(f"of {r.type(condition)}")
    seen = Value(Type(types.bool_), "holds")
    failed = Value(Type(types.bool_), "holds")
    frame = r.frame.recorder
    error = Raised(AssertionError("the model's own check fails"))
    end = Node("fail", (), (), {"error": error}, r.frame.where)
    inner = Program("otherwise", (failed,), (end,), ())
    frame.add("cond", [condition.value, condition.value], [], {"then": Program("then", (seen,), (), ()), "otherwise": inner})
    return {}
