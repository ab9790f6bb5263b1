"""Programs with `if`, ternaries, `and`/`or`/`not` on tensors; every path is taken by some argument set."""

from programs_compare import program, t

import d2s

SETS = (t([1.0, 2.0]),), (t([-1.0, -2.0]),), (t([0.0, -0.0, float("nan")]),)
PAIRS = (t([1.0, 2.0]), t([3.0, -1.0])), (t([-1.0, -2.0]), t([0.5, 0.5])), (t([0.0, 1.0]), t([-4.0, 1.0]))


@program(*SETS)
def if_else(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y


@program(*SETS)
def if_alone(x):
    y = x + 1
    if x.sum() > 0:
        y = y * 2
    return y


@program(*SETS)
def elif_chain(x):
    s = x.sum()
    if s > 2:
        y = x * 3
    elif s > 0:
        y = x * 2
    elif s < -2:
        y = -x
    else:
        y = x + 0.5
    return y


@program(*SETS)
def nested(x):
    y = x * 1
    if x.sum() > -5:
        if (x * x).sum() > 1:
            y = y + 1
        else:
            y = y - 1
        y = y * 3
    return y


@program(*SETS)
def early_return(x):
    if x.sum() > 0:
        return x * 2
    return x + 1


@program(*SETS)
def early_returns(x):
    if x.sum() > 0:
        if x.sum() > 2:
            return x * 2
        y = x * 3
    else:
        y = x * 4
    if y.sum() < -10:
        return y - 1
    return y + 1


@program(*SETS)
def both_arms_return(x):
    if x.sum() > 0:
        return d2s.tanh(x)
    else:
        return x * x


@program(*SETS)
def ternary(x):
    return x * 2 if x.sum() > 0 else x - 1


@program(*SETS)
def ternary_nested(x):
    return x * 2 if x.sum() > 2 else (x * 3 if x.sum() > 0 else x - 1)


@program(*PAIRS)
def and_(x, y):
    if x.sum() > 0 and y.sum() > 0:
        return x * y
    return x - y


@program(*PAIRS)
def or_(x, y):
    if x.sum() > 0 or y.sum() > 0:
        return x * y
    return x - y


@program(*SETS)
def not_(x):
    if not x.sum() > 0:
        return x * 2
    return x * 3


@program(*PAIRS)
def and_or_not(x, y):
    return x + y if not (x.sum() > 0) or not (y.sum() > 0) else x - y


@program((t(2.0), t(3.0)), (t(0.0), t(3.0)), (t(-1.0), t(0.0)))
def and_gives_an_operand(a, b):
    return (a * 2) and (b * 3)


@program((t(2.0), t(3.0)), (t(0.0), t(3.0)), (t(0.0), t(0.0)))
def or_gives_an_operand(a, b):
    return (a * 2) or (b * 3)


@program(*SETS)
def chained_comparison(x):
    return x * 2 if -1 < x.sum() < 5 else x * 3


@program(*SETS)
def python_int_stays_int(x):
    n = 1
    if x.sum() > 0:
        n = 2
    return n, x * n


@program(*SETS)
def python_float_stays_float(x):
    a = 0.1
    if x.sum() > 0:
        a = a * 3
    return a, x * a


@program(*SETS)
def python_bool_stays_bool(x):
    flag = False
    if x.sum() > 0:
        flag = True
    return flag


@program(*SETS)
def bool_of_a_branch_decides(x):
    flag = False
    if x.sum() > 0:
        flag = True
    return x * 2 if flag else x * 3


@program(*SETS)
def equal_strings(x):
    mode = "b"
    if x.sum() > 0:
        mode = "a"
        mode = "b"
    return mode, x * 1


@program(*SETS)
def local_of_an_arm(x):
    y = x
    if x.sum() > 0:
        part = x * 2
        y = part + 1
    return y * 1


@program(*SETS)
def set_in_both_arms_only(x):
    if x.sum() > 0:
        y = x * 2
    else:
        y = x * 3
    z = y + y
    return z * 1


@program(*SETS)
def swap(x):
    a, b = x * 1, x * 2
    if x.sum() > 0:
        a, b = b, a
    return a - b


@program(*SETS)
def tuple_in_a_branch(x):
    pair = (x * 1, 2)
    if x.sum() > 0:
        pair = (x * 2, 3)
    return pair


@program(*SETS)
def list_in_a_branch(x):
    pair = [x * 1, x * 5]
    if x.sum() > 0:
        pair = [x * 2, x * 3]
    return pair[0] + pair[1]


@program(*SETS)
def condition_alone(x):
    return x * 2 if x.sum() else x * 3


@program((t(True), t([1.0])), (t(False), t([1.0])))
def bool_argument(flag, x):
    return x * 2 if flag else x * 3


@program((t([[2]]), t([1.0])), (t([[0]]), t([1.0])))
def one_element_of_two_dimensions(flag, x):
    if flag:
        x = x * 2
    return x + 1


@program(*SETS)
def gradient_in_one_arm_only(x):
    y = d2s.to_tensor(5.0)
    if x.sum() > 0:
        y = x.sum()
    return y * 2 + x.sum()


@program(*SETS)
def if_of_python_value(x):
    n = 3
    if n > 2:
        y = x * 2
    else:
        y = missing_name  # noqa: F821
    return y


@program(*SETS)
def where(x):
    return d2s.where(x > 0, x * 2, -x)


@program(*SETS)
def passes_when_nothing_changes(x):
    if x.sum() > 0:
        pass
    return x + 1


@program(*SETS)
def walrus_at_the_top(x):
    y = (z := x * 2) + z
    return y if (z.sum() > 0) else z - 1


@program(*SETS)
def returns_nothing(x):
    if x.sum() > 0:
        x = x + 1


@program(*SETS)
def an_argument_comes_back(x):
    y = x * 2
    return x, y, x


@program(*SETS)
def an_argument_comes_back_from_one_arm(x):
    if x.sum() > 0:
        return x
    return x * 2


@program(*((t([1.0, 2.0]), d2s.to_tensor(k)) for k in (3, 1, 0, -3)))
def depends_by_the_path(x, k):
    y = x if k > 1 else x.detach()
    s, p = d2s.zeros([2]), y
    while k > 0:
        if k == 2:
            p = s
        s, p = s + p * 2.0, p * 1.5
        k = k - 1
    q = d2s.zeros([2])
    if k < -2:
        q = q + x
    return s, p, [y * 1.0, q * 2.0], s * q


@program(*[(t(x), k) for x in ([1.0, 2.0], [-1.0, 0.5]) for k in (1.0, 0.0)])
def given_anew_on_each_path_of_an_arm(x, k):
    v = 1.0
    w = v + k
    if k > 0.5:
        if x.sum() > 0:
            v = 2.0
        else:
            v = 3.0
        v = v + 1.0
        x = x * v
    return x * w


@program((t([1.0, 2.0]), 2.0), (t([-1.0, 0.5]), 2.0), (t([-1.0, -2.0]), 2.0))
def a_parameter_given_anew_in_an_arm_and_dead_behind_it(x, k):
    for _ in range(2):
        if x.max() > 0:
            if (big := x.sum()) > 0:
                k = 2.0
            else:
                k = 3.0
            k = k + 1.0
            x = x * k + big
        else:
            k = 2
    return x


@program((t([1.0, 2.0]), t(3)), (t([-1.0, 0.5]), t(2)), (t([1.0]), t(0)))
def given_anew_in_a_loop_in_an_arm(x, n):
    step = 5.0
    x = x + step
    while n > 0:
        if x.sum() > 0:
            for _ in range(n):
                step = x.max() * 0.5
            step = (step if n > 1 else x.min()) - 0.5
            x = x - step
        n = n - 1
    return x
