"""Programs in which one tensor has several names: by a join of paths, by a loop, by a list, by a call.

The order of contributions to its gradient shows in the last bits; so each is read at least three times, and of 40 elements.
"""

import numpy as np
from programs_compare import program, t

import d2s


def row(n):
    return t(np.cos(np.arange(40) * 1.3 + n).astype("float32"))


X, W, U = row(0), row(1), row(2)
SIGNS = (X, W, t(3)), (X, W, t(-3)), (X, X, t(1))
TRIPS = (X, W, t(0)), (X, W, t(1)), (X, W, t(4)), (X, X, t(2))


@program(*SIGNS)
def two_reads_in_an_arm(x, w, k):
    y = x if k > 0 else x * w
    z = x * 0.3
    if k > -5:
        z = z + y * y * 1.7 + d2s.tanh(y) * w
    return (z * x + y).sum()


@program(*SIGNS)
def both_names_in_an_arm(x, w, k):
    y = x if k > 0 else w
    z = x * 0.3
    if k > -5:
        z = z + y * x * 1.7 + d2s.tanh(y) * w + x * 0.1
    return (z * x + y * w).sum()


@program(*SIGNS)
def read_by_a_loop(x, w, k):
    y = x if k > 0 else w
    z = d2s.tanh(x) * 0.3
    i = 0
    while i < k * k:
        z = z * y + y * 0.7
        i += 1
    return (z * x + y * x).sum()


@program(*SIGNS)
def both_names_in_a_loop(x, w, k):
    y = x if k > 0 else w
    z = d2s.tanh(x) * 0.3
    i = 0
    while i < k * k:
        z = z * y + x * 0.7 + y * w
        i += 1
    return (z * x + y * x).sum()


@program(*SIGNS)
def carried_from_a_join(x, w, k):
    y = x if k > 0 else w
    z = y * 0.5 + x
    i = 0
    while i < k * k:
        y = y * 0.9 + x * y
        i += 1
    return (z * x + y * x + d2s.tanh(x) + y * w).sum()


@program(*SIGNS)
def two_results_of_one_arm(x, w, k):
    y = z = x
    if k > 0:
        y = z = d2s.tanh(x)
    return (y * w * 0.3 + z * z + d2s.tanh(y) * z + y * 1.7 + x * z).sum()


@program(*SIGNS)
def joins_of_joins(x, w, k):
    y = x if k > 0 else w
    z = y if k > 1 else x
    u = z * 1.1
    if k != 7:
        u = u + z * y + d2s.tanh(z) * x
    return (u + z * 0.3 + y * x * 0.7).sum()


@program(*SIGNS)
def both_by_one_question(x, w, k):
    a = d2s.tanh(x)
    y, z = (a, w) if k > 0 else (w, a)
    return (y * a * 0.3 + z * z * 1.7 + d2s.tanh(y) * z + a * w + y * 0.1 + w * z).sum()


@program(*TRIPS)
def no_trip(x, w, n):
    y = x
    i = 0
    while i < n:
        y = y * w
        i += 1
    return (y * x * 0.3 + d2s.tanh(x) * y + y * y * 1.7 + x * w).sum()


@program(*TRIPS)
def two_begin_as_one(x, w, n):
    a = b = x
    i = 0
    while i < n:
        a, b = a * b * 0.9 + d2s.tanh(b) * w, b * a * 0.3 + a * w
        i += 1
    return (a * 0.3 + b * a).sum()


@program(*TRIPS)
def two_begin_as_one_and_more_behind(x, w, n):
    a = b = x
    i = 0
    while i < n:
        a, b = a * b * 0.9 + d2s.tanh(b) * w, b * a * 0.3 + a * w
        i += 1
    return (a * 0.3 * x + b * a + x * b + a * w).sum()


@program(*TRIPS)
def the_one_before(x, w, n):
    last = now = x
    i = 0
    while i < n:
        last, now = now, now * last * 0.7 + d2s.tanh(last) * w + now * 0.1
        i += 1
    return (now * 0.3 + last * now + d2s.tanh(now) * last + now * last * x).sum()


@program(*TRIPS)
def the_best_so_far(x, w, n):
    best, now = x, d2s.tanh(x)
    i = 0
    while i < n:
        now = now * w + best * 0.3 * now + best * w
        if now.sum() > best.sum():
            best = now
        i += 1
    return (best * 0.3 + now * best + now * now + d2s.tanh(best) * x).sum()


@program(*TRIPS)
def the_best_is_kept(x, w, n):
    best, now = x, d2s.tanh(x)
    i = 0
    while i < n:
        if i % 2 == 1:
            best = now
        now = now * w + best * 0.3 * now + best * w + now * 0.1
        i += 1
    return (best * 0.3 + now * best).sum()


@program(*TRIPS)
def set_to_what_stays(x, w, n):
    y = d2s.tanh(w)
    i = 0
    while i < n:
        z = y * x * 0.3 + y * w
        y = x
        x2 = z * y
        i += 1
        w = w + x2 * y
    return (y * x * 0.3 + x * w + y * y + d2s.tanh(x)).sum()


@program(*TRIPS)
def kept_in_a_list(x, w, n):
    kept = []
    i = 0
    while i < n:
        x = d2s.tanh(x * w) * x + x * 0.3
        kept.append(x)
        i += 1
    total = w * x
    for one in kept:
        total = total + one * one * w
    return (total * x + w).sum()


@program(*TRIPS)
def stacked(x, w, n):
    kept = [x]
    i = 0
    while i < n:
        x = d2s.tanh(x * w) * x + x * 0.3
        kept.append(x)
        i += 1
    return (d2s.stack(kept) * w).sum() * 0.7 + (x * x * w).sum()


@program(*TRIPS)
def read_from_a_list_in_the_loop(x, w, n):
    kept = [x, w]
    i = 0
    while i < n:
        one = kept[-1]
        kept.append(one * kept[-2] * 0.3 + d2s.tanh(one) * x + one * w)
        i += 1
    return (kept[-1] * kept[0] + kept[1] * x + x * w).sum()


@program(*TRIPS)
def put_into_a_list_twice(x, w, n):
    kept = []
    i = 0
    while i < n:
        y = x * 1.1
        kept.append(y)
        kept.append(y)
        kept.append(w)
        x = y * w + y * 0.3
        i += 1
    total = w * 1.0
    for one in kept:
        total = total + one * one * w
    for one in kept:
        total = total * 0.3 + one * total
    return total.sum()


def deeper(x, w, n):
    if n > 0:
        return deeper(x * w * 0.3 + x, w, n - 1) * x + w * x
    return x


@program(*TRIPS)
def a_call_that_hands_back(x, w, n):
    y = deeper(x, w, n)
    return (y * x * 0.3 + d2s.tanh(y) * x + y * w * x).sum()


def by_two(x, y, w, n):
    if n > 0:
        return by_two(x, x * y * 0.3 + d2s.tanh(y) * w, w, n - 1) * y + x * y
    return y


@program(*TRIPS)
def a_call_given_one_twice(x, w, n):
    y = by_two(x, x, w, n)
    return (y * x * 0.3 + d2s.tanh(y) * x + y * w * x).sum()


@program(*TRIPS)
def longer_by_trips(x, w, n):
    y = x
    i = 0
    while i < n:
        y = d2s.concat([y, y * 0.3, d2s.tanh(y)])
        i += 1
    return (y * 0.3).sum() + (x * x * w).sum() + (y * y).sum()


@program(*TRIPS)
def in_a_nested_loop(x, w, n):
    y = x
    i = 0
    while i < n:
        j = 0
        z = y
        while j < i:
            z = z * y * 0.3 + y * w
            j += 1
        y = z * y + x * 0.3 * y + z * w
        i += 1
    return (y * x * 0.3 + y * w + d2s.tanh(x) * y).sum()


@program(*TRIPS)
def an_arm_of_a_loop_hands_on(x, w, n):
    y = x
    z = w
    i = 0
    while i < n:
        if i % 2 == 0:
            z = y
        else:
            y = y * z * 0.7 + d2s.tanh(y) + z * w
        y = y + z * 0.3 * y + z * z
        i += 1
    return (y * z * 0.3 + y * w + d2s.tanh(z) * y + z).sum()


@program(*TRIPS)
def broken_off(x, w, n):
    y = x
    for i in range(10):
        if i >= n:
            break
        y = y * w + x * 0.3 * y
    return (y * x * 0.3 + y * w + d2s.tanh(x) * y).sum()


@program(*SIGNS)
def results_that_are_one(x, w, k):
    a = d2s.tanh(x)
    y = a if k > 0 else a * w
    z = y if k > 1 else x
    return a, y, z, x


@program(*TRIPS)
def results_of_a_loop(x, w, n):
    last = now = x
    first = d2s.tanh(w)
    start = first
    i = 0
    while i < n:
        last, now = now, now * 0.5
        first = first * 0.7
        i += 1
    return last, now, first, start, x


@program(*TRIPS)
def results_of_lists(x, w, n):
    kept = [x]
    i = 0
    while i < n:
        x = x * 0.7
        kept.append(x)
        i += 1
    return kept, x, kept[0], kept[-1]


@program(*TRIPS)
def results_of_calls(x, w, n):
    a = d2s.tanh(x)
    return deeper(a, w, n), a, deeper(x, w, n), x


SOME = [(x, w, t(n)) for x, w in ((X, W.detach()), (X.detach(), W), (X, W)) for n in (0, 1, 2, 3, 5)]


def changing_places(x, w, n):
    if n > 0:
        return changing_places(x * 0.3, w, n - 1) * 0.5 if n != 3 else w * 2
    return x


@program(*SOME)
def calls_that_depend_by_the_path(x, w, n):
    return changing_places(x, w, n), changing_places(w, x, n)


@program(*SOME)
def pairs_of_calls_that_depend_by_the_path(x, w, n):
    def pair(a, b, k):
        if k > 0:
            i = 0
            while i < k:
                a = a * 0.5
                i += 1
            c, d = pair(b, a, k - 1)
            return d * 1.0, c * 1.0
        return a * 1.0, b * 1.0

    return pair(x, w, n)


@program(*SOME)
def items_that_depend_by_the_path(x, w, n):
    kept = [x * 2, w * 3]
    i = 0
    while i < n:
        kept.append(x * 1.0 if i % 2 == 0 else w * 1.0)
        i += 1
    return kept, kept[0] * 1, kept[-1] * 2, d2s.stack(kept), d2s.concat(kept)


@program(*SOME)
def what_is_left_depends_by_the_path(x, w, n):
    kept = []
    i = 0
    while i < n:
        kept.append(w * i)
        i += 1
    kept.append(x * 1)
    total = w * 0
    while len(kept) > 2:
        total = kept.pop() * 1.5
    return total, kept, d2s.stack(kept).sum()


@program(*TRIPS)
def carried_and_put_into_a_list(x, w, n):
    h, states, more = x * 1, [x * 0], [x * w]
    i = 0
    while i < n:
        gate = d2s.tanh(h * w)
        h = gate * h + (1 - gate) * d2s.tanh(x * w)
        states.append(h)
        more.append(h * 0.5)
        i += 1
    return (d2s.stack(states) ** 2).sum() * d2s.stack(more).mean() + (h * 0.3).sum()


@program(*TRIPS)
def begun_with_in_the_list_it_is_put_into(x, w, n):
    h = d2s.tanh(x)
    states = [h]
    i = 0
    while i < n:
        h = d2s.tanh(h * w) * 0.7 + h * 0.3
        states.append(h)
        i += 1
    return (d2s.stack(states) * 1.7).sum() + states[0].sum()


@program(*TRIPS)
def read_behind_where_it_is_put_into_a_list(x, w, n):
    h, states = x * 1, [x * 0]
    i = 0
    while i < n:
        h = d2s.tanh(h * w) * 0.7 + h * 0.3
        states.append(h)
        h = h * 3 - h * w
        i += 1
    return (d2s.stack(states) * 1.7).sum() + (h * h).sum()


@program(*TRIPS[1:])
def set_again_by_each_trip(x, w, n):
    for _ in range(n):
        y = x
    return ((x - 3.0) * (x + 0.5)).sum() * (y - 3.0) + d2s.tanh(x)


@program(*TRIPS[1:])
def set_again_and_then_by_another_loop(x, w, n):
    y = w
    for _ in range(n):
        y = x
    z = (x - 3.0) * d2s.tanh(x) + y * w
    i = 0
    while i < n:
        if x.sum() > 1e6:
            y = w
        i += 1
    return z * (y - 3.0) * y


@program(*TRIPS[1:])
def set_by_a_loop_and_joined(x, w, n):
    for _ in range(n):
        y = x
    z = (x - 3.0) * (x + 0.5)
    if n > 2:
        y = y * 1.0
    z = z * x
    return z * (y - 3.0)
