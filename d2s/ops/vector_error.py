"""Vector math of the error function, and of gelu, in float64; a part of `vm`, written like `vector_math.py`.

Polynomials of x and of -log(1 - erf x).

>>> from d2s.codegen.emit import needed
>>> from d2s.types import float64
>>> needed("gelu", float64).count("def erf_f64")
1
"""

from d2s.ops.vector_math import SQRT_HALF, abs_of, clamped, exp_of_sum, fma, polynomial, select, sign_from

ERF_SMALL = (
    0.12837916709551256, -0.37612638903183354, 0.11283791670932981, -0.02686617064032407, 0.005223977571884912,
    -0.0008548323538438649, 0.00012055191335495298, -1.4921941081760146e-05, 1.639935172419315e-06, -1.569860299343837e-07,
    1.0679809602342384e-08,
)  # fmt: skip
ERFC_LOG = (
    2.8505083119483728e-08, 1.128378861518307, 0.6366212489967459, 0.10276842737756459, -0.019121104086008756,
    -0.0002163539735552739, 0.0016959417591300829, -0.0005762702430398696, -7.510003524792035e-07, 9.584663112311315e-05,
    -5.640588471101004e-05, 2.0551847689691597e-05, -5.460216521956976e-06, 1.0984192715274034e-06, -1.6702340317518143e-07,
    1.8692933138063802e-08, -1.4559517547400372e-09, 7.054559458419191e-11, -1.6011769200486817e-12,
)  # fmt: skip


def erf_f64(x):
    a = clamped(abs_of(x), 6.0)
    small = fma(a, polynomial(ERF_SMALL, a * a), a)
    large = 1.0 - exp_of_sum(-polynomial(ERFC_LOG, a), 0.0)
    return sign_from(select(a < 0.84, small, large), x)


def gelu_f64(x):
    return 0.5 * x * (1.0 + erf_f64(x * SQRT_HALF))
