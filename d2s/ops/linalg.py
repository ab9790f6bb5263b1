"""Products of vectors and matrices by their own names, and the affine map.

>>> from d2s.types import float32
>>> linear.infer([Type(float32, ("n", 4)), Type(float32, (4, 2)), Type(float32, (2,))], {})
(f32[n,2],)
"""

from typing import Any

from d2s.errors import DTypeError, ShapeError
from d2s.ops.math import add, multiply
from d2s.ops.matmul import followed_by, kernel_of, matmul, matmul_rows, product_of, shape_of
from d2s.ops.matmul_text import Loop, Product
from d2s.ops.op import op
from d2s.ops.reduce import sum
from d2s.ops.shape import flatten, reshape, unflatten, unsqueeze
from d2s.ops.shapes import fitting, tensor_type
from d2s.types import Shape, Type


@op(paddle=None, onnx="Add(MatMul(x, weight), bias)", promotes=True)
def linear(x, weight, bias):
    """`x @ weight + bias` in one kernel; the weight is a matrix, and the bias a vector of its columns.

    >>> d2s.ops.linalg.linear(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([[3.0], [4.0]]), d2s.to_tensor([0.5])).tolist()
    [11.5]
    """


@linear.rule("infer")
def _(x, weight, bias):
    if len(weight.shape) != 2:
        raise ShapeError("D2S0002", f"linear(): 'weight' has shape {list(weight.shape)}, expected [in_features, out_features]")
    (found,) = matmul.infer([x, weight], _PLAIN)
    fitting("linear", "bias", bias.shape, weight.shape[1:])
    return found


_PLAIN = {"transpose_x": False, "transpose_y": False}
_ADDED = "T(v + bias[column])"


@linear.rule("requires")
def _(x, weight, bias):
    return matmul.requires([x, weight], _PLAIN) + fitting("linear", "bias", bias.shape, weight.shape[1:])


@linear.rule("kernel")
def _(x, weight, bias, out):
    return kernel_of(x, product_of(x, weight, False, False, "weight"), _ADDED)


@linear.rule("followed")
def _(x, weight, bias, out):
    return followed_by(product_of(x, weight, False, False, "weight"), out, _ADDED)


@linear.rule("vjp")
def _(g, out, x, weight, bias):
    ahead = tuple(range(len(shape_of(x)) - 1))

    def of_weight():
        return matmul_rows(x, g) if ahead else matmul_rows(unsqueeze(x, 0), unsqueeze(g, 0))

    return lambda: matmul(g, weight, False, True), of_weight, lambda: sum(g, ahead) if ahead else g


@op(paddle="dot", onnx="ReduceSum(Mul(x, y), axes=-1, keepdims=0)", promotes=True)
def dot(x, y):
    """The sum of the products of two vectors, or of each pair of rows of two matrices.

    >>> d2s.dot(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([3.0, 4.0])).item()
    11.0
    """


@dot.rule("infer")
def _(x, y):
    if x.dtype.kind == "b" or y.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"dot() does not take {x} and {y}")
    if len(x.shape) not in (1, 2):
        raise ShapeError("D2S0002", f"dot(): 'x' has shape {list(x.shape)}, expects a vector or a matrix")
    fitting("dot", "y", y.shape, x.shape)
    return Type(x.dtype, x.shape[:-1])


@dot.rule("requires")
def _(x, y):
    return fitting("dot", "y", y.shape, x.shape)


@dot.rule("kernel")
def _(x, y, out):
    return kernel_of(x, Product((), x.shape[-1:], (), batch=tuple(Loop((d,), True, True) for d in x.shape[:-1])))


@dot.rule("vjp")
def _(g, out, x, y):
    return lambda: multiply(unsqueeze(g, -1), y), lambda: multiply(unsqueeze(g, -1), x)


def mm(input: Any, mat2: Any) -> Any:
    """The product of two matrices, or of two tensors of them.

    >>> d2s.mm(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[3.0], [4.0]])).tolist()
    [[11.0]]
    """
    return matmul(input, mat2)


def _of_rank(value: Any, rank: int, name: str, argument: str) -> Shape:
    shape = tensor_type(value, name, argument).shape
    if len(shape) != rank:
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(shape)}, expected {rank} axes")
    return shape


def bmm(x: Any, y: Any) -> Any:
    """The products of as many pairs of matrices.

    >>> d2s.bmm(d2s.to_tensor([[[1.0, 2.0]]]), d2s.to_tensor([[[3.0], [4.0]]])).tolist()
    [[[11.0]]]
    """
    first, second = _of_rank(x, 3, "bmm", "x"), _of_rank(y, 3, "bmm", "y")
    fitting("bmm", "y", second, (first[0], *second[1:]))
    return matmul(x, y)


def mv(x: Any, vec: Any) -> Any:
    """The product of a matrix and a vector.

    >>> d2s.mv(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([3.0, 4.0])).tolist()
    [11.0]
    """
    _of_rank(x, 2, "mv", "x")
    _of_rank(vec, 1, "mv", "vec")
    return matmul(x, vec)


def inner(x: Any, y: Any) -> Any:
    """The sums of products along the last axes of both, for every pair of their other axes; a 0-D tensor multiplies.

    >>> d2s.inner(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), d2s.to_tensor([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    shapes = tensor_type(x, "inner", "x").shape, tensor_type(y, "inner", "y").shape
    if not all(shapes):
        return multiply(x, y)
    if len(shapes[1]) <= 2:
        return matmul(x, y, False, True)
    return unflatten(matmul(x, flatten(y, 0, -2), False, True), -1, shapes[1][:-1])


def outer(x: Any, y: Any) -> Any:
    """The product of every element of x and every element of y, as a matrix.

    >>> d2s.outer(d2s.to_tensor([1.0, 2.0]), d2s.to_tensor([3.0, 4.0])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    return multiply(reshape(x, [-1, 1]), reshape(y, [1, -1]))


def addmm(input: Any, x: Any, y: Any, beta: float = 1.0, alpha: float = 1.0) -> Any:
    """`beta * input + alpha * (x @ y)` of matrices.

    >>> d2s.addmm(d2s.to_tensor([[1.0]]), d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[3.0], [4.0]]), beta=2.0).tolist()
    [[13.0]]
    """
    _of_rank(x, 2, "addmm", "x")
    _of_rank(y, 2, "addmm", "y")
    return add(multiply(input, beta), multiply(matmul(x, y), alpha))
