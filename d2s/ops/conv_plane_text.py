"""The kernel text of convolutions with one filter of 3x3 per channel that moves by one place or two; and of transposes.

Planes are read where they lie, row by row: a few vectors of results, of one plane or of several small ones, go down side by
side (`codegen/plane_tiles.py`). So are gradients of filters summed, where a row of a plane is one vector and strides are 1.
The bits are those of `conv_depth_text`, which does all other filters.

In: nothing. Out: whether a convolution is done so, its functions and their call; how work is shared says `conv_depth_text`.

>>> fits((3, 3), (2, 2), (1, 1)), fits((3, 3), (1, 2), (1, 1)), call(False, False).startswith("planes_met(lo, hi, r[o[0]]")
(True, False, True)
"""

from d2s.ops import conv_depth_text
from d2s.ops.conv_text import NAMES, followed
from d2s.types import Shape

_GIVEN = "source, weights, biases, result, transposed"
_TEXT = """\
@native
def items_met(items, transposed, nothing, seen, i_h, i_w, o_h, o_w, s_h, p_h, p_w):
    alike = i64(items)[2] == i64(items)[WORDS * ITEMS - WORDS + 2]
    way, above = -1 if transposed else 1, o_h - 1 + p_h if transposed else -p_h
    if s_h == 1 and alike and 2 * o_w <= LANES:
        strips_met_narrow(items, o_h, above, i_h, i_w, way, way * o_w, nothing, seen)
    elif s_h == 1 and alike:
        strips_met_alike(items, o_h, above, i_h, i_w, way, way * o_w, nothing, seen)
    elif s_h == 1:
        strips_met(items, o_h, above, i_h, i_w, way, way * o_w, nothing, seen)
    elif transposed:
        strips_spread_by_2(items, o_h, p_h, p_w, i_h, i_w, o_w, nothing - SIZE * (p_w // 2), seen)
    elif alike:
        strips_met_by_2_alike(items, o_h, above, i_h, i_w, o_w, nothing)
    else:
        strips_met_by_2(items, o_h, above, i_h, i_w, o_w, nothing)


@native
def planes_met(lo, hi, ALL):
    line, items, numbers = local_floats(96), local_floats(96), local_floats(8)
    nothing, seen, no_addend = line + SIZE * 16, numbers, numbers + 8
    for k in range(96):
        floats(line)[k] = T(0)
    floats(no_addend)[0] = T(-0.0)
    wide = 2 * LANES if transposed and s_h == 2 else LANES
    across = (o_w + wide - 1) // wide
    backwards = transposed and s_h == 1
    o_0, o_1, o_2 = 0, -1 if backwards else 1, -2 if backwards else 2
    if transposed and not backwards:
        o_0, o_1, o_2 = (p_w + 1) // 2, p_w // 2, (p_w + 1) // 2 - 1
    for k in range(ITEMS):
        i64(items + 8 * WORDS * k)[5] = 0
    first_row, to_row = -p_h, 0
    if backwards:
        first_row, to_row = o_h - 1 + p_h, o_h - 1
    elif transposed:
        first_row = 0
    group, image, column, left = lo // max_of(N, 1), lo % max_of(N, 1), 0, (hi - lo) * across
    while left > 0:
        i64(seen)[0], first = 0, group * N + image
        for k in range(ITEMS):
            reads = column + p_w if backwards else column // 2 if transposed else column * s_h - p_w
            item, plane = i64(items + 8 * WORDS * k), image * G + group
            item[0] = source + SIZE * ((plane * i_h + first_row) * i_w + reads)
            item[1] = result + SIZE * ((plane * o_h + to_row) * o_w + column)
            item[2] = weights + SIZE * 9 * group
            item[3] = biases + SIZE * group if biases != 0 else no_addend
            if item[5] != o_w - column:
                item[4], item[5] = reads, o_w - column
                if s_h == 2 and not transposed:
                    strips_masked(items + 8 * WORDS * k, i_w, 0, LANES, 2, LANES + 2)
                else:
                    strips_masked(items + 8 * WORDS * k, i_w, o_0, o_1, o_2, 0)
            left -= 1
            if left > 0:
                column += wide
                if column >= o_w:
                    column, image = 0, image + 1
                if image >= N:
                    image, group = 0, group + 1
        items_met(items, transposed, nothing, seen, i_h, i_w, o_h, o_w, s_h, p_h, p_w)
        if transposed and i64(seen)[0] != 0:
            for at in range(first, group * N + image + 1):
                if not finite(weights + SIZE * 9 * (at // N), 9):
                    planes_convolved_plainly(at % N * G + at // N, at % N * G + at // N + 1, ALL)


"""
_SUMMED = """\
@native
def planes_summed(lo, hi, ALL):
    if o_w > 2 * SPREAD or o_h < 2:
        filters_summed(lo, hi, ALL)
        return
    line, in_image, in_result = local_floats(64), i_h * i_w, o_h * o_w
    for k in range(64):
        floats(line)[k] = T(0)
    for group in range(lo, hi):
        x, g = source + SIZE * (group * in_image - p_h * i_w - p_w), cotangent + SIZE * group * in_result
        to = result + SIZE * 9 * group
        if o_w > SPREAD:
            taps_summed_2(N, G * in_image, G * in_result, o_h, -p_h, x, g, i_h, i_w, -p_w, o_w, line, to)
        else:
            taps_summed(N, G * in_image, G * in_result, o_h, -p_h, x, g, i_h, i_w, -p_w, o_w, line, to)


"""
ABOVE = conv_depth_text.ABOVE + _TEXT.replace("ALL", f"{_GIVEN}, {', '.join(NAMES)}")
FOLLOWED = followed(
    "planes_met",
    "",
    "for piece in range(lo, hi):\n    follow(r, o, piece % N * G + piece // N, 1, 0, o_h * o_w)\n",
)
_OF_WEIGHT = f"source, cotangent, result, transposed, {', '.join(NAMES)}"
WEIGHT_ABOVE = conv_depth_text.WEIGHT_ABOVE + _SUMMED.replace("ALL", _OF_WEIGHT)
WEIGHT_CALL = conv_depth_text.WEIGHT_CALL.replace("filters_summed(", "planes_summed(")


def fits(kernel: Shape, stride: Shape, dilation: Shape) -> bool:
    return tuple(kernel) == (3, 3) and tuple(stride) in ((1, 1), (2, 2)) and tuple(dilation) == (1, 1)


def call(transposed: bool, bias: bool) -> str:
    """The kernel behind its registers."""
    return conv_depth_text.call(transposed, bias).replace("planes_convolved(", "planes_met(")
