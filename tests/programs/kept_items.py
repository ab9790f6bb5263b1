"""Comprehensions, generators and `filter` that keep items by what a tensor says, or Python."""

from programs_compare import program, t

import d2s

X, Y = t([1.0, -2.0, 3.0]), t([-9.0, 2.0, 3.0])
SETS = (X,), (Y,)
ROWS = (t([[1.0, -1.0], [2.0, 3.0]]),), (t([[1.0, 1.0], [-2.0, -3.0]]),), (t([[-1.0, 0.0], [-2.0, -3.0]]),)


def doubled(parts):
    for part in parts:
        if part > 0:
            yield part * 2


@program(*SETS)
def positive_ones(x):
    found = [v * 2 for v in x if v > 0]
    return found, len(found), sum(found), found[0] + 1 if found else None


@program(*SETS)
def positive_ones_in_one_tensor(x):
    found = [v for v in x if v > 0 if v < 2.5]
    return d2s.stack(found) if found else x


@program(*ROWS)
def rows_that_are_kept(x):
    kept = [row * 2 for row in x if row.sum() > 0]
    return kept, max([row.sum() for row in x]), len(kept) or None


@program(*SETS)
def generators_with_conditions(x):
    total = sum(v for v in x if v > 0)
    for v in (v * 2 for v in x if v < 0):
        total = total + v
        if total > 2:
            break
    return total, any(v > 2 for v in x if v > 0), all(v > 2 for v in x if v > 0), sum(doubled(x)), list(doubled(x))


@program(*SETS)
def what_is_not_asked_is_not_done(x):
    def told(v):
        print("asked for", v)
        return v > 0

    found = any(told(k) for k in (0, 1, 2) if k < 2)
    return [v for v in [x[0], x[1]] if told(v)], found


@program(*SETS)
def pairs_of_two_loops(x):
    return [a * b for a in x if a > 0 for b in x if b < 0], [(i, j) for i in range(3) if i for j in range(i) if j]


@program(*SETS)
def by_place_and_by_key(x):
    places = [k for k, v in enumerate(x) if v > 0]
    return places, {k: v for k, v in zip("abc", x, strict=True) if v > 0}, {k for k in range(4) if k > 1}


@program(*SETS)
def named_in_the_condition(x):
    return [y + 1 for v in x if (y := v * 2) > 0], list(filter(lambda v: v > 1, x)), list(filter(None, [0, 1, x[0]]))


@program(*SETS)
def kept_in_a_loop(x):
    out = []
    for k in range(2):
        out.extend([v * k for v in x if v > k])
    return out, next(v for v in [x, x * 2] if v is not x)


@program((X, t(3)), (Y, t(5)))
def kept_in_a_loop_on_a_tensor(x, n):
    i, total = 0, 0.0
    while i < n:
        total = total + sum([v for v in x if v > i])
        i = i + 1
    return total


@program((t([float(k) for k in range(-10, 15)]),), (t([float(k) for k in range(-20, 5)]),))
def many_items(x):
    found = [v for v in x if v > 0]
    return len(found), sum(found)


@program(*SETS)
def side_by_side_with_texts(x):
    return {k: v for k, v in zip("abc", x, strict=False) if k != "b"}, [a * b for a, b in zip(x, [1, 2], strict=True)]


@program((t([1.0, 2.0, 3.0]),), (t([-1.0, -2.0, -3.0]),), (t([0.0, 5.0, 3.0]),))
def the_first_that_a_run_keeps(x):
    rows, count = [x, x * 2, x * 3], int(x.abs().sum())
    found = next((v * 2 for v in x if v > 2), None), next((v for v in rows if v.sum() > 8), "none")
    return found, next(filter(lambda v: v > 2, x), 0), next((k for k in range(count) if k * k > 8), -1)


@program((t([1.0, 2.0, 3.0]),), (t([-1.0, -2.0, -3.0]),))
def the_first_of_what_may_be_none(x):
    try:
        return next(v for v in x if v > 2)
    except StopIteration:
        return "none"


FEW = (t([1.0, 2.0]), t(3)), (t([-1.0, 2.0]), t(5)), (t([-1.0, -2.0]), t(1))


@program(*FEW)
def the_first_of_several_loops(x, n):
    nested = next((i * j for i in range(3) for j, v in enumerate(x) if v * i > 2), -1)
    of_rows = next((v for i, row in enumerate([x, x * 2]) for v in row if v > 1), None)
    return nested, of_rows, next((i for i in range(int(n)) for j in range(i) if i * j > 5), "none")


@program(*FEW)
def the_first_of_what_python_goes_over(x, n):
    named = next((key for key, v in {"a": x, "b": x * 2}.items() if v.sum() > 1), "none")
    counted = next((i for i, v in enumerate([x * 9, x * 2]) if v.sum() > 0), None)
    side_by_side = next((a for a, b in zip([x, x * 2], [1, 5], strict=True) if a.sum() > b), None)
    return named, counted, side_by_side, next((c for c in "abc" if x.sum() > len(c)), "z")


@program(*FEW)
def no_first_of_several_loops(x, n):
    try:
        return next(i * j for i in range(3) for j, v in enumerate(x) if v * i > 2)
    except StopIteration:
        return x.sum()


@program(*FEW)
def the_first_decided_by_python(x, n):
    return next(k for k in range(9) if k * k > x.shape[0]) * x, next((k for k in () if x.sum() > 0), None)


@program(*FEW)
def ranges_inside_of_ranges(x, n):
    pairs = [i * j for i in range(int(n)) for j in range(i)]
    known = {i * j for i in range(3) for j in range(i)}, {(i, j): x * i for i in range(2) for j in range(i + 1)}
    three = [i + j for i in range(3) for j in range(i) for k in range(j)], [v * j for v in x for j in range(2)]
    total = sum(i * j for i in range(int(n)) for j in range(i)), max(i * j for i in range(int(n)) for j in range(i + 1))
    return pairs, sorted(known[0]), known[1], three, total, any(i * j > 3 for i in range(int(n)) for j in range(i))


@program(*FEW)
def there_is_no_first(x, n):
    return next(v for v in x if v > 0)
