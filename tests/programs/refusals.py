"""Constructs the first version does not hold: each is right in everything or refused at the user's line, never different.

`fresh` functions make the function to run, so that state of one run does not reach the next; `state` says what to compare.
"""

import collections
import contextlib
import copy
import dataclasses
import functools
import itertools
import random
import time

import numpy as np
from programs_compare import t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),)
CASES = []


def case(*argument_sets, state=lambda: None):
    """A row: a function that resets what it uses and gives the function to run; `state` is read after each run."""

    def add(make):
        CASES.append((make, argument_sets or SETS, state))
        return make

    return add


def plain(*argument_sets):
    """A row without state."""
    return lambda function: case(*argument_sets)(lambda: function) and function


class Box:
    n = 0


Pair = collections.namedtuple("Pair", "first second")


@dataclasses.dataclass
class Point:
    a: object
    b: object


class Net(d2s.nn.Layer):
    def __init__(self):
        super().__init__()
        self.calls, self.inner = 0, d2s.nn.Linear(2, 2)

    def forward(self, x):
        self.calls += 1
        return self.inner(x)


BOX, LOG, COUNTER, TABLE = Box(), [], 0, {"a": 1.0}
NET = Net()


@plain()
def for_over_a_tensor(x):
    total = 0.0
    for row in x:
        total = total + row
    return total


@plain((t([1.0]), t(3)), (t([1.0]), t(0)))
def for_over_range_of_a_tensor(x, n):
    for i in range(n):
        x = x + i
    return x


@plain()
def enumerate_of_a_tensor(x):
    for i, row in enumerate(x):
        x = x + row * i
    return x


@plain()
def zip_of_tensors(x):
    for a, b in zip(x, x, strict=True):
        x = x + a * b
    return x


@plain()
def reversed_tensor(x):
    for row in reversed(x):
        x = x - row
    return x


@plain()
def list_of_a_tensor(x):
    return list(x)


@plain()
def unpacked_tensor(x):
    a, b = x
    return a + b


@plain()
def starred_tensor(x):
    return [*x]


@plain()
def comprehension_over_a_tensor(x):
    return [row * 2 for row in x]


@plain((t([1.0, 2.0]),), (t([30.0, 2.0]),))
def break_in_a_tensor_while(x):
    while x.sum() < 50:
        x = x * 2
        if x.sum() > 20:
            break
    return x


@plain()
def continue_in_a_tensor_while(x):
    i = 0
    while x.sum() < 10:
        x = x + 1
        if x.sum() > 5:
            continue
        i = i + 1
    return x, i


@plain((t([1.0, 2.0]),), (t([5.0, -1.0]),))
def while_true_with_a_tensor_break(x):
    n = 0
    while True:
        x = x + 1
        n += 1
        if x.sum() > 20:
            break
    return x, n


@plain()
def return_in_a_tensor_while(x):
    while x.sum() < 10:
        x = x + 1
        if x.sum() > 5:
            return x * 2
    return x


@plain()
def return_in_a_python_loop_on_a_tensor(x):
    for i in range(4):
        x = x + 1
        if x.sum() > 5:
            return x * i
    return x


@plain()
def break_in_a_python_loop_on_a_tensor(x):
    for _ in range(6):
        x = x + 1
        if x.sum() > 5:
            break
    return x


@plain()
def while_else(x):
    while x.sum() < 10:
        x = x + 1
    else:
        x = x * 2
    return x


@plain()
def append_in_a_tensor_if(x):
    parts = [x]
    if x.sum() > 0:
        parts.append(x * 2)
    return parts


@plain()
def append_outside(x):
    parts = []
    parts.append(x * 2)
    return parts


@plain()
def append_in_a_tensor_while(x):
    parts = []
    while x.sum() < 10:
        x = x + 1
        parts.append(x)
    return parts


@plain()
def list_plus_equals_in_a_tensor_if(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts += [x * 2]
    return len(parts), parts


@plain()
def list_alias_plus_equals(x):
    parts = [x * 1]
    alias = parts
    parts += [x * 2]
    return len(alias), len(parts)


@plain()
def list_times_equals(x):
    parts = [1.0]
    alias = parts
    parts *= 3
    return len(alias), x * 1


@plain(([1.0], t([1.0])), ([1.0], t([-1.0])))
def callers_list_plus_equals(parts, x):
    parts += [2.0]
    return x * 1


@plain(([1.0], t([1.0])), ([1.0], t([-1.0])))
def callers_list_plus_equals_in_a_branch(parts, x):
    if x.sum() > 0:
        parts += [2.0]
    return x * 1


@plain(([], t([1.0])))
def callers_list_appended(parts, x):
    parts.append(x)
    return x


@plain(({}, t([1.0])))
def callers_dict_gains_a_key(d, x):
    d["a"] = x
    return x


@plain(({1}, t([1.0])))
def callers_set_or_equals(s, x):
    s |= {2}
    return x


@plain(({"a": 1}, t([1.0])))
def callers_dict_or_equals(d, x):
    d |= {"b": 2}
    return x


@plain()
def dict_gains_a_key_in_a_branch(x):
    d = {"a": x}
    if x.sum() > 0:
        d["b"] = x * 2
    return d


@plain()
def dict_literal_in_a_branch(x):
    d = {"a": x * 1}
    if x.sum() > 0:
        d = {"a": x * 1, "b": x * 2}
    return d


@plain()
def list_of_other_length_in_a_branch(x):
    parts = [x * 1]
    if x.sum() > 0:
        parts = [x * 1, x * 2]
    return parts


@case(state=lambda: BOX.n)
def attribute_in_a_tensor_if():
    BOX.n = 0

    def f(x):
        if x.sum() > 0:
            BOX.n = 1
        return x * 2

    return f


@case(state=lambda: BOX.n)
def attribute_counted():
    BOX.n = 0

    def f(x):
        BOX.n += 1
        return x * BOX.n

    return f


@case((t([[1.0, 2.0]]),), state=lambda: NET.calls)
def layer_that_counts():
    NET.calls = 0
    return lambda x: NET(x)


@case(state=lambda: BOX.n)
def setattr_called():
    BOX.n = 0

    def f(x):
        setattr(BOX, "n", 5)  # noqa: B010
        return x * 1

    return f


@case(state=lambda: COUNTER)
def global_assigned():
    global COUNTER
    COUNTER = 0

    def f(x):
        global COUNTER
        COUNTER += 1
        return x * 2

    return f


@case()
def nonlocal_assigned():
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x * n

    return f


@case()
def nonlocal_assigned_by_a_callee():
    n = 0

    def bump():
        nonlocal n
        n += 1
        return n

    def f(x):
        return x * bump()

    return f


@case(state=lambda: list(LOG))
def global_list_appended():
    LOG.clear()

    def f(x):
        LOG.append(1)
        return x * 2

    return f


@case(state=lambda: dict(TABLE))
def global_dict_changed():
    TABLE.clear()

    def f(x):
        TABLE["n"] = TABLE.get("n", 0) + 1
        return x * TABLE["n"]

    return f


@case(state=lambda: dict(TABLE))
def dict_update_and_pop():
    TABLE.clear()
    TABLE["a"] = 1.0

    def f(x):
        return x * TABLE.pop("a", 3.0)

    return f


@plain()
def print_in_a_branch(x):
    if x.sum() > 0:
        print("positive")
    return x * 2


@plain()
def print_at_the_top(x):
    print("hello")
    return x * 2


@plain()
def print_a_tensor(x):
    print(x)
    return x * 2


@plain()
def generator(x):
    yield x
    yield x * 2


@plain()
def generator_expression(x):
    return sum(part * 2 for part in [x, x * 3])


@plain()
def calls_a_generator(x):
    def parts(z):
        yield z
        yield z * 2

    total = x * 0
    for part in parts(x):
        total = total + part
    return total


@plain()
def try_except(x):
    try:
        y = x @ x
    except ValueError:
        y = x * 2
    return y


@plain()
def try_finally(x):
    try:
        if x.sum() > 0:
            return x * 2
    finally:
        x = x + 1
    return x


@plain()
def with_statement(x):
    with contextlib.nullcontext(2.0) as scale:
        return x * scale


@plain()
def no_grad_inside(x):
    with d2s.no_grad():
        y = x * 2
    return y + x


@plain((t([1.0, 2.0]),), (t([100.0, -2.0]),))
def recursion_that_makes_a_list_longer(x):
    def run(y, found):
        return found if y.sum() > 50 else run(y * 2 + 10, [*found, y])

    return run(x, [])


@plain((t([1.0, 2.0]),), (t([100.0, -2.0]),))
def recursion_that_changes_a_list_it_is_given(x):
    def run(y, found):
        found[0] = y
        return y if y.sum() > 50 else run(y * 2 + 10, found)

    parts = [x]
    return run(x, parts), parts


@plain((t([1.0, 2.0]),), (t([100.0, -2.0]),))
def recursion_that_hands_back_its_list(x):
    def run(y, found):
        return found if y.sum() > 50 else run(y * 2 + 10, found)

    parts = [x, x]
    found = run(x, parts)
    found[0] = x * 5
    return parts


@plain()
def item(x):
    return x * x.sum().item()


@plain()
def numpy_of_a_tensor(x):
    return float(x.numpy()[0])


@plain()
def numpy_function(x):
    return float(np.sum(x))


@plain()
def numpy_constant_times(x):
    return np.float32(2.0) * x


@plain()
def float_of_a_tensor(x):
    return float(x.sum()) * 2


@plain()
def int_of_a_tensor(x):
    return int(x.sum()) + 1


@plain()
def bool_of_a_tensor(x):
    return bool(x.sum() > 0)


@plain()
def tolist(x):
    return x.tolist()


@plain()
def format_a_tensor(x):
    return f"{x}"


@plain()
def str_of_a_tensor(x):
    return str(x)


@plain()
def repr_in_percent(x):
    return "%s" % x  # noqa: UP031


@plain()
def format_method(x):
    return "{}".format(x)  # noqa: UP032


@plain()
def id_of_a_tensor(x):
    return x if id(x) == 0 else x * 2


@case()
def random_number():
    random.seed(3)
    return lambda x: x * random.random()


@case()
def numpy_random():
    np.random.seed(3)
    return lambda x: x * float(np.random.rand())


@plain()
def time_of_day(x):
    return x * 2 if time.time() > 0 else x


@plain()
def perf_counter_passed_in(x):
    clock = time.perf_counter
    return x * (2 if clock() > 0 else 3)


@plain()
def set_in_one_arm_and_read(x):
    if x.sum() > 0:
        y = x * 2
    return y


@plain()
def set_in_one_arm_and_read_there(x):
    if x.sum() > 0:
        y = x * 2
    if x.sum() > 0:
        x = y + 1
    return x * 1


@plain((t([1.0, 2.0]),), (t([30.0, 2.0]),))
def set_in_a_loop_and_read(x):
    while x.sum() < 10:
        y = x * 2
        x = x + 1
    return y


@plain()
def dtype_differs_by_arm(x):
    y = x * 1
    if x.sum() > 0:
        y = d2s.cast(x, "float64")
    return y + 1


@plain()
def shape_differs_by_arm(x):
    y = x * 1
    if x.sum() > 0:
        y = x.sum()
    return y + 1


@plain((t([[1.0, 2.0]]),), (t([[-1.0, 2.0]]),))
def shape_grows_in_a_loop(x):
    while x.sum() < 10:
        x = (x + 1) * (x.sum(0, True) * 0 + 1) + d2s.matmul(x, x, True, False)
    return x


@plain()
def int_or_float(x):
    k = 1
    if x.sum() > 0:
        k = 2.5
    return k, x * k


@plain()
def int_or_bool(x):
    k = 1
    if x.sum() > 0:
        k = True
    return k


@plain()
def number_or_tensor(x):
    y = 1.0
    if x.sum() > 0:
        y = x * 2
    return y * 2


@plain()
def none_or_tensor(x):
    y = None
    if x.sum() > 0:
        y = x * 2
    return x if y is None else y


@plain()  # noqa: RET503
def returns_nothing_on_one_path(x):
    if x.sum() > 0:
        return x * 2


@plain()
def string_set_in_a_branch(x):
    mode = "a"
    if x.sum() > 0:
        mode = "b"
    return mode


@plain()
def function_chosen_in_a_branch(x):
    f = d2s.tanh
    if x.sum() > 0:
        f = d2s.relu
    return f(x)


@plain()
def and_gives_tensor_or_none(x):
    return (x.sum() > 0) and None


@plain()
def python_bool_and_tensor(x):
    flag = True
    if x.sum() > 0:
        flag = False
    return x * 2 if flag and x.sum() < 0 else x * 3


@plain()
def raise_in_a_branch(x):
    if x.sum() > 0:
        raise ValueError("positive")
    return x * 2


@plain()
def assertion(x):
    assert x.sum() > 0, "not positive"
    return x * 2


@plain()
def assertion_on_python(x):
    assert x.ndim == 2, "not a matrix"
    return x * 2


@plain()
def raise_at_the_top(x):
    raise ValueError("always")


@plain()
def index_a_tensor(x):
    return x[0]


@plain()
def slice_a_tensor(x):
    return x[1:] * 2


@plain()
def assign_to_an_item(x):
    y = x * 1
    y[0] = 5.0
    return y


@plain()
def index_a_list_by_a_tensor(x):
    k = d2s.cast(x.sum() > 0, "int64")
    return [x * 2, x * 3][k]


@plain()
def index_a_list_by_an_int_of_run_time(x):
    k = 0
    if x.sum() > 0:
        k = 1
    return [x * 2, x * 3][k]


@plain()
def range_of_an_int_of_run_time(x):
    k = 2
    if x.sum() > 0:
        k = 3
    for i in range(k):
        x = x + i
    return x


@plain()
def power_and_division_of_run_time_ints(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return k / 2, k // 2, k % 3, k**2


@plain()
def int_methods_of_run_time(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return str(k), abs(-k), max(k, 3), k.bit_length()


@plain()
def bits_of_run_time_ints(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return k & 1, k | 8, k << 2, ~k


@plain()
def type_of_a_run_time_int(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return type(k).__name__, isinstance(k, int), isinstance(k, float)


@plain()
def hash_and_key_of_a_run_time_int(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return {3: "a", 4: "b"}[k], k in (4, 5), {k: 1}


@plain()
def sorted_and_min_of_run_time_numbers(x):
    k = 3
    if x.sum() > 0:
        k = 4
    return sorted([5, k, 1]), min(k, 2), sum([k, 1])


@plain()
def large_int_of_run_time(x):
    k = 2**62
    if x.sum() > 0:
        k = k * 4
    return k


@plain(
    (t([1.0]), 10**30),
)
def int_beyond_64_bits(x, k):
    if x.sum() > 0:
        k = k + 1
    return k


@plain(
    (t([1.0]), 10**30),
)
def int_beyond_64_bits_as_it_is(x, k):
    return k * 2, x * 1


@plain()
def match_statement(x):
    match x.ndim:
        case 1:
            return x * 2
        case _:
            return x


@plain()
def del_statement(x):
    y = x * 2
    del x
    return y


@plain()
def import_inside(x):
    import math

    return x * math.pi


@plain()
def class_inside(x):
    class Local:
        scale = 2.0

    return x * Local.scale


@plain()
def namedtuple_made_inside(x):
    return Pair(x * 2, x) if x.sum() > 0 else Pair(x * 1, x)


@plain()
def dataclass_made_inside(x):
    p = Point(x, x * 2)
    if x.sum() > 0:
        p = Point(x * 2, x)
    return p.a + p.b


@plain((Point(t([1.0]), 2.0),))
def dataclass_argument(p):
    return p.a * p.b


@plain()
def locals_inside(x):
    y = 2.0
    return x * locals()["y"]


@plain()
def walrus_in_and(x):
    if x.sum() > 0 and (y := x * 2).sum() > 3:
        return y
    return x * 1


@plain()
def set_of_tensors(x):
    return len({x, x * 2})


@plain()
def tensor_in_a_list(x):
    y = x.sum()
    return y in [y, x]


@plain()
def is_operator_after_an_if(x):
    y = x
    if x.sum() > 0:
        y = x * 2
    return 1 if y is x else 2


@plain()
def stop_gradient_set_inside(x):
    y = x * 2
    y.stop_gradient = True
    return y + x


@plain()
def detach_inside(x):
    return x.detach() * x


@plain()
def backward_inside(x):
    y = (x * 2).sum()
    y.backward(retain_graph=True)
    return y


@plain()
def attributes_of_a_tensor(x):
    return x.size, x.shape, x.ndim, x.dtype, x.is_leaf, x.name


@plain()
def stop_gradient_read(x):
    return x * 2 if x.stop_gradient else x * 3


@plain()
def grad_read(x):
    return x * 2 if x.grad is None else x * 3


@plain()
def set_value_inside(x):
    y = d2s.to_tensor([1.0, 2.0])
    y.set_value(x)
    return y * 2


@plain()
def in_place_inside(x):
    y = x * 2
    y.add_(1.0).exp_()
    return y


@plain()
def in_place_on_what_is_outside(x):
    y = d2s.to_tensor([1.0, 2.0])
    return y.multiply_(x) + y.fill_(3.0)


@plain()
def hook_inside(x):
    (x * 2).retain_grads()
    return x


@plain()
def to_tensor_of_numbers(x):
    return x * d2s.to_tensor(2.0), d2s.to_tensor([1.0, 2.0]) + x, d2s.to_tensor(3)


@plain()
def to_tensor_that_wants_a_gradient(x):
    w = d2s.to_tensor(2.0, stop_gradient=False)
    return w * x


@plain()
def new_tensor_comes_back(x):
    return d2s.to_tensor([1.0, 2.0])


@plain()
def layer_made_inside(x):
    return d2s.nn.Linear(2, 2)


@plain()
def tensor_class_called(x):
    return d2s.Tensor(np.ones(2, "float32")) * x


@plain()
def sorting_tensors(x):
    return sorted([x.sum(), x.sum() * 2])[0]


@plain()
def max_of_tensors(x):
    return max(x.sum(), x.sum() * 2)


@plain()
def any_of_tensors(x):
    return any([x.sum() > 0, x.sum() > 5])


@plain()
def filter_by_a_tensor(x):
    return list(filter(lambda k: (x * k).sum() > 0, [1, -1, 2]))


@plain()
def comprehension_with_a_tensor_condition(x):
    return [k for k in (1, -1, 2) if (x * k).sum() > 0]


@plain()
def map_with_a_tensor_if(x):
    return list(map(lambda k: x * k if (x * k).sum() > 0 else x, [1, -1]))  # noqa: C417


@case()
def iterator_from_outside():
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    return lambda x: x * next(numbers)


@case()
def iterator_from_outside_looped():
    numbers = iter([1.0, 2.0, 3.0])

    def f(x):
        for k in numbers:
            x = x * k
        return x

    return f


@case()
def zip_from_outside_listed():
    numbers = zip([1.0, 2.0, 3.0], [1, 2, 3], strict=True)
    return lambda x: x * len(list(numbers))


@case()
def mutable_default():
    def f(x, seen=[]):  # noqa: B006
        seen.append(1)
        return x * len(seen)

    return f


@case()
def mutable_default_plus_equals():
    def f(x, seen=[]):  # noqa: B006
        seen += [1]
        return x * len(seen)

    return f


@case()
def attribute_of_a_function():
    def f(x):
        f.calls = getattr(f, "calls", 0) + 1
        return x * f.calls

    return f


@case()
def callable_object_with_state():
    class Counting:
        n = 0

        def __call__(self, x):
            self.n += 1
            return x * self.n

    counting = Counting()
    return lambda x: counting(x)


@case()
def property_with_an_effect():
    class Counting:
        n = 0

        @property
        def bumped(self):
            self.n += 1
            return self.n

    counting = Counting()
    return lambda x: x * counting.bumped


@case()
def getattr_hook_with_an_effect():
    class Counting:
        def __init__(self):
            self.seen = []

        def __getattr__(self, name):
            self.seen.append(name)
            return len(self.seen)

    counting = Counting()
    return lambda x: x * counting.anything


@case()
def getitem_with_an_effect():
    class Counting:
        n = 0

        def __getitem__(self, key):
            self.n += 1
            return self.n

    counting = Counting()
    return lambda x: x * counting["a"]


@case()
def operator_with_an_effect():
    class Counting:
        n = 0

        def __add__(self, other):
            self.n += 1
            return self.n

    counting = Counting()
    return lambda x: x * (counting + 1)


@case((t([1.0]),))
def run_time_int_into_a_small_dtype():
    def f(x):
        k = 2
        if x.sum() > 0:
            k = 20
        return d2s.cast(x, "int32") * k

    return f


@case()
def bool_with_an_effect():
    class Counting:
        n = 0

        def __bool__(self):
            self.n += 1
            return self.n % 2 == 1

    counting = Counting()
    return lambda x: x * 2 if counting else x * 3


@case()
def len_with_an_effect():
    class Counting:
        n = 0

        def __len__(self):
            self.n += 1
            return self.n

    counting = Counting()
    return lambda x: x * len(counting)


@case()
def contains_with_an_effect():
    class Counting:
        n = 0

        def __contains__(self, what):
            self.n += 1
            return self.n % 2 == 1

    counting = Counting()
    return lambda x: x * 2 if 1 in counting else x * 3


@case()
def equality_with_an_effect():
    class Counting:
        n = 0

        def __eq__(self, other):
            self.n += 1
            return self.n % 2 == 1

    counting = Counting()
    return lambda x: x * 2 if counting == 1 else x * 3


@case()
def sort_key_with_an_effect():
    seen = []

    def key(k):
        seen.append(k)
        return -k

    return lambda x: (x * 1, sorted([1, 2], key=key), len(seen))


@case()
def default_factory():
    table = collections.defaultdict(list)
    return lambda x: (x * 1, table["a"], len(table))


@case()
def unbound_list_method():
    parts = []

    def f(x):
        list.append(parts, 1)
        return x * len(parts)

    return f


@case()
def dict_pop_by_class():
    parts = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0, "f": 6.0, "g": 7.0}

    def f(x):
        return x * dict.popitem(parts)[1]

    return f


@case()
def map_calls_an_effect():
    seen = []
    return lambda x: (list(map(seen.append, [1, 2])), x * len(seen))


@case()
def reduce_with_an_effect():
    import functools

    return lambda x: functools.reduce(lambda a, b: a + b, [x, x * 2, x * 3])


@case()
def memo_of_a_function():
    import functools

    calls = []

    @functools.lru_cache
    def slow(k):
        calls.append(k)
        return k * 2.0

    return lambda x: (x * slow(3), len(calls))


@plain(
    (t([1.0, 2.0]), t([1.0, 2.0])),
)
def async_function(x, y):
    async def inner():
        return x

    return y * 2


@plain(
    (1 + 2j, t([1.0])),
)
def complex_argument(k, x):
    return k * 2, x * 1


@plain(
    (Box, t([1.0])),
)
def class_argument(kind, x):
    return x * kind.n


@plain((t([1.0, 2.0]),), (t([1.0, 2.0, 3.0]),), (t([4.0]),), (t([1.0, 2.0, 3.0, 4.0]),))
def size_decides(x):
    n = x.shape[0]
    if n > 2:
        return x * n
    return x


@plain((t([1.0, 2.0]), t([1.0, 2.0])), (t([1.0, 2.0, 3.0]), t([1.0, 2.0, 3.0])), (t([1.0, 2.0, 3.0]), t([1.0])))
def sizes_that_meet(x, y):
    return x + y


@plain((t([1.0, 2.0]), t([1.0, 2.0])), (t([1.0, 2.0, 3.0]), t([1.0, 2.0, 3.0])), (t([1.0, 2.0, 3.0]), t([1.0, 2.0])))
def sizes_that_clash_later(x, y):
    if x.sum() > 100:
        return x + y
    return x * 2


@plain()
def raises_in_an_arm(x):
    y = x + 1
    if x.sum() > 0:
        y = x @ x
    return y


@plain()
def missing_key_in_an_arm(x):
    scales = {"a": 2.0}
    if x.sum() > 0:
        return x * scales["b"]
    return x * scales["a"]


@plain()
def unbound_in_an_arm(x):
    if x.sum() > 100:
        x = x * y  # noqa: F821
        y = x  # noqa: F841
    return x * 2


@plain()
def outer_iter_in_arm(x):
    it = iter([x, x * 2])
    y = x
    if x.sum() > 0:
        for p in it:
            y = y + p
    else:
        for p in it:
            y = y - p
    return y


@plain()
def gen_in_arm(x):
    def g(v):
        for _ in range(3):
            v = v * 2
            yield v

    it = g(x)
    y = x
    if x.sum() > 0:
        y = next(it)
    return y + next(it)


@plain()
def gen_break(x):
    def g(v):
        for _ in range(3):
            v = v * 2
            yield v

    for v in g(x):
        if v.sum() > 5:
            break
    return v


@plain()
def infinite_gen(x):
    def g(v):
        while True:
            yield v

    for _ in g(x):
        x = x * x + 1
        if x.sum() > 50:
            break
    return x


@plain()
def a_list_by_the_path_taken_apart(x):
    parts = [x * 1, x * 2]
    if x.sum() > 0:
        parts.pop()
    a, b = parts
    return a + b


@plain()
def a_list_that_changes_by_the_path_under_a_loop(x):
    parts, n = [x * 1, x * 2], 0
    for part in parts:
        n += 1
        if part.sum() > 3 and len(parts) < 5:
            parts.append(x * 0)
    return parts, n


@plain()
def one_list_of_an_arm_by_two_names(x):
    a = b = None
    if x.sum() > 0:
        a = [x * 1]
        b = a
    if a is not None:
        a.append(x * 2)
        return a, b
    return x


@plain()
def one_list_of_a_trip_by_two_names(x):
    last = [x * 0]
    rows = [last]
    while x.sum() < 10:
        last[0] = last[0] + 5
        x = x + 3
        last = [x * 1]
        rows = [last]
    return rows[0][0], last[0]


@plain()
def a_list_of_an_arm_and_one_from_before(x):
    last = [x * 0]
    rows = [last]
    while x.sum() < 10:
        last = [x * 1]
        rows[0] = last
        x = x + 3
        last[0] = x
    return rows[0][0] + last[0]


@plain()
def sorted_in_place_by_the_path(x):
    parts = [3, 1]
    if x.sum() > 0:
        parts.append(2)
    parts.sort()
    return parts


@plain()
def one_object_of_an_arm_by_two_names(x):
    a = b = None
    if x.sum() > 0:
        a = Point(x * 1, 1)
        b = a
    if a is not None:
        a.b = 9
        return b.b
    return 0


@plain()
def an_attribute_on_some_paths(x):
    point = Point(x * 1, 1)
    if x.sum() > 0:
        point.late = 3
    return point.late


class Alike:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return True


@plain()
def an_object_with_operators(x):
    return Alike(x) == Alike(x), x * 1


@plain()
def the_text_of_an_object(x):
    point = Point(1, 2)
    if x.sum() > 0:
        point.b = 3
    return f"{point}", x * 1


@plain()
def layer_with_weights_made_inside(x):
    return d2s.nn.Linear(2, 2)(x)


def filled(x, more=1.0):
    """A list whose length only a run tells."""
    found = [x * 1]
    while found[-1].sum() < 4:
        found.append(found[-1] * found[-1] + more)
    return found


@plain()
def another_name_of_a_list_that_is_begun_anew(x):
    parts = known = [x * 1]
    for i in range((x.sum() > 0) + 2):
        parts.append(x * i)
        if i == 1:
            parts = []
    return known, parts


@plain()
def a_growing_list_in_a_growing_list(x):
    rows, row = [], []
    while len(rows) < x.sum():
        row = []
        while len(row) < x.sum():
            row.append(x * 2)
        rows.append(row)
    return rows


@plain()
def one_list_again_and_again(x):
    rows, row = [], [x * 1]
    while len(rows) < x.sum() + 4:
        rows.append(row)
        row[0] = row[0] + 1
    return rows


@plain()
def an_item_of_another_kind(x):
    found = filled(x)
    found.append(None)
    return found


@plain()
def a_test_that_takes_from_a_list(x):
    found, total = filled(x), x * 0
    while found and found.pop().sum() > 1:
        total = total + 1
    return total, len(found)


@plain()
def a_list_taken_apart(x):
    first, *others = filled(x)
    return first, others


@plain()
def a_list_in_a_print_and_a_text(x):
    found = filled(x)
    print(len(found))
    return f"{len(found)} parts", found


@plain()
def other_things_lists_are_asked(x):
    found = filled(x)
    return tuple(found), max(part.sum() for part in found), sorted(len(found) for _ in range(2)), any(found)


@plain()
def a_slice_that_is_replaced(x):
    found = filled(x)
    found[1:] = [x * 2]
    return found


@plain()
def an_item_changed_in_place(x):
    found = filled(x)
    found[-1].add_(x)
    return found


@plain()
def what_was_appended_changed_in_place(x):
    found, y = [], x * 1
    while len(found) < 2 + (x.sum() > 0):
        found.append(y)
        y.add_(x)
    return found


@plain()
def what_is_in_an_item_changed(x):
    found = []
    while len(found) < 2 + (x.sum() > 0):
        found.append([x * 1, x * 2])
    found[-1][0] = x * 3
    return found


@plain()
def whether_an_item_is_an_object(x):
    found = filled(x)
    return found[0] is x, found == [x], [x] == found


@plain()
def a_list_of_texts(x):
    words = ["a"]
    while len(words) < 3 + (x.sum() > 0):
        words.append("b" if x.sum() > 0 else "a")
    return words, words[0], "b" in words


@plain()
def a_list_that_an_exception_leaves(x):
    found = filled(x)
    if found[-1].sum() > 6:
        raise ValueError("too long")
    return found


@case(state=lambda: [part.numpy().tolist() for part in LOG])
def a_list_from_outside_that_a_loop_fills():
    LOG.clear()

    def f(x):
        while len(LOG) < 3 + (x.sum() > 0):
            LOG.append(x * 2)
        return LOG[-1] * 1

    return f


@case(state=lambda: list(LOG))
def a_list_from_outside_that_a_loop_fills_and_looks_into():
    LOG.clear()

    def f(x):
        while x.sum() < 10:
            x = x.abs() * 2
            LOG.append(1)
            print(LOG)
        return x

    return f


@case(state=lambda: list(LOG))
def a_list_from_outside_whose_truth_is_asked():
    LOG.clear()

    def f(x):
        if LOG:
            x = x * 2
        if x.sum() > 0:
            LOG.append(1)
        else:
            LOG.extend([2, 3])
        return x

    return f


@case(state=lambda: list(LOG))
def a_list_from_outside_that_a_recursion_fills():
    LOG.clear()

    def deeper(x):
        LOG.append(1)
        return x if x.abs().sum() > 20 else deeper(x * 2)

    return lambda x: deeper(x)


@plain()
def next_of_what_only_a_run_has_advanced(x):
    kept = (v for v in x if v > 0)
    return next(kept, None), next(kept, None)


@plain()
def whether_a_gradient_is_wanted_on_this_path(x):
    if x.sum() > 0:
        with d2s.no_grad():
            y = x * 2
    else:
        y = x * 3
    return y, y.stop_gradient


@plain()
def a_leaf_of_what_wants_a_gradient_on_this_path(x):
    w = d2s.ones([2])
    w.stop_gradient = False
    y = w.detach() if x.sum() > 0 else w * x
    y.stop_gradient = False
    return (y * y).sum(), w


@plain()
def what_was_detached_read_behind_a_change(x):
    y = x * 1
    d = y.detach()
    y.add_(1.0)
    return d * 2, y


@plain()
def what_was_detached_returned_behind_a_change(x):
    y = x * 1
    d = y.detach().detach()
    z = d * 2
    y.add_(1.0)
    return d, z


@plain()
def what_was_detached_on_a_path_read_behind_a_change(x):
    y = x * 1
    d = y.detach()
    z = d if x.sum() > 0 else x * 3
    y.fill_(1.0)
    return z * 2


@plain()
def what_was_detached_read_in_a_gradient_behind_a_change(x):
    w = d2s.ones([2])
    w.stop_gradient = False
    loss = (w * w.detach() * x).sum()
    with d2s.no_grad():
        w.add_(1.0)
    loss.backward()
    return w.grad


@plain()
def what_was_detached_read_before_a_change_alone(x):
    y = x * 1
    z = y.detach() * 2
    y.add_(z)
    return y, z


@plain()
def a_dict_of_lists(x):
    found = {"xs": [], "ys": [x * 1]}
    for i in range(2 + (x.sum() > 0)):
        found["xs"].append(x * i)
        found["ys"] += [x * 1]
    return found


@plain()
def lists_that_change_places(x):
    one, two = [x * 1], []
    for i in range(2 + (x.sum() > 0)):
        two.append(x * i)
        one, two = two, one
    return one, two


@plain()
def a_list_in_an_object(x):
    point = Point([], x)
    for i in range(2 + (x.sum() > 0)):
        point.a.append(x * i)
    return point.a, len(point.a)


@plain((t([1.0, -2.0, 3.0]),), (t([1.0, -2.0, -3.0]),))
def squeeze_what_a_mask_keeps(x):
    return x[x > 0].squeeze() * 2


@plain((t([[1.0, -2.0], [3.0, 4.0]]),), (t([[1.0, -2.0], [-3.0, -4.0]]),))
def flatten_what_a_mask_keeps(x):
    return x[x[:, 0] > 0].flatten() * 2


@plain((t([[1.0, -2.0], [3.0, 4.0], [5.0, 6.0]]), t([True, False, True])))
def a_list_of_flattened_parts_that_a_mask_keeps(x, m):
    parts, i = [], x.sum() * 0
    while i < 3:
        parts.append(x[m].flatten() * 2)
        i = i + 1
    return parts


@plain()
def raise_with_a_text_that_only_a_run_tells(x):
    if x.sum() < 0:
        raise ValueError(f"{float(x.sum())}")
    return x


@plain()
def a_number_of_run_time_in_a_tuple_that_is_a_key(x):
    table = {(3, 1): "a", (-3, 1): "b"}
    return table[int(x.sum()), 1]


@plain()
def a_number_of_run_time_among_hashes(x):
    n = int(x.sum())
    return len(frozenset([n, 3])), hash(n) == hash(3)


@plain()
def an_attribute_of_a_class_defined_inside(x):
    class Counting:
        n = 0

    Counting.n += 1
    return Counting.n, x * 1


@plain()
def a_class_defined_inside_that_acts(x):
    class Acting:
        print("made")

    return x * 1


@plain()
def where_a_function_of_the_library_looks_at_frames(x):
    import inspect

    return len(inspect.stack()) > 0, x * 1


@plain()
def a_new_key_that_a_run_finds(x):
    found = {0: x * 2}
    found[int(x.sum())] = x * 3
    return found


@d2s.jit.not_to_static
def names_of(box):
    return sorted(vars(box))


@plain()
def an_object_with_attributes_by_the_path_given_away(x):
    point = Point(1, 2)
    if x.sum() > 0:
        point.c = 3
    return names_of(point), x * 1


@plain()
def all_attributes_of_an_object_that_has_some_by_the_path(x):
    point = Point(1, 2)
    if x.sum() > 0:
        point.c = 3
    return sorted(vars(point)), x * 1


class Both(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, g, h):
        return g + h


@plain()
def two_results_with_a_gradient_of_the_users_own(x):
    one, other = Both.apply(x)
    return one * other


class Telling(d2s.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        print("asked")
        return g * 3


@plain()
def a_gradient_that_tells_something(x):
    return Telling.apply(x)


OF_TRIPS = tuple((t([1.0, 2.0]), t(n)) for n in (0, 1, 3))


@plain(*OF_TRIPS)
def whether_a_variable_of_a_loop_is_what_it_began_with(x, n):
    y, same = x, 0
    for _ in range(n):
        if y is x:
            same += 1
        y = y * 2.0
    return y, same


@plain(*OF_TRIPS)
def whether_two_variables_of_a_loop_are_one(x, n):
    y = z = x
    same = 0
    for _ in range(n):
        if y is z:
            same += 1
        y, z = y * 2.0, z * 3.0
    return y, z, same


@plain(*OF_TRIPS)
def what_a_trip_makes_is_not_what_it_began_with(x, n):
    y, others = x, 0
    for _ in range(n):
        z = y * 2.0
        others += (1 if z is not y else 0) + (10 if z is not x else 0)
        y = z
    return y, others


@plain(*OF_TRIPS)
def changed_in_place_in_the_first_trip_with_what_it_was(x, n):
    y = z = x * 1.0
    for _ in range(n):
        z.add_(1.0)
        z = z * 2.0
    return y, z


def the_one_given(x, y, n):
    if n > 0:
        return the_one_given(x, y * 2.0, n - 1)
    return x is y


@plain(*OF_TRIPS)
def whether_two_arguments_of_a_call_are_one(x, n):
    return the_one_given(x, x, n)


@plain(*OF_TRIPS)
def a_star_takes_a_list_apart_that_a_loop_makes_longer(x, n):
    return max(*[x * k for k in range(int(n) + 2)], key=lambda part: part.sum())


@plain(*OF_TRIPS)
def a_tuple_of_as_many_items_as_a_run_says(x, n):
    return tuple(x * k for k in range(int(n)))


@plain(*OF_TRIPS)
def a_list_several_times_that_a_run_counts(x, n):
    return [[]] * int(n)


@plain(*OF_TRIPS)
def a_tuple_repeated_as_a_run_says(x, n):
    return (0,) * int(n)


@plain(*OF_TRIPS)
def a_tensor_of_a_list_that_a_loop_makes_longer(x, n):
    return d2s.to_tensor(list(range(int(n) + 1)))


@plain(*OF_TRIPS)
def texts_in_a_list_that_a_loop_makes_longer(x, n):
    return ",".join([f"{k}" for k in range(int(n))])


@plain(*OF_TRIPS)
def as_many_of_an_iterator_as_a_run_says(x, n):
    return list(itertools.islice(range(10), int(n)))


@plain(*OF_TRIPS)
def in_a_range_that_a_run_ends(x, n):
    return 2 in range(int(n))


@plain(*OF_TRIPS)
def added_up_over_a_range_that_a_run_ends(x, n):
    return list(itertools.accumulate(range(int(n))))


REPLAY, CALLS, ORDERED = collections.Counter(), collections.Counter(), collections.OrderedDict()


def kept_in_dicts_of_the_library():
    return list(REPLAY.items()), list(CALLS.items()), list(ORDERED.items())


@case(state=kept_in_dicts_of_the_library)
def dicts_of_the_library_from_outside():
    for one in (REPLAY, CALLS, ORDERED):
        one.clear()
    CALLS.update("aab")
    ORDERED.update(a=1.0, b=2.0, c=3.0)

    def f(x):
        REPLAY["a"] += 1
        CALLS["a"] = 5
        CALLS.subtract("b")
        CALLS.update("zz")
        first = ORDERED.popitem(last=False)
        ORDERED["z"] = ORDERED.pop(first[0], 4.0)
        ORDERED[first[0]] = first[1] + 1
        ORDERED.move_to_end("z", last=False)
        return x * CALLS["a"], first, list(ORDERED), list(reversed(ORDERED)), CALLS.most_common(1), CALLS.total()

    return f


@case(state=kept_in_dicts_of_the_library)
def an_ordered_dict_from_outside_loses_its_first():
    ORDERED.clear()
    ORDERED.update({k: float(k) for k in range(9)})

    def f(x):
        key, value = ORDERED.popitem(last=False)
        ORDERED["last"] = value
        return x * value, key

    return f


@plain()
def an_iterator_of_a_list_that_a_tensor_left(x):
    it, total = enumerate([x.sum(), x.max() * 2.0, x.min() + 1.0]), 0.0
    for k, v in it:
        total = total + v * k
        if total > 0.5:
            break
    return total, sum(v * 0.5 for _, v in it)


@plain()
def a_generator_that_a_tensor_left(x):
    it, total = (v * 2.0 for v in [x.sum(), x.max(), x.min()]), 0.0
    for v in it:
        total = total + v
        if total > 0.5:
            break
    return total, list(it)


@plain()
def a_dict_gains_a_key_on_a_path_while_a_loop_goes_over_it(x):
    d = {"a": 1, "b": 2}
    for key in d:
        if x.sum() > 0:
            d[key + "x"] = x
    return d


@plain()
def a_dict_loses_a_key_on_a_path_while_a_loop_goes_over_its_items(x):
    d = {"a": 1, "b": 2}
    for _, value in d.items():
        if x.sum() > value:
            d.pop("b")
    return d


@plain()
def a_set_grows_on_a_path_while_a_loop_goes_over_it(x):
    numbers = {1, 2, 3}
    try:
        for n in numbers:
            if x.sum() > n:
                numbers.add(9)
    except RuntimeError as error:
        return str(error)
    return numbers


@plain()
def an_iterator_of_a_dict_that_gains_a_key_on_a_path(x):
    d = {"a": 1, "b": 2}
    keys = iter(d.values())
    first = next(keys)
    if x.sum() > 0:
        d["c"] = 3
    return first, next(keys)


@case()
def a_deep_copy_of_a_layer_is_changed():
    net = d2s.nn.Linear(2, 2)

    def run(x):
        other = copy.deepcopy(net)
        with d2s.no_grad():
            other.bias.add_(x)
        return net(x) - other(x), other is net

    return run


@case()
def a_copy_of_a_layer_is_changed():
    net = Net()

    def run(x):
        other = copy.copy(net)
        other.training = False
        return net.training, x * 1

    return run


@case()
def a_deep_copy_holds_a_layer():
    net = Net()
    return lambda x: (copy.deepcopy({"net": net})["net"] is net, x * 1)


@case()
def a_deep_copy_of_a_method_and_of_a_partial():
    box = Box()
    box.t = t([1.0, 2.0])

    class Scaled:
        def by(self, x):
            return x * 2

    scaled, part = Scaled(), functools.partial(max, box)

    def run(x):
        return copy.deepcopy(scaled.by).__self__ is scaled, copy.deepcopy(part).args[0] is box, x * 1

    return run


@case(state=lambda: list(TABLE.items()))
def a_dict_from_outside_gets_values_on_a_path_while_a_loop_goes_over_it():
    TABLE.clear()
    TABLE.update({"gone": 0, "a": 1, "b": 2})
    del TABLE["gone"]

    def f(x):
        seen = []
        for key, value in TABLE.items():
            if x.sum() > 0:
                TABLE["b"] = value + 1
            seen.append((key, value))
        return x, seen

    return f


@case()
def a_list_that_is_one_on_one_path_and_two_on_the_other():
    def f(x):
        if x.sum() > 0:
            one = other = [x * 1]
        else:
            one, other = [x * 2], [x * 3]
        return one, other

    return f


@plain((t([1.0, -2.0]), t(0.25)))
def a_handler_around_an_option_that_is_made_of_a_tensor(x, b):
    try:
        return d2s.nn.functional.leaky_relu(x, float(b))
    except TypeError:
        return x * 0


@plain((t([1, -2]), t(0.25)))
def a_loop_with_a_handler_around_a_bound_that_is_made_of_a_tensor(x, b):
    for _ in range(2):
        try:
            x = x.clip(0.0, float(b)) + 1
        except Exception:
            x = x * 2
    return x


@plain((t([1.0, -2.0]), t(0.25)))
def a_return_in_a_finally_behind_an_option_that_is_made_of_a_tensor(x, b):
    kept = []
    try:
        kept.append(d2s.nn.functional.elu(x, float(b)))
    finally:
        return kept or x * 0  # noqa: B012


@plain((t([1.0, -2.0]), t(0.25)))
def a_suppressed_refusal_of_an_option_that_is_made_of_a_tensor(x, b):
    with contextlib.suppress(TypeError):
        x = d2s.nn.functional.hardshrink(x, float(b))
    return x


@plain()
def an_item_bound_anew_on_a_path_and_changed_in_place(x):
    state = {"h": x * 1}
    first = state["h"]
    if x.sum() > 0:
        state["h"] = state["h"] * 2
    state["h"].add_(x)
    return first, state["h"]


@plain()
def an_attribute_bound_anew_on_a_path_and_changed_in_every_trip(x):
    cell, seen = Box(), []
    cell.h = x * 1
    for _ in range(3):
        seen.append(cell.h)
        if cell.h.sum() > 0:
            cell.h = cell.h * 2
        cell.h.scale_(3.0)
    return seen


@plain()
def an_item_bound_anew_in_trips_and_changed_in_place(x):
    state = {"h": x}
    while state["h"].sum() < 2:
        state["h"] = state["h"] + 5
    state["h"].scale_(2.0)
    return state["h"], x


@plain()
def an_item_that_another_may_be_one_with_is_changed_in_place(x):
    state = {"a": x * 1}
    state["b"] = state["a"]
    if x[0] > 0:
        state["b"] = state["b"] + 1
    state["a"][1] = 0.0
    return state


@plain()
def lists_of_other_lengths_in_every_trip(x):
    total = x
    for i in d2s.arange((x > 0).sum() + 2):
        total = total + len([0.0] * int(i))
    return total


OPTIONS = tuple((t([[1.0, -2.0, 0.5]]), t([1, -2, 3]), t(value)) for value in (0.25, 2.0, -0.5))
for of_a_wrong_kind in (
    lambda x, n, b: d2s.scale(n, float(b)),
    lambda x, n, b: d2s.scale(n, 2.0, bias=float(b)),
    lambda x, n, b: (n * 1).scale_(float(b)),
    lambda x, n, b: d2s.put_along_axis(n, t([0]), float(b), 0),
    lambda x, n, b: d2s.eye(float(b)),
    lambda x, n, b: d2s.eye(3, float(b)),
    lambda x, n, b: d2s.tril(x, float(b)),
    lambda x, n, b: d2s.nn.functional.sequence_mask(n, float(b)),
    lambda x, n, b: d2s.slice(x, [1], [float(b)], [3]),
    lambda x, n, b: d2s.topk(x, float(b)),
    lambda x, n, b: d2s.clip(x, float(b), b),
    lambda x, n, b: d2s.clip(x, b, float(b)),
    lambda x, n, b: d2s.split(x, [bool(b > 0), 2], 1),
    lambda x, n, b: x[0, float(b)],
    lambda x, n, b: x[0, float(b) :],
    lambda x, n, b: d2s.uniform([2], min=bool(b > 0)),
    lambda x, n, b: (x * 1).geometric_(bool(b > 0)),
):
    plain(*OPTIONS)(of_a_wrong_kind)
