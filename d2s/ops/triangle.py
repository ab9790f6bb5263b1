"""Triangles and diagonals of matrices, and rows with a single 1.

>>> from d2s.types import float32
>>> tril.infer([Type(float32, ("n", 2, 3))], {"diagonal": 0})
(f32[n,2,3],)
"""

from typing import Any

from d2s.errors import ArgumentError, ShapeError
from d2s.ops.compare import greater_equal, less_equal, where
from d2s.ops.create import full, full_like
from d2s.ops.dispatch import current
from d2s.ops.found import counted, finds_extents, length, number
from d2s.ops.gather import integers
from d2s.ops.math import add
from d2s.ops.movement import CHUNK, Axis, Kernel, Product, Registers, axes_of, body, indented, moved
from d2s.ops.op import Share, op
from d2s.ops.places import checked, out_of_range
from d2s.ops.shape import reshape
from d2s.ops.shapes import fitting, one_axis, tensor_type, unnamed, whole_number
from d2s.ops.slicing import zero
from d2s.types import Shape, Type, float32


@op(paddle="tril", onnx="Trilu")
def tril(x, diagonal: int = 0):
    """Matrices with zeros above a diagonal; 0 is the main one, larger numbers are above it.

    >>> d2s.tril(d2s.to_tensor([[1, 2], [3, 4]])).numpy().tolist()
    [[1, 0], [3, 4]]
    """


@op(paddle="triu", onnx="Trilu")
def triu(x, diagonal: int = 0):
    """Matrices with zeros below a diagonal; 0 is the main one, larger numbers are above it.

    >>> d2s.triu(d2s.to_tensor([[1, 2], [3, 4]])).numpy().tolist()
    [[1, 2], [0, 4]]
    """


def _matrices(name: str, shape: Shape) -> int:
    """How many axes matrices have; ShapeError of anything else."""
    if len(shape) < 2:
        raise ShapeError("D2S0002", f"{name}(): 'x' has shape {list(shape)}, expected matrices")
    return len(shape)


def _triangle(triangle: Any, kept: str) -> None:
    """The rules of both."""

    @triangle.rule("canonical")
    def _(x, diagonal):
        _matrices(triangle.name, x.shape)
        return {"diagonal": whole_number(diagonal, triangle.name, "diagonal")}

    @triangle.rule("open")
    def _(x, diagonal):
        asked = current().type_of(diagonal) is not None and finds_extents()
        return _by_number(x, diagonal, kept) if asked else None

    @triangle.rule("infer")
    def _(x, diagonal):
        return x

    @triangle.rule("kernel")
    def _(x, out, diagonal):
        lines = ["for row in range(lo, hi):", "    edge = row % n1 + n3", "    for j in range(n2):"]
        lines += [f"        out[row * n2 + j] = x[row * n2 + j] if j {kept} edge else T(0)"]
        return [x.shape[:-1], x.shape[-2:-1], x.shape[-1:], (diagonal,)], body(lines), Share("n0", f"1 + {CHUNK} // (1 + n2)")

    @triangle.rule("vjp")
    def _(g, out, x, diagonal):
        return lambda: triangle(g, diagonal)


def _by_number(x: Any, diagonal: Any, kept: str) -> Any:
    """The triangle of a diagonal whose number only a run knows."""
    name = "triu" if kept == ">=" else "tril"
    rank = _matrices(name, tensor_type(x, name, "x").shape)
    rows, columns = (counted(0, length(x, axis)) for axis in (rank - 2, rank - 1))
    edges = reshape(add(rows, number(diagonal)), (-1, 1))
    return where(greater_equal(columns, edges) if kept == ">=" else less_equal(columns, edges), x, zero(x))


_triangle(tril, "<=")
_triangle(triu, ">=")


def _length(x: Shape, offset: int, axis1: int, axis2: int) -> int:
    rows, columns = x[axis1], x[axis2]
    if isinstance(rows, str) or isinstance(columns, str):
        raise unnamed("diagonal", f"the length of a diagonal of {list(x)}")
    return max(0, min(rows + min(offset, 0), columns - max(offset, 0)))


def _diagonal(x: Shape, offset: int, axis1: int, axis2: int) -> tuple[Axis, list[Product]]:
    """The diagonal as an axis of x, and where it begins."""
    have = axes_of(x)
    one, two = have[axis1].stride, have[axis2].stride
    if any(isinstance(d, str) for d in one + two):
        raise unnamed("diagonal", f"the way along a diagonal of {list(x)}")
    step = _number(one) + _number(two)
    return Axis((_length(x, offset, axis1, axis2),), (step,)), [(-offset, *one) if offset < 0 else (offset, *two)]


def _number(product: Product) -> int:
    found = 1
    for d in product:
        found *= int(d)
    return found


@op(paddle="diagonal")
def diagonal(x, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """A diagonal of the matrices two axes make, as the last axis; a positive offset is above the main diagonal.

    >>> d2s.diagonal(d2s.to_tensor([[1, 2], [3, 4]])).numpy().tolist()
    [1, 4]
    """


@diagonal.rule("canonical")
def _(x, offset, axis1, axis2):
    one, two = (one_axis(a, len(x.shape), "diagonal") for a in (axis1, axis2))
    if one == two:
        raise ArgumentError("D2S0004", f"diagonal(): 'axis1' and 'axis2' are both {axis1}")
    return {"offset": whole_number(offset, "diagonal", "offset"), "axis1": one, "axis2": two}


def _others(x: Shape, axis1: int, axis2: int) -> list[int]:
    return [k for k in range(len(x)) if k not in (axis1, axis2)]


@diagonal.rule("infer")
def _(x, offset, axis1, axis2):
    _diagonal(x.shape, offset, axis1, axis2)
    around = tuple(x.shape[k] for k in _others(x.shape, axis1, axis2))
    return Type(x.dtype, (*around, _length(x.shape, offset, axis1, axis2)))


@diagonal.rule("kernel")
def _(x, out, offset, axis1, axis2):
    along, begin = _diagonal(x.shape, offset, axis1, axis2)
    have = axes_of(x.shape)
    return moved([*(have[k] for k in _others(x.shape, axis1, axis2)), along], begin)


@diagonal.rule("vjp")
def _(g, out, x, offset, axis1, axis2):
    return lambda: set_diagonal(full_like(x, 0), g, offset, axis1, axis2)


@op(paddle=None)
def set_diagonal(x, value, offset: int = 0, axis1: int = 0, axis2: int = 1):
    """x with other values, or a single one, on a diagonal.

    >>> x = d2s.to_tensor([[1, 2], [3, 4]])
    >>> d2s.ops.triangle.set_diagonal(x, d2s.to_tensor([0, 9])).numpy().tolist()
    [[0, 2], [3, 9]]
    """


@set_diagonal.rule("infer")
def _(x, value, offset, axis1, axis2):
    wanted = diagonal.infer([x], {"offset": offset, "axis1": axis1, "axis2": axis2})[0].shape
    if value.shape:
        fitting("set_diagonal", "value", value.shape, wanted)
    return x


@set_diagonal.rule("kernel")
def _(x, value, out, offset, axis1, axis2) -> Kernel:
    along, begin = _diagonal(x.shape, offset, axis1, axis2)
    r, loops = Registers(), [*(axes_of(x.shape)[k] for k in _others(x.shape, axis1, axis2)), along]
    lines, at, to = [f"for i in range({r(x.shape)}):", "    out[i] = x[i]"], "0", r.sum(begin)
    for k, (extent, stride) in enumerate(loops):
        n = r(extent)
        lines += indented([f"for i{k} in range({n}):"], k)
        at, to = f"({at}) * {n} + i{k}", f"{to} + i{k} * {r.stride(stride)}"
    lines += indented([f"out[{to}] = value[{at if value.shape else 0}]"], len(loops))
    return r.extents, body(lines), Share("1", "1")


@set_diagonal.rule("vjp")
def _(g, out, x, value, offset, axis1, axis2):
    where = (offset, axis1, axis2)
    found = lambda: diagonal(g, *where)  # noqa: E731
    return lambda: set_diagonal(g, zero(g), *where), lambda: found() if current().type_of(value).shape else found().sum()


def diag(x: Any, offset: int = 0, padding_value: float = 0) -> Any:
    """A matrix with a vector on a diagonal and `padding_value` elsewhere; of a matrix, that diagonal.

    >>> d2s.diag(d2s.to_tensor([1, 2])).numpy().tolist()
    [[1, 0], [0, 2]]
    """
    have, by = tensor_type(x, "diag", "x"), whole_number(offset, "diag", "offset")
    if len(have.shape) == 2:
        return diagonal(x, by)
    if len(have.shape) != 1:
        raise ShapeError("D2S0002", f"diag(): 'x' has shape {list(have.shape)}, expected a vector or a matrix")
    (n,) = have.shape
    if isinstance(n, str):
        raise unnamed("diag", f"the extent {n}")
    return set_diagonal(full([n + abs(by)] * 2, padding_value, have.dtype), x, by)


@op(paddle="one_hot_v2", onnx="OneHot")
def one_hot(x, num_classes: int):
    """Rows of zeros with a 1 at the place each integer names.

    >>> d2s.ops.triangle.one_hot(d2s.to_tensor([1, 0]), 2).numpy().tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """


@one_hot.rule("canonical")
def _(x, num_classes):
    found = whole_number(num_classes, "one_hot", "num_classes")
    if found < 1:
        raise ArgumentError("D2S0004", f"one_hot(): 'num_classes' is {found}, expected 1 at least")
    return {"num_classes": found}


@one_hot.rule("infer")
def _(x, num_classes):
    integers("one_hot", "x", x)
    return Type(float32, (*x.shape, num_classes))


@one_hot.rule("kernel")
def _(x, out, num_classes):
    lines = ["count = n0", "for row in range(lo, hi):", "    for i in range(row * n1, row * n1 + n1):", "        out[i] = T(0)"]
    lines += indented([*checked(["x"], ["n1"], "row", "0"), "out[row * n1 + j0] = T(1)"])
    return [x.shape, (num_classes,)], body(lines), Share("n0", f"1 + {CHUNK} // (1 + n1)")


@one_hot.rule("fault")
def _(value, x, num_classes):
    return out_of_range("one_hot", value, (num_classes,), (0,))


@one_hot.rule("vjp")
def _(g, out, x, num_classes):
    return None
