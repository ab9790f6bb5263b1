"""Matrices taken apart by LAPACK, by way of NumPy: Python has a part in these ops, in graphs, too.

In: matrices in the last two axes. Out: what they come to; several results of one op stand in one tensor, one behind the other,
so that they have one gradient.

>>> from d2s.types import float32
>>> eigh_of.infer([Type(float32, ("n", 3, 3))], {"upper": False})
(f32[n,4,3],)
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2s.errors import ArgumentError, DTypeError, ShapeError
from d2s.ops.arrange import swapaxes
from d2s.ops.compare import where
from d2s.ops.create import zeros_like
from d2s.ops.dispatch import current
from d2s.ops.linalg import matmul
from d2s.ops.op import flag, op
from d2s.ops.shape import unsqueeze
from d2s.ops.shapes import broadcast, unnamed
from d2s.ops.slicing import Stretch, part
from d2s.ops.triangle import tril
from d2s.types import Type


def by_lapack(name: str, function: Callable[..., Any], *arrays: np.ndarray) -> Any:
    """What NumPy's function gives."""
    try:
        return function(*arrays)
    except np.linalg.LinAlgError as error:
        message = f"{name}(): {str(error)[0].lower()}{str(error)[1:]}"
        raise ArgumentError("D2S0004", message, hint="look at the matrix: it may be singular, or hold a nan") from None


def turned(x: Any) -> Any:
    """The transposes of matrices."""
    return swapaxes(x, -1, -2)


def rows(x: Any, start: int, stop: int, alone: bool = False) -> Any:
    """Rows of matrices from one to another, or the one there is, as vectors."""
    shape = current().type_of(x).shape  # type: ignore[union-attr]
    axis = len(shape) - 2
    return part(x, shape, {axis: Stretch(start, stop - start)}, (axis,) if alone else ())


def of_matrices(name: str, x: Type, square: bool = True, argument: str = "x") -> Type:
    """The type, if it is one of matrices of floats."""
    if x.dtype.kind != "f":
        raise DTypeError("D2S0003", f"{name}() does not take {x.dtype.name}", hint="x.astype('float32')")
    if len(x.shape) < 2 or (square and x.shape[-1] != x.shape[-2]):
        wanted = "square matrices in its last two axes" if square else "two axes or more"
        raise ShapeError("D2S0002", f"{name}(): '{argument}' has shape {list(x.shape)}, expected {wanted}")
    return x


def known_sizes(name: str, x: Type) -> tuple[int, int]:
    """The extents of matrices: only known ones can stand behind each other."""
    height, width = x.shape[-2:]
    if not isinstance(height, int) or not isinstance(width, int):
        raise unnamed(name, f"how large the matrices of {list(x.shape)} are")
    return height, width


def _diagonal(x: Any) -> Any:
    return tril(x) - tril(x, -1)


def _upright(x: Any) -> Any:
    """Vectors as the diagonals of matrices: what is beside is 0."""
    return _diagonal(unsqueeze(x, -1) + zeros_like(unsqueeze(x, -2)))


def _one_over(x: Any) -> Any:
    """1 / x, and 0 where x is 0."""
    return where(x == 0.0, 0.0, 1.0 / where(x == 0.0, 1.0, x))


# --- inverses and determinants -----------------------------------------------------------------------------------------------


@op(paddle="inverse")
def inverse_of(x):
    """The inverses of square matrices.

    >>> d2s.ops.lapack.inverse_of(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """


@inverse_of.rule("infer")
def _(x):
    return of_matrices("inv", x)


@inverse_of.rule("python")
def _(x):
    return by_lapack("inv", np.linalg.inv, x)


@inverse_of.rule("vjp")
def _(g, out, x):
    return lambda: -matmul(matmul(out, g, True), out, False, True)


@op(paddle="determinant")
def determinant(x):
    """The determinants of square matrices.

    >>> d2s.ops.lapack.determinant(d2s.to_tensor([[2.0, 0.0], [0.0, 4.0]])).item()
    8.0
    """


@determinant.rule("infer")
def _(x):
    return Type(of_matrices("det", x).dtype, x.shape[:-2])


@determinant.rule("python")
def _(x):
    return np.asarray(np.linalg.det(x), x.dtype)


@determinant.rule("vjp")
def _(g, out, x):
    return lambda: unsqueeze(g, [-1, -2]) * cofactors(x)


@op(paddle=None)
def cofactors(x):
    """The slopes of determinants, which singular matrices have, too.

    >>> d2s.ops.lapack.cofactors(d2s.to_tensor([[2.0, 0.0], [0.0, 0.0]])).abs().tolist()
    [[0.0, 0.0], [0.0, 2.0]]
    """


@cofactors.rule("infer")
def _(x):
    return of_matrices("det", x)


@cofactors.rule("python")
def _(x):
    found = np.linalg.det(x)
    if found.all():
        return (found[..., None, None] * by_lapack("det", np.linalg.inv, x).swapaxes(-1, -2)).astype(x.dtype)
    u, s, v = by_lapack("det", np.linalg.svd, x)
    alone = np.eye(s.shape[-1], dtype=bool)
    others = np.where(alone, 1.0, s[..., None, :]).prod(-1) * (np.linalg.det(u) * np.linalg.det(v))[..., None]
    return np.matmul(u * others[..., None, :], v).astype(x.dtype)


@cofactors.rule("composed")
def _(x):
    return (unsqueeze(determinant(x), [-1, -2]) * turned(inverse_of(x)),)


@op(paddle="slogdeterminant")
def signed_log(x):
    """The signs of determinants, and behind them the logarithms of their magnitudes.

    >>> d2s.ops.lapack.signed_log(d2s.to_tensor([[0.0, 1.0], [1.0, 0.0]])).tolist()
    [-1.0, 0.0]
    """


@signed_log.rule("infer")
def _(x):
    return Type(of_matrices("slogdet", x).dtype, (2, *x.shape[:-2]))


@signed_log.rule("python")
def _(x):
    return np.stack(np.linalg.slogdet(x))


@signed_log.rule("vjp")
def _(g, out, x):
    def of_log():
        shape = current().type_of(g).shape
        log = part(g, shape, {0: Stretch(1, 1)}, (0,))
        return unsqueeze(log, [-1, -2]) * turned(inverse_of(x))

    return of_log


# --- systems of equations ----------------------------------------------------------------------------------------------------


@op(paddle="solve")
def solved(x, y):
    """What each x must be multiplied by to give y.

    >>> d2s.ops.lapack.solved(d2s.to_tensor([[2.0]]), d2s.to_tensor([[4.0]])).tolist()
    [[2.0]]
    """


@solved.rule("infer")
def _(x, y):
    of_matrices("solve", x)
    if y.dtype is not x.dtype:
        raise DTypeError("D2S0003", f"solve() does not take {x.dtype.name} and {y.dtype.name} together")
    if len(y.shape) != len(x.shape):
        raise ShapeError("D2S0002", f"solve(): 'x' has shape {list(x.shape)}, 'y' has {list(y.shape)}: not as many axes")
    broadcast("solve", [x.shape[:-1], y.shape[:-1]])
    return Type(y.dtype, y.shape)


@solved.rule("requires")
def _(x, y):
    return [pair for pair in zip(x.shape[:-1], y.shape[:-1], strict=True) if pair[0] != pair[1]]


@solved.rule("python")
def _(x, y):
    return by_lapack("solve", np.linalg.solve, x, y)


@solved.rule("vjp")
def _(g, out, x, y):
    return lambda: -matmul(solved(turned(x), g), out, False, True), lambda: solved(turned(x), g)


# --- factors -----------------------------------------------------------------------------------------------------------------


@op(paddle="cholesky")
def cholesky_of(x):
    """The lower triangles whose products with their transposes are x.

    >>> d2s.ops.lapack.cholesky_of(d2s.to_tensor([[4.0, 2.0], [2.0, 5.0]])).tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """


@cholesky_of.rule("infer")
def _(x):
    return of_matrices("cholesky", x)


@cholesky_of.rule("python")
def _(x):
    return by_lapack("cholesky", np.linalg.cholesky, x)


@cholesky_of.rule("vjp")
def _(g, out, x):
    def of_x():
        inverse, inner = inverse_of(out), tril(matmul(out, g, True))
        whole = matmul(matmul(inverse, inner - 0.5 * _diagonal(inner), True), inverse)
        return 0.5 * (whole + turned(whole))

    return of_x


@op(paddle=None)
def qr_of(x):
    """Q, and behind it the transpose of R.

    >>> d2s.ops.lapack.qr_of(d2s.to_tensor([[3.0], [4.0]])).abs().tolist()
    [[0.6000000238418579], [0.800000011920929], [5.0]]
    """


@qr_of.rule("infer")
def _(x):
    height, width = known_sizes("qr", of_matrices("qr", x, square=False))
    return Type(x.dtype, (*x.shape[:-2], height + width, min(height, width)))


@qr_of.rule("python")
def _(x):
    q, r = by_lapack("qr", np.linalg.qr, x)
    return np.concatenate([q, r.swapaxes(-1, -2)], -2)


@qr_of.rule("vjp")
def _(g, out, x):
    height, width = current().type_of(x).shape[-2:]

    def of_x():
        q, r = rows(out, 0, height), turned(rows(out, height, height + width))
        g_q, g_r = rows(g, 0, height), turned(rows(g, height, height + width))
        m = matmul(r, g_r, False, True) - matmul(g_q, q, True)
        return matmul(g_q + matmul(q, tril(m) + turned(tril(m, -1))), inverse_of(r), False, True)

    return of_x


@op(paddle=None)
def eigh_of(x, upper: bool):
    """The eigenvalues of symmetric matrices, ascending, and behind them the eigenvectors as columns.

    >>> d2s.ops.lapack.eigh_of(d2s.to_tensor([[2.0, 0.0], [0.0, 1.0]]), False).abs().tolist()
    [[1.0, 2.0], [0.0, 1.0], [1.0, 0.0]]
    """


@eigh_of.rule("canonical")
def _(x, upper):
    return {"upper": flag(upper, "upper")}


@eigh_of.rule("infer")
def _(x, upper):
    size, _ = known_sizes("eigh", of_matrices("eigh", x))
    return Type(x.dtype, (*x.shape[:-2], size + 1, size))


@eigh_of.rule("python")
def _(x, upper):
    values, vectors = by_lapack("eigh", lambda a: np.linalg.eigh(a, "U" if upper else "L"), x)
    return np.concatenate([values[..., None, :], vectors], -2)


@eigh_of.rule("vjp")
def _(g, out, x, upper):
    size = current().type_of(x).shape[-1]

    def of_x():
        values, vectors = rows(out, 0, 1, alone=True), rows(out, 1, size + 1)
        apart = unsqueeze(values, -2) - unsqueeze(values, -1)
        inner = matmul(vectors, rows(g, 1, size + 1), True) * _one_over(apart) + _upright(rows(g, 0, 1, alone=True))
        whole = matmul(matmul(vectors, inner), vectors, False, True)
        return 0.5 * (whole + turned(whole))

    return of_x


@op(paddle=None)
def svd_of(x):
    """U, behind it the singular values in descending order, and behind these V.

    >>> d2s.ops.lapack.svd_of(d2s.to_tensor([[3.0, 0.0], [0.0, 4.0]])).abs().tolist()
    [[0.0, 1.0], [1.0, 0.0], [4.0, 3.0], [0.0, 1.0], [1.0, 0.0]]
    """


@svd_of.rule("infer")
def _(x):
    height, width = known_sizes("svd", of_matrices("svd", x, square=False))
    return Type(x.dtype, (*x.shape[:-2], height + 1 + width, min(height, width)))


@svd_of.rule("python")
def _(x):
    u, s, v = by_lapack("svd", lambda a: np.linalg.svd(a, full_matrices=False), x)
    return np.concatenate([u, s[..., None, :], v.swapaxes(-1, -2)], -2)


@svd_of.rule("vjp")
def _(g, out, x):
    height, width = current().type_of(x).shape[-2:]

    def parts(of):
        return rows(of, 0, height), rows(of, height, height + 1, alone=True), turned(rows(of, height + 1, height + 1 + width))

    def of_x():
        (u, s, v), (g_u, g_s, g_v) = parts(out), parts(g)
        across, down = unsqueeze(s, -2), unsqueeze(s, -1)
        apart = _one_over(across * across - down * down)
        of_u, of_v = matmul(u, g_u, True) * apart, matmul(v, g_v, False, True) * apart
        inner = (of_u + turned(of_u)) * across + down * (of_v + turned(of_v)) + _upright(g_s)
        found = matmul(matmul(u, inner), v)
        if height > width:
            found = found + matmul((g_u - matmul(u, matmul(u, g_u, True))) * _one_over(across), v)
        elif width > height:
            found = found + matmul(u, (g_v - matmul(matmul(g_v, v, False, True), v)) * _one_over(down))
        return found

    return of_x


@op(paddle=None)
def pseudo_inverse(x, rcond: float):
    """The inverse of Moore and Penrose: singular values up to `rcond` times the largest count as 0.

    >>> d2s.ops.lapack.pseudo_inverse(d2s.to_tensor([[2.0, 0.0]]), 1e-15).tolist()
    [[0.5], [0.0]]
    """


@pseudo_inverse.rule("infer")
def _(x, rcond):
    of_matrices("pinv", x, square=False)
    return Type(x.dtype, (*x.shape[:-2], x.shape[-1], x.shape[-2]))


@pseudo_inverse.rule("python")
def _(x, rcond):
    u, s, v = by_lapack("pinv", lambda a: np.linalg.svd(a, full_matrices=False), x)
    kept = s > s.max(-1, keepdims=True, initial=0.0) * rcond
    inverse = np.divide(1.0, s, out=np.zeros_like(s), where=kept)
    return np.matmul(np.swapaxes(v, -1, -2) * inverse[..., None, :], np.swapaxes(u, -1, -2))


@pseudo_inverse.rule("vjp")
def _(g, out, x, rcond):
    """By Golub and Pereyra: right where singular values are equal, which the gradient of `svd_of` is not."""

    def of_x():
        p, back = turned(out), turned(g)
        outside = matmul(back - matmul(x, matmul(out, back)), matmul(out, p))
        inside = matmul(matmul(p, out), back - matmul(back, matmul(out, x)))
        return outside + inside - matmul(matmul(p, g), p)

    return of_x
