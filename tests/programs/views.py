"""What dicts show of themselves, by the path and otherwise: it is asked, combined, kept, printed and returned."""

import collections
import collections.abc
import itertools

from programs_compare import program, t

X, Y = t([1.0, -2.0, 3.0]), t([-9.0, 2.0, 3.0])
SETS = (X,), (Y,)


def two(x):
    """Two dicts whose keys depend on the path."""
    first, second = {"a": x, "b": x * 2}, {"b": 1}
    if x.sum() > 0:
        first["c"] = x * 3
    if x[0] < 0:
        second["z"] = 2
    return first, second


@program(*SETS)
def keys_as_sets(x):
    d, e = two(x)
    together = sorted(d.keys() & e.keys()), sorted(d.keys() | e.keys()), sorted(d.keys() - e.keys()), sorted(d.keys() ^ ["a"])
    other_way = sorted({"a", "c"} & d.keys()), sorted({"a", "q"} - d.keys()), d.keys() & e.keys()
    return together, other_way, d.keys().isdisjoint(e.keys()), d.keys().isdisjoint(["q"])


@program(*SETS)
def keys_in_order(x):
    d, e = two(x)
    told = e.keys() <= d.keys(), d.keys() >= {"c"}, d.keys() == e.keys(), e.keys() < d.keys(), d.keys() != {"a", "b", "c"}
    return told, e.keys() == {"b"}, {"b"} == e.keys(), e.keys() == ("b",), e.values() == e.values()


@program(*SETS)
def items_as_sets(x):
    _, e = two(x)
    return sorted(e.items() & {("b", 1)}), sorted(e.items() | {("q", 1)}), e.items() - {("b", 1)}, ("z", 2) in e.items()


@program(*SETS)
def what_they_are(x):
    d, e = two(x)
    kinds = isinstance(d.keys(), collections.abc.KeysView), isinstance(d.values(), tuple), type(d.items()) is tuple
    return kinds, type(e.keys()).__name__, len(d.keys()), "c" in d.keys(), 2 in e.values(), bool(e.items())  # noqa: SIM118


@program(*SETS)
def as_they_are_at_any_time(x):
    d = {"a": x}
    keys, values, items = d.keys(), d.values(), d.items()
    before = len(keys)
    if x.sum() > 0:
        d["b"] = x
    between = list(keys), len(values), [k for k, _ in items]
    d["q"] = x
    return before, between, list(keys), sorted(keys, reverse=True), [v * 2 for v in values]


@program(*SETS)
def printed(x):
    _, e = two(x)
    print(e.keys(), e.values(), f"{e.items()}", {1: 2}.keys())
    counted = collections.OrderedDict(a=1)
    if x.sum() > 0:
        counted["b"] = 2
    print(counted.keys())
    return str(e.keys()), "%s" % e.values(), f"{e.items()!r:>40}"  # noqa: UP031


@program(*SETS)
def what_is_no_list(x):
    d, _ = two(x)
    try:
        return d.values()[0]
    except TypeError as error:
        found = str(error)
    try:
        return d.keys() + ("a",)  # noqa: RUF005
    except TypeError as error:
        return found, str(error)


@program(*SETS)
def given_to_python(x):
    d, e = two(x)
    listed = [*d.keys()], list(d.values()), dict(d.items()), dict(zip(d.keys(), d.values(), strict=True)), tuple(e.items())
    plain = {"a": x, "b": 2}
    kept = [1]
    kept += plain.keys()
    kept.extend(plain.values())
    taken = dict.fromkeys(plain.keys(), 0), ",".join(plain.keys()), next(iter(plain.values())), list(reversed(plain.keys()))
    made = list(itertools.chain(plain.keys(), "q")), [n for n, _ in enumerate(plain.items())], max(plain.keys())
    return listed, kept, taken, made, sum(d.values()), max(map(len, d.keys()))


@program(*SETS)
def handed_on(x):
    def count(values):
        return len(values), sum(values)

    def named(**given):
        return [*given.keys()], {k: [v] for k, v in given.items()}

    d, _ = two(x)
    chosen = d.keys() if x[1] > 0 else d.values()
    return count(d.values()), named(a=x, b=2), len(chosen), len({"d": d, "keys": d.keys()}["keys"])


@program(*SETS)
def gone_over_in_loops(x):
    d, n = {"a": x}, 0
    while x.sum() < 20:
        x = x.abs() * 2
        for key, _ in d.items():
            n += len(key)
        d["b"] = x
    return n, list(d.items()), x


@program(*SETS)
def an_object_that_says_nothing_of_another(x):
    class Amount:
        def __init__(self, n):
            self.n = n

        def __eq__(self, other):
            return self.n == other.n if isinstance(other, Amount) else NotImplemented

        __hash__ = None

    return Amount(1) == 5, Amount(1) != 5, Amount(1) == Amount(1), Amount(1) != Amount(1), x * 1


@program(*SETS)
def iterators_by_the_path(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x * 2)
    pairs = [(k, len(pair)) for k, pair in enumerate(zip(parts, parts, strict=True))]
    return pairs, dict(enumerate(parts)), list(zip(enumerate(parts), parts, strict=True)), type(enumerate(parts)) is enumerate


@program(*SETS)
def values_by_the_path_while_a_loop_goes_over_what_lost_a_key(x):
    d, seen = {"a": 1, "b": 2, "c": 3, "d": 4}, []
    del d["a"]
    for key in d:
        if x.sum() > 0:
            d["c"] = x * 2
        seen.append(key)
    del d["b"]
    for key, value in d.items():
        if x.sum() > 0:
            d["d"] = 9
        seen.append((key, value))
    return seen, d


@program(*SETS)
def a_dict_changes_its_size_while_a_loop_goes_over_it(x):
    d, numbers, seen = {"a": x, "b": x * 2}, {1, 2}, []
    for change, over in ((lambda: d.update(c=1), d.items()), (lambda: d.pop("a"), d), (lambda: numbers.add(7), numbers)):
        try:
            for item in over:
                seen.append(item)
                change()
        except RuntimeError as error:
            seen.append(str(error))
    return seen


@program(*SETS)
def values_by_the_path_while_a_loop_goes_backwards(x):
    d, seen = {"a": 1, "b": 2, "c": 3}, []
    del d["a"]
    d["a"] = 5
    for key in reversed(d):
        if x.sum() > 0:
            d["c"] = x * 2
        seen.append(key)
    return seen, d
