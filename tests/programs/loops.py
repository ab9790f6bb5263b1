"""Programs with `while` on tensors and Python loops around tensors; zero, one and many trips."""

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-8.0, 2.0]),), (t([30.0, 2.0, 1.0]),)
COUNTS = (t([1.0, 2.0]), t(0)), (t([1.0, 2.0]), t(1)), (t([1.0, -2.0, 0.5]), t(5))


@program(*SETS)
def while_(x):
    while x.sum() < 20:
        x = x * x + 1
    return x


@program(*COUNTS)
def counted_by_a_tensor(x, n):
    i = n - n
    while i < n:
        x = x * 1.5
        i = i + 1
    return x


@program(*COUNTS)
def counted_by_an_int(x, n):
    i = 0
    while i < n:
        x = x * 1.5 + i
        i += 1
    return x, i


@program(*COUNTS)
def python_float_carried(x, n):
    i, scale = 0, 1.0
    while i < n:
        x = x * scale
        scale = scale * 0.5
        i += 1
    return x, scale


@program(*COUNTS)
def bool_carried(x, n):
    i, odd = 0, False
    while i < n:
        odd = not odd
        i += 1
    return odd, x * 2


@program(*COUNTS)
def if_in_while(x, n):
    i = 0
    while i < n:
        if x.sum() > 2:
            x = x - 1
        else:
            x = x * 3
        i += 1
    return x


@program(*COUNTS)
def while_in_if(x, n):
    if x.sum() > 0:
        i = 0
        while i < n:
            x = x * 1.1
            i += 1
    return x * 2


@program(*COUNTS)
def while_in_while(x, n):
    i = 0
    while i < n:
        j = 0
        while j < i:
            x = x * 1.1 + 0.1
            j += 1
        i += 1
    return x


@program(*COUNTS)
def python_loop_around_while(x, n):
    for k in range(3):
        i = 0
        while i < n:
            x = x + 0.25 * k
            i += 1
    return x


@program(*COUNTS)
def python_loop_in_while(x, n):
    i = 0
    while i < n:
        for k in range(3):
            x = x * 0.5 + k
        i += 1
    return x


@program(*COUNTS)
def and_in_the_test(x, n):
    i = 0
    while i < n and x.sum() < 3:
        x = x + 1
        i += 1
    return x, i


@program(*COUNTS)
def not_in_the_test(x, n):
    i = n - n
    while not i >= n:
        x = x + 1
        i = i + 1
    return x


@program(*COUNTS)
def swap_in_while(x, n):
    a, b, i = x * 1, x * 2, 0
    while i < n:
        a, b = b, a + b
        i += 1
    return a, b


@program(*COUNTS)
def rotate_three(x, n):
    a, b, c, i = x * 1, x * 2, x * 3, 0
    while i < n:
        a, b, c = b, c, a
        i += 1
    return a + b * 2 - c


@program(*COUNTS)
def two_results_of_one_value(x, n):
    i, y = 0, x * 1
    while i < n:
        y = y * 0.5
        i += 1
    return y, y


@program(*COUNTS)
def local_of_the_body(x, n):
    i = 0
    while i < n:
        part = x * 0.5
        x = part + 1
        i += 1
    return x * 1


@program(*COUNTS)
def body_reads_what_it_does_not_change(x, n):
    w, i, y = x * 0.5, 0, x * 1
    while i < n:
        y = y * w
        i += 1
    return y


@program(*COUNTS)
def used_after_and_before(x, n):
    before = x * x
    i, y = 0, x * 1
    while i < n:
        y = d2s.tanh(y + x)
        i += 1
    return before + y + x


@program(*COUNTS)
def for_over_range(x, n):
    for i in range(4):
        x = x * 0.5 + i
    return x


@program(*COUNTS)
def for_over_a_list_of_tensors(x, n):
    total = x * 0
    for part in [x, x * 2, x * 3]:
        total = total + part
    return total


@program(*COUNTS)
def enumerate_zip_reversed(x, n):
    for i, (a, b) in enumerate(zip([1.0, 2.0], reversed([3.0, 4.0]), strict=True)):
        x = x * a - b + i
    return x


@program(*COUNTS)
def python_break_and_continue(x, n):
    for i in range(10):
        if i == 1:
            continue
        if i == 4:
            break
        x = x + i
    else:
        x = x * 100
    return x


@program(*COUNTS)
def for_else(x, n):
    for i in range(2):
        x = x + i
    else:
        x = x * 10
    return x


@program(*COUNTS)
def python_while_then_tensor(x, n):
    i = 0
    while i < 3:
        x = x * 1.5 if x.sum() < 4 else x - 1
        i += 1
    return x


@program(*COUNTS)
def return_in_a_python_loop(x, n):
    for i in range(5):
        x = x + 1
        if i == 2:
            return x
    return x * 0


@program(*COUNTS)
def comprehension(x, n):
    return [x * i for i in range(3)]


@program(*COUNTS)
def comprehension_with_ternary(x, n):
    return [x * i if x.sum() > 0 else x - i for i in range(3)]


@program(*COUNTS)
def matmul_in_while(x, n):
    i = 0
    w = d2s.matmul(x * 1.0, x * 0.1, False, False) if x.ndim == 2 else x
    while i < n:
        w = w * 0.5 + x
        i += 1
    return w


@program(*COUNTS)
def two_loops(x, n):
    i = 0
    while i < n:
        x = x * 1.5
        i += 1
    while i > 0:
        x = x - 0.5 * i
        i -= 1
        if n < i:
            x = x * 2
    return x


@program((t([1.0]), t(1000)), (t([1.0]), t(3)))
def many_trips(x, n):
    i = n - n
    while i < n:
        x = x * 0.999 + 0.001
        i = i + 1
    return x


@program((t([1.0, 2.0]), t(3)), (t([1.0, 2.0]), t(0)))
def gradient_reaches_carry_at_some_trips(x, n):
    i, y = 0, x * 0
    while i < n:
        if i == 1:
            y = y + x
        i += 1
    return y


@program((t([1.0, 2.0]), t(3)), (t([-1.0, -2.0]), t(2)), (t([1.0, 2.0]), t(0)))
def one_name_for_what_each_of_two_loops_makes_by_the_path(x, n):
    step = x * 0.5
    total = x + step
    for _ in range(n):
        if x.sum() > 0:
            step = x * 2
        else:
            step = x
        step = step + 1
        total = total + step
    while n > 0:
        for row in x:
            if row > 1:
                step = row * 3
            else:
                step = row
            step = step - 1
            total = total + step
        n = n - 1
    return total


@program((t([0.5, 1.0]),), (t([-1.0, 2.0, 0.25]),))
def numbers_of_items_have_no_gradient_in_loops_behind_each_other(x):
    y = x * 1.0
    for s in x:
        y = y + float(s)
    for s in x:
        y = y + s.item() * 0.5
    for s in x:
        for r in x:
            y = y + float(r)
        y = y + int(s)
    return y
