"""Stars and several targets where the path a run takes decides how many items there are."""

import collections

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([1.0, 0.5]),)
COUNTED = tuple((t([1.0, n]), t(n)) for n in (3, 1, 2, 0))
Three = collections.namedtuple("Three", "x y z", defaults=(0,))


def two_or_three(x):
    parts = [x, x * 3]
    if x.sum() > 0:
        parts.append(x * 2)
    return parts


def one_or_two_keys(x):
    parts = {"a": x}
    if x.sum() > 0:
        parts["b"] = x * 2
    return parts


def multiples(x, n):
    parts = []
    for k in range(int(n)):
        parts.append(x * k)
    return parts


def what_it_is_given(*args, k=1, **kwargs):
    return args[::-1], k, list(kwargs.items())


@program(*SETS)
def first_and_the_others(x):
    first, *others = two_or_three(x)
    *front, last = two_or_three(x)
    one, *middle, end = two_or_three(x * 2)
    others.append(first)
    return others, front, last, one, middle, end, len(middle)


@program(*SETS)
def as_many_as_there_are_targets(x):
    try:
        a, b = two_or_three(x)
    except ValueError as error:
        return str(error)
    return a + b


@program(*SETS)
def too_many_or_too_few(x):
    a, b, c = two_or_three(x)
    return a + b + c


@program(*SETS)
def fewer_than_a_star_wants(x):
    a, b, c, *d = two_or_three(x)
    return a, b, c, d


@program(*SETS)
def targets_inside_of_targets(x):
    a, (b, *c) = x, two_or_three(x)
    for place, (first, *others) in enumerate([two_or_three(x), two_or_three(-x)]):
        a = a + first * len(others) * (place + 1)
    for first, *others in [two_or_three(x), two_or_three(-x)]:
        a = a + first * len(others)
    return a, b, c


@program(*SETS)
def the_first_target_has_its_value_where_the_next_has_none(x):
    a = b = None
    try:
        a, (b, c) = x, two_or_three(x)
    except ValueError:
        return a, b
    return a, b, c


@program(*SETS)
def stored_where_a_star_says(x):
    class Holder:
        pass

    holder, parts = Holder(), [0, 0]
    holder.first, *holder.others = two_or_three(x)
    parts[0], *parts[1] = two_or_three(x)
    return holder.first, holder.others, parts


@program(*SETS)
def arguments(x):
    found = what_it_is_given(0, *two_or_three(x), *two_or_three(-x), z=1, **one_or_two_keys(x), q=2)
    return found, Three(*two_or_three(x)), what_it_is_given(*one_or_two_keys(x).items())


@program(*SETS)
def arguments_that_do_not_fit(x):
    def add(a, b=1):
        return a + b

    try:
        return add(*two_or_three(x)), add(**one_or_two_keys(x))
    except TypeError as error:
        return str(error).partition("()")[2]


@program(*SETS)
def arguments_of_functions_of_the_library(x):
    print(*[len(part.shape) for part in two_or_three(x)])
    text = "{a}".format(**{key: len(key) for key in one_or_two_keys(x)})
    return max(*two_or_three(x), key=lambda part: part.sum()), dict(**one_or_two_keys(x), z=1), text


@program(*SETS)
def what_is_called_adds_to_a_list(x):
    found = []

    def add(*parts):
        found.extend(parts)

    add(*two_or_three(x))
    add(*two_or_three(-x))
    return found


@program(*SETS)
def displays(x):
    keys = one_or_two_keys(x)
    as_dict = {"b": x, **keys, "a": x * 5}
    return {**keys}, as_dict, [*two_or_three(x), *two_or_three(-x)], (*two_or_three(x), x), sorted({*keys, "c"})


@program(*SETS)
def dicts_that_take_dicts_in(x):
    parts, more = {"a": x, "b": x * 2}, {}
    if x.sum() > 0:
        more["c"] = x
    joined = parts | more, more | parts
    parts.update(**more)
    parts |= {**more, "d": x}
    del parts["a"]
    return joined, parts


@program(*SETS)
def one_of_several_tuples(x):
    parts = (x,) if x.sum() > 0 else (x, x * 2)
    first, *others = parts
    return what_it_is_given(*parts), [*parts], (*parts, 1), first, others, x.reshape([*([2, 1] if x.sum() > 0 else [1, 2])])


@program(*SETS)
def in_a_loop_of_the_graph(x):
    total = x.abs()
    while total.sum() < 20:
        parts = [total]
        if total.sum() > 3:
            parts.append(total)
        first, *others = parts
        total = first + len(others) + (lambda a, b=1.0: a + b + 1)(*parts)
    return total


@program(*SETS)
def sorted_where_it_is(x):
    parts = two_or_three(x)
    parts.sort(key=lambda part: part.sum(), reverse=True)
    numbers = [3, 1]
    if x.sum() > 0:
        numbers.append(2)
    numbers.sort()
    return parts, numbers


@program(*COUNTED)
def of_a_list_that_a_loop_makes_longer(x, n):
    parts = multiples(x, n)
    parts.append(x)
    first, *others = parts
    one, *middle, last = [*multiples(x, n), x, first]
    return first, others, one, middle, last


@program(*COUNTED)
def two_of_a_list_that_a_loop_makes_longer(x, n):
    try:
        a, b = multiples(x, n)
    except ValueError as error:
        return str(error)
    return a + b


@program(*COUNTED)
def in_order_what_a_loop_makes(x, n):
    """Equal ones stay in their order, also from the largest on."""
    parts = multiples(x, n)
    parts.sort(key=lambda part: -part.sum())
    numbers = [k * 7 % 3 for k in range(int(n))]
    falling = sorted(multiples(x, n), key=lambda part: float(part.sum()) > 2, reverse=True)
    return parts, sorted(numbers), sorted([float(v) for v in x] + [0.5]), falling, sorted(range(int(n)), reverse=True)


@program(*SETS)
def in_order_what_a_generator_gives(x):
    def parts():
        yield from two_or_three(x)

    first, *others = parts()
    return (
        first,
        others,
        what_it_is_given(*parts(), *(part * 2 for part in two_or_three(x) if part.sum() > 2)),
        d2s.add_n([*parts()]),
    )
