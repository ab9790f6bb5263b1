"""Paddle's words for values put around a tensor.

In: a pen at a node. Out: Paddle's ops.

>>> from d2s.export.paddle_pen import SPELLED
>>> SPELLED["pad_own"].dtypes
'i32 i64 f32 f64'
"""

from collections.abc import Sequence

from d2s.export.paddle_pen import Pen, refuse, spells
from d2s.types import Type

_NUMBERS = "i32 i64 f32 f64"


@spells("pad_with", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    value = pen.writer.constants.get(pen.node.inputs[1])
    pairs = [n for pair in zip(pen.attrs["lows"], pen.attrs["highs"], strict=True) for n in pair]
    if value is None:
        refuse("pad_with by a value that only a run knows")
    if not any(pairs):
        pen.copy(pen.names[0])
        return
    rank = len(pen.types[0].shape)
    if rank <= 5 and not any(pairs[: 2 * (rank - 3)] if rank > 3 else ()):
        _spatial(pen, pairs, "constant", float(value))
    else:  # from which paddle.inference does not come back, or with other values, where an extent is open
        pen.write("pad", {"X": pen.names[0]}, {"paddings": pairs, "pad_value": float(value)})


@spells("pad_own", _NUMBERS, narrow=True)
def _(pen: Pen) -> None:
    (x,), lows, highs = pen.types, pen.attrs["lows"], pen.attrs["highs"]
    pairs = [n for pair in zip(lows, highs, strict=True) for n in pair]
    rank = len(x.shape)
    around = max(0, rank - 3)
    if not any(pairs):
        pen.copy(pen.names[0])
    elif 3 <= rank <= 5 and not any(pairs[:4]):
        _spatial(pen, pairs, pen.attrs["mode"], 0.0)
    elif any(pairs[: 2 * around]):
        refuse("pad_own of more than the last three axes")
    else:
        inner = [d if isinstance(d, int) else refuse(f"pad_own of an axis of {d} values") for d in x.shape[around:]]
        _as_one_volume(pen, inner, pairs[2 * around :])


def _paddings(pairs: Sequence[int]) -> list[int]:
    """The last axis first."""
    return [n for k in (2, 1, 0) for n in pairs[2 * k : 2 * k + 2]]


def _spatial(pen: Pen, pairs: Sequence[int], mode: str, value: float) -> None:
    """Lines and images as volumes of one layer, which have an op of their own: the first that is padded comes behind two."""
    x, out = pen.types[0], pen.outputs[0]
    at = min(2, next(k for k in range(len(x.shape)) if any(pairs[2 * k : 2 * k + 2])))
    missing = list(range(at, at + 5 - len(x.shape)))
    whole = [*pairs[: 2 * at], *[0, 0] * len(missing), *pairs[2 * at :]]
    attrs = {
        "paddings": _paddings(whole[4:]),
        "mode": mode,
        "value": value,
        "data_format": "NCDHW",
    }
    if not missing:
        pen.write("pad3d", {"X": pen.names[0]}, attrs)
        return
    layers = (1,) * len(missing)
    deep, wide = (Type(x.dtype, (*of.shape[:at], *layers, *of.shape[at:])) for of in (x, out))
    volumes = pen.write(
        "unsqueeze2", {"X": pen.names[0]}, {"axes": missing}, deep, also={"XShape": Type(x.dtype, (0, *x.shape))}
    )
    padded = pen.write("pad3d", {"X": volumes}, attrs, wide)
    pen.write("squeeze2", {"X": padded}, {"axes": missing}, also={"XShape": Type(x.dtype, (0, *wide.shape))})


def _as_one_volume(pen: Pen, inner: Sequence[int], pairs: Sequence[int]) -> None:
    """All that is before the last axes as channels."""
    x, missing = pen.types[0], 3 - len(inner)
    extents, widths = [1] * missing + list(inner), [0] * (2 * missing) + list(pairs)
    also = {"XShape": Type(x.dtype, (0, *x.shape))}
    held = pen.write("reshape2", {"X": pen.names[0]}, {"shape": [1, -1, *extents]}, Type(x.dtype, (1, "", *extents)), also=also)
    attrs = {"paddings": _paddings(widths), "mode": pen.attrs["mode"], "value": 0.0, "data_format": "NCDHW"}
    out = [d + widths[2 * k] + widths[2 * k + 1] for k, d in enumerate(extents)]
    padded = pen.write("pad3d", {"X": held}, attrs, Type(x.dtype, (1, "", *out)))
    dims = [d if isinstance(d, int) else -1 for d in pen.outputs[0].shape]
    pen.write("reshape2", {"X": padded}, {"shape": dims}, also={"XShape": Type(x.dtype, (0, 1, "", *out))})
