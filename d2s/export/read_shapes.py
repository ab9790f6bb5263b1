"""What Paddle's ops mean that move, pick, join and place values; those of stretches stand in `read_slices`.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "gather_nd" in READ
True
"""

from typing import Any

from d2s import types
from d2s.errors import FormatError
from d2s.export.paddle_words import Reading, reads
from d2s.export.tensors import dtype_of
from d2s.ops import OPS
from d2s.ops.along_axis import put_along, take_along
from d2s.ops.gather import gather_nd, index_select
from d2s.ops.join import concat, stack
from d2s.ops.scatter import index_put, scatter, scatter_nd_add
from d2s.ops.slicing import split, unbind

# --- the same values in another shape or order -------------------------------------------------------------------------------


@reads("reshape reshape2")
def _(r: Reading) -> Any:
    r.only("X", "Shape", "ShapeTensor")
    dims = r.numbers("shape", "Shape", "ShapeTensor")
    if all(isinstance(d, int | str) for d in dims):
        return r.reshaped(r.x(), dims)
    return OPS["reshape"](r.x(), [r.extent(d) if isinstance(d, str) else d for d in dims])


@reads("transpose transpose2")
def _(r: Reading) -> Any:
    return OPS["transpose"](r.x(), r.take("axis", []))


@reads("squeeze2")
def _(r: Reading) -> Any:
    x, axes = r.x(), r.take("axes", [])
    found = OPS["squeeze"](x, axes or None)
    return r.know(found, r.frame.known[x.value]) if x.value in r.frame.known else found


@reads("unsqueeze2")
def _(r: Reading) -> Any:
    r.only("X", "AxesTensor", "AxesTensorList")
    x = r.x()
    found = OPS["unsqueeze"](x, r.wanted("axes", "AxesTensor", "AxesTensorList"))
    return r.know(found, r.frame.known[x.value]) if x.value in r.frame.known else found


@reads("flatten_contiguous_range")
def _(r: Reading) -> Any:
    return OPS["flatten"](r.x(), r.take("start_axis", 1), r.take("stop_axis", 1))


@reads("flatten2")
def _(r: Reading) -> Any:
    x, axis = r.x(), r.take("axis", 1)
    if not axis:
        return OPS["unsqueeze"](OPS["flatten"](x), 0)
    behind = OPS["flatten"](x, axis, -1) if axis < len(r.shape(x)) else OPS["unsqueeze"](x, axis)
    return OPS["flatten"](behind, 0, axis - 1)


@reads("expand_v2")
def _(r: Reading) -> Any:
    r.only("X", "Shape", "expand_shapes_tensor")
    dims = r.numbers("shape", "Shape", "expand_shapes_tensor")
    if all(isinstance(d, int | str) for d in dims):
        return r.expanded(r.x(), dims)
    return OPS["expand"](r.x(), [r.extent(d) if isinstance(d, str) else d for d in dims])


@reads("expand_as_v2")
def _(r: Reading) -> Any:
    return OPS["expand_as"](r.x(), r.x("Y")) if r.has("Y") else r.expanded(r.x(), r.take("target_shape", []))


@reads("tile")
def _(r: Reading) -> Any:
    times = r.numbers("repeat_times", "RepeatTimes", "repeat_times_tensor")
    return OPS["tile"](r.x(), [r.extent(n) if isinstance(n, str) else n for n in times])


@reads("flip")
def _(r: Reading) -> Any:
    return OPS["flip"](r.x(), r.take("axis", []))


@reads("roll")
def _(r: Reading) -> Any:
    r.only("X")
    x, shifts, axes = r.x(), r.take("shifts", []), r.take("axis", [])
    if not axes and len(shifts) == 1:
        return OPS["rotate"](x, shifts[0], None)
    if len(axes) != len(shifts):
        r.fail(f"by {len(shifts)} shifts along {len(axes)} axes")
    for shift, axis in zip(shifts, axes, strict=True):
        x = OPS["rotate"](x, shift, axis)
    return x


@reads("concat")
def _(r: Reading) -> Any:
    parts = r.many()
    axis = int(r.number(r.x("AxisTensor"))) if r.has("AxisTensor") else r.take("axis", 0)
    found = concat(parts, axis)
    held = [r.frame.known.get(p.value) for p in parts]
    return found if None in held else r.know(found, [d for dims in held for d in dims or ()])


@reads("stack")
def _(r: Reading) -> Any:
    parts = r.many()
    found = stack(parts, r.take("axis", 0))
    try:
        return {"Y": r.know(found, r.dims(parts))} if not r.shape(parts[0]) else {"Y": found}
    except FormatError:
        return {"Y": found}


@reads("split")
def _(r: Reading) -> Any:
    r.only("X", "AxisTensor")
    axis = int(r.number(r.x("AxisTensor"))) if r.has("AxisTensor") else r.take("axis", 0)
    return {"Out": split(r.x(), r.take("sections", []) or r.take("num", 0), axis)}


@reads("unbind")
def _(r: Reading) -> Any:
    return {"Out": unbind(r.x(), r.take("axis", 0))}


@reads("unstack")
def _(r: Reading) -> Any:
    return {"Y": unbind(r.x(), r.take("axis", 0))}


# --- places ------------------------------------------------------------------------------------------------------------------


@reads("gather")
def _(r: Reading) -> Any:
    axis = int(r.number(r.x("Axis"))) if r.has("Axis") else r.take("axis", 0)
    return OPS["gather"](r.x(), r.x("Index"), axis)


@reads("gather_nd")
def _(r: Reading) -> Any:
    return gather_nd(r.x(), r.x("Index"))


@reads("index_select")
def _(r: Reading) -> Any:
    return index_select(r.x(), r.x("Index"), r.take("dim", 0))


@reads("index_sample")
def _(r: Reading) -> Any:
    return take_along(r.x(), r.x("Index"), 1)


@reads("take_along_axis")
def _(r: Reading) -> Any:
    return {"Result": take_along(r.x("Input"), r.x("Index"), r.take("Axis", 0))}


@reads("put_along_axis")
def _(r: Reading) -> Any:
    reduce = r.take("Reduce", "assign")
    given = r.x("Input"), r.x("Index"), r.x("Value"), r.take("Axis", 0)
    return {"Result": put_along(*given, {"multiply": "mul"}.get(reduce, reduce))}


@reads("scatter")
def _(r: Reading) -> Any:
    return scatter(r.x(), r.x("Ids"), r.x("Updates"), r.take("overwrite", True))


@reads("scatter_nd_add")
def _(r: Reading) -> Any:
    return scatter_nd_add(r.x(), r.x("Index"), r.x("Updates"))


@reads("index_put")
def _(r: Reading) -> Any:
    value = r.x("value")
    one = OPS["squeeze"](value, 0) if r.shape(value) == (1,) else value
    return {"out": index_put(r.x("x"), r.many("indices"), one, r.take("accumulate", False))}


@reads("lookup_table_v2 lookup_table")
def _(r: Reading) -> Any:
    ids, weight, padding = r.x("Ids"), r.x("W"), r.take("padding_idx", -1)
    if r.op.type == "lookup_table" and r.shape(ids)[-1:] == (1,):
        ids = OPS["squeeze"](ids, -1)
    return OPS["embedding"](ids, weight, None if padding == -1 else padding)


@reads("searchsorted")
def _(r: Reading) -> Any:
    return OPS["searchsorted"](r.x("SortedSequence"), r.x("Values"), r.take("out_int32", False), r.take("right", False))


# --- diagonals and triangles -------------------------------------------------------------------------------------------------


@reads("tril_triu")
def _(r: Reading) -> Any:
    return OPS["tril" if r.take("lower", True) else "triu"](r.x(), r.take("diagonal", 0))


@reads("diagonal")
def _(r: Reading) -> Any:
    return OPS["diagonal"](r.x("Input"), r.take("offset", 0), r.take("axis1", 0), r.take("axis2", 1))


@reads("fill_diagonal_tensor")
def _(r: Reading) -> Any:
    return OPS["set_diagonal"](r.x(), r.x("Y"), r.take("offset", 0), r.take("dim1", 0), r.take("dim2", 1))


@reads("one_hot_v2")
def _(r: Reading) -> Any:
    r.only("X")
    found = OPS["one_hot"](r.x(), r.take("depth", 0))
    dtype = dtype_of(r.take("dtype", 5))
    return found if dtype is types.float32 else OPS["cast"](found, dtype)
