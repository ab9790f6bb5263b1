"""What Paddle's ops mean whose results have other extents: axes resized, and what a run finds.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "where_index" in READ
True
"""

import re
from typing import Any

from d2s import types
from d2s.export.paddle_words import Reading, reads
from d2s.ops import OPS
from d2s.ops.arrange import moveaxis
from d2s.ops.join import stack
from d2s.ops.resize import SCALED, resized

MOST = 1 << 24  # of an extent

# --- an axis resized --------------------------------------------------------------------------------------------------------


_MODES = {"nearest": "nearest", "linear": "linear", "bilinear": "linear", "trilinear": "linear", "bicubic": "cubic"}


@reads(" ".join(f"{mode}_interp{version}" for mode in _MODES for version in ("", "_v2")))
def _(r: Reading) -> Any:
    """Axis by axis; of `scale` the first version took the extents only, and not where values lie."""
    r.only("X", "OutSize", "SizeTensor", "Scale")
    x, last, mode = r.x(), r.channels_last("data_layout"), _MODES[r.op.type.partition("_")[0]]
    x = moveaxis(x, -1, 1) if last else x
    count, corners, aligned = len(r.shape(x)) - 2, r.take("align_corners", True), r.take("align_mode", 1)
    inside = {"nearest": "whole", "cubic": "halves", "linear": "whole" if aligned else "halves"}[mode]
    for k, (size, scale) in enumerate(_sizes(r, r.shape(x)[2:], count)):
        kept = scale if r.op.type.endswith("_v2") else 0.0
        if size == r.shape(x)[k + 2]:
            continue
        x = resized(x, axis=k + 2, size=size, mode=mode, places="corners" if corners else inside, scale=kept)
    return moveaxis(x, 1, -1) if last else x


def _sizes(r: Reading, have: Any, count: int) -> list[tuple[Any, float]]:
    """The new extent of each axis, and how many times the old one it is; 0 where that is not said."""
    one = r.has("Scale") or isinstance(r.op.attrs.get("scale"), float)
    scales = [float(r.number(r.x("Scale"))) if r.has("Scale") else r.take("scale", 0.0)] if one else r.take("scale", [0.0])
    scales = [s if s > 0 else 0.0 for s in scales * (count if len(scales) == 1 else 1)] or [0.0] * count
    named = [r.take(f"out_{letter}", -1) for letter in "dhw"][-count:]
    sizes = r.wanted("", "OutSize", "SizeTensor") if r.has("OutSize") or r.has("SizeTensor") else []
    if len(scales) != count or (sizes and len(sizes) != count):
        r.fail(f"of {count} axes with scales {scales} and sizes {sizes}")
    if not sizes and all(scales):
        sizes = [int(d * s) if isinstance(d, int) else SCALED for d, s in zip(have, scales, strict=True)]
    else:
        scales, sizes = [0.0] * count, sizes or named
    if not all(d == n or (isinstance(d, int) and (0 < d < MOST or d == SCALED)) for d, n in zip(sizes, have, strict=True)):
        r.fail(f"to the extents {list(sizes)}")
    return list(zip(sizes, scales, strict=True))


# --- extents that a run finds ------------------------------------------------------------------------------------------------


def found_by(r: Reading) -> tuple[str]:
    """A name for the extent that an op finds: that of what it writes, which a file has once."""
    return (re.sub(r"\W", "_", f"m_{r.op.out}", flags=re.ASCII),)


@reads("where_index")
def _(r: Reading) -> Any:
    mask = r.x("Condition")
    mask, shape = OPS["cast"](mask, types.bool_), r.shape(mask)
    if not shape or not all(isinstance(d, int) for d in shape[1:]):
        r.fail(f"of {r.type(mask)}")
    row = OPS["reshape"](mask, [-1]) if len(shape) > 1 else mask
    places, columns = OPS["places_where"](row, OPS["sum"](row, None, types.int64, False), found_by(r)), []
    for extent in (*shape[:0:-1], None):
        size = None if extent is None else r.constant(int(extent), types.int64)
        columns.append(places if size is None else OPS["remainder"](places, size))
        places = places if size is None else OPS["floor_divide"](places, size)
    return stack(columns[::-1], 1)
