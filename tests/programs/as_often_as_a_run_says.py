"""Lists, texts and tensors of as many items as only a run tells, or of values that only a run has."""

import functools
import itertools

from programs_compare import program, t

import d2s

SETS = tuple((t([first, 2.0]), t(n)) for first, n in ((1.0, 3), (-1.0, 5), (-4.0, 1)))
WITH_NONE = *SETS, (t([1.0, 2.0]), t(0))
WEIGHT = t([3.0, 4.0])


@program(*WITH_NONE)
def lists_of_one_thing(x, n):
    pairs = [(x, 1.0)] * int(n)
    pairs.append((x * 2, 2.0))
    return [x] * int(n), int(n) * [x, x * 2], [x * 2] * n, pairs, [1.5] * n, [True] * int(n), len([None] * int(n))


@program(*SETS)
def a_list_of_one_thing_that_changes(x, n):
    parts = [x] * int(n) + [x * 2]
    parts[0] = x * 5
    total = x
    for part in parts:
        total = total + part
    return total, d2s.stack(parts)


@program(*WITH_NONE)
def texts(x, n):
    unit = "ab" if x.sum() > 0 else "c"
    print("=" * int(n))
    return "a" * int(n), int(n) * "ab", b"a" * int(n), "ab" * n, ("-" * int(n)).upper(), len("ab" * int(n)), unit * int(n)


@program(*WITH_NONE)
def lists_that_are_printed(x, n):
    parts = []
    for k in range(int(n)):
        parts.append(x * k)
        print(len(parts), [k] * 2)
    print(parts, list(range(int(n))), {"pairs": [(k, k * 0.5) for k in range(int(n))]})
    parts.append(x)
    if x.sum() > 0:
        print("more", parts, sep="-")
    return parts, f"{list(range(int(n)))}", str([k * k for k in range(int(n))]), ",".join(["a"] * int(n))


@program(*WITH_NONE)
def a_complaint_that_shows_a_list(x, n):
    if n > 3:
        raise ValueError(f"too many: {list(range(int(n)))}")
    return x * 1


@program(*SETS)
def tensors_of_numbers_of_a_run(x, n):
    several = [int(n)]
    if x.sum() > 0:
        several.append(2)
    shapes = d2s.to_tensor([n, 1]), d2s.to_tensor([int(n), x.shape[0]], "int32"), d2s.to_tensor(several)
    floats = d2s.to_tensor((int(n), 1.5)), d2s.to_tensor([[int(n), 1], [2, int(n)]], dtype="float32")
    kinds = d2s.to_tensor([int(n) > 2, False]), d2s.to_tensor([True, int(n)]), d2s.to_tensor([float(x[0])], "int64")
    return shapes, floats, kinds, d2s.to_tensor([float(v) for v in x]), d2s.to_tensor([int(n) * 3000000001, 0.5])


@program(*SETS)
def tensors_of_tensors(x, n):
    """No gradient passes: they are copies."""
    return d2s.to_tensor([x.sum(), 1.0]) * x, d2s.to_tensor([x, WEIGHT]) + x, d2s.to_tensor([[x.sum()], [n]])


@program(*SETS)
def tensors_of_a_list_that_a_loop_makes_longer(x, n):
    parts = []
    for k in range(int(n)):
        parts.append(d2s.to_tensor(k))
    return d2s.stack(parts) * x.sum()


@program(*WITH_NONE)
def repeated_and_reduced(x, n):
    for k in itertools.repeat(2.0, int(n)):
        x = x * k
    return x, list(itertools.repeat(1, int(n))), functools.reduce(lambda a, b: a + b * b, range(int(n)), 0)


@program(*SETS[:1])
def no_list_is_repeated_by_a_float(x, n):
    return [x] * float(n)


@program(*SETS[:1])
def no_list_is_repeated_by_a_tensor_of_floats(x, n):
    return x.sum() * [x]


@program(*SETS[:1])
def no_text_is_repeated_by_a_float(x, n):
    return "a" * float(n)
