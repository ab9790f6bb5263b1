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


@program(*ROWS)
def gone_over_twice(x):
    e, z, r = enumerate(x), zip(x, x, strict=False), reversed(x)
    counts = [len(list(e)), len(list(e)), sum(1 for _ in z), sum(1 for _ in z)]
    total = 0.0
    for row in r:
        total = total + row.sum()
    for _ in r:
        total = total + 100.0
    return counts, total


@program(*ROWS)
def gone_on_with_where_a_tensor_left_it(x):
    e, total = enumerate(x, 1), 0.0
    for k, row in e:
        total = total + k * row.sum()
        if total < 0:
            break
    for k, row in e:
        total = total + 100.0 * k + row.sum()
    return total


@program(*ROWS)
def gone_on_with_by_the_path(x):
    e, it = enumerate(x), iter(x)
    if x.sum() > 5:
        k, row = next(e)
    else:
        k, row = 7, next(it)
    return k, row, [j for j, _ in e], list(it)


@program((t([[1.0, 2.0], [3.0, 4.0]]), t(3)), (t([[1.0, 2.0], [3.0, 4.0]]), t(0)))
def gone_over_in_a_loop(x, n):
    e, c, seen = enumerate(range(n)), itertools.count(5), 0
    for _ in range(n):
        for j, _ in e:
            seen = seen + 10 + j
        seen = seen + next(c)
    return seen, next(e, "none"), next(c)


@program(*ROWS)
def pairs_of_one_iterator(x):
    e = enumerate([*x, *x])
    z, groups = enumerate(x), [iter(x)] * 2
    return list(zip(e, e, strict=False)), list(zip(*groups, strict=False)), next(z)[1], iter(z) is z, next(z)[0], next(z, None)


@program(*ROWS)
def combined(x):
    pairs = [i * j * (a * b).sum() for (i, a), (j, b) in itertools.combinations(enumerate(x), 2)]
    first = list(itertools.islice(enumerate(x), 1, None))
    return (
        pairs,
        first,
        list(itertools.chain(enumerate(x), zip(x, x, strict=False))),
        list(itertools.pairwise(zip(x, x, strict=False))),
    )


@program(*ROWS)
def until_there_is_no_more(x):
    e, last = enumerate(x), None
    while True:
        try:
            k, row = next(e)
        except StopIteration:
            break
        last = row * k
    return last


@program(*SETS)
def whether_a_tensor_holds_a_value(x):
    told = 2.0 in x, 5 in x, x.sum() in x, "a" in x, None in x, x[0] not in x, True in (x > 0), [1] in x, x in x
    return told, 2 in x.reshape([2, 1]), 1.0 in x.sum(), x * 2 if -1 in x else x


@program(*SETS)
def the_length_of_a_number(x):
    return len(x.sum())


@program(*SETS)
def rows_of_a_number(x):
    return [v for v in x.sum()]  # noqa: C416


@program(*SETS)
def a_number_taken_apart(x):
    first, *_ = x.sum()
    return first


@program((t([1.0, 2.0]), t(0)), (t([1.0, 2.0]), t(3)))
def made_in_each_trip(x, n):
    trips = 0
    while trips < n:
        trips += 1
        pairs = zip(x, x, strict=False)
        x = x + sum(p * q for p, q in pairs)
    return x


@program((t([1.0, 2.0, 3.0]),), (t([-1.0, -2.0, 4.0]),))
def next_of_one_of_several_iterators(x):
    it = iter(x) if x.sum() > 2 else reversed(x)
    pairs = enumerate(x, 5) if x[0] > 0 else enumerate(x)
    first, (number, value) = next(it), next(pairs)
    if x[1] > 0:
        first = first + next(it)
    return first, next(it, None), next(it, 7), number * value, list(pairs)
