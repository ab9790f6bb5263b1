"""ONNX's words for random numbers: each draws from a stream of the engine's own, so none is told a place.

In: a pen at a node that draws. Out: nodes of ONNX; seed and counter are numbers there that only count.

>>> from d2s.onnx.writer import SAID
>>> "normal_as" in SAID
True
"""

from typing import Any

import numpy as np

from d2s import types
from d2s.onnx.writer import NUMBERS, Pen, refuse, says
from d2s.types import DType


@says("stream")
def _(pen: Pen) -> None:
    for value in pen.node.outputs:
        pen.graph.names[value] = pen.const(0)


@says("moved")
def _(pen: Pen) -> None:
    """The engine's stream moves on by itself."""


@says("uniform uniform_as")
def _(pen: Pen) -> None:
    low, high = _numbers(pen)
    _drawn(pen, "RandomUniform", pen.outputs[0].dtype, to=0, low=float(low), high=float(high))


@says("normal normal_as")
def _(pen: Pen) -> None:
    mean, std = _numbers(pen)
    _drawn(pen, "RandomNormal", pen.outputs[0].dtype, to=0, mean=float(mean), scale=float(std))


@says("randint randint_as")
def _(pen: Pen) -> None:
    """A share of the numbers there are, rounded down."""
    low, span = _numbers(pen)
    share = _drawn(pen, "RandomUniform", types.float64)
    along = pen.write("Floor", pen.write("Mul", share, pen.const(float(span), types.float64)))
    pen.cast(pen.write("Add", pen.cast(along, types.int64), pen.const(low)), pen.outputs[0].dtype, to=0)


@says("randperm randperm_as")
def _(pen: Pen) -> None:
    """The order of so many random numbers is one."""
    numbers = _drawn(pen, "RandomUniform", types.float32)
    size = pen.write("Shape", numbers)
    order = pen.graph.shared.fresh()
    pen.graph.node("TopK", [numbers, size], [pen.graph.shared.fresh(), order], {"axis": 0})
    pen.cast(order, pen.outputs[0].dtype, to=0)


@says("bernoulli")
def _(pen: Pen) -> None:
    pen.write("Bernoulli", pen.names[2], to=0)


@says("multinomial")
def _(pen: Pen) -> None:
    """With replacement ONNX has it; without, what comes first in a race by numbers of Gumbel's is drawn first."""
    of, count = pen.types[2], pen.attrs["num_samples"]
    scores = pen.write("Log", pen.names[2])
    if pen.attrs["replacement"] or count == 1:
        rows = scores if len(of.shape) > 1 else pen.write("Unsqueeze", scores, pen.const([0]))
        to = 0 if len(of.shape) > 1 else None
        found = pen.write("Multinomial", rows, to=to, sample_size=count, dtype=NUMBERS[types.int64])
        if to is None:
            pen.write("Squeeze", found, pen.const([0]), to=0)
        return
    share = pen.write("RandomUniformLike", scores, low=1e-10, high=1.0, dtype=NUMBERS[of.dtype])
    late = pen.write("Log", pen.write("Neg", pen.write("Log", share)))
    places = pen.graph.names[pen.node.outputs[0]] = pen.graph.shared.fresh()
    pen.graph.node(
        "TopK", [pen.write("Sub", scores, late), pen.const([count])], [pen.graph.shared.fresh(), places], {"axis": -1}
    )


@says("as_std")
def _(pen: Pen) -> None:
    pen.kept()


@says("dropped")
def _(pen: Pen) -> None:
    """ONNX Runtime leaves `Dropout` out, also where it is told to drop."""
    likelihood, factor = _numbers(pen, 3)
    of = pen.outputs[0].dtype
    share = pen.write("RandomUniformLike", pen.names[2], low=0.0, high=1.0, dtype=NUMBERS[types.float32])
    gone = pen.write("Less", share, pen.const(float(likelihood), types.float32))
    pen.write("Where", gone, pen.const(0.0, of), pen.write("Mul", pen.names[2], pen.const(float(factor), of)), to=0)


def _numbers(pen: Pen, first: int = 2) -> list[Any]:
    """What a distribution is told, which attributes say."""
    found = [pen.graph.constants.get(value) for value in pen.node.inputs[first : first + 2]]
    if None in found:
        refuse(f"{pen.node.op} of numbers that only a run knows")
    return found


def _drawn(pen: Pen, kind: str, dtype: DType, to: int | None = None, **attrs: Any) -> str:
    if pen.node.op.endswith("_as"):
        like = pen.cast(pen.names[-1], types.float32)
        return pen.write(f"{kind}Like", like, to=to, dtype=NUMBERS[dtype], **attrs)
    shape = np.asarray(pen.outputs[0].shape, np.int64).tolist()
    if shape:
        return pen.write(kind, to=to, shape=shape, dtype=NUMBERS[dtype], **attrs)
    return pen.write("Squeeze", pen.write(kind, shape=[1], dtype=NUMBERS[dtype], **attrs), to=to)
