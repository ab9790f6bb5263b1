"""Programs that call functions, methods, lambdas, closures, partials and decorated functions."""

import functools
import operator

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([0.5, -4.0, 1.0]),)
SCALE = 3.0


def positive(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def with_defaults(x, scale=2.0, *, shift=0.5):
    return x * scale + shift if x.sum() > 0 else x - shift


def variadic(*args, **kwargs):
    total = args[0]
    for part in args[1:]:
        total = total + part
    return total * kwargs["scale"]


def twice(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(function(*args))

    return wrapper


@twice
def decorated(x):
    return x * 2 if x.sum() > 0 else x - 1


def adder(amount):
    def add(x):
        return x + amount if x.sum() > 0 else x - amount

    return add


class Scaler:
    kind = "class"

    def __init__(self, scale):
        self.scale = scale

    def apply(self, x):
        return x * self.scale if x.sum() > 0 else x - self.scale

    @staticmethod
    def plain(x):
        return x * 2 if x.sum() > 0 else x

    @classmethod
    def of_class(cls, x):
        return x * 2 if cls.kind == "class" else x

    @property
    def doubled(self):
        return self.scale * 2


ADD_TWO, SCALER, PARTIAL = adder(2.0), Scaler(3.0), functools.partial(with_defaults, scale=5.0)
STATIC = d2s.to_static(positive)


@program(*SETS)
def function_call(x):
    return positive(x) + 1


@program(*SETS)
def function_call_in_a_branch(x):
    if x.sum() > 0:
        return positive(x) * 2
    return positive(x)


@program(*SETS)
def function_call_in_a_loop(x):
    i = x.sum() * 0
    while i < 3:
        x = positive(x)
        i = i + 1
    return x


@program(*SETS)
def default_arguments(x):
    return with_defaults(x), with_defaults(x, 3.0), with_defaults(x, shift=1.0)


@program(*SETS)
def star_arguments(x):
    parts = [x, x * 2]
    return variadic(*parts, x, scale=2.0)


@program(*SETS)
def decorated_function(x):
    return decorated(x)


@program(*SETS)
def closure(x):
    return ADD_TWO(x)


@program(*SETS)
def closure_made_inside(x):
    return adder(1.5)(x)


@program(*SETS)
def lambda_with_ternary(x):
    f = lambda z: z * 2 if z.sum() > 0 else z - 1  # noqa: E731
    return f(x)


@program(*SETS)
def partial(x):
    return PARTIAL(x)


@program(*SETS)
def bound_method(x):
    return SCALER.apply(x)


@program(*SETS)
def unbound_method(x):
    return Scaler.apply(SCALER, x)


@program(*SETS)
def static_and_class_methods(x):
    return Scaler.plain(x), SCALER.of_class(x)


@program(*SETS)
def method_as_a_value(x):
    f = SCALER.apply
    return f(x)


@program(*SETS)
def property_(x):
    return x * SCALER.doubled


@program(*SETS)
def static_inside_static(x):
    return STATIC(x) * 2


@program(*SETS)
def global_number(x):
    return x * SCALE


@program(*SETS)
def inner_function(x):
    def inner(z):
        return z * 2 if z.sum() > 0 else z - 1

    return inner(x)


@program(*SETS)
def inner_function_reads_later_variable(x):
    def inner():
        return x * scale

    scale = 2.0
    return inner()


@program(*SETS)
def python_recursion(x):
    def power(z, k):
        return z if k == 0 else z * power(z, k - 1)

    return power(x, 3)


@program(*SETS)
def map_and_filter(x):
    return list(map(lambda k: x * k, filter(lambda k: k > 1, [1, 2, 3])))  # noqa: C417


@program(*SETS)
def builtin_sum_of_tensors(x):
    return sum([x, x * 2, x * 3])


@program(*SETS)
def isinstance_of_a_tensor(x):
    return x * 2 if isinstance(x, d2s.Tensor) else x


@program(*SETS)
def getattr_by_name(x):
    return x * getattr(SCALER, "scale")  # noqa: B009


@program(*SETS)
def wrong_number_of_arguments(x):
    return positive(x, x)


@program(*SETS)
def name_that_is_missing(x):
    return x * nowhere  # noqa: F821


@program(*SETS)
def attribute_that_is_missing(x):
    return x * SCALER.nowhere


@program(*SETS)
def methods_of_tensors(x):
    return x.relu() + x.tanh() - x.astype("float64").cast("float32"), x.sum(0)


@program(*SETS)
def reduced(x):
    larger = functools.reduce(lambda a, b: a if a > b else b, x)
    return larger + functools.reduce(operator.mul, [x, x + 1], 2.0) + functools.reduce(operator.add, (v for v in x))


@program(*SETS)
def reduced_from_nothing(x):
    return functools.reduce(operator.add, []) + x


SECOND, SHAPE = operator.itemgetter(1), operator.attrgetter("shape")


@program(*SETS)
def functions_of_operators(x):
    steps = {"plus": operator.add, "times": operator.mul}
    y = steps["plus"](x, 1) + steps["times"](x, 2) + operator.neg(x) + SECOND((1, x))
    smallest = sorted([(2, y), (1, y * 2)], key=operator.itemgetter(0))[0][1]
    if operator.gt(y.sum(), 0) and operator.contains([1, 2], 2):
        smallest = smallest * SHAPE(x)[0]
    return smallest, operator.eq(x.shape[0], 2), operator.not_(x.sum() > 5), operator.getitem([x, y], 1)


@program(*SETS)
def imports_inside(x):
    import math as m
    from math import pi

    from d2s.nn import functional

    if x.sum() > 0:
        import math

        x = x * math.floor(2.5)
    return functional.relu(x) * m.sqrt(4) + pi


@program(*SETS)
def a_default_that_calls_change(x):
    def keep(value, kept=[], *, seen={}):  # noqa: B006
        kept.append(value)
        seen["one" if len(value) == 2 else "other"] = value
        return len(kept), len(seen)

    first = keep(x)
    if x.sum() > 0:
        keep(x * 2)
    return first, keep(x * 3, []), keep(x * 4)
