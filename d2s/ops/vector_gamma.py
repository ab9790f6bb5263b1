"""Vector math of the logarithm of the gamma function and of its slope; a part of `vm`, written like `vector_math.py`.

Near 1 and 2, where the logarithm is 0, it is a series; further up it comes from there by the product that leads down, from 10
on from Stirling's; below a half it is what the sine leaves. Near its other zeros, which are negative, the bound of `vm` holds
of 1 instead of the result.

>>> from d2s.codegen.emit import needed
>>> "sin_f64" in needed("lgamma", float32)
True
"""

from d2s.ops.vector_angles import cos_f64, sin_f64
from d2s.ops.vector_inverses import PI
from d2s.ops.vector_math import (
    INF,
    NAN,
    abs_of,
    float64,
    floor_of,
    fma,
    log_parts,
    nearest,
    polynomial,
    pow_f64,
    select,
    two_sum,
)
from d2s.types import float32

LOG_PI = 1.1447298858494002
HALF_LOG_TAU = 0.9189385332046728
HALF_LOG_TAU_LO = -3.8782941580672414e-17

# lgamma(2 + z) by z, the first factor z left out
BY_TWO = (
    0.42278433509846713, 0.3224670334241132, -0.0673523010531981, 0.020580808427784546, -0.007385551028673986,
    0.0028905103307415234, -0.001192753911703261, 0.0005096695247430425, -0.00022315475845357939, 9.945751278180853e-05,
    -4.492623673813314e-05, 2.050721277567069e-05, -9.439488275268397e-06, 4.374866789907488e-06, -2.039215753801366e-06,
    9.55141213040742e-07, -4.492469198764566e-07, 2.1207184805554665e-07, -1.0043224823968099e-07, 4.7698101693639804e-08,
    -2.2711094608943164e-08, 1.0838659214896955e-08, -5.183475041970047e-09, 2.4836745438024785e-09,
    -1.1921401405860912e-09, 5.731367241678862e-10, -2.7595228851242334e-10, 1.330476437424449e-10, -6.4229645638381e-11,
)  # fmt: skip
STIRLING = (
    0.08333333333333333, -0.002777777777777778, 0.0007936507936507937, -0.0005952380952380953, 0.0008417508417508417,
    -0.0019175269175269176, 0.00641025641025641, -0.029550653594771242,
)  # fmt: skip
DIGAMMA = (
    0.08333333333333333, -0.008333333333333333, 0.003968253968253968, -0.004166666666666667, 0.007575757575757576,
    -0.021092796092796094, 0.08333333333333333, -0.4432598039215686,
)  # fmt: skip


def down_once(x, p):
    """x - 1 and p (x - 1), while x is above 2.5."""
    above = x > 2.5
    x = select(above, x - 1.0, x)
    return x, select(above, p * x, p)


def lgamma_near(x):
    """From a half up to 10."""
    low = x < 1.5
    z, p = down_once(x, 1.0)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z, p = down_once(z, p)
    z = select(low, x - 1.0, z - 2.0)
    hi, lo = log_parts(select(low, x, p))
    hi, lo = select(low, -hi, hi), select(low, -lo, lo)
    total, rest = two_sum(hi, z * polynomial(BY_TWO, z))
    return total + (rest + lo)


def lgamma_far(x):
    """From 10 on: (x - 1/2) log x - x + log(2 π) / 2 + 1 / (12 x) …"""
    hi, lo = log_parts(x)
    b = x - 0.5
    p = b * hi
    p_lo = fma(b, hi, -p) + b * lo
    d, d_lo = two_sum(p, -x)
    e, e_lo = two_sum(d, HALF_LOG_TAU)
    inverse = 1.0 / x
    return e + (e_lo + d_lo + p_lo + HALF_LOG_TAU_LO + inverse * polynomial(STIRLING, inverse * inverse))


def lgamma_above(x):
    near = select(x < 10.0, x, 2.0)
    far = select((x >= 10.0) & (x < 1e305), x, 10.0)
    return select(x < 10.0, lgamma_near(near), select(x < 1e305, lgamma_far(far), select(x == INF, INF, x * 710.0)))


def lgamma_f64(x):
    below = x < 0.5
    v = lgamma_above(select(below, 1.0 - x, x))
    r = abs_of(x - nearest(select(abs_of(x) < 1e15, x, 0.0)))
    hi, lo = log_parts(select(r > 0.0, abs_of(sin_f64(PI * r)), 1.0))
    mirrored = LOG_PI - hi - lo - v
    hi, lo = log_parts(select(abs_of(x) > 0.0, abs_of(x), 1.0))
    v = select(below, select(abs_of(x) < 1e-20, -hi - lo, mirrored), v)
    v = select((x <= 0.0) & (floor_of(x) == x), INF, v)
    return select(x != x, NAN, v)


def lgamma_f32(x):
    return float32(lgamma_f64(float64(x)))


def up_once(x, v):
    """x + 1 and v - 1 / x, while x is below 10."""
    below = x < 10.0
    return select(below, x + 1.0, x), select(below, v - 1.0 / x, v)


def digamma_f64(x):
    below = x < 0.5
    y = select(below, 1.0 - x, x)
    z, v = up_once(select(y < INF, y, 1.0), 0.0)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    z, v = up_once(z, v)
    hi, lo = log_parts(z)
    inverse = 1.0 / z
    s = inverse * inverse
    v = v + (hi + (lo - 0.5 * inverse - s * polynomial(DIGAMMA, s)))
    r = x - nearest(select(abs_of(x) < 1e15, x, 0.0))
    sine = sin_f64(PI * r)
    v = select(below, v - PI * cos_f64(PI * r) / select(sine == 0.0, 1.0, sine), v)
    v = select((x <= 0.0) & (floor_of(x) == x), NAN, select(x == INF, INF, v))
    return select(x != x, NAN, v)


def digamma_f32(x):
    return float32(digamma_f64(float64(x)))


def zeta_tail(a, s):
    """The sum of (a + k) ** -s over all k from 0 on, where a is large: Euler's and Maclaurin's."""
    z = 1.0 / a
    w = z * z
    t = 5.284190138687493e-10 - (s + 11.0) * (s + 12.0) * w * 1.3382536530684679e-11
    t = 2.08767569878681e-08 - (s + 9.0) * (s + 10.0) * w * t
    t = 8.267195767195767e-07 - (s + 7.0) * (s + 8.0) * w * t
    t = 3.306878306878307e-05 - (s + 5.0) * (s + 6.0) * w * t
    t = 0.001388888888888889 - (s + 3.0) * (s + 4.0) * w * t
    t = 0.08333333333333333 - (s + 1.0) * (s + 2.0) * w * t
    return pow_f64(a, 1.0 - s) / (s - 1.0) + pow_f64(a, -s) * (0.5 + s * z * t)


def zeta_above(x, s):
    """Above 0: twelve terms, the small ones first, and the tail."""
    v = zeta_tail(x + 12.0, s) + pow_f64(x + 11.0, -s)
    v = v + pow_f64(x + 10.0, -s) + pow_f64(x + 9.0, -s) + pow_f64(x + 8.0, -s) + pow_f64(x + 7.0, -s)
    v = v + pow_f64(x + 6.0, -s) + pow_f64(x + 5.0, -s) + pow_f64(x + 4.0, -s) + pow_f64(x + 3.0, -s)
    v = v + pow_f64(x + 2.0, -s) + pow_f64(x + 1.0, -s) + pow_f64(x, -s)
    return select(x == INF, 0.0, v)


def zeta_below(x, s):
    """Below 0, of a whole s: all terms on either side of 0, without those below x."""
    even = floor_of(s * 0.5) == s * 0.5
    r = x - floor_of(x)
    whole = r == 0.0
    left = floor_of(x) + 1.0 - x
    others = zeta_above(select(whole, 0.5, left), s) - zeta_above(1.0 - x, s)
    v = zeta_above(select(whole, 0.5, r), s) + select(even, others, -others)
    v = select(whole, select(even, INF, NAN), v)
    return select(x > -INF, v, NAN)


def zeta_f64(x, s, factor):
    """Hurwitz': the sum of (x + k) ** -s over all k from 0 on; times a factor."""
    return factor * (zeta_above(x, s) if x > 0.0 else zeta_below(x, s))


def zeta_f32(x, s, factor):
    return float32(zeta_f64(float64(x), float64(s), float64(factor)))
