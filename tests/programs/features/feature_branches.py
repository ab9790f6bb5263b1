"""Branches."""

from feature_rows import rows_of, t

import d2s

row = rows_of("Branches")


@row("`if`")
def plain_if(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@row("`if` with early return")
def early_return(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


@row("ternary")
def ternary(x):
    return x * 2 if x.sum() > 0 else x - 1


@row("walrus in a condition")
def walrus(x):
    if (s := x.sum()) > 0:
        return x * s
    return x - s


@row("walrus on the right of `and` in a condition")
def walrus_in_and(x):
    if x.max() > 0 and (s := x.sum()) > 2:
        return x * s
    return x - 1


@row("chained compare")
def chained(x):
    return x * 2 if 0 < x.sum() < 9 else x - 1


@row("variable defined in one branch only", ((t([1.0, 2.0]),), (t([-1.0, -2.0]),)))
def defined_in_one_branch(x):
    if x.sum() > 0:
        y = x * 2
    if x.sum() > 0:
        x = y + 1
    return x * 1


@row("None or tensor")
def none_or_tensor(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    return x * 1 if y is None else y


@row("branch dtype differs")
def dtype_differs(x):
    y = x * 1
    if x.sum() > 0:
        y = d2s.cast(x, "float64")
    return y + 1


@row("branch shape differs")
def shape_differs(x):
    y = x * 1
    if x.sum() > 0:
        y = x.sum()
    return y + 1


@row("branch sets a string")
def sets_a_string(x):
    mode = "a"
    if x.sum() > 0:
        mode = "b"
    return x * 2 if mode == "b" else x - 1, mode


@row("a Python int stays an int")
def int_stays_int(x):
    k = 1
    if x.sum() > 0:
        k = 2
    return k, x * k


@row("`and`/`or` return their operand")
def operand_returned(x):
    return (x.sum() > 0 and x * 2), (x.sum() > 0 or None)


@row("`and` short-circuits (guards an index)", ((t([1.0, 2.0]), t(1)), (t([-1.0, -2.0]), t(5))))
def short_circuit(x, i):
    items = [1.0, 2.0, 3.0]
    return x * 2 if i < 3 and items[i] > 1 else x - 1


@row("`and` in an `if`")
def and_in_if(x):
    if x.sum() > 0 and x.max() < 9:
        return x * 2
    return x - 1


@row("condition on shape, two shapes", ((t([1.0, 2.0]),), (t([1.0, 2.0, 3.0]),)))
def condition_on_shape(x):
    if x.shape[0] > 2:
        return x * 2
    return x - 1


@row("`float(tensor)` in a condition")
def float_in_condition(x):
    if float(x.sum()) > 0:
        return x * 2
    return x - 1


@row("`match` on a tensor value", ((t([1.0, 2.0]), t(0)), (t([1.0, 2.0]), t(1)), (t([1.0, 2.0]), t(7))))
def match_on_tensor(x, k):
    match k:
        case 0:
            return x * 2
        case 1 | 2:
            y = x - 1
        case _:
            y = x
    return y + 1


@row("`match` on structures", (((t([1.0, 2.0]), 1),), ({"a": t([1.0, 2.0])},), (t([-1.0, -2.0]),)))
def match_on_structure(value):
    match value:
        case (x, n) if x.sum() > 0:
            return x * n
        case {"a": x}:
            return x - 1
        case x:
            return x + 1
