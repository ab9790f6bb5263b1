"""Values put around a tensor: a number, or the tensor's own.

>>> from d2s.types import float32
>>> pad_with.infer([Type(float32, ("n", 2)), Type(float32)], {"lows": (0, 1), "highs": (0, 2)})
(f32[n,5],)
"""

from typing import Any

from d2s.arguments import expect
from d2s.errors import ArgumentError, DTypeError, ShapeError, brief
from d2s.ops.create import number_of
from d2s.ops.dispatch import current
from d2s.ops.found import cut, number
from d2s.ops.join import concat
from d2s.ops.movement import CHUNK, Product, Registers, body, indented, joined
from d2s.ops.op import Share, op
from d2s.ops.open_shapes import full_of, is_open
from d2s.ops.rows import extent
from d2s.ops.shapes import fitting, following, tensor_type, unnamed, whole_number, whole_numbers
from d2s.ops.slicing import Stretch, filled_around, part
from d2s.reckoned import reckoned
from d2s.types import Shape, Type

Ints = tuple[int, ...]
_SOURCES = {  # where the value at s comes from, on an axis of n values
    "reflect": ["if s < 0:", "    s = -s", "if s >= {n}:", "    s = 2 * {n} - 2 - s"],
    "replicate": ["if s < 0:", "    s = 0", "if s >= {n}:", "    s = {n} - 1"],
    "circular": ["s = s % {n}"],
}
_SPATIAL = {"NCL": 1, "NLC": 1, "NCHW": 2, "NHWC": 2, "NCDHW": 3, "NDHWC": 3}


def pad(x: Any, pad: Any, mode: str = "constant", value: Any = 0.0, data_format: str = "NCHW") -> Any:
    """x with values around it: `value`, or by `mode` its own (reflect, replicate, circular).

    `pad` holds two numbers for each axis of x, or two for each spatial axis, the last one first.

    >>> d2s.ops.pad.pad(d2s.to_tensor([[1, 2]]), [0, 0, 1, 2]).numpy().tolist()
    [[0, 1, 2, 0, 0]]
    """
    have, given = tensor_type(x, "pad", "x"), widths(pad)
    if any(isinstance(n, int) and n < 0 for n in given):
        raise ArgumentError("D2S0004", f"pad(): 'pad' is {list(given)}, expected numbers from 0")
    expect("pad", "mode", mode, str, "a str")
    expect("pad", "data_format", data_format, str | None, "a str")
    lows, highs = _widths(len(have.shape), given, data_format)
    if is_open(given) and mode != "constant":
        raise unnamed("pad", f"how much is put around it by {brief(mode)}")
    if is_open(given):
        return _with_found(x, number_of(value, have.dtype), lows, highs)
    if mode == "constant":
        return pad_with(x, number_of(value, have.dtype), lows, highs)
    if mode not in _SOURCES:
        raise ArgumentError("D2S0004", f"pad(): 'mode' is {brief(mode)}, expected constant, {', '.join(_SOURCES)}")
    return pad_own(x, lows, highs, mode)


def widths(given: Any) -> tuple[Any, ...]:
    """Ints, or numbers of run time among them."""
    if not is_open(given):
        return whole_numbers(given, "pad", "pad")
    return tuple(n if current().type_of(n) is not None else whole_number(n, "pad", "pad") for n in given)


def _with_found(x: Any, value: Any, lows: tuple[Any, ...], highs: tuple[Any, ...]) -> Any:
    """x with a value around it, of which only a run knows how often."""
    x = pad_with(x, value, *(tuple(n if isinstance(n, int) else 0 for n in some) for some in (lows, highs)))
    for axis, around in enumerate(zip(lows, highs, strict=True)):
        low, high = (
            [] if isinstance(n, int) else [full_of(value, [*x.shape[:axis], n, *x.shape[axis + 1 :]], "pad")] for n in around
        )
        x = concat([*low, x, *high], axis) if low or high else x
    return x


def _widths(rank: int, given: tuple[Any, ...], data_format: str) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """What goes before and behind each axis."""
    if len(given) == 2 * rank:
        return given[::2], given[1::2]
    spatial = rank - 2
    if _SPATIAL.get(data_format, 0) not in (spatial, 2) or not 0 < len(given) <= 2 * spatial or len(given) % 2:
        message = f"pad(): 'pad' is {list(given)}, 'x' has {rank} axes, 'data_format' is {brief(data_format)}"
        raise ArgumentError("D2S0004", message, hint="two numbers for each axis, or for each spatial one")
    last = rank - 2 if data_format in _SPATIAL and data_format.endswith("C") else rank - 1
    lows, highs = list[Any]([0] * rank), list[Any]([0] * rank)
    for k in range(len(given) // 2):
        lows[last - k], highs[last - k] = given[2 * k], given[2 * k + 1]
    return tuple(lows), tuple(highs)


def _padded(x: Shape, lows: Ints, highs: Ints) -> Shape:
    return tuple(following(d, plus=low + high) for d, low, high in zip(x, lows, highs, strict=True))


@op(paddle=None, onnx="Pad")
def pad_with(x, value, lows: Any, highs: Any):
    """x with a single value around it.

    >>> d2s.ops.pad.pad_with(d2s.to_tensor([1, 2]), d2s.to_tensor(7), (1,), (0,)).numpy().tolist()
    [7, 1, 2]
    """


@pad_with.rule("infer")
def _(x, value, lows, highs):
    if value.shape or value.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"pad(): 'value' is {value}, 'x' is {x}")
    return Type(x.dtype, _padded(x.shape, lows, highs))


def _inside(x: Shape, lows: Ints, highs: Ints) -> dict[int, Stretch]:
    """Where x is in the result."""
    return {k: Stretch(low, d) for k, (d, low, high) in enumerate(zip(x, lows, highs, strict=True)) if low or high}


@pad_with.rule("kernel")
def _(x, value, out, lows, highs):
    return filled_around(out.shape, "value[0]", "x[at]", _inside(x.shape, lows, highs))


@pad_with.rule("vjp")
def _(g, out, x, value, lows, highs):
    return lambda: _cut(g, x, lows, highs), lambda: g.sum() - _cut(g, x, lows, highs).sum()


def _cut(g: Any, x: Any, lows: Ints, highs: Ints) -> Any:
    """What lies where x was."""
    have: Shape = current().type_of(x).shape  # type: ignore[union-attr]
    inside = _inside(have, lows, highs)
    for axis in [k for k in inside if isinstance(have[k], str)]:
        start = inside.pop(axis).start
        g = cut(g, number(start), number(extent(x, axis)), axis, 1, (have[axis],))
    return part(g, tensor_type(g, "pad", "g").shape, inside)


@op(paddle=None, onnx="Pad")
def pad_own(x, lows: Any, highs: Any, mode: str):
    """x with its own values around it.

    >>> d2s.ops.pad.pad_own(d2s.to_tensor([1, 2, 3]), (2,), (1,), "reflect").numpy().tolist()
    [3, 2, 1, 2, 3, 2]
    """


@pad_own.rule("infer")
def _(x, lows, highs, mode):
    for k, (d, low, high) in enumerate(zip(x.shape, lows, highs, strict=True)):
        most = d - 1 if isinstance(d, int) and mode == "reflect" else None
        if (low or high) and (d == 0 or (most is not None and max(low, high) > most)):
            raise ShapeError("D2S0002", f"pad(): axis {k} of {d} values cannot be padded by {low} and {high}: mode is {mode}")
    return Type(x.dtype, _padded(x.shape, lows, highs))


@pad_own.rule("least")
def _(x, lows, highs, mode):
    return [d if mode != "reflect" else reckoned(d, plus=-max(w)) for d, *w in zip(x.shape, lows, highs, strict=True) if any(w)]


def _groups(x: Shape, lows: Ints, highs: Ints) -> list[tuple[Product, int, int]]:
    """Neighbouring axes that are not padded as one, and each axis that is: extent, what goes before and behind it."""
    groups: list[tuple[Product, int, int]] = []
    for d, low, high in zip(x, lows, highs, strict=True):
        if groups and not low and not high and groups[-1][1:] == (0, 0):
            groups[-1] = ((*groups[-1][0], d), 0, 0)
        else:
            groups.append(((d,), low, high))
    return groups or [((), 0, 0)]


def _rounds(groups: list[tuple[Product, int, int]], mode: str, r: Registers, line: str) -> tuple[list[str], str]:
    """Loops over the result, each with the place its value has in x, and the count of the outermost."""
    lines, at, to, counts = list[str](), "0", "0", list[str]()
    for k, (dims, low, high) in enumerate(groups):
        n, wide = r(dims), r((reckoned(dims[0], plus=low + high),) if low or high else dims)
        lines += indented([f"for i{k} in range({wide if k else 'lo, hi'}):"], k)
        if low or high:
            source = [f"s = i{k} - {r((low,))}", *(text.format(n=n) for text in _SOURCES[mode]), f"s{k} = s"]
            lines += indented(source, k + 1)
        at, to = f"({at}) * {n} + {f's{k}' if low or high else f'i{k}'}", f"({to}) * {wide} + i{k}"
        counts.append(wide)
    return [*lines, *indented([line.format(at=at, to=to)], len(groups))], counts[0]


@pad_own.rule("kernel")
def _(x, out, lows, highs, mode):
    r = Registers()
    lines, count = _rounds(_groups(x.shape, lows, highs), mode, r, "out[{to}] = x[{at}]")
    return r.extents, body(lines), Share(count, f"1 + {CHUNK} * {count} // (1 + {r(out.shape)})")


@pad_own.rule("vjp")
def _(g, out, x, lows, highs, mode):
    return lambda: unpad_own(g, x, lows, highs, mode)


@op(paddle=None)
def unpad_own(x, like, lows: Any, highs: Any, mode: str):
    """The transpose of `pad_own`: zeros in the shape of `like`, with each value of x added where it came from, in order.

    >>> x, like = d2s.to_tensor([1.0, 2.0, 3.0]), d2s.to_tensor([0.0, 0.0])
    >>> d2s.ops.pad.unpad_own(x, like, (1,), (0,), "replicate").numpy().tolist()
    [3.0, 3.0]
    """


@unpad_own.rule("infer")
def _(x, like, lows, highs, mode):
    fitting("pad", "x", x.shape, _padded(like.shape, lows, highs))
    return Type(x.dtype, like.shape)


@unpad_own.rule("kernel")
def _(x, like, out, lows, highs, mode):
    r, groups = Registers(), _groups(like.shape, lows, highs)
    lines, count = _rounds(groups, mode, r, "out[{at}] += x[{to}]")
    if any(groups[0][1:]):  # several rounds add to one value: they are all one piece
        inside = [f"for i in range({r(like.shape)}):", "    out[i] = T(0)", lines[0].replace("lo, hi", count), *lines[1:]]
        return r.extents, body(["for whole in range(lo, hi):", *indented(inside)]), Share("1", "1")
    block = r(joined([extent for extent, _, _ in groups[1:]]))
    clear = [f"for i in range(lo * {block}, hi * {block}):", "    out[i] = T(0)"]
    return r.extents, body([*clear, *lines]), Share(count, f"1 + {CHUNK} // (1 + {block})")


@unpad_own.rule("vjp")
def _(g, out, x, like, lows, highs, mode):
    return lambda: pad_own(g, lows, highs, mode), None
