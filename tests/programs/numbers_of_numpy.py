"""NumPy's numbers, arrays and indices where tensors are: constants, what a run finds, and gradients behind them."""

import math

import numpy as np
from programs_compare import program, t

import d2s
from d2s import nn

F = nn.functional
X = t([[0.25, 1.0, -2.0], [0.5, 1.0, 3.0]])
Y = t([[3.0, -1.0, 0.5], [-0.5, 4.0, 2.0]])
SETS = (X,), (Y,)
HALF, TWO = np.float32(0.5), np.int64(2)


# --- numbers that NumPy makes of constants


@program(*SETS)
def scaled_by_a_root(x):
    return F.softmax(x @ x.t() / np.sqrt(x.shape[-1])), d2s.scale(x, 1 / np.sqrt(64)), d2s.scale(x, np.float32(0.1))


@program(*SETS)
def shapes_and_options_of_constants(x):
    flat = x.reshape([np.prod(x.shape)])
    return (
        flat,
        d2s.full([np.int64(2), np.int32(3)], np.float32(1.5)),
        x.clip(np.float32(0.0), np.float64(1.0)),
        x.sum(np.int64(1)),
    )


@program(*SETS)
def constants_as_items_and_options(x):
    return x[np.int64(1)], x[:, np.int32(0) : np.int64(2)], d2s.topk(x, np.int64(2)), F.pad(x, [1, 1], value=np.float32(0.5))


@program(*SETS)
def a_handler_beside_a_constant(x):
    try:
        found = d2s.isclose(x, x * 1.0, atol=np.float32(0.5))
    except Exception:
        found = x * 77.0
    return found


@program(*SETS)
def a_constant_that_a_loop_changes(x):
    s = np.float32(0.5)
    while x.sum() < 100:
        x = x * 2 + 1
        s = s + TWO
    return x * s, s


@program(*SETS)
def constants_that_meet_by_path(x):
    s = np.sqrt(HALF)
    for _ in d2s.arange(3):
        s = np.minimum(s * 2, 3)
    return x * s, s


@program(*SETS)
def one_of_two_constants(x):
    s = HALF if x.sum() > 2.5 else np.float32(1.5)
    return x * s, s, np.maximum(s, 1)


# --- a number of a run that meets one of NumPy's: the type of that says how it is computed


@program(*SETS)
def python_numbers_meet_numpys(x):
    s = float(x.sum())
    return s * HALF, s * np.float64(0.1), int(x.sum()) + TWO, HALF - s, s > np.float32(3), s == HALF, s != HALF


@program(*SETS)
def rounded_as_the_type_says(x):
    s = float(x.sum()) / 3
    s += np.float32(0.1)
    return s, x * s


@program(*SETS)
def functions_of_numpys_and_found_numbers(x):
    s = float(x.sum())
    return (
        max(s, HALF),
        min(HALF, s),
        sum([s, HALF]),
        round(HALF * s),
        abs(-s * HALF),
        divmod(s, TWO),
        s**TWO,
        f"{s * HALF:.2f}",
    )


@program(*SETS)
def counted_by_a_product_with_one(x):
    n = int(x[0, 1] > 0) + 1
    return [x * k for k in range(n * TWO)], x[: n * TWO], d2s.full([n + TWO], 1.0)


@program(*SETS)
def carried_in_loops(x):
    s, f = float(x.sum()), np.float64(1)
    while s < TWO:
        s = s + HALF
    for _ in d2s.arange(3):
        f = f * 0.5 + float(x.max())
    return x * s, s, f


# --- places that NumPy finds, and gradients to what they are places of


@program(*SETS)
def the_row_of_the_largest(x):
    return x[x.numpy()[:, 0].argmax()], x[:, x.numpy()[0].argmax()], x[0, x.numpy()[0].argmax()]


@program(*SETS)
def rows_up_to_a_place(x):
    k = x.numpy()[0].argmax()
    return x[:k], x[:, k:], x[k - 1 : k], x[..., k]


@program(*SETS)
def rows_in_an_order(x):
    order = np.argsort(x.numpy()[:, 0])
    return x[order], x[order.tolist()], x[:, np.array([2, 0])]


@program(*SETS)
def rows_where_a_mask_holds(x):
    return x[x.numpy()[:, 0] > 0.3], x[x.numpy() > 0.3], x[np.where(x.numpy()[0] > 0.3)[0] % 2]


@program(*SETS)
def rows_by_chance(x):
    np.random.seed(3)
    order, k = np.random.permutation(2), np.random.randint(0, 2)
    return x[order], x[k], x[:, k : k + 2]


@program(*SETS)
def lists_of_places(x):
    k, n = x.numpy()[:, 0].argmax(), int(x[0, 1] > 0)
    y = x * 1.0
    y[[n, 0]] = 5.0
    return x[[k, 0]], x[:, [0, n]], x[[n - 2, 0], [0, n]], x[[TWO - 1, 0]], x[[]], y


@program(*SETS)
def stores_at_places(x):
    y, z, w = x * 2, x * 3, x * 4
    y[x.numpy()[:, 0].argmax()] = 0.0
    z[np.argsort(x.numpy()[:, 0])] = x
    w[x.numpy() > 0.3] = 0.0
    w[: x.numpy()[:, 0].argmax()] = 5.0
    return y, z, w


@program(*SETS)
def items_of_lists_with_tensors(x):
    k = x.numpy()[0].argmax()
    parts = [x, x * 2, x * 3]
    return parts[k], parts[:k], {0: x * 2, 1: x * 3}[k], {0: "p", 1: "q"}[k]


@program(*SETS)
def parts_of_arrays_between_numbers(x):
    n = int(x[0, 1] > 0)
    y = x.numpy().copy()
    y[:n] = 0
    return x.numpy()[:n].tolist(), x.numpy()[n:, : n + 1].tolist(), y.tolist(), "abcdef"[: x.numpy().argmax()]


@program(*SETS)
def prints_a_slice(x):
    print(slice(0, x.numpy().argmax()), slice(0, int(x[0, 1])))
    return x * 2


@program(*SETS)
def arrays_meet_tensors(x):
    return x * x.numpy(), x + np.ones([2, 3], "float32"), np.ones([2, 3], "float32") * x


@program(*SETS)
def tensors_of_mixed_numbers(x):
    return d2s.to_tensor([HALF, float(x.numpy().max())]), d2s.to_tensor([TWO, int(x.numpy().max())])


# --- the order in which contributions add up, where a step stands between


def made(x):
    return d2s.to_tensor(np.ones([2, 3], "float32"))


@program(*SETS)
def read_in_front_of_a_step_and_behind_it(x):
    y = x + made(x)
    return y * x + x * x


@program(*SETS)
def read_often_beside_a_step(x):
    y = x + made(x)
    p = F.sigmoid(y)
    return (x * (1 - p) + (1 - x) * p + x * x * x).sum()


@program(*SETS)
def read_beside_a_number_of_a_step(x):
    z = x * 0.3
    y = z + float(np.float32(x.numpy().max()))
    return (y * z + z * z * z + x * y).sum(), z


# --- tensors of one constant are tensors of their own; what is made in place


@program(*SETS)
def two_of_one_constant(x):
    a, b = d2s.to_tensor(0.0), d2s.to_tensor(0.0)
    if x.sum() > 0:
        a.add_(d2s.to_tensor(1.0))
    b.subtract_(d2s.to_tensor(2.0))
    return a, b, d2s.to_tensor(0.0), [d2s.to_tensor(-1), d2s.to_tensor(-1)], a is b, x * a


@program(*SETS)
def filled_with_one_of_its_own(x):
    y = x * 1.0
    y.fill_(x[0, 1])
    return y + x


@program(*SETS)
def found_rows_take_others_in_place(x):
    y, z = (x[x.sum(axis=1) > -9.0] * 1.0 for _ in range(2))
    y.add_(x)
    z.copy_(x)
    return y, z, y * 2


@program(*SETS)
def copied_of_another_shape(x):
    y = x * 1.0
    y.copy_(x[0])
    return y


@program(*SETS)
def copied_of_another_dtype(x):
    y = x * 1.0
    y.copy_(x.cast("float64"))
    return y


# --- false errors, and errors that were none


@program(*SETS)
def a_line_as_long_as_a_run_finds(x):
    return F.layer_norm(x[x > -9.0], [6]), F.layer_norm(x[x.sum(axis=1) > -9.0].t(), 2)


@program(*SETS)
def a_line_of_another_length(x):
    return F.layer_norm(x[x > 0.3], [6])


@program(*SETS)
def beyond_the_columns_of_no_rows(x):
    rows = x[x.sum(axis=1) > 99.0]
    return rows[:, int(x[0, 1] > 0) * 7 + 3]


@program(*SETS)
def more_indices_than_axes(x):
    return x[x > 0.3][:, int(x[0, 1]) :]


@program(*SETS)
def a_bound_of_floats(x):
    return x[: x[0, 1]]


@program(*SETS)
def a_bound_of_one_value(x):
    return x[d2s.to_tensor([1]) :], x[: (x[0, :1] > 0).cast("int64")]


@program(*SETS)
def extents_of_floats(x):
    return d2s.rand([x[0, 1], 2])


@program(*SETS)
def sums_of_products_of_nothing(x):
    rows = x[x.sum(axis=1) > 99.0]
    return d2s.einsum("ij,kj->ik", rows, x), d2s.einsum("ij,kj->ik", x, rows)


# --- numbers of NumPy's as counts and places; what NumPy raises if it is told to

Z = t([[-3.0, -1.0, 0.5], [-0.5, -4.0, 2.0], [0.25, 0.5, 1.0]])


@program((X,), (Z,), (Y,))
def bounds_of_open_rows(x):
    return x[np.int64(0) : np.int64(1)], x[:: np.int64(2)], x[:, np.int64(-1)], x[[np.int64(1), np.int64(0)]]


@program(*SETS)
def counts_by_path(x):
    n, y = TWO if x.sum() > 2.5 else np.int64(1), x
    for i in range(n):
        y = y + i
    return y, d2s.zeros([n, 2]), x[:n], x[:, -n], "abc"[n]


@program(*SETS)
def counts_of_a_loop(x):
    n, y = np.int64(0), x
    for _ in d2s.arange(6):
        n = n + 1
    for i in range(np.int64(2), n, np.int8(3)):
        y = y + i
    return y, d2s.zeros([n, 2]), x[:, : n - 4]


@program(*SETS)
def functions_of_two_kinds_of_numbers(x):
    f, n = float(x.sum()), int(x.sum())
    return divmod(f, HALF), divmod(n, TWO), math.pow(2.0, HALF), math.fmod(f, HALF), round(f, TWO)


@program(*SETS)
def told_to_raise(x):
    try:
        with np.errstate(all="raise"):
            found = np.sqrt(x.numpy().min())
    except FloatingPointError as error:
        return x * 2, str(error), np.geterr()
    return x * 3, found, np.geterr()


@program(*SETS)
def what_one_of_two_steps_raises(x):
    said = None
    try:
        row = x.numpy()[int(x[0, 1]) * 2]
        row.reshape([int(x[0, 2]), 3])
    except Exception as error:
        said = error
    return x * 2, str(said)
