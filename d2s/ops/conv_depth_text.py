"""The kernel text of convolutions with one filter per channel: groups of one channel each, in and out.

Forward and transposed are as in `conv_text`, with one row: for each tap in ascending order a number of the filter meets many
vectors of the source. What each vector reads, and where it goes, is the same for every plane and is listed once.

The gradient of a filter has a law of its own: the sum of a tap is spread over 16 sums by the column of g modulo 16; each of
them is one chain over (image, row, column), and the halves of the 16 are added at the end, until one is left.

In: nothing. Out: the kernels' bodies, the functions above them, how many pieces of work there are.

>>> call(False, False).startswith("planes_convolved(lo, hi, r[o[0]], r[o[1]], 0, r[o[2]], 0, n0")
True
"""

from d2s.ops.conv_source_text import COPIED, LOOKED
from d2s.ops.conv_text import EXTENTS, TAPS, followed, functions

_PLANE = """\
taps = k_d * k_h * k_w
in_image, in_result = i_d * i_h * i_w, o_d * o_h * o_w
remainders = read_w
long = (l_w + remainders - 1) // remainders
step = remainders if remainders > 1 else step_w
padded_row = remainders * long
padded = l_d * l_h * padded_row
"""

_BODY = """\
ahead = 2 * VECTORS
across = (u_w + LANES - 1) // LANES
most = u_d * u_h * across + ahead
whole = f_w == 1 and u_w % LANES == 0
long_line = u_d * u_h * across * LANES
phases = f_d * f_h * f_w
words = 3 * taps * phases + phases + 2 * most + 8
memory = new_memory(8 * words + SIZE * (padded + long_line + 8 * WIDTH))
if memory == 0:
    planes_convolved_plainly(lo, hi, ALL)
    return
table_at = memory
counts_at = table_at + 16 * taps * phases
reads_at = counts_at + 8 * phases
goes_at = reads_at + 8 * most
nothing_at = goes_at + 8 * most
image_at = (nothing_at + 8 + 63) // 64 * 64
line_at = (image_at + SIZE * (padded + 2 * WIDTH) + 63) // 64 * 64
table, counts, reads, goes = i64(table_at), i64(counts_at), i64(reads_at), i64(goes_at)
i64(nothing_at)[0] = 0
row, plane = padded_row, l_h * padded_row
for phase in range(phases):
    at_d, at_h, at_w = phase // f_w // f_h, phase // f_w % f_h, phase % f_w
    count = 0
    for k in range(taps):
        e_d = tap_at(transposed, k // k_w // k_h, at_d, k_d, s_d, t_d, p_d, least_d)
        e_h = tap_at(transposed, k // k_w % k_h, at_h, k_h, s_h, t_h, p_h, least_h)
        e_w = tap_at(transposed, k % k_w, at_w, k_w, s_w, t_w, p_w, least_w)
        if e_d >= 0 and e_h >= 0 and e_w >= 0:
            table[2 * (phase * taps + count)] = k
            table[2 * (phase * taps + count) + 1] = e_d * plane + e_h * row + e_w % remainders * long + e_w // remainders
            count += 1
    counts[phase] = count
n = 0
for d in range(u_d):
    for h in range(u_h):
        for q in range(across):
            reads[n] = d * read_d * plane + h * read_h * row + q * LANES
            goes[n] = (d * o_h + h) * o_w + q * LANES if whole and f_h == 1 and f_d == 1 else n * LANES
            n += 1
for k in range(ahead):
    reads[n + k], goes[n + k] = reads[n - 1], goes[n - 1]
for piece in range(lo, hi):
    group = piece % G
    channel_copied(image_at, source + SIZE * piece * in_image, GEOMETRY)
    result_at = result + SIZE * piece * in_result
    filter_at = weights + SIZE * group * taps
    bias_at = biases + SIZE * group if biases != 0 else 0
    direct = whole and phases == 1
    for phase in range(phases):
        at_d, at_h, at_w = phase // f_w // f_h, phase // f_w % f_h, phase % f_w
        to = result_at if direct else line_at
        of_phase = table_at + 16 * phase * taps
        for v in range(0, n, ahead):
            read, go = reads_at + 8 * v, goes_at + 8 * v
            line(counts[phase], of_phase, filter_at, nothing_at, image_at, read, to, nothing_at, go, 0, bias_at)
        if not direct:
            rows_written(result_at, line_at, at_d, at_h, at_w, f_d, f_h, f_w, u_h, across * LANES, o_d, o_h, o_w)
    if transposed and nans(result_at, 1, 0, in_result, line_at) > 0:
        if not finite(filter_at, taps):
            planes_convolved_plainly(piece, piece + 1, ALL)
free_memory(memory)
"""

_PLAIN = """\
for piece in range(lo, hi):
    group = piece % G
    for place in range(in_result):
        total = T(0)
        for k in range(taps):
            d = read_at(transposed, place // o_w // o_h, k // k_w // k_h, s_d, t_d, p_d)
            h = read_at(transposed, place // o_w % o_h, k // k_w % k_h, s_h, t_h, p_h)
            w = read_at(transposed, place % o_w, k % k_w, s_w, t_w, p_w)
            if d != NOWHERE and h != NOWHERE and w != NOWHERE:
                inside = d >= 0 and d < i_d and h >= 0 and h < i_h and w >= 0 and w < i_w
                number = floats(source)[((piece * i_d + d) * i_h + h) * i_w + w] if inside else T(0)
                weight = floats(weights)[group * taps + k]
                total = fma(weight, number, total) if inside or not transposed or weight - weight == T(0) else total
        if biases != 0:
            total += floats(biases)[group]
        floats(result)[piece * in_result + place] = total
"""

_ROWS = '''\
@native
def rows_written(to, line, at_d, at_h, at_w, f_d, f_h, f_w, u_h, pitch, o_d, o_h, o_w):
    """The rows of one phase, from where they were computed to where they belong."""
    long_w = (o_w - at_w + f_w - 1) // f_w
    long_h = (o_h - at_h + f_h - 1) // f_h
    for d in range((o_d - at_d + f_d - 1) // f_d):
        rows = to + SIZE * (((d * f_d + at_d) * o_h + at_h) * o_w + at_w)
        read = line + SIZE * d * u_h * pitch
        if f_w == 1:
            for w in range(0, long_w, LANES):
                block(rows + w * SIZE, f_h * o_w, read + w * SIZE, pitch, long_h, 0, LANES, long_w - w)
        else:
            for h in range(long_h):
                for w in range(long_w):
                    floats(rows)[h * f_h * o_w + w * f_w] = floats(read)[h * pitch + w]


'''

_SUMMED = """\
groups_of = (taps + 8) // 9
across = (o_w + SPREAD - 1) // SPREAD
steps = o_d * o_h * across
memory = new_memory(8 * (3 * steps + 9 * groups_of + 16) + SIZE * (padded + 4 * WIDTH + (9 * groups_of + 4) * SPREAD))
if memory == 0:
    filters_summed_plainly(lo, hi, ALL)
    return
table_at = memory
taps_at = table_at + 24 * steps
sums_at = (taps_at + 72 * groups_of + 63) // 64 * 64
image_at = sums_at + SIZE * 9 * groups_of * SPREAD
table, tap, sums = i64(table_at), i64(taps_at), floats(sums_at)
n = 0
for d in range(o_d):
    for h in range(o_h):
        for q in range(across):
            table[3 * n] = (d * o_h + h) * o_w + q * SPREAD
            table[3 * n + 1] = (d * read_d * l_h + h * read_h) * padded_row + q * SPREAD
            table[3 * n + 2] = o_w - q * SPREAD
            n += 1
for k in range(9 * groups_of):
    at = min_of(k, taps - 1)
    e_w = at % k_w * t_w
    tap[k] = (at // k_w // k_h * t_d * l_h + at // k_w % k_h * t_h) * padded_row + e_w % remainders * long + e_w // remainders
for piece in range(lo, hi):
    for k in range(9 * groups_of * SPREAD):
        sums[k] = T(0)
    for m in range(N):
        from_x = source + SIZE * (m * G + piece) * in_image
        channel_copied(image_at, from_x, GEOMETRY)
        for k in range(groups_of):
            met = cotangent + SIZE * (m * G + piece) * in_result
            lanes9(n, table_at, met, image_at, taps_at + 72 * k, sums_at + SIZE * 9 * k * SPREAD)
    for k in range(taps):
        folded(sums_at + SIZE * k * SPREAD)
        floats(result)[piece * taps + k] = sums[k * SPREAD]
free_memory(memory)
"""

_FOLDED = '''\
@native
def folded(sums):
    """SPREAD sums as one: halves are added."""
    width = SPREAD // 2
    while width > 0:
        for k in range(width):
            floats(sums)[k] = floats(sums)[k] + floats(sums)[k + width]
        width = width // 2


'''

_PLAINLY_SUMMED = """\
sums = local_floats(SPREAD)
for piece in range(lo, hi):
    for k in range(taps):
        for lane in range(SPREAD):
            floats(sums)[lane] = T(0)
        for m in range(N):
            for place in range(in_result):
                d = place // o_w // o_h * s_d + k // k_w // k_h * t_d - p_d
                h = place // o_w % o_h * s_h + k // k_w % k_h * t_h - p_h
                w = place % o_w * s_w + k % k_w * t_w - p_w
                inside = d >= 0 and d < i_d and h >= 0 and h < i_h and w >= 0 and w < i_w
                number = floats(source)[(((m * G + piece) * i_d + d) * i_h + h) * i_w + w] if inside else T(0)
                met = floats(cotangent)[(m * G + piece) * in_result + place]
                lane = place % o_w % SPREAD
                floats(sums)[lane] = fma(number, met, floats(sums)[lane])
        folded(sums)
        floats(result)[piece * taps + k] = floats(sums)[0]
"""

ABOVE = (
    COPIED
    + TAPS
    + LOOKED
    + _ROWS
    + functions("planes_convolved", "source, weights, biases, result, transposed", _PLANE, _BODY, _PLAIN)
)
FOLLOWED = followed("planes_convolved", "", "follow(r, o, lo, hi - lo, 0, o_d * o_h * o_w)\n")
WEIGHT_ABOVE = (
    COPIED + _FOLDED + functions("filters_summed", "source, cotangent, result, transposed", _PLANE, _SUMMED, _PLAINLY_SUMMED)
)
WEIGHT_CALL = f"filters_summed(lo, hi, r[o[0]], r[o[1]], r[o[2]], 0, {EXTENTS})\n"
PIECES, GRAIN = "n0 * n1", "1 + 16384 // (1 + n7 * n8 * n9)"
WEIGHT_PIECES, WEIGHT_GRAIN = "n1", "1 + 16384 // (1 + n0 * n7 * n8 * n9)"


def call(transposed: bool, bias: bool) -> str:
    """The kernel behind its registers."""
    given = ["lo", "hi", "r[o[0]]", "r[o[1]]", "r[o[2]]" if bias else "0", f"r[o[{2 + bias}]]", str(int(transposed)), EXTENTS]
    return f"planes_convolved({', '.join(given)})\n"
