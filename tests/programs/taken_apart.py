"""Objects of the user's taken apart: by several targets, by stars, by functions that go over them; and calls in all forms."""

import itertools

from programs_compare import program, t

import d2s

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)


class Loud:
    """Says what it is asked."""

    def __init__(self, v):
        self.v = v

    def __iter__(self):
        print("iterated")
        return iter([self.v[0], self.v * 2])

    def keys(self):
        print("keys")
        return ["a", "b"]

    def __getitem__(self, key):
        print("item", key)
        return self.v + 1


def product(a, b):
    return a * b


@program(*SETS)
def into_two_targets(x):
    a, b = Loud(x)
    return a + b


@program(*SETS)
def into_a_star(x):
    a, *b = Loud(x)
    return a, b


@program(*SETS)
def by_a_star_of_a_call(x):
    return product(*Loud(x))


@program(*SETS)
def by_two_stars_of_a_call(x):
    return product(**Loud(x))


@program(*SETS)
def by_two_stars_of_a_dict(x):
    return {**Loud(x)}


@program(*SETS)
def by_a_loop(x):
    for a, b in [Loud(x)]:
        x = x + a * b
    return x


@program(*SETS)
def zipped(x):
    return [a * b for a, b in zip(Loud(x), [1, 2], strict=True)], x * 1


@program(*SETS)
def enumerated(x):
    return [i for i, a in enumerate(Loud(x))], x * 1


@program(*SETS)
def chained(x):
    return len(list(itertools.chain(Loud(x), [1])))


@program(*SETS)
def mapped(x):
    return list(map(d2s.tanh, Loud(x)))


@program(*SETS)
def yielded_from(x):
    def g():
        yield from Loud(x)

    return list(g())


@program(*SETS)
def made_a_dict(x):
    return dict(Loud(x))


@program(*SETS)
def many_targets(x):
    d = {}
    d["a"], (d["b"], *rest) = x, [1, 2, 3]
    return d, rest


@program(*SETS)
def parameters_of_all_kinds(x):
    def f(a, b=2, *args, c=3, **kw):
        return a * b * c + len(args) + len(kw)

    return f(x), f(x, 1), f(x, 1, 2, c=4, d=5), f(a=x, z=1)


@program(*SETS)
def lambdas_with_defaults(x):
    g = lambda v, n=3: v * n  # noqa: E731
    return g(x), g(x, n=2), (lambda *a, **k: a[0])(x), (lambda: x)()


@program(*SETS)
def functions_that_call_each_other(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return x * even(4)


@program(*SETS)
def a_generator_that_is_sent_to(x):
    def g():
        total = x
        while True:
            v = yield total
            if v is None:
                return
            total = total + v

    it = g()
    next(it)
    a = it.send(1)
    b = it.send(2)
    return a, b


@program(*SETS)
def what_a_generator_returns(x):
    def g():
        yield x
        return x * 5

    def h():
        r = yield from g()
        yield r

    return list(h())


@program(*SETS)
def nested_loops_with_else(x):
    for i in range(3):
        for j in range(2):
            if x.sum() + i + j > 12:
                break
        else:
            continue
        x = x * 2
        break
    else:
        x = x - 1
    return x, i, j


@program(*SETS)
def slices_deleted(x):
    parts = [x, x * 2, x * 3]
    del parts[:2]
    del parts[-1:]
    return parts
