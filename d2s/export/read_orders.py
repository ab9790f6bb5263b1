"""What Paddle's reductions, orders and running totals mean.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "argsort" in READ
True
"""

from typing import Any

from d2s import types
from d2s.export.paddle_words import Reading, reads
from d2s.export.tensors import dtype_of
from d2s.ops import OPS, sort
from d2s.ops.scan import cummax_, cummin_, cumprod_, cumsum_, logcumsumexp_

# --- reductions --------------------------------------------------------------------------------------------------------------


def _axes(r: Reading) -> Any:
    axes = r.take("dim", [])
    return None if r.take("reduce_all", False) or not axes else tuple(axes)


@reads("reduce_sum")
def _(r: Reading) -> Any:
    x, wanted = r.x(), r.take("out_dtype", -1)
    if wanted >= 0 and dtype_of(wanted) is not r.type(x).dtype:
        x = OPS["cast"](x, dtype_of(wanted))
    found = OPS["sum"](x, _axes(r), dtype_of(wanted) if wanted >= 0 else None, r.take("keep_dim", False))
    have = r.type(x).dtype
    return found if r.type(found).dtype is have or have.kind == "b" or wanted >= 0 else OPS["cast"](found, have)


@reads("reduce_mean reduce_max reduce_min reduce_amax reduce_amin reduce_prod reduce_any reduce_all")
def _(r: Reading) -> Any:
    name, x, keep = r.op.type.removeprefix("reduce_"), r.x(), r.take("keep_dim", False)
    if name in ("any", "all"):
        whole = OPS["cast"](x, types.int32)
        found = OPS["max" if name == "any" else "min"](whole, _axes(r), keep)
        return OPS["cast"](found, types.bool_)
    if name == "prod":
        return OPS["prod"](x, _axes(r), keep, r.type(x).dtype)
    return OPS[name](x, _axes(r), keep)


@reads("mean")
def _(r: Reading) -> Any:
    return OPS["mean"](r.x(), None, False)


@reads("logsumexp")
def _(r: Reading) -> Any:
    axes = r.take("axis", [])
    return OPS["logsumexp"](r.x(), None if r.take("reduce_all", False) or not axes else tuple(axes), r.take("keepdim", False))


@reads("softmax log_softmax")
def _(r: Reading) -> Any:
    return OPS[r.op.type](r.x(), r.take("axis", -1))


@reads("arg_max arg_min")
def _(r: Reading) -> Any:
    axis = None if r.take("flatten", False) else r.take("axis", -1)
    number = r.take("dtype", 3)
    dtype = types.int64 if number < 0 else dtype_of(number)
    return OPS[r.op.type.replace("_", "")](r.x(), axis, r.take("keepdims", False), dtype)


# --- orders and running totals -----------------------------------------------------------------------------------------------


@reads("argsort")
def _(r: Reading) -> Any:
    values, places = sort.sorted_(r.x(), r.take("axis", -1), r.take("descending", False))
    return {"Out": values, "Indices": places}


@reads("top_k_v2 top_k")
def _(r: Reading) -> Any:
    k = int(r.number(r.x("K"))) if r.has("K") else r.take("k", 1)
    values, places = sort.topk(r.x(), k, r.take("axis", -1), r.take("largest", True), r.take("sorted", True))
    return {"Out": values, "Indices": places}


@reads("cumsum")
def _(r: Reading) -> Any:
    x, back = r.x(), r.take("reverse", False)
    if r.take("flatten", False):
        x = OPS["flatten"](x)
    axis = r.take("axis", -1)
    found = cumsum_(x, axis, back)
    return found - x if r.take("exclusive", False) else found


@reads("cumprod")
def _(r: Reading) -> Any:
    if r.take("exclusive", False) or r.take("reverse", False):
        r.fail("backwards, or without the element itself")
    return cumprod_(r.x(), r.take("dim", 0))


@reads("logcumsumexp")
def _(r: Reading) -> Any:
    if r.take("exclusive", False) or r.take("reverse", False):
        r.fail("backwards, or without the element itself")
    x = OPS["flatten"](r.x()) if r.take("flatten", False) else r.x()
    return logcumsumexp_(x, r.take("axis", -1))


@reads("cummax cummin")
def _(r: Reading) -> Any:
    found = (cummax_ if r.op.type == "cummax" else cummin_)(r.x("x"), r.take("axis", -1), dtype_of(r.take("dtype", 3)))
    return {"out": found[0], "indices": found[1]}
