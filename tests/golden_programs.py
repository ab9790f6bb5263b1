"""Functions whose every stage is kept as a file in `golden/`: add a function and an argument set, update, read the diff."""

import numpy as np

import d2s


def _x(*shape):
    return d2s.to_tensor(np.ones(shape, "float32"), stop_gradient=False)


def straight(x):
    return d2s.tanh(x * 2 + 1).sum()


def branch(x, w):
    if x.sum() > 0:
        y = x @ w
    else:
        y = d2s.relu(x @ w) - 1
    return y.sum()


def early_return(x):
    if x.sum() > 3:
        return (x * x).sum()
    return x.sum()


def loop(x, n):
    i = 0
    while i < n:
        x = x * 0.5 + 1
        i += 1
    return x.sum(), i


def branch_in_loop(x, w, n):
    i = d2s.to_tensor(0)
    h = x
    while i < n:
        h = d2s.tanh(h @ w)
        if h.sum() > 0:
            h = h * h
        i = i + 1
    return (h * x).sum()


def logic(x, y):
    return x if x.sum() > 0 and not y.sum() > 0 else y * 2


def recursion(x, w, n):
    if n > 0:
        return recursion(d2s.tanh(x @ w), w, n - 1) * x.sum()
    return x.sum()


def appended(x, n):
    out = []
    for i in range(n):
        x = x * 0.5 + i
        out.append(x)
    return d2s.stack(out).sum(), out[-1]


GOLDEN = {
    straight: (_x(2, 3),),
    branch: (_x(2, 3), _x(3, 4)),
    early_return: (_x(4),),
    loop: (_x(4), d2s.to_tensor(3)),
    branch_in_loop: (_x(2, 4), _x(4, 4), d2s.to_tensor(3)),
    logic: (_x(2), _x(2)),
    recursion: (_x(2, 4), _x(4, 4), d2s.to_tensor(3)),
    appended: (_x(2), d2s.to_tensor(3)),
}
