"""One row of a tensor, chosen by a number of run time; and an extent as such a number. Loops over tensors are made of these.

>>> from d2s import types
>>> row.infer([Type(types.float32, ("n", 4)), Type(types.int64, (), True)], {})
(f32[4],)
"""

from typing import Any

from d2s.ops.op import op
from d2s.ops.shapes import tensor_type, uncountable
from d2s.types import Type, int64


@op(paddle=None)
def row(x, index):
    """The row of x at an index from 0 to its number of rows - 1.

    >>> d2s.ops.rows.row(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), d2s.to_tensor(1)).numpy().tolist()
    [3.0, 4.0]
    """


@row.rule("infer")
def _(x, index):
    return Type(x.dtype, x.shape[1:])


@row.rule("kernel")
def _(x, index, out):
    lines = ["inside = index[0] >= 0 and index[0] < n1", "start = index[0] * n0 if inside else 0"]  # a file may say otherwise
    lines += ["for i in range(n0 if inside else 0):", "    out[i] = x[start + i]", "for i in range(0 if inside else n0):"]
    return [x.shape[1:], x.shape[:1]], "\n".join([*lines, "    out[i] = T(0)"]) + "\n"


@row.rule("vjp")
def _(g, out, x, index):
    return lambda: in_row(g, x, index), None


@op(paddle=None)
def in_row(x, like, index):
    """The transpose of `row`: zeros of the shape of `like`, but for one row.

    >>> d2s.ops.rows.in_row(d2s.to_tensor(2.0), d2s.to_tensor([0.0, 0.0]), d2s.to_tensor(1)).numpy().tolist()
    [0.0, 2.0]
    """


@in_row.rule("infer")
def _(x, like, index):
    return Type(x.dtype, like.shape)


@in_row.rule("kernel")
def _(x, like, index, out):
    lines = ["for i in range(n0):", "    out[i] = T(0)", "start = index[0] * n1"]
    lines += ["for i in range(n1 if start >= 0 and start + n1 <= n0 else 0):", "    out[start + i] = x[i]"]
    body = "\n".join(lines) + "\n"
    return [like.shape, like.shape[1:]], body


@in_row.rule("vjp")
def _(g, out, x, like, index):
    return lambda: row(g, index), None, None


@op(paddle=None)
def extent(x, axis: int):
    """How long an axis is, as a number of run time.

    >>> d2s.ops.rows.extent(d2s.to_tensor([[1.0, 2.0]]), 1).item()
    2
    """


@extent.rule("infer")
def _(x, axis):
    return Type(int64, (), True)


def sizes(x: Any) -> list[Any]:
    """The extents of a tensor; one that only a run knows is a number of run time."""
    return [extent(x, axis) if uncountable(d) else d for axis, d in enumerate(tensor_type(x, "sizes", "x").shape)]


@extent.rule("kernel")
def _(x, out, axis):
    return [(x.shape[axis],)], "out[0] = n0\n"


@extent.rule("vjp")
def _(g, out, x, axis):
    return None
