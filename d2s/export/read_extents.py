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
from d2s.ops.open_shapes import Asked
from d2s.ops.resize import SCALED, resized, resized_to
from d2s.ops.slicing import select

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
        kept, places = scale if r.op.type.endswith("_v2") else 0.0, "corners" if corners else inside
        if isinstance(size, Asked):
            x = resized_to(x, size.count, k + 2, mode, places, (size.dim,))
        elif size != r.shape(x)[k + 2]:
            x = resized(x, axis=k + 2, size=size, mode=mode, places=places, scale=kept)
    return moveaxis(x, 1, -1) if last else x


def _sizes(r: Reading, have: Any, count: int) -> list[tuple[Any, float]]:
    """The new extent of each axis, and how many times the old one it is; 0 where that is not said."""
    one = r.has("Scale") or isinstance(r.op.attrs.get("scale"), float)
    scales = [float(r.number(r.x("Scale"))) if r.has("Scale") else r.take("scale", 0.0)] if one else r.take("scale", [0.0])
    scales = [s if s > 0 else 0.0 for s in scales * (count if len(scales) == 1 else 1)] or [0.0] * count
    named = [r.take(f"out_{letter}", -1) for letter in "dhw"][-count:]
    sizes = _wanted(r, have)
    if len(scales) != count or (sizes and len(sizes) != count):
        r.fail(f"of {count} axes with scales {scales} and sizes {sizes}")
    if not sizes and all(scales):
        sizes = [int(d * s) if isinstance(d, int) else SCALED for d, s in zip(have, scales, strict=True)]
    else:
        scales, sizes = [0.0] * count, sizes or named
    for d, n in zip(sizes, have, strict=True):
        if d != n and not isinstance(d, Asked) and not (isinstance(d, int) and (0 < d < MOST or d == SCALED)):
            r.fail(f"to the extents {list(sizes)}")
    return list(zip(sizes, scales, strict=True))


def _wanted(r: Reading, have: Any) -> list[Any]:
    """A size that stands in a tensor, or in several; of some only a run knows what is in them."""
    found: list[Any] = []
    for k, symbol in enumerate([r.x("OutSize")] if r.has("OutSize") else r.many("SizeTensor") if r.has("SizeTensor") else []):
        found += _counted(r, symbol, k) if r.open(symbol) else r.dims([symbol])
    if len(found) == len(have):
        found = [_of_another(r, d) if isinstance(d, str) and d != n else d for d, n in zip(found, have, strict=True)]
    return found


def _counted(r: Reading, symbol: Any, k: int) -> list[Asked]:
    """The extents that numbers turn out to be."""
    (count,) = r.shape(symbol) or (1,)
    if not isinstance(count, int):
        r.fail("to sizes of which only a run knows how many they are")
    row, (name,) = OPS["reshape"](OPS["cast"](symbol, types.int64), [count]), found_by(r)
    each = [OPS["as_extent"](select(row, 0, n), "interpolate", 1) for n in range(count)]
    return [Asked(f"{name}_{k}_{n}", one) for n, one in enumerate(each)]


def _of_another(r: Reading, name: str) -> Asked:
    """An extent that another variable has."""
    like = r.like([name], types.bool_)
    return Asked(name, OPS["cast"](OPS["extent"](like, 0), types.int64))


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
