"""Values repeated along axes, and their transpose: sums over those axes.

>>> from d2s.types import float32
>>> expand.infer([Type(float32, ("n", 1))], {"shape": (2, -1, 3)})
(f32[2,n,3],)
"""

import functools
from collections.abc import Sequence
from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, ShapeError
from d2s.extents import Extent
from d2s.ops.dispatch import OPS, current
from d2s.ops.movement import NOWHERE, Axis, axes_of, moved
from d2s.ops.op import op
from d2s.ops.shape import reshape_like, unflatten
from d2s.ops.shapes import broadcast, tensor_type, uncountable, unnamed, whole_numbers
from d2s.types import Dim, Shape, Type


def summed_to(g: Any, x: Any) -> Any:
    """A cotangent summed over the axes along which x was repeated."""
    handler = current()
    have, want = handler.type_of(g).shape, handler.type_of(x).shape  # type: ignore[union-attr]
    extra = len(have) - len(want)
    if extra:
        g = OPS["sum"](g, tuple(range(extra)))
    repeated = tuple(i for i, d in enumerate(want) if d == 1 and have[extra + i] != 1)
    return OPS["sum"](g, repeated, keepdim=True) if repeated else g


@op(paddle="expand_v2", onnx="Expand")
def expand(x, shape: Any):
    """x repeated along axes of extent 1 and new axes in front; -1 keeps an extent.

    >>> d2s.expand(d2s.to_tensor([[1], [2]]), [-1, 3]).numpy().tolist()
    [[1, 1, 1], [2, 2, 2]]
    """


@expand.rule("canonical")
def _(x, shape):
    return {"shape": whole_numbers(shape, "expand", "shape")}


@expand.rule("infer")
def _(x, shape):
    extra = len(shape) - len(x.shape)
    if extra < 0 or any(isinstance(d, int) and (d < -1 or (d == -1 and k < extra)) for k, d in enumerate(shape)):
        raise ArgumentError("D2S0004", f"expand(): 'shape' is {list(shape)}, expected extents for shape {list(x.shape)}")
    return Type(
        x.dtype, (*shape[:extra], *(_extent(x.shape, have, want) for have, want in zip(x.shape, shape[extra:], strict=True)))
    )


def _extent(shape: Shape, have: Dim, want: int) -> Dim:
    if want == -1 or have in (1, want):
        return have if want == -1 else want
    if isinstance(have, str | Extent) or isinstance(want, Extent):
        return want
    raise ShapeError("D2S0002", f"expand(): shape {list(shape)} has an extent {have} where {want} is asked for")


@expand.rule("requires")
def _(x, shape):
    known = zip(x.shape, shape[len(shape) - len(x.shape) :], strict=True)
    return [(want, have) for have, want in known if isinstance(have, str) and want not in (-1, have)]


@expand.rule("scalar")
def _(x, shape):
    return "x", [x.shape]


@expand.rule("vjp")
def _(g, out, x, shape):
    return lambda: summed_to(g, x)


@op(paddle="expand_as_v2", onnx="Expand(x, Shape(y))")
def expand_as(x, y):
    """x repeated to the shape of y.

    >>> d2s.expand_as(d2s.to_tensor([1, 2]), d2s.to_tensor([[0, 0], [0, 0]])).numpy().tolist()
    [[1, 2], [1, 2]]
    """


@expand_as.rule("infer")
def _(x, y):
    shape, _ = broadcast("expand_as", [x.shape, y.shape])
    if len(shape) != len(y.shape) or any(isinstance(d, int) and d != e for d, e in zip(y.shape, shape, strict=True)):
        raise ShapeError("D2S0002", f"expand_as(): 'x' has shape {list(x.shape)}, 'y' {list(y.shape)}")
    return Type(x.dtype, y.shape)


@expand_as.rule("requires")
def _(x, y):
    return broadcast("expand_as", [x.shape, y.shape])[1]


@expand_as.rule("scalar")
def _(x, y):
    return "x", [x.shape]


@expand_as.rule("vjp")
def _(g, out, x, y):
    return lambda: summed_to(g, x), None


def broadcast_to(x: Any, shape: Any) -> Any:
    """x repeated to a shape.

    >>> d2s.broadcast_to(d2s.to_tensor([1, 2]), [2, 2]).numpy().tolist()
    [[1, 2], [1, 2]]
    """
    return expand(x, shape)


def broadcast_tensors(input: Sequence[Any]) -> list[Any]:
    """Tensors repeated to the one shape they have together.

    >>> [x.shape for x in d2s.broadcast_tensors([d2s.zeros([2, 1]), d2s.zeros([3])])]
    [[2, 3], [2, 3]]
    """
    expect("broadcast_tensors", "input", input, list | tuple, "a list of Tensors")
    shapes = [tensor_type(x, "broadcast_tensors", "input").shape for x in input]
    if not shapes:
        raise ArgumentError("D2S0004", "broadcast_tensors(): 'input' is empty")
    wanted, _ = broadcast("broadcast_tensors", shapes)
    like = next((x for x, shape in zip(input, shapes, strict=True) if shape == wanted), None)
    if like is None and any(isinstance(d, str) for d in wanted):  # a tensor of that shape, which only a run knows
        like = functools.reduce(OPS["logical_or"], [OPS["not_equal"](x, x) for x in input])
    return [_repeated(x, shape, wanted, like) for x, shape in zip(input, shapes, strict=True)]


def _unpassed(like: Any) -> Any:
    """A tensor that is asked for its shape alone: a sweep of what has that shape does not pass what made it."""
    held = tensor_type(like, "broadcast_tensors", "input")
    return OPS["detached"](like) if held.dtype.kind == "f" else like


def _repeated(x: Any, have: Shape, wanted: Shape, like: Any) -> Any:
    """x in a wider shape; extents known by name are those of x, or of a tensor that has that shape."""
    missing = len(wanted) - len(have)
    if any(isinstance(d, Extent) for d in wanted):
        return expand(x, wanted)
    if all(isinstance(d, int) or (k >= missing and have[k - missing] == d) for k, d in enumerate(wanted)):
        return expand(x, tuple(d if isinstance(d, int) else -1 for d in wanted))
    return expand_as(x, _unpassed(like))


@op(paddle="tile", onnx="Tile")
def tile(x, repeat_times: Any):
    """x repeated as a whole, so many times along each axis.

    >>> d2s.tile(d2s.to_tensor([1, 2]), [2, 2]).numpy().tolist()
    [[1, 2, 1, 2], [1, 2, 1, 2]]
    """


@tile.rule("canonical")
def _(x, repeat_times):
    times = whole_numbers(repeat_times, "tile", "repeat_times")
    if any(n < 0 for n in times):
        raise ArgumentError("D2S0004", f"tile(): 'repeat_times' is {list(times)}, expected numbers from 0")
    return {"repeat_times": (1,) * (len(x.shape) - len(times)) + times}


def _tiled(x: Type, times: tuple[int, ...]) -> list[tuple[int, Dim]]:
    shape = (1,) * (len(times) - len(x.shape)) + x.shape
    if any(n != 1 and uncountable(d) for n, d in zip(times, shape, strict=True)):
        raise unnamed("tile", f"an extent of {list(shape)} times {list(times)}")
    return list(zip(times, shape, strict=True))


@tile.rule("infer")
def _(x, repeat_times):
    return Type(x.dtype, tuple(d if n == 1 else n * d for n, d in _tiled(x, repeat_times)))


@tile.rule("kernel")
def _(x, out, repeat_times):
    times = repeat_times[len(repeat_times) - len(x.shape) :]
    new = [Axis((n,), NOWHERE) for n in repeat_times[: len(repeat_times) - len(x.shape)]]
    old = [a for n, axis in zip(times, axes_of(x.shape), strict=True) for a in (Axis((n,), NOWHERE), axis)]
    return moved(new + old)


@tile.rule("vjp")
def _(g, out, x, repeat_times):
    def summed():
        found, have = g, current().type_of(x).shape
        extents = (1,) * (len(repeat_times) - len(have)) + have
        for k, (n, d) in reversed(list(enumerate(zip(repeat_times, extents, strict=True)))):
            if n != 1:
                found = OPS["sum"](unflatten(found, k, (n, d)), (k,))
        return found if len(have) == len(repeat_times) else reshape_like(found, x)

    return summed
