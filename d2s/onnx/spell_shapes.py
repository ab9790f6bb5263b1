"""ONNX's words for shapes, orders and parts of the same values.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "transpose" in SAID
True
"""

import math
from typing import Any

import numpy as np

from d2s.onnx.writer import Pen, refuse, says

_END = (1 << 63) - 1


@says("cast")
def _(pen: Pen) -> None:
    if pen.types[0].is_float and pen.outputs[0].dtype.kind == "i":
        _saturated(pen)
    else:
        pen.cast(pen.names[0], pen.outputs[0].dtype, to=0)


def _saturated(pen: Pen) -> None:
    """Numbers too large become the largest and nan 0, where ONNX leaves it to the runtime."""
    of, x, dtype = pen.types[0].dtype, pen.names[0], pen.outputs[0].dtype
    limits = np.iinfo(dtype.numpy)
    inside = pen.write("Where", pen.write("IsNaN", x), pen.const(0, of), x)
    if dtype.numpy.itemsize < 4:  # whose limits are floats, too
        held = pen.write("Min", pen.write("Max", inside, pen.const(limits.min, of)), pen.const(limits.max, of))
        pen.cast(held, dtype, to=0)
        return
    above = pen.write("GreaterOrEqual", inside, pen.const(float(limits.max) + 1, of))
    below = pen.write("Less", inside, pen.const(limits.min, of))
    fits = pen.write("Where", pen.write("Or", above, below), pen.const(0, of), inside)
    found = pen.write("Where", above, pen.const(limits.max, dtype), pen.cast(fits, dtype))
    pen.write("Where", below, pen.const(limits.min, dtype), found, to=0)


@says("detached renewed as_extent renamed")
def _(pen: Pen) -> None:
    pen.write("Identity", pen.names[0], to=0)


# --- the same values in another shape or order -------------------------------------------------------------------------------


@says("reshape flatten unflatten squeeze unsqueeze")
def _(pen: Pen) -> None:
    have, want = pen.types[0].shape, pen.outputs[0].shape
    dims: list[Any] = [0 if isinstance(d, str) and have[k : k + 1] == (d,) else d for k, d in enumerate(want)]
    names = [k for k, d in enumerate(dims) if isinstance(d, str)]
    zeros = any(d == 0 for d in want)
    if len(names) == 1:
        dims[names[0]] = -1
    shape = pen.shape_as(pen.names[0], want, have) if len(names) > 1 else pen.const(dims)
    pen.write("Reshape", pen.names[0], shape, to=0, allowzero=1 if zeros else None)


@says("transpose")
def _(pen: Pen) -> None:
    pen.write("Transpose", pen.names[0], to=0, perm=list(pen.attrs["perm"]))


@says("expand")
def _(pen: Pen) -> None:
    pen.write("Expand", pen.names[0], pen.shape_as(pen.names[0], pen.outputs[0].shape, pen.types[0].shape), to=0)


@says("tile")
def _(pen: Pen) -> None:
    times = pen.attrs["repeat_times"]
    shape = (1,) * (len(times) - len(pen.types[0].shape)) + pen.types[0].shape
    source = pen.names[0]
    if len(shape) > len(pen.types[0].shape):
        source = pen.write("Unsqueeze", source, pen.const(list(range(len(shape) - len(pen.types[0].shape)))))
    pen.write("Tile", source, pen.const(list(times)), to=0)


def _sliced(pen: Pen, source: str, axes: Any, starts: Any, ends: Any, steps: Any, to: int | None = None) -> str:
    return pen.write("Slice", source, *(pen.const(list(column)) for column in (starts, ends, axes, steps)), to=to)


@says("flip")
def _(pen: Pen) -> None:
    axes = list(pen.attrs["axis"])
    if not axes:
        pen.write("Identity", pen.names[0], to=0)
        return
    _sliced(pen, pen.names[0], axes, [-1] * len(axes), [-_END] * len(axes), [-1] * len(axes), to=0)


@says("sliced")
def _(pen: Pen) -> None:
    if not pen.attrs["axes"]:
        pen.write("Identity", pen.names[0], to=0)
        return
    dropped = list(pen.attrs["dropped"])
    found = _stretched(pen, pen.names[0], to=None if dropped else 0)
    if dropped:
        pen.write("Squeeze", found, pen.const(dropped), to=0)


def _stretched(pen: Pen, source: str, to: int | None = None) -> str:
    """The stretches of a node's attributes."""
    axes, starts, counts, steps = (pen.attrs[key] for key in ("axes", "starts", "counts", "steps"))
    ends = []
    for axis, start, count, step in zip(axes, starts, counts, steps, strict=True):
        if not isinstance(count, int):
            refuse(f"{pen.node.op} at as many places as only a run knows")
        end = start + count * step
        dim = pen.types[0].shape[axis]
        ends.append(_END if start < 0 <= end else -_END if end < 0 <= start or (end < 0 and isinstance(dim, int)) else end)
    return _sliced(pen, source, axes, starts, ends, steps, to=to)


@says("set_slice")
def _(pen: Pen) -> None:
    """The places of the stretches, counted in the order they lie, take the value."""
    x, value = pen.names[:2]
    places = _places(pen, x)
    there = _stretched(pen, places) if pen.attrs["axes"] else places
    whole = pen.write("Shape", there)
    new = pen.write("Reshape", value, whole, allowzero=1) if pen.types[1].shape else pen.write("Expand", value, whole)
    flat = [pen.write("Reshape", name, pen.const([-1])) for name in (x, there, new)]
    found = pen.write("ScatterElements", *flat, axis=0)
    pen.write("Reshape", found, pen.write("Shape", x), to=0, allowzero=1)


def _places(pen: Pen, like: str, to: int | None = None) -> str:
    count = pen.write("Range", pen.const(0), pen.write("Size", like), pen.const(1))
    return pen.write("Reshape", count, pen.write("Shape", like), to=to, allowzero=1)


@says("positions")
def _(pen: Pen) -> None:
    _places(pen, pen.names[0], to=0)


@says("diagonal")
def _(pen: Pen) -> None:
    one, two, offset, shape = pen.attrs["axis1"], pen.attrs["axis2"], pen.attrs["offset"], pen.types[0].shape
    rows, columns = known(pen, (shape[one], shape[two]))
    others = [k for k in range(len(shape)) if k not in (one, two)]
    turned = pen.write("Transpose", pen.names[0], perm=[*others, one, two])
    flat = pen.write("Reshape", turned, pen.const([*[0] * len(others), rows * columns]))
    (count,) = known(pen, pen.outputs[0].shape[-1:])
    begin = offset if offset >= 0 else -offset * columns
    pen.write("Gather", flat, pen.const([begin + k * (columns + 1) for k in range(count)]), to=0, axis=len(others))


@says("rotate")
def _(pen: Pen) -> None:
    axis, source, shape = pen.attrs["axis"], pen.names[0], pen.types[0].shape
    source = pen.write("Reshape", source, pen.const([-1])) if axis is None else source
    along, turned = axis or 0, shape if axis is None else shape[axis : axis + 1]
    cut, ends = _turned(pen, source, along, turned), (pen.const([along]), pen.const([1]))
    parts = [pen.write("Slice", source, a, b, *ends) for a, b in ((cut, pen.const([_END])), (pen.const([0]), cut))]
    whole = pen.write("Concat", *parts, axis=along, to=0 if axis is not None else None)
    if axis is None:
        pen.write("Reshape", whole, pen.write("Shape", pen.names[0]), to=0, allowzero=1)


def _turned(pen: Pen, source: str, along: int, dims: Any) -> str:
    """The place along an axis that `rotate` brings to the front."""
    if all(isinstance(d, int) for d in dims):
        size = math.prod(dims)
        return pen.const([size - pen.attrs["shift"] % max(size, 1)])
    found = pen.write("Gather", pen.write("Shape", source), pen.const([along]))
    return pen.write("Sub", found, pen.write("Mod", pen.const([pen.attrs["shift"]]), pen.write("Max", found, pen.const([1]))))


def known(pen: Pen, dims: Any) -> list[int]:
    """Extents that must be numbers."""
    return [d if isinstance(d, int) else refuse(f"{pen.node.op} of an axis of {d} values") for d in dims]


@says("concat")
def _(pen: Pen) -> None:
    pen.write("Concat", *pen.names, to=0, axis=pen.attrs["axis"])


@says("stacked")
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    pen.write("Concat", *(pen.write("Unsqueeze", n, pen.const([axis])) for n in pen.names), to=0, axis=axis)


@says("tril triu")
def _(pen: Pen) -> None:
    pen.write("Trilu", pen.names[0], pen.const(pen.attrs["diagonal"]), to=0, upper=int(pen.node.op == "triu"))


def only_first(pen: Pen) -> None:
    """By-products are for gradients; a name that nothing defines would not pass if one were read."""
    pen.graph.names.update((value, "refused") for value in pen.node.outputs[1:])
