"""Loops."""

import itertools

from feature_rows import rows_of, t

import d2s

row = rows_of("Loops")
COUNTS = tuple((t([1.0, 2.0]), t(n)) for n in (0, 1, 5))
MATRIX = (t([[1.0, 2.0], [3.0, 4.0]]),), (t([[-1.0, 2.0], [-3.0, 4.0]]),)


@row("`while`")
def plain_while(x):
    while x.sum() < 10:
        x = x * x + 1
    return x


@row("`while True` with tensor break")
def while_true(x):
    n = 0
    while True:
        x = x * x + 1
        n += 1
        if x.sum() > 20:
            break
    return x, n


@row("loop changes a carried shape", ((t([[1.0, 2.0]]),), (t([[-1.0, 2.0]]),)))
def carried_shape(x):
    n = x.sum()
    while n < 9:
        x = x.sum(0)
        n = n + 10
    return x * 2


@row("loop grows a carried extent", sets=((t([1.0, 2.0]),), (t([0.5, 0.25]),), (t([20.0, 1.0]),)))
def carried_extent(x):
    while x.sum() < 10:
        x = d2s.concat([x, x])
    return x * 2


@row("carried None becomes a tensor")
def carried_none(x):
    y = None
    while x.sum() < 10:
        x = x * x + 1
        y = x if y is None else y + x
    return x * 1 if y is None else y


@row("variable first defined in the loop")
def defined_in_loop(x):
    y = x - 1
    while y.sum() < 10:
        z = y * y + 1
        y = z * 2
    return z


@row("`for i in range(tensor)`", COUNTS)
def range_of_tensor(x, n):
    for i in range(n):
        x = x * 1.5 + i
    return x


@row("`for row in tensor`", MATRIX)
def rows_of_tensor(x):
    total = x[0] * 0
    for part in x:
        if part.sum() > 0:
            total = total + part
    return total


@row("`enumerate` of a tensor", MATRIX)
def enumerated(x):
    total = x[0] * 0
    for i, part in enumerate(x):
        total = total + part * i
    return total


@row("`zip` of tensors", MATRIX)
def zipped(x):
    total = x[0] * 0
    for a, b in zip(x, x * 2):  # noqa: B905
        total = total + a * b
    return total


@row("`reversed` tensor", MATRIX)
def reversed_rows(x):
    total = x[0] * 0
    for part in reversed(x):
        total = total * 2 + part
    return total


@row("Python range with tensor break")
def python_range_break(x):
    for i in range(6):  # noqa: B007
        x = x + 1
        if x.sum() > 8:
            break
    return x, i


@row("`continue`", COUNTS)
def continues(x, n):
    for i in range(n):
        if i % 2 == 0:
            continue
        x = x + i
    return x


@row("`for`-`else` over Python items")
def for_else_python(x):
    for _ in range(3):
        x = x + 1
        if x.sum() > 5:
            break
    else:
        x = x * 2
    return x


@row("`for`-`else` over a tensor's count", COUNTS)
def for_else_tensor(x, n):
    for i in range(n):
        if i > 2:
            break
        x = x + 1
    else:
        x = x * 2
    return x


@row("`while`-`else` on Python")
def while_else_python(x):
    n = 0
    while n < 3:
        n += 1
        if x.sum() > 0:
            break
    else:
        x = x * 2
    return x, n


@row("`while`-`else` on a tensor")
def while_else_tensor(x):
    while x.sum() < 10:
        x = x * x + 1
        if x.max() > 5:
            break
    else:
        x = x * 2
    return x


@row("`return` inside a loop")
def return_in_loop(x):
    while x.sum() < 10:
        x = x * x + 1
        if x.max() > 5:
            return x * 2
    return x - 1


@row("nested if/while/break/continue", COUNTS)
def nested(x, n):
    for i in range(n):
        if i == 1:
            continue
        while x.sum() < 50:
            x = x * 2 + 1
            if x.max() > 9:
                break
    return x


@row("infinite Python iterator with break")
def infinite_iterator(x):
    for i in itertools.count(1):  # noqa: B007
        x = x * x + 1
        if x.sum() > 20:
            break
    return x, i
