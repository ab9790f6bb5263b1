"""What Paddle's ops that take matrices apart mean.

In: a reading of an op. Out: symbols.

>>> from d2s.export.paddle_words import READ
>>> "cholesky" in READ
True
"""

from typing import Any

from d2s.export.paddle_words import Reading, reads
from d2s.ops import OPS
from d2s.ops.lapack import (
    cholesky_of,
    determinant,
    eigh_of,
    inverse_of,
    known_sizes,
    qr_of,
    rows,
    signed_log,
    solved,
    svd_of,
    turned,
)


@reads("inverse")
def _(r: Reading) -> Any:
    return {"Output": inverse_of(r.x("Input"))}


@reads("determinant")
def _(r: Reading) -> Any:
    return determinant(r.x("Input"))


@reads("slogdeterminant")
def _(r: Reading) -> Any:
    return signed_log(r.x("Input"))


@reads("solve")
def _(r: Reading) -> Any:
    x, y = r.x("X"), r.x("Y")
    if len(r.shape(y)) != len(r.shape(x)) - 1:
        return solved(x, y)
    return OPS["squeeze"](solved(x, OPS["unsqueeze"](y, -1)), -1)  # for a vector each


@reads("cholesky")
def _(r: Reading) -> Any:
    found = cholesky_of(r.x())
    return turned(found) if r.take("upper", False) else found


@reads("qr")
def _(r: Reading) -> Any:
    if r.take("mode", "reduced") != "reduced":
        r.fail("of another mode than 'reduced'")
    height, width = known_sizes("qr", r.type(r.x()))
    found = qr_of(r.x())
    return {"Q": rows(found, 0, height), "R": turned(rows(found, height, height + width))}


@reads("eigh")
def _(r: Reading) -> Any:
    size, _ = known_sizes("eigh", r.type(r.x()))
    found = eigh_of(r.x(), r.take("UPLO", "L") == "U")
    return {"Eigenvalues": rows(found, 0, 1, alone=True), "Eigenvectors": rows(found, 1, size + 1)}


@reads("svd")
def _(r: Reading) -> Any:
    if r.take("full_matrices", False):
        r.fail("with full matrices")
    height, width = known_sizes("svd", r.type(r.x()))
    found = svd_of(r.x())
    right = turned(rows(found, height + 1, height + 1 + width))
    return {"U": rows(found, 0, height), "S": rows(found, height, height + 1, alone=True), "VH": right}
