"""The kernel text of transposes whose result is much larger than their source: products first, which are then spread.

Most of what a place of such a result would read is padding. So each number of the source meets all filters - a plain product
of matrices, one chain of fmas over the channels for each tap - and the products that fall on a place are added in ascending
order of the taps. Strides are 1. Which transposes go this way only extents decide.

In: nothing. Out: bodies of functions over the extents of `conv_text`, which calls them.

>>> CONDITION.startswith("@native")
True
"""

CONDITION = '''\
@native
def is_spread(N, channels, rows, taps, source, result, strides, together):
    """Whether there are channels enough for a product, and half of what else would be read is padding."""
    pitch = (together * source + WIDTH - 1) // WIDTH * WIDTH
    return strides == 1 and channels >= 16 and taps > 1 and 3 * source <= 2 * result and rows * taps * pitch <= 524288


'''

BODY = """\
pitch = (together * in_image + WIDTH - 1) // WIDTH * WIDTH
most = each * taps
memory = new_memory(8 * (2 * S + 2 * (most + 6) + 24) + SIZE * ((S + most) * pitch + 4 * WIDTH))
if memory == 0:
    spread_plainly(lo, hi, ALL)
    return
table_at = memory
a_rows_at = table_at + 16 * S
c_rows_at = a_rows_at + 8 * (most + 6)
vectors_at = c_rows_at + 8 * (most + 6)
total_at = (vectors_at + 8 * 8 + 63) // 64 * 64
nothing_at = total_at + SIZE * LANES
image_at = nothing_at + SIZE * LANES
products_at = image_at + SIZE * S * pitch
table, a_rows, c_rows, vectors = i64(table_at), i64(a_rows_at), i64(c_rows_at), i64(vectors_at)
for v in range(VECTORS):
    vectors[v] = v * LANES
for s in range(S):
    table[2 * s], table[2 * s + 1] = s * a_channel, s * pitch
block(nothing_at, 0, nothing_at, 0, 1, 0, 0, LANES)
for piece in range(lo, hi):
    row_0, group, first = piece % cuts * each, piece // cuts % G, piece // cuts // G * together
    rows, images = min_of(each, D - row_0), min_of(together, N - first)
    rows_copied(image_at, pitch, source, 0, S, 0, pitch, 0, 1)
    for m in range(images):
        read = source + SIZE * (((first + m) * G + group) * S) * in_image
        rows_copied(image_at + SIZE * m * in_image, pitch, read, in_image, S, 0, in_image, in_image, 1)
    count = rows * taps
    for i in range(count + 5):
        at = i if i < count else count - 1
        a_rows[i], c_rows[i] = at, at * pitch
    a = weights + SIZE * (group * a_group + row_0 * taps)
    for i in range(0, count, 6):
        for j in range(0, pitch, WIDTH):
            b, c = image_at + SIZE * j, products_at + SIZE * j
            tile_met(count - i, S, table_at, a, a_rows_at + 8 * i, b, vectors_at, c, c_rows_at + 8 * i, vectors_at, 0, 0)
    for m in range(images):
        for row in range(rows):
            to = result + SIZE * (((first + m) * G + group) * D + row_0 + row) * in_result
            line = products_at + SIZE * (row * taps * pitch + m * in_image)
            for place in range(o_d * o_h):
                for w in range(0, o_w, LANES):
                    move(total_at, nothing_at)
                    for k in range(k_d * k_h):
                        d = place // o_h + p_d - k // k_h * t_d
                        h = place % o_h + p_h - k % k_h * t_h
                        if d >= 0 and d < i_d and h >= 0 and h < i_h:
                            read = line + SIZE * (k * k_w * pitch + (d * i_h + h) * i_w)
                            shifted_added(total_at, read, pitch, k_w, t_w, w + p_w, i_w)
                    if biases != 0:
                        for l in range(LANES):
                            floats(total_at)[l] = floats(total_at)[l] + floats(biases)[group * D + row_0 + row]
                    block(to + SIZE * (place * o_w + w), 0, total_at, 0, 1, 0, LANES, o_w - w)
free_memory(memory)
"""

PLAIN = """\
for piece in range(lo, hi):
    row_0, group, first = piece % cuts * each, piece // cuts % G, piece // cuts // G * together
    for m in range(first, min_of(first + together, N)):
        for row in range(row_0, min_of(row_0 + each, D)):
            for place in range(in_result):
                total = T(0)
                for k in range(taps):
                    d = place // o_w // o_h + p_d - k // k_w // k_h * t_d
                    h = place // o_w % o_h + p_h - k // k_w % k_h * t_h
                    w = place % o_w + p_w - k % k_w * t_w
                    if d >= 0 and d < i_d and h >= 0 and h < i_h and w >= 0 and w < i_w:
                        product = T(0)
                        for s in range(S):
                            number = floats(source)[((((m * G + group) * S + s) * i_d + d) * i_h + h) * i_w + w]
                            product = fma(floats(weights)[group * a_group + row * a_row + s * a_channel + k], number, product)
                        total += product
                if biases != 0:
                    total += floats(biases)[group * D + row]
                floats(result)[((m * G + group) * D + row) * in_result + place] = total
"""
