"""Parts of kernel texts of convolutions: a source copied with its padding, and what is looked for in numbers that were made.

In: nothing. Out: texts of native functions.

>>> COPIED.count("@native"), LOOKED.count("@native")
(3, 2)
"""

COPIED = '''\
@native
def rows_copied(to, to_pitch, source, pitch, rows, begin, count, extent, step):
    """In each row count numbers from begin on, every so many; 0 where there are none."""
    if step <= 2:
        for v in range(0, count, LANES):
            at = begin + v * step
            if step == 1:
                block(to + v * SIZE, to_pitch, source + at * SIZE, pitch, rows, -at, extent - at, count - v)
            else:
                first, last = (1 - at) // 2, (extent - at + 1) // 2
                block2(to + v * SIZE, to_pitch, source + at * SIZE, pitch, rows, first, last, count - v)
    else:
        for k in range(rows):
            for v in range(count):
                at = begin + v * step
                inside = at >= 0 and at < extent
                floats(to)[k * to_pitch + v] = floats(source)[k * pitch + at] if inside else T(0)


@native
def rows_parted(to, apart, to_pitch, source, pitch, rows, begin, count, extent):
    """In each row count numbers from begin on, every other one, and behind them the others; 0 where there are none."""
    for v in range(0, count, LANES):
        at = begin + v * 2
        parted(to + v * SIZE, apart, to_pitch, source + at * SIZE, pitch, rows, -at, extent - at, count - v)


@native
def channel_copied(to, source, i_d, i_h, i_w, b_d, b_h, b_w, l_d, l_h, l_w, step_d, step_h, step_w, remainders):
    """A channel with its padding: rows, and in each the columns of one remainder by the step behind each other."""
    pitch = remainders * l_w
    h_0 = min_of(l_h, max_of(0, (step_h - 1 - b_h) // step_h))
    h_1 = max_of(h_0, min_of(l_h, (i_h - 1 - b_h) // step_h + 1))
    for d in range(l_d):
        from_d = b_d + d * step_d
        inside = from_d >= 0 and from_d < i_d
        first, last = h_0 if inside else l_h, h_1 if inside else l_h
        row = source + (from_d * i_h + b_h + first * step_h) * i_w * SIZE
        at = to + d * l_h * pitch * SIZE
        rows_copied(at, pitch, source, 0, first, 0, pitch, 0, 1)
        into = at + first * pitch * SIZE
        if remainders == 2:
            rows_parted(into, l_w, pitch, row, step_h * i_w, last - first, b_w, l_w, i_w)
        else:
            for part in range(remainders):
                rows_copied(into + part * l_w * SIZE, pitch, row, step_h * i_w, last - first, b_w + part, l_w, i_w, step_w)
        rows_copied(at + last * pitch * SIZE, pitch, source, 0, l_h - last, 0, pitch, 0, 1)


'''

LOOKED = '''\
@native
def nans(at, lines, pitch, count, to):
    """How many lines hold a nan; `to` is room for an int."""
    found = 0
    for m in range(lines):
        odd(at + m * pitch * SIZE, count, to)
        found += i64(to)[0]
    return found


@native
def finite(at, count):
    for k in range(count):
        if not floats(at)[k] - floats(at)[k] == T(0):
            return 0
    return 1


'''
