"""Vector math of inverse functions: areas, the angle of a point, the inverse error function; a part of `vm`, written like
`vector_math.py`.

Areas are logarithms of 1 plus something small, which is carried in two parts.

>>> from d2s.codegen.emit import needed
>>> "log_parts" in needed("asinh", float32)
True
"""

from d2s.ops.vector_angles import ATAN, HALF_PI, HALF_PI_LO
from d2s.ops.vector_error import erf_f64
from d2s.ops.vector_math import (
    INF,
    LN2,
    NAN,
    abs_of,
    exp_of_sum,
    fast_two_sum,
    float64,
    fma,
    log_parts,
    log_short,
    polynomial,
    select,
    sign_from,
    sqrt_of,
    two_sum,
)
from d2s.types import float32

PI = 3.141592653589793
PI_LO = 1.2246467991473532e-16
LN2_REST = 2.3190468138462996e-17  # what LN2 lacks
HALF_ROOT_PI = 0.886226925452758


def log1p_of_sum(x, x_lo):
    """The logarithm of 1 + x + x_lo, where that is a positive number."""
    u, u_lo = two_sum(1.0, x)
    hi, lo = log_parts(u)
    return hi + (lo + (u_lo + x_lo) / u)


def log_of_double(x):
    """The logarithm of 2 x."""
    hi, lo = log_parts(x)
    total, rest = two_sum(hi, LN2)
    return total + (rest + (lo + LN2_REST))


def asinh_f64(x):
    a = abs_of(x)
    near = select(a > 1e9, 1.0, a)
    s = near * near
    s_lo = fma(near, near, -s)
    t, t_lo = two_sum(1.0, s)
    t_lo += s_lo
    r = sqrt_of(t)
    d, d_lo = two_sum(1.0, r)
    d_lo += (fma(-r, r, t) + t_lo) / (2.0 * r)
    w = s / d
    u, u_lo = two_sum(near, w)
    v = log1p_of_sum(u, u_lo + (fma(-w, d, s) + (s_lo - w * d_lo)) / d)
    v = select(a < 1e-9, a, select(a > 1e9, log_of_double(a), v))
    return sign_from(select(a == INF, INF, v), x)


def asinh_f32(x):
    return float32(asinh_f64(float64(x)))


def acosh_f64(x):
    near = select((x > 1.0) & (x < 1e9), x, 2.0)
    t, t_lo = two_sum(near, -1.0)
    p = t * t
    p_lo = fma(t, t, -p) + 2.0 * (t * t_lo)
    q, q_lo = two_sum(p, 2.0 * t)
    q_lo += p_lo + 2.0 * t_lo
    r = sqrt_of(q)
    u, u_lo = two_sum(t, r)
    v = log1p_of_sum(u, u_lo + t_lo + (fma(-r, r, q) + q_lo) / (2.0 * r))
    v = select(x >= 1e9, log_of_double(x), select(x == 1.0, 0.0, v))
    return select(x >= 1.0, select(x == INF, INF, v), NAN)


def acosh_f32(x):
    return float32(acosh_f64(float64(x)))


def atanh_f64(x):
    a = abs_of(x)
    near = select(a < 1.0, a, 0.5)
    d, d_lo = two_sum(1.0, -near)
    u = 2.0 * near / d
    u_lo = (fma(-u, d, 2.0 * near) - u * d_lo) / d
    v = select(a < 1e-9, a, 0.5 * log1p_of_sum(u, u_lo))
    return sign_from(select(a < 1.0, v, select(a == 1.0, INF, NAN)), x)


def atanh_f32(x):
    return float32(atanh_f64(float64(x)))


def atan2_f64(y, x):
    """The angle of (x, y): that of the smaller part over the larger, turned by quarters."""
    a, b = abs_of(y), abs_of(x)
    above = a > b
    top, down = select(above, b, a), select(above, a, b)
    both = (a == INF) & (b == INF)
    ready = (down > 0.0) & (down < INF)
    down = select(ready, down, 1.0)
    q = select(both, 1.0, select(ready, top / down, 0.0))
    q_lo = select(ready & (q > 1e-200), fma(-q, down, top) / down, 0.0)
    z = q * q
    rest = fma(q * z, polynomial(ATAN, z), fma(-z, q_lo, q_lo))
    turned_back, lost = fast_two_sum(HALF_PI, -q)
    hi = select(above, turned_back, q)
    lo = select(above, lost + (HALF_PI_LO - rest), rest)
    other, other_lost = fast_two_sum(PI, -hi)
    back = sign_from(1.0, x) < 0.0
    v = select(back, other + (other_lost + (PI_LO - lo)), hi + lo)
    return select((x != x) | (y != y), NAN, sign_from(v, y))


def atan2_f32(y, x):
    return float32(atan2_f64(float64(y), float64(x)))


# (1 - erf x) e**(x x) from 0.7 to 6.1, by 1 / (1 + x / 2)
ERFCX = (
    0.25015846096095545, 0.20802719124008034, 0.05821956572259419, 0.009487696504215446, 0.00024756479809858134,
    -0.00020356664958531628, -1.351352852705124e-05, 6.995062016546985e-06, 2.231989658768554e-07, -3.1004767155823063e-07,
    2.0388986011316347e-08, 1.2620749395945247e-08, -2.878646965732672e-09, -2.1552871938605995e-10, 2.0375621513355846e-10,
    -2.65039742377846e-11, -7.001249250288982e-12, 2.6063924942326552e-12, -1.186692269280366e-13,
)  # fmt: skip


def nearer_to_erf(x, a, rest):
    """One of Halley's steps towards erf x = a, 1 - erf x = rest."""
    s = x * x
    steep = exp_of_sum(s, fma(x, x, -s))
    tail = polynomial(ERFCX, (1.0 / (1.0 + 0.5 * x) - 0.49382716049382713) * 4.05)
    step = HALF_ROOT_PI * select(a < 0.77, (erf_f64(x) - a) * steep, rest * steep - tail)
    return x - step / (1.0 + x * step)


def erfinv_f64(y):
    """A guess by logarithms, then three of Halley's steps: on erf near 0, else on 1 - erf, which has digits left there."""
    a = select(abs_of(y) < 1.0, abs_of(y), 0.5)
    rest = 1.0 - a
    w = log_short(rest * (1.0 + a))
    c = 4.330746750799873 + 0.5 * w
    x = sqrt_of(sqrt_of(c * c - w * 6.802721088435374) - c)
    x = nearer_to_erf(nearer_to_erf(nearer_to_erf(x, a, rest), a, rest), a, rest)
    v = select(abs_of(y) < 1e-9, abs_of(y) * HALF_ROOT_PI, x)
    v = select(abs_of(y) < 1.0, v, select(abs_of(y) == 1.0, INF, NAN))
    return sign_from(v, y)


def erfinv_f32(y):
    return float32(erfinv_f64(float64(y)))
