"""ONNX's words for layers: windows that slide, norms, activations.

In: a pen at a node. Out: nodes of ONNX, of opset 18.

>>> from d2s.onnx.writer import SAID
>>> "conv" in SAID
True
"""

import math
from typing import Any

from d2s.onnx.spell_shapes import known, only_first
from d2s.onnx.writer import Pen, refuse, says
from d2s.ops.conv import SAME

# --- windows that slide ------------------------------------------------------------------------------------------------------


def _window(pen: Pen) -> dict[str, Any]:
    pads = pen.attrs["padding"]
    return {"strides": list(pen.attrs["stride"]), "pads": [*pads[::2], *pads[1::2]]}


@says("conv")
def _(pen: Pen) -> None:
    more = {"dilations": list(pen.attrs["dilation"]), "group": pen.attrs["groups"]}
    pen.write("Conv", *pen.names, to=0, kernel_shape=list(pen.types[1].shape[2:]), **_window(pen), **more)


@says("conv_transpose")
def _(pen: Pen) -> None:
    kernel, rank = pen.types[1].shape[2:], len(pen.types[1].shape) - 2
    window, extra = _window(pen), []
    for k, (have, want) in enumerate(zip(pen.types[0].shape[2:], pen.attrs["size"], strict=True)):
        around = pen.attrs["dilation"][k] * (int(kernel[k]) - 1) + 1 - window["pads"][k] - window["pads"][k + rank]
        least = want - (int(have) - 1) * pen.attrs["stride"][k] - around if want >= 0 and isinstance(have, int) else SAME - want
        extra.append(least if want < 0 or isinstance(have, int) else refuse(f"conv_transpose of {have} values to {want}"))
    more = {"dilations": list(pen.attrs["dilation"]), "group": pen.attrs["groups"], "output_padding": extra}
    pen.write("ConvTranspose", *pen.names, to=0, kernel_shape=list(kernel), **window, **more)


@says("max_pool avg_pool")
def _(pen: Pen) -> None:
    kind = "MaxPool" if pen.node.op == "max_pool" else "AveragePool"
    if pen.attrs["size"]:
        _in_parts(pen)
        return
    if pen.attrs["ceil_mode"] and kind == "AveragePool" and not pen.attrs["exclusive"]:
        refuse("avg_pool with ceil_mode that counts what is not there")
    counts = {} if kind == "MaxPool" else {"count_include_pad": int(not pen.attrs["exclusive"])}
    window, up = _window(pen), pen.attrs["ceil_mode"]
    shapes = pen.types[0].shape[2:] + pen.outputs[0].shape[2:]
    if up and all(isinstance(d, int) for d in shapes):
        window["pads"], up = _rounded_up(pen, window), False
    behind = pen.attrs["padding"][1::2]
    if up and any(k - p < s for k, p, s in zip(pen.attrs["kernel"], behind, window["strides"], strict=True)):
        refuse(f"{pen.node.op} with ceil_mode whose last window may begin outside")
    more = counts | ({"ceil_mode": 1} if up else {})
    pen.write(kind, pen.names[0], to=0, kernel_shape=list(pen.attrs["kernel"]), **window, **more)


def _rounded_up(pen: Pen, window: dict[str, Any]) -> list[int]:
    """Padding behind the end, so that the last window begins inside."""
    have, want = known(pen, pen.types[0].shape[2:]), known(pen, pen.outputs[0].shape[2:])
    pads, kernel, count = window["pads"], pen.attrs["kernel"], len(have)
    whole = [(n - 1) * s + k for n, s, k in zip(want, window["strides"], kernel, strict=True)]
    behind = [max(whole[k] - have[k] - pads[k], 0) for k in range(count)]
    return [*pads[:count], *behind]


def _in_parts(pen: Pen) -> None:
    """Axis by axis, each part on its own where they are of different extents."""
    have, parts = pen.types[0].shape[2:], known(pen, pen.outputs[0].shape[2:])
    kind, reduce = ("MaxPool", "ReduceMax") if pen.node.op == "max_pool" else ("AveragePool", "ReduceMean")
    wide = [a // b for a, b in zip(have, parts, strict=True) if isinstance(a, int) and not a % b]
    if len(wide) == len(parts):
        pen.write(kind, pen.names[0], to=0, kernel_shape=wide, strides=wide)
        return
    found = pen.names[0]
    for axis, (a, b) in enumerate(zip(have, parts, strict=True), 2):
        cut = [_part(pen, found, axis, a, b, k) for k in range(b)] if b > 1 else [found]
        rows = [pen.write(reduce, piece, pen.const([axis]), keepdims=1) for piece in cut]
        found = pen.write("Concat", *rows, axis=axis)
    pen.write("Identity", found, to=0)


def _part(pen: Pen, x: str, axis: int, size: Any, count: int, k: int) -> str:
    """Part k of so many parts of an axis: from k / count of it, rounded down, to (k + 1) / count of it, rounded up."""
    if isinstance(size, int):
        ends = [pen.const([k * size // count]), pen.const([-(-(k + 1) * size // count)])]
    else:
        whole = pen.write("Gather", pen.write("Shape", x), pen.const([axis]))
        times = [pen.write("Mul", whole, pen.const([n])) for n in (k, k + 1)]
        times[1] = pen.write("Add", times[1], pen.const([count - 1]))
        ends = [pen.write("Div", n, pen.const([count])) for n in times]
    return pen.write("Slice", x, *ends, pen.const([axis]))


# --- norms and activations ---------------------------------------------------------------------------------------------------


@says("batch_norm_fixed")
def _(pen: Pen) -> None:
    at, rank = pen.attrs["channel"], len(pen.types[0].shape)
    (count,) = known(pen, pen.types[0].shape[at : at + 1])
    rest, dtype = list(pen.names[3:]), pen.types[0].dtype
    scale = rest.pop(0) if pen.attrs["weighted"] else pen.const([1] * count, dtype)
    bias = rest.pop(0) if pen.attrs["shifted"] else pen.const([0] * count, dtype)
    epsilon = float(pen.attrs["epsilon"])
    perm = [0, at, *(k for k in range(1, rank) if k != at)]  # ONNX has channels behind the batch
    x = pen.names[0] if at == 1 else pen.write("Transpose", pen.names[0], perm=perm)
    to = 0 if at == 1 else None
    found = pen.write("BatchNormalization", x, scale, bias, pen.names[1], pen.names[2], to=to, epsilon=epsilon)
    if at != 1:
        pen.write("Transpose", found, to=0, perm=[perm.index(k) for k in range(rank)])


@says("layer_norm")
def _(pen: Pen) -> None:
    only_first(pen)
    axes = pen.const(list(range(-pen.attrs["dims"], 0)))
    _normed(pen, pen.names[0], axes, pen.attrs["centred"], lambda name: name)


@says("group_norm")
def _(pen: Pen) -> None:
    only_first(pen)
    rank = len(pen.types[0].shape)
    grouped = pen.write("Reshape", pen.names[0], pen.const([0, pen.attrs["groups"], -1]))
    turn = pen.const([1, -1, *[1] * (rank - 2)])
    found = _scaled(pen, grouped, pen.const([-1]), True)
    back = pen.write("Reshape", found, pen.write("Shape", pen.names[0]))
    _affine(pen, back, lambda name: pen.write("Reshape", name, turn))


def _scaled(pen: Pen, x: str, axes: str, centred: bool) -> str:
    less = pen.write("Sub", x, pen.write("ReduceMean", x, axes, keepdims=1)) if centred else x
    variance = pen.write("ReduceMean", pen.write("Mul", less, less), axes, keepdims=1)
    raised = pen.write("Add", variance, pen.const(pen.attrs["epsilon"], pen.types[0].dtype))
    return pen.write("Div", less, pen.write("Sqrt", raised))


def _normed(pen: Pen, x: str, axes: str, centred: bool, shaped: Any) -> None:
    _affine(pen, _scaled(pen, x, axes, centred), shaped)


def _affine(pen: Pen, found: str, shaped: Any) -> None:
    rest = [shaped(name) for name in pen.names[1:]]
    if pen.attrs["weighted"]:
        found = pen.write("Mul", found, rest.pop(0))
    if pen.attrs["shifted"]:
        found = pen.write("Add", found, rest.pop(0))
    pen.write("Identity", found, to=0)


@says("gelu")
def _(pen: Pen) -> None:
    x, dtype = pen.names[0], pen.types[0].dtype
    if pen.attrs["approximate"]:
        cube = pen.write("Mul", pen.write("Mul", pen.write("Mul", x, x), x), pen.const(0.044715, dtype))
        inner = pen.write("Mul", pen.write("Add", x, cube), pen.const(math.sqrt(2 / math.pi), dtype))
        bent = pen.write("Tanh", inner)
    else:
        bent = pen.write("Erf", pen.write("Mul", x, pen.const(math.sqrt(0.5), dtype)))
    half = pen.write("Mul", x, pen.const(0.5, dtype))
    pen.write("Mul", half, pen.write("Add", bent, pen.const(1, dtype)), to=0)


_NAMED = {
    "leaky_relu": ("LeakyRelu", {"alpha": "negative_slope"}),
    "elu": ("Elu", {"alpha": "alpha"}),
    "hardsigmoid": ("HardSigmoid", {"alpha": "slope", "beta": "offset"}),
}


@says(" ".join(_NAMED))
def _(pen: Pen) -> None:
    kind, names = _NAMED[pen.node.op]
    pen.write(kind, pen.names[0], to=0, **{theirs: float(pen.attrs[ours]) for theirs, ours in names.items()})


@says("selu")
def _(pen: Pen) -> None:
    pen.write("Selu", pen.names[0], to=0, alpha=float(pen.attrs["alpha"]), gamma=float(pen.attrs["scale"]))


@says("clip hardtanh")
def _(pen: Pen) -> None:
    low, high, dtype, held = pen.attrs["min"], pen.attrs["max"], pen.types[0].dtype, pen.names[0]
    if low is not None:
        held = pen.write("Max", held, pen.const(low, dtype))
    if high is not None:
        held = pen.write("Min", held, pen.const(high, dtype))
    pen.write("Identity", held, to=0)
