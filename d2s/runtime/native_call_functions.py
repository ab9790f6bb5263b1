"""The native functions of `native_call`: what of a call is plain arithmetic on addresses.

In: nothing. Out: FUNCTIONS, in the small part of Python that `native_functions` knows. Names in brackets are words of a head:
see CALL in `native_text`.

>>> "def came_out" in FUNCTIONS
True
"""

FUNCTIONS = '''
@native
def int_at(object, to):
    """Writes what a Python int is; -1: it has more than two digits, of 30 bits each."""
    size, digits, sign = i64(object + 16)[0], i32(object + 24), 1
    if tagged == 1:
        sign = 1 - size % 4
        size = size // 8
    if size < 0:
        size, sign = 0 - size, 0 - 1
    if size > 2:
        return 0 - 1
    number = 0
    if size > 0:
        number = digits[0]
    if size > 1:
        number = number + digits[1] * 1073741824
    i64(to)[0] = sign * number
    return 0


@native
def int_of(object, to):
    """The same, for who asks whether it reads right: what others call has no address."""
    return int_at(object, to)


@native
def bind(head, frame, items):
    """The registers of a call. -1: an argument is not what the plan takes; 1: one wants a gradient."""
    h, f, x = i64(head), i64(frame), i64(items)
    count, row, wants = h[inputs], h[rows], 0
    r = i64(frame + (3 + 2 * count + h[outputs]) * 8)
    r[0], r[1] = f[1], f[2]
    memory, room = r[h[stacks_at]], r[h[stacks_at] + 1]
    for k in range(h[stacks]):
        stack = i64(h[stack_rows])[k]
        r[stack], r[stack + 1], r[stack + 2] = memory + k * room, 0, room
    for k in range(count):
        told, tensor = i64(row), i64(x[k])
        register, axes = told[1], told[2]
        f[3 + k], row = 0, row + 40
        if tensor[1] != told[0]:
            return 0 - 1
        if axes == 0 - 1:
            f[3 + count + k] = tensor[2]
            r[register] = frame + (3 + count + k) * 8
        if axes == 0 - 3:
            if int_at(x[k], frame + (3 + count + k) * 8) < 0:
                return 0 - 1
            r[register] = frame + (3 + count + k) * 8
        if axes == 0 - 2:
            f[3 + k] = x[k]
            r[register], r[register + 1], r[register + 2] = tensor[2], i64(tensor[4])[0], 0
        if axes >= 0:
            place, stop = x[k], h[true]
            if told[0] != h[array_type]:
                place, stop = i64(x[k] + h[array_at])[0], i64(x[k] + h[stop_at])[0]
                if place == 0:
                    return 0 - 1
            array, flags = i64(place), i32(place + 64)[0]
            if array[1] != h[array_type] or flags % 2 == 0 or flags // 256 % 2 == 0:
                return 0 - 1
            if i64(array[7] + 24)[0] != told[3] or i32(place + 24)[0] != axes:
                return 0 - 1
            if told[4] != 0 and stop != told[4]:
                return 0 - 1
            if stop != h[true]:
                wants = 1
                if stop != h[false]:
                    return 0 - 1
            extents = i64(array[4])
            for axis in range(axes):
                wanted = i64(row)[axis]
                if wanted >= 0:
                    if extents[axis] != wanted:
                        return 0 - 1
                else:
                    kept = (0 - wanted) // 2
                    if (0 - wanted) % 2 == 1:
                        r[kept] = extents[axis]
                        if extents[axis] == 1:
                            return 0 - 1
                    if r[kept] != extents[axis]:
                        return 0 - 1
            f[3 + k] = place
            r[register] = array[2]
            row = row + axes * 8
    return wants


@native
def extents_of(registers, row, to):
    """The extents of an output, and one more than it has elements; 0 if that is more than memory may hold."""
    r, told, dims, size = i64(registers), i64(row), i64(to), 1
    for axis in range(told[3]):
        d = told[5 + axis]
        if d < 0:
            d = r[0 - d]
        if d > 0 and size > largest // d:
            return 0
        size = size * d
        dims[axis] = d
    return size + 1


@native
def came_out(head, frame, row):
    """Which input came out as it went in at an output; -1: none, or more than one."""
    h, f, told = i64(head), i64(frame), i64(row)
    count, found = h[inputs], 0 - 1
    r = i64(frame + (3 + 2 * count + h[outputs]) * 8)
    if told[0] == told[1]:
        return 0 - 1
    for k in range(count):
        if f[3 + k] != 0:
            array = i64(f[3 + k])
            if array[1] == h[array_type] and array[2] == r[told[1]]:
                if found >= 0:
                    return 0 - 1
                found = k
    return found
'''
