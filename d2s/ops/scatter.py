"""Tensors with values put, or added, at places named by index tensors. Where a place is named twice, the last value stays.

>>> from d2s.types import float32, int64
>>> put_at.infer([Type(float32, ("n", 2)), Type(float32, (3, 2)), Type(int64, (3,))], {"axes": (0,), "front": False})
(f32[n,2],)
"""

from collections.abc import Sequence
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.create import number_of
from d2s.ops.dispatch import OPS, current
from d2s.ops.expand import expand, summed_to
from d2s.ops.found import finds_extents, length
from d2s.ops.gather import agreeing, columns_of, indexed, names, take_at
from d2s.ops.movement import CHUNK
from d2s.ops.op import Share, op
from d2s.ops.places import out_of_range, written
from d2s.ops.shape import flatten
from d2s.ops.shapes import broadcast, fitting, one_axis, tensor_type, uncountable, unnamed, whole_numbers
from d2s.ops.slicing import zero
from d2s.ops.widened import together, widened, without_first
from d2s.types import Shape, Type, int64


@op(paddle=None)
def positions(like):
    """The number of each value of a tensor, counted in the order they lie.

    >>> d2s.ops.scatter.positions(d2s.to_tensor([[5.0, 6.0]])).numpy().tolist()
    [[0, 1]]
    """


@positions.rule("infer")
def _(like):
    return Type(int64, like.shape)


@positions.rule("kernel")
def _(like, out):
    return [like.shape], "for i in range(lo, hi):\n    out[i] = i\n", Share("n0", str(CHUNK))


@op(paddle=None, onnx="ScatterND")
def put_at(x, value, *indices, axes: Any, front: bool = False):
    """x with a value, or a single one, at the places that index tensors of one shape name together.

    >>> x, i = d2s.to_tensor([1, 2, 3]), d2s.to_tensor([0, 2, 0])
    >>> d2s.ops.scatter.put_at(x, d2s.to_tensor([7, 8, 9]), i, axes=(0,)).numpy().tolist()
    [9, 2, 8]
    """


def _fitting(name: str, x: Type, value: Type, indices: Sequence[Type], axes: tuple[int, ...], front: bool) -> list[Any]:
    """The pairs of extents a run must find equal."""
    if value.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"{name}(): 'value' is {value.dtype.name}, 'x' {x.dtype.name}")
    result = indexed(name, x, indices, axes, front).result
    return [*agreeing(name, indices), *(fitting(name, "value", value.shape, result) if value.shape else ())]


@put_at.rule("infer")
def _(x, value, *indices, axes, front):
    _fitting("put_at", x, value, indices, axes, front)
    return x


@put_at.rule("requires")
def _(x, value, *indices, axes, front):
    return _fitting("put_at", x, value, indices, axes, front)


@put_at.rule("kernel")
def _(x, value, *indices_and_out, axes, front):
    *indices, _ = indices_and_out
    line = "out[{to}] = value[{source}]" if value.shape else "out[{to}] = value[0]"
    return written(indexed("put_at", x, indices, axes, front), names(indices), "x[i]", line)


@put_at.rule("fault")
def _(fault, x, value, *indices, axes, front):
    return out_of_range("indexing", fault, x.shape, axes)


@put_at.rule("vjp")
def _(g, out, x, value, *indices, axes, front):
    where = {"axes": axes, "front": front}

    def of_value():
        found = take_at(g, *indices, **where)
        own = positions(found)
        last = take_at(put_at(positions(g), own, *indices, **where), *indices, **where)
        return summed_to(OPS["where"](OPS["equal"](last, own), found, 0.0), value)

    return lambda: put_at(g, zero(g), *indices, **where), of_value, *(None for _ in indices)


@op(paddle=None, onnx="ScatterND")
def add_at(x, value, *indices, axes: Any, front: bool = False):
    """x with a value, or a single one, added at the places that index tensors of one shape name together, in order.

    >>> x, i = d2s.to_tensor([1, 2, 3]), d2s.to_tensor([0, 2, 0])
    >>> d2s.ops.scatter.add_at(x, d2s.to_tensor([10, 20, 30]), i, axes=(0,)).numpy().tolist()
    [41, 2, 23]
    """


@add_at.rule("infer")
def _(x, value, *indices, axes, front):
    _fitting("add_at", x, value, indices, axes, front)
    return x


@add_at.rule("requires")
def _(x, value, *indices, axes, front):
    return _fitting("add_at", x, value, indices, axes, front)


@add_at.rule("kernel")
def _(x, value, *indices_and_out, axes, front):
    *indices, _ = indices_and_out
    added = "value[{source}]" if value.shape else "value[0]"
    line = f"out[{{to}}] = out[{{to}}] | {added}" if x.dtype.kind == "b" else f"out[{{to}}] += {added}"
    return written(indexed("add_at", x, indices, axes, front), names(indices), "x[i]", line)


@add_at.rule("fault")
def _(fault, x, value, *indices, axes, front):
    return out_of_range("indexing", fault, x.shape, axes)


@add_at.rule("vjp")
def _(g, out, x, value, *indices, axes, front):
    return g, lambda: summed_to(take_at(g, *indices, axes=axes, front=front), value), *(None for _ in indices)


def scatter(x: Any, index: Any, updates: Any, overwrite: bool = True) -> Any:
    """x with rows replaced by those of `updates`; or, not overwriting, by the sums of those of one place.

    >>> x, i = d2s.zeros([3]), d2s.to_tensor([2, 0, 2])
    >>> d2s.scatter(x, i, d2s.to_tensor([1.0, 2.0, 3.0]), overwrite=False).numpy().tolist()
    [2.0, 0.0, 4.0]
    """
    shape = tensor_type(index, "scatter", "index").shape
    if not tensor_type(x, "scatter", "x").shape:
        raise ShapeError("D2S0002", "scatter(): 'x' has no axis to replace rows along")
    places = flatten(index) if len(shape) != 1 else index
    if overwrite:
        return put_at(x, updates, places, axes=(0,))
    return add_at(put_at(x, zero(x), places, axes=(0,)), updates, places, axes=(0,))


def scatter_nd_add(x: Any, index: Any, updates: Any) -> Any:
    """x with `updates` added: along the last axis of `index` stands the place in each of the first axes of x.

    >>> d2s.scatter_nd_add(d2s.zeros([3]), d2s.to_tensor([[1], [1]]), d2s.to_tensor([2.0, 3.0])).numpy().tolist()
    [0.0, 5.0, 0.0]
    """
    places = columns_of("scatter_nd_add", index, tensor_type(x, "scatter_nd_add", "x"))
    if not places:
        return OPS["add"](x, summed_to(updates, x))
    return add_at(x, updates, *places, axes=tuple(range(len(places))))


def scatter_nd(index: Any, updates: Any, shape: Any) -> Any:
    """Zeros of a shape with `updates` added at places.

    >>> d2s.scatter_nd(d2s.to_tensor([[1], [1]]), d2s.to_tensor([2.0, 3.0]), [3]).numpy().tolist()
    [0.0, 5.0, 0.0]
    """
    tensor_type(updates, "scatter_nd", "updates")
    return scatter_nd_add(expand(zero(updates), whole_numbers(shape, "scatter_nd", "shape")), index, updates)


def index_add(x: Any, index: Any, axis: int, value: Any, alpha: float = 1) -> Any:
    """x with `value`, times a number, added at some places of an axis.

    >>> d2s.index_add(d2s.zeros([3]), d2s.to_tensor([0, 0]), 0, d2s.to_tensor([1.0, 2.0])).numpy().tolist()
    [3.0, 0.0, 0.0]
    """
    rank = len(tensor_type(x, "index_add", "x").shape)
    expect("index_add", "alpha", alpha, int | float, "a number")
    more = value if alpha == 1 else OPS["multiply"](value, alpha)
    return add_at(x, more, index, axes=(one_axis(axis, rank, "index_add"),))


def index_put(x: Any, indices: Any, value: Any, accumulate: bool = False) -> Any:
    """x with a value at places, or added there: one index tensor for each of the first axes; together they broadcast.

    >>> i = d2s.to_tensor([0, 2])
    >>> d2s.index_put(d2s.zeros([3]), (i,), d2s.to_tensor(5.0)).numpy().tolist()
    [5.0, 0.0, 5.0]
    """
    have = tensor_type(x, "index_put", "x")
    if not isinstance(indices, list | tuple) or not 0 < len(indices) <= len(have.shape):
        raise ArgumentError("D2S0004", f"index_put(): 'indices' expects 1 to {len(have.shape)} tensors")
    places, axes = together(indices), tuple(range(len(indices)))
    types = [current().type_of(i) for i in places]
    tensor_type(value, "index_put", "value")
    result = indexed("index_put", have, types, axes, False).result  # type: ignore[arg-type]
    return (add_at if accumulate else put_at)(x, filling("index_put", value, result, x, *places), *places, axes=axes)


def filling(of: str, value: Any, shape: Shape, *sized: Any) -> Any:
    """A value in a shape it broadcasts to; a single one stays single. `sized`: tensors that have the shape's open extents."""
    have = current().type_of(value).shape  # type: ignore[union-attr]
    while len(have) > len(shape) and (rest := without_first(value)) is not None:
        value, have = rest, have[1:]
    if have == shape or not have:
        return value
    if len(have) > len(shape):
        fitting(of, "value", have, shape)
    counts = {d: (x, k) for x in sized for k, d in enumerate(current().type_of(x).shape) if uncountable(d)}  # type: ignore[union-attr]
    value = widened(value, shape, counts)
    have = current().type_of(value).shape  # type: ignore[union-attr]
    if have == shape:
        return value
    if not any(map(uncountable, shape)):
        return expand(value, shape)
    broadcast(of, [have, shape])
    if len(have) == len(shape) and all(h != 1 or d == 1 for h, d in zip(have, shape, strict=True)):
        return value  # whoever puts it there has runs ask whether these are equal
    if not finds_extents() or any(uncountable(d) and d not in counts for d in shape):
        raise unnamed(of, f"whether shape {list(have)} is {list(shape)}")
    return expand(value, [length(*counts[d]) if uncountable(d) else d for d in shape])


def masked_fill(x: Any, mask: Any, value: Any) -> Any:
    """x with a number where a mask holds.

    >>> d2s.masked_fill(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([True, False]), 9.0).numpy().tolist()
    [9.0, 2.0]
    """
    have = tensor_type(x, "masked_fill", "x")
    if tensor_type(mask, "masked_fill", "mask").dtype.kind != "b":
        raise DTypeError("D2S0003", "masked_fill(): 'mask' expects bools")
    return OPS["where"](mask, number_of(value, have.dtype), x)
