"""Parts of the kernel text of `conv_winograd_text`: tiles that are done again by plain sums, and tiles done one by one.

In: nothing. Out: texts of native functions; names in capitals are what `conv_winograd_text` puts in.

>>> AGAIN.count("@native"), ALONE.count("@native")
(4, 3)
"""

AGAIN = '''\
@native
def corner_filled(panel, corner, source, runs, count, transposed, channels, image, i_h, i_w, from_h, from_w):
    """What the results at one corner of their tiles read: a line for each channel and tap."""
    for s in range(channels):
        for tap in range(9):
            e = 8 - tap if transposed else tap
            for k in range(count):
                run = i64(runs + 64 * k)
                h, w = run[2] + from_h + corner // 2 + e // 3, run[3] + from_w + corner % 2 + e % 3
                inside = h >= 0 and h < i_h
                first, last = (1 - w) // 2 if inside else 0, (i_w - w + 1) // 2 if inside else 0
                read = source + SIZE * (run[1] * image + s * i_h * i_w + h * i_w + w)
                block2(panel + SIZE * ((s * 9 + tap) * TILES + run[0]), 0, read, 0, 1, first, last, LANES)


@native
def corner_written(to, corner, line, runs, count, image, o_h, o_w):
    for k in range(count):
        run = i64(runs + 64 * k)
        h, first = run[2] + corner // 2, run[3] + corner % 2
        for l in range(run[4]):
            if h < o_h and first + 2 * l < o_w:
                floats(to)[run[1] * image + h * o_w + first + 2 * l] = floats(line)[run[0] + l]


@native
def corner_summed(corner, rows, lines, table, a, a_rows, panel, vectors, scratch, c_rows, bias, LAID):
    for i in range(0, rows, 6):
        for j in range(0, TILES, WIDTH):
            b, c, added = panel + SIZE * j, scratch + SIZE * j, bias + SIZE * i if bias != 0 else 0
            tile_met(rows - i, lines, table, a, a_rows + 8 * i, b, vectors, c, c_rows, vectors, 0, added)
        for k in range(min_of(6, rows - i)):
            at = to + SIZE * (i + k) * o_h * o_w
            corner_written(at, corner, scratch + SIZE * k * TILES, listed, runs, to_image, o_h, o_w)


@native
def tiles_summed(source, weights, bias, to, run_at, GIVEN):
    """The results of a run of tiles as plain sums, one by one."""
    run = i64(run_at)
    for place in range(4 * run[4]):
        h, w = run[2] + place % 4 // 2, run[3] + place // 4 * 2 + place % 2
        if h < o_h and w < o_w:
            total = T(0)
            for s in range(channels):
                for tap in range(9):
                    e = 8 - tap if transposed else tap
                    y, x = h + from_h + e // 3, w + from_w + e % 3
                    inside = y >= 0 and y < i_h and x >= 0 and x < i_w
                    number = floats(source)[run[1] * image + s * i_h * i_w + y * i_w + x] if inside else T(0)
                    weight = floats(weights)[s * a_channel + tap]
                    total = fma(weight, number, total) if inside or not transposed or weight - weight == T(0) else total
            if bias != 0:
                total += floats(bias)[0]
            floats(to)[run[1] * to_image + h * o_w + w] = total


'''

ALONE = '''\
@native
def filter_line(at, step):
    first, middle, last = floats(at)[0], floats(at)[step], floats(at)[2 * step]
    ends = first + last
    floats(at)[step], floats(at)[2 * step], floats(at)[3 * step] = T(0.5) * (ends + middle), T(0.5) * (ends - middle), last


@native
def result_line(at, step):
    a, b, c, d = floats(at)[0], floats(at)[step], floats(at)[2 * step], floats(at)[3 * step]
    total, rest = b + c, b - c
    floats(at)[0], floats(at)[step] = a + total, rest - d


@native
def tile_turned(source, weights, bias, to, run_at, GIVEN):
    """The results of one tile; 1 where they are finite."""
    run, finite_all = i64(run_at), 1
    filter, window, sums = local_floats(16), local_floats(16), local_floats(16)
    for k in range(16):
        floats(sums)[k] = T(0)
    for s in range(channels):
        for k in range(9):
            floats(filter)[k // 3 * 4 + k % 3] = floats(weights)[s * a_channel + (8 - k if transposed else k)]
        for k in range(16):
            y, x = run[2] + from_h + k // 4, run[3] + from_w + k % 4
            inside = y >= 0 and y < i_h and x >= 0 and x < i_w
            floats(window)[k] = floats(source)[run[1] * image + s * i_h * i_w + y * i_w + x] if inside else T(0)
        for k in range(4):
            if k < 3:
                filter_line(filter + SIZE * 4 * k, 1)
            window_line(window + SIZE * 4 * k, 1)
        for k in range(4):
            filter_line(filter + SIZE * k, 4)
            window_line(window + SIZE * k, 4)
        for k in range(16):
            floats(sums)[k] = fma(floats(filter)[k], floats(window)[k], floats(sums)[k])
    for k in range(4):
        result_line(sums + SIZE * k, 4)
    for k in range(2):
        result_line(sums + SIZE * 4 * k, 1)
    for k in range(4):
        h, w, total = run[2] + k // 2, run[3] + k % 2, floats(sums)[k // 2 * 4 + k % 2]
        if bias != 0:
            total += floats(bias)[0]
        if h < o_h and w < o_w:
            floats(to)[run[1] * to_image + h * o_w + w] = total
            finite_all = finite_all if total - total == T(0) else 0
    return finite_all


'''
