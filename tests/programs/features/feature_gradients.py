"""Gradients."""

from feature_rows import Subject, rows_of, t

import d2s

row = rows_of("Gradients")


@row("through `if`")
def through_if(x):
    return x * x if x.sum() > 0 else x * 3


@row("through `while`")
def through_while(x):
    while x.sum() < 10:
        x = x * x + 1
    return x


@row("through `break`")
def through_break(x):
    y = x * 1
    for _ in range(5):
        y = y * x
        if y.sum() > 3:
            break
    return y


@row("through list append")
def through_append(x):
    parts = []
    for k in range(3):
        x = x * x if x.sum() > 0 else x + k
        parts.append(x)
    return parts[0] + parts[1] * parts[2]


@row("through nested functions")
def through_nested(x):
    def square(v):
        return v * v if v.sum() > 0 else v * x

    return square(square(x))


@row("through in-place updates")
def through_in_place(x):
    y = x * 2
    y.add_(x)
    if x.sum() > 0:
        y.multiply_(x)
    return y


@row.check("two forwards before one backward")
def two_forwards():
    def f(x):
        while x.sum() < 10:
            x = x * x + 1
        return x.sum()

    grads = []
    for run in (f, d2s.to_static(f)):
        x, y = t([1.0, 2.0]), t([-1.0, 0.5])
        (run(x) * run(y)).backward()
        grads.append((x.grad.numpy().tobytes(), y.grad.numpy().tobytes()))
    assert grads[0] == grads[1]


@row.check("second order")
def second_order():
    found = []
    for run in (_cubed, d2s.to_static(_cubed)):
        x = t([1.0, 2.0])
        (g,) = d2s.grad(run(x).sum(), x, create_graph=True)
        g.sum().backward()
        found.append(x.grad.numpy().tobytes())
    assert found[0] == found[1]


def _cubed(x):
    return x * x * x


@row.check("second order through `if` and `while`")
def second_order_through_flow():
    found = []
    for run in (through_while, d2s.to_static(through_while)):
        x = t([1.0, 2.0])
        (g,) = d2s.grad(run(x).sum(), x, create_graph=True)
        g.sum().backward()
        found.append(x.grad.numpy().tobytes())
    assert found[0] == found[1]


@row.fresh("gradient of an unused branch is what the eager one is", ((t([1.0, 2.0]),), (t([-1.0, -2.0]),)))
def unused_branch():
    w, v = t([2.0, 3.0]), t([4.0, 5.0])
    return Subject(lambda x: x * w if x.sum() > 0 else x - v, watched=(w, v))
