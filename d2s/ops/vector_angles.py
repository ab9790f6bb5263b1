"""Vector math of angles: sin, cos, tan and their inverses; a part of `vm`, written like `vector_math.py`.

sin, cos and tan hold their bound for every float: the argument is multiplied by as many digits of 2/π as it takes.

>>> from d2s.codegen.emit import needed
>>> needed("atan", float32).count("fma(")
11
"""

from d2s.ops.vector_math import (
    MAGIC,
    abs_of,
    bits_of,
    fast_two_sum,
    float64,
    floating,
    fma,
    nearest,
    polynomial,
    quotient,
    rint_of,
    select,
    sign_from,
    sqrt_of,
    table,
    two_sum,
    two_to,
)
from d2s.types import float32

HALF_PI = 1.5707963267948966
HALF_PI_LO = 6.123233995736766e-17

# sin, cos, tan: x = (n + r) quarter turns

SIN_SHORT = (-0.16666666641747194, 0.008333329400708888, -0.00019839339472521017, 2.718353331237266e-06)
COS_SHORT = (0.04166666662293796, -0.0013888883760543465, 2.4799521687472532e-05, -2.7210371025705287e-07)
SIN = (
    -0.16666666666666632, 0.00833333333332242, -0.00019841269829811684,
    2.755731369332278e-06, -2.5050758365265723e-08, 1.5896812194364435e-10,
)  # fmt: skip
COS = (
    0.0416666666666666, -0.0013888888888874146, 2.480158728949925e-05,
    -2.7557314357496664e-07, 2.087572397761498e-09, -1.1359683745158997e-11,
)  # fmt: skip
# 2/π with 1184 digits behind the point. The tables hold, for x in [2**s, 2**(s + w)) * 2**(w b), as many digits of
# 2**(w b) * 2/π as tell x * 2/π; digits whose product with x is a multiple of 4 are left out
TWO_BY_PI = int(
    "a2f9836e4e441529fc2757d1f534ddc0db6295993c439041fe5163abdebbc561b7246e3a424dd2e006492eea09d1921cfe1deb1cb129a73ee88235f5"
    "2ebb4484e99c7026b45f7e413991d639835339f49c845f8bbdf9283b1ff897ffde05980fef2f118b5a0a6d1f6d367ecf27cb09b74f463f669e5fea2d"
    "7527bac7ebe5f17b3d0739f78a5292ea6bfb5fb11f8d5d0856033046",
    16,
)
HIGH_F32 = table([(TWO_BY_PI << 16 * b >> 1132) % 2**53 * 2.0**-52 for b in range(7)])
LOW_F32 = table([(TWO_BY_PI << 16 * b >> 1079) % 2**53 * 2.0**-105 for b in range(7)])
DIGITS_F64 = table(
    [(TWO_BY_PI << 32 * b >> 1132 - 53 * j) % 2**53 * 2.0 ** (-53 * j - 52) for b in range(31) for j in range(4)]
)


def block_of(x, start, shift, last):
    """How often x is above 2**start by 2**(2**shift), at most `last` times."""
    b = (((bits_of(x) >> 52) & 2047) - (1023 + start)) >> shift
    b = select(b < 0, 0, b)
    return select(b > last, last, b)


def turned_short(x):
    """The sine and the cosine of r quarter turns, and n in the lowest bits."""
    b = block_of(x, 24, 4, 6)
    w = x * two_to(floating(b) * -16.0)
    high = HIGH_F32(b)
    p = w * high
    n = nearest(p)
    y = ((p - n) + fma(w, LOW_F32(b), fma(w, high, -p))) * HALF_PI
    z = y * y
    s = fma(y * z, polynomial(SIN_SHORT, z), y)
    c = fma(z * z, polynomial(COS_SHORT, z), fma(z, -0.5, 1.0))
    return s, c, bits_of(n + MAGIC)


def quarter_turns(x):
    """r in two parts, and n in the lowest bits."""
    b = block_of(x, 53, 5, 30)
    w = x * two_to(floating(b) * -32.0)
    d0, d1, d2 = DIGITS_F64(4 * b), DIGITS_F64(4 * b + 1), DIGITS_F64(4 * b + 2)
    p0, p1, p2 = w * d0, w * d1, w * d2
    e0, e1, e2 = fma(w, d0, -p0), fma(w, d1, -p1), fma(w, d2, -p2)
    p0 = fma(-4.0, rint_of(p0 * 0.25), p0)
    a, a_lo = two_sum(e0, p1)
    f, f_lo = two_sum(p0, a)
    n = rint_of(f)
    f, c0 = two_sum(f - n, f_lo)
    f, c1 = two_sum(f, a_lo)
    f, c2 = two_sum(f, e1)
    f, c3 = two_sum(f, p2)
    r, r_lo = two_sum(f, ((c0 + c1) + (c2 + c3)) + fma(w, DIGITS_F64(4 * b + 3), e2))
    return r, r_lo, bits_of(n + MAGIC)


def turned(x):
    """The sine and the cosine of r quarter turns, each in two parts, and n in the lowest bits."""
    r, r_lo, n = quarter_turns(x)
    y = r * HALF_PI
    y_lo = fma(r, HALF_PI, -y) + (r * HALF_PI_LO + r_lo * HALF_PI)
    z = y * y
    h = 0.5 * z
    s, s_lo = fast_two_sum(y, fma(y * z, polynomial(SIN, z), fma(-h, y_lo, y_lo)))
    w = 1.0 - h
    rest = ((1.0 - w) - h) - 0.5 * fma(y, y, -z)
    c, c_lo = fast_two_sum(w, rest + fma(z * z, polynomial(COS, z), -y * y_lo))
    return s, s_lo, c, c_lo, n


def of_turn(s, c, n):
    v = select((n & 1) == 0, s, c)
    return select((n & 2) == 0, v, -v)


def sin_f32(x):
    s, c, n = turned_short(float64(x))
    return select(x == 0.0, x, float32(of_turn(s, c, n)))


def sin_f64(x):
    s, s_lo, c, c_lo, n = turned(x)
    return select(abs_of(x) < 1e-9, x, of_turn(s + s_lo, c + c_lo, n))


def cos_f32(x):
    s, c, n = turned_short(float64(x))
    return float32(of_turn(s, c, n + 1))


def cos_f64(x):
    s, s_lo, c, c_lo, n = turned(x)
    return of_turn(s + s_lo, c + c_lo, n + 1)


def tan_f32(x):
    s, c, n = turned_short(float64(x))
    even = (n & 1) == 0
    return select(x == 0.0, x, float32(select(even, s, -c) / select(even, c, s)))


def tan_f64(x):
    s, s_lo, c, c_lo, n = turned(x)
    even = (n & 1) == 0
    v = quotient(select(even, s, -c), select(even, s_lo, -c_lo), select(even, c, s), select(even, c_lo, s_lo))
    return select(abs_of(x) < 1e-9, x, v)


# their inverses

ATAN_SHORT = (
    -0.33333332233598795, 0.19999932125548683, -0.1428424963956597, 0.11095191938466926, -0.0898874041622698,
    0.07269227993726587, -0.054701477326280654, 0.0347009569726721, -0.01646864358305281, 0.0049981122289077615,
    -0.00071108263476664,
)  # fmt: skip
ATAN = (
    -0.3333333333333199, 0.1999999999977422, -0.14285714272327502, 0.11111110704875019, -0.09090901647904776,
    0.07692217217862111, -0.0666589145942023, 0.058774714101315594, -0.052398744178779995, 0.04675855070283478,
    -0.04096972705017041, 0.034143621098586895, -0.02592852977818498, 0.017081828039198863, -0.009263597350840584,
    0.0038994651972745517, -0.0011804010308139065, 0.00022676504992341832, -2.0653498164481373e-05,
)  # fmt: skip
ASIN_SHORT = (
    0.16666667189471132, 0.07499948190719408, 0.04466015431362772, 0.030110361386854086,
    0.024617713593394448, 0.007471063959700191, 0.0346906720815769,
)  # fmt: skip
ASIN = (
    0.1666666666666538, 0.07500000000343299, 0.04464285682336834, 0.030381959333572923, 0.022371753503621507,
    0.017359771046946106, 0.01388460145915696, 0.012173248753922743, 0.006511019062818366, 0.019573386135009595,
    -0.0162931809787038, 0.031958314927695575,
)  # fmt: skip


def atan_f32(x):
    a = abs_of(float64(x))
    above = a > 1.0
    a = select(above, 1.0 / a, a)
    z = a * a
    v = fma(a * z, polynomial(ATAN_SHORT, z), a)
    return float32(sign_from(select(above, HALF_PI - v, v), float64(x)))


def atan_f64(x):
    a = abs_of(x)
    above = a > 1.0
    q = select(above, 1.0 / a, a)
    q_lo = select(above & (a < 1e18), fma(-q, a, 1.0) * q, 0.0)
    z = q * q
    rest = fma(q * z, polynomial(ATAN, z), fma(-z, q_lo, q_lo))
    turned_back, lost = fast_two_sum(HALF_PI, -q)
    v = select(above, turned_back + (lost + (HALF_PI_LO - rest)), q + rest)
    return sign_from(v, x)


def asin_f32(x):
    a = abs_of(float64(x))
    above = a > 0.5
    z = select(above, 0.5 - 0.5 * a, a * a)
    y = select(above, sqrt_of(z), a)
    v = fma(y * z, polynomial(ASIN_SHORT, z), y)
    return float32(sign_from(select(above, fma(-2.0, v, HALF_PI), v), float64(x)))


def acos_f32(x):
    w = float64(x)
    a = abs_of(w)
    above = a > 0.5
    z = select(above, 0.5 - 0.5 * a, a * a)
    y = select(above, sqrt_of(z), w)
    v = fma(y * z, polynomial(ASIN_SHORT, z), y)
    return float32(select(above, select(w < 0.0, 2.0 * (HALF_PI - v), 2.0 * v), HALF_PI - v))


def root_parts(z):
    s = sqrt_of(z)
    return s, select(z > 0.0, fma(-s, s, z) / (2.0 * s), 0.0)


def asin_f64(x):
    a = abs_of(x)
    above = a > 0.5
    z = select(above, 0.5 - 0.5 * a, a * a)
    s, s_lo = root_parts(z)
    y = select(above, s, a)
    rest = y * z * polynomial(ASIN, z)
    high, lost = fast_two_sum(HALF_PI, -2.0 * s)
    v = select(above, high + (lost + (HALF_PI_LO - 2.0 * (rest + s_lo))), y + rest)
    return sign_from(v, x)


def acos_f64(x):
    a = abs_of(x)
    above = a > 0.5
    z = select(above, 0.5 - 0.5 * a, a * a)
    s, s_lo = root_parts(z)
    y = select(above, s, x)
    rest = y * z * polynomial(ASIN, z)
    high, lost = fast_two_sum(2.0 * HALF_PI, -2.0 * s)
    left = high + (lost + (2.0 * HALF_PI_LO - 2.0 * (rest + s_lo)))
    middle, rounded = fast_two_sum(HALF_PI, -x)
    v = select(x < 0.0, left, 2.0 * (s + (rest + s_lo)))
    return select(above, v, middle + (rounded + (HALF_PI_LO - rest)))
