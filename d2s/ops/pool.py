"""Pools: the greatest, or the mean, of every window that slides over the last axes; or, adaptive, of so many parts of them.

As in Paddle a window that ends with nan, such as one of nothing else, has nan as its maximum, and one in which nothing is
greater than the lowest finite number has that. Where places are asked for, and for gradients, a nan is never the greatest, the
first of equal maxima is, and a window without one hands no gradient on. The gradient of each op is another one here.

>>> from d2s.types import float32
>>> attrs = {"kernel": (2, 2), "stride": (2, 2), "padding": (0, 0, 0, 0), "ceil_mode": False, "size": ()}
>>> max_pool.infer([Type(float32, ("n", 3, 7, 7))], attrs)
(f32[n,3,3,3],)
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops import pool_spread_text, pool_text, windows
from d2s.ops.dispatch import current
from d2s.ops.op import Share, flag, op
from d2s.ops.shapes import fitting
from d2s.types import Dim, Shape, Type, int32

SAME = -1  # of an adaptive pool's size: as many parts as there are elements
CHUNK = 16384  # elements of the input a thread takes at a time, at least


def _canonical(name: str, x: Type, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any) -> dict[str, Any]:
    rank = len(x.shape) - 2
    if rank not in windows.AXES:
        raise ShapeError("D2S0002", f"{name}(): 'x' has shape {list(x.shape)}, expected 3 to 5 axes")
    up = flag(ceil_mode, "ceil_mode")
    if size != ():
        parts = windows.each(size, rank, name, "output_size", SAME)
        return {"kernel": (), "stride": (), "padding": (), "ceil_mode": False, "size": parts}
    wide = windows.each(kernel, rank, name, "kernel_size", 1)
    steps = windows.each(wide if stride is None else stride, rank, name, "stride", 1)
    how = windows.algorithm(padding, name)
    if how == "VALID" and up:
        raise ArgumentError("D2S0004", f"{name}(): 'ceil_mode' is True, which does not go with the padding 'VALID'")
    same = windows.same(name, x.shape[2:], wide, steps) if how == "SAME" else ()
    pads = same or windows.paddings(0 if how else padding, rank, name)
    return {"kernel": wide, "stride": steps, "padding": pads, "ceil_mode": up, "size": ()}


def _result(name: str, x: Type, attrs: dict[str, Any]) -> Type:
    if x.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {x}")
    have = x.shape[2:]
    if attrs["size"]:
        parts = tuple(d if n == SAME else n for d, n in zip(have, attrs["size"], strict=True))
        if any(n == 0 for n in parts) or any(d == 0 for d in have):
            raise ShapeError("D2S0002", f"{name}(): extents {list(have)} in {list(parts)} parts")
        return Type(x.dtype, (*x.shape[:2], *parts))
    given = attrs["kernel"], attrs["stride"], (1,) * len(have), attrs["padding"]
    return Type(x.dtype, (*x.shape[:2], *windows.windows(name, have, *given, up=attrs["ceil_mode"])))


def _least(name: str, x: Type, attrs: dict[str, Any]) -> list[Dim]:
    """What may not be 0: of parts the extents that they are taken of, of windows how many there are."""
    return windows.open_ones(x if attrs["size"] else _result(name, x, attrs))


def _three(values: Sequence[Any], missing: int) -> list[tuple[Dim, ...]]:
    return [(missing,)] * (3 - len(values)) + [(v,) for v in values]


class _Windows(NamedTuple):
    """What a kernel is told of windows: extents of planes and of results, and how the ones slide over the others."""

    planes: Shape
    results: Shape
    kernel: windows.Numbers
    stride: windows.Numbers
    before: windows.Numbers
    adaptive: bool


def _simplest(x: Shape, out: Shape, attrs: dict[str, Any]) -> _Windows:
    """Parts of equal extents are windows like others, and a plane that is one window is one row."""
    if not attrs["size"]:
        return _Windows(x, out, attrs["kernel"], attrs["stride"], attrs["padding"][::2], False)
    pairs = [(a, b) for a, b in zip(x, out, strict=True) if isinstance(a, int) and isinstance(b, int)]
    if len(pairs) < len(x) or any(a % b for a, b in pairs):
        return _Windows(x, out, (), (), (), True)
    if all(b == 1 for _, b in pairs):
        pairs = [(math.prod(a for a, _ in pairs), 1)]
    wide = tuple(a // b for a, b in pairs)
    return _Windows(tuple(a for a, _ in pairs), tuple(b for _, b in pairs), wide, wide, (0,) * len(wide), False)


def _kernel(name: str, arrays: int, x: Type, out: Shape, attrs: dict[str, Any], exclusive: bool = True) -> Any:
    """The kernel that calls the function `name` on so many arrays: `x` is as large as the planes, `out` as the results."""
    found = _simplest(x.shape[2:], out[2:], attrs)
    wide = [_three(found.kernel, 1), _three(found.stride, 1), _three(found.before, 0)]
    lines = [_three(found.planes, 1), _three(found.results, 1), *wide]
    extents = [x.shape[:2], *(product for line in lines for product in line)]
    last = (found.kernel[-1], found.stride[-1]) if found.kernel else (0, 0)
    usual = 0 < max(last) <= pool_text.WRITTEN_OUT
    above = pool_text.above(x.dtype.short, *(last if usual else (0, 0)), name)
    share = Share("n0", f"1 + {CHUNK} // (1 + n1 * n2 * n3)")
    if usual and pool_spread_text.fits(name, *last):
        return extents, pool_spread_text.call(found.adaptive, exclusive), share, above + pool_spread_text.above(last[0])
    return extents, pool_text.call(name, arrays, found.adaptive, exclusive), share, above


def _attrs(kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any) -> dict[str, Any]:
    return {"kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "size": size}


# --- the greatest -----------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="MaxPool")
def max_pool(x, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, size: Any = ()):
    """The greatest element of every window; of `size` parts of each axis where that is given.

    >>> d2s.ops.pool.max_pool(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2).tolist()
    [[[3.0, 5.0]]]
    """


@max_pool.rule("canonical")
def _(x, kernel, stride, padding, ceil_mode, size):
    return _canonical("max_pool", x, kernel, stride, padding, ceil_mode, size)


@max_pool.rule("infer")
def _(x, kernel, stride, padding, ceil_mode, size):
    return _result("max_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool.rule("least")
def _(x, kernel, stride, padding, ceil_mode, size):
    return _least("max_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool.rule("kernel")
def _(x, out, kernel, stride, padding, ceil_mode, size):
    return _kernel("max_pooled", 2, x, out.shape, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool.rule("vjp")
def _(g, out, x, kernel, stride, padding, ceil_mode, size):
    return lambda: max_pool_grad(g, x, kernel, stride, padding, ceil_mode, size)


@op(paddle=None, onnx="MaxPool")
def max_pool_with_index(x, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, size: Any = ()):
    """`max_pool`, and where in its plane each maximum stands: an int32, -1 where nothing is greater than the lowest number.

    >>> d2s.ops.pool.max_pool_with_index(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2)[1].tolist()
    [[[1, 3]]]
    """


@max_pool_with_index.rule("canonical")
def _(x, kernel, stride, padding, ceil_mode, size):
    return _canonical("max_pool", x, kernel, stride, padding, ceil_mode, size)


@max_pool_with_index.rule("infer")
def _(x, kernel, stride, padding, ceil_mode, size):
    out = _result("max_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))
    return out, Type(int32, out.shape)


@max_pool_with_index.rule("least")
def _(x, kernel, stride, padding, ceil_mode, size):
    return _least("max_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool_with_index.rule("kernel")
def _(x, out, index, kernel, stride, padding, ceil_mode, size):
    return _kernel("max_marked", 3, x, out.shape, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool_with_index.rule("vjp")
def _(g, out, x, kernel, stride, padding, ceil_mode, size):
    return lambda: max_pool_grad(g, x, kernel, stride, padding, ceil_mode, size)


@op(paddle=None)
def max_pool_grad(cotangent, x, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any):
    """The gradient of `max_pool(x)`: the cotangent at the places of the windows' maxima, added in ascending order.

    >>> g, x = d2s.to_tensor([[[10.0, 20.0]]]), d2s.to_tensor([[[1.0, 3.0, 2.0]]])
    >>> d2s.ops.pool.max_pool_grad(g, x, 2, 1, 0, False, ()).tolist()
    [[[0.0, 30.0, 0.0]]]
    """


@max_pool_grad.rule("canonical")
def _(cotangent, x, kernel, stride, padding, ceil_mode, size):
    return _canonical("max_pool_grad", x, kernel, stride, padding, ceil_mode, size)


@max_pool_grad.rule("infer")
def _(cotangent, x, kernel, stride, padding, ceil_mode, size):
    _fits("max_pool_grad", cotangent, _result("max_pool_grad", x, _attrs(kernel, stride, padding, ceil_mode, size)))
    return x


def _fits(name: str, g: Type, wanted: Type) -> list[tuple[Dim, Dim]]:
    if g.dtype is not wanted.dtype:
        raise DTypeError("D2S0003", f"{name}(): 'cotangent' is {g}, expected {wanted}")
    return fitting(name, "cotangent", g.shape, wanted.shape)


@max_pool_grad.rule("requires")
def _(cotangent, x, kernel, stride, padding, ceil_mode, size):
    return _fits("max_pool_grad", cotangent, _result("max_pool_grad", x, _attrs(kernel, stride, padding, ceil_mode, size)))


@max_pool_grad.rule("kernel")
def _(cotangent, x, out, kernel, stride, padding, ceil_mode, size):
    return _kernel("max_spread", 3, x, cotangent.shape, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool_grad.rule("vjp")
def _(g, out, cotangent, x, kernel, stride, padding, ceil_mode, size):
    return lambda: max_pool_pick(g, x, kernel, stride, padding, ceil_mode, size), None


@op(paddle=None)
def max_pool_pick(h, x, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any):
    """What h has where the windows of x have their maxima: the transpose of `max_pool_grad`.

    >>> h, x = d2s.to_tensor([[[10.0, 20.0, 30.0]]]), d2s.to_tensor([[[1.0, 3.0, 2.0]]])
    >>> d2s.ops.pool.max_pool_pick(h, x, 2, 1, 0, False, ()).tolist()
    [[[20.0, 20.0]]]
    """


@max_pool_pick.rule("canonical")
def _(h, x, kernel, stride, padding, ceil_mode, size):
    return _canonical("max_pool_pick", x, kernel, stride, padding, ceil_mode, size)


@max_pool_pick.rule("infer")
def _(h, x, kernel, stride, padding, ceil_mode, size):
    _fits("max_pool_pick", h, x)
    return _result("max_pool_pick", x, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool_pick.rule("requires")
def _(h, x, kernel, stride, padding, ceil_mode, size):
    return _fits("max_pool_pick", h, x)


@max_pool_pick.rule("kernel")
def _(h, x, out, kernel, stride, padding, ceil_mode, size):
    return _kernel("max_picked", 3, x, out.shape, _attrs(kernel, stride, padding, ceil_mode, size))


@max_pool_pick.rule("vjp")
def _(g, out, h, x, kernel, stride, padding, ceil_mode, size):
    return lambda: max_pool_grad(g, x, kernel, stride, padding, ceil_mode, size), None


# --- the mean ---------------------------------------------------------------------------------------------------------------


@op(paddle=None, onnx="AveragePool")
def avg_pool(
    x, kernel: Any, stride: Any = None, padding: Any = 0, ceil_mode: Any = False, size: Any = (), exclusive: Any = True
):
    """The mean of every window: of what lies inside, or (not `exclusive`) of the padding before and behind it, too.

    >>> d2s.ops.pool.avg_pool(d2s.to_tensor([[[1.0, 3.0, 2.0, 5.0]]]), 2).tolist()
    [[[2.0, 3.5]]]
    """


@avg_pool.rule("canonical")
def _(x, kernel, stride, padding, ceil_mode, size, exclusive):
    found = _canonical("avg_pool", x, kernel, stride, padding, ceil_mode, size)
    return found | {"exclusive": flag(exclusive, "exclusive")}


@avg_pool.rule("infer")
def _(x, kernel, stride, padding, ceil_mode, size, exclusive):
    return _result("avg_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))


@avg_pool.rule("least")
def _(x, kernel, stride, padding, ceil_mode, size, exclusive):
    return _least("avg_pool", x, _attrs(kernel, stride, padding, ceil_mode, size))


@avg_pool.rule("kernel")
def _(x, out, kernel, stride, padding, ceil_mode, size, exclusive):
    return _kernel("mean_pooled", 2, x, out.shape, _attrs(kernel, stride, padding, ceil_mode, size), exclusive)


@avg_pool.rule("vjp")
def _(g, out, x, kernel, stride, padding, ceil_mode, size, exclusive):
    extents = current().type_of(x).shape[2:]  # type: ignore[union-attr]
    if any(isinstance(d, str) for d in extents):
        return lambda: avg_pool_grad_as(g, x, kernel, stride, padding, ceil_mode, size, exclusive)
    return lambda: avg_pool_grad(g, kernel, stride, padding, ceil_mode, size, exclusive, extents)


@op(paddle=None)
def avg_pool_grad(cotangent, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any, exclusive: Any, extents: Any):
    """The gradient of `avg_pool` of planes of some extents: the cotangent in equal shares, added in ascending order.

    >>> d2s.ops.pool.avg_pool_grad(d2s.to_tensor([[[2.0, 4.0]]]), 2, 1, 0, False, (), True, [3]).tolist()
    [[[1.0, 3.0, 2.0]]]
    """


@avg_pool_grad.rule("canonical")
def _(cotangent, kernel, stride, padding, ceil_mode, size, exclusive, extents):
    have = windows.each(extents, len(cotangent.shape) - 2, "avg_pool_grad", "extents", 0)
    found = _canonical(
        "avg_pool_grad", Type(cotangent.dtype, (*cotangent.shape[:2], *have)), kernel, stride, padding, ceil_mode, size
    )
    return found | {"exclusive": flag(exclusive, "exclusive"), "extents": have}


@avg_pool_grad.rule("infer")
def _(cotangent, kernel, stride, padding, ceil_mode, size, exclusive, extents):
    found = Type(cotangent.dtype, (*cotangent.shape[:2], *extents))
    _fits("avg_pool_grad", cotangent, _result("avg_pool_grad", found, _attrs(kernel, stride, padding, ceil_mode, size)))
    return found


@avg_pool_grad.rule("kernel")
def _(cotangent, out, kernel, stride, padding, ceil_mode, size, exclusive, extents):
    return _kernel("mean_spread", 2, out, cotangent.shape, _attrs(kernel, stride, padding, ceil_mode, size), exclusive)


@avg_pool_grad.rule("vjp")
def _(g, out, cotangent, kernel, stride, padding, ceil_mode, size, exclusive, extents):
    return lambda: avg_pool(g, kernel, stride, padding, ceil_mode, size, exclusive)


@op(paddle=None)
def avg_pool_grad_as(cotangent, like, kernel: Any, stride: Any, padding: Any, ceil_mode: Any, size: Any, exclusive: Any):
    """The same of the planes of a tensor, whose extents no number says.

    >>> g, like = d2s.to_tensor([[[2.0, 4.0]]]), d2s.to_tensor([[[7.0, 8.0, 9.0]]])
    >>> d2s.ops.pool.avg_pool_grad_as(g, like, 2, 1, 0, False, (), True).tolist()
    [[[1.0, 3.0, 2.0]]]
    """


@avg_pool_grad_as.rule("canonical")
def _(cotangent, like, kernel, stride, padding, ceil_mode, size, exclusive):
    found = _canonical("avg_pool_grad", like, kernel, stride, padding, ceil_mode, size)
    return found | {"exclusive": flag(exclusive, "exclusive")}


@avg_pool_grad_as.rule("infer")
def _(cotangent, like, kernel, stride, padding, ceil_mode, size, exclusive):
    _fits("avg_pool_grad", cotangent, _result("avg_pool_grad", like, _attrs(kernel, stride, padding, ceil_mode, size)))
    return like


@avg_pool_grad_as.rule("requires")
def _(cotangent, like, kernel, stride, padding, ceil_mode, size, exclusive):
    return _fits("avg_pool_grad", cotangent, _result("avg_pool_grad", like, _attrs(kernel, stride, padding, ceil_mode, size)))


@avg_pool_grad_as.rule("kernel")
def _(cotangent, like, out, kernel, stride, padding, ceil_mode, size, exclusive):
    attrs = _attrs(kernel, stride, padding, ceil_mode, size)
    return windows.past_like(_kernel("mean_spread", 2, out, cotangent.shape, attrs, exclusive), 1)


@avg_pool_grad_as.rule("vjp")
def _(g, out, cotangent, like, kernel, stride, padding, ceil_mode, size, exclusive):
    return lambda: avg_pool(g, kernel, stride, padding, ceil_mode, size, exclusive), None
