"""Values taken from, and put at, one place of an axis for each place of all the others.

>>> from d2s.types import float32, int64
>>> take_along.infer([Type(float32, ("n", 5)), Type(int64, ("n", 2))], {"axis": 1})
(f32[n,2],)
"""

import math
from typing import Any

import numpy as np

from d2s.arguments import expect, one_of
from d2s.errors import ArgumentError, DTypeError, kind_of
from d2s.ops.create import full_like, number_of
from d2s.ops.dispatch import OPS, current
from d2s.ops.expand import expand, summed_to
from d2s.ops.gather import integers
from d2s.ops.movement import CHUNK, Kernel, Registers, body, indented
from d2s.ops.op import Share, flag, op
from d2s.ops.places import checked, out_of_range
from d2s.ops.scatter import positions
from d2s.ops.shapes import broadcast, fitting, one_axis, tensor_type
from d2s.ops.slicing import Stretch, columns, part, set_slice, zero
from d2s.types import NUMBERS, DType, Shape, Type

REDUCES = {"assign": "assign", "add": "add", "mul": "multiply", "multiply": "multiply", "amin": "amin", "amax": "amax"}
_LINES = {
    "assign": "out[{to}] = {v}",
    "add": "out[{to}] += {v}",
    "multiply": "out[{to}] *= {v}",
    "amin": "out[{to}] = {v} if {v} < out[{to}] or {v} != {v} else out[{to}]",
    "amax": "out[{to}] = {v} if {v} > out[{to}] or {v} != {v} else out[{to}]",
}


def _around(name: str, index: Type, x: Shape, axis: int) -> list[Any]:
    """The pairs of extents a run must find equal: index and tensor agree but for the axis."""
    integers(name, "indices", index)
    return fitting(
        name, "indices", index.shape, (*x[:axis], index.shape[axis], *x[axis + 1 :]) if len(index.shape) > axis else x
    )


@op(paddle="take_along_axis", onnx="GatherElements")
def take_along(x, index, axis: int):
    """`take_along_axis` where the index has the extents of x on all other axes.

    >>> x, i = d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[1], [0]])
    >>> d2s.ops.along_axis.take_along(x, i, 1).numpy().tolist()
    [[2], [3]]
    """


@take_along.rule("canonical")
def _(x, index, axis):
    return {"axis": one_axis(axis, len(x.shape), "take_along_axis")}


@take_along.rule("infer")
def _(x, index, axis):
    _around("take_along_axis", index, x.shape, axis)
    return Type(x.dtype, index.shape)


@take_along.rule("requires")
def _(x, index, axis):
    return _around("take_along_axis", index, x.shape, axis)


@take_along.rule("kernel")
def _(x, index, out, axis):
    r = Registers()
    count, rows, m = r(index.shape), r(index.shape[: axis + 1]), r((index.shape[axis],))
    n, inner = r((x.shape[axis],)), r.stride(x.shape[axis + 1 :])
    look = [*checked(["index"], [n], f"row * {inner} + i"), f"out[row * {inner} + i] = x[(block * {n} + j0) * {inner} + i]"]
    lines = [f"count = {count}", "if lo >= hi:", "    return 0", f"block = lo // {m}", f"j = lo - block * {m}"]
    lines += ["for row in range(lo, hi):", f"    for i in range({inner}):", *indented(look, 2)]
    lines += indented(["j += 1", f"if j == {m}:", "    j = 0", "    block += 1"])
    return r.extents, body(lines), Share(rows, f"1 + {CHUNK} // (4 + {inner})")


@take_along.rule("fault")
def _(value, x, index, axis):
    return out_of_range("take_along_axis", value, x.shape, (axis,))


@take_along.rule("vjp")
def _(g, out, x, index, axis):
    return lambda: collect_along(g, index, x, axis), None


def _written(x: Type, index: Type, axis: int, elsewhere: str, line: str) -> Kernel:
    """Block by block of the axes before: `elsewhere` (at q), then the line for each index in order."""
    r = Registers()
    count, blocks, m = r(index.shape), r(x.shape[:axis]), r((index.shape[axis],))
    n, inner = r((x.shape[axis],)), r.stride(x.shape[axis + 1 :])
    do = [
        f"source = (block * {m} + j) * {inner} + i",
        *checked(["index"], [n], "source"),
        f"to = (block * {n} + j0) * {inner} + i",
        line,
    ]
    lines = [
        f"count = {count}",
        "for block in range(lo, hi):",
        f"    for p in range(block * {n} * {inner}, (block + 1) * {n} * {inner}):",
    ]
    lines += [
        f"        out[p] = {elsewhere}",
        f"    for j in range({m}):",
        f"        for i in range({inner}):",
        *indented(do, 3),
    ]
    return r.extents, body(lines), Share(blocks, f"1 + {CHUNK} // (1 + {n} * {inner})")


@op(paddle=None)
def collect_along(x, index, like, axis: int):
    """The transpose of `take_along`: zeros in the shape of `like`, with what x holds for a place added there, in order.

    >>> x, i, like = d2s.to_tensor([1.0, 2.0, 3.0]), d2s.to_tensor([1, 0, 1]), d2s.to_tensor([0.0, 0.0])
    >>> d2s.ops.along_axis.collect_along(x, i, like, 0).numpy().tolist()
    [2.0, 4.0]
    """


@collect_along.rule("infer")
def _(x, index, like, axis):
    _around("take_along_axis", index, like.shape, axis)
    fitting("take_along_axis", "x", x.shape, index.shape)
    return Type(x.dtype, like.shape)


@collect_along.rule("requires")
def _(x, index, like, axis):
    name = "take_along_axis"
    return [*_around(name, index, like.shape, axis), *fitting(name, "x", x.shape, index.shape)]


@collect_along.rule("kernel")
def _(x, index, like, out, axis):
    return _written(like, index, axis, "T(0)", "out[to] += x[source]")


@collect_along.rule("fault")
def _(value, x, index, like, axis):
    return out_of_range("take_along_axis", value, like.shape, (axis,))


@collect_along.rule("vjp")
def _(g, out, x, index, like, axis):
    return lambda: take_along(g, index, axis), None, None


@op(paddle=None, onnx="ScatterElements")
def put_along(x, index, value, axis: int, reduce: str = "assign"):
    """`put_along_axis` where the index has the extents of x on all other axes, and the value those of the index or none.

    >>> x, i = d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[1], [0]])
    >>> d2s.ops.along_axis.put_along(x, i, d2s.to_tensor(0), 1).numpy().tolist()
    [[1, 0], [0, 4]]
    """


@put_along.rule("canonical")
def _(x, index, value, axis, reduce):
    one_of("put_along_axis", "reduce", reduce, REDUCES)
    if x.dtype.kind == "b" and reduce != "assign":
        raise DTypeError("D2S0003", f"put_along_axis(): a bool tensor has no '{reduce}'")
    return {"axis": one_axis(axis, len(x.shape), "put_along_axis"), "reduce": REDUCES[reduce]}


def _put(x: Type, index: Type, value: Type, axis: int) -> list[Any]:
    if value.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"put_along_axis(): 'values' is {value.dtype.name}, 'arr' {x.dtype.name}")
    same = fitting("put_along_axis", "values", value.shape, index.shape) if value.shape else []
    return [*_around("put_along_axis", index, x.shape, axis), *same]


@put_along.rule("infer")
def _(x, index, value, axis, reduce):
    _put(x, index, value, axis)
    return x


@put_along.rule("requires")
def _(x, index, value, axis, reduce):
    return _put(x, index, value, axis)


@put_along.rule("kernel")
def _(x, index, value, out, axis, reduce):
    line = _LINES[reduce].format(to="to", v="value[source]" if value.shape else "value[0]")
    return _written(x, index, axis, "x[p]", line)


@put_along.rule("fault")
def _(fault, x, index, value, axis, reduce):
    return out_of_range("put_along_axis", fault, x.shape, (axis,))


@put_along.rule("vjp")
def _(g, out, x, index, value, axis, reduce):
    return _PULLED[reduce](g, out, x, index, value, axis)


def _of_assigned(g, out, x, index, value, axis):
    def of_value():
        own = positions(index)
        last = take_along(put_along(positions(g), index, own, axis), index, axis)
        return summed_to(OPS["where"](OPS["equal"](last, own), take_along(g, index, axis), 0.0), value)

    return lambda: put_along(g, index, zero(g), axis), None, of_value


def _of_added(g, out, x, index, value, axis):
    return g, None, lambda: summed_to(take_along(g, index, axis), value)


def _of_multiplied(g, out, x, index, value, axis):
    """Each factor's is the product of all others: of those that are not 0, if no other is."""
    none = [OPS["equal"](factor, 0.0) for factor in (x, value)]
    parts = [OPS["where"](is_none, 1.0, factor) for is_none, factor in zip(none, (x, value), strict=True)]
    product = put_along(parts[0], index, parts[1], axis, "multiply")
    zeros = put_along(*(OPS["cast"](none[0], x.dtype), index, OPS["cast"](none[1], x.dtype)), axis, "add")

    def of(factor, is_none, product, zeros, g):
        others = OPS["where"](is_none, product, product / OPS["where"](is_none, 1.0, factor))
        return g * OPS["where"](OPS["equal"](zeros, OPS["cast"](is_none, x.dtype)), others, 0.0)

    def of_value():
        taken = [take_along(v, index, axis) for v in (product, zeros, g)]
        return summed_to(of(value, none[1], *taken), value)

    return lambda: of(x, none[0], product, zeros, g), None, of_value


def _of_extreme(g, out, x, index, value, axis):
    """All that are as large (small) as the result share its cotangent evenly."""
    here, there = OPS["equal"](x, out), OPS["equal"](take_along(out, index, axis), value)
    many = put_along(OPS["cast"](here, x.dtype), index, OPS["cast"](there, x.dtype), axis, "add")
    share = g / many
    of_value = lambda: summed_to(OPS["where"](there, take_along(share, index, axis), 0.0), value)  # noqa: E731
    return lambda: OPS["where"](here, share, 0.0), None, of_value


_PULLED = {"assign": _of_assigned, "add": _of_added, "multiply": _of_multiplied, "amin": _of_extreme, "amax": _of_extreme}


def _wide(shape: Shape, other: Shape, axis: int) -> tuple[int, ...]:
    """A shape broadcast against another but for one axis, as `expand` takes it."""
    at = axis % len(shape)
    wide, _ = broadcast("take_along_axis", [(*shape[:at], 1, *shape[at + 1 :]), (*other[:at], 1, *other[at + 1 :])])
    return tuple(-1 if k == at or isinstance(d, str) else d for k, d in enumerate(wide))


def _one_rank(name: str, x: Shape, index: Shape, axis: int) -> int:
    if len(x) != len(index) or not x:
        raise ArgumentError(
            "D2S0002", f"{name}(): 'arr' has shape {list(x)}, 'indices' {list(index)}: as many axes, one at least"
        )
    return one_axis(axis, len(x), name)


def _corner(x: Shape, index: Shape, axis: int) -> dict[int, Stretch]:
    """The part of x an index of other extents reaches."""
    return {k: Stretch(0, d) for k, d in enumerate(index) if k != axis}


def take_along_axis(arr: Any, indices: Any, axis: int, broadcast: bool = True) -> Any:
    """The value at one place of an axis, for each place of all the others.

    >>> x = d2s.to_tensor([[1, 2, 3], [4, 5, 6]])
    >>> d2s.take_along_axis(x, d2s.to_tensor([[2], [0]]), 1).numpy().tolist()
    [[3], [4]]
    """
    x, index = (tensor_type(a, "take_along_axis", n).shape for a, n in ((arr, "arr"), (indices, "indices")))
    at = _one_rank("take_along_axis", x, index, axis)
    if not broadcast:
        return take_along(part(arr, x, _corner(x, index, at)), indices, at)
    return take_along(expand(arr, _wide(x, index, at)), expand(indices, _wide(index, x, at)), at)


def put_along_axis(
    arr: Any,
    indices: Any,
    values: Any,
    axis: int,
    reduce: str = "assign",
    include_self: bool = True,
    broadcast: bool = True,
) -> Any:
    """arr with values put at one place of an axis, or combined with each other, for each place of all the others.

    `reduce`: "assign", "add", "mul", "mean", "amin" or "amax"; `include_self`: what was there is one of what is combined.

    >>> d2s.put_along_axis(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[1], [0]]), 0, 1).numpy().tolist()
    [[1, 0], [0, 4]]
    """
    have, index = tensor_type(arr, "put_along_axis", "arr"), tensor_type(indices, "put_along_axis", "indices").shape
    at = _one_rank("put_along_axis", have.shape, index, axis)
    handler = current()
    if handler.type_of(values) is None:
        expect("put_along_axis", "values", values, NUMBERS, "a Tensor or a number")
    held = handler.type_of(values)
    value = handler.constant(values, Type(have.dtype)) if held is None else values
    if held is not None and held.python:
        if held.dtype.kind == "f" and have.dtype.kind == "i":  # of one that is known, what is no number is refused
            raise DTypeError("D2S0003", f"put_along_axis(): {have.dtype.name} does not take {kind_of(values)}")
        value = OPS["cast"](values, have.dtype)
    own = flag(include_self, "include_self")
    one_of("put_along_axis", "reduce", reduce, [*REDUCES, "mean"])
    if broadcast:
        places = expand(indices, _wide(index, have.shape, at))
        return _combined(arr, places, _as(value, places), at, reduce, own)
    corner = _corner(have.shape, index, at)
    new = _combined(part(arr, have.shape, corner), indices, _as(value, indices), at, reduce, own)
    return set_slice(arr, new, *columns(have.shape, corner))


def _combined(x: Any, places: Any, value: Any, axis: int, reduce: str, own: bool) -> Any:
    """Values put into x; not `own`: as if nothing had been there."""
    if reduce == "mean":
        total, ones = _combined(x, places, value, axis, "add", own), full_like(x, 1)
        return OPS["divide"](total, _combined(ones, places, number_of(1, ones.dtype), axis, "add", own))
    if not own and reduce in _NOTHING:
        x = put_along(x, places, number_of(_nothing(reduce, x.dtype), x.dtype), axis)
    return put_along(x, places, value, axis, reduce)


_NOTHING = {"add": 0, "mul": 1, "multiply": 1, "amin": math.inf, "amax": -math.inf}  # what changes no result


def _nothing(reduce: str, of: DType) -> float:
    """The same of a dtype, whose ends integers have in place of infinities."""
    found = _NOTHING[reduce]
    if of.kind != "i" or not math.isinf(found):
        return found
    return int(np.iinfo(of.numpy).max if found > 0 else np.iinfo(of.numpy).min)


def _as(value: Any, places: Any) -> Any:
    have = tensor_type(value, "put_along_axis", "values").shape
    return value if not have else OPS["expand_as"](value, places)


def index_sample(x: Any, index: Any) -> Any:
    """For each row of x the values at the places its row of `index` names.

    >>> d2s.index_sample(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[1, 1], [0, 1]])).numpy().tolist()
    [[2, 2], [3, 4]]
    """
    if len(tensor_type(x, "index_sample", "x").shape) != 2:
        raise ArgumentError("D2S0002", "index_sample(): 'x' expects a matrix")
    return take_along(x, index, 1)
