"""The kernel text of convolutions with filters of 3x3 and many channels, and of their transposes: Winograd's F(2x2, 3x3).

Each tile of 2 x 2 results is made of 16 sums over the channels instead of 4 over (channel, taps): 2.25 times fewer products.
What is added before and behind costs some rounding: results are within 3 times the error that sums of products have. Each of
the 16 is one chain of fmas over the channels in ascending order, whatever else is done at the same time.

A piece of work is one group, some channels of the result, and TILES tiles side by side, of one image or of many. Filters are
turned when the first piece of a chunk meets them. Where a result of a piece is not finite, its tile may have met numbers that
it has nothing to do with: the piece is done again with the sums of `conv_text`.

In: extents and attributes of a convolution. Out: whether it is done so; the functions, their call, how work is shared.

>>> fits("f32", (3, 3), (1, 1), (1, 1), (64, 64)), fits("f64", (3, 3), (1, 1), (1, 1), (64, 64))
(True, False)
"""

import textwrap

from d2s.ops import conv_text
from d2s.ops.conv_winograd_again_text import AGAIN, ALONE
from d2s.types import Shape

TILES = "64"  # of a piece: whole vectors of every host
_AT_ONCE = "48"  # channels of the result, where there are many of the source
LEAST = 32  # channels, of source and of result

BLOCKS = '''\
@native
def has_tiles(n, o_h, o_w):
    """Whether there are so many tiles that turning the filters pays."""
    return n * ((o_h + 1) // 2) * ((o_w + 1) // 2) >= 48


@native
def blocks_of(n, o_h, o_w):
    return (n * ((o_h + 1) // 2) * ((o_w + 1) // 2) + TILES - 1) // TILES


'''

_SHARED = '''\
@native
def blocks_together(blocks):
    """Pieces that share the filters they turn."""
    return max_of(min_of(2, blocks), max_of(min_of(4, blocks // 4), blocks // 16))


@native
def filters_apart(blocks, channels):
    """Into how many parts the channels of the result go, so that there are some chunks."""
    parts, chunks = 1, (blocks + blocks_together(blocks) - 1) // blocks_together(blocks)
    while chunks * parts < 4 and channels >= 256 * (parts + 1):
        parts += 1
    return parts


@native
def tiled_pieces(n, groups, channels, o_d, o_h, o_w):
    blocks = blocks_of(n, o_h, o_w)
    if not has_tiles(n, o_h, o_w):
        return pieces(n, groups, channels, o_d * o_h * o_w)
    return blocks * groups * filters_apart(blocks * groups, channels)


@native
def tiled_grain(n, groups, o_h, o_w):
    return blocks_together(blocks_of(n, o_h, o_w) * groups) if has_tiles(n, o_h, o_w) else 1


'''

WINDOWS = '''\
@native
def runs_listed(runs, first, count, rows, columns):
    """Tiles as runs of at most LANES in a row: which of them is the first, image, row and column of its results, how many."""
    found, done = 0, 0
    while done < count:
        column, row = (first + done) % columns, (first + done) // columns
        some = min_of(min_of(LANES, columns - column), count - done)
        run = i64(runs + 64 * found)
        run[0], run[1], run[2], run[3], run[4] = done, row // rows, row % rows * 2, column * 2, some
        done += some
        found += 1
    return found


@native
def windows_laid(to, source, runs, count, channels, image, i_h, i_w, from_h, from_w):
    for s in range(channels):
        for k in range(count):
            run = i64(runs + 64 * k)
            h, w = run[2] + from_h, run[3] + from_w
            read = source + SIZE * (run[1] * image + s * i_h * i_w + h * i_w + w)
            at = to + SIZE * (s * TILES + run[0])
            windows_turned(at, (channels + 1) * TILES, read, i_w, -h, i_h - h, -w, i_w - w)


@native
def window_line(at, step):
    a, b, c, d = floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step]
    floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step] = a - c, b + c, c - b, b - d


'''

_LAID = '''\
@native
def filters_laid(to, pitch, rows, weights, channels, transposed, each, a_row, a_channel):
    """The filters of some channels of the result: in a transpose those of a channel of the source stand together."""
    if transposed:
        for s in range(channels):
            for i in range(0, rows, LANES):
                filters_turned(to + SIZE * (s * each + i), pitch, weights + SIZE * (s * a_channel + 9 * i), rows - i, 1)
    else:
        for i in range(rows):
            for s in range(0, channels, LANES):
                filters_turned(to + SIZE * (i * channels + s), pitch, weights + SIZE * (i * a_row + 9 * s), channels - s, 0)


@native
def tiles_met(rows, count, table, a, a_pitch, a_rows, b, sums, pitch, c_rows, vectors):
    """All 16 products of some channels."""
    for t in range(16):
        for i in range(0, rows, 6):
            for j in range(0, TILES, WIDTH):
                read, to = b + SIZE * (t * (count + 1) * TILES + j), sums + SIZE * (t * pitch + i * TILES + j)
                filters = a + SIZE * t * a_pitch
                tile_met(rows - i, count, table, filters, a_rows + 8 * i, read, vectors, to, c_rows, vectors, 0, 0)


@native
def results_laid(to, sums, pitch, runs, count, image, o_h, o_w, addend, seen):
    for k in range(count):
        run = i64(runs + 64 * k)
        at = to + SIZE * (run[1] * image + run[2] * o_w + run[3])
        columns = min_of(2 * run[4], o_w - run[3])
        results_turned(at, o_w, sums + SIZE * run[0], pitch, o_h - run[2], columns, addend, seen)


'''

_GIVEN = "transposed, channels, a_channel, image, to_image, i_h, i_w, o_h, o_w, from_h, from_w"
_RESULTS = "to, runs_at, runs, to_image, o_h, o_w"

_SIZES = """\
rows_of, columns_of = (o_h + 1) // 2, (o_w + 1) // 2
tiles, blocks = N * rows_of * columns_of, blocks_of(N, o_h, o_w)
cuts = filters_apart(blocks * G, D)
each = ((D + cuts - 1) // cuts + 5) // 6 * 6
channels, image, to_image = S, G * S * i_h * i_w, G * D * o_h * o_w
a_row = 9 if transposed else S * 9
a_channel = D * 9 if transposed else 9
from_h, from_w = p_h - 2 if transposed else -p_h, p_w - 2 if transposed else -p_w
"""

_PIECE = """\
block, group, row_0 = piece % blocks, piece // blocks % G, piece // blocks // G * each
rows = min_of(each, D - row_0)
a = weights + SIZE * (group * D * S * 9 + row_0 * a_row)
read = source + SIZE * group * S * i_h * i_w
to = result + SIZE * (group * D + row_0) * o_h * o_w
bias = biases + SIZE * (group * D + row_0) if biases != 0 else 0
"""

_BODY = """\
if not has_tiles(N, o_h, o_w):
    convolved(lo, hi, ALL)
    return
at_once = AT_ONCE if S > 128 else 6
lines, a_pitch, pitch = S * 9, each * S + 16, (at_once + 1) * TILES
ints = 2 * S + 2 * lines + 3 * (each + 6) + 8 * (TILES + 4)
memory = new_memory(8 * ints + SIZE * (16 * a_pitch + (16 * (S + 1) + 16 * (at_once + 1) + lines + 12) * TILES))
if memory == 0:
    tiled_plainly(lo, hi, ALL)
    return
table_at = memory
lines_at = table_at + 16 * S
a_rows_at = lines_at + 16 * lines
line_rows_at = a_rows_at + 8 * (each + 6)
c_rows_at = line_rows_at + 8 * (each + 6)
vectors_at = c_rows_at + 8 * (each + 6)
nothing_at = vectors_at + 64
odd_at = nothing_at + 64
runs_at = odd_at + 64
filters = (runs_at + 64 * TILES + 63) // 64 * 64
windows = filters + SIZE * 16 * a_pitch
sums = windows + SIZE * 16 * (S + 1) * TILES
panel = sums + SIZE * 16 * pitch
scratch = panel + SIZE * (lines + 1) * TILES
seen = scratch + SIZE * 6 * TILES
table, of_lines, a_rows, line_rows = i64(table_at), i64(lines_at), i64(a_rows_at), i64(line_rows_at)
floats(nothing_at)[0] = T(-0.0)
for s in range(S):
    table[2 * s], table[2 * s + 1] = s * each if transposed else s, s * TILES
    for k in range(9):
        of_lines[18 * s + 2 * k], of_lines[18 * s + 2 * k + 1] = s * a_channel + k, (9 * s + k) * TILES
for v in range(VECTORS):
    i64(vectors_at)[v] = v * LANES
held = -1
for piece in range(lo, hi):
PIECE
    if held != piece // blocks:
        held = piece // blocks
        filters_laid(filters, a_pitch, rows, a, S, transposed, each, a_row, a_channel)
        for i in range(rows + 5):
            at = min_of(i, rows - 1)
            a_rows[i] = at if transposed else at * S
            line_rows[i] = at * a_row
            i64(c_rows_at)[i] = i * TILES
    runs = runs_listed(runs_at, block * TILES, min_of(TILES, tiles - block * TILES), rows_of, columns_of)
    windows_laid(windows, read, runs_at, runs, S, image, i_h, i_w, from_h, from_w)
    for l in range(LANES):
        floats(seen)[l] = T(0)
    for row in range(0, rows, at_once):
        some = min_of(at_once, rows - row)
        tiles_met(some, S, table_at, filters, a_pitch, a_rows_at + 8 * row, windows, sums, pitch, c_rows_at, vectors_at)
        for i in range(some):
            addend = bias + SIZE * (row + i) if biases != 0 else nothing_at
            at = to + SIZE * (row + i) * o_h * o_w
            results_laid(at, sums + SIZE * i * TILES, pitch, runs_at, runs, to_image, o_h, o_w, addend, seen)
    if nans(seen, 1, 0, LANES, odd_at) > 0:
        plain = transposed and not finite(weights + SIZE * group * D * S * 9, D * S * 9)
        for corner in range(0 if plain else 4):
            corner_filled(panel, corner, read, runs_at, runs, transposed, S, image, i_h, i_w, from_h, from_w)
            corner_summed(corner, rows, lines, lines_at, a, line_rows_at, panel, vectors_at, scratch, c_rows_at, bias, LAID)
        for i in range(rows if plain else 0):
            for k in range(runs):
                addend, at = bias + SIZE * i if biases != 0 else 0, to + SIZE * i * o_h * o_w
                tiles_summed(read, a + SIZE * i * a_row, addend, at, runs_at + 64 * k, GIVEN)
free_memory(memory)
"""

_PLAIN = """\
if not has_tiles(N, o_h, o_w):
    convolved_plainly(lo, hi, ALL)
    return
run = local_floats(16)
for piece in range(lo, hi):
PIECE
    ways = 2
    while ways > 0:
        finite_all = 1
        for tile in range(block * TILES, min_of(block * TILES + TILES, tiles)):
            runs_listed(run, tile, 1, rows_of, columns_of)
            for i in range(rows):
                addend, at = bias + SIZE * i if biases != 0 else 0, to + SIZE * i * o_h * o_w
                if ways == 2:
                    finite_all = min_of(finite_all, tile_turned(read, a + SIZE * i * a_row, addend, at, run, GIVEN))
                else:
                    tiles_summed(read, a + SIZE * i * a_row, addend, at, run, GIVEN)
        ways = 0 if finite_all else ways - 1
"""


_FOLLOWED = """\
if not has_tiles(N, o_h, o_w):
    convolved_followed(lo, hi, r, o, transposed, NAMES)
    return
runs_at = local_floats(RUNS)
for piece in range(lo, hi):
    block, group, row_0 = piece % blocks, piece // blocks % G, piece // blocks // G * each
    runs = runs_listed(runs_at, block * TILES, min_of(TILES, tiles - block * TILES), rows_of, columns_of)
    image_at, begin, end = 0, 0, 0
    for k in range(2 * runs):
        run = i64(runs_at + 64 * (k // 2))
        at = (run[2] + k % 2) * o_w + run[3]
        if run[2] + k % 2 < o_h:
            if run[1] != image_at or at != end:
                if end > begin:
                    follow(r, o, (image_at * G + group) * D + row_0, min_of(each, D - row_0), begin, end - begin)
                image_at, begin = run[1], at
            end = at + min_of(2 * run[4], o_w - run[3])
    follow(r, o, (image_at * G + group) * D + row_0, min_of(each, D - row_0), begin, end - begin)
"""


def _followed() -> str:
    text = conv_text.followed("tiled", _SIZES, _FOLLOWED).replace("NAMES", ", ".join(conv_text.NAMES))
    return conv_text.FOLLOWED + text.replace("RUNS", str(16 * int(TILES))).replace("TILES", TILES)


def _above() -> str:
    text = BLOCKS + _SHARED + WINDOWS + _LAID + AGAIN + ALONE
    parameters = "source, weights, biases, result, transposed"
    bodies = [part.replace("PIECE", textwrap.indent(_PIECE, "    ")) for part in (_BODY, _PLAIN)]
    text += conv_text.functions("tiled", parameters, _SIZES, *bodies)
    text = text.replace("ALL", f"{parameters}, {', '.join(conv_text.NAMES)}").replace("GIVEN", _GIVEN).replace("LAID", _RESULTS)
    return conv_text.ABOVE + text.replace("TILES", TILES).replace("AT_ONCE", _AT_ONCE)


ABOVE, FOLLOWED = _above(), _followed()
PIECES, GRAIN = "tiled_pieces(n0, n1, n3, n7, n8, n9)", "tiled_grain(n0, n1, n8, n9)"


def fits(short: str, kernel: Shape, stride: Shape, dilation: Shape, channels: tuple[int, int]) -> bool:
    """Whether a convolution with many tiles is done so."""
    usual = tuple(kernel) == (3, 3) and {*stride, *dilation} == {1}
    return short == "f32" and usual and min(channels) >= LEAST


def call(transposed: bool, bias: bool) -> str:
    """The kernel behind its registers."""
    return conv_text.call(transposed, bias).replace("convolved(", "tiled(")
