"""Products of matrices: one fused multiply-add per k, in ascending k, on every path.

>>> from d2s.types import float32
>>> matmul.infer([Type(float32, ("n", 4)), Type(float32, (4, 2))], {"transpose_x": False, "transpose_y": False})
(f32[n,2],)
"""

from d2s.errors import DTypeError, ShapeError
from d2s.ops.op import flag, op
from d2s.types import Type


@op(paddle="matmul_v2", promotes=True)
def matmul(x, y, transpose_x: bool = False, transpose_y: bool = False):
    """The product of two matrices, each transposed first if asked for.

    >>> d2s.matmul(d2s.to_tensor([[1.0, 2.0]]), d2s.to_tensor([[3.0], [4.0]])).numpy().tolist()
    [[11.0]]
    """


@matmul.rule("canonical")
def _(x, y, transpose_x, transpose_y):
    return {"transpose_x": flag(transpose_x, "transpose_x"), "transpose_y": flag(transpose_y, "transpose_y")}


def _extents(x: Type, y: Type, transpose_x: bool, transpose_y: bool):
    return x.shape[:: -1 if transpose_x else 1], y.shape[:: -1 if transpose_y else 1]


@matmul.rule("infer")
def _(x, y, transpose_x, transpose_y):
    if len(x.shape) != 2 or len(y.shape) != 2:
        raise ShapeError("D2S0002", f"matmul(): expects two matrices, got shapes {list(x.shape)} and {list(y.shape)}")
    if x.dtype.kind != "f" or y.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"matmul() does not take {x} and {y}")
    (rows, inner), (inner_y, columns) = _extents(x, y, transpose_x, transpose_y)
    if isinstance(inner, int) and isinstance(inner_y, int) and inner != inner_y:
        raise ShapeError(
            "D2S0002",
            f"matmul(): 'x' has {inner} columns, 'y' has {inner_y} rows (shapes {list(x.shape)} and {list(y.shape)})",
        )
    return Type(x.dtype, (rows, columns))


@matmul.rule("requires")
def _(x, y, transpose_x, transpose_y):
    (_, inner), (inner_y, _) = _extents(x, y, transpose_x, transpose_y)
    return [(inner, inner_y)] if inner != inner_y else []


@matmul.rule("kernel")
def _(x, y, out, transpose_x, transpose_y):
    (rows, inner), (_, columns) = _extents(x, y, transpose_x, transpose_y)
    a = "x[k * n0 + i]" if transpose_x else "x[i * n1 + k]"
    b = "y[j * n1 + k]" if transpose_y else "y[k * n2 + j]"
    return (
        [(rows,), (inner,), (columns,)],
        f"""\
for i in range(n0):
    for j in range(n2):
        out[i * n2 + j] = T(0)
    for k in range(n1):
        a = {a}
        for j in range(n2):
            out[i * n2 + j] = fma(a, {b}, out[i * n2 + j])
""",
    )


@matmul.rule("vjp")
def _(g, out, x, y, transpose_x, transpose_y):
    def of_x():
        return matmul(y, g, transpose_y, True) if transpose_x else matmul(g, y, False, not transpose_y)

    def of_y():
        return matmul(g, x, True, transpose_x) if transpose_y else matmul(x, g, not transpose_x, False)

    return of_x, of_y
