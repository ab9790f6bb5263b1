"""Programs whose lists and dicts hold as many items as the path a run takes put there."""

import collections

from programs_compare import program, t

import d2s

Pair = collections.namedtuple("Pair", "first second")
SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([0.5, 0.25]),)


@program(*SETS)
def made_in_an_arm(x):
    row = None
    if x.sum() > 0:
        row = [x * 1]
        if x.max() > 1:
            row.append(x * 3)
        row.append(x * 5)
    return row


@program(*SETS)
def asked_of(x):
    parts, numbers = [x * 1], [1]
    if x.sum() > 0:
        parts.append(x * 2)
        numbers.append(2)
    told = len(parts), 2 in numbers, numbers == [1, 2], numbers != [1], numbers.index(1), numbers.count(2), any(numbers)
    return told, parts[-1] * 2, parts[0] * 3, type(parts) is list, type(parts).__name__, parts.__class__ is list, sum(numbers)


@program(*SETS)
def looped_over(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.append(x * 2)
    total = x * 0
    for place, part in enumerate(parts):
        total = total + part * place
    for part in reversed(parts):
        total = total * 2 + part
    for part, scale in zip(parts, [1.0, 2.0, 3.0]):  # noqa: B905
        total = total * scale + part
    return total, len(parts)


@program(*SETS)
def joined_and_copied(x):
    parts = [1, 2]
    if x.sum() > 0:
        parts.append(3)
    more, before, copied, part = parts + [4], [0] + parts, parts.copy(), parts[1:]  # noqa: RUF005
    parts.append(5)
    part.append(7)
    return parts, more, before, copied, parts * 2, part, list(parts), tuple(parts), copied is parts


@program(*SETS)
def changed_in_every_way(x):
    parts = [1, 2, 3, 4]
    if x.sum() > 0:
        parts[1:] = [5, 6]
    parts += [7]
    parts *= 2
    del parts[1]
    parts.reverse()
    parts[0] = "first"
    parts.remove(7)
    parts.insert(1, parts.pop())
    return parts, x * 1


@program(*SETS)
def stacked(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.append(x * 2)
    return d2s.stack(parts).sum() * 2, d2s.concat(parts)


@program(*SETS)
def a_queue_of_work(x):
    waiting, done = [x * 1], 0
    while waiting:
        part = waiting.pop()
        done += 1
        if part.sum() < 8 and part.sum() > 0:
            waiting.append(part * 2 + 1)
    return done, waiting


@program(*SETS)
def taken_until_small(x):
    parts = [x * 1, x * 2, x * 3]
    while parts and parts[-1].sum() > 2:
        parts.pop()
    return parts, not parts


@program(*SETS)
def a_key_that_may_be_missing(x):
    found = {}
    if x.sum() > 0:
        found["k"] = x * 1
    return found["k"] * 2


@program(*SETS)
def popped_from_nothing(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.pop()
    return parts.pop()


@program(*SETS)
def printed(x):
    parts, found = [1], {"k": 1}
    if x.sum() > 0:
        parts.append(2)
        found["m"] = (2, parts)
    print(parts, f"{parts}", len(parts), found)
    return x * 1


@program(*SETS)
def keys_in_another_order(x):
    found = {}
    if x.sum() > 0:
        found["a"], found["b"] = 1, 2
    else:
        found["b"], found["a"] = 3, 4
    total = 0
    for key in found:
        total = total * 10 + found[key]
    for key, value in found.items():
        total = total * 10 + value * len(key)
    return list(found.keys()), found, total, "a" in found, found.get("c", 5), len(found), x * 1


@program(*SETS)
def a_dict_changed_in_every_way(x):
    found = {"a": 1, "b": 2}
    if x.sum() > 0:
        found.pop("a")
    found.update(z=1)
    found["c"] = 3
    return found, found.setdefault("a", 5), sorted(found), found.copy(), x * 1


@program(*(([x, x],) for (x,) in SETS))
def of_the_caller(parts):
    if parts[0].sum() > 0:
        parts.append(parts[0] * 2)
        parts.insert(0, 1)
    else:
        del parts[0]
    parts.extend([2, 3])
    return parts


@program(*(({"a": x},) for (x,) in SETS))
def a_dict_of_the_caller(found):
    if found["a"].sum() > 0:
        found["b"] = found["a"] * 2
    return len(found)


@program(*SETS)
def a_key_more_in_a_loop(x):
    found = {"n": 0}
    while x.sum() < 10:
        x = x * x + 1
        found["n"] = found["n"] + 1
        found["last"] = x
    return found


@program(*SETS)
def matched(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts.append(x * 2)
    match parts:
        case [one]:
            return one * 3
        case [one, other]:
            return one + other


@program(*SETS)
def an_inner_function_adds(x):
    def added(parts, part):
        if part.sum() > 0:
            parts.append(part)
        return parts

    return added(added([], x * 1), x * 2), x * 1


@program(*SETS)
def comprehended(x):
    parts, numbers = [x * 1], [1]
    if x.sum() > 0:
        parts.append(x * 2)
        numbers.append(2)
    more = [n * k for n in numbers for k in (1, 2) if n * k < 4]
    more.append(9)
    return [part + 1 for part in parts], more, {n: n * 2 for n in numbers}, {n % 2 for n in numbers}


@program(*SETS)
def with_a_star(x):
    numbers, rest = [1], (5, 6)
    if x.sum() > 0:
        numbers.append(2)
    joined = [0, *numbers, *rest, *[7]]
    joined[0] = 8
    return joined, [*numbers], [*"ab"], [*{"k": 1}], [*x], x * 1


@program(*SETS)
def another_list_on_some_paths(x):
    parts = [1, 2, 3]
    if x.sum() > 0:
        parts = [*parts, 4]
    del parts[0]
    parts[0] = 7
    parts.append(5)
    return parts, len(parts), x * 1


@program(*SETS)
def one_that_is_kept_as_it_is(x):
    row, rows, named = [1], [], {}
    if x.sum() > 0:
        row.append(2)
    rows.append(row)
    rows.insert(0, row)
    named["k"] = row
    pair = Pair(row, dict(k=row))  # noqa: C408
    if x.max() > 1:
        rows.append([row])
    row.append(3)
    kept = named.get("k"), named.get("m", row), named.setdefault("n", row), pair.first, pair.second["k"]
    return [one is row for one in kept], rows[0], rows[1] is row, rows[-1], (row, 1)[0], x * 1


@program(*SETS)
def grown_side_by_side_until_a_tensor_says_so(x):
    steps, weights, returns, total = [], [], [], x * 0
    for k in range(12):
        steps.append(x * k)
        weights.append((x - k).sum())
        if x.sum() > 4:
            break
        x = x + 0.5
    for step in steps[::-1]:
        total = step + 0.9 * total
        returns.insert(0, total)
    stacked, found = d2s.stack(returns), 0
    for step, weight, back in zip(steps, weights, stacked):  # noqa: B905
        found = found + step * weight * back
    for place, (weight, back) in enumerate(zip(weights, stacked)):  # noqa: B905
        found = found - weight * back * place
    return found, len(steps), list(zip(weights, returns))[-1]  # noqa: B905


@program(*SETS)
def passed_or_changed_by_several_ifs(x):
    found = x * 1
    for k in range(4):
        if (x > k * 0.5).any():
            found = found * x + found.sum() * k
    return found


def two_lists(x):
    """Lists that are longer or shorter by the path."""
    one, other = [], []
    for k in range(3):
        one.append(x * k)
        other.append(x - k)
        if x.sum() > 2:
            break
        x = x + 1
    return one, other


@program(*SETS)
def taken_apart_with_stars(x):
    one, other = two_lists(x)
    pairs = [*zip(one, other, strict=True)]
    return pairs[0], [*one, *other][-1], [*map(d2s.add, one, other)]


@program(*SETS)
def generated_from(x):
    one, other = two_lists(x)
    sums = sum(p.sum() for p in one), sum((p * q).sum() for p, q in zip(one, other, strict=True))
    asked = all(p.sum() > 0 for p in one), any(p.sum() > 2 for p in one), max(p.sum() for p in one) * 1
    return sums, asked, tuple(p * 2 for p in other), sum(v for p in one for v in p)


@program(*SETS)
def mapped(x):
    one, other = two_lists(x)
    both = list(map(d2s.add, one, other))
    return list(map(d2s.tanh, one)), both[0], sum(map(len, one))


@program(*[(t([1.0, 2.0]), t(r), t(n)) for r in (0.0, 0.7) for n in (0, 1)])
def shortened_where_one_condition_holds_twice(x, r, n):
    parts = [x, x * 2, d2s.tanh(x)]
    if n < 1:
        parts.append(x + 0.5)
    if r == r * 0.5:
        parts.pop()
    if r == r * 0.5:
        del parts[0]
    return len(parts), parts[-1] * 2


def two_sets(x):
    one, other, known = {1, 2}, {2}, {1, 2, 3}
    if x.sum() > 0:
        one.add(3)
    if x.max() > 1:
        other |= {1, 7}
    return one, other, known


@program(*SETS)
def sets_of_two_paths(x):
    one, other, known = two_sets(x)
    within = one.issubset(other), other.issubset(one), known.issubset(one), one.issuperset(other), known.issuperset(other)
    apart = one.isdisjoint(other), known.isdisjoint(other), {9}.isdisjoint(one)
    return within, apart, sorted(one.intersection(other)), sorted(known.intersection(other)), one.symmetric_difference(other)


@program(*SETS)
def sets_of_several_arguments(x):
    one, other, known = two_sets(x)
    numbers = [4]
    if x.sum() > 0:
        numbers.append(5)
    joined = known.union(one, other), one.union(other, {8}), {0}.union(numbers)
    return joined, one.difference(other, {3}), known.difference(other, one)


@program(*SETS)
def dicts_with_more_keys(x):
    one = {"a": 1}
    if x.sum() > 0:
        one["b"] = x * 2
    more = dict(one, c=3)
    more["d"] = 4
    return more, dict(one), one


class Bare:
    def __init__(self, scale):
        self.scale = scale


@program(*SETS)
def attributes_that_one_of_several_objects_has(x):
    chosen = Bare(1.0)
    if x.sum() > 0:
        chosen = Bare(2.0)
        chosen.shift = x * 3
    shift = getattr(chosen, "shift", 0.5)
    return x * chosen.scale + shift, hasattr(chosen, "shift"), hasattr(chosen, "scale"), hasattr(chosen, "other")


NUMBERS = [1, 2, 3]


@program((t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([2.0, 0.0]),), (t([9.0, -9.0]),))
def slices_up_to_what_a_run_finds(x):
    low, high, parts = int(x[0]), int(x[1]), [x, x * 2, x * 3]
    cut = parts[low:]
    cut.append(x)
    texts = "abcd"[low:], b"abcd"[:high], ("a", x, 3)[low:high]
    return parts[:low], parts[low:high], parts[:high:2], cut, len(parts), texts, NUMBERS[:low], parts[: x[1].astype("int64")]


@program(*SETS)
def slice_of_as_many_items_as_the_path_has(x):
    parts = [1]
    if x.sum() > 0:
        parts.append(2)
    cut = parts[: int(x[0]) + 1]
    cut.append(9)
    return cut, parts


@program((t([1.0, 2.0]),), (t([-1.0, 2.0]),))
def true_and_false_are_one_each(x):
    found, other = bool(x[0] > 0), bool(x[1] > 0)
    if found is True:
        x = x * 2
    if found is not other:
        x = x + 1
    return x, found is False, other is True, found is None


@program((t([1.0, 0.0]), t([1])), (t([0.0, 1.0]), t([-1])))
def index_of_one_element(x, place):
    return [x, x * 2][place], ("a", "b")[place], "ab"[place]


@program(*SETS)
def index_that_is_no_number(x):
    return [x, x * 2][x.sum() > 0]


@program((t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([0.0, 0.0]),))
def comprehensions_over_a_range_of_run_time(x):
    count, parts = int(x.abs().sum()), [1, 2]
    if x.sum() > 0:
        parts.append(3)
    listed = [k * 2 for k in range(count)], list(range(count)), [*range(count)], [[k, 1] for k in range(count)]
    told = (
        any(k > 2 for k in range(count)),
        all(k < 2 for k in range(count)),
        sum(range(count)),
        sum(k * k for k in range(count)),
    )
    placed = [parts[k] for k in range(len(parts))], [(a, b) for a, b in zip(parts, parts[1:])]  # noqa: B905, RUF007
    mapped = list(map(abs, range(count))), list(enumerate(range(count)))
    return listed, told, placed, [x * k for k in range(count)], mapped


FIVE = t([[1.0, 2.0], [3.0, -4.0], [0.5, 0.25], [-1.0, 0.0], [5.0, 0.0]])
GROUPED = tuple((FIVE * k, t(n)) for k in (1, -1) for n in (0, 1, 5))


@program(*GROUPED)
def rows_by_their_kind(x, n):
    groups, named = {}, collections.defaultdict(list)
    for i in range(n):
        kind = "big" if x[i].max() > 0.8 else "small"
        if kind not in groups:
            groups[kind] = []
        groups[kind].append(x[i])
        named[kind].append((i, x[i]))
    return groups, named, {kind: d2s.stack(groups[kind]).sum(0) for kind in sorted(groups)}, len(named)


@program((FIVE,), (-FIVE,))
def rows_by_their_kind_of_a_tensor(x):
    groups = collections.defaultdict(list)
    for i, row in enumerate(x):
        groups["big" if row.max() > 0.8 else "small"].append((i, row))
    return groups, {kind: len(groups[kind]) for kind in sorted(groups)}
