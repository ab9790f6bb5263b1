"""ONNX's words for what goes step by step along an axis: cells of sequences and running products are a `Scan`; and resizing.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "recurrent" in SAID
True
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from d2s import types
from d2s.onnx.spell_shapes import known, only_first
from d2s.onnx.writer import Pen, info, says
from d2s.types import DType, Type

Body = Callable[[Pen, Sequence[str], Sequence[str]], tuple[Sequence[str], Sequence[str]]]


def _scan(
    pen: Pen, carried: Sequence[tuple[str, Type]], fed: Sequence[tuple[str, Type]], axis: int, reverse: bool, body: Body
) -> list[str]:
    """What a body shows of each step of `fed` along an axis, one behind the other; `carried` goes from step to step.

    What is shown is of the types of the first that are carried.
    """
    inner = pen.inside()
    fresh = pen.graph.shared.fresh
    steps = [Type(of.dtype, (*of.shape[:axis], *of.shape[axis + 1 :])) for _, of in fed]
    given = [info(fresh(), of) for of in (*(of for _, of in carried), *steps)]
    names = [one["name"] for one in given]
    now, shown = body(inner, names[: len(carried)], names[len(carried) :])
    outputs = [info(inner.write("Identity", name), carried[k % len(carried)][1]) for k, name in enumerate((*now, *shown))]
    graph = {"node": inner.graph.nodes, "name": "step", "input": given, "output": outputs}
    way, count = [int(reverse)], len(fed)
    results = [fresh() for _ in outputs]
    attrs = {"body": graph, "num_scan_inputs": count, "scan_input_axes": [axis] * count}
    attrs |= {"scan_input_directions": way * count, "scan_output_axes": [axis] * len(shown)}
    attrs |= {"scan_output_directions": way * len(shown)}
    pen.graph.node("Scan", [*(name for name, _ in carried), *(name for name, _ in fed)], results, attrs)
    return results[len(carried) :]


@says("recurrent")
def _(pen: Pen) -> None:
    only_first(pen)
    cell, axis = pen.attrs["cell"], 1 - pen.attrs["time_major"]
    gates, weight, start, *more = pen.names
    lengths = pen.cast(more.pop(), types.int64) if pen.attrs["masked"] else None
    carried = [(start, pen.types[2])] + ([(more[0], pen.types[3])] if cell == "lstm" else [])
    fed = [(gates, pen.types[0])]
    if lengths is not None:
        fed.append(_numbered(pen, gates, axis))

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        hidden = inner.write("MatMul", state[0], weight)
        now = _CELLS.get(cell, _plain)(inner, given[0], hidden, state, more)
        if lengths is not None:
            going = inner.write("Unsqueeze", inner.write("Less", given[1], lengths), inner.const([-1]))
            now = [inner.write("Where", going, new, old) for new, old in zip(now, state, strict=True)]
        return now, now

    found = _scan(pen, carried, fed, axis, pen.attrs["reverse"], step)
    if cell == "lstm":
        pen.write("Concat", *(pen.write("Unsqueeze", name, pen.const([0])) for name in found), to=0, axis=0)
    else:
        pen.write("Identity", found[0], to=0)


def _numbered(pen: Pen, gates: str, axis: int) -> tuple[str, Type]:
    """The number of each step, for each sequence."""
    shape = pen.write("Slice", pen.write("Shape", gates), pen.const([0]), pen.const([2]))
    count = pen.write("Gather", pen.write("Shape", gates), pen.const(axis))
    numbers = pen.write("Range", pen.const(0), count, pen.const(1))
    if axis == 0:
        numbers = pen.write("Unsqueeze", numbers, pen.const([1]))
    return pen.write("Expand", numbers, shape), Type(types.int64, pen.types[0].shape[:2])


def _divided(pen: Pen, name: str, count: int) -> list[str]:
    """Equal parts of the last axis."""
    parts = [pen.graph.shared.fresh() for _ in range(count)]
    (size,) = known(pen, pen.types[2].shape[-1:])
    pen.graph.node("Split", [name, pen.const([size] * count)], parts, {"axis": -1})
    return parts


def _lstm(pen: Pen, gates: str, hidden: str, state: Sequence[str], more: Sequence[str]) -> list[str]:
    parts = _divided(pen, pen.write("Add", gates, hidden), 4)
    enter, keep, show = (pen.write("Sigmoid", parts[k]) for k in (0, 1, 3))
    new = pen.write("Mul", enter, pen.write("Tanh", parts[2]))
    cell = pen.write("Add", pen.write("Mul", keep, state[1]), new)
    return [pen.write("Mul", show, pen.write("Tanh", cell)), cell]


def _gru(pen: Pen, gates: str, hidden: str, state: Sequence[str], more: Sequence[str]) -> list[str]:
    given, own = _divided(pen, gates, 3), _divided(pen, pen.write("Add", hidden, more[0]), 3)
    reset, update = (pen.write("Sigmoid", pen.write("Add", given[k], own[k])) for k in (0, 1))
    new = pen.write("Tanh", pen.write("Add", given[2], pen.write("Mul", reset, own[2])))
    return [pen.write("Add", pen.write("Mul", pen.write("Sub", state[0], new), update), new)]


def _plain(pen: Pen, gates: str, hidden: str, state: Sequence[str], more: Sequence[str]) -> list[str]:
    return [pen.write("Tanh" if pen.attrs["cell"] == "tanh" else "Relu", pen.write("Add", gates, hidden))]


_CELLS = {"lstm": _lstm, "gru": _gru}


@says("cumprod")
def _(pen: Pen) -> None:
    of, axis = pen.types[0], pen.attrs["axis"]
    if not of.shape:
        pen.write("Identity", pen.names[0], to=0)
        return
    one = np.ones(1, of.dtype.numpy)

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        now = [inner.write("Mul", state[0], given[0])]
        return now, now

    (found,) = _scan(pen, [_before(pen, axis, one)], [(pen.names[0], of)], axis, False, step)
    pen.write("Identity", found, to=0)


def _before(pen: Pen, axis: int, value: np.ndarray) -> tuple[str, Type]:
    """One value for each line along an axis."""
    shape = pen.types[0].shape
    kept = [k for k in range(len(shape)) if k != axis]
    rows = pen.write("Gather", pen.write("Shape", pen.names[0]), pen.const(kept))
    inside = Type(types.dtype(value.dtype), tuple(shape[k] for k in kept))
    return pen.write("ConstantOfShape", rows, value=value), inside


@says("logcumsumexp")
def _(pen: Pen) -> None:
    of, axis = pen.types[0], pen.attrs["axis"]
    lowest = np.full(1, -np.inf, of.dtype.numpy)

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        now = [_joined(inner, of.dtype, (state[0], given[0]))]
        return now, now

    (found,) = _scan(pen, [_before(pen, axis, lowest)], [(pen.names[0], of)], axis, False, step)
    pen.write("Identity", found, to=0)


def _joined(pen: Pen, dtype: DType, terms: Sequence[str]) -> str:
    """The logarithm of the sum of exponentials, where infinite ones are no shift."""
    top = pen.write("Max", *terms)
    shift = pen.write("Where", pen.write("IsInf", top), pen.const(0, dtype), top)
    parts = [pen.write("Exp", pen.write("Sub", term, shift)) for term in terms]
    return pen.write("Add", shift, pen.write("Log", pen.write("Sum", *parts)))


@says("cummax cummin")
def _(pen: Pen) -> None:
    """The place is counted along: the last one that is as large."""
    of, axis, dtype = pen.types[0], pen.attrs["axis"], pen.attrs["dtype"]
    better, worst = ("GreaterOrEqual", -1) if pen.node.op == "cummax" else ("LessOrEqual", 1)
    limits = (-np.inf, np.inf) if of.is_float else (np.iinfo(of.dtype.numpy).min, np.iinfo(of.dtype.numpy).max)
    first = np.full(1, limits[worst > 0], of.dtype.numpy)

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        (best, place, number), (x,) = state, given
        taken = inner.write(better, x, best)
        if of.is_float:
            taken = inner.write("Or", taken, inner.write("IsNaN", x))
        now = [inner.write("Where", taken, x, best), inner.write("Where", taken, number, place)]
        return [*now, inner.write("Add", number, inner.const(1))], now

    count = pen.const(0), Type(types.int64)
    carried = [_before(pen, axis, first), _before(pen, axis, np.zeros(1, "int64")), count]
    found, places = _scan(pen, carried, [(pen.names[0], of)], axis, False, step)
    pen.write("Identity", found, to=0)
    pen.cast(places, dtype, to=1)


@says("longest_run")
def _(pen: Pen) -> None:
    """What each step shows is where the longest run so far ends: the last of them is the answer."""
    of, axis = pen.types[0], pen.attrs["axis"]

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        (place, longest, run, before, number), (x,) = state, given
        run = inner.write("Add", inner.write("Where", inner.write("Equal", x, before), run, inner.const(0)), inner.const(1))
        longer = inner.write("Greater", run, longest)
        place = inner.write("Where", longer, number, place)
        later = inner.write("Add", number, inner.const(1))
        return [place, inner.write("Max", run, longest), run, x, later], [place]

    zeros = [_before(pen, axis, np.zeros(1, "int64")) for _ in range(3)]
    carried = [*zeros, _before(pen, axis, np.zeros(1, of.dtype.numpy)), (pen.const(0), Type(types.int64))]
    (found,) = _scan(pen, carried, [(pen.names[0], of)], axis, False, step)
    pen.write("Gather", found, pen.const([-1]), to=0, axis=axis)


@says("ctc")
def _(pen: Pen) -> None:
    """Blanks stand around the letters; a step stays, goes on by one, or over a blank between letters that differ."""
    only_first(pen)
    dtype, (steps, batch, letters) = pen.types[0].dtype, pen.types[0].shape
    labels, lengths, counts = (pen.cast(pen.names[k], types.int64) for k in (1, 3, 2))
    texts = _with_blanks(pen, labels)
    width = 2 * known(pen, pen.types[1].shape[1:])[0] + 1
    over = pen.write("Not", pen.write("Equal", texts, _moved(pen, texts, 2, pen.attrs["blank"], types.int64)))
    zeros, first = pen.write("Mul", counts, pen.const(0)), pen.const([-np.inf, 0], types.float32)
    start = pen.cast(pen.write("OneHot", zeros, pen.const([width]), first, axis=-1), dtype)
    scores = pen.write("LogSoftmax", pen.names[0], axis=2)
    inside = Type(dtype, (batch, width))

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        before, number = state
        never = inner.const(-np.inf, dtype)
        skipped = inner.write("Where", over, _moved(inner, before, 2, -np.inf, dtype), never)
        there = _joined(inner, dtype, (before, _moved(inner, before, 1, -np.inf, dtype), skipped))
        there = inner.write("Add", there, inner.write("GatherElements", given[0], texts, axis=1))
        going = inner.write("Unsqueeze", inner.write("Less", number, counts), inner.const([-1]))
        now = inner.write("Where", going, there, before)
        return [now, inner.write("Add", number, inner.const(1))], [now]

    carried = [(start, inside), (pen.const(0), Type(types.int64))]
    (found,) = _scan(pen, carried, [(scores, Type(dtype, (steps, batch, letters)))], 0, False, step)
    whole = pen.write("Concat", pen.write("Unsqueeze", start, pen.const([0])), found, axis=0)
    ends = _ends(pen, pen.write("Gather", whole, pen.const(-1), axis=0), lengths, dtype)
    pen.write("Neg", ends, to=0)


def _with_blanks(pen: Pen, labels: str) -> str:
    blank = pen.const([[pen.attrs["blank"]]])
    first = pen.write("Expand", blank, pen.write("Concat", pen.write("Shape", labels, end=1), pen.const([1]), axis=0))
    each = pen.write("Unsqueeze", labels, pen.const([2]))
    pairs = pen.write("Concat", each, pen.write("Expand", pen.const(pen.attrs["blank"]), pen.write("Shape", each)), axis=2)
    return pen.write("Concat", first, pen.write("Reshape", pairs, pen.const([0, -1])), axis=1)


def _moved(pen: Pen, rows: str, places: int, filling: Any, dtype: DType) -> str:
    return pen.write("Pad", rows, pen.const([0, places, 0, -places]), pen.const(filling, dtype), mode="constant")


def _ends(pen: Pen, rows: str, lengths: str, dtype: DType) -> str:
    """A text ends on its last letter or on the blank behind it."""
    last = pen.write("Unsqueeze", pen.write("Mul", lengths, pen.const(2)), pen.const([1]))
    letter = pen.write("Max", pen.write("Sub", last, pen.const(1)), pen.const(0))
    there = [pen.write("GatherElements", rows, places, axis=1) for places in (last, letter)]
    there[1] = pen.write("Where", pen.write("Equal", last, pen.const(0)), pen.const(-np.inf, dtype), there[1])
    return pen.write("Squeeze", _joined(pen, dtype, there), pen.const([1]))


# --- another extent of an axis -----------------------------------------------------------------------------------------------


@says("resized")
def _(pen: Pen) -> None:
    axis, rank, dtype = pen.attrs["axis"], len(pen.types[0].shape), pen.types[0].dtype
    have, size = pen.types[0].shape[axis], pen.outputs[0].shape[axis]
    if isinstance(have, str) or isinstance(size, str):
        _resized(pen)
        return
    total = None
    for places, shares in _taps(pen.attrs, have, size, dtype.numpy.type):
        taken = pen.write("Gather", pen.names[0], pen.const(places), axis=axis)
        if shares is not None:
            shaped = shares.reshape([-1 if k == axis else 1 for k in range(rank)])
            taken = pen.write("Mul", taken, pen.write("Constant", value=shaped.astype(dtype.numpy)))
        total = taken if total is None else pen.write("Add", total, taken)
    assert total is not None
    pen.write("Identity", total, to=0)


_LIE = {"halves": "half_pixel", "whole": "asymmetric", "corners": "align_corners"}


@says("resized_to")
def _(pen: Pen) -> None:
    parts: list[str] = []
    for k, d in enumerate(pen.types[0].shape):
        own = pen.const([d]) if isinstance(d, int) else pen.write("Gather", pen.write("Shape", pen.names[0]), pen.const([k]))
        parts.append(pen.write("Reshape", pen.names[1], pen.const([1])) if k == pen.attrs["axis"] else own)
    pen.write("Resize", pen.names[0], "", "", pen.write("Concat", *parts, axis=0), to=0, **_lying(pen))


def _resized(pen: Pen) -> None:
    """By the op that asks a run for extents."""
    axis, (x,), out, attrs = pen.attrs["axis"], pen.types, pen.outputs[0], _lying(pen)
    if pen.attrs["scale"] > 0:
        scales = [pen.attrs["scale"] if k == axis else 1.0 for k in range(len(x.shape))]
        pen.write("Resize", pen.names[0], "", pen.const(scales, types.float32), to=0, **attrs)
    else:
        pen.write("Resize", pen.names[0], "", "", pen.shape_as(pen.names[0], out.shape, x.shape), to=0, **attrs)


def _lying(pen: Pen) -> dict[str, Any]:
    """Where the values of the result lie among the old ones, in ONNX's words."""
    mode, places = pen.attrs["mode"], pen.attrs["places"]
    attrs = {"mode": mode, "coordinate_transformation_mode": _LIE[places]}
    rounded = {"nearest_mode": "round_prefer_ceil" if places == "corners" else "floor"}
    return attrs | rounded if mode == "nearest" else attrs


def _taps(attrs: dict[str, Any], have: int, size: int, T: Any) -> list[tuple[Any, Any]]:
    """Which values each result is made of, and how much of each is taken; None for all of it."""
    T = T if issubclass(T, np.floating) else np.float64
    mode, places, scale = (attrs[key] for key in ("mode", "places", "scale"))
    corners = T(have - 1) / T(max(size - 1, 1))
    ratio = T(0) if size < 2 else corners if places == "corners" else T(1 / scale) if scale > 0 else T(have) / T(size)
    k = np.arange(size).astype(T)
    at = (k + T(0.5)) * ratio - T(0.5) if places == "halves" else k * ratio
    last = have - 1
    if mode == "nearest":
        whole = k * ratio if places != "halves" else at
        return [(np.minimum((whole + (0.5 if places == "corners" else 0)).astype(np.int64), last), None)]
    if mode == "linear":
        at = np.maximum(at, T(0))
        first = np.minimum(at.astype(np.int64), last)
        share = at - first.astype(T)
        return [(first, T(1) - share), (np.minimum(first + 1, last), share)]
    first = np.floor(at).astype(np.int64)
    t = at - first.astype(T)
    shares = _far(t + 1), _near(t), _near(1 - t), _far(2 - t)
    return [(np.clip(first + n - 1, 0, last), share) for n, share in enumerate(shares)]


def _near(t: Any) -> Any:
    return (1.25 * t - 2.25) * t * t + 1


def _far(t: Any) -> Any:
    return ((-0.75 * t + 3.75) * t - 6) * t + 3
