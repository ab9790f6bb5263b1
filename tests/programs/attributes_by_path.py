"""Objects that have some attributes on some paths only, and dicts and lists whose places a run finds."""

import random
import types

from programs_compare import program, t

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)


class Box:
    """An object with an attribute."""

    def __init__(self, v):
        self.v = v


@program(*SETS)
def deleted(x):
    b = Box(x)
    if x.sum() > 5:
        del b.v
    return hasattr(b, "v"), getattr(b, "v", None), x * 1


@program(*SETS)
def deleted_read(x):
    b = Box(x)
    if x.sum() > 5:
        del b.v
    return b.v * 2


@program(*SETS)
def late(x):
    b = Box(x)
    if x.sum() > 5:
        b.best = x * 2
    if hasattr(b, "best"):
        return b.best * 3
    return b.v


@program(*SETS)
def late_caught(x):
    b = Box(x)
    if x.sum() > 5:
        b.best = x * 2
    try:
        return b.best
    except AttributeError as e:
        return x * 1, str(e)


@program(*SETS)
def late_namespace(x):
    s = types.SimpleNamespace(n=1)
    if x.sum() > 5:
        s.k = 3
    else:
        s.m = 4
    return x * getattr(s, "k", 5), hasattr(s, "m"), s.n


@program(*SETS)
def late_both_orders(x):
    b = Box(x)
    if x.sum() > 5:
        b.p = 1
        b.q = x
    else:
        b.q = x * 2
        b.p = 2
    return b.p, b.q


@program(*SETS)
def late_then_set(x):
    b = Box(x)
    if x.sum() > 5:
        b.p = 1
    b.p = 7
    return b.p, x * 1


@program(*SETS)
def late_deleted(x):
    b = Box(x)
    if x.sum() > 5:
        b.p = 1
    if hasattr(b, "p"):
        del b.p
    return hasattr(b, "p"), x * 1


@program(*SETS)
def late_nested(x):
    b = Box(Box(x))
    if x.sum() > 5:
        b.v.k = x * 2
        if x[0] > 4:
            b.v.j = 1
    return hasattr(b.v, "k"), hasattr(b.v, "j"), x * 1


@program(*SETS)
def printed_late(x):
    b = types.SimpleNamespace(a=1)
    if x.sum() > 5:
        b.p = 1
    print(b)
    return x * 1


@program(*SETS)
def counts(x):
    d = {1: 0, -2: 0, 3: 0, 5: 0}
    for v in x:
        d[int(v)] += 1
    return d


@program(*SETS)
def set_by_key(x):
    d = {0: x * 2, 1: x * 3}
    k = int(x.sum() > 5)
    d[k] = x * 5
    return d[0], d[1]


@program(*SETS)
def shuffled(x):
    random.seed(3)
    numbers = [1, 2, 3]
    random.shuffle(numbers)
    m = [x, x * 2]
    random.shuffle(m)
    return numbers, m, random.random()


@program(*SETS)
def sampled(x):
    random.seed(3)
    drawn = (
        random.sample([1, 2, 3], 2),
        random.choices("abc", k=2),
        random.choices([x, x * 2], weights=[1, 5], k=3),
        random.sample(range(10), 3),
        random.choice([1, 2]),
    )
    return drawn, random.random()


@program(*SETS)
def late_in_a_loop(x):
    box = Box(x)
    while x.sum() < 10:
        x = x.abs() + 1
        box.last = x * 2
        if x.sum() > 8:
            box.large = True
    return getattr(box, "last", None), hasattr(box, "large"), x
