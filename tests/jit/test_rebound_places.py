"""Places that are rebound between calls, inside or outside: eager bits, gradients and identities, in a handful of captures."""

import numpy as np
import pytest

import d2s

STATE = None
CALLS = 12


class Box:
    pass


def t(*values, wants=False):
    return d2s.to_tensor(np.array(values, dtype="float32"), stop_gradient=not wants)


# Each: what a call of the function (by number) gives, for a box and an argument; how many captures it may take.


def outside_with_a_gradient(box, x):
    def f(x):
        return (d2s.tanh(box.h + x) * box.h).sum()

    def call(f, k):
        box.h = t(k * 1.0, 2.0 * k, wants=k % 2 == 0)
        y = f(x)
        y.backward()
        return y, box.h.grad, x.grad

    return f, call, 2


def outside_with_its_history(box, x):
    box.h = t(0.1, 0.2)

    def call(f, k):
        box.h = f(x)
        if k % 4 == 3:
            box.h.sum().backward()
            box.h = box.h.detach()
        return box.h, x.grad

    return lambda x: d2s.tanh(box.h * x), call, 2


def sometimes_the_argument(box, x):
    def call(f, k):
        box.h = x if k % 3 == 2 else t(k, 1.0)
        y = f(x)
        y.sum().backward()
        return y, x.grad

    return lambda x: box.h * x * x + box.h * box.h, call, 3


def asked_whether_it_is_the_argument(box, x):
    def call(f, k):
        box.h = x if k % 3 == 2 else t(k, 1.0)
        return f(x)

    return lambda x: x * 2 if box.h is x else x * 3, call, 3


def changed_in_place(box, x):
    def f(x):
        box.h.add_(x.detach())
        return box.h * x

    def call(f, k):
        box.h = kept = t(k, 1.0)
        return f(x), kept, kept is box.h

    return f, call, 2


def changed_in_place_where_it_may_be_an_argument(box, x):
    z = t(3.0, 4.0)

    def f(x, z):
        box.h.add_(x.detach())
        return box.h * z

    def call(f, k):
        box.h = z if k % 3 == 2 else t(k, 1.0)
        return f(x, z), z

    return f, call, 3


def none_or_of_another_shape(box, x):
    box.h = None

    def f(x):
        box.h = x.detach() if box.h is None else box.h * 0.5 + x.detach()
        return box.h

    def call(f, k):
        box.h = None if k % 5 == 4 else t(1.0) if k % 7 == 6 else box.h
        return f(x)

    return f, call, 3


def a_pair_inside(box, x):
    box.s = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        box.s = box.s[0] * 0.9 + x.detach(), box.s[1] * x.detach()
        return box.s[0]

    return f, lambda f, k: f(x), 1


def a_tensor_an_int_and_a_text(box, x):
    box.s = t(0.0, 0.0), 0, "a"

    def f(x):
        h, n, mode = box.s
        h = h * 0.5 + x * n if mode == "a" else h
        box.s = h.detach(), n + 1, mode
        return h

    def call(f, k):
        box.s = (*box.s[:2], "b") if k == 8 else box.s
        return f(x)

    return f, call, 2


def a_list_that_comes_out(box, x):
    box.l = [t(0.0, 0.0)]

    def f(x):
        box.l = [v * 0.5 + x.detach() for v in box.l]
        return box.l

    def call(f, k):
        before, found = box.l, f(x)
        return found, found is box.l, before is box.l, before

    return f, call, 1


def a_list_that_is_changed_and_kept_elsewhere(box, x):
    box.l = [t(0.0, 0.0), t(1.0, 1.0)]

    def f(x):
        box.l.append(x.detach() * 1)
        box.old = box.l
        box.l = box.l[-2:]
        return box.l[0]

    def call(f, k):
        before, found = box.l, f(x)
        return found, box.old is before, before is box.l, before

    return f, call, 2


def the_latest_numbers(box, x):
    box.l = []

    def f(x):
        box.l.append(float(x.sum()))
        box.l = box.l[-3:]
        return x * len(box.l) + sum(box.l)

    def call(f, k):
        before = box.l
        return f(t(k, 2.0)), before is box.l, before

    return f, call, 4


def the_latest_tensors(box, x):
    box.l = []

    def f(x):
        box.l.append(x.sum())
        box.l = box.l[-3:]
        return x * len(box.l) + sum(box.l)

    def call(f, k):
        before = box.l
        return f(t(k, 2.0)), before is box.l, before

    return f, call, 4


def a_dict(box, x):
    box.d = {"a": t(0.0, 0.0), "n": 1}

    def f(x):
        box.d = {"a": box.d["a"] * 0.9 + x.detach(), "n": box.d["n"] + 1}
        return box.d["a"] * box.d["n"]

    def call(f, k):
        box.d = {"n": 1, "a": t(1.0, 1.0)} if k == 6 else box.d
        return f(x)

    return f, call, 2


def an_equal_dict_of_settings(box, x):
    def call(f, k):
        box.d = {"rate": 0.1 * (k // 6), "layers": 2, "mode": "a"}
        return f(x)

    return lambda x: x * box.d["rate"] + sum(range(box.d["layers"])) if box.d["mode"] == "a" else x, call, 2


def one_list_in_two_places(box, x):
    def f(x):
        box.l.append(x.detach() * 2)
        return box.m[-1] + len(box.m)

    def call(f, k):
        box.l = [t(k * 1.0, 1.0)]
        box.m = box.l if k % 2 else [t(5.0, 6.0)]
        return f(x)

    return f, call, CALLS


def one_tensor_twice(box, x):
    def f(x):
        return (box.p[0] * x + box.p[1] * box.p[0] + box.p[1] * x * x).sum()

    def call(f, k):
        h, g = t(k * 0.1, 0.3, wants=True), t(0.7, 0.1, wants=True)
        box.p = (h, h) if k % 3 == 0 else (h, g)
        y = f(x)
        y.backward()
        return y, h.grad, g.grad

    return f, call, 5


def with_a_gradient_inside(box, x):
    box.h, w = t(0.3, 0.4), t(1.0, 1.0, wants=True)

    def f(x):
        h = d2s.tanh(box.h * w + x.detach())
        h.sum().backward()
        box.h = h.detach()
        return h.sum()

    def call(f, k):
        box.h = t(0.1, 0.2, wants=True) if k == 5 else box.h
        return f(x), w.grad

    return f, call, 3


def a_global(box, x):
    global STATE
    STATE = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        global STATE
        STATE = STATE[1] * 0.5 + x.detach(), STATE[0]
        return STATE[0]

    return f, lambda f, k: (f(x), STATE), 1


def a_variable_of_the_function_around(box, x):
    state = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        nonlocal state
        state = state[1] * 0.5 + x.detach(), state[0] * 2
        return state[0]

    return f, lambda f, k: (f(x), state), 1


def by_the_path(box, x):
    box.s = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        if box.s[0].sum() < 3:
            box.s = box.s[0] + x.detach(), box.s[1]
        else:
            box.s = box.s[1], box.s[0] * 0.1
        return box.s[0]

    return f, lambda f, k: f(x), 1


def nested(box, x):
    box.s = [(t(0.0, 0.0), {"c": t(1.0, 1.0)}) for _ in range(2)]

    def f(x):
        box.s = [(h * 0.5 + x.detach(), {"c": held["c"] + h}) for h, held in box.s]
        return box.s[1][1]["c"]

    return f, lambda f, k: f(x), 1


def behind_an_exception(box, x):
    box.c = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        box.c = box.c[0] + 1, box.c[1]
        if box.c[0].sum() > 8:
            raise ValueError("big")
        box.c = box.c[0], box.c[1] * 2
        return box.c[0]

    def call(f, k):
        box.c = (t(0.0, 0.0), t(1.0, 1.0)) if k == 8 else box.c
        try:
            return f(x)
        except ValueError as error:
            return str(error)

    return f, call, 1


def a_tuple_or_a_list(box, x):
    def call(f, k):
        box.c = (t(0.0, 0.0), k * 0.5) if k % 4 else [t(0.0, 0.0), k]
        return f(x)

    return lambda x: x * box.c[1] if isinstance(box.c, tuple) and isinstance(box.c[1], float) else x * 3, call, 4


def numbers_and_more(box, x):
    box.c = 1.0, True, None

    def f(x):
        box.c = box.c[0] * 2, not box.c[1], box.c[2]
        return x * box.c[0] if box.c[1] else x

    def call(f, k):
        box.c = {5: (float("nan"), True, None), 8: (-0.0, False, "x")}.get(k, box.c)
        return f(x)

    return f, call, 4


def the_old_one_is_kept(box, x):
    box.c = t(0.0, 0.0), t(1.0, 1.0)

    def f(x):
        box.before = box.c
        box.c = box.c[0] + x.detach(), box.c[0]
        return box.before[0]

    def call(f, k):
        old, found = box.c, f(x)
        return found, box.before[0] is old[0], box.c[1] is old[0]

    return f, call, 1


def a_mask_renewed_now_and_then(box, x):
    box.mask = t(1.0, 1.0)

    def f(x, renews):
        if renews:
            box.mask = (x > 0.1).astype("float32")
        return x * box.mask

    return f, lambda f, k: f(x, k % 2 == 0), 3


def a_weight_made_anew_outside(box, x):
    box.w = t(0.5, 0.6, wants=True)

    def call(f, k):
        y = f(x)
        y.backward()
        found = box.w.grad
        box.w = d2s.to_tensor((box.w - 0.1 * found).numpy(), stop_gradient=False)
        return y, found

    return lambda x: ((box.w * x) ** 2).sum(), call, 2


def turned_round(box, x):
    box.l = [t(1.0, 2.0), t(3.0, 4.0)]

    def f(x):
        box.l = box.l[1:] + box.l[:1]
        return box.l[0] + x

    def call(f, k):
        old, found = box.l, f(x)
        return found, box.l[0] is old[1], box.l[1] is old[0]

    return f, call, 1


def an_item_changed_in_place(box, x):
    box.l = t(1.0, 2.0), t(3.0, 4.0)

    def f(x):
        box.l[0].add_(x.detach())
        box.l = box.l[1], box.l[0]
        return box.l[0] * x

    def call(f, k):
        old, found = box.l, f(x)
        return found, box.l[0] is old[1], old

    return f, call, 1


def the_state_of_a_cell(box, x):
    d2s.seed(3)
    cell = d2s.nn.LSTMCell(2, 3)
    box.state = d2s.zeros([1, 3]), d2s.zeros([1, 3])

    def f(x):
        y, box.state = cell(x.reshape([1, 2]), box.state)
        box.state = tuple(v.detach() for v in box.state)
        return y.sum()

    def call(f, k):
        y = f(x)
        y.backward()
        return y, [p.grad for p in cell.parameters()]

    return f, call, 1


REBOUND = [
    outside_with_a_gradient,
    outside_with_its_history,
    sometimes_the_argument,
    asked_whether_it_is_the_argument,
    changed_in_place,
    changed_in_place_where_it_may_be_an_argument,
    none_or_of_another_shape,
    a_pair_inside,
    a_tensor_an_int_and_a_text,
    a_list_that_comes_out,
    a_list_that_is_changed_and_kept_elsewhere,
    the_latest_numbers,
    the_latest_tensors,
    a_dict,
    an_equal_dict_of_settings,
    one_list_in_two_places,
    one_tensor_twice,
    with_a_gradient_inside,
    a_global,
    a_variable_of_the_function_around,
    by_the_path,
    nested,
    behind_an_exception,
    a_tuple_or_a_list,
    numbers_and_more,
    the_old_one_is_kept,
    a_mask_renewed_now_and_then,
    a_weight_made_anew_outside,
    turned_round,
    an_item_changed_in_place,
    the_state_of_a_cell,
]

MORE = {changed_in_place_where_it_may_be_an_argument: [t(1.0, 1.0)], a_mask_renewed_now_and_then: [True]}


def told(value):
    if isinstance(value, d2s.Tensor):
        return value.numpy().tobytes(), value.shape, value.stop_gradient
    if isinstance(value, list | tuple):
        return type(value), [told(part) for part in value]
    return [(k, told(v)) for k, v in value.items()] if isinstance(value, dict) else (type(value), repr(value))


def session(made, jit):
    """All that the calls give and leave, and the function that made them."""
    box, x = Box(), t(1.0, 2.0, wants=True)
    function, call, captures = made(box, x)
    run = jit(function)
    return [(told(call(run, k)), told(vars(box)), told(x)) for k in range(CALLS)], run, captures


@pytest.mark.parametrize("made", REBOUND)
def test_a_place_that_is_rebound_is_read_anew(made):
    want, _, captures = session(made, lambda function: function)
    got, static, _ = session(made, d2s.to_static)
    for k, pair in enumerate(zip(want, got, strict=True)):
        assert pair[0] == pair[1], k
    assert len(static.variants) <= captures
    d2s.jit.verify(static, t(1.0, 2.0), *MORE.get(made, []))


def test_a_list_that_is_shorter_than_at_a_capture_is_none_of_it():
    def seen_by(make):
        box, seen = Box(), []
        box.l = []

        def step(x):
            total = x.sum()
            if total > 0.5:
                box.l = []
            box.l.extend([float(total), 1.0])

        run = make(step)
        for numbers in ([0.5, 1.0], [-2.0, 0.25], [3.0, 1.0], [0.5, 1.0], [-1.0, -1.0], [-1.0, -1.0], [3.0, 1.0]):
            run(d2s.to_tensor(numbers))
            seen.append(list(box.l))
        return seen

    assert seen_by(d2s.to_static) == seen_by(lambda step: step)
