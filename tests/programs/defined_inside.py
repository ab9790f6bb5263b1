"""Functions and classes that a captured function defines: their bodies wait, what decorates them is called at each call."""

import abc
import dataclasses
import enum
import functools
import typing

from programs_compare import program, t

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)


def announced(function):
    """A decorator that says so."""
    print("decorating", function.__name__)
    return function


def scaled(k):
    """A decorator with an argument."""
    print("scaled by", k)

    def wrap(function):
        @functools.wraps(function)
        def inner(*args):
            print("calling")
            return function(*args) * k

        return inner

    return wrap


@program(*SETS)
def decorated_inside(x):
    @announced
    @scaled(3)
    def twice(v):
        return v * 2

    return twice(x), twice.__name__


@program(*SETS)
def kept_results_inside(x):
    @functools.lru_cache
    def square(n):
        return n * n

    return x * square(3)


@program(*SETS)
def closure_class(x):
    y = x * 2

    class K:
        """Doc."""

        scale = 3

        def __init__(self, v):
            self.v = v

        def total(self):
            return self.v * self.scale + y

        @property
        def half(self):
            return self.v / 2

        @staticmethod
        def s(v):
            return v + 1

        @classmethod
        def make(cls, v):
            return cls(v)

        def __add__(self, o):
            return K(self.v + o.v)

        def __repr__(self):
            return "K!"

    k = K.make(x)
    if x.sum() > 5:
        k = k + k
        k.v = k.v * 2
    print(k)
    return k.total(), k.half, K.s(y), K.__name__, K.__doc__, K.__qualname__, K.total.__qualname__


@program(*SETS)
def inherits(x):
    class A:
        def f(self, v):
            return v * 2

    class B(A):
        def f(self, v):
            return super().f(v) + 1

    return B().f(x), isinstance(B(), A), issubclass(B, A), B.__mro__[1] is A


@program(*SETS)
def class_in_if(x):
    if x.sum() > 5:

        class K:
            def f(self, v):
                return v * 2
    else:

        class K:
            def f(self, v):
                return v * 3

    return K().f(x)


@program(*SETS)
def class_attr_list(x):
    class K:
        items = []  # noqa: RUF012

        def add(self, v):
            self.items.append(v)

    K().add(x)
    K().add(x * 2)
    return K.items, len(K.items)


@program(*SETS)
def instance_counter(x):
    class K:
        count = 0

        def __init__(self):
            self.count += 1

    return K().count + K().count, x * 1


@program(*SETS)
def abc_inside(x):
    class Base(abc.ABC):
        @abc.abstractmethod
        def f(self, v): ...

    class Impl(Base):
        def f(self, v):
            return v * 2

    try:
        Base()
    except TypeError:
        print("abstract")
    return Impl().f(x)


@program(*SETS)
def loop_class(x):
    for i in range(3):

        class K:
            n = i

        x = x + K.n
    return x


@program(*SETS)
def while_class(x):
    while x.sum() < 20:

        class K:
            def f(self, v):
                return v.abs() + 2

        x = K().f(x)
    return x


@program(*SETS)
def class_made_inside(x):
    class Local:
        scale = 3

        def __init__(self, x):
            self.x = x

        def run(self):
            return self.x * self.scale

    return Local(x).run()


@program(*SETS)
def dataclass_made_inside(x):
    @dataclasses.dataclass
    class State:
        x: object
        n: int = 0

    s = State(x)
    while s.x.sum() < 10:
        s.x = s.x.abs() + 1
        s.n += 1
    return s.x, s.n


@program(*SETS)
def namedtuple_class_inside(x):
    class P(typing.NamedTuple):
        a: object
        b: int = 2

    p = P(x)
    return p.a * p.b


@program(*SETS)
def enum_inside(x):
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    return x * Color.BLUE.value


@program(*SETS)
def exception_class_inside(x):
    class Stop(Exception):
        pass

    try:
        if x.sum() > 0:
            raise Stop("yes")
        y = x * 1
    except Stop:
        y = x * 2
    return y


@program(*SETS)
def a_cache_that_is_made_inside(x):
    @functools.lru_cache
    def scaled(n):
        print("computed", n)
        return x * n

    @functools.cache
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    first = scaled(2) + scaled(2)
    print(scaled.__name__, fibonacci(20))
    return first, scaled(3), scaled(3) is scaled(3)
