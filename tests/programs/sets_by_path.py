"""Sets whose content depends on the path, and numbers of run time as keys."""

from programs_compare import program, t

X, Y = t([1.0, -2.0, 3.0]), t([5.0, 3.0, 3.0])
SETS = (X,), (Y,)


@program(*SETS)
def set_by_path(x):
    s = {1, 2}
    if x.sum() > 0:
        s.add(3)
    return x * len(s), sorted(s), 3 in s


@program(*SETS)
def set_by_path_discard(x):
    s = {"a", "b"}
    if x.sum() > 0:
        s.discard("a")
    else:
        s |= {"c"}
    total = 0
    for k in sorted(s):
        total += len(k)
    return x * total, "a" in s


@program(*SETS)
def set_in_loop(x):
    seen = set()
    while x.sum() < 10:
        x = x.abs() + 1
        seen.add(1)
    return x, len(seen)


@program(*SETS)
def number_in_set(x):
    k = int(x.sum())
    return k in {1, 2, 11}, x * 1


@program(*SETS)
def number_in_dict(x):
    k = int(x.sum())
    d = {2: "a", 11: "b"}
    return k in d, d.get(k, "z"), x * 1


@program(*SETS)
def asked_of_a_set(x):
    seen, fixed = {1, 2}, frozenset({2, 3})
    if x.sum() > 5:
        seen.add(3)
    for value in seen:
        x = x + value
    met = sorted(fixed & seen), sorted(seen | {9}), sorted(seen - fixed), sorted(fixed - seen), sorted(seen ^ fixed)
    told = fixed == seen, seen == {1, 2}, seen <= {1, 2, 3}, {1} < seen, seen.isdisjoint(fixed), bool(seen)
    return met, told, max(seen), sum(seen), list(seen), str(sorted(seen)), [value * 2 for value in seen], x


@program(*SETS)
def a_set_changed_by_the_path_changed_again(x):
    seen = {1, 2}
    if x.sum() > 5:
        seen.add(3)
    copied = seen.copy()
    copied.discard(1)
    seen &= {1, 3}
    seen |= {5}
    taken = copied.pop() in (2, 3)
    return seen, len(copied), taken, x * 1


@program(*SETS)
def set_by_name(x):
    name = "a" if x.sum() > 5 else "b"
    s = {"a"}
    s.add(name)
    seen = set()
    seen.add(name)
    return len(s), name in s, seen, "b" in seen


@program(*SETS)
def set_made_in_arms(x):
    s = {1, 2} if x.sum() > 5 else set()
    if s:
        x = x * 2
    s.add(7)
    return x, len(s), 7 in s, s


@program(*SETS)
def printed_set(x):
    s = {1}
    if x.sum() > 5:
        s.add(2)
    print(s, f"{s}")
    return x * 1


@program(*SETS)
def a_key_that_a_run_finds(x):
    k = int(x.sum())
    d = {2: "a", 11: "b"}
    return d.get(k, "z"), d.get(k)


@program(*SETS)
def a_key_that_a_run_finds_by_the_path(x):
    k = int(x.sum())
    d = {2: "a", 11: "b"}
    if x[0] > 2:
        d[3] = "c"
    return d.get(k, "z"), d.get(k)


@program(*SETS)
def key_error(x):
    k = int(x.sum())
    try:
        return {2: 1}[k]
    except KeyError as e:
        return e.args[0], str(e)


@program(*SETS)
def key_error_out(x):
    k = int(x.sum())
    return {2: 1}[k]
