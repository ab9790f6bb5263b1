"""Stretches of axes: reading them, and values with such a stretch replaced.

A stretch is a start, a count and a step along an axis; a start below 0 counts from the end of an axis whose extent only a
run knows. `dropped` axes, of count 1, are not in the result.

>>> from d2s.types import float32
>>> where = {"axes": (0, 1), "starts": (-1, 3), "counts": (1, 2), "steps": (1, -2), "dropped": (0,)}
>>> sliced.infer([Type(float32, ("n", 4))], where)
(f32[2],)
"""

import functools
import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, IndexRangeError, brief
from d2s.extents import Extent
from d2s.ops.dispatch import OPS, current
from d2s.ops.expand import summed_to
from d2s.ops.movement import CHUNK, Axis, Kernel, Product, Registers, axes_of, body, indented, joined, moved
from d2s.ops.op import Share, op
from d2s.ops.shapes import fitting, one_axis, tensor_type, uncountable, unnamed, whole_number, whole_numbers
from d2s.types import Dim, Shape, Type

Ints = tuple[int, ...]


class Stretch(NamedTuple):
    """Part of an axis."""

    start: int
    size: Dim
    step: int = 1


MOST_EMPTY = 1 << 16  # parts of an axis that has no values


def stretch(name: str, dim: Dim, start: int | None, stop: int | None, step: int | None) -> Stretch:
    """What Python's slice means on an axis."""
    if step == 0:
        raise ArgumentError("D2S0004", f"{name}(): a slice step is 0")
    if isinstance(dim, str):
        if type(start) in (int, type(None)) and (start or 0) == 0 and stop is None and step in (None, 1):
            return Stretch(0, dim)
        if isinstance(dim, Extent):
            return _open_stretch(dim, start, stop, step)
        raise unnamed(name, f"a part of an axis of {dim} values")
    found = range(dim)[start:stop:step]
    return Stretch(found.start if len(found) else 0, len(found), found.step if len(found) > 1 else 1)


def _open_stretch(dim: Extent, start: int | None, stop: int | None, step: int | None) -> Stretch:
    """The same of an extent that only a run of a declared program will tell."""
    if isinstance(start, Extent) or isinstance(stop, Extent):  # a run refuses places that are not there
        if start is None or stop is None or step not in (None, 1):
            raise unnamed("indexing", f"the part {start} to {stop} of an axis")
        return Stretch(start, stop - start)
    said = f"[{start}:{stop}:{step}]"
    first = dim.computed(f"{said}[0]", lambda n: stretch("", n, start, stop, step).start)
    size = dim.computed(f"{said}[]", lambda n: len(range(n)[start:stop:step]))
    return Stretch(first, size, step or 1)


def at(name: str, dim: Dim, axis: int, index: int) -> Stretch:
    """One place of an axis."""
    if isinstance(dim, int):
        if not -dim <= index < dim:
            raise IndexRangeError("D2S0007", f"{name}(): index {index} is out of range for axis {axis} of {dim} values")
        return Stretch(index % dim, 1)
    return Stretch(dim + index if isinstance(dim, Extent) and index < 0 else index, 1)


def part(x: Any, shape: Shape, stretches: dict[int, Stretch], dropped: Sequence[int] = ()) -> Any:
    """x at some stretches, a tensor of its own also where they are the whole of it."""
    return sliced(x, *columns(shape, stretches, dropped))


def columns(shape: Shape, stretches: dict[int, Stretch], dropped: Sequence[int] = ()) -> tuple[Any, ...]:
    """Stretches as attributes: those that are the whole axis are left out."""
    real = [(k, *s) for k, s in sorted(stretches.items()) if k in dropped or not _whole(s, shape[k])]
    found = (*(tuple(column) for column in zip(*real, strict=True)), tuple(dropped)) if real else ((),) * 5
    return found if any(isinstance(d, Extent) for s in real for d in s) else _kept(found)


def _whole(stretch: Stretch, dim: Dim) -> bool:
    """Whether a stretch is known to be the whole of its axis."""
    if isinstance(dim, Extent):
        return stretch.size is dim and isinstance(stretch.start, int) and stretch == Stretch(0, dim)
    return stretch == Stretch(0, dim)


@functools.lru_cache(maxsize=4096)
def _kept(attributes: tuple[Any, ...]) -> tuple[Any, ...]:
    """The same attributes are the same objects, which is how native doors know them."""
    return attributes


@op(paddle=None, onnx="Slice")
def sliced(x, axes: Any, starts: Any, counts: Any, steps: Any, dropped: Any):
    """x at a stretch of some axes.

    >>> d2s.ops.slicing.sliced(d2s.to_tensor([1, 2, 3, 4]), (0,), (3,), (2,), (-2,), ()).numpy().tolist()
    [4, 2]
    """


def _shape(x: Type, axes: Ints, counts: tuple[Dim, ...], dropped: Ints) -> Shape:
    extents = {**dict(enumerate(x.shape)), **dict(zip(axes, counts, strict=True))}
    return tuple(d for k, d in extents.items() if k not in dropped)


def _check_places(x: Shape, axes: Ints, starts: Ints, counts: tuple[Dim, ...], steps: Ints) -> None:
    """Refuses places that an axis of known extent has not: a run knows those that were open when places were counted."""
    for axis, start, count, step in zip(axes, starts, counts, steps, strict=True):
        dim = x[axis]
        if not isinstance(dim, int):
            continue
        first = start + dim if start < 0 else start
        last = first + (count - 1) * step  # type: ignore[operator]
        if count and not (0 <= first < dim and 0 <= last < dim):
            raise _out_of_range(x, axes, starts, counts, steps, axis)


@sliced.rule("infer")
def _(x, axes, starts, counts, steps, dropped):
    _check_places(x.shape, axes, starts, counts, steps)
    return Type(x.dtype, _shape(x, axes, counts, dropped))


def _places(x: Shape, axes: Ints, starts: Ints, counts: tuple[Dim, ...], steps: Ints) -> tuple[list[Axis], list[Product]]:
    """The axes of the stretches in x, and where they begin (a sum of products)."""
    found, begin = axes_of(x), []
    for axis, start, count, step in zip(axes, starts, counts, steps, strict=True):
        _, stride = found[axis]
        found[axis] = Axis((count,), (step, *stride))
        begin += [(start, *stride)] if start else []
        begin += [(x[axis], *stride)] if start < 0 else []
    return found, begin


def _checks(x: Shape, axes: Ints, starts: Ints, counts: tuple[Dim, ...], steps: Ints, r: Registers) -> list[str]:
    """Lines that report a place that a run's extent has not, and then leave."""
    lines = []
    for axis, start, count, step in zip(axes, starts, counts, steps, strict=True):
        if isinstance(x[axis], str):
            dim, many = r((x[axis],)), r((count,))
            lines += [
                f"first = {r((start,))}" + (f" + {dim}" if start < 0 else ""),
                f"last = first + ({many} - 1) * {r((step,))}",
            ]
            lines += [f"if {many} and (first < 0 or first >= {dim} or last < 0 or last >= {dim}):"]
            lines += [f"    r[o[fault]] = {axis + 1}", "    return 0"]
    return lines


@sliced.rule("kernel")
def _(x, out, axes, starts, counts, steps, dropped):
    found, begin = _places(x.shape, axes, starts, counts, steps)
    extents, text, share = moved(found, begin)
    r = Registers()
    r.extents = extents
    return extents, body(_checks(x.shape, axes, starts, counts, steps, r)) + text, share


@sliced.rule("fault")
def _(fault, x, axes, starts, counts, steps, dropped):
    return _out_of_range(x.shape, axes, starts, counts, steps, fault - 1)


def _out_of_range(x: Shape, axes: Ints, starts: Ints, counts: tuple[Dim, ...], steps: Ints, axis: int) -> IndexRangeError:
    where = axes.index(axis)
    start, count = starts[where], counts[where]
    what = f"index {start} is" if count == 1 else f"{count} places from {start} on in steps of {steps[where]} are"
    return IndexRangeError("D2S0007", f"{what} out of range for axis {axis} of {x[axis]} values")


@sliced.rule("vjp")
def _(g, out, x, axes, starts, counts, steps, dropped):
    return lambda: unsliced(g, x, axes, starts, counts, steps, dropped)


@op(paddle=None)
def unsliced(x, like, axes: Any, starts: Any, counts: Any, steps: Any, dropped: Any):
    """The transpose of `sliced`: x at a stretch of some axes of `like`, zero elsewhere.

    >>> like = d2s.to_tensor([0, 0, 0])
    >>> d2s.ops.slicing.unsliced(d2s.to_tensor([5]), like, (0,), (2,), (1,), (1,), ()).numpy().tolist()
    [0, 0, 5]
    """


@unsliced.rule("infer")
def _(x, like, axes, starts, counts, steps, dropped):
    fitting("unsliced", "x", x.shape, _shape(like, axes, counts, dropped))
    return Type(x.dtype, like.shape)


@unsliced.rule("requires")
def _(x, like, axes, starts, counts, steps, dropped):
    return fitting("unsliced", "x", x.shape, _shape(like, axes, counts, dropped))


@unsliced.rule("kernel")
def _(x, like, out, axes, starts, counts, steps, dropped):
    return filled_around(out.shape, "T(0)", "x[at]", _stretches(axes, starts, counts, steps))


@unsliced.rule("worded")
def _(x, like, axes, starts, counts, steps, dropped):
    return set_slice(OPS["expand_as"](zero(x), like), x, axes, starts, counts, steps, dropped)


def _stretches(axes: Ints, starts: Ints, counts: Ints, steps: Ints) -> dict[int, Stretch]:
    return {k: Stretch(*row) for k, *row in zip(axes, starts, counts, steps, strict=True)}


def filled_around(shape: Shape, elsewhere: str, value: str, inside: dict[int, Stretch]) -> Kernel:
    """Row by row of the output: what is elsewhere (at `i`), then the value (at `at`) where the row is on the stretches."""
    r = Registers()
    groups = _groups(shape, set(inside))
    counts = [joined([(inside[k][1],) if k in inside else (shape[k],) for k in group]) for group in groups]
    extents = [r(joined([(shape[k],) for k in group])) for group in groups]
    sizes, width = [r(c) for c in counts], r(joined([(shape[k],) for group in groups[1:] for k in group]))
    lines = [f"for i in range(row * {width}, row * {width} + {width}):", f"    out[i] = {elsewhere}"]
    lines += _entered("row", groups[0], inside, extents[0], sizes[0], r)
    depth, at, to = 0, "j0", "row"
    for k, group in enumerate(groups[1:], 1):
        first, step = _begin(group, inside, extents[k], r)
        lines += indented([f"for j{k} in range({sizes[k]}):"], depth + 1)
        at, to, depth = f"({at}) * {sizes[k]} + j{k}", f"({to}) * {extents[k]} + {first} + j{k} * {step}", depth + 1
    lines += indented([f"at = {at}", f"out[{to}] = {value}"], depth + 1)
    return r.extents, body(["for row in range(lo, hi):", *indented(lines)]), Share(extents[0], f"1 + {CHUNK} // (1 + {width})")


def _groups(shape: Shape, cut: set[int]) -> list[list[int]]:
    """Neighbouring axes that are whole, and each axis that is cut, on its own."""
    groups: list[list[int]] = []
    for k in range(len(shape)):
        if groups and k not in cut and groups[-1][-1] not in cut:
            groups[-1].append(k)
        else:
            groups.append([k])
    return groups or [[]]


def _begin(group: list[int], inside: dict[int, Stretch], extent: str, r: Registers) -> tuple[str, str]:
    """Where a group's stretch begins, and its step."""
    if not group or group[0] not in inside:
        return "0", "1"
    start, _, step = inside[group[0]]
    return (f"{extent} + {r((start,))}" if start < 0 else r((start,))), "1" if step == 1 else r((step,))


def _entered(row: str, group: list[int], inside: dict[int, Stretch], extent: str, size: str, r: Registers) -> list[str]:
    """Lines that go on only where a row of the output is on the first group's stretch, as number j0 of it."""
    first, step = _begin(group, inside, extent, r)
    if step == "1":
        return [f"j0 = {row} - ({first})", f"if j0 >= 0 and j0 < {size}:"]
    return [f"j0 = ({row} - ({first})) // {step}", f"if j0 >= 0 and j0 < {size} and ({first}) + j0 * {step} == {row}:"]


@unsliced.rule("vjp")
def _(g, out, x, like, axes, starts, counts, steps, dropped):
    return lambda: sliced(g, axes, starts, counts, steps, dropped), None


@op(paddle=None)
def set_slice(x, value, axes: Any, starts: Any, counts: Any, steps: Any, dropped: Any):
    """x with a value, or a single one, at a stretch of some axes.

    >>> d2s.ops.slicing.set_slice(d2s.to_tensor([1, 2, 3]), d2s.to_tensor(9), (0,), (1,), (2,), (1,), ()).numpy().tolist()
    [1, 9, 9]
    """


@set_slice.rule("infer")
def _(x, value, axes, starts, counts, steps, dropped):
    _check_places(x.shape, axes, starts, counts, steps)
    if value.shape:
        fitting("set_slice", "value", value.shape, _shape(x, axes, counts, dropped))
    if value.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"set_slice(): 'value' is {value.dtype.name}, 'x' {x.dtype.name}")
    return x


@set_slice.rule("requires")
def _(x, value, axes, starts, counts, steps, dropped):
    return fitting("set_slice", "value", value.shape, _shape(x, axes, counts, dropped)) if value.shape else []


@set_slice.rule("kernel")
def _(x, value, out, axes, starts, counts, steps, dropped):
    new = "value[at]" if value.shape else "value[0]"
    extents, text, share = filled_around(out.shape, "x[i]", new, _stretches(axes, starts, counts, steps))
    r = Registers()
    r.extents = extents
    return extents, body(_checks(x.shape, axes, starts, counts, steps, r)) + text, share


@set_slice.rule("fault")
def _(fault, x, value, axes, starts, counts, steps, dropped):
    return _out_of_range(x.shape, axes, starts, counts, steps, fault - 1)


@set_slice.rule("vjp")
def _(g, out, x, value, axes, starts, counts, steps, dropped):
    where = (axes, starts, counts, steps, dropped)
    return lambda: set_slice(g, zero(g), *where), lambda: summed_to(sliced(g, *where), value)


def zero(g: Any) -> Any:
    """A single zero of a tensor's dtype."""
    handler = current()
    return handler.constant(0.0, Type(handler.type_of(g).dtype))  # type: ignore[union-attr]


def select(x: Any, axis: int, index: int) -> Any:
    """One place of an axis, which goes."""
    shape = tensor_type(x, "select", "x").shape
    return part(x, shape, {axis: at("select", shape[axis], axis, index)}, (axis,))


def split(x: Any, num_or_sections: Any, axis: Any = 0) -> list[Any]:
    """So many equal parts of an axis, or parts of the sizes listed; one of them may be -1: it is what is left.

    >>> [part.numpy().tolist() for part in d2s.split(d2s.to_tensor([1, 2, 3]), [1, -1])]
    [[1], [2, 3]]
    """
    shape = tensor_type(x, "split", "x").shape
    along = one_axis(axis, len(shape), "split")
    dim: Any = shape[along]
    if uncountable(dim):
        raise unnamed("split", f"the extent {dim} of axis {along}")
    ends = [0]
    for size in _sizes(dim, num_or_sections):
        ends.append(ends[-1] + size)
    return [part(x, shape, {along: Stretch(a, b - a)}) for a, b in itertools.pairwise(ends)]


def _sizes(dim: int, wanted: Any) -> Sequence[int]:
    if not isinstance(wanted, list | tuple):
        count = whole_number(wanted, "split", "num_or_sections")
        most = MOST_EMPTY if isinstance(dim, Extent) else max(dim, MOST_EMPTY)
        if not 1 <= count <= most or dim % count:
            raise ArgumentError("D2S0004", f"split(): an axis of {dim} values has no {brief(count)} equal parts")
        return [dim // count] * count
    sizes = list(whole_numbers(wanted, "split", "num_or_sections"))
    if sizes.count(-1) == 1:
        sizes[sizes.index(-1)] = dim - sum(s for s in sizes if s != -1)
    if min((s for s in sizes if isinstance(s, int)), default=-isinstance(dim, int)) < 0 or sum(sizes) != dim:
        raise ArgumentError("D2S0004", f"split(): 'num_or_sections' is {brief(wanted)}, the axis has {dim} values")
    return sizes


def chunk(x: Any, chunks: int, axis: Any = 0) -> list[Any]:
    """So many equal parts of an axis.

    >>> [part.shape for part in d2s.chunk(d2s.zeros([4, 2]), 2)]
    [[2, 2], [2, 2]]
    """
    return split(x, whole_number(chunks, "chunk", "chunks"), axis)


def unbind(input: Any, axis: int = 0) -> list[Any]:
    """The values at each place of an axis.

    >>> [x.numpy().tolist() for x in d2s.unbind(d2s.to_tensor([[1, 2], [3, 4]]))]
    [[1, 2], [3, 4]]
    """
    shape = tensor_type(input, "unbind", "input").shape
    along = one_axis(axis, len(shape), "unbind")
    dim = shape[along]
    if isinstance(dim, str):
        raise unnamed("unbind", f"the extent {dim} of axis {along}")
    return [select(input, along, k) for k in range(dim)]


def unstack(x: Any, axis: int = 0, num: int | None = None) -> list[Any]:
    """The values at each place of an axis; `num` is how many there must be.

    >>> [part.numpy().tolist() for part in d2s.unstack(d2s.to_tensor([[1, 2], [3, 4]]), axis=1)]
    [[1, 3], [2, 4]]
    """
    expect("unstack", "num", num, int | None, "an int")
    found = unbind(x, axis)
    if num not in (None, len(found)):
        raise ArgumentError("D2S0004", f"unstack(): 'num' is {brief(num)}, the axis has {len(found)} values")
    return found
