"""The kernel text of the gradient of pools of maxima whose windows are 2 or 3 wide and move by 2: see `codegen/pool_tiles.py`.

The bits are those of `pool_text`, which does all other pools, and very wide planes.

In: the width of windows. Out: the functions behind those of `pool_text`, and the call of the last.

>>> fits("max_spread", 3, 2), fits("max_spread", 3, 1), "maxima_spread_3(" in above(3)
(True, False, True)
"""

from d2s.ops import pool_text

_STRIPS = 16  # at most, of a row
_TEXT = """\
@native
def maxima_spread(lo, hi, g, x, into, adaptive, exclusive, EXTENTS):
    across = (o_w + LANES - 1) // LANES
    if i_d != 1 or o_d != 1 or p_d != 0 or across > STRIPS:
        max_spread(lo, hi, g, x, into, adaptive, exclusive, EXTENTS)
        return
    strips = local_floats(FLOATS)
    for k in range(across):
        strip = i64(strips + 8 * WORDS * k)
        strip[4], strip[5] = 2 * k * LANES - p_w, o_w - k * LANES
        strips_masked(strips + 8 * WORDS * k, i_w, 0, LANES, 2, LANES + 2)
    for piece in range(lo, hi):
        plane, results = piece * i_h * i_w * SIZE, piece * o_h * o_w * SIZE
        for k in range(i_h * i_w):
            floats(into + plane)[k] = T(0)
        maxima_spread_WIDE(strips, across, x + plane, g + results, into + plane, i_h, i_w, o_w, o_h, k_h, s_h, p_h)


"""


def fits(name: str, width: int, stride: int) -> bool:
    return name == "max_spread" and width in (2, 3) and stride == 2


def above(width: int) -> str:
    """The function that is called."""
    text = _TEXT.replace("EXTENTS", ", ".join(pool_text.NAMES)).replace("WIDE", str(width))
    return text.replace("STRIPS", str(_STRIPS)).replace("FLOATS", str(24 * _STRIPS))


def call(adaptive: bool, exclusive: bool) -> str:
    """The kernel behind its registers."""
    return pool_text.call("max_spread", 3, adaptive, exclusive).replace("max_spread(", "maxima_spread(")
