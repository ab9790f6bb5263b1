"""Functions."""

import functools

from feature_rows import Subject, rows_of, t

import d2s

row = rows_of("Functions")
TOTAL = 0


@row("`nonlocal` assignment of a nested function")
def nested_nonlocal(x):
    n = 0

    def bump():
        nonlocal n
        n += 1
        return x * n

    if x.sum() > 0:
        bump()
    return bump(), n


@row.fresh("`nonlocal` assignment")
def outer_nonlocal():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n

    return Subject(f, lambda: n)


@row.fresh("`global` assignment")
def global_assignment():
    global TOTAL
    TOTAL = 0

    def f(x):
        global TOTAL
        if x.sum() > 0:
            TOTAL = TOTAL + 1
        return x * 2

    return Subject(f, lambda: TOTAL)


def countdown(x, n):
    if n > 0:
        return countdown(x * 0.5 + 1, n - 1) + 1
    return x


@row("recursion on a tensor condition", ((t([1.0, 2.0]), t(3)), (t([1.0, 2.0]), t(0))))
def recursion(x, n):
    return countdown(x, n)


@row("recursion on a tensor condition, depth 500", ((t([1.0, 2.0]), t(500)),))
def deep_recursion(x, n):
    return countdown(x, n)


@row("lambda with a ternary")
def ternary_in_lambda(x):
    pick = lambda v: v * 2 if v.sum() > 0 else v - 1  # noqa: E731
    return pick(x) + pick(-x)


def halves(x):
    while_left = 2
    for k in range(while_left):
        if x.sum() > 0:
            x = x * 2
        yield x + k


@row("generator")
def generator(x):
    total = x * 0
    for part in halves(x):
        total = total + part
    return total


@row("generator that yields in a tensor if")
def generator_of_some(x):
    def positive(parts):
        for part in parts:
            if part.sum() > 0:
                yield part * 2

    total = x * 0
    for part in positive([x, -x, x * 2]):
        total = total + part
    return total


@row("comprehension with a ternary")
def comprehension(x):
    return [part * 2 if part.sum() > 0 else part - 1 for part in (x, -x)]


def variadic(*args, scale=1.0, **kwargs):
    total = args[0] * scale
    for part in args[1:]:
        total = total + part
    return total * kwargs["k"] if total.sum() > 0 else total


@row("`*args`/`**kwargs`")
def star_arguments(x):
    parts, options = [x, x * 2], {"k": 3.0, "scale": 0.5}
    return variadic(*parts, **options)


@row("string and scalar arguments that change", tuple((t([1.0, 2.0]), m, s) for m in ("a", "b") for s in (0.5, 2.0)))
def changing_arguments(x, mode, scale):
    if mode == "a":
        return x * scale
    return x - scale if x.sum() > scale else x


def adder(amount):
    def add(x):
        return x + amount if x.sum() > 0 else x - amount

    return add


@row("closures")
def closures(x):
    return adder(2.0)(x) + adder(x)(x)


def twice(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(function(*args, **kwargs), **kwargs)

    return wrapper


@twice
@twice
def decorated(x, k=2.0):
    return x * k if x.sum() > 0 else x - 1


@row("decorated functions")
def calls_decorated(x):
    return decorated(x) + decorated(x, k=0.5)


@row("partial functions")
def calls_partial(x):
    return functools.partial(variadic, x, k=2.0)(x)


class Base:
    kind = "base"

    def __init__(self, scale=2.0):
        self.scale = scale

    def apply(me, x):
        return x * me.scale if x.sum() > 0 else x - me.scale

    @classmethod
    def of_class(cls, x):
        return x * 2 if cls.kind == "derived" and x.sum() > 0 else x

    @property
    def doubled(self):
        return self.scale * 2


class Derived(Base):
    kind = "derived"

    def apply(self, x):
        return super().apply(x) + super(Derived, self).apply(-x)  # noqa: UP008

    def __call__(self, x):
        return self.apply(x) * self.doubled if x.max() > 0 else x


DERIVED = Derived(3.0)


@row("bound and unbound methods, any name for `self`")
def methods(x):
    bound = DERIVED.apply
    return bound(x) + Base.apply(DERIVED, x) + Derived.of_class(x)


@row("`super()`, properties")
def super_call(x):
    return DERIVED.apply(x) * DERIVED.doubled


@row.fresh("`to_static` of a bound method")
def static_of_method():
    return Subject(Derived(3.0).apply)


@row.check("`to_static` of a builtin")
def static_of_builtin():
    x = t([1.0, -2.0])
    assert d2s.to_static(abs)(x).numpy().tolist() == [1.0, 2.0]


@row.check("`to_static` of a class")
def static_of_class():
    class Net(d2s.nn.Layer):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x - 1

    try:
        made = d2s.to_static(Net)()
    except d2s.errors.D2SError as error:
        return error.code
    for (x,) in (t([1.0, 2.0]),), (t([-1.0, -2.0]),):
        assert made(x).numpy().tolist() == Net.forward(None, x).numpy().tolist()
    return None


@row.fresh("`to_static` of a callable object")
def static_of_object():
    return Subject(Derived(3.0))


@row("object made inside")
def object_made(x):
    made = Derived(2.0)
    return made(x)
