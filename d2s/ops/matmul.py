"""The product of two tensors of matrices: one fused multiply-add per k, in ascending k, on every path.

>>> from d2s.types import float32
>>> flags = {"transpose_x": False, "transpose_y": False}
>>> matmul.infer([Type(float32, (3, "n", 4)), Type(float32, (4, 2))], flags), matmul.infer([Type(float32, (4,))] * 2, flags)
((f32[3,n,2],), (f32[],))
"""

import math
from typing import Any, NamedTuple

from d2s.errors import DTypeError, ShapeError
from d2s.ops.dispatch import current
from d2s.ops.math import multiply
from d2s.ops.matmul_text import Kernel, Loop, Product, plain_text, text_of
from d2s.ops.op import Followed, flag, op
from d2s.ops.reduce import sum
from d2s.ops.shape import squeeze, unsqueeze
from d2s.ops.shapes import broadcast, fitting
from d2s.types import Dim, Shape, Type

NEAR = 1536  # bytes of a row whose neighbours are likely to be on the same page
FEW = 128  # products in a sum


@op(paddle="matmul_v2", onnx="MatMul", promotes=True)
def matmul(x, y, transpose_x: bool = False, transpose_y: bool = False):
    """The products of the matrices in the last two axes, each transposed first if asked for; the axes before broadcast.

    A vector is a row on the left and a column on the right, and its axis is not in the result.

    >>> d2s.matmul(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[3.0], [4.0]])).numpy().tolist()
    [[11.0]]
    """


@matmul.rule("canonical")
def _(x, y, transpose_x, transpose_y):
    return {"transpose_x": flag(transpose_x, "transpose_x"), "transpose_y": flag(transpose_y, "transpose_y")}


class _Sides(NamedTuple):
    """The axes of an operand: those in front, the one of its own in the result (none of a vector), the one summed over."""

    batch: Shape
    own: Shape
    inner: Dim
    transposed: bool

    @property
    def place(self) -> int:
        """Which axis of the left operand is summed over."""
        return -2 if self.transposed else -1


def _left(shape: Shape, transposed: bool) -> _Sides:
    if len(shape) == 1:
        return _Sides((), (), shape[0], False)
    *batch, rows, columns = shape
    return _Sides(tuple(batch), (columns,), rows, True) if transposed else _Sides(tuple(batch), (rows,), columns, False)


def _right(shape: Shape, transposed: bool) -> _Sides:
    turned = _left(shape, not transposed)
    return turned._replace(transposed=transposed and len(shape) > 1)


def _sides(name: str, x: Type, y: Type, transpose_x: bool, transpose_y: bool) -> tuple[_Sides, _Sides]:
    if x.dtype.kind == "b" or y.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"{name}() does not take {x} and {y}")
    for argument, t in (("x", x), ("y", y)):
        if not t.shape:
            raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape [], expects an axis or more")
    left, right = _left(x.shape, transpose_x), _right(y.shape, transpose_y)
    if isinstance(left.inner, int) and isinstance(right.inner, int) and left.inner != right.inner:
        columns = f"'x' has {left.inner} columns (axis {left.place})"
        rows = f"'y' has {right.inner} rows (axis {-1 if right.transposed or len(y.shape) == 1 else -2})"
        raise ShapeError("D2S0002", f"{name}(): {columns}, {rows}; the shapes are {list(x.shape)} and {list(y.shape)}")
    return left, right


def _batch(x: Type, y: Type, left: _Sides, right: _Sides) -> tuple[Shape, list[tuple[Dim, Dim]]]:
    try:
        return broadcast("matmul", [left.batch, right.batch])
    except ShapeError:
        message = f"matmul(): the axes before the last two do not broadcast in shapes {list(x.shape)} and {list(y.shape)}"
        raise ShapeError("D2S0002", message) from None


@matmul.rule("infer")
def _(x, y, transpose_x, transpose_y):
    left, right = _sides("matmul", x, y, transpose_x, transpose_y)
    return Type(x.dtype, (*_batch(x, y, left, right)[0], *left.own, *right.own))


@matmul.rule("requires")
def _(x, y, transpose_x, transpose_y):
    left, right = _sides("matmul", x, y, transpose_x, transpose_y)
    inner = [(left.inner, right.inner)] if left.inner != right.inner else []
    return inner + _batch(x, y, left, right)[1]


@matmul.rule("kernel")
def _(x, y, out, transpose_x, transpose_y):
    return kernel_of(x, product_of(x, y, transpose_x, transpose_y))


def _short(extents: Shape, most: int) -> bool:
    return all(isinstance(d, int) for d in extents) and math.prod(int(d) for d in extents) <= most


@matmul.rule("followed")
def _(x, y, out, transpose_x, transpose_y):
    return followed_by(product_of(x, y, transpose_x, transpose_y), out)


def followed_by(product: Product, out: Type, epilogue: str = "") -> Followed | None:
    """The kernel of a product of floats whose parts are handed on: rows of the result, or where it is one column, that one.

    None where rows are long: each row of a part then lies on a page of its own, which costs what is gained, or more. And where
    sums are long: what follows is nothing beside them, not worth a second kernel.
    """
    if out.dtype.kind != "f" or not out.shape or not _short(out.shape[-1:], NEAR // out.dtype.size):
        return None
    if not _short(product.inner, FEW):
        return None
    if not product.flat:
        columns = len(product.columns)
    else:
        columns = 1 + len(product.columns) if product.batch else len(out.shape)
    return Followed(columns, text_of(product, epilogue, followed=True))


def kernel_of(x: Type, product: Product, epilogue: str = "") -> Kernel:
    """Tiles for floats; integers wrap around."""
    if x.dtype.kind == "f":
        return text_of(product, epilogue)
    return plain_text(product, "so_far + a * b", epilogue)


def product_of(x: Type, y: Type, transpose_x: bool, transpose_y: bool, right: str = "y") -> Product:
    """What is to be computed. One matrix y meets all rows of x at a time."""
    a, b = _sides("matmul", x, y, transpose_x, transpose_y)
    loops = _loops(_batch(x, y, a, b)[0], a.batch, b.batch)
    rows = a.own
    if not a.transposed and not any(loop.y for loop in loops):
        rows, loops = (*(d for loop in loops for d in loop.dims), *rows), ()
    return Product(rows, (a.inner,), b.own, a.transposed, b.transposed, loops, y=right)


def _loops(batch: Shape, x: Shape, y: Shape) -> tuple[Loop, ...]:
    """The axes in front, neighbours along which the same operands run as one loop."""
    loops: list[Loop] = []
    for back in range(-len(batch), 0):
        moves = [len(shape) >= -back and shape[back] != 1 for shape in (x, y)]
        if loops and [loops[-1].x, loops[-1].y] == moves:
            loops[-1] = loops[-1]._replace(dims=(*loops[-1].dims, batch[back]))
        elif batch[back] != 1:
            loops.append(Loop((batch[back],), *moves))
    return tuple(loops)


@matmul.rule("vjp")
def _(g, out, x, y, transpose_x, transpose_y):
    row, column = len(shape_of(x)) == 1, len(shape_of(y)) == 1
    if row and column:
        return lambda: multiply(g, y), lambda: multiply(g, x)

    def as_matrices():
        lifted = unsqueeze(g, -2) if row else unsqueeze(g, -1) if column else g
        return lifted, unsqueeze(x, 0) if row else x, unsqueeze(y, 1) if column else y

    def of_x():
        found = _of_left(*as_matrices(), transpose_x and not row, transpose_y and not column)
        return squeeze(found, 0) if row else found

    def of_y():
        found = _of_right(*as_matrices(), transpose_x and not row, transpose_y and not column)
        return squeeze(found, 1) if column else found

    return of_x, of_y


def _of_left(g: Any, x: Any, y: Any, flip_x: bool, flip_y: bool) -> Any:
    return _summed(matmul(y, g, flip_y, True) if flip_x else matmul(g, y, False, not flip_y), shape_of(x))


def _of_right(g: Any, x: Any, y: Any, flip_x: bool, flip_y: bool) -> Any:
    if len(shape_of(y)) == 2 < len(shape_of(x)) and not flip_x:
        return matmul_rows(g, x) if flip_y else matmul_rows(x, g)
    return _summed(matmul(g, x, True, flip_x) if flip_y else matmul(x, g, not flip_x, False), shape_of(y))


def shape_of(x: Any) -> Shape:
    """The extents of a tensor, by number or name."""
    found: Shape = current().type_of(x).shape  # type: ignore[union-attr]
    return found


def _summed(g: Any, want: Shape) -> Any:
    """A cotangent summed over the axes along which matrices were repeated."""
    extra = len(shape_of(g)) - len(want)
    g = sum(g, tuple(range(extra))) if extra else g
    repeated = tuple(k for k, d in enumerate(want) if d == 1 and shape_of(g)[k] != 1)
    return sum(g, repeated, None, True) if repeated else g


@op(paddle=None, onnx="MatMul", promotes=True)
def matmul_rows(x, y):
    """The product of x, transposed, and y, where all axes but the last are one: the gradient of a weight.

    >>> ones = d2s.to_tensor([[[1.0, 2.0], [3.0, 4.0]]])
    >>> d2s.ops.matmul.matmul_rows(ones, ones).numpy().tolist()
    [[10.0, 14.0], [14.0, 20.0]]
    """


@matmul_rows.rule("infer")
def _(x, y):
    if x.dtype.kind == "b" or y.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"matmul_rows() does not take {x} and {y}")
    if len(x.shape) < 2:
        raise ShapeError("D2S0002", f"matmul_rows(): 'x' has shape {list(x.shape)}, expects two axes or more")
    fitting("matmul_rows", "y", y.shape[:-1], x.shape[:-1])
    return Type(x.dtype, (x.shape[-1], y.shape[-1]))


@matmul_rows.rule("requires")
def _(x, y):
    return fitting("matmul_rows", "y", y.shape[:-1], x.shape[:-1])


@matmul_rows.rule("kernel")
def _(x, y, out):
    return kernel_of(x, Product((x.shape[-1],), x.shape[:-1], (y.shape[-1],), transpose_x=True))


@matmul_rows.rule("followed")
def _(x, y, out):
    return followed_by(Product((x.shape[-1],), x.shape[:-1], (y.shape[-1],), transpose_x=True), out)


@matmul_rows.rule("vjp")
def _(g, out, x, y):
    return lambda: matmul(y, g, False, True), lambda: matmul(x, g)
