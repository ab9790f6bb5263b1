"""Reductions: a fixed tree of 64 lanes over the logical reduced index, whatever the layout; and their transpose.

>>> from d2s.types import float32
>>> sum.infer([Type(float32, ("n", 4))], {"axis": (1,), "keepdim": False})
(f32[n],)
"""

import functools
from typing import Any

from d2s.errors import ShapeError
from d2s.ops.op import OPS, axes, flag, op
from d2s.types import Dim, Shape, Type, int64


@op(paddle="reduce_sum")
def sum(x, axis: Any = None, keepdim: bool = False):
    """The sum over some axes, or over all.

    >>> d2s.sum(d2s.to_tensor([[1.0, 2.0], [3.0, 4.0]]), axis=0).numpy().tolist()
    [4.0, 6.0]
    """


@sum.rule("canonical")
def _(x, axis, keepdim):
    return {"axis": axes(axis, len(x.shape), "sum"), "keepdim": flag(keepdim, "keepdim")}


def _kept(shape: Shape, axis: tuple[int, ...]) -> Shape:
    return tuple(1 if i in axis else d for i, d in enumerate(shape))


@sum.rule("infer")
def _(x, axis, keepdim):
    shape = _kept(x.shape, axis) if keepdim else tuple(d for i, d in enumerate(x.shape) if i not in axis)
    return Type(x.dtype if x.dtype.kind == "f" else int64, shape)


@sum.rule("kernel")
def _(x, out, axis, keepdim):
    groups: list[tuple[str, tuple[Dim, ...]]] = []  # neighbouring axes of one kind are one loop
    for i, dim in enumerate(x.shape):
        kind = "r" if i in axis else "k"
        if groups and groups[-1][0] == kind:
            groups[-1] = (kind, (*groups[-1][1], dim))
        else:
            groups.append((kind, (dim,)))
    head = [f"for i{n} in range(n{n}):" for n, (kind, _) in enumerate(groups) if kind == "k"]
    each = [f"for i{n} in range(n{n}):" for n, (kind, _) in enumerate(groups) if kind == "r"]
    index = functools.reduce(lambda at, n: f"({at}) * n{n} + i{n}", range(1, len(groups)), "i0" if groups else "0")
    body = ["for lane in range(64):", "    lanes[lane] = T(0)", "k = 0"]
    body += [*nest(each), *("    " * len(each) + line for line in (f"lanes[k & 63] += T(x[{index}])", "k += 1"))]
    body += [
        "width = 32",
        "while width > 0:",
        "    for lane in range(width):",
        "        lanes[lane] += lanes[lane + width]",
    ]
    body += ["    width >>= 1", "out[at] = lanes[0]", "at += 1"]
    lines = ["lanes = local64()", "at = 0", *nest(head), *("    " * len(head) + line for line in body)]
    return [dims for _, dims in groups], "\n".join(lines) + "\n"


def nest(heads: list[str]) -> list[str]:
    """Loop heads, each one step further in."""
    return ["    " * depth + head for depth, head in enumerate(heads)]


@sum.rule("vjp")
def _(g, out, x, axis, keepdim):
    return lambda: spread(g, x, axis, keepdim)


@op(paddle=None)
def spread(x, like, axis: Any, keepdim: bool):
    """The transpose of `sum`: x repeated along the axes that `sum(like, axis, keepdim)` takes away.

    >>> d2s.ops.reduce.spread(d2s.to_tensor(2.0), d2s.to_tensor([1.0, 1.0]), None, False).numpy().tolist()
    [2.0, 2.0]
    """


@spread.rule("canonical")
def _(x, like, axis, keepdim):
    return {"axis": axes(axis, len(like.shape), "spread"), "keepdim": flag(keepdim, "keepdim")}


@spread.rule("infer")
def _(x, like, axis, keepdim):
    wanted = OPS["sum"].infer([like], {"axis": axis, "keepdim": keepdim})[0].shape
    if x.shape not in (wanted, ()):
        raise ShapeError("D2S0002", f"spread(): 'x' is {x}, the sum of 'like' would have shape {list(wanted)}")
    return Type(x.dtype, like.shape)


@spread.rule("scalar")
def _(x, like, axis, keepdim):
    return "x", [_kept(like.shape, axis)]


@spread.rule("vjp")
def _(g, out, x, like, axis, keepdim):
    return lambda: sum(g, axis, keepdim), None
