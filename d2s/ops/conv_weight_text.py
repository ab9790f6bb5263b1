"""The kernel text of a convolution's gradient with respect to its weight, in tiles.

An element (channel of g, channel of x, tap) is the sum over all places (image, place of g) in ascending order, one fma each.
Rows of a tile are (channel of x, tap), its vectors channels of g; both are read place by place: x where it lies, or from
a copy with its padding around it, and g from a panel of places x channels. A piece of work is one group, some rows, and at
most WIDTH channels. Its sums stay in a buffer until the last image, and are turned into their order at the end.

In: nothing. Out: the kernel's body, the functions above it, how many pieces of work there are.

>>> CALL.startswith("weights_summed(lo, hi, r[o[0]], r[o[1]], r[o[2]], 0, n0"), PIECES
(True, 'weight_pieces(n1, n2 * n10 * n11 * n12, n3)')
"""

from d2s.ops.conv_source_text import COPIED
from d2s.ops.conv_text import EXTENTS, functions, tile_met

_PLACES = "1024"  # of g that are summed before the next rows of a tile come

_TOGETHER = '''\
@native
def channels_met(groups, channels):
    """WIDTH, or about half of all where that makes two pieces of one: each then turns its own part of the panel only."""
    vectors = (channels + LANES - 1) // LANES
    return (vectors + 1) // 2 * LANES if groups == 1 and vectors <= VECTORS else WIDTH


@native
def rows_together(rows, groups, channels):
    """All, or so few that there are some pieces of work."""
    cuts, across = 1, channels_met(groups, channels)
    wide = groups * ((channels + across - 1) // across)
    while (wide * cuts < 4 and rows > 96 * cuts) or wide * cuts == 1:
        cuts += 1
    return (rows + cuts - 1) // cuts


@native
def weight_pieces(groups, rows, channels):
    each, across = rows_together(rows, groups, channels), channels_met(groups, channels)
    return groups * ((channels + across - 1) // across) * ((rows + each - 1) // each) if each > 0 else 0


@native
def panel_turned(panel, g, in_result, channels, places):
    """places x channels of what lies as channels x places."""
    for c in range(0, channels, LANES):
        for p in range(0, places, LANES):
            read = g + (c * in_result + p) * SIZE
            turn(panel + (p * WIDTH + c) * SIZE, WIDTH, read, in_result, min_of(LANES, channels - c), min_of(LANES, places - p))


@native
def columns_met(rows, count, table, a, a_rows, b, c, c_rows, flat, vectors, begun):
    """All rows of a against a panel of so many vectors."""
    i = 0
    while i < rows:
        left, to_rows = rows - i, c_rows + i * 8
        if vectors > 2:
            met_by_all(left, count, table, a, a_rows + i * 8, b, flat, c, to_rows, flat, begun, 0)
            i += 6 if left > 4 else 4 if left > 2 else 2
        else:
            if vectors == 2:
                met_by_2(left, count, table, a, a_rows + i * 8, b, flat, c, to_rows, flat, begun, 0)
            else:
                met_by_1(left, count, table, a, a_rows + i * 8, b, flat, c, to_rows, flat, begun, 0)
            i += HIGH if left > 6 else 6 if left > 4 else 4 if left > 2 else 2


'''

_SIZES = """\
taps = k_d * k_h * k_w
all_rows, in_image, in_result = S * taps, i_d * i_h * i_w, o_d * o_h * o_w
each = rows_together(all_rows, G, D)
across = channels_met(G, D)
cuts, o_cuts = (all_rows + each - 1) // each, (D + across - 1) // across
together = min_of(N, PLACES // in_result) if in_result > 0 and in_result < PLACES else 1
"""

_PLAIN = """\
for piece in range(lo, hi):
    o_0, row_0, group = piece % o_cuts * across, piece // o_cuts % cuts * each, piece // o_cuts // cuts
    for c in range(o_0, min_of(o_0 + across, D)):
        for i in range(row_0, min_of(row_0 + each, all_rows)):
            total, s, k = T(0), i // taps, i % taps
            for m in range(N):
                for place in range(in_result):
                    d = place // o_w // o_h * s_d + k // k_w // k_h * t_d - p_d
                    h = place // o_w % o_h * s_h + k // k_w % k_h * t_h - p_h
                    w = place % o_w * s_w + k % k_w * t_w - p_w
                    inside = d >= 0 and d < i_d and h >= 0 and h < i_h and w >= 0 and w < i_w
                    number = floats(source)[(((m * G + group) * S + s) * i_d + d) * i_h * i_w + h * i_w + w] if inside else T(0)
                    total = fma(number, floats(cotangent)[((m * G + group) * D + c) * in_result + place], total)
            floats(result)[(group * D + c) * all_rows + i] = total
"""

_BODY = """\
lies = least_d == 0 and least_h == 0 and least_w == 0
lies = lies and (u_d - 1) * s_d + most_d < i_d and (u_h - 1) * s_h + most_h < i_h and (u_w - 1) * s_w + most_w < i_w
remainders = 1 if lies else read_w
padded_row = remainders * ((l_w + remainders - 1) // remainders)
by_d, by_h, by_w = read_d, read_h, 1
if lies:
    by_d, by_h, by_w = s_d, s_h, s_w
padded = l_d * l_h * padded_row
channels = min_of(S, each // taps + 2)
words = 2 * PLACES + 2 * (each + HIGH) + 64
memory = new_memory(words * 8 + SIZE * ((PLACES + each + 8) * WIDTH + together * channels * padded + 64 + 4 * WIDTH))
if memory == 0:
    weights_summed_plainly(lo, hi, ALL)
    return
table_at = memory
a_rows_at = table_at + 16 * PLACES
c_rows_at = a_rows_at + 8 * (each + HIGH)
flat_at = c_rows_at + 8 * (each + HIGH)
panel_at = (flat_at + 64 + 63) // 64 * 64
sums_at = panel_at + SIZE * PLACES * WIDTH
image_at = sums_at + SIZE * (each + 6) * WIDTH
table, a_rows, c_rows, flat = i64(table_at), i64(a_rows_at), i64(c_rows_at), i64(flat_at)
sums = floats(sums_at)
for v in range(VECTORS):
    flat[v] = v * LANES
row, plane, channel, image = i_w, i_h * i_w, in_image, G * S * in_image
if not lies:
    row, plane, channel, image = padded_row, l_h * padded_row, padded, channels * padded
part = row // remainders
listed = -1
for piece in range(lo, hi):
    o_0, row_0, group = piece % o_cuts * across, piece // o_cuts % cuts * each, piece // o_cuts // cuts
    rows, width = min_of(each, all_rows - row_0), min_of(across, D - o_0)
    s_0, s_1 = row_0 // taps, (row_0 + rows - 1) // taps + 1
    for i in range(rows + HIGH - 1):
        at = min_of(i, rows - 1)
        k = (row_0 + at) % taps
        e_d, e_h, e_w = k // k_w // k_h * t_d, k // k_w % k_h * t_h, k % k_w * t_w
        in_plane = e_d * plane + e_h * row + e_w % remainders * part + e_w // remainders
        a_rows[i] = ((row_0 + at) // taps - s_0) * channel + in_plane
        c_rows[i] = at * WIDTH
    for i in range(rows * WIDTH):
        sums[i] = T(0)
    for first in range(0, N, together):
        images = min_of(together, N - first)
        b = source + SIZE * ((first * G + group) * S + s_0) * in_image
        if not lies:
            for m in range(images):
                for s in range(s_1 - s_0):
                    to = image_at + SIZE * (m * image + s * channel)
                    read = b + SIZE * (m * G * S + s) * in_image
                    step = remainders if remainders > 1 else step_w
                    long = padded_row // remainders
                    channel_copied(to, read, GEOMETRY)
            b = image_at
        for start in range(0, images * in_result, PLACES):
            count = min_of(PLACES, images * in_result - start)
            if listed != start * (N + 1) + images:
                listed = start * (N + 1) + images
                m, d, h, w = start // in_result, start % in_result // o_w // o_h, start // o_w % o_h, start % o_w
                for p in range(count):
                    table[2 * p] = m * image + d * by_d * plane + h * by_h * row + w * by_w
                    table[2 * p + 1] = p * WIDTH
                    w += 1
                    if w == o_w:
                        w, h = 0, h + 1
                    if h == o_h:
                        h, d = 0, d + 1
                    if d == o_d:
                        d, m = 0, m + 1
            at = 0
            while at < count:
                m, place = first + (start + at) // in_result, (start + at) % in_result
                run = min_of(count - at, in_result - place)
                read = cotangent + SIZE * (((m * G + group) * D + o_0) * in_result + place)
                panel_turned(panel_at + SIZE * at * WIDTH, read, in_result, width, run)
                at += run
            vectors = (width + LANES - 1) // LANES
            columns_met(rows, count, table_at, b, a_rows_at, panel_at, sums_at, c_rows_at, flat_at, vectors, 1)
    for i in range(0, rows, LANES):
        for c in range(0, width, LANES):
            to = result + SIZE * ((group * D + o_0 + c) * all_rows + row_0 + i)
            read = sums_at + SIZE * (i * WIDTH + c)
            turn(to, all_rows, read, WIDTH, min_of(LANES, rows - i), min_of(LANES, width - c))
free_memory(memory)
"""

_NARROW = (("if rows > 6", "high"), ("elif rows > 4", "tile6"), ("elif rows > 2", "tile4"), ("else", "tile2"))
_TILES = tile_met("met_by_all") + tile_met("met_by_2", "x2", _NARROW) + tile_met("met_by_1", "x1", _NARROW)
ABOVE = (
    COPIED + _TILES + _TOGETHER + functions("weights_summed", "source, cotangent, result, transposed", _SIZES, _BODY, _PLAIN)
).replace("PLACES", _PLACES)
CALL = f"weights_summed(lo, hi, r[o[0]], r[o[1]], r[o[2]], 0, {EXTENTS})\n"
PIECES = "weight_pieces(n1, n2 * n10 * n11 * n12, n3)"
