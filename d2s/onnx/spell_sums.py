"""ONNX's words for reductions, orders, products and losses.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "matmul" in SAID
True
"""

import numpy as np

from d2s import types
from d2s.onnx.spell_shapes import known, only_first
from d2s.onnx.writer import Pen, refuse, says

# --- reductions and orders ---------------------------------------------------------------------------------------------------


_REDUCTIONS = {"sum": "ReduceSum", "mean": "ReduceMean", "prod": "ReduceProd", "logsumexp": "ReduceLogSumExp"}
_NARROW = (types.int8, types.int16, types.uint8)
_REDUCTIONS |= {"max": "ReduceMax", "min": "ReduceMin", "amax": "ReduceMax", "amin": "ReduceMin"}


@says(" ".join(_REDUCTIONS))
def _(pen: Pen) -> None:
    kind, axes, want = _REDUCTIONS[pen.node.op], list(pen.attrs["axis"]), pen.outputs[0].dtype
    taken = types.int32 if want in _NARROW else want  # ONNX has no reductions of narrow integers
    source = pen.names[0] if pen.types[0].dtype is taken else pen.cast(pen.names[0], taken)
    last, keep = 0 if taken is want else None, {"keepdims": int(pen.attrs["keepdim"])}
    found = pen.write(kind, source, pen.const(axes), to=last, **keep) if axes else pen.write("Identity", source, to=last)
    if taken is not want:
        pen.cast(found, want, to=0)


@says("per_element")
def _(pen: Pen) -> None:
    """Divided by a product of extents."""
    whole = pen.write("Gather", pen.write("Shape", pen.names[1]), pen.const(list(pen.attrs["axis"])))
    count = pen.write("ReduceProd", whole, pen.const([0]), keepdims=0)
    left = pen.write("Max", pen.write("Sub", count, pen.const(pen.attrs["less"])), pen.const(0))
    pen.write("Div", pen.names[0], pen.cast(left, pen.types[0].dtype), to=0)


@says("determinant")
def _(pen: Pen) -> None:
    if pen.types[0].dtype is types.float64:
        refuse("determinant of float64")  # of which ONNX Runtime has no kernel
    pen.write("Det", pen.names[0], to=0)


@says("softmax log_softmax")
def _(pen: Pen) -> None:
    kind = "Softmax" if pen.node.op == "softmax" else "LogSoftmax"
    if not pen.types[0].shape:
        refuse(f"{pen.node.op} of a single number")
    pen.write(kind, pen.names[0], to=0, axis=pen.attrs["axis"])


@says("argmax argmin")
def _(pen: Pen) -> None:
    axis, dtype, source = pen.attrs["axis"], pen.attrs["dtype"], pen.names[0]
    if axis is None or not pen.types[0].shape:
        source = pen.write("Reshape", source, pen.const([-1]))
    kind, keep = "ArgMax" if pen.node.op == "argmax" else "ArgMin", int(pen.attrs["keepdim"] and axis is not None)
    found = pen.write(kind, source, axis=axis or 0, keepdims=keep)
    if axis is None and pen.outputs[0].shape:
        found = pen.write("Reshape", found, pen.const([1] * len(pen.outputs[0].shape)))
    pen.cast(found, dtype, to=0)


@says("sorted")
def _(pen: Pen) -> None:
    axis = pen.attrs["axis"]
    dim = pen.types[0].shape[axis]
    whole = isinstance(dim, int)
    count = pen.const([dim]) if whole else pen.write("Gather", pen.write("Shape", pen.names[0]), pen.const([axis]))
    attrs = {"axis": axis, "largest": int(pen.attrs["descending"]), "sorted": 1}
    pen.graph.node("TopK", [pen.names[0], count], pen.graph.define(pen.node), attrs)


@says("cumsum")
def _(pen: Pen) -> None:
    if not pen.types[0].shape:
        pen.write("Identity", pen.names[0], to=0)
        return
    pen.write("CumSum", pen.names[0], pen.const(pen.attrs["axis"]), to=0, reverse=int(pen.attrs["reverse"]))


# --- products ----------------------------------------------------------------------------------------------------------------


@says("matmul")
def _(pen: Pen) -> None:
    names = list(pen.names)
    for k, key in enumerate(("transpose_x", "transpose_y")):
        rank = len(pen.types[k].shape)
        if pen.attrs[key] and rank > 1:
            names[k] = pen.write("Transpose", names[k], perm=[*range(rank - 2), rank - 1, rank - 2])
    pen.write("MatMul", *names, to=0)


@says("attention")
def _(pen: Pen) -> None:
    turned = [pen.write("Transpose", n, perm=[0, 2, 1, 3]) for n in pen.names[:2]]
    keys = pen.write("Transpose", pen.names[1], perm=[0, 2, 3, 1])
    values = pen.write("Transpose", pen.names[2], perm=[0, 2, 1, 3])
    size, dtype = known(pen, pen.types[0].shape[3:])[0], pen.types[0].dtype
    scores = pen.write("Mul", pen.write("MatMul", turned[0], keys), pen.const(size**-0.5, dtype))
    hidden = pen.const(-np.inf, dtype)
    for name, of in zip(pen.names[3:], pen.types[3:], strict=True):
        scores = pen.write("Where", name, scores, hidden) if of.dtype.kind == "b" else pen.write("Add", scores, name)
    if pen.attrs["causal"]:
        ones = pen.write("Expand", pen.const(1.0, types.float32), pen.write("Shape", scores))
        low = pen.cast(pen.write("Trilu", ones, upper=0), types.bool_)
        scores = pen.write("Where", low, scores, hidden)
    found = pen.write("MatMul", pen.write("Softmax", scores, axis=3), values)
    pen.write("Transpose", found, to=0, perm=[0, 2, 1, 3])


# --- losses, values that are not there ---------------------------------------------------------------------------------------


@says("class_entropy")
def _(pen: Pen) -> None:
    only_first(pen)
    axis, label = pen.attrs["axis"], pen.cast(pen.names[1], types.int64)
    if len(pen.types[1].shape) < len(pen.types[0].shape):
        label = pen.write("Unsqueeze", label, pen.const([axis]))
    ignored = pen.write("Equal", label, pen.const(pen.attrs["ignore_index"]))
    place = pen.write("Where", ignored, pen.const(0), label)
    scores = pen.write("LogSoftmax", pen.names[0], axis=axis)
    found = pen.write("Neg", pen.write("GatherElements", scores, place, axis=axis))
    kept = pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found)
    pen.write("Squeeze", kept, pen.const([axis]), to=0)


def _seen(pen: Pen, label: str) -> tuple[str, str]:
    """Where labels are to be ignored, and the labels with 0 there."""
    ignored = pen.write("Equal", label, pen.const(pen.attrs["ignore_index"]))
    return ignored, pen.write("Where", ignored, pen.const(0), label)


@says("class_weight")
def _(pen: Pen) -> None:
    ignored, place = _seen(pen, pen.cast(pen.names[1], types.int64))
    found = pen.write("Gather", pen.names[0], place, axis=0)
    pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found, to=0)


@says("pick_class")
def _(pen: Pen) -> None:
    axis, label = pen.attrs["axis"], pen.cast(pen.names[1], types.int64)
    if len(pen.types[1].shape) < len(pen.types[0].shape):
        label = pen.write("Unsqueeze", label, pen.const([axis]))
    ignored, place = _seen(pen, label)
    found = pen.write("GatherElements", pen.names[0], place, axis=axis)
    kept = pen.write("Where", ignored, pen.const(0, pen.types[0].dtype), found)
    pen.write("Squeeze", kept, pen.const([axis]), to=0)


@says("mean_of_seen")
def _(pen: Pen) -> None:
    ignored, _ = _seen(pen, pen.cast(pen.names[1], types.int64))
    dtype = pen.types[0].dtype
    ones = pen.cast(pen.write("Not", ignored), dtype)
    total, seen = (pen.write("ReduceSum", name, keepdims=0) for name in (pen.names[0], ones))
    pen.write("Div", total, pen.write("Max", seen, pen.const(1, dtype)), to=0)


@says("hole")
def _(pen: Pen) -> None:
    """Nothing reads it: extents that only a run knows are 1."""
    of = pen.outputs[0]
    shape = pen.const([d if isinstance(d, int) else 1 for d in of.shape])
    pen.write("ConstantOfShape", shape, to=0, value=np.zeros(1, of.dtype.numpy))
