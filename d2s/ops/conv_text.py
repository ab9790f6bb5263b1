"""The kernel text of convolutions and of their transposes: products of gathered rows and gathered vectors, in tiles.

Both are one loop. A place u of the result reads its source at `u * reading + e` for each tap. A convolution writes place u at
u; a transpose of stride s has s *phases* f along an axis, each with taps of its own, and writes place u of phase f at
`u * s + f`. The sum of a result runs over (channel, taps) in ascending order, one fma each; a tap that falls on padding takes
part with 0, but in a transpose only where its weight is finite. (So Paddle has it, whose transposes have no padding: a nan
that comes of it is looked for, and the piece is done again.) No bit depends on how the work is cut: every sum is one chain.

A piece of work is some images, one group and some channels of the result. The source is copied with the padding around it (and
columns of one remainder by the stride next to each other) where it cannot be read as it lies. Then WIDTH places at a time
meet all channels: straight from the source where rows are whole vectors, else from a panel of taps x WIDTH numbers.

In: what is asked of the kernel. Out: its body, the functions above it, how many pieces of work there are.

>>> call(False, False).startswith("convolved(lo, hi, r[o[0]], r[o[1]], 0, r[o[2]], 0, n0, n1"), pieces(False)
(True, 'pieces(n0, n1, n3, n7 * n8 * n9)')
"""

import textwrap

from d2s.ops import conv_spread_text
from d2s.ops.conv_source_text import COPIED, LOOKED

# the extents in the order of the kernel's registers: of images, groups, channels in a group of source and result; along three
# axes those of source, result and kernel, strides, dilations, and the padding before
NAMES = [
    "N",
    "G",
    "S",
    "D",
    "i_d",
    "i_h",
    "i_w",
    "o_d",
    "o_h",
    "o_w",
    "k_d",
    "k_h",
    "k_w",
    "s_d",
    "s_h",
    "s_w",
    "t_d",
    "t_h",
    "t_w",
    "p_d",
    "p_h",
    "p_w",
]
EXTENTS = ", ".join(f"n{k}" for k in range(len(NAMES)))

_TAPS = '''\
@native
def tap_at(transposed, k, f, kernel, stride, dilation, padding, least):
    """Where a tap reads, of the places the copy begins with; -1 where it has no part in this phase."""
    if transposed:
        e = f + padding - k * dilation
        return e // stride - least if e % stride == 0 else -1
    return k * dilation if kernel > 1 else 0


@native
def read_at(transposed, place, k, stride, dilation, padding):
    """Where in the source a tap of a place reads; far outside where it has no part."""
    if transposed:
        at = place + padding - k * dilation
        return at // stride if at % stride == 0 else NOWHERE
    return place * stride + k * dilation - padding


'''

_TOGETHER = '''\
@native
def images_together(n, places):
    """So few that the last tile of their places is nearly full."""
    found = 1
    while found < n and found * places < 8 * WIDTH:
        if 10 * found * places >= 9 * WIDTH * ((found * places + WIDTH - 1) // WIDTH):
            return found
        found += 1
    return found


@native
def channels_together(channels, blocks):
    """All, or so few that there are some pieces of work."""
    parts = 1
    while blocks * parts < 8 and channels > 24 * parts:
        parts += 1
    return ((channels + parts - 1) // parts + 5) // 6 * 6


@native
def pieces(n, groups, channels, places):
    together = images_together(n, places)
    blocks = (n + together - 1) // together * groups
    each = channels_together(channels, blocks)
    return blocks * ((channels + each - 1) // each) if each > 0 else 0


@native
def panel_filled(panel, source, reach, count, starts, froms, runs):
    """Runs of at most LANES numbers for each tap; what one writes too much the next one overwrites."""
    for k in range(count):
        to, read = panel + k * WIDTH * SIZE, source + i64(reach)[k] * SIZE
        for run in range(runs):
            move(to + i64(starts)[run] * SIZE, read + i64(froms)[run] * SIZE)


@native
def rows_met(rows, count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, addends, scratch, flat, runs, found, step):
    """All rows of a against one tile of b; scratch is where results first go that are not whole vectors in c, or 0."""
    i = 0
    while i < rows:
        to, to_rows, to_vectors = c, c_rows + i * 8, c_vectors
        if scratch != 0:
            to, to_rows, to_vectors = scratch, flat, flat + 48
        added = addends + i * SIZE if addends != 0 else 0
        left = rows - i
        tile_met(left, count, table, a, a_rows + i * 8, b, b_vectors, to, to_rows, to_vectors, 0, added)
        done = 6 if left > 4 else 4 if left > 2 else 2
        if scratch != 0:
            scattered(scratch, c, c_rows + i * 8, min_of(done, left), runs, found, step)
        i += done


@native
def runs_found(places, step, found):
    """Of places of results, how many runs of at most LANES go on evenly: where each begins, its length, its first place."""
    runs, l = 0, 0
    while l < WIDTH:
        long = 1
        while l + long < WIDTH and long < LANES and i64(places)[l + long] == i64(places)[l] + long * step:
            long += 1
        if i64(places)[l] >= 0:
            run = i64(found + 24 * runs)
            run[0], run[1], run[2] = l, long, i64(places)[l]
            runs += 1
        l += long
    return runs


@native
def scattered(scratch, c, c_rows, rows, runs, found, step):
    pitch = i64(c_rows)[1] - i64(c_rows)[0]
    for k in range(runs):
        run = i64(found + 24 * k)
        to, read = c + SIZE * (i64(c_rows)[0] + run[2]), scratch + SIZE * run[0]
        if step == 1:
            block(to, pitch, read, WIDTH, rows, 0, LANES, run[1])
        elif step == 2:
            spaced(to, pitch, read, WIDTH, rows, run[1])
        else:
            for i in range(rows):
                for l in range(run[1]):
                    floats(to)[i * pitch + l * step] = floats(read)[i * WIDTH + l]


'''

_AXIS = """\
f_X = s_X if transposed else 1
read_X = 1 if transposed or k_X == 1 else s_X
step_X = s_X if not transposed and k_X == 1 else 1
least_X = (p_X - (k_X - 1) * t_X) // s_X if transposed else -p_X
most_X = (p_X + s_X - 1) // s_X if transposed else (k_X - 1) * t_X - p_X
u_X = (o_X + f_X - 1) // f_X
l_X = (u_X - 1) * read_X + most_X - least_X + 1
"""

_SIZES = """\
taps = k_d * k_h * k_w
in_image, in_result = i_d * i_h * i_w, o_d * o_h * o_w
a_row = taps if transposed else S * taps
a_channel = D * taps if transposed else taps
a_group = D * S * taps
together = images_together(N, u_d * u_h * u_w)
blocks = (N + together - 1) // together * G
each = channels_together(D, blocks)
cuts = (D + each - 1) // each if each > 0 else 1
"""

_PLAIN = """\
for piece in range(lo, hi):
    row_0, group, first = piece % cuts * each, piece // cuts % G, piece // cuts // G * together
    for m in range(first, min_of(first + together, N)):
        for row in range(row_0, min_of(row_0 + each, D)):
            for place in range(in_result):
                total = T(0)
                for s in range(S):
                    for k in range(taps):
                        d = read_at(transposed, place // o_w // o_h, k // k_w // k_h, s_d, t_d, p_d)
                        h = read_at(transposed, place // o_w % o_h, k // k_w % k_h, s_h, t_h, p_h)
                        w = read_at(transposed, place % o_w, k % k_w, s_w, t_w, p_w)
                        if d != NOWHERE and h != NOWHERE and w != NOWHERE:
                            inside = d >= 0 and d < i_d and h >= 0 and h < i_h and w >= 0 and w < i_w
                            at = ((((m * G + group) * S + s) * i_d + d) * i_h + h) * i_w + w
                            number = floats(source)[at] if inside else T(0)
                            weight = floats(weights)[group * a_group + row * a_row + s * a_channel + k]
                            total = fma(weight, number, total) if inside or not transposed or weight - weight == T(0) else total
                if biases != 0:
                    total += floats(biases)[group * D + row]
                floats(result)[((m * G + group) * D + row) * in_result + place] = total
"""

_BODY = """\
if transposed and is_spread(N, S, D, taps, in_image, in_result, s_d * s_h * s_w, together):
    spread(lo, hi, ALL)
    return
remainders = read_w
padded_row = remainders * ((l_w + remainders - 1) // remainders)
lies = least_d == 0 and least_h == 0 and least_w == 0 and l_d <= i_d and l_h <= i_h and l_w <= i_w
lies = lies and step_d == 1 and step_h == 1 and step_w == 1 and remainders == 1
most = S * taps
padded = S * l_d * l_h * padded_row
words = 3 * most + 3 * each + 7 * WIDTH + 64
memory = new_memory(words * 8 + SIZE * (each + 7 * WIDTH + 64 + (most + 2) * WIDTH + together * padded + 4 * WIDTH))
if memory == 0:
    convolved_plainly(lo, hi, ALL)
    return
table_at = memory
reach_at = table_at + 16 * most
a_rows_at = reach_at + 8 * most
c_rows_at = a_rows_at + 8 * (each + 6)
flat_at = c_rows_at + 8 * (each + 6)
b_vectors_at = flat_at + 96
c_vectors_at = b_vectors_at + 48
places_at = c_vectors_at + 48
starts_at = places_at + 8 * WIDTH
froms_at = starts_at + 8 * WIDTH
found_at = froms_at + 8 * WIDTH
addends_at = (found_at + 24 * WIDTH + 63) // 64 * 64
scratch_at = (addends_at + SIZE * (each + 6) + 63) // 64 * 64
panel_at = scratch_at + SIZE * 6 * WIDTH
image_at = panel_at + SIZE * (most + 1) * WIDTH
table, reach, a_rows, c_rows = i64(table_at), i64(reach_at), i64(a_rows_at), i64(c_rows_at)
flat, b_vectors, c_vectors = i64(flat_at), i64(b_vectors_at), i64(c_vectors_at)
places, starts, froms = i64(places_at), i64(starts_at), i64(froms_at)
for v in range(6):
    flat[v] = v * WIDTH
    flat[6 + v] = v * LANES
for piece in range(lo, hi):
    row_0, group, first = piece % cuts * each, piece // cuts % G, piece // cuts // G * together
    rows, images = min_of(each, D - row_0), min_of(together, N - first)
    for i in range(rows + 5):
        at = i if i < rows else rows - 1
        a_rows[i] = at * a_row
        c_rows[i] = at * in_result
        if biases != 0:
            floats(addends_at)[i] = floats(biases)[group * D + row_0 + at]
    a = weights + SIZE * (group * a_group + row_0 * a_row)
    c = result + SIZE * ((first * G + group) * D + row_0) * in_result
    b = source + SIZE * ((first * G + group) * S) * in_image
    row, plane, channel, image = i_w, i_h * i_w, in_image, G * S * in_image
    behind = (N * G - (first + images - 1) * G - group - 1) * S * in_image
    if not (lies and behind > WIDTH):
        for m in range(images):
            for s in range(S):
                to = image_at + SIZE * (m * padded + s * l_d * l_h * padded_row)
                read = b + SIZE * (m * image + s * channel)
                step = remainders if remainders > 1 else step_w
                long = padded_row // remainders
                channel_copied(to, read, GEOMETRY)
        b, row, plane, channel, image = image_at, padded_row, l_h * padded_row, l_d * l_h * padded_row, padded
    part = row // remainders
    for phase in range(f_d * f_h * f_w):
        at_d, at_h, at_w = phase // f_w // f_h, phase // f_w % f_h, phase % f_w
        long_d, long_h, long_w = (o_d - at_d + f_d - 1) // f_d, (o_h - at_h + f_h - 1) // f_h, (o_w - at_w + f_w - 1) // f_w
        count = 0
        for k in range(taps):
            e_d = tap_at(transposed, k // k_w // k_h, at_d, k_d, s_d, t_d, p_d, least_d)
            e_h = tap_at(transposed, k // k_w % k_h, at_h, k_h, s_h, t_h, p_h, least_h)
            e_w = tap_at(transposed, k % k_w, at_w, k_w, s_w, t_w, p_w, least_w)
            if e_d >= 0 and e_h >= 0 and e_w >= 0:
                table[2 * count] = k
                reach[count] = e_d * plane + e_h * row + e_w % remainders * part + e_w // remainders
                count += 1
        for s in range(1, S):
            for k in range(count):
                table[2 * (s * count + k)] = table[2 * k] + s * a_channel
                reach[s * count + k] = reach[k] + s * channel
        count *= S
        straight = long_w % LANES == 0 or (long_w > LANES and 7 * ((long_w + LANES - 1) // LANES * LANES) <= 8 * long_w)
        for k in range(count):
            table[2 * k + 1] = reach[k] if straight else k * WIDTH
        left = images * long_d * long_h * long_w
        if straight:
            left = images * long_d * long_h * ((long_w + LANES - 1) // LANES)
        m, d, h, w = 0, 0, 0, 0
        while left > 0:
            whole, from_b = f_w == 1, b
            if straight:
                for v in range(VECTORS):
                    if left > 0:
                        w = min_of(w, long_w - LANES)
                        b_vectors[v] = m * image + d * read_d * plane + h * read_h * row + w
                        c_vectors[v] = m * G * D * in_result + ((d * f_d + at_d) * o_h + h * f_h + at_h) * o_w + w * f_w + at_w
                        left -= 1
                        w += LANES
                        if w >= long_w:
                            w, h = 0, h + 1
                        if h >= long_h:
                            h, d = 0, d + 1
                        if d >= long_d:
                            d, m = 0, m + 1
                    else:
                        b_vectors[v], c_vectors[v] = b_vectors[v - 1], c_vectors[v - 1]
                if not whole:
                    for l in range(WIDTH):
                        places[l] = c_vectors[l // LANES] + l % LANES * f_w
            else:
                runs, j = 0, 0
                while j < WIDTH and left > 0:
                    run = min_of(min_of(LANES, long_w - w), WIDTH - j)
                    starts[runs] = j
                    froms[runs] = m * image + d * read_d * plane + h * read_h * row + w
                    at = m * G * D * in_result + ((d * f_d + at_d) * o_h + h * f_h + at_h) * o_w + w * f_w + at_w
                    for l in range(run):
                        places[j + l] = at + l * f_w
                    runs += 1
                    left -= run
                    j += run
                    w += run
                    if w >= long_w:
                        w, h = 0, h + 1
                    if h >= long_h:
                        h, d = 0, d + 1
                    if d >= long_d:
                        d, m = 0, m + 1
                for l in range(j, WIDTH):
                    places[l] = -1
                for v in range(VECTORS):
                    b_vectors[v], c_vectors[v] = v * LANES, places[v * LANES]
                    whole = whole and places[v * LANES] >= 0
                    whole = whole and places[v * LANES + LANES - 1] == places[v * LANES] + LANES - 1
                from_b = panel_at
                panel_filled(panel_at, b, reach_at, count, starts_at, froms_at, runs)
            to_scratch = 0 if whole else scratch_at
            evenly = 0 if whole else runs_found(places_at, f_w, found_at)
            added = addends_at if biases != 0 else 0
            rows_met(rows, count, table_at, a, a_rows_at, from_b, b_vectors_at, RESULT)
    if transposed and nans(c, images, G * D * in_result, rows * in_result, scratch_at) > 0:
        if not finite(weights + SIZE * group * a_group, a_group):
            convolved_plainly(piece, piece + 1, ALL)
free_memory(memory)
"""


_WAYS = (("if rows > 4", "tile6"), ("elif rows > 2", "tile4"), ("else", "tile2"))


def tile_met(name: str, vectors: str = "", ways: tuple[tuple[str, str], ...] = _WAYS) -> str:
    """A native function: the next rows of a product, as many as a tile has, by as many vectors as its tiles have."""
    given = "count, table, a, a_rows, b, b_vectors, c, c_rows, c_vectors, begun, addends"
    lines = "".join(f"    {way}:\n        {tile}{vectors}({given})\n" for way, tile in ways)
    return f"@native\ndef {name}(rows, {given}):\n{lines}\n\n"


def functions(name: str, parameters: str, sizes: str, body: str, plain: str) -> str:
    """Two native functions over the extents: the fast one, and `..._plainly`, which needs no memory of its own."""
    ahead = "".join(_AXIS.replace("_X", f"_{d}") for d in "dhw") + sizes
    given = f"{parameters}, {', '.join(NAMES)}"
    texts = (
        (f"{name}_plainly", plain),
        (name, body.replace("ALL", given).replace("GEOMETRY", _GEOMETRY).replace("RESULT", _RESULT)),
    )
    whole = "".join(f"@native\ndef {n}(lo, hi, {given}):\n{textwrap.indent(ahead + text, '    ')}\n\n" for n, text in texts)
    return whole.replace("NOWHERE", _NOWHERE)


def followed(name: str, sizes: str, body: str) -> str:
    """A native function that hands on what `name` has made of some pieces."""
    ahead = "".join(_AXIS.replace("_X", f"_{d}") for d in "dhw") + sizes
    head = f"@native\ndef {name}_followed(lo, hi, r, o, transposed, {', '.join(NAMES)}):\n"
    return head + textwrap.indent(ahead + body, "    ") + "\n\n"


_FOLLOWED = """\
for piece in range(lo, hi):
    row_0, group, first = piece % cuts * each, piece // cuts % G, piece // cuts // G * together
    for m in range(first, min_of(first + together, N)):
        follow(r, o, (m * G + group) * D + row_0, min_of(each, D - row_0), 0, in_result)
"""
_GEOMETRY = "i_d, i_h, i_w, least_d, least_h, least_w, l_d, l_h, long, step_d, step_h, step, remainders"
_RESULT = "c, c_rows_at, c_vectors_at, added, to_scratch, flat_at, evenly, found_at, f_w"
_NOWHERE = str(-1 << 60)
TAPS = _TAPS.replace("NOWHERE", _NOWHERE)
_GIVEN = "source, weights, biases, result, transposed"
_SPREAD = functions("spread", _GIVEN, _SIZES, conv_spread_text.BODY, conv_spread_text.PLAIN)
ABOVE = COPIED + TAPS + LOOKED + tile_met("tile_met") + _TOGETHER + conv_spread_text.CONDITION + _SPREAD
ABOVE += functions("convolved", _GIVEN, _SIZES, _BODY, _PLAIN)


FOLLOWED = followed("convolved", _SIZES, _FOLLOWED)


def handed_on(name: str, transposed: bool) -> str:
    """The call of the function that hands on."""
    return f"{name}_followed(lo, hi, at(r, 0), at(o, follower), {int(transposed)}, {EXTENTS})\n"


def call(transposed: bool, bias: bool) -> str:
    """The kernel behind its registers."""
    given = ["lo", "hi", "r[o[0]]", "r[o[1]]", "r[o[2]]" if bias else "0", f"r[o[{2 + bias}]]", str(int(transposed)), EXTENTS]
    return f"convolved({', '.join(given)})\n"


def pieces(transposed: bool) -> str:
    """How many pieces of work there are."""
    axes = [f"n{k}" if not transposed else f"((n{k} + n{k + 6} - 1) // n{k + 6})" for k in (7, 8, 9)]
    return f"pieces(n0, n1, n3, {' * '.join(axes)})"
