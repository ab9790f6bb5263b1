"""Vector math of division, remainders and rounding; a part of `vm`, written like `vector_math.py`.

What an integer is divided by is never 0 and never -1: the processor would stop the process. x / 0 is 0, and the lowest
integer divided by -1 is itself. The remainder of floats is exact and takes a loop of its own, so it does not vectorise.

>>> from d2s.codegen.emit import needed
>>> from d2s.types import int32
>>> print(needed("floored_ratio", int32))
@inlined
def divisor(y):
    return y if y > 0 or y < -1 else y * 0 + 1
<BLANKLINE>
<BLANKLINE>
@inlined
def floored_ratio_int(x, y):
    q = x // divisor(y)
    return -x if y == -1 else q if y != 0 else 0
<BLANKLINE>
"""

from d2s.ops.vector_math import (
    INF,
    NAN,
    SMALLEST_NORMAL,
    abs_of,
    bits_of,
    float64,
    floating,
    floor_of,
    fma,
    select,
    sign_from,
    trunc_of,
    two_to,
)
from d2s.types import float32


def divisor(y):
    return y if y > 0 or y < -1 else y * 0 + 1


def ratio(x, y):
    return x / y


def ratio_int(x, y):
    """Towards 0."""
    d = divisor(y)
    q = x // d
    q = q + 1 if q * d != x and (x < 0) != (d < 0) else q
    return -x if y == -1 else (q if y != 0 else 0)


def floored_ratio_int(x, y):
    q = x // divisor(y)
    return -x if y == -1 else (q if y != 0 else 0)


def rest_int(x, y):
    d = divisor(y)
    return x - x // d * d if y != 0 and y != -1 else 0


def rest_of_magnitudes(x, y):
    """|x| mod |y|, exactly: some 50 binary digits of the quotient at a time."""
    r = abs_of(x)
    d = abs_of(y)
    normal = select(d < SMALLEST_NORMAL, d * 18014398509481984.0, d)
    exponent = (bits_of(normal) >> 52) - select(d < SMALLEST_NORMAL, 54, 0)
    while (r >= d) & (d > 0.0) & (r < INF):
        k = (bits_of(r) >> 52) - exponent - 50
        k = select(k > 0, k, 0)
        step = d * two_to(floating(k >> 1)) * two_to(floating(k - (k >> 1)))
        r = fma(-floor_of(r / step), step, r)
        r = select(r < 0.0, r + step, r)
    return select((abs_of(x) < INF) & (d > 0.0), r, NAN)


def rest_f64(x, y):
    m = sign_from(rest_of_magnitudes(x, y), x)
    m = select((m != 0.0) & ((m < 0.0) != (y < 0.0)), m + y, m)
    return select(m == 0.0, sign_from(0.0, y), m)


def rest_f32(x, y):
    return float32(rest_f64(float64(x), float64(y)))


def floored_ratio_f64(x, y):
    m = sign_from(rest_of_magnitudes(x, y), x)
    q = (x - m) / y
    q = select((m != 0.0) & ((m < 0.0) != (y < 0.0)), q - 1.0, q)
    n = floor_of(q)
    n = select(q - n > 0.5, n + 1.0, n)
    return select(y == 0.0, x / y, select(q == 0.0, sign_from(0.0, x / y), n))


def floored_ratio_f32(x, y):
    return float32(floored_ratio_f64(float64(x), float64(y)))


# parts of a number


def magnitude(x):
    return abs_of(x)


def magnitude_int(x):
    return -x if x < 0 else x


def rounded_f64(x):
    """To the nearest integer, halves away from 0."""
    t = trunc_of(x)
    return select(abs_of(x - t) < 0.5, t, t + sign_from(1.0, x))


def rounded_f32(x):
    return float32(rounded_f64(float64(x)))
