"""The kernel text of the gradient of filters of 3x3 with many channels: Winograd's way of `conv_winograd_text` gone back.

Each of the 16 numbers of a turned filter gets one chain of fmas over all tiles, in ascending order; then filters are found of
them. A piece of work is one group and some channels of the result. Blocks of TILES tiles are turned one after the other, and
what they add stays in a buffer. Where a filter's gradient is not finite, a piece is done again by `conv_weight_text`.

In: extents and attributes of a convolution. Out: whether it is done so; the functions, their call, how work is shared.

>>> fits("f32", (3, 3), (1, 1), (1, 1), (64, 64)), fits("f32", (3, 3), (1, 1), (1, 1), (64, 32))
(True, False)
"""

from d2s.ops import conv_text, conv_weight_text, conv_winograd_text
from d2s.ops.conv_source_text import LOOKED
from d2s.types import Shape

_LEAST = 64  # channels of the result: of fewer there are not pieces enough

_TOGETHER = '''\
@native
def filters_together(groups, channels):
    """As many as there are two pieces of, at least, and no fewer than are met at a time where they are done again."""
    return 32 if groups == 1 and channels <= 64 else 64 if channels <= 128 else 128


@native
def tiled_weight_pieces(n, groups, rows, channels, o_h, o_w):
    each = filters_together(groups, channels)
    return groups * ((channels + each - 1) // each) if has_tiles(n, o_h, o_w) else weight_pieces(groups, rows, channels)


@native
def cotangents_laid(turned_at, to, to_pitch, wide, lying, pitch, runs, count, tiles, channels, image, o_h, o_w):
    """Those of some channels, tile by tile: first as lines of tiles, then turned."""
    for c in range(channels):
        for k in range(count):
            run = i64(runs + 64 * k)
            read = turned_at + SIZE * (run[1] * image + (c * o_h + run[2]) * o_w + run[3])
            columns = min_of(2 * run[4], o_w - run[3])
            cotangents_turned(lying + SIZE * (c * TILES + run[0]), pitch, read, o_w, o_h - run[2], columns)
    for t in range(16):
        for c in range(0, channels, LANES):
            for p in range(0, tiles, LANES):
                at, read = to + SIZE * (t * to_pitch + p * wide + c), lying + SIZE * (t * pitch + c * TILES + p)
                turn(at, wide, read, TILES, min_of(LANES, channels - c), min_of(LANES, tiles - p))


@native
def filters_added(rows, count, table, a, a_pitch, a_rows, b, b_pitch, width, c, c_pitch, c_rows, flat):
    """To the 16 sums of every filter what some tiles add."""
    for t in range(16):
        for j in range(0, width, WIDTH):
            vectors = min_of(VECTORS, (width - j + LANES - 1) // LANES)
            at, to = b + SIZE * (t * b_pitch + j), c + SIZE * (t * c_pitch + j)
            columns_met(rows, count, table, a + SIZE * t * a_pitch, a_rows, at, to, c_rows, flat, vectors, 1)


@native
def cotangent_line(at, step):
    a, b = floats(at)[0], floats(at)[step]
    floats(at)[step], floats(at)[2 * step], floats(at)[3 * step] = a + b, a - b, -b


@native
def found_line(at, step):
    a, b, c, d = floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step]
    total, rest = T(0.5) * (b + c), T(0.5) * (b - c)
    floats(at)[0], floats(at)[step], floats(at)[2 * step] = a + total, rest, total + d


@native
def filter_found(source, cotangent, to, tiles, rows, columns, image, g_image, i_h, i_w, o_h, o_w, from_h, from_w):
    """One filter; 1 where it is finite."""
    window, turned_, sums, run = local_floats(16), local_floats(16), local_floats(16), local_floats(16)
    finite_all = 1
    for k in range(16):
        floats(sums)[k] = T(0)
    for tile in range(tiles):
        runs_listed(run, tile, 1, rows, columns)
        m, h, w = i64(run)[1], i64(run)[2], i64(run)[3]
        for k in range(16):
            y, x = h + from_h + k // 4, w + from_w + k % 4
            inside = y >= 0 and y < i_h and x >= 0 and x < i_w
            floats(window)[k] = floats(source)[m * image + y * i_w + x] if inside else T(0)
        for k in range(4):
            inside = h + k // 2 < o_h and w + k % 2 < o_w
            at = m * g_image + (h + k // 2) * o_w + w + k % 2
            floats(turned_)[k // 2 * 4 + k % 2] = floats(cotangent)[at] if inside else T(0)
        for k in range(4):
            window_line(window + SIZE * 4 * k, 1)
            if k < 2:
                cotangent_line(turned_ + SIZE * 4 * k, 1)
        for k in range(4):
            window_line(window + SIZE * k, 4)
            cotangent_line(turned_ + SIZE * k, 4)
        for k in range(16):
            floats(sums)[k] = fma(floats(window)[k], floats(turned_)[k], floats(sums)[k])
    for k in range(4):
        found_line(sums + SIZE * 4 * k, 1)
    for k in range(3):
        found_line(sums + SIZE * k, 4)
    for k in range(9):
        found = floats(sums)[k // 3 * 4 + k % 3]
        floats(to)[k] = found
        finite_all = finite_all if found - found == T(0) else 0
    return finite_all


'''

_SIZES = """\
rows_of, columns_of = (o_h + 1) // 2, (o_w + 1) // 2
tiles, blocks = N * rows_of * columns_of, blocks_of(N, o_h, o_w)
each = filters_together(G, D)
parts = (D + each - 1) // each
image, g_image = G * S * i_h * i_w, G * D * o_h * o_w
across, rows_each = channels_met(G, D), rows_together(S * 9, G, D)
o_cuts, row_cuts = (D + across - 1) // across, (S * 9 + rows_each - 1) // rows_each
"""

_PIECE = """\
group, d_0 = piece // parts, piece % parts * each
width = min_of(each, D - d_0)
read = source + SIZE * group * S * i_h * i_w
met = cotangent + SIZE * (group * D + d_0) * o_h * o_w
to = result + SIZE * (group * D + d_0) * S * 9
"""

_AGAIN = """\
if SPOILED:
    for o in range(d_0 // across, (d_0 + width + across - 1) // across):
        for cut in range(row_cuts):
            at = (group * row_cuts + cut) * o_cuts + o
            weights_summedPLAINLY(at, at + 1, ALL)
"""

_BODY = """\
if not has_tiles(N, o_h, o_w):
    weights_summed(lo, hi, ALL)
    return
a_pitch, pitch, z_pitch, c_pitch = (S + 1) * TILES, (each + 1) * TILES, TILES * each + 16, S * each + 16
ints = 2 * TILES + 2 * (S + HIGH) + 8 * (TILES + 4)
memory = new_memory(8 * ints + SIZE * (16 * (a_pitch + pitch + z_pitch + c_pitch) + 2 * TILES))
if memory == 0:
    filters_tiled_plainly(lo, hi, ALL)
    return
table_at = memory
a_rows_at = table_at + 16 * TILES
c_rows_at = a_rows_at + 8 * (S + HIGH)
flat_at = c_rows_at + 8 * (S + HIGH)
odd_at = flat_at + 64
runs_at = odd_at + 64
windows = (runs_at + 64 * TILES + 63) // 64 * 64
lying = windows + SIZE * 16 * a_pitch
turned_at = lying + SIZE * 16 * pitch
sums = turned_at + SIZE * 16 * z_pitch
seen = sums + SIZE * 16 * c_pitch
for k in range(TILES):
    i64(table_at)[2 * k], i64(table_at)[2 * k + 1] = k, k * each
for i in range(S + HIGH - 1):
    i64(a_rows_at)[i], i64(c_rows_at)[i] = min_of(i, S - 1) * TILES, min_of(i, S - 1) * each
for v in range(VECTORS):
    i64(flat_at)[v] = v * LANES
for k in range(16 * z_pitch):
    floats(turned_at)[k] = T(0)
for piece in range(lo, hi):
PIECE
    for k in range(16 * c_pitch):
        floats(sums)[k] = T(0)
    for block in range(blocks):
        some = min_of(TILES, tiles - block * TILES)
        runs = runs_listed(runs_at, block * TILES, some, rows_of, columns_of)
        windows_laid(windows, read, runs_at, runs, S, image, i_h, i_w, -p_h, -p_w)
        cotangents_laid(met, turned_at, z_pitch, each, lying, pitch, runs_at, runs, some, width, g_image, o_h, o_w)
        b, c = turned_at, sums
        filters_added(S, some, table_at, windows, a_pitch, a_rows_at, b, z_pitch, width, c, c_pitch, c_rows_at, flat_at)
    for l in range(LANES):
        floats(seen)[l] = T(0)
    for s in range(S):
        for c in range(0, width, LANES):
            filters_found(to + SIZE * (c * S + s) * 9, S * 9, sums + SIZE * (s * each + c), c_pitch, width - c, seen)
AGAIN
free_memory(memory)
"""

_PLAIN = """\
if not has_tiles(N, o_h, o_w):
    weights_summed_plainly(lo, hi, ALL)
    return
for piece in range(lo, hi):
PIECE
    finite_all = 1
    for c in range(width):
        for s in range(S):
            at, g = read + SIZE * s * i_h * i_w, met + SIZE * c * o_h * o_w
            found = to + SIZE * (c * S + s) * 9
            finite_all = min_of(
                finite_all,
                filter_found(at, g, found, tiles, rows_of, columns_of, image, g_image, i_h, i_w, o_h, o_w, -p_h, -p_w),
            )
AGAIN
"""


def _filled(body: str, spoiled: str, plainly: str) -> str:
    again = _AGAIN.replace("SPOILED", spoiled).replace("PLAINLY", plainly)
    indented = ("".join(f"    {line}\n" for line in part.splitlines()) for part in (_PIECE, again))
    return body.replace("PIECE\n", next(indented)).replace("AGAIN\n", next(indented))


def _above() -> str:
    parameters = "source, cotangent, result, transposed"
    bodies = _filled(_BODY, "nans(seen, 1, 0, LANES, odd_at) > 0", ""), _filled(_PLAIN, "not finite_all", "_plainly")
    text = LOOKED + conv_winograd_text.BLOCKS + conv_winograd_text.WINDOWS + _TOGETHER
    text += conv_text.functions("filters_tiled", parameters, _SIZES, *bodies)
    text = text.replace("ALL", f"{parameters}, {', '.join(conv_text.NAMES)}")
    return conv_weight_text.ABOVE + text.replace("TILES", conv_winograd_text.TILES)


ABOVE = _above()
CALL = conv_weight_text.CALL.replace("weights_summed(", "filters_tiled(")
PIECES = "tiled_weight_pieces(n0, n1, n2 * 9, n3, n8, n9)"


def fits(short: str, kernel: Shape, stride: Shape, dilation: Shape, channels: tuple[int, int]) -> bool:
    """Whether the gradient of the filters of a convolution with many tiles is done so."""
    return conv_winograd_text.fits(short, kernel, stride, dilation, channels) and channels[1] >= _LEAST
