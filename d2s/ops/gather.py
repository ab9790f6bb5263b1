"""Values at places named by index tensors.

>>> from d2s.types import float32, int64
>>> gather.infer([Type(float32, ("n", 2)), Type(int64, (3,))], {"axis": 0})
(f32[3,2],)
"""

from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.dispatch import OPS, current
from d2s.ops.op import flag, op
from d2s.ops.places import Indexed, out_of_range, read, written
from d2s.ops.shape import flatten
from d2s.ops.shapes import fitting, one_axis, tensor_type, unnamed, whole_number
from d2s.ops.slicing import select, zero
from d2s.types import Shape, Type


def integers(name: str, argument: str, index: Type) -> None:
    if index.dtype.kind != "i":
        raise DTypeError("D2S0003", f"{name}(): '{argument}' expects integers, got {index.dtype.name}")


def indexed(name: str, x: Type, indices: Sequence[Type], axes: tuple[int, ...], front: bool) -> Indexed:
    """What some index tensors of one shape name."""
    if not indices or len(indices) != len(axes):
        raise ArgumentError("D2S0004", f"{name}(): {len(indices)} index tensors for {len(axes)} axes")
    for index in indices:
        integers(name, "index", index)
        fitting(name, "index", index.shape, indices[0].shape)
    return Indexed(x.shape, axes, indices[0].shape, front)


def agreeing(name: str, indices: Sequence[Type]) -> list[Any]:
    return [pair for index in indices[1:] for pair in fitting(name, "index", index.shape, indices[0].shape)]


def names(indices: Sequence[Type]) -> list[str]:
    return [f"indices{k}" for k in range(len(indices))]


@op(paddle=None, onnx="GatherND")
def take_at(x, *indices, axes: Any, front: bool = False):
    """x at the places that index tensors of one shape name together, one tensor for each of some axes.

    >>> x, i = d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([1, 0])
    >>> d2s.ops.gather.take_at(x, i, i, axes=(0, 1)).numpy().tolist()
    [4, 1]
    """


@take_at.rule("infer")
def _(x, *indices, axes, front):
    return Type(x.dtype, indexed("take_at", x, indices, axes, front).result)


@take_at.rule("requires")
def _(x, *indices, axes, front):
    return agreeing("take_at", indices)


@take_at.rule("kernel")
def _(x, *indices_and_out, axes, front):
    *indices, _ = indices_and_out
    return read(indexed("take_at", x, indices, axes, front), names(indices))


@take_at.rule("fault")
def _(value, x, *indices, axes, front):
    return out_of_range("indexing", value, x.shape, axes)


@take_at.rule("vjp")
def _(g, out, x, *indices, axes, front):
    return lambda: collect(g, x, *indices, axes=axes, front=front), *(None for _ in indices)


@op(paddle=None)
def collect(x, like, *indices, axes: Any, front: bool = False):
    """The transpose of `take_at`: zeros in the shape of `like`, with what x holds for a place added there, in order.

    >>> x, like, i = d2s.to_tensor([1.0, 2.0, 3.0]), d2s.to_tensor([0.0, 0.0]), d2s.to_tensor([1, 0, 1])
    >>> d2s.ops.gather.collect(x, like, i, axes=(0,)).numpy().tolist()
    [2.0, 4.0]
    """


@collect.rule("infer")
def _(x, like, *indices, axes, front):
    fitting("collect", "x", x.shape, indexed("collect", like, indices, axes, front).result)
    return Type(x.dtype, like.shape)


@collect.rule("requires")
def _(x, like, *indices, axes, front):
    result = indexed("collect", like, indices, axes, front).result
    return [*agreeing("collect", indices), *fitting("collect", "x", x.shape, result)]


@collect.rule("kernel")
def _(x, like, *indices_and_out, axes, front):
    *indices, _ = indices_and_out
    return written(indexed("collect", like, indices, axes, front), names(indices), "T(0)", "out[{to}] += x[{source}]")


@collect.rule("worded")
def _(x, like, *indices, axes, front):
    return OPS["add_at"](OPS["expand_as"](zero(x), like), x, *indices, axes=axes, front=front)


@collect.rule("fault")
def _(value, x, like, *indices, axes, front):
    return out_of_range("collect", value, like.shape, axes)


@collect.rule("vjp")
def _(g, out, x, like, *indices, axes, front):
    return lambda: take_at(g, *indices, axes=axes, front=front), None, *(None for _ in indices)


@op(paddle="gather", onnx="Gather")
def gather(x, index, axis: Any = None):
    """The values at some places of an axis (of the first one, if none is named).

    >>> d2s.gather(d2s.to_tensor([[1, 2], [3, 4], [5, 6]]), d2s.to_tensor([2, 0])).numpy().tolist()
    [[5, 6], [1, 2]]
    """


@gather.rule("canonical")
def _(x, index, axis):
    return {"axis": one_axis(0 if axis is None else whole_number(axis, "gather", "axis"), len(x.shape), "gather")}


def _row(index: Shape) -> Shape:
    """The shape of an index of one axis: a column is a row."""
    if len(index) > 2 or (len(index) == 2 and index[1] != 1):
        raise ShapeError("D2S0002", f"gather(): 'index' has shape {list(index)}, expected one axis", hint="x[index]")
    return index[:1]


def _gathered(x: Type, index: Type, axis: int) -> Indexed:
    integers("gather", "index", index)
    return Indexed(x.shape, (axis,), _row(index.shape), False)


@gather.rule("infer")
def _(x, index, axis):
    return Type(x.dtype, _gathered(x, index, axis).result)


@gather.rule("kernel")
def _(x, index, out, axis):
    return read(_gathered(x, index, axis), ["index"])


@gather.rule("fault")
def _(value, x, index, axis):
    return out_of_range("gather", value, x.shape, (axis,))


@gather.rule("vjp")
def _(g, out, x, index, axis):
    def of_x():
        column = len(current().type_of(index).shape) == 2
        return collect(g, x, flatten(index) if column else index, axes=(axis,))

    return of_x, None


def index_select(x: Any, index: Any, axis: int = 0) -> Any:
    """The values at some places of an axis.

    >>> d2s.index_select(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([1, 1]), axis=1).numpy().tolist()
    [[2, 2], [4, 4]]
    """
    return gather(x, index, axis)


def columns_of(name: str, index: Any, x: Type) -> list[Any]:
    """What stands along the last axis of an index, one tensor for each of the first axes of x."""
    shape = tensor_type(index, name, "index").shape
    width = shape[-1] if shape else 0
    if not shape or not isinstance(width, int) or width > len(x.shape):
        raise ShapeError("D2S0002", f"{name}(): 'index' has shape {list(shape)}, 'x' {len(x.shape)} axes")
    return [select(index, len(shape) - 1, k) for k in range(width)]


def gather_nd(x: Any, index: Any) -> Any:
    """The values at places: along the last axis of `index` stands the place in each of the first axes of x.

    >>> d2s.gather_nd(d2s.to_tensor([[1, 2], [3, 4]]), d2s.to_tensor([[1, 0], [0, 1]])).numpy().tolist()
    [3, 2]
    """
    places = columns_of("gather_nd", index, tensor_type(x, "gather_nd", "x"))
    if not places:
        return OPS["expand"](x, (*current().type_of(index).shape[:-1], *current().type_of(x).shape))  # type: ignore[union-attr]
    return take_at(x, *places, axes=tuple(range(len(places))))


@op(paddle="lookup_table_v2", onnx="Gather(weight, x)")
def embedding(x, weight, padding_idx: Any = None, sparse: bool = False):
    """The rows of a table that integers name; zeros for the row `padding_idx`, which has no gradient.

    >>> table = d2s.to_tensor([[0.0, 1.0], [2.0, 3.0]])
    >>> d2s.ops.gather.embedding(d2s.to_tensor([[1, 0]]), table).numpy().tolist()
    [[[2.0, 3.0], [0.0, 1.0]]]
    """


@embedding.rule("canonical")
def _(x, weight, padding_idx, sparse):
    return {"padding_idx": _padding(weight.shape, padding_idx), "sparse": flag(sparse, "sparse")}


def _padding(table: Shape, index: Any) -> int | None:
    """The row that is zeros, counted from the first; None: none is."""
    if index is None:
        return None
    found, rows = whole_number(index, "embedding", "padding_idx"), table[0] if table else 0
    if isinstance(rows, str) and found < 0:
        raise unnamed("embedding", f"row {found} of {rows}")
    if isinstance(rows, int) and not -rows <= found < rows:
        raise ArgumentError("D2S0004", f"embedding(): 'padding_idx' is {brief(index)}, 'weight' has {rows} rows")
    return found % rows if isinstance(rows, int) else found


def _looked_up(x: Type, weight: Type) -> Indexed:
    integers("embedding", "x", x)
    if len(weight.shape) != 2:
        raise ShapeError("D2S0002", f"embedding(): 'weight' has shape {list(weight.shape)}, expected a matrix")
    return Indexed(weight.shape, (0,), x.shape, False)


@embedding.rule("infer")
def _(x, weight, padding_idx, sparse):
    return Type(weight.dtype, _looked_up(x, weight).result)


@embedding.rule("kernel")
def _(x, weight, out, padding_idx, sparse):
    value = "weight[{at}]" if padding_idx is None else "weight[{at}] if j0 != " + str(padding_idx) + " else T(0)"
    return read(_looked_up(x, weight), ["x"], value, "0")


@embedding.rule("fault")
def _(value, x, weight, padding_idx, sparse):
    return out_of_range("embedding", value, weight.shape, (0,))


@embedding.rule("vjp")
def _(g, out, x, weight, padding_idx, sparse):
    return None, lambda: looked_up(g, x, weight, padding_idx)


@op(paddle=None)
def looked_up(x, index, weight, padding_idx: int | None):
    """The transpose of `embedding`: zeros in the shape of a table, with what x holds for a row added there, in order.

    >>> x, i, table = d2s.to_tensor([[1.0], [2.0], [3.0]]), d2s.to_tensor([1, 0, 1]), d2s.to_tensor([[0.0], [0.0]])
    >>> d2s.ops.gather.looked_up(x, i, table, None).numpy().tolist()
    [[2.0], [4.0]]
    """


@looked_up.rule("infer")
def _(x, index, weight, padding_idx):
    fitting("embedding", "x", x.shape, _looked_up(index, weight).result)
    return Type(x.dtype, weight.shape)


@looked_up.rule("requires")
def _(x, index, weight, padding_idx):
    return fitting("embedding", "x", x.shape, _looked_up(index, weight).result)


@looked_up.rule("kernel")
def _(x, index, weight, out, padding_idx):
    skip = "" if padding_idx is None else f" and j0 != {padding_idx}"
    return written(_looked_up(index, weight), ["index"], "T(0)", "out[{to}] += x[{source}]", "0", skip)


@looked_up.rule("fault")
def _(value, x, index, weight, padding_idx):
    return out_of_range("embedding", value, weight.shape, (0,))


@looked_up.rule("vjp")
def _(g, out, x, index, weight, padding_idx):
    return lambda: embedding(index, g, padding_idx), None, None
