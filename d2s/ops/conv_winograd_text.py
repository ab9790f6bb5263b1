"""The kernel text of convolutions with filters of 3x3 and many channels, and of their transposes: Winograd's F(2x2, 3x3).

Each tile of 2 x 2 results is made of 16 sums over the channels instead of 4 over (channel, taps): 2.25 times fewer products.
What is added before and behind costs some rounding: results are within 3 times the error that sums of products have. Each of
the 16 is one chain of fmas over the channels in ascending order, whatever else is done at the same time.

A piece of work is one group, some channels of the result, and TILES tiles side by side, of one image or of many. Filters of
few channels are turned when the first piece of a chunk meets them; those of many are more than caches hold: of some channels
of the result at a time, just in front of their products with the windows of some pieces. Where a result of a piece is not
finite, its tile may have met numbers that it has nothing to do with: the piece is done again with the sums of `conv_text`.

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
_PART = "128"  # channels of the source whose windows stay in the nearest cache
_BESIDE = "4"  # pieces, at most, that share filters turned just in front of their products
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
    """The windows of runs, 16 lines of TILES numbers for each channel: of so many channels at a time as stay in the caches."""
    for s in range(0, channels, 8):
        for k in range(count):
            run = i64(runs + 64 * k)
            h, w = run[2] + from_h, run[3] + from_w
            read = source + SIZE * (run[1] * image + s * i_h * i_w + h * i_w + w)
            at, planes, pitch = to + SIZE * (s * TILES + run[0]), min_of(8, channels - s), (channels + 1) * TILES
            soon = i64(runs + 64 * min_of(k + 2, count - 1))
            ahead = (soon[1] - run[1]) * image + (soon[2] - run[2]) * i_w + soon[3] - run[3]
            if run[4] <= NARROW:
                windows_turned_narrow(at, pitch, read, i_w, -h, i_h - h, -w, i_w - w, run[4], planes, TILES, i_h * i_w, ahead)
            else:
                windows_turned(at, pitch, read, i_w, -h, i_h - h, -w, i_w - w, run[4], planes, TILES, i_h * i_w, ahead)


@native
def window_line(at, step):
    a, b, c, d = floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step]
    floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step] = a - c, b + c, c - b, b - d


'''

_LAID = '''\
@native
def filters_laid(to, pitch, rows, weights, channels, transposed, apart, a_row, a_channel):
    """The filters of some channels of the result: in a transpose, so many of a channel of the source stand together."""
    if transposed:
        for first in range(0, rows, apart):
            for s in range(channels):
                for i in range(first, min_of(first + apart, rows), LANES):
                    at = to + SIZE * ((first * channels + s * apart) + i - first)
                    filters_turned(at, pitch, weights + SIZE * (s * a_channel + 9 * i), rows - i, 1, 2 * a_channel)
    else:
        for i in range(rows):
            for s in range(0, channels, LANES):
                at = to + SIZE * (i * channels + s)
                filters_turned(at, pitch, weights + SIZE * (i * a_row + 9 * s), channels - s, 0, 576)


@native
def tiles_met(rows, count, table, a, a_pitch, a_rows, b, sums, pitch, c_rows, vectors):
    """All 16 products of some channels; of the source so many at a time as stay in the nearest cache."""
    for t in range(16):
        for k in range(0, count, PART):
            part = min_of(PART, count - k)
            for i in range(0, rows, 6):
                for j in range(0, TILES, WIDTH):
                    read, to = b + SIZE * (t * (count + 1) * TILES + j), sums + SIZE * (t * pitch + i * TILES + j)
                    filters, listed = a + SIZE * t * a_pitch, table + 16 * k
                    tile_met(rows - i, part, listed, filters, a_rows + 8 * i, read, vectors, to, c_rows, vectors, k, 0)


@native
def results_laid(to, sums, pitch, runs, count, image, o_h, o_w, addend, seen):
    for k in range(count):
        run = i64(runs + 64 * k)
        at = to + SIZE * (run[1] * image + run[2] * o_w + run[3])
        columns = min_of(2 * run[4], o_w - run[3])
        results_turned(at, o_w, sums + SIZE * run[0], pitch, o_h - run[2], columns, addend, seen)


'''

_GIVEN = "transposed, channels, a_channel, image, to_image, i_h, i_w, o_h, o_w, from_h, from_w"
_RESULTS = "to, listed, runs, to_image, o_h, o_w"

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
many = S > 128
at_once, apart = AT_ONCE if many else 6, min_of(each, AT_ONCE)
beside = min_of(BESIDE, blocks_together(blocks * G)) if many else 1
laid = apart if many else (each + apart - 1) // apart * apart
lines, a_pitch, pitch, b_size = S * 9, laid * S + 16, (at_once + 1) * TILES, 16 * (S + 1) * TILES
ints = 2 * S + 2 * lines + 3 * (each + 6) + 8 * (beside * TILES + 4)
memory = new_memory(8 * ints + SIZE * (16 * a_pitch + beside * b_size + (16 * (at_once + 1) + lines + 12) * TILES))
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
filters = (runs_at + 64 * beside * TILES + 63) // 64 * 64
windows = filters + SIZE * 16 * a_pitch
sums = windows + SIZE * beside * b_size
panel = sums + SIZE * 16 * pitch
scratch = panel + SIZE * (lines + 1) * TILES
seen = scratch + SIZE * 6 * TILES
counts = local_floats(8)
table, of_lines, a_rows, line_rows = i64(table_at), i64(lines_at), i64(a_rows_at), i64(line_rows_at)
floats(nothing_at)[0] = T(-0.0)
for s in range(S):
    table[2 * s], table[2 * s + 1] = s * apart if transposed else s, s * TILES
    for k in range(9):
        of_lines[18 * s + 2 * k], of_lines[18 * s + 2 * k + 1] = s * a_channel + k, (9 * s + k) * TILES
for v in range(VECTORS):
    i64(vectors_at)[v] = v * LANES
held, piece = -1, lo
while piece < hi:
PIECE
    together = min_of(min_of(beside, hi - piece), blocks - block)
    begins = held != piece // blocks
    if begins:
        held = piece // blocks
        for i in range(rows + 5):
            at = min_of(i, rows - 1)
            a_rows[i] = at % laid // apart * apart * S + at % apart if transposed else at % laid * S
            line_rows[i] = at * a_row
            i64(c_rows_at)[i] = i * TILES
    for k in range(together):
        listed, first = runs_at + 64 * TILES * k, (block + k) * TILES
        runs = runs_listed(listed, first, min_of(TILES, tiles - first), rows_of, columns_of)
        i64(counts)[k] = runs
        windows_laid(windows + SIZE * k * b_size, read, listed, runs, S, image, i_h, i_w, from_h, from_w)
        for l in range(LANES):
            floats(seen)[LANES * k + l] = T(0)
    for first in range(0, rows, laid):
        last = min_of(first + laid, rows)
        if many or begins:
            of_rows = a + SIZE * first * a_row
            filters_laid(filters, a_pitch, last - first, of_rows, S, transposed, apart, a_row, a_channel)
        for k in range(together):
            b, listed, found = windows + SIZE * k * b_size, runs_at + 64 * TILES * k, seen + SIZE * LANES * k
            for row in range(first, last, at_once):
                some = min_of(at_once, last - row)
                tiles_met(some, S, table_at, filters, a_pitch, a_rows_at + 8 * row, b, sums, pitch, c_rows_at, vectors_at)
                for i in range(some):
                    addend = bias + SIZE * (row + i) if biases != 0 else nothing_at
                    at, made = to + SIZE * (row + i) * o_h * o_w, sums + SIZE * i * TILES
                    results_laid(at, made, pitch, listed, i64(counts)[k], to_image, o_h, o_w, addend, found)
    for m in range(together):
        listed, runs = runs_at + 64 * TILES * m, i64(counts)[m]
        if nans(seen + SIZE * LANES * m, 1, 0, LANES, odd_at) > 0:
            plain = transposed and not finite(weights + SIZE * group * D * S * 9, D * S * 9)
            for corner in range(0 if plain else 4):
                corner_filled(panel, corner, read, listed, runs, transposed, S, image, i_h, i_w, from_h, from_w)
                corner_summed(corner, rows, lines, lines_at, a, line_rows_at, panel, vectors_at, scratch, c_rows_at, bias, LAID)
            for i in range(rows if plain else 0):
                for k in range(runs):
                    addend, at = bias + SIZE * i if biases != 0 else 0, to + SIZE * i * o_h * o_w
                    tiles_summed(read, a + SIZE * i * a_row, addend, at, listed + 64 * k, GIVEN)
    piece += together
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
    for name, number in (("TILES", TILES), ("AT_ONCE", _AT_ONCE), ("PART", _PART), ("BESIDE", _BESIDE)):
        text = text.replace(name, number)
    return conv_text.ABOVE + text


ABOVE, FOLLOWED = _above(), _followed()
PIECES, GRAIN = "tiled_pieces(n0, n1, n3, n7, n8, n9)", "tiled_grain(n0, n1, n8, n9)"


def fits(short: str, kernel: Shape, stride: Shape, dilation: Shape, channels: tuple[int, int]) -> bool:
    """Whether a convolution with many tiles is done so."""
    usual = tuple(kernel) == (3, 3) and {*stride, *dilation} == {1}
    return short == "f32" and usual and min(channels) >= LEAST


def call(transposed: bool, bias: bool) -> str:
    """The kernel behind its registers."""
    return conv_text.call(transposed, bias).replace("convolved(", "tiled(")
