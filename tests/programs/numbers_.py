"""Programs with Python numbers: floats are values of run time, ints decide, results keep their Python types."""

import math

import numpy as np
from programs_compare import program, t

import d2s
import d2s.nn.functional as F

X = t([1.0, 2.0])
HALF, THREE = np.float32(0.5), np.int64(3)


@program((t([1.0]), 0.5), (t([1.0]), -0.0), (t([1.0]), float("nan")), (t([1.0]), 1e300))
def float_argument(x, a):
    return x * a, a * 2, -a


@program((t([1.0]), 0.5), (t([1.0]), -0.5))
def float_decides(x, a):
    if a > 0:
        return x * a
    return x - a


@program((t([1.0]), 2), (t([1.0]), 3))
def int_argument(x, k):
    return x * k, k + 1, k // 2


@program((t([1.0]), True), (t([1.0]), False), (t([1.0]), 1))
def bool_argument(x, flag):
    return (x * 2, flag) if flag else (x, flag)


@program((t([1.0]), "a"), (t([1.0]), "b"))
def string_argument(x, mode):
    return x * 2 if mode == "a" else x * 3


@program((t([1.0]), None), (t([1.0]), t([2.0])))
def none_argument(x, y):
    return x if y is None else x * y


@program((t([1.0, 2.0]),), (t([-1.0, 2.0, -3.0]),))
def int_arithmetic(x):
    k = 2
    if x.sum() > 0:
        k = k * 3 - 1
    return -k, k + 1, k - 1, k * k


@program((t([1.0, 2.0]),), (t([-1.0, 2.0, -3.0]),))
def int_meets_float(x):
    k = 2
    if x.sum() > 0:
        k = 7
    return k * 0.1, k + 0.5, 1.5 - k


@program((t([1.0, 2.0]),), (t([-1.0, 2.0, -3.0]),))
def int_comparisons(x):
    k = 2
    if x.sum() > 0:
        k = 7
    return k > 3, k == 2, k != 7, k <= 2


@program((t([1.0, 2.0]),), (t([-1.0, 2.0, -3.0]),))
def weak_promotion(x):
    k = 2
    if x.sum() > 0:
        k = 7
    return x * k, d2s.cast(x, "float64") * k, d2s.cast(x, "int64") * k, d2s.cast(x, "int32") * 0.5


@program((t([1, 2, 3]),), (t([4, 5]),))
def integer_tensors(x):
    y = x * 2 - 1
    return y.sum(), d2s.relu(-y), x > 1, y == x


@program((t([1.0, -2.7, float("nan"), 1e30, -1e30]),))
def casts(x):
    return [d2s.cast(x, kind) for kind in ("bool", "uint8", "int8", "int16", "int32", "int64", "float64")]


@program((t([1.5, 2.5]), t([1.5, 2.5], "float64")))
def mixed_floats(x, v):
    return x + v, v * x, x - 0.1, v - 0.1


@program((t([[1.0, 2.0], [3.0, 4.0]]),), (t([[1.0, 2.0, 3.0]]),))
def sums(x):
    return x.sum(), x.sum(0), x.sum(axis=1), x.sum(axis=[0, 1]), x.sum(axis=-1, keepdim=True)


@program((t([[1.0, 2.0], [3.0, 4.0]]), t([[1.0], [2.0]])), (t([[1.0, 2.0]]), t([[1.0], [-1.0]])))
def matmuls(x, w):
    return x @ w, d2s.matmul(x, x, False, True), d2s.matmul(x, x, True, False)


@program((t([[1.0, 2.0]]), t([[1.0], [2.0]])), (t([[1.0, 2.0, 3.0]]), t([[5.0]])))
def broadcasting(x, y):
    return x + y, x * y, y - x


@program((t([1.0]),), (t([[1.0, 2.0]]),), (t(3.0),))
def shape_decides(x):
    if x.ndim == 2 and x.shape[1] == 2:
        return x * 2
    return x * 3


@program((t([1.0, 2.0]),), (t([1.0, 2.0, 3.0]),), (t([1.0, 2.0, 3.0, 4.0]),))
def shape_as_a_number(x):
    return x.sum() * x.shape[0], len(x)


@program(
    (t([1.0, 2.0]), t([1.0, 2.0, 3.0])),
)
def shapes_that_do_not_fit(x, y):
    return x + y


@program(
    (t([1, 2]), t([1.0, 2.0])),
)
def dtypes_that_do_not_mix(x, y):
    return x + y


@program((t([1.0]), 9), (t([1.0]), 2))
def math_functions(x, k):
    return x * math.sqrt(k) + math.floor(2.5), max(k, 3), abs(-k), round(2.567, 1)


@program((t([1.0]), 2), (t([1.0]), 5))
def range_of_an_argument(x, k):
    for i in range(k):
        x = x * 2 + i
    return x


@program((t([1.0]),), (t([-1.0]),))
def zeros_of_both_signs(x):
    z = 0.0
    if x.sum() > 0:
        z = -0.0
    return z, x * z


@program((t([1.0]), t(4)), (t([1.0]), t(0)))
def large_ints(x, n):
    i, k = 0, 2**40
    while i < n:
        k = k + k
        i += 1
    return k


@program(
    (t([3.0]), t([3.0])),
)
def special_values(x, y):
    big = x * 1e38 * 1e10
    return big, -big, big - big, (big - big) > 0, (big - big) != (big - big)


@program((t(2.5), [1]), (t(2.0), "ab"))
def repeated_as_a_tensor_says(x, of):
    return of * x


@program((t(2.5),), (t([True]),))
def counted_by_a_tensor(x):
    return [k for k in range(x)]  # noqa: C416


@program((X, np.float32(2)), (X, np.float32(3)), (X, np.float32("nan")), (X, np.float64(2)), (X, 2.0), (X, np.float16(2)))
def a_number_of_numpys(x, s):
    results = s * x, s + x, s - x, s / x, x**s, x > s, x // s, s == s, -s, s * 2, float(s), type(s).__name__
    return results, s, d2s.to_tensor(float(s)), (x * 2 if s > 2.5 else x)


@program((X, np.int8(3)), (X, np.int64(2)), (X, np.int64(2)), (X, 2))
def an_int_of_numpys(x, s):
    count = 0
    for k in range(s):
        count = count + k * s
    while x.sum() < 50:
        x = x * s + 1
    return x, [x, x * 2, x * 3, x * 4][s], x.reshape([1, -1]).tile([s, 1]), d2s.zeros([s]), count, s


@program((X, np.bool_(True)), (X, np.bool_(False)), (X, True))
def a_bool_of_numpys(x, s):
    return (x if s and x.sum() > 0 else x * 2), not s, s


@program((X, [np.float32(2), np.int64(1)]), (X, [np.float32(3), np.int64(1)]))
def numbers_of_numpys_in_a_list(x, given):
    return x * given[0] * given[1], given[0] * 2, d2s.to_tensor(given)


@program((X,), (-X,))
def numbers_of_numpys_from_outside(x):
    y = HALF
    if x.sum() > 0:
        y = HALF * 2
    return x * HALF + THREE, x * y, HALF, float(THREE), HALF * THREE, x * np.sqrt(2.0), x * np.prod(x.shape)


@program((t(0),), (t(4),), (t(-2),))
def a_true_quotient_of_ints(n):
    return 10 / int(n), 1.5 // int(n)


@program((t([3.0]),), (t([-3.0]),))
def beside_ints_beyond_64_bits(x):
    n, huge = int(x.sum()), 1 << 70
    order = n < huge, n > -huge, huge <= n, n == huge, n != 2**64, -huge < n < huge, n in (huge, 3)
    return order, min(n, huge), max(n, -huge), n < 1e300


@program(
    (t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 1), (t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), 2), (-t([[1.0, 2.0], [3.0, 4.0]]), 2)
)
def extents_by_a_number_on_each_path(x, k):
    return x.reshape([k, -1]) if x.sum() > 0 else x.tile([k, 1])


@program((t([[[[1.0, 2.0], [3.0, 4.0]]]]), 1), (t([[[[1.0, 2.0], [3.0, 4.0]]]]), 2), (t([[[[-1.0, 2.0], [-3.0, -4.0]]]]), 3))
def resized_by_a_number_on_one_path(x, k):
    return d2s.nn.functional.interpolate(x, scale_factor=k) if x.sum() > 0 else x


@program((X,), (t([-1.0, 2.0]),))
def limits_of_dtypes(x):
    rounding, numpy_limits = d2s.finfo(x.dtype).eps, np.finfo(np.dtype("float32"))
    while x.sum() > 1:
        x = x * 0.5 + rounding
    lowest = d2s.full_like(x, d2s.finfo("float32").min)
    return d2s.where(x > 0, x, lowest), x * float(numpy_limits.tiny), x * np.iinfo("int8").max, d2s.iinfo("int64").max


ELEMENTS = t([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@program((ELEMENTS, t([2, 1]), 1), (ELEMENTS, t([0, 0]), 5))
def elements_as_numbers(x, places, n):
    a, b = x.item(n), x.item(0, 2)
    if x.item(1, 1) > 4 and places.item(0) == places[0]:
        a = a + x.item(places[0]) + x[0].item(n % 3)
    return a, b, x * x.item(n - 1), places.item(1) + 1, x.item(int(places[1]), places.sum() - 1 if n == 1 else 0)


@program(*((ELEMENTS, t(k)) for k in (0, 5, 6, -1)))
def an_element_that_a_run_asks_for(x, k):
    return x.item(k) * x


@program(*((ELEMENTS, index) for index in (-1, 6, 0.5, None, (1, 2), True)))
def elements_that_are_not_there(x, index):
    return x.item(index) if index is not None else x.item(1, 2, 0)


@program((ELEMENTS, t([True, True])), (ELEMENTS, t([False, True])), (ELEMENTS, t([False, False])))
def elements_of_what_a_run_found(x, m):
    return x[m].item(2) + x[m].item(0, 1)


BOUNDED = tuple(
    (t([1.0, -2.0, 0.5, -0.0, float("nan")]), t(bound)) for bound in (0.5, 0.25, 2.0, 0.0, float("inf"), float("nan"))
)


@program(*BOUNDED)
def bounds_made_of_tensors(x, bound):
    b = float(bound)
    return x.clip(-b, b), d2s.clip(x, min=b) * x, x.clip(max=bound.item()), x.astype("float64").clip(b, 0.5), x.clip(-1.0, b)


@program(*BOUNDED[:4])
def bounds_made_of_tensors_in_place(x, bound):
    b, y, z = float(bound), x * 2, x * 3
    kept = y.clip_(-b, b)
    d2s.clip_(x=z, max=b)
    return kept is y, y, z, (x * 4).clamp_(min=b) * y


@program((X, 0.5), (X, 0.25), (X, 2.0), (X, -1.0))
def bounds_that_change_from_call_to_call(x, b):
    return x.clip(-b, b) * 2, d2s.nn.functional.normalize(x, epsilon=b * b)


@program(*BOUNDED[:3])
def bounds_in_a_loop(x, bound):
    b = float(bound)
    for k in range(t(3)):
        x = x.clip(-b, b) * 1.5
        b = b * 0.75 + k
    return x


@program(*((X, t(spread)) for spread in (0.5, 0.0, 2.0, -1.0, float("nan"), float("inf"))))
def draws_of_spreads_made_of_tensors(x, spread):
    d2s.seed(3)
    s = float(spread)
    return x * d2s.normal(0.0, s, [2]), d2s.uniform([3], min=-s, max=s), d2s.normal(s, 1.0, [2])


@program((t([[1.0, 2.0]]), t(0.5)), (t([[1.0, 2.0]]), t(-2.0)))
def values_put_that_are_made_of_tensors(x, value):
    return d2s.put_along_axis(x, t([[1]]), float(value), 1), x.put_along_axis(t([[0]]), value.item() * 2, 1, "add")


SIGNED = t([1.0, -2.0, 0.0, -0.0])


@program((SIGNED, 0.0), (SIGNED, -0.0), (SIGNED, 0.0), (SIGNED, False))
def zero_of_either_sign_as_a_bound(x, a):
    return x.clip(a), F.leaky_relu(x, float(a)), F.elu(x, float(a)), F.hardtanh(x, float(a), 1.0)


@program((SIGNED, {0.0: 1}), (SIGNED, {-0.0: 1}), (SIGNED, {(0.0,): 1}), (SIGNED, {(-0.0,): 1}), (SIGNED, {(False,): 1}))
def keys_that_are_equal_only(x, held):
    return x * 2, list(held), [repr(key) for key in held]


@program((SIGNED, range(0, 3, 2)), (SIGNED, range(0, 4, 2)), (SIGNED, range(0)), (SIGNED, range(5, 5)))
def ranges_that_count_the_same(x, places):
    return x * 2, places.start, places.stop, repr(places)


@program((X,), (SIGNED,))
def sets_of_either_zero(x):
    found = frozenset([0.0])
    if x.sum() < 0:
        found = frozenset([-0.0])
    return x * 2, [repr(key) for key in found]


@program((SIGNED,))
def what_counts_is_stored(x):
    y = x * 1.0
    y[1:] = range(3)
    return y * x


@program((SIGNED,))
def what_numpy_makes_is_set(x):
    y = d2s.to_tensor([1.0, 2.0, 3.0, 4.0])
    y.set_value(np.arange(4) / 2)
    return y * x


@program(*((SIGNED, value) for value in ("a", None, 1j, [10**20, 1, 2, 3])))
def no_numbers_are_stored(x, value):
    y = x * 1.0
    y[0:4] = value
    return y


@program(*((SIGNED, value) for value in ("a", None, 1j, 10**30)))
def no_numbers_are_stored_where_a_mask_holds(x, value):
    y = x * 1.0
    y[x > 0] = value
    return y


@program((t([1, 2]), -1.0), (t([1, 2]), 1.0), (t([1.0, 2.0]), -1.0))
def spreads_of_the_means_that_are_no_floats(x, spread):
    return d2s.normal(x, spread)


@program(*((X, t(value)) for value in (0.25, 1.0, 2.0, -0.5, float("nan"), float("inf"))))
def draws_in_place_of_numbers_made_of_tensors(x, value):
    d2s.seed(3)
    v, y, z = float(value), x * 1, x * 1
    y.uniform_(v, 1.0)
    return y, z.geometric_(v)


@program((X, t(0.25)), (X, t(-2.0)), (X, t(float("inf"))))
def means_made_of_tensors_where_the_spreads_are_tensors(x, mean):
    d2s.seed(3)
    return d2s.normal(float(mean), x * x), d2s.normal(x, 0.5)


@program((X, t(0.25)), (X, t(-0.5)))
def results_of_comparisons_fill_and_choose(x, value):
    v = float(value)
    filled, chosen = d2s.full([2], v > 0), d2s.where(x > 0, v, -v)
    return filled, chosen, d2s.full([2], int(v > 0)), d2s.where(x > 0, int(v), 2), d2s.where(x > 0, v > 0, v < 0)


@program((t([1, -2]), t(0.25)), (t([1, -2]), t(-0.5)))
def answers_put_into_whole_numbers(x, value):
    return d2s.put_along_axis(x, t([0]), bool(value > 0), 0), d2s.put_along_axis(x > 0, t([1]), value > 0, 0)


@program(*((X, t(n)) for n in (2, 0, 3, -5)))
def identities_as_large_as_a_run_says(x, n):
    return x, d2s.eye(int(n)), d2s.eye(3, int(n)), d2s.eye(int(n), 2, "int64")


@program((X, t(2)), (X, t(-5)))
def an_identity_of_a_negative_extent_beside_one_of_a_run(x, n):
    return x, d2s.eye(int(n), -1)


@program((t([[1.0, -2.0, 0.5]]), t(0.25)), (t([[1.0, -2.0, 0.5]]), t(0.75)))
def labels_of_what_takes_numbers_made_of_tensors(x, bound):
    d2s.seed(3)
    b, y = float(bound), x * 1
    found = x.clip(b, 3.0, name="kept"), d2s.split(x, 3, 1, name="parts"), d2s.topk(x, 2, name="most")
    return found, y.clip_(b, name=None), (x * 1).uniform_(b, 1.0, name="drawn"), d2s.clip(x, b, 10**400)
