"""Programs whose variables are of one kind or another, by the path: None, strings, other shapes and dtypes, nothing at all."""

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),)
COUNTS = tuple((t([1.0, 2.0]), t(n)) for n in (0, 1, 3))


@program(*SETS)
def none_or_a_tensor(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    if y is None:
        return x
    return y + 1


@program(*SETS)
def a_string_by_the_path(x):
    if x.sum() > 0:
        mode, k = "add", 1
    else:
        mode, k = "take", "two"
    if mode == "add":
        x = x + k
    return x, mode, k


@program(*SETS)
def unbound_in_one_arm(x):
    if x.sum() > 0:
        z = x * 3
    return z


@program(*SETS)
def shape_by_the_path(x):
    if x.sum() > 0:
        y = x.sum()
    else:
        y = x * 2
    return y * 3


@program(*SETS)
def shape_by_the_path_in_a_list(x):
    y = x[:1] if x.sum() > 0 else x
    return d2s.concat([y, x]), d2s.concat([x, y], axis=0)


@program(*SETS)
def dtype_by_the_path(x):
    y = x.astype("float64") if x.sum() > 0 else x
    z = y * y
    return z + 1


@program(*SETS)
def raise_on_one_path(x):
    if x.sum() < 0:
        raise ValueError("below zero")
    return x + 1


@program(*SETS)
def assert_on_a_tensor(x):
    assert x.sum() > 0, "not positive"
    return x * 2


@program(*SETS)
def a_shape_that_does_not_fit_on_one_path(x):
    if x.sum() < 0:
        return x @ x
    return x


@program(*SETS)
def operand_of_or(x):
    y = (x.sum() > 0) or None
    return x if y is None else x * 3


@program(*SETS)
def narrowed_by_and(x):
    y = x * 2 if x.sum() > 0 else None
    if y is not None and y.sum() > 3:
        return y
    return x - 1


@program(*SETS)
def a_function_by_the_path(x):
    f = (lambda v: v * 2) if x.sum() > 0 else (lambda v: v - 1)
    return f(x)


@program(*SETS)
def a_tuple_by_the_path(x):
    pair = (x, x * 2) if x.sum() > 0 else (x,)
    total = x * 0
    for part in pair if len(pair) == 2 else (x, x, x):
        total = total + part
    return total


@program(*SETS)
def in_a_tuple_of_strings(x):
    mode = "a" if x.sum() > 0 else "b"
    return x * 2 if mode in ("a", "c") else x * 3


@program(*COUNTS)
def integer_then_float(x, n):
    s = 1
    for _ in range(n):
        s = s / 2
    return x * s, s


@program(*COUNTS)
def divided_by_a_count(x, n):
    k = 0
    for _ in range(n):
        k = k + 1
    return x * (7 // k), 7 % k, 1 / k


@program(*SETS)
def the_same_question_twice(x):
    if x.sum() > 0:
        y = x * 2
    x = x + 0
    if x.sum() > 0:
        return y
    return x


@program(*SETS)
def isinstance_of_one_of_several(x):
    y = 1 if x.sum() > 0 else "no"
    if isinstance(y, int):
        return x + y
    return x
