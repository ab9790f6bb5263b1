"""Arrays that NumPy makes of constants: ops take the values they hold there, until a run, a loop or a path may change them."""

import numpy as np
from programs_compare import program, t

import d2s

X = t([[0.25, 1.0, -2.0], [0.5, 1.0, 3.0]])
Y = t([[-3.0, -1.0, 0.5], [-0.5, -4.0, 2.0], [0.125, 0.25, 0.5]])
SETS = (X,), (Y,)


def ones():
    return np.ones(3, "float32")


# --- made and used


@program(*SETS)
def a_mask_and_an_encoding(x):
    n, d = x.shape[-1], 4
    found, at = np.zeros((n, d), "float32"), np.arange(n)[:, None]
    by = np.exp(np.arange(0, d, 2) * -(np.log(10000.0) / d))
    found[:, 0::2] = np.sin(at * by)
    found[:, 1::2] = np.cos(at * by)
    return x @ d2s.to_tensor(np.tril(np.ones((n, n)))).astype("float32") @ d2s.to_tensor(found)


@program(*SETS)
def operands_indices_and_data(x):
    y = x * 1.0
    y[:] = np.arange(3)
    y[:, np.array([0, 1])] = np.float32(9)
    w = d2s.to_tensor(ones(), stop_gradient=False)
    return x * ones() + np.arange(3), np.arange(3) * x, x[np.array([1, 0])], x[:, np.array([True, False, True])], y, x * w


@program(*SETS)
def several_at_once(x):
    a, b = np.meshgrid(np.arange(3), np.arange(2))
    halves, (q, r) = np.split(np.arange(6), 2), np.divmod(np.arange(3), 2)
    return x[:2] * a + b, x * halves[1], x * q - r, a.shape, len(b), a.dtype == np.int64, a.tolist()


@program(*SETS)
def numbers_of_arrays(x):
    a = np.array([3.0, 1.0, 2.0])
    if a.max() > 2 and (a > 0).all():
        x = x * a[1]
    while a[1] < 4:
        a[1] += 1
        x = x + a[1]
    return x, a.argmax(), a.mean(), float(a[2]), x[:, a.argmin()]


@program(*SETS)
def tensors_of_one_array(x):
    a = ones()
    one, other = d2s.to_tensor(a), d2s.to_tensor(a, "float64")
    one.add_(d2s.to_tensor(1.0))
    a[1] = 5.0
    return one, other, d2s.to_tensor([a, a * 2]), x * one, d2s.to_tensor(a)


@program(*SETS)
def special_values(x):
    return x * np.array([np.nan, np.inf, -0.0]), x * np.full(3, 1e-40, "float32"), d2s.to_tensor(np.array([1, 2**40]))


# --- changed in between


@program(*SETS)
def changed_by_constants(x):
    a, found = ones(), []
    b = a[1:]
    for k in range(3):
        found.append(x * a)
        a[k] = k + 2
    b += 1
    np.add(a, 1, out=a)
    found.append(x * a)
    a.sort()
    a.fill(7.0)
    return found, x * a, np.asarray(a) is a


@program(*SETS)
def changed_by_what_a_run_finds(x):
    a = ones()
    b, c = a[1:], a.reshape(3, 1)
    y = x * a
    b[0] = float(x.sum())
    z = x * a
    c[2] = 2
    return y, z, x * a, a.tolist(), b.tolist()


@program(*SETS)
def in_another_shape(x):
    a, b = np.arange(6.0), x.numpy() * 2
    a.shape, b.shape = (2, 3), (-1,)
    b.real = 1.0
    return x[:2] * a, a.tolist(), b.tolist()


@program(*SETS)
def changed_on_a_path(x):
    a, b = ones(), ones()
    if x.sum() > 2:
        y = x * a
        a[1:][0] = 3
        z = x * a
    else:
        y, z = x + a, x * b
    return y, z, x * a, x * b


@program(*SETS)
def one_of_two_by_the_path(x):
    a, b = ones(), np.zeros(3, "float32")
    y, c = x * a, a if x.sum() > 2 else b
    c[0] = 9
    return y, x * a, x * b


@program(*SETS)
def changed_in_a_loop(x):
    a, b, y = ones(), ones(), x
    for _ in d2s.arange(3):
        y = y * a * b
        a[0] += 1
        c = ones()
        c[1] = 2
        y = y * c
    return y, x * a, x * b


@program(*SETS)
def changed_in_a_try(x):
    a = ones()
    try:
        y = x * a
        a[0] = 4
        if x.sum() > 2:
            raise ValueError("enough")
        a[1], b = 5, ones()
        y = y * a + b
    except ValueError:
        a[2] = 8
        y = x - a
    return y, x * a


@program(*SETS)
def made_in_a_branch_of_a_try(x):
    if x.mean() < x.max():
        try:
            b = ones()
            y = x + b
            if x.sum() > 1:
                raise ValueError("enough")
        except ValueError:
            b = np.zeros(3, "float32")
            y = x * (ones() + b)
        x = x * b + y
    return x


@program(*SETS)
def a_place_that_is_not_there_in_a_try(x):
    a = ones()
    try:
        a[7] = 4
    except IndexError as error:
        return x * a, str(error)
    return x


@program(*SETS)
def changed_by_functions_and_in_containers(x):
    a = ones()

    def change(k):
        a[k] = k + 2
        return a

    y, held = x * a, {"all": [a]}
    z = x * change(1)
    held["all"][0][2] = 8
    w = x * held["all"][0]
    if x.sum() > 2:
        change(0)
    return y, z, w, x * a


@program(*SETS)
def printed_in_between(x):
    a = ones()
    y = x * a
    print(a, f"{a}")
    a[0] = 2
    print(a)
    return y, x * a


@program(*SETS)
def a_new_one_at_each_call(x):
    a = ones()
    y = x * a
    return y, a.tolist(), [v.tolist() for v in (a, a[1:], a.T)]
