"""Vector math of what networks are made of, in float32 alone; a part of `vm`, written like `vector_math.py`.

The fewest steps that stay within 2 ULP, exp within 1. e**x is 2**n e**r with x = n ln 2 + r, and 2**n is made of bits: a
float32 added to 1.5 * 2**23 + 127 is rounded to an integer, and shifted 23 places its lowest bits are the exponent of 2**n.
Long polynomials are split in two, even and odd: a processor waits for chains. A division takes the time of seven fma.

>>> from d2s.codegen.emit import needed
>>> needed("tanh", float32).count("fma(")
10
"""

from d2s.ops.vector_math import (
    LOG2E,
    abs_of,
    bits32_of,
    clamped,
    float32_of,
    fma,
    int32,
    polynomial,
    select,
    sign_from,
)
from d2s.types import float32

EXP_F32 = (0.5000000099042587, 0.16666519183709588, 0.041666193962669046, 0.008368845901459514, 0.0013951214378208428)
LN2_HI_F32 = 0.693359375
LN2_LO_F32 = -0.00021219444005469057
EXPM1_F32 = (0.5000000596046448, 0.1666683554649353, 0.041660867631435394, 0.008284734562039375, 0.0016009509563446045)
HALF_BIASED_F32 = 12583039.0  # 1.5 * 2**23 + 127
BIASED_F32 = 12583166.0  # 1.5 * 2**23 + 2 * 127


def exp_f32(x):
    """Scaled in two steps, so that a denormal result is rounded once."""
    x = clamped(x, float32(120.0))
    t = fma(x, float32(LOG2E), float32(BIASED_F32))
    n = t - float32(BIASED_F32)
    r = fma(n, float32(-LN2_LO_F32), fma(n, float32(-LN2_HI_F32), x))
    v = fma(r, fma(r, polynomial(EXP_F32, r), float32(1.0)), float32(1.0))
    half = fma(n, float32(0.5), float32(HALF_BIASED_F32))
    first = float32_of(int32(bits32_of(half) << 23))
    return v * first * float32_of(int32((bits32_of(t) - bits32_of(half)) << 23))


def expm1_normal_f32(x):
    """e**x - 1 where e**x is neither infinite nor denormal, as 2**n (e**r - 1) + (2**n - 1)."""
    t = fma(x, float32(LOG2E), float32(HALF_BIASED_F32))
    n = t - float32(HALF_BIASED_F32)
    r = fma(n, float32(-LN2_LO_F32), fma(n, float32(-LN2_HI_F32), x))
    scale = float32_of(int32(bits32_of(t) << 23))
    return fma(scale, fma(r * r, polynomial(EXP_F32, r), r), scale - float32(1.0))


def sigmoid_f32(x):
    z = exp_f32(-abs_of(x))
    q = z / (float32(1.0) + z)
    q = fma(-z, q, z)  # the same, but that rounding the quotient shows less
    return select(x < 0.0, q, float32(1.0) - q)


def tanh_f32(x):
    """h / (1 + h) with h = (e**2a - 1) / 2; where h is small it is written so that rounding the quotient hardly shows.

    Where 2a = n ln 2 + r, r goes up to 0.52, so that below n = 1 little is taken away again.
    """
    a = abs_of(x)
    a = select(a > float32(10.0), float32(10.0), a)
    t = fma(a, float32(2.0 * LOG2E), float32(-0.25)) + float32(HALF_BIASED_F32 - 1.0)
    n = t - float32(HALF_BIASED_F32 - 1.0)
    r = fma(n, float32(-LN2_LO_F32), fma(n, float32(-LN2_HI_F32), a + a))
    scale = float32_of(int32(bits32_of(t) << 23))
    h = fma(scale, fma(r * r, polynomial(EXPM1_F32, r), r), scale - float32(0.5))
    q = h / (float32(1.0) + h)
    return sign_from(select(h < float32(0.5), fma(-h, q, h), q), x)


ERF_EVEN_F32 = (
    0.12837916612625122, 0.10277629643678665, -0.0001696288527455181, -0.0006374543881975114, -9.391211278853007e-06,
)  # fmt: skip
ERF_ODD_F32 = (0.6366195678710938, -0.01914777234196663, 0.0016758247511461377, 0.00011888887820532545)
TAIL_EVEN_F32 = (
    -0.9999999403953552, -0.4591960906982422, 0.007051545660942793, -0.00024079610011540353, -9.152838174486533e-06,
    -2.266703802433767e-08,
)  # fmt: skip
TAIL_ODD_F32 = (
    -1.1511073112487793, -0.05251411721110344, -8.313751459354535e-05, 6.552675768034533e-05, 6.952644753255299e-07,
)  # fmt: skip
EXP2_F32 = (
    0.6931471824645996, 0.24022650718688965, 0.05550358444452286, 0.009618071839213371, 0.0013391580432653427,
    0.00015458882262464613,
)  # fmt: skip


def erf_f32(x):
    a = abs_of(x)
    a = select(a > float32(4.0), float32(4.0), a)
    z = a * a
    p = fma(a, polynomial(ERF_ODD_F32, z), polynomial(ERF_EVEN_F32, z))
    return sign_from(-expm1_normal_f32(-fma(a, p, a)), x)


def gelu_f32(x):
    """max(x, 0) - |x| Q(|x|), where Q is the tail of the normal distribution, by a polynomial of its logarithm to base 2."""
    a = abs_of(x)
    b = select(a > float32(5.75), float32(5.75), a)
    z = b * b
    p = fma(b, polynomial(TAIL_ODD_F32, z), polynomial(TAIL_EVEN_F32, z))
    t = p + float32(HALF_BIASED_F32)
    r = p - (t - float32(HALF_BIASED_F32))
    v = fma(r, polynomial(EXP2_F32, r), float32(1.0))
    tail = select(a > float32(5.75), float32(0.0), b * v * float32_of(int32(bits32_of(t) << 23)))
    return select(x < float32(0.0), float32(0.0), x) - tail
