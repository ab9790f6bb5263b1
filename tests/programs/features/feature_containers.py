"""Containers."""

import collections
import dataclasses

from feature_rows import Subject, rows_of, t

import d2s

row = rows_of("Containers")
Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Point:
    a: object
    n: object


class Counter:
    def __init__(self):
        self.n, self.last = 0, None

    def bump(self, x):
        self.n += 1
        self.last = x
        return x * x + 1


@row("list append in a tensor loop")
def append_in_loop(x):
    parts = []
    while x.sum() < 10:
        x = x * x + 1
        parts.append(x)
    return parts


@row("list popped in a tensor loop, tested by its truth")
def stack_in_loop(x):
    stack, total = [x * 1], x * 0
    while stack:
        top = stack.pop()
        total = total + top
        if total.sum() < 10:
            stack += [top * 0.5, top * 1.5 + 2]
    return total


@row("what a tensor loop appended: indexed, looped over, summed, returned")
def appended_and_read(x):
    parts, total = [x * 1], x * 0
    while len(parts) < x.sum():
        parts.append(parts[-1] * 0.5 + x)
    for part in parts:
        total = total + part
    return parts, total, sum(parts), len(parts), [part * 2 for part in parts[1:]]


@row("`stack` and `concat` of what a tensor loop appended")
def appended_and_stacked(x):
    parts = [x * 1]
    while len(parts) < 3 + (x.sum() > 0):
        parts.append(parts[-1] * 0.5 + x)
    return d2s.stack(parts), d2s.concat(parts) * 2


@row("list append in a tensor if")
def append_in_if(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.append(x * 2)
    return parts


@row("nested list append")
def nested_append(x):
    parts = [[x * 1], []]
    if x.sum() > 0:
        parts[0].append(x * 2)
    else:
        parts[1].append(x - 1)
    return parts


@row("dict gains a key in a tensor loop")
def dict_gains_key(x):
    found = {}
    while x.sum() < 10:
        x = x * x + 1
        found["last"] = x
    return found


@row("pop")
def pops(x):
    parts = [x * 1, x * 2]
    if x.sum() > 0:
        x = parts.pop()
    return x + 1, parts


@row("insert")
def inserts(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.insert(0, x * 2)
    return parts


@row("slice assignment")
def slice_assignment(x):
    parts = [x * 1, x * 2, x * 3]
    if x.sum() > 0:
        parts[:2] = [x - 1]
    return parts


@row("tuple")
def tuples(x):
    pair = (x * 1, 1)
    if x.sum() > 0:
        pair = (x * 2, 2)
    return pair


@row("namedtuple")
def namedtuples(x):
    pair = Pair(x * 1, 1)
    if x.sum() > 0:
        pair = Pair(x * 2, second=2)
    return pair, pair.first + pair.second


@row.fresh("attribute mutation in a tensor if")
def attribute_in_if():
    counter = Counter()

    def f(x):
        if x.sum() > 0:
            counter.n = counter.n + 1
        return x * 2

    return Subject(f, lambda: counter.n)


@row.fresh("a method that mutates state in a tensor loop")
def method_in_loop():
    counter = Counter()

    def f(x):
        while x.sum() < 10:
            x = counter.bump(x)
        return x * 1

    return Subject(f, lambda: (counter.n, None if counter.last is None else counter.last.numpy().tolist()))


@row("caller's list mutated by the callee", (([t([1.0, 2.0])],), ([t([-1.0, -2.0])],)))
def callers_list(parts):
    if parts[0].sum() > 0:
        parts.append(parts[0] * 2)
    return len(parts)


@row("a dataclass carried through a loop")
def dataclass_carried(x):
    point = Point(x, 0)
    while point.a.sum() < 10:
        point = Point(point.a * point.a + 1, point.n + 1)
    return point.a, point.n


@row("comprehension with a condition on a tensor")
def kept_by_condition(x):
    kept = [v * 2 for v in x if v > 0]
    return kept, len(kept)


@row("`sum` and `any` of a generator with a condition on a tensor")
def summed_by_condition(x):
    return sum(v for v in x if v > -2), any(v > 1 for v in x if v > 0)


@row("`sorted` by the values of tensors")
def sorted_by_values(x):
    named = {"a": x[0], "b": x[1]}
    return [k for k, _ in sorted(named.items(), key=lambda pair: pair[1])]


@row("a place in a list, and a key of a dict, that only a run tells")
def places_of_run_time(x):
    n = int(x[0])
    parts = [x, x * 2]
    parts[n] = x * 10
    return parts[0], {1: "one", -1: "minus one"}[n]


@row("`deque` in a tensor loop")
def queue_in_loop(x):
    last = collections.deque([x], maxlen=2)
    while x.sum() < 10:
        x = x * x + 1
        last.append(x)
    return len(last), last[0] + 0


@row("`defaultdict` and `OrderedDict` whose keys a tensor decides")
def groups_by_sign(x):
    groups, seen = collections.defaultdict(list), collections.OrderedDict()
    for v in x:
        key = "pos" if v > 0 else "neg"
        groups[key].append(v)
        seen[key] = v
    return {k: len(v) for k, v in groups.items()}, list(seen)
