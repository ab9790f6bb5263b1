"""Axes and values in another order.

>>> from d2s.types import float32
>>> transpose.infer([Type(float32, ("n", 2, 3))], {"perm": (2, 0, 1)})
(f32[3,n,2],)
"""

import functools
from typing import Any

from d2s.errors import ArgumentError, brief
from d2s.ops.movement import CHUNK, Axis, axes_of, floats_moved, moved
from d2s.ops.op import Share, axes, op
from d2s.ops.shapes import one_axis, tensor_type, whole_numbers
from d2s.types import Type


@op(paddle="transpose2", onnx="Transpose")
def transpose(x, perm: Any):
    """The axes in another order.

    >>> d2s.transpose(d2s.to_tensor([[1, 2, 3], [4, 5, 6]]), [1, 0]).numpy().tolist()
    [[1, 4], [2, 5], [3, 6]]
    """


@transpose.rule("canonical")
def _(x, perm):
    rank = len(x.shape)
    found = tuple(one_axis(a, rank, "transpose") for a in whole_numbers(perm, "transpose", "perm"))
    if sorted(found) != list(range(rank)):
        raise ArgumentError("D2S0004", f"transpose(): 'perm' is {list(found)}, expected each of {rank} axes once")
    return {"perm": found}


@transpose.rule("infer")
def _(x, perm):
    return Type(x.dtype, tuple(x.shape[a] for a in perm))


@transpose.rule("kernel")
def _(x, out, perm):
    have = axes_of(x.shape)
    return (floats_moved if x.dtype.kind == "f" else moved)([have[a] for a in perm])


@transpose.rule("vjp")
def _(g, out, x, perm):
    return lambda: transpose(g, tuple(perm.index(k) for k in range(len(perm))))


def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Some axes moved to other places; the others keep their order.

    >>> d2s.moveaxis(d2s.zeros([2, 3, 4]), 0, -1).shape
    [3, 4, 2]
    """
    rank = len(tensor_type(x, "moveaxis", "x").shape)
    sources, targets = (
        [one_axis(a, rank, "moveaxis") for a in whole_numbers(given, "moveaxis", argument)]
        for given, argument in ((source, "source"), (destination, "destination"))
    )
    if len(sources) != len(targets) or len(set(sources)) < len(sources) or len(set(targets)) < len(targets):
        raise ArgumentError("D2S0004", f"moveaxis(): 'source' is {brief(source)}, 'destination' {brief(destination)}")
    perm = [a for a in range(rank) if a not in sources]
    for target, axis in sorted(zip(targets, sources, strict=True)):
        perm.insert(target, axis)
    return transpose(x, tuple(perm))


def swapaxes(x: Any, axis0: int, axis1: int) -> Any:
    """Two axes exchanged.

    >>> d2s.swapaxes(d2s.zeros([2, 3, 4]), 0, 2).shape
    [4, 3, 2]
    """
    rank = len(tensor_type(x, "swapaxes", "x").shape)
    first, second = one_axis(axis0, rank, "swapaxes"), one_axis(axis1, rank, "swapaxes")
    perm = list(range(rank))
    perm[first], perm[second] = second, first
    return transpose(x, tuple(perm))


def t(input: Any) -> Any:
    """A matrix transposed; a vector or a single value is what it was.

    >>> d2s.t(d2s.to_tensor([[1, 2]])).numpy().tolist()
    [[1], [2]]
    """
    rank = len(tensor_type(input, "t", "input").shape)
    if rank > 2:
        raise ArgumentError("D2S0004", f"t(): expects up to 2 axes, 'input' has {rank}", hint="d2s.transpose(x, perm)")
    return transpose(input, _backwards(rank))


@functools.cache
def _backwards(rank: int) -> tuple[int, ...]:
    """All axes, the last first: one object, by which the doors of eager code know a call again."""
    return tuple(range(rank))[::-1]


def reversed_axes(x: Any) -> Any:
    """All axes in the opposite order.

    >>> d2s.ops.arrange.reversed_axes(d2s.zeros([2, 3, 4])).shape
    [4, 3, 2]
    """
    return transpose(x, _backwards(len(tensor_type(x, "T", "x").shape)))


@op(paddle="flip", onnx="Slice")
def flip(x, axis: Any):
    """The values along some axes in the opposite order.

    >>> d2s.flip(d2s.to_tensor([[1, 2], [3, 4]]), 1).numpy().tolist()
    [[2, 1], [4, 3]]
    """


@flip.rule("canonical")
def _(x, axis):
    return {"axis": axes(whole_numbers(axis, "flip", "axis"), len(x.shape), "flip")}


@flip.rule("infer")
def _(x, axis):
    return x


@flip.rule("kernel")
def _(x, out, axis):
    have = axes_of(x.shape)
    turned = [Axis(a.extent, (-1, *a.stride)) if k in axis else a for k, a in enumerate(have)]
    return moved(turned, [end for k in axis for end in ((*have[k].extent, *have[k].stride), (-1, *have[k].stride))])


@flip.rule("vjp")
def _(g, out, x, axis):
    return lambda: flip(g, axis)


def roll(x: Any, shifts: Any, axis: Any = None) -> Any:
    """The values moved along some axes, those pushed out at one end back in at the other; without axes, as one row.

    >>> d2s.roll(d2s.to_tensor([1, 2, 3, 4]), 1).numpy().tolist()
    [4, 1, 2, 3]
    """
    rank, by = len(tensor_type(x, "roll", "x").shape), whole_numbers(shifts, "roll", "shifts")
    along: list[Any] = [None] if axis is None else [one_axis(a, rank, "roll") for a in whole_numbers(axis, "roll", "axis")]
    if len(by) != len(along):
        raise ArgumentError("D2S0004", f"roll(): 'shifts' is {list(by)}, 'axis' is {brief(axis)}: one shift for each axis")
    for shift, a in zip(by or (0,), along or [None], strict=True):
        x = rotate(x, shift, a)
    return x


@op(paddle="roll")
def rotate(x, shift: int, axis: Any):
    """`roll` along one axis, or of the values as one row.

    >>> d2s.ops.arrange.rotate(d2s.to_tensor([1, 2, 3, 4]), -1, 0).numpy().tolist()
    [2, 3, 4, 1]
    """


@rotate.rule("infer")
def _(x, shift, axis):
    return x


@rotate.rule("kernel")
def _(x, out, shift, axis):
    extent, inner = (x.shape, ()) if axis is None else ((x.shape[axis],), x.shape[axis + 1 :])
    text = """\
width = n1 * n2
pushed = n3 % n1 * n2 if n1 > 0 else 0
for block in range(lo // width if width > 0 else 0, (hi + width - 1) // width if width > 0 else 0):
    first = block * width
    begin = first if first > lo else lo
    end = first + width if first + width < hi else hi
    middle = first + pushed
    for i in range(begin, end if end < middle else middle):
        out[i] = x[i - pushed + width]
    for i in range(begin if begin > middle else middle, end):
        out[i] = x[i - pushed]
"""
    return [x.shape, extent, inner, (shift,)], text, Share("n0", str(CHUNK))


@rotate.rule("vjp")
def _(g, out, x, shift, axis):
    return lambda: rotate(g, -shift, axis)
