"""Functions of one number, written so that LLVM vectorises any loop around them: arithmetic and selects, no branch, no libm.

In: the text of an op says `vm.exp(x)`. Out: the emitter copies `exp_f32` or `exp_f64`, by the dtype computed in, and all it
needs into the kernel's text. A float32 function computes in float64 on short polynomials and rounds once, at its end: within
0.51 ULP; but exp, tanh, sigmoid, erf and gelu, of which networks are made, compute in float32 (vector_float32.py). A
float64 function carries a second float where the first does not hold enough. exp, log, log2, log10, sqrt and rsqrt are within
1 ULP, the others within 2 (tests/ops/test_vector_math.py sweeps all). An fma stands where it is written and nowhere else, so
a fused loop has the bits of the loops it was made from. `vm` goes on in vector_float32.py, vector_angles.py,
vector_inverses.py, vector_gamma.py, vector_division.py and vector_error.py.

Nanoseconds per element, 2**20 elements on one core with AVX-512 (NumPy in the same run):

| | exp | tanh | sigmoid | log | sin | erf |
|---|---|---|---|---|---|---|
| float32 | 0.12 (0.30) | 0.16 (0.15) | 0.20 (0.50) | 0.48 (0.22) | 0.91 (0.36) | 0.22 |
| float64 | 0.55 (0.54) | 1.49 (0.70) | 0.89 | 1.42 (0.48) | 2.71 (7.04) | 1.76 |

Coefficients are our own weighted minimax fits; a name in capitals is a constant, and `polynomial(P, z)` is the emitter's
spelling of Horner's rule, one fma per coefficient. The names under `Any` are the compiler's.

>>> from d2s.codegen.emit import needed
>>> print(needed("rsqrt", float32))
@inlined
def rsqrt_f32(x):
    return float32(1.0 / sqrt_of(float64(x)))
<BLANKLINE>
"""

import math
from typing import Any

from d2s.types import float32

fma: Any = None  # x * y + z, rounded once
bits_of: Any = None  # a float64 as the int64 of the same bits
float_of: Any = None  # and back
bits32_of: Any = None  # a float32 as the int32 of the same bits
float32_of: Any = None
int32: Any = None
select: Any = None  # (condition, where it holds, where not), both computed
sqrt_of: Any = None
rint_of: Any = None
floor_of: Any = None
ceil_of: Any = None
trunc_of: Any = None
abs_of: Any = None
sign_from: Any = None  # (magnitude, sign)
table: Any = tuple  # of float64, read by index
polynomial: Any = None
float64: Any = None

INF = math.inf
NAN = math.nan
MAGIC = 6755399441055744.0  # 1.5 * 2**52: a number added to it is rounded to an integer, which stands in the lowest bits
MAGIC_BITS = 4843621399236968448
LOG2E = 1.4426950408889634
LOG2E_LO = 2.0355273740931033e-17
LOG10E = 0.4342944819032518
LOG10E_LO = 1.098319650216765e-17
LN2 = 0.6931471805599453
LN2_HI = 0.6931471805592082  # 40 bits: its product with an exponent is exact
LN2_LO = 7.371002565167799e-13
THIRD = 0.3333333333333333
THIRD_LO = 1.850371707708594e-17
SQRT_HALF = 0.7071067811865476
SQRT_HALF_BITS = 4604544271217802189
SMALLEST_NORMAL = 2.2250738585072014e-308


# pieces of arithmetic


def nearest(x):
    return (x + MAGIC) - MAGIC


def integer(n):
    """The int64 of a float64 that holds a small integer."""
    return bits_of(n + MAGIC) - MAGIC_BITS


def floating(k):
    """The float64 of a small int64."""
    return float_of(k + MAGIC_BITS) - MAGIC


def two_to(n):
    return float_of((bits_of(n + MAGIC) + 1023) << 52)


def clamped(x, limit):
    x = select(x > limit, limit, x)
    return select(x < -limit, -limit, x)


def two_sum(a, b):
    """The rounded sum, and what rounding took."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def fast_two_sum(a, b):
    """The same, where a is not smaller than b."""
    s = a + b
    return s, b - (s - a)


def quotient(a, a_lo, b, b_lo):
    q = a / b
    return q + (fma(-q, b, a) + (a_lo - q * b_lo)) / b


# exp and its kin: x = n ln 2 + r, and e**r = cosh r + sinh r

SINH_SHORT = (0.166666667550797, 0.008333288825557705, 0.00019905026607595414)
COSH_SHORT = (0.4999999999960045, 0.041666666990100146, 0.0013888807489155887, 2.4882299876282507e-05)
SINH = (0.16666666666666677, 0.008333333333321633, 0.0001984126988611866, 2.755724422102813e-06, 2.510903168450149e-08)
COSH = (0.5, 0.04166666666666671, 0.0013888888888863931, 2.480158736340794e-05, 2.755724181579836e-07, 2.0924427752296786e-09)


def reduced_short(x):
    n = nearest(x * LOG2E)
    return n, fma(-n, LN2, x)


def exp_short(x):
    n, r = reduced_short(clamped(x, 700.0))
    z = r * r
    return two_to(n) * (1.0 + (r + z * fma(r, polynomial(SINH_SHORT, z), polynomial(COSH_SHORT, z))))


def expm1_short(x):
    n, r = reduced_short(clamped(x, 700.0))
    z = r * r
    scale = two_to(n)
    return (scale - 1.0) + scale * (r + z * fma(r, polynomial(SINH_SHORT, z), polynomial(COSH_SHORT, z)))


def reduced(x, x_lo):
    """n, r and what r lacks."""
    n = nearest(x * LOG2E)
    a = fma(-n, LN2_HI, x)
    b = fma(-n, LN2_LO, x_lo)
    r, r_lo = two_sum(a, b)
    return n, r, r_lo


def exp_of_sum(x, x_lo):
    """e ** (x + x_lo); scaled in two steps, so that a denormal result is rounded once."""
    n, r, r_lo = reduced(clamped(x, 1100.0), x_lo)
    z = r * r
    v = 1.0 + (r + (r_lo + z * fma(r, polynomial(SINH, z), polynomial(COSH, z))))
    half = nearest(n * 0.5)
    return v * two_to(half) * two_to(n - half)


def expm1_parts(x):
    n, r, r_lo = reduced(clamped(x, 700.0), 0.0)
    z = r * r
    scale = two_to(n)
    hi, lo = two_sum(scale - 1.0, scale * r)
    q = r_lo + z * fma(r, polynomial(SINH, z), polynomial(COSH, z))
    # beyond n = 53 the 1 taken away does not show in the scale, and not in the result either
    return fast_two_sum(hi, lo + scale * q)


def hyperbolic_parts(x):
    """sinh x and cosh x, halved, each in two parts, by sinh(a + r) = sinh a cosh r + cosh a sinh r with a = n ln 2."""
    n, r, r_lo = reduced(clamped(x, 710.6), 0.0)
    z = r * r
    up = two_to(n - 2.0)
    down = two_to(-2.0 - clamped(n, 1000.0))
    s = fma(r * z, polynomial(SINH, z), r_lo)  # sinh r - r
    c = fma(z, polynomial(COSH, z), r * r_lo)  # cosh r - 1
    sinh_a, sinh_rest = two_sum(up, -down)
    cosh_a, cosh_rest = two_sum(up, down)
    p = cosh_a * r
    q = sinh_a * r
    sinh, sinh_lo = two_sum(sinh_a, p)
    cosh, cosh_lo = two_sum(cosh_a, q)
    sinh_lo += fma(cosh_a, r, -p) + (sinh_rest + cosh_rest * r) + (sinh_a * c + cosh_a * s)
    cosh_lo += fma(sinh_a, r, -q) + (cosh_rest + sinh_rest * r) + (cosh_a * c + sinh_a * s)
    sinh, sinh_lo = fast_two_sum(sinh, sinh_lo)
    cosh, cosh_lo = fast_two_sum(cosh, cosh_lo)
    return sinh, sinh_lo, cosh, cosh_lo


def exp_f64(x):
    return exp_of_sum(x, 0.0)


def expm1_f32(x):
    return select(x == 0.0, x, float32(expm1_short(float64(x))))


def expm1_f64(x):
    hi, lo = expm1_parts(x)
    v = select(x > 700.0, exp_of_sum(x, 0.0), hi + lo)
    return select(abs_of(x) < 1e-17, x, v)


def sigmoid_f64(x):
    z = exp_of_sum(-abs_of(x), 0.0)
    d, d_lo = fast_two_sum(1.0, z)
    return quotient(select(x < 0.0, z, 1.0), 0.0, d, d_lo)


def sinh_f32(x):
    e = expm1_short(abs_of(float64(x)))
    return float32(sign_from(0.5 * (e + e / (e + 1.0)), float64(x)))


def sinh_f64(x):
    s, s_lo, _, _ = hyperbolic_parts(abs_of(x))
    v = select(abs_of(x) < 1e-9, abs_of(x), 2.0 * (s + s_lo))
    return sign_from(v, x)


def cosh_f32(x):
    e = exp_short(abs_of(float64(x)))
    return float32(0.5 * (e + 1.0 / e))


def cosh_f64(x):
    _, _, c, c_lo = hyperbolic_parts(abs_of(x))
    return 2.0 * (c + c_lo)


def tanh_f64(x):
    a = clamped(abs_of(x), 40.0)
    s, s_lo, c, c_lo = hyperbolic_parts(a)
    v = select(a < 1e-9, a, quotient(s, s_lo, c, c_lo))
    return sign_from(v, x)


# logarithms: x = m 2**k with m near 1

LOG_SHORT = (
    0.3333333338334363, -0.2500000121300603, 0.1999999164771779, -0.16666525354821865, 0.14286061242781012,
    -0.12505869853162777, 0.1110806980658025, -0.09889009627567756, 0.09013635786216863, -0.09267964364895447,
    0.0921839622580659, -0.04959867676227712,
)  # fmt: skip
LOG = (
    0.1999999999999999, 0.14285714285722548, 0.1111111110877111, 0.09090909434717147,
    0.0769227847003097, 0.06668157249889241, 0.05837440887238313, 0.0599423067302921,
)  # fmt: skip


def exponent_and_rest(x):
    """k as a float, and m - 1."""
    k = (bits_of(x) - SQRT_HALF_BITS) >> 52
    return floating(k), float_of(bits_of(x) - (k << 52)) - 1.0


def log_edges(x, v):
    """The logarithm v of x, right where x is not a positive number."""
    v = select(x == INF, INF, v)
    v = select(x == 0.0, -INF, v)
    return select(x >= 0.0, v, NAN)


def log_short(x):
    k, f = exponent_and_rest(x)
    z = f * f
    return fma(k, LN2, f + z * fma(f, polynomial(LOG_SHORT, f), -0.5))


def log_parts(x):
    """The logarithm of a positive number, with 64 bits and more in its two parts: log m = 2 atanh((m - 1) / (m + 1))."""
    denormal = x < SMALLEST_NORMAL
    k, f = exponent_and_rest(select(denormal, x * 18014398509481984.0, x))
    k = select(denormal, k - 54.0, k)
    d = 2.0 + f
    d_lo = f - (d - 2.0)
    inverse = 1.0 / d
    s = f * inverse
    s_lo = (fma(-s, d, f) - s * d_lo) * inverse
    z = s * s
    z_lo = fma(s, s, -z) + 2.0 * (s * s_lo)
    a = z * THIRD
    a_lo = fma(z, THIRD, -a) + (z * THIRD_LO + z_lo * THIRD)
    b, b_lo = fast_two_sum(a, z * z * polynomial(LOG, z))
    b_lo += a_lo
    p = 2.0 * s * b
    p_lo = fma(2.0 * s, b, -p) + 2.0 * (s * b_lo + s_lo * b)
    hi, lo = fast_two_sum(2.0 * s, p)
    total, rest = two_sum(k * LN2_HI, hi)
    return fast_two_sum(total, rest + (lo + (p_lo + 2.0 * s_lo) + k * LN2_LO))


def log_times(x, c, c_lo):
    hi, lo = log_parts(x)
    p = hi * c
    return log_edges(x, p + (fma(hi, c, -p) + (hi * c_lo + lo * c)))


def log_f32(x):
    return float32(log_edges(float64(x), log_short(float64(x))))


def log_f64(x):
    hi, lo = log_parts(x)
    return log_edges(x, hi + lo)


def log2_f32(x):
    return float32(log_edges(float64(x), log_short(float64(x)) * LOG2E))


def log2_f64(x):
    return log_times(x, LOG2E, LOG2E_LO)


def log10_f32(x):
    return float32(log_edges(float64(x), log_short(float64(x)) * LOG10E))


def log10_f64(x):
    return log_times(x, LOG10E, LOG10E_LO)


def log1p_f32(x):
    w = float64(x)
    v = select(abs_of(w) < 1e-5, w * fma(w, fma(w, THIRD, -0.5), 1.0), log_edges(1.0 + w, log_short(1.0 + w)))
    return select(x == 0.0, x, float32(v))


def log1p_f64(x):
    u, u_lo = two_sum(1.0, x)
    hi, lo = log_parts(u)
    v = log_edges(u, hi + (lo + u_lo / u))
    return select(abs_of(x) < 1e-17, x, v)


# powers


def reciprocal_f32(x):
    return float32(1.0) / x


def reciprocal_f64(x):
    return 1.0 / x


def rsqrt_f32(x):
    return float32(1.0 / sqrt_of(float64(x)))


def rsqrt_f64(x):
    y = 1.0 / sqrt_of(x)
    h = x * y
    e = fma(-h, y, 1.0) - fma(x, y, -h) * y
    return select((x > 0.0) & (x < INF), fma(0.5 * y, e, y), y)


def power_edges(x, y, v):
    """x ** y, given |x| ** y, which is right where |x| and y are finite and not 0."""
    a = abs_of(x)
    grows = (a > 1.0) == (y > 0.0)
    v = select((a == 0.0) | (a == INF) | (abs_of(y) == INF), select(grows, INF, 0.0), v)
    whole = floor_of(y) == y
    odd = whole & (floor_of(y * 0.5) != y * 0.5)
    v = select(odd, sign_from(v, x), v)
    v = select((x < 0.0) & (x > -INF) & (abs_of(y) < INF) & (floor_of(y) != y), NAN, v)
    v = select((x != x) | (y != y), NAN, v)
    one = (x == 1.0) | (y == 0.0) | ((x == -1.0) & (abs_of(y) == INF))
    return select(one, 1.0, v)


def pow_f32(x, y):
    a, b = float64(x), float64(y)
    return float32(power_edges(a, b, exp_short(b * log_short(abs_of(a)))))


def pow_f64(x, y):
    hi, lo = log_parts(abs_of(x))
    p = y * hi
    inside = abs_of(p) < 1000.0
    p_lo = select(inside, fma(y, hi, -p) + y * lo, 0.0)
    return power_edges(x, y, exp_of_sum(p, p_lo))


def pow_int(x, y):
    """Wraps around like every product of integers; below 1 to a negative power is 0."""
    n = y if y > 0 else 0
    v, square = x * 0 + 1, x
    while n > 0:
        v = v * square if n & 1 else v
        square = square * square
        n >>= 1
    return v if y >= 0 or x == 1 else (1 - 2 * (y & 1) if x == -1 else 0)
