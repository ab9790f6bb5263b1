"""The same values in the same order, in another shape.

>>> from d2s.types import float32
>>> reshape.infer([Type(float32, ("n", 2, 3))], {"shape": (0, -1)})
(f32[n,6],)
"""

import math
from collections.abc import Sequence
from typing import Any

from d2s.errors import ArgumentError, ShapeError
from d2s.extents import Extent
from d2s.ops.movement import copied, normal
from d2s.ops.op import axes, op
from d2s.ops.shapes import extents, is_found, may_be_one, one_axis, unnamed, whole_numbers
from d2s.types import Dim, Shape, Type

AS_THEY_LIE = {"reshape", "reshape_like", "flatten", "unflatten", "squeeze", "unsqueeze"}  # results that lie as x does


@op(paddle="reshape2", onnx="Reshape")
def reshape(x, shape: Any):
    """The values in another shape. One extent may be -1: it is what is left; 0 is the extent x has there.

    >>> d2s.reshape(d2s.to_tensor([[1, 2], [3, 4], [5, 6]]), [2, -1]).numpy().tolist()
    [[1, 2, 3], [4, 5, 6]]
    """


@reshape.rule("canonical")
def _(x, shape):
    wanted = extents(shape, "reshape", "shape")
    if any(type(d) is int and d == 0 and k >= len(x.shape) for k, d in enumerate(wanted)):
        message = f"reshape(): 'shape' is {list(wanted)}: a 0 takes an extent that shape {list(x.shape)} has not"
        raise ArgumentError("D2S0004", message)
    return {"shape": _without_names(x.shape, wanted)}


def _without_names(have: Shape, wanted: Sequence[Dim]) -> tuple[Dim, ...]:
    """A shape that holds for every size of the named extents in it: 0 is the extent that stands there already, -1 the rest."""
    if not any(type(d) is str for d in wanted):
        return tuple(wanted)
    found = tuple(0 if type(d) is str and have[k : k + 1] == (d,) else d for k, d in enumerate(wanted))
    found = tuple(-1 if type(d) is str else d for d in found)
    several = list(found).count(-1) > 1
    filled = wanted if several else _filled("reshape", have, [have[k] if d == 0 else d for k, d in enumerate(found)])
    if several or any(type(d) is str and d != made for d, made in zip(wanted, filled, strict=True)):
        raise unnamed("reshape", f"whether shape {list(have)} can be {list(wanted)}")
    return found


def _filled(name: str, have: Shape, wanted: Sequence[Dim]) -> Shape:
    """The extents asked for, what is left in the place of a -1."""
    if list(wanted).count(-1) > 1 or any(isinstance(d, int) and d < -1 for d in wanted):
        raise ArgumentError("D2S0004", f"{name}(): 'shape' is {list(wanted)}, expected extents and at most one -1")
    rest = _left(name, have, [d for d in wanted if d != -1], -1 in wanted)
    return tuple(rest if d == -1 else d for d in wanted)


def _left(name: str, have: Shape, known: Sequence[Dim], free: bool) -> Dim:
    """The extent that is left for -1; 1 if there is none and the sizes agree."""
    if any(isinstance(d, Extent) for d in (*have, *known)):
        return math.prod(have) // math.prod(known) if free else 1  # type: ignore[arg-type, operator]
    names, size, filled = [d for d in have if isinstance(d, str)], _number(have), _number(known)
    undecided = unnamed(name, f"whether shape {list(have)} has the size of {list(known)}")
    for dim in known:
        if isinstance(dim, str):
            if dim not in names:
                raise undecided
            names.remove(dim)
    fits = (filled and size % filled == 0) if free else size == filled
    if names and (not free or not fits):
        raise undecided
    if not fits:
        raise ShapeError("D2S0002", f"{name}(): shape {list(have)} holds {size} values, they do not fit into {list(known)}")
    return one_dim(name, (size // filled if free else 1, *names))


def _number(dims: Sequence[Dim]) -> int:
    return math.prod(d for d in dims if isinstance(d, int))


def one_dim(name: str, product: Shape) -> Dim:
    """A product of extents as one extent, if it is a number or one of the names."""
    if any(isinstance(d, Extent) for d in product):
        return math.prod(product)  # type: ignore[arg-type]
    found = normal(product)
    if len(found) > 1:
        raise unnamed(name, f"an extent of {'*'.join(map(str, found))}")
    return found[0] if found else 1


@reshape.rule("infer")
def _(x, shape):
    return Type(x.dtype, _filled("reshape", x.shape, _taken(x, shape)))


def _taken(x: Type, shape: Shape) -> list[Dim]:
    """The extents asked for, those of x where a 0 says so."""
    return [d or x.shape[k] for k, d in enumerate(shape)]


@reshape.rule("least")
def _(x, shape):
    """What is left for a -1 beside nothing at all, nobody can tell; a batch has an item."""
    return [d for d in _taken(x, shape) if isinstance(d, str) and is_found(d)] if -1 in shape else []


@reshape.rule("kernel")
def _(x, out, shape):
    return copied(x)


@reshape.rule("vjp")
def _(g, out, x, shape):
    return lambda: reshape_like(g, x)


@op(paddle=None, onnx="Reshape(x, Shape(like))")
def reshape_like(x, like):
    """The values of x in the shape of another tensor of that size.

    >>> d2s.ops.shape.reshape_like(d2s.to_tensor([1, 2]), d2s.to_tensor([[0], [0]])).numpy().tolist()
    [[1], [2]]
    """


@reshape_like.rule("infer")
def _(x, like):
    if normal(x.shape) != normal(like.shape):
        if any(isinstance(d, str) for d in x.shape + like.shape):
            raise unnamed("reshape_like", f"whether shape {list(x.shape)} has the size of {list(like.shape)}")
        raise ShapeError("D2S0002", f"reshape_like(): 'x' has shape {list(x.shape)}, 'like' {list(like.shape)}")
    return Type(x.dtype, like.shape)


@reshape_like.rule("kernel")
def _(x, like, out):
    return copied(x, 2)


@reshape_like.rule("vjp")
def _(g, out, x, like):
    return lambda: reshape_like(g, x), None


@op(paddle="flatten_contiguous_range", onnx="Reshape")
def flatten(x, start_axis: int = 0, stop_axis: int = -1):
    """Some neighbouring axes as one; a 0-D tensor becomes a vector.

    >>> d2s.flatten(d2s.to_tensor([[[1, 2]], [[3, 4]]]), 1).shape
    [2, 2]
    """


@flatten.rule("canonical")
def _(x, start_axis, stop_axis):
    rank = max(1, len(x.shape))
    start, stop = (one_axis(a, rank, "flatten") for a in (start_axis, stop_axis))
    if start > stop:
        raise ArgumentError("D2S0004", f"flatten(): 'start_axis' {start_axis} is behind 'stop_axis' {stop_axis}")
    return {"start_axis": start, "stop_axis": stop}


@flatten.rule("infer")
def _(x, start_axis, stop_axis):
    merged = one_dim("flatten", x.shape[start_axis : stop_axis + 1])
    return Type(x.dtype, (*x.shape[:start_axis], merged, *x.shape[stop_axis + 1 :]))


@flatten.rule("kernel")
def _(x, out, start_axis, stop_axis):
    return copied(x)


@flatten.rule("vjp")
def _(g, out, x, start_axis, stop_axis):
    return lambda: reshape_like(g, x)


@op(paddle=None, onnx="Reshape")
def unflatten(x, axis: int, shape: Any):
    """One axis as several. One of their extents may be -1: it is what is left.

    >>> d2s.unflatten(d2s.to_tensor([1, 2, 3, 4, 5, 6]), 0, [2, -1]).shape
    [2, 3]
    """


@unflatten.rule("canonical")
def _(x, axis, shape):
    return {"axis": one_axis(axis, len(x.shape), "unflatten"), "shape": whole_numbers(shape, "unflatten", "shape")}


@unflatten.rule("infer")
def _(x, axis, shape):
    return Type(x.dtype, (*x.shape[:axis], *_filled("unflatten", (x.shape[axis],), shape), *x.shape[axis + 1 :]))


@unflatten.rule("kernel")
def _(x, out, axis, shape):
    return copied(x)


@unflatten.rule("vjp")
def _(g, out, x, axis, shape):
    return lambda: reshape_like(g, x)


@op(paddle="squeeze2", onnx="Squeeze")
def squeeze(x, axis: Any = None):
    """Without the axes of extent 1, or without those of some axes that have extent 1.

    >>> d2s.squeeze(d2s.to_tensor([[[1], [2]]]), 0).shape
    [2, 1]
    """


@squeeze.rule("canonical")
def _(x, axis):
    asked = axes(axis, len(x.shape), "squeeze")
    for a in asked:
        if may_be_one(x.shape[a]):
            raise unnamed("squeeze", f"whether the extent {x.shape[a]} of axis {a} is 1")
    return {"axis": tuple(a for a in asked if x.shape[a] == 1)}


@squeeze.rule("infer")
def _(x, axis):
    return Type(x.dtype, tuple(d for k, d in enumerate(x.shape) if k not in axis))


@squeeze.rule("kernel")
def _(x, out, axis):
    return copied(x)


@squeeze.rule("vjp")
def _(g, out, x, axis):
    return lambda: unsqueeze(g, axis)


@op(paddle="unsqueeze2", onnx="Unsqueeze")
def unsqueeze(x, axis: Any):
    """With axes of extent 1 put in, one after the other.

    >>> d2s.unsqueeze(d2s.to_tensor([1, 2]), [0, -1]).shape
    [1, 2, 1]
    """


@unsqueeze.rule("canonical")
def _(x, axis):
    places = [False] * len(x.shape)
    for a in whole_numbers(axis, "unsqueeze", "axis"):
        places.insert(one_axis(a, len(places) + 1, "unsqueeze"), True)
    return {"axis": tuple(k for k, new in enumerate(places) if new)}


@unsqueeze.rule("infer")
def _(x, axis):
    old = iter(x.shape)
    return Type(x.dtype, tuple(1 if k in axis else next(old) for k in range(len(x.shape) + len(axis))))


@unsqueeze.rule("kernel")
def _(x, out, axis):
    return copied(x)


@unsqueeze.rule("vjp")
def _(g, out, x, axis):
    return lambda: squeeze(g, axis)
