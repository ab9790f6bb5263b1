"""Programs whose loops are left early, run over tensors and counts of run time, or have an `else`."""

from programs_compare import program, t

import d2s

COUNTS = tuple((t([1.0, 2.0]), t(n)) for n in (0, 1, 2, 5, 9))
SETS = (t([1.0, 2.0]),), (t([-8.0, 2.0]),), (t([30.0, 2.0]),)
ROWS = (t([[1.0, 2.0], [3.0, 4.0], [0.5, 0.5]]),), (t([[1.0, 1.0], [0.2, 0.3], [0.5, 0.5]]),), (t([[9.0, 9.0]]),)


@program(*SETS)
def break_in_a_while(x):
    while x.sum() < 20:
        x = x * x + 1
        if x.sum() > 15:
            break
        x = x + 0.5
    return x


@program(*COUNTS)
def continue_in_a_for(x, n):
    s = x * 0
    for i in range(n):
        if i % 2 == 0:
            continue
        s = s + x * i
    return s


@program(*COUNTS)
def return_in_a_for(x, n):
    for i in range(n):
        x = x * 2
        if x.sum() > 10:
            return x, i
    return x - 1, -1


@program(*SETS)
def break_of_a_python_range(x):
    for i in range(6):  # noqa: B007
        x = x + 1
        if x.sum() > 8:
            break
    return x, i


@program(*SETS)
def break_of_a_long_python_range(x):
    for i in range(3, 90, 2):
        x = x * 1.25 + i * 0.1
        if x.sum() > 80:
            break
    else:
        i = -1
    return x, i


@program(*SETS)
def while_true(x):
    while True:
        x = d2s.abs(x) * 1.5 + 1
        if x.sum() > 50:
            break
    return x


@program(*COUNTS)
def variable_of_the_loop_after_it(x, n):
    last = x
    for i in range(n):
        last = x * i
    return last


@program(*COUNTS[1:])
def first_defined_in_the_loop(x, n):
    for i in range(n):
        y = x * i
    return y, i


@program(*COUNTS)
def unbound_after_no_trip(x, n):
    for i in range(n):
        y = x * i
    return y


@program(*COUNTS)
def for_in_for_with_break_and_else(x, n):
    for i in range(n):
        for j in range(i):
            if j == 2:
                break
            x = x + j
        else:
            x = x + 100
    return x


@program(*COUNTS)
def continue_and_return_in_a_while(x, n):
    i = 0
    while i < n:
        i += 1
        if i == 3:
            continue
        if i > 6:
            return x * i
        x = x + i
    return x


@program(*COUNTS)
def else_of_a_while(x, n):
    i = 0
    while i < n:
        x = x * 1.5
        if x.sum() > 12:
            break
        i += 1
    else:
        x = -x
    return x, i


@program(*COUNTS)
def two_conditions_that_go_on(x, n):
    for i in range(n):
        if i > 1:
            x = x + 1
            if x.sum() > 9:
                continue
        else:
            x = x - 1
        x = x * 1.1
    return x


@program(*COUNTS)
def range_with_start_and_step(x, n):
    s = x
    for i in range(1, n, 2):
        s = s + i
    for i in range(n, 0, -3):
        s = s * 1.0 + i
    return s


@program(*COUNTS)
def assigning_the_count_steers_nothing(x, n):
    for i in range(n):
        i = i + 10
        x = x + i
    return x


@program(*COUNTS)
def return_out_of_two_loops(x, n):
    for i in range(n):
        for j in range(n):
            x = x + 1
            if x.sum() > 20:
                return x, i, j
    return x, None, None


@program(*COUNTS)
def none_until_found(x, n):
    found = None
    for i in range(n):
        x = x * 1.5
        if found is None and x.sum() > 5:
            found = i
    return found, x


@program(*SETS)
def return_in_a_while_true(x):
    while True:
        if x.sum() > 40:
            return x
        x = d2s.abs(x) * 2


@program(*COUNTS)
def break_before_the_test_runs_again(x, n):
    values = (3, 1, 2)
    i = 0
    while values[0] > i * 0 and i < n:
        if i == 2:
            break
        x = x * values[0]
        i += 1
    return x


@program(*COUNTS)
def none_before_the_loop(x, n):
    i, y = 0, None
    while i < n:
        y = x if y is None else y * 2
        i += 1
    return y


@program(*((t(s), t(n)) for s in (1.0, 9.0) for n in (0, 5)))
def bound_by_what_is_never_reached(s, n):
    while n < 3:
        if s > 5.0:
            break
        return s * 2.0
        late = s
    return s + (late if s > 5.0 else s) - 3.0


@program(*((t(s),) for s in (1.0, -1.0)))
def only_annotated(s):
    late: object
    if s > 0:
        return s * 2.0
    return s * late  # noqa: F821
