"""Programs whose arguments and results are structures, or that read containers."""

import collections

from programs_compare import program, t

Pair = collections.namedtuple("Pair", "first second")
A, B = t([1.0, 2.0]), t([-3.0, 0.5])

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([1.0, 0.5]),)


@program(([A, B],), ([B, A],), ([A, A],))
def list_argument(parts):
    return parts[0] * 2 + parts[1]


@program(({"a": A, "b": 2.0},), ({"a": B, "b": -1.0},))
def dict_argument(parts):
    return {"sum": parts["a"] + parts["b"], "a": parts["a"]}


@program((Pair(A, B),), (Pair(B, A),))
def namedtuple_argument(pair):
    return pair.second * 2 if pair.first.sum() > 0 else pair[0] * 1


@program(((A, (B, [A * 2])),))
def nested_argument(parts):
    a, (b, [c]) = parts
    return [a + b, (c, {"k": a})]


@program((A,), (B,))
def builds_a_list_outside_branches(x):
    parts = [x, x * 2]
    parts = [*parts, x * 3]
    return parts, len(parts)


@program((A,), (B,))
def constants_in_the_result(x):
    return x * 1, None, "name", 3, (), [], {"k": True}


@program((A,), (B,))
def unpacking(x):
    first, *rest = [x, x * 2, x * 3]
    return first + rest[0], rest[-1]


@program((A,), (B,))
def dict_methods(x):
    parts = {"a": x, "b": x * 2}
    total = x * 0
    for name, part in parts.items():
        total = total + part * len(name)
    return total, parts.get("c", 5), "a" in parts, sorted(parts)


@program((A,), (B,))
def slices_of_lists(x):
    parts = [x * k for k in range(5)]
    return parts[1:3], parts[::-2]


@program((A,), (B,))
def the_same_tensor_twice(x):
    y = x * 2
    return [y, y], {"y": y}


@program(([1.0, 2.0], A), ([3.0], A))
def list_of_floats(scales, x):
    for scale in scales:
        x = x * scale
    return x


@program(([], A), ([B], A))
def empty_list(parts, x):
    if parts:
        return parts[0] * x
    return x * 2


@program((A,), (B,))
def string_formatting(x):
    return f"{x.ndim}-{len('abc')}", "%d" % 3, x * 1  # noqa: UP031


@program(({"k": [A, {"d": B}]},))
def gives_back_a_part(parts):
    return parts["k"][1]["d"], parts["k"][0] * 2


@program(([A, B],))
def gives_back_the_list_itself(parts):
    return parts


@program((A,), (B,))
def list_identity(x):
    parts = [x]
    same = parts
    return [parts, same]


@program((t([1.0, 2.0]),), (t([-1.0, -2.0]),))
def containers_that_change_on_some_paths(x):
    out = []
    for i in range(4):
        out.append(x * i)
        if x.sum() > 2:
            out[-1] = out[-1] + 1
    found = {"k": x}
    found["m"] = x * 2
    if x.sum() > 0:
        found["k"] = found["k"] * 5
    total = out[0]
    for one in out:
        total = total + one
    return total, out, found


@program(*((t([1.0, 2.0]), t(n)) for n in (0, 1, 3)))
def a_list_that_a_loop_changes(x, n):
    acc = [x * 1, x * 0]
    for _ in range(n):
        acc[0] = acc[0] * 1.5
        acc[1] = acc[1] + acc[0]
        acc.append(acc.pop(0))
    return acc


@program((t([1.0, 2.0]),))
def stores_of_every_form(x):
    items = [1, 2, 3]
    items[0], y = x * 2, 5
    items[1] += x
    items[2] -= 1
    items[1:1] = [4]
    return items, y


@program((t([1.0, 2.0]),), (t([-1.0, -2.0]),))
def one_list_by_two_names(x):
    first = [x * 1]
    second = first
    if x.sum() > 0:
        second.append(x * 2)
    else:
        first.append(x * 3)
    return first, first is second


@program(*SETS)
def a_list_known_under_two_names(x):
    trace, y = [], None
    if x.sum() > 0:
        y = (x * 2, trace)
    trace.append(1)
    return y, trace


@program(*SETS)
def one_of_two_lists_changes(x):
    a, b = [x], [x * 2]
    c = a if x.sum() > 0 else b
    c[0] = x * 3
    return a[0] + b[0] * 2, c[0]


@program(*SETS)
def one_of_a_known_and_a_new_list(x):
    a = [x]
    c = a if x.sum() > 0 else [x * 2]
    c[0] = x * 3
    d = None
    if x.sum() > 1:
        d = (c, a) if x.max() > 2 else [[x], a]
    return a[0] + c[0], d is None


def _refused_by_python(function, *args):
    try:
        return function(*args)
    except TypeError as error:
        return str(error)


@program(*SETS)
def a_tensor_is_not_joined_with_a_list(x):
    """Its rows are no list: eager code raises."""
    told = [_refused_by_python(lambda a, b: a + b, x, [1, 2, 3]), _refused_by_python(lambda a, b: a + b, x, [x])]
    return told, _refused_by_python(lambda a, b: a + b, (1, 2), [x])


@program(*SETS)
def a_tensor_and_a_list(x):
    return x * 2 + [1, 2]
