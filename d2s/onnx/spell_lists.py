"""ONNX's words for lists that a run makes longer and shorter - tensors, whose rows are the items - and for ends of runs.

ONNX has sequences, too, but no empty one whose items have a shape, and OpenVINO has none. What changes a list copies it, as
ONNX Runtime copies its sequences.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "list_append" in SAID
True
"""

import numpy as np

from d2s import types
from d2s.onnx.writer import Pen, refuse, says


@says("list_new")
def _(pen: Pen) -> None:
    of = pen.outputs[0]
    shape = [0, *of.shape]
    if all(isinstance(d, int) for d in shape):
        pen.write("Constant", to=0, value=np.zeros([int(d) for d in shape], of.dtype.numpy))
        return
    parts = [pen.const([d]) if isinstance(d, int) else pen.extent(d) for d in shape]
    pen.write("ConstantOfShape", pen.write("Concat", *parts, axis=0), to=0, value=np.zeros(1, of.dtype.numpy))


@says("list_full")
def _(pen: Pen) -> None:
    count, ones = pen.write("Unsqueeze", pen.names[0], pen.const([0])), pen.const([1] * len(pen.types[1].shape))
    pen.write("Expand", _row(pen, 1), pen.write("Concat", count, ones, axis=0), to=0)


def _row(pen: Pen, k: int) -> str:
    return pen.write("Unsqueeze", pen.names[k], pen.const([0]))


@says("list_length")
def _(pen: Pen) -> None:
    pen.write("Gather", pen.write("Shape", pen.names[0]), pen.const(0), to=1)
    pen.kept()


@says("list_append")
def _(pen: Pen) -> None:
    pen.write("Concat", pen.names[0], _row(pen, 1), to=0, axis=0)


@says("list_pop")
def _(pen: Pen) -> None:
    pen.write("Gather", pen.names[0], pen.const(-1), to=1, axis=0)
    pen.write("Slice", pen.names[0], pen.const([0]), pen.const([-1]), pen.const([0]), to=0)


@says("list_get")
def _(pen: Pen) -> None:
    pen.write("Gather", pen.names[0], pen.names[1], to=1, axis=0)
    pen.kept()


@says("list_set")
def _(pen: Pen) -> None:
    place = pen.write("Reshape", pen.names[1], pen.const([1, 1]))
    pen.write("ScatterND", pen.names[0], place, _row(pen, 2), to=0)


@says("list_stack")
def _(pen: Pen) -> None:
    rank, rows = len(pen.types[0].shape), pen.names[0]
    if pen.attrs["behind"]:
        whole = pen.write("Shape", rows)
        rest = pen.write("Slice", whole, pen.const([2]), pen.const([1 + rank]), pen.const([0]))
        rows = pen.write("Reshape", rows, pen.write("Concat", pen.const([-1]), rest, axis=0))
    pen.write("Identity", rows, to=1)
    pen.kept()


@says("fail")
def _(pen: Pen) -> None:
    """ONNX has no word that ends a run, but a place behind the end of an axis does; the node is called what is raised."""
    if pen.graph.runs is None:
        refuse("a run that always raises")
    error, (here, holds) = pen.attrs["error"].error, pen.graph.runs
    name = f"{type(error).__name__}: {error}".partition("\n")[0] + (f" ({pen.node.where})" if pen.node.where else "")
    behind = pen.cast(here if holds else pen.write("Not", here), types.int64)
    pen.graph.node("Gather", [pen.const([0]), behind], [pen.graph.shared.fresh()], {"axis": 0}, name)
