"""Programs that assign variables of the module and of outer functions: what others read then, and what stays behind."""

import random

from effects import A, B, box, row
from programs_compare import t

TOTAL = 0
LAST = None
SIGNS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([3.0, 0.5]),)


@row(*SIGNS, captures=1)
def a_counter_of_an_outer_function():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        if x.sum() > 0:
            n = n + 10
        return x * n

    return f, lambda: n


@row(*SIGNS, captures=1)
def a_number_of_the_module():
    global TOTAL
    TOTAL = 2.5

    def read(x):
        return x * TOTAL

    def f(x):
        global TOTAL
        before = read(x)
        if x.sum() > 0:
            TOTAL = TOTAL * 2
            before = before + read(x)
        return before + read(x)

    return f, lambda: TOTAL


@row(*SIGNS, captures=1)
def what_is_only_written_is_not_read():
    global LAST
    LAST = "anything"

    def f(x):
        global LAST
        if x.sum() > 0:
            LAST = x * 2
        return x + 1

    return f, lambda: LAST


@row(*SIGNS, captures=1)
def a_constant_is_written_at_each_call():
    global LAST
    LAST = 0

    def f(x):
        global LAST
        LAST = 0
        return x + 1

    def state():
        global LAST
        found, LAST = LAST, random.random()
        return found

    return f, state


@row((t([1.0]), t(3)), (t([-1.0]), t(0)), (t([-1.0]), t(5)), captures=1)
def assigned_in_a_loop_and_in_a_callee():
    global TOTAL
    TOTAL = 0.0
    seen = None

    def note(x):
        nonlocal seen
        global TOTAL
        seen = x
        TOTAL = TOTAL + 1.0

    def f(x, n):
        for i in range(n):
            if x.sum() > 0:
                note(x * i)
            x = x * -0.5
        return x

    return f, lambda: (seen, TOTAL)


@row(*SIGNS)
def nested_functions_share_a_variable():
    def f(x):
        total = x * 0
        trips = 0

        def add(y):
            nonlocal total, trips
            total = total + y
            trips += 1
            return trips

        def apply(function, y):
            if y.max() > 0.75:
                function(y)
            return y

        for k in range(3):
            apply(add, x - k)
        while total.sum() < 9:
            add(total * 0 + 5)
        return total, trips, add(x)

    return f, lambda: None


@row((t([1.0]), t(4)), (t([-1.0]), t(0)), captures=1)
def a_counter_made_in_each_trip():
    def f(x, n):
        def counted(y):
            k = 0.5

            def more():
                nonlocal k
                k = k + 1

            more()
            if y.sum() > 0:
                more()
            return y * k

        for _ in range(n):
            x = counted(x) - 2
        return x

    return f, lambda: None


@row(*SIGNS, captures=1)
def a_variable_changed_behind_its_reader():
    def f(x):
        k = 1

        def scaled():
            return x * k

        first = scaled()
        k = 2
        if x.sum() > 0:
            k = 3
        return first + scaled()

    return f, lambda: None


@row((A,), (B,), captures=1)
def several_targets_from_left_to_right():
    places = [0, 0, 0]
    n = 0

    def f(x):
        nonlocal n
        n, places[n] = 2, 7
        (n, *rest), places[n] = (1, 2, 3), 8
        n = places[0] = len(rest)
        return x * n

    return f, lambda: (n, list(places))


@row((A,), (B,), (A,), captures=1)
def raised_behind_an_assignment():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        if x.sum() < 0:
            raise ValueError("negative")
        n += 10
        return x

    return f, lambda: n


@row((A,), (B,), captures=1)
def an_assignment_before_a_print():
    global TOTAL
    TOTAL = 1

    def show():
        print("now", TOTAL)

    def f(x):
        global TOTAL
        TOTAL += 1
        show()
        if x.sum() > 0:
            TOTAL += 1
            show()
        return x

    return f, lambda: TOTAL


@row((A,), (B,), (A,), captures=1)
def no_value_before_the_first_assignment():
    global FRESH
    globals().pop("FRESH", None)

    def f(x):
        global FRESH
        if x.sum() > 0:
            FRESH = x * 2
        return x

    return f, lambda: globals().get("FRESH")


@row((B,), (A,), captures=1)
def a_read_of_what_one_path_assigned():
    globals().pop("FRESH", None)

    def f(x):
        global FRESH
        if x.sum() > 0:
            FRESH = x * 2
        return FRESH + 1

    def state():
        return globals().pop("FRESH", None)

    return f, state


@row((A,), (B,), (B,), (A,), captures=4)
def an_attribute_asked_for_behind_a_store_on_some_paths():
    holder = box(v=1)

    def asks(x):
        if x.sum() > 0:
            holder.extra = x
            holder.n = getattr(holder, "n", 0) + 1
        return getattr(holder, "extra", None), hasattr(holder, "n"), getattr(holder, "n", -1)

    return asks, lambda: vars(holder)
