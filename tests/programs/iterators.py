"""Programs that make and run iterators: generators, itertools, tensors taken apart by Python."""

import itertools

from programs_compare import program, t

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),)
ROWS = (t([[1.0, 2.0], [3.0, 4.0]]),), (t([[-1.0, -2.0], [3.0, 4.0]]),)


@program(*SETS)
def unpack(x):
    a, b = x
    return a * b


@program(*ROWS)
def comp(x):
    return [r * 2 if r.sum() > 0 else r for r in x], [*x], list(x), sum(x), sum(r.sum() for r in x)


@program(*SETS)
def anyall(x):
    return any(v > 1 for v in x), all(v > 1 for v in [x.sum(), x.max()]), any([]), all(v for v in (True, x.sum()))


@program(*SETS)
def nexts(x):
    def g(v):
        while True:
            v = v * 2
            yield v

    it = g(x)
    a = next(it)
    b = next(it)
    c = next(iter([]), 5)
    return a + b, c


@program(*SETS)
def yfrom(x):
    def g(v):
        yield v
        r = yield from h(v)
        yield r

    def h(v):
        yield v * 2
        return v * 3

    return list(g(x)), sum(g(x)), [*g(x)], tuple(zip(g(x), range(2), strict=False))


@program(*SETS)
def chained(x):
    out = x * 0
    for p in itertools.chain([x], [x * 2]):
        out = out + p
    for p, q in zip(itertools.count(2), [x, x * 2]):
        out = out + q * p
    for a, b in itertools.product((1, 2), (x,)):
        out = out + b * a
    return out


@program(*SETS)
def count_zip(x):
    n = 0
    for i, _ in zip(itertools.count(), itertools.count(5)):
        x = x * x + 1
        n = n + i
        if x.sum() > 40:
            break
    return x, n
