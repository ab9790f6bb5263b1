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
from d2s.types import Type

Body = Callable[[Pen, Sequence[str], Sequence[str]], tuple[Sequence[str], Sequence[str]]]


def _scan(
    pen: Pen, carried: Sequence[tuple[str, Type]], fed: Sequence[tuple[str, Type]], axis: int, reverse: bool, body: Body
) -> list[str]:
    """What a body makes of each step of `fed` along an axis, one behind the other; `carried` goes from step to step."""
    inner = pen.inside()
    fresh = pen.graph.shared.fresh
    steps = [Type(of.dtype, (*of.shape[:axis], *of.shape[axis + 1 :])) for _, of in fed]
    given = [info(fresh(), of) for of in (*(of for _, of in carried), *steps)]
    names = [one["name"] for one in given]
    now, shown = body(inner, names[: len(carried)], names[len(carried) :])
    outputs = [
        info(inner.write("Identity", name), carried[min(k, len(carried) - 1)][1]) for k, name in enumerate((*now, *shown))
    ]
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
    rows = pen.write("ReduceSum", pen.names[0], pen.const([axis]), keepdims=0)
    first = pen.write("ConstantOfShape", pen.write("Shape", rows), value=one)

    def step(inner: Pen, state: Sequence[str], given: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        now = [inner.write("Mul", state[0], given[0])]
        return now, now

    inside = Type(of.dtype, (*of.shape[:axis], *of.shape[axis + 1 :]))
    (found,) = _scan(pen, [(first, inside)], [(pen.names[0], of)], axis, False, step)
    pen.write("Identity", found, to=0)


# --- another extent of an axis -----------------------------------------------------------------------------------------------


@says("resized")
def _(pen: Pen) -> None:
    axis, rank, dtype = pen.attrs["axis"], len(pen.types[0].shape), pen.types[0].dtype
    have, size = known(pen, (pen.types[0].shape[axis], pen.attrs["size"]))
    total = None
    for places, shares in _taps(pen.attrs, have, size, dtype.numpy.type):
        taken = pen.write("Gather", pen.names[0], pen.const(places), axis=axis)
        if shares is not None:
            shaped = shares.reshape([-1 if k == axis else 1 for k in range(rank)])
            taken = pen.write("Mul", taken, pen.write("Constant", value=shaped.astype(dtype.numpy)))
        total = taken if total is None else pen.write("Add", total, taken)
    assert total is not None
    pen.write("Identity", total, to=0)


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
