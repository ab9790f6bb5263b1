"""The kernel text of random numbers: Philox 4x32-10, and what makes words of it into numbers of a distribution.

Text stands in a kernel whose first inputs are `seed` and `counter`; 32-bit words are held in int64, because products of two of
them are wanted. `T` is the dtype of the output. Functions stand inside of the kernel, and what calls them stands in a loop:
Numba loses the end of a kernel, behind its last loop, where such functions were put in place. In: dtypes. Out: text.

>>> print(filled("def value(w0, w1, w2, w3):\\n    return T(w0)", 4)[len(PHILOX) :])
<BLANKLINE>
def value(w0, w1, w2, w3):
    return T(w0)
some = local64()
for base in range(0, n0, 64):
    for k in range(64):
        w0, w1, w2, w3 = block((base >> 2) * 4 + k, 0)
        some[1 * k + 0] = value(w0, w1, w2, w3)
    for k in range(n0 - base if n0 - base < 64 else 64):
        out[base + k] = some[k]
<BLANKLINE>
"""

import functools
import math
from collections.abc import Sequence

from d2s import types
from d2s.types import DType

# No sum or product may leave int64: Numba tells LLVM that none does, and LLVM draws conclusions about the bits.
PHILOX = """\
k0 = seed[0] & 0xFFFFFFFF
k1 = (seed[0] >> 32) & 0xFFFFFFFF
start0 = counter[0] & 0xFFFFFFFF
start1 = (counter[0] >> 32) & 0xFFFFFFFF

def times(a, b):  # the upper and the lower word of the product of two words
    t = (a & 0xFFFF) * b
    u = (a >> 16) * b + (t >> 16)
    return u >> 16, ((u & 0xFFFF) << 16) | (t & 0xFFFF)

def philox(c0, c1, c2, c3):
    x0 = k0
    x1 = k1
    for _ in range(10):
        p1, p0 = times(c0, 0xD2511F53)
        q1, q0 = times(c2, 0xCD9E8D57)
        c0 = q1 ^ c1 ^ x0
        c1 = q0
        c2 = p1 ^ c3 ^ x1
        c3 = p0
        x0 = (x0 + 0x9E3779B9) & 0xFFFFFFFF
        x1 = (x1 + 0xBB67AE85) & 0xFFFFFFFF
    return c0, c1, c2, c3

def block(k, trial):
    at = start0 + k
    return philox(at & 0xFFFFFFFF, (start1 + (at >> 32)) & 0xFFFFFFFF, trial, 0)

def unit(w0, w1):  # the 53 bits a float64 in [0, 1) has
    return float((w1 << 21) | (w0 >> 11)) * 1.1102230246251565e-16

def part(w0, w1, n):  # floor(n * w / 2**64), for an n of one word: uniform in [0, n)
    a1, a0 = times(w0, n)
    b1, b0 = times(w1, n)
    return b1 + ((b0 + a1) >> 32)
"""


def filled(value: str, words: int, stored: str = "some[k]") -> str:
    """A kernel that fills `out` with value(words...), 64 elements at a time: only the copy at its end knows a remainder.

    `stored`: what is copied, where that is made of the values `some[k]` and what an input holds at `base + k`.
    """
    calls = [", ".join(f"w{k}" for k in range(n, n + words)) for n in range(0, 4, words)]
    stores = [f"        some[{4 // words} * k + {n}] = value({read})" for n, read in enumerate(calls)]
    lines = [
        "some = local64()",
        "for base in range(0, n0, 64):",
        f"    for k in range({16 * words}):",
        f"        w0, w1, w2, w3 = block((base >> 2) * {words} + k, 0)",
        *stores,
        "    for k in range(n0 - base if n0 - base < 64 else 64):",
        f"        out[base + k] = {stored}",
    ]
    return f"{PHILOX}\n{value}\n" + "\n".join(lines) + "\n"


def _polynomial(coefficients: Sequence[float], x: str, T: str = "T") -> str:
    """Horner's rule, the highest power first."""
    return functools.reduce(lambda text, c: f"fma({text}, {x}, {T}({c!r}))", coefficients[1:], f"{T}({coefficients[0]!r})")


def minus_log_text(T: str, terms: int) -> str:
    """-log(y) for y in [2**-127, 1]: y is doubled into [sqrt(1/2), sqrt(2)), then 2 artanh((1 - y) / (1 + y)) as a series."""
    lines = ["def minus_log(y):", f"    k = {T}(0)"]
    for least, twos in [*((2.0**-n, n) for n in (64, 32, 16, 8, 4, 2, 1)), (math.sqrt(0.5), 1)]:
        lines.append(f"    k = select(y < {T}({least!r}), k + {T}({twos}), k)")
        lines.append(f"    y = select(y < {T}({least!r}), y * {T}({2.0**twos!r}), y)")
    series = _polynomial([2 / (2 * n + 1) for n in reversed(range(terms))], "f * f", T)
    lines += [f"    f = ({T}(1) - y) / ({T}(1) + y)", f"    return fma(k, {T}({math.log(2)!r}), f * {series})"]
    return "\n".join(lines) + "\n"


# The distance from the mean at which a normal tail holds q: Wichura's algorithm AS 241 (Applied Statistics 37, 1988), PPND16.
# Each a quotient of two polynomials: the middle in 0.180625 - (0.5 - q)**2, the tails in sqrt(-log q) - 1.6 and - 5.
_MIDDLE = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_TAIL = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_FAR_TAIL = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922737805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip


def normal_text(dtype: DType) -> str:
    """value(words): the inverse of the normal distribution. One bit is the sign, the others are x = 0.5 - q, half a step away
    from both ends: x and q are known to all digits and are never 0. No number of more than 31 bits becomes a float32."""

    def quotient(of: Sequence[Sequence[float]], x: str) -> str:
        return f"{_polynomial(of[0], x)} / {_polynomial(of[1], x)}"

    if dtype is types.float32:
        words, sign, bits, far = "w0", "w0", 32, "tail"
        whole, most = "w0 & 0x7FFFFFFF", "0x7FFFFFFF"
    else:
        words, sign, bits = "w0, w1", "w1", 63
        whole, most = "((w1 & 0x7FFFFFFF) << 31) | (w0 >> 1)", "0x3FFFFFFFFFFFFFFF"
        far = f"select(s <= T(5), tail, {quotient(_FAR_TAIL, '(s - T(5))')})"
    lines = [
        f"def value({words}):",
        f"    whole = {whole}",
        f"    x = (T(whole) + T(0.5)) * T({2.0**-bits!r})",
        f"    s = sqrt_of(minus_log((T({most} - whole) + T(0.5)) * T({2.0**-bits!r})))",
        "    r = T(0.180625) - x * x",
        f"    middle = x * ({quotient(_MIDDLE, 'r')})",
        f"    tail = {quotient(_TAIL, '(s - T(1.6))')}",
        f"    tail = {far}",
        "    z = select(x <= T(0.425), middle, tail)",
        f"    return T(2 * ({sign} >> 31) - 1) * z * scale + shift",
    ]
    return minus_log_text("T", 5 if dtype is types.float32 else 11) + "\n".join(lines) + "\n"


# A span of more than one word: floor(n * w / 2**128), the sums of the columns of a product by hand. An n of 2**64 reads as 0.
WIDE = """\
n0_ = n & 0xFFFFFFFF
n1_ = (n >> 32) & 0xFFFFFFFF

def value(w0, w1, w2, w3):
    a1, a0 = times(w0, n0_)
    b1, b0 = times(w1, n0_)
    c1, c0 = times(w2, n0_)
    d1, d0 = times(w3, n0_)
    e1, e0 = times(w0, n1_)
    f1, f0 = times(w1, n1_)
    g1, g0 = times(w2, n1_)
    h1, h0 = times(w3, n1_)
    s = ((a1 + b0 + e0) >> 32) + b1 + c0 + e1 + f0
    s = (s >> 32) + c1 + d0 + f1 + g0
    s = (s >> 32) + d1 + g1 + h0
    lower = select(n == 0, w2, s & 0xFFFFFFFF) + (first & 0xFFFFFFFF)
    upper = select(n == 0, w3, h1 + (s >> 32)) + (first >> 32) + (lower >> 32)
    return T(((upper & 0xFFFFFFFF) << 32) | (lower & 0xFFFFFFFF))
"""

WITH_REPLACEMENT = """
for row in range(n0):
    total = 0.0
    last = 0
    for i in range(n1):
        if not x[row * n1 + i] >= 0:
            r[o[fault]] = 1
        total += float(x[row * n1 + i])
        last = i if x[row * n1 + i] > 0 else last
    if not (total > 0.0 and total <= 1.7976931348623157e+308):
        r[o[fault]] = 1
    for k in range(n2):
        w0, w1, w2, w3 = block(row * n2 + k, 0)
        aim = unit(w0, w1) * total
        i = 0
        reached = float(x[row * n1])
        while i < last and reached <= aim:
            i += 1
            reached += float(x[row * n1 + i])
        out[row * n2 + k] = i
"""

# A race: i arrives at a time that is exponential with rate x[i]; the first to arrive are taken, in the order of their arrival.
# Times are not kept but computed again where they are compared.
WITHOUT_REPLACEMENT = """
def arrival(row, i):
    w0, w1, w2, w3 = block(row * n1 + i, 0)
    return minus_log(unit(w0, w1) + 5.551115123125783e-17) / float(x[row * n1 + i])

for row in range(n0):
    taken = 0
    offered = 0
    total = 0.0
    for i in range(n1):
        if not x[row * n1 + i] >= 0:
            r[o[fault]] = 1
        total += float(x[row * n1 + i])
        offered += 1 if x[row * n1 + i] > 0 else 0
    if not (total > 0.0 and total <= 1.7976931348623157e+308):
        r[o[fault]] = 1
    elif offered < n2:
        r[o[fault]] = 2 + offered
    for i in range(n1):
        if x[row * n1 + i] > 0:
            time = arrival(row, i)
            least = 0
            most = taken
            while least < most:
                middle = (least + most) >> 1
                if arrival(row, out[row * n2 + middle]) <= time:
                    least = middle + 1
                else:
                    most = middle
            if least < n2:
                taken = taken + 1 if taken < n2 else n2
                for k in range(taken - 1, least, -1):
                    out[row * n2 + k] = out[row * n2 + k - 1]
                out[row * n2 + least] = i
"""

# Element k owns block k of the draw; a trial that is thrown away goes on to the next of that block's own trials.
# Rates below 10: the distribution inverted, term by term. Up to 1e8: Hörmann's transformed rejection PTRS (1993).
# Above: the normal limit with its skewness, a thousandth of the standard deviation's ten-thousandth away.
POISSON = """
def log(y):
    v = minus_log(select(y > 1.0, 1.0 / y, y))
    return select(y > 1.0, v, -v)

def log_factorial(k):  # Stirling's series at 10 or more, and down from there
    product = 1.0
    while k < 10.0:
        k += 1.0
        product *= k
    r = 1.0 / (k * k)
    series = ((-5.952380952380953e-4 * r + 7.936507936507937e-4) * r - 2.777777777777778e-3) * r + 8.333333333333333e-2
    return (k + 0.5) * log(k) - k + 0.9189385332046728 + series / k - log(product)

for k in range(n0):
    rate = float(x[k])
    if not (rate >= 0.0 and rate <= 1.7976931348623157e+308):
        r[o[fault]] = 1
    w0, w1, w2, w3 = block(k, 0)
    u = unit(w0, w1)
    count = 0.0
    if rate < 10.0:
        h = -0.0078125 * rate
        term = 1.0 + h * (1.0 + h / 2 * (1.0 + h / 3 * (1.0 + h / 4 * (1.0 + h / 5 * (1.0 + h / 6 * (1.0 + h / 7))))))
        for _ in range(7):
            term *= term
        total = term
        while u >= total and count < 200.0:
            count += 1.0
            term *= rate / count
            total += term
    elif rate <= 1e8:
        root = sqrt_of(rate)
        b = 0.931 + 2.53 * root
        a = -0.059 + 0.02483 * b
        log_rate = log(rate)
        trial = 0
        again = True
        while again:
            w0, w1, w2, w3 = block(k, trial)
            trial += 1
            u = unit(w0, w1) + 5.551115123125783e-17 - 0.5
            v = unit(w2, w3) + 5.551115123125783e-17
            s = 0.5 - (u if u > 0 else -u)
            place = (2.0 * a / s + b) * u + rate + 0.43
            if place >= 0.0 and place < 1e15 and (s >= 0.013 or v <= s):
                count = trunc_of(place)
                again = not (s >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0))
                if again:
                    chance = log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (s * s) + b))
                    again = chance > count * log_rate - rate - log_factorial(count)
    else:
        z = value(w0, w1)
        found = rate + sqrt_of(rate) * z + (z * z - 1.0) / 6.0 + 0.5
        count = trunc_of(found)
    out[k] = T(count)
"""
