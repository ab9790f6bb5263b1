"""Programs whose functions call themselves as long as a tensor says so."""

import dataclasses
import functools

from programs_compare import program, t

import d2s

SCALE = t([[0.3, -0.4], [0.7, 0.2]])
GRID = t([[1.0, 2.0]])
COUNTS = (GRID, t(4)), (GRID, t(0)), (t([[-1.0, 0.25]]), t(1))


def countdown(x, n):
    if n > 0:
        return countdown(x * 0.5 + 1, n - 1) * x.tanh()
    return x.sin()


@program(*COUNTS)
def used_behind_the_call(x, n):
    return countdown(x, n)


@program(*COUNTS)
def result_at_the_end(x, n):
    return result_at_the_end(x * 0.5, n - 1) if n > 0 else x


@program((GRID, t(1.0)), (GRID, t(-9.0)), (t([[0.5, 0.5], [3.0, -1.0]]), t(0.5)))
def calls_itself_twice_and_reads_a_weight(x, n):
    y = d2s.matmul(x, SCALE).tanh()
    if y.sum() > n:
        return y
    z = calls_itself_twice_and_reads_a_weight(y + 0.5, n - 0.3)
    if (z * z).sum() > 0.5:
        z = z + calls_itself_twice_and_reads_a_weight(y * 0.3 - z, n - 1.0)
    return z * y


@program((GRID, t(6)), (GRID, t(1)))
def fibonacci(x, n):
    if n < 2:
        return x * n.astype("float32")
    return fibonacci(x, n - 1) + fibonacci(x * 2, n - 2)


@program((t(2), t(3)), (t(0), t(4)))
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, n + 1)
    return ackermann(m - 1, ackermann(m, n - 1))


def even(x, n):
    return x * 2 if n == 0 else odd(x + 1, n - 1)


def odd(x, n):
    return x * 3 if n == 0 else even(x * 0.5, n - 1)


@program(*COUNTS)
def two_call_each_other(x, n):
    return even(x, n)


@program(*COUNTS)
def a_function_within(x, n):
    def halved(y, k):
        if k > 0:
            return halved(y * x, k - 1)
        return y

    return halved(x + 1, n)


@program((GRID,), (t([[40.0, 0.1]]),))
def counted_in_python(x):
    def search(y, steps):
        if y.sum() > 50:
            return y, steps
        return search(y * 2, steps + 1)

    return search(x, 0)


@program((GRID,), (t([[40.0, 0.1]]),))
def python_ends_it(x):
    def search(y, left):
        if left == 0 or y.sum() > 20:
            return y
        return search(y * 2, left - 1)

    return search(x, 2), search(x, 7)


@program(*COUNTS)
def several_results(x, n):
    if n > 0:
        y, parts, found = several_results(x * 0.5, n - 1)
        return y + x, {"last": x, "of": parts["of"]}, found
    return x, {"last": x * 2, "of": (x,)}, "end"


@program(*COUNTS)
def none_or_a_tensor(x, n):
    if n > 3:
        return None
    if n == 0:
        return x
    found = none_or_a_tensor(x * 2, n - 1)
    return x if found is None else found + x


@program(*COUNTS)
def a_default_and_a_keyword(x, n, so_far=None, *, scale=2.0):
    if n <= 0:
        return x if so_far is None else so_far
    return a_default_and_a_keyword(x * scale, n - 1, x if so_far is None else so_far + x, scale=scale)


@program(*COUNTS)
def in_a_loop(x, n):
    if n <= 0:
        return x
    k = 0
    while k < n:
        x = x + in_a_loop(x * 0.1, n - 2) * 0.1
        k += 1
    return x


@program(*COUNTS)
def around_a_loop(x, n):
    while (x * x).sum() < 30:
        x = x * 1.5
    return x.cos() if n == 0 else around_a_loop(x.sin(), n - 1) + x


@program(*COUNTS)
def asked_only(x, n):
    def size(y, k):
        return y.sum() if k <= 0 else size(y * 0.5, k - 1) + 1

    def shrunk(y, k):
        if k <= 0:
            return y
        z = shrunk(y * 0.9, k - 1)
        return z * y if size(z.detach(), k) > 1.5 else z - y

    return shrunk(x, n)


@program(*COUNTS)
def raises_deep_inside(x, n):
    if n == 3:
        raise ValueError("three is too deep")
    return x if n <= 0 else raises_deep_inside(x * 2, n - 1)


@program(*COUNTS)
def without_gradients_inside(x, n):
    if n <= 0:
        return x * 3
    with d2s.no_grad():
        y = without_gradients_inside(x * 2, n - 1)
    return y * x


class Tree(d2s.nn.Layer):
    """Methods that call themselves, and count."""

    def __init__(self):
        super().__init__()
        self.scale, self.calls = t([0.5, 2.0]), 0

    def forward(self, x, n):
        self.calls = self.calls + 1
        if n <= 0:
            return x * self.scale
        return self(x.tanh(), n - 1) + x * self.scale


TREE = Tree()


@program(*COUNTS)
def a_layer_from_outside(x, n):
    TREE.calls = 0
    return TREE(x, n), TREE.calls


@dataclasses.dataclass
class State:
    """What is handed from call to call."""

    value: object
    left: object


@program(*COUNTS)
def an_object_is_handed_on(x, n):
    def run(state):
        if state.left > 0:
            return run(State(state.value * 2, state.left - 1))
        return state.value

    return run(State(x, n))


@program(*COUNTS)
def a_partial_function(x, n):
    def run(step, y, k):
        return y if k <= 0 else run(step, step(y), k - 1)

    return run(functools.partial(d2s.multiply, x), x, n)


@program(*COUNTS)
def the_same_list_is_handed_on(x, n):
    def picked(parts, k):
        return parts[0] if k <= 0 else picked(parts, k - 1) * parts[1]

    return picked([x, x.tanh()], n)


def draws(x, n):
    def noisy(y, k):
        return y if k <= 0 else noisy(d2s.nn.functional.dropout(y, 0.5) + y, k - 1)

    return noisy(x, n)


@program((t([3.0, 1.0, 2.0]), t(2)), (t([3.0, 1.0, 2.0, 4.0]), t(1)), (t([1.0, 2.0]), t(3)))
def of_several_sizes(x, n):
    return x / (x.sum() + 1) if n <= 0 else of_several_sizes(x + x.mean(), n - 1) * x


@program(*COUNTS)
def a_list_is_read(x, n):
    def total(parts, k):
        if k <= 0:
            return sum(parts)
        return total([parts[1], parts[0] * 2], k - 1)

    return total([x, x + 1], n)


@program(*COUNTS)
def three_call_each_other(x, n):
    def first(y, k):
        return second(y, k) if k > 2 else y

    def second(y, k):
        return first(y * 2, k - 1) + third(y, k - 1)

    def third(y, k):
        return y * 1.0 if k <= 0 else third(y + 1, k - 1)

    return first(x, n) + third(x, n)


@program(*COUNTS)
def one_inside_of_another(x, n):
    def inner(y, k):
        return y * 1.0 if k <= 0 else inner(y * 0.5, k - 1) + y

    def outer(y, k):
        z = inner(y, k)
        return z if k <= 1 else outer(z, k - 2) * inner(y, k - 1)

    return outer(x, n)


@program(*COUNTS)
def it_prints_and_ends_in_strings(x, n):
    def run(k):
        print("left", k.item())
        return "end" if k <= 0 else ("even" if k == 2 else run(k - 1))

    return x * 2, run(n)


@program(*COUNTS)
def what_it_raises_is_caught_inside(x, n):
    def run(y, k):
        try:
            if k == 2:
                raise ValueError("two")
            return y if k <= 0 else run(y * 2, k - 1) * 1.5
        except ValueError:
            return y * 0.5

    return run(x, n)


@program(*COUNTS)
def one_result_is_wanted(x, n):
    def pair(y, k):
        if k <= 0:
            return y * 2, y.sin()
        a, b = pair(y * 0.5, k - 1)
        return b * y, a + y

    return pair(x, n)[0]


@program(*COUNTS)
def it_asks_itself(x, n):
    def shrunk(y, k):
        if k <= 0:
            return y * 1.0
        z = shrunk(y * 0.9, k - 1)
        return z * y if shrunk(z * 0.5, k - 2).sum() > 1.5 else z - y

    return shrunk(x, n)


@program(*COUNTS)
def one_waits_for_another(x, n):
    def first(y, k):
        return y * 1.0 if k <= 0 else second(y * 0.5, k)

    def second(y, k):
        return second(y + 1, k - 2) if k > 5 else first(y, k - 1)

    return first(x, n + 8)
